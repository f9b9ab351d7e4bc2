"""A proposed plant as a `plant.toml` with comments, for a person to look through."""

from collections.abc import Iterator

from graphghha._util.toml import comment, quoted, quoted_list
from graphghha.exports.check_text import group_guesses
from graphghha.exports.proposal import PlantProposal, SignalProposal, TemplateProposal

FORMAT = "graphghha-plant/1"


def plant_toml(plant: PlantProposal) -> str:
    """Return the file."""
    return "\n".join(_lines(plant)) + "\n"


def _lines(plant: PlantProposal) -> Iterator[str]:
    yield "# Proposed from exported data. Look through it, above all units, limits and edges."
    for group in group_guesses(plant.guesses):
        if group.topic not in ("states", "order"):
            yield f"# guessed: {comment(group.names)}: {comment(group.topic)} {comment(group.text)}"
    for omission in plant.omissions:
        yield f"# left out: {comment(omission.about)}: {comment(omission.reason)}"
    yield ""
    yield "[plant]"
    yield f"format = {quoted(FORMAT)}"
    yield f"name = {quoted(plant.name)}"
    yield f"step_s = {plant.step_s:g}"
    yield f"zone = {quoted(plant.zone)}"
    if plant.dates:
        yield f"dates = {quoted(plant.dates)}"
    if plant.labels:
        yield f"labels = {quoted_list(plant.labels)}"
    for template in plant.templates:
        yield from _template(template)
    for edge in plant.shared_edges:
        yield ""
        yield "[[edge]]"
        yield f"from = {quoted(f'{edge.source}/{edge.role}')}"
        yield f"to = {quoted(f'{edge.target}/{edge.other}')}" + ("" if edge.pairs else "  # of every copy")
        yield f"kind = {quoted(edge.kind)}"
        if edge.pairs:
            yield f"pairs = [{', '.join(map(quoted_list, edge.pairs))}]"


def _template(template: TemplateProposal) -> Iterator[str]:
    yield ""
    yield "[[template]]"
    yield f"name = {quoted(template.name)}"
    yield f"copies = {quoted_list(template.copies)}"
    edges = ", ".join(
        f"[{quoted(source)}, {quoted(target)}, {quoted(kind)}]" for source, target, kind in template.edges
    )
    yield f"edges = [{edges}]"
    for name, kind in template.equipment:
        yield ""
        yield "[[template.equipment]]"
        yield f"name = {quoted(name)}"
        yield f"kind = {quoted(kind)}"
    for signal in template.signals:
        yield ""
        yield from _signal(signal)


def _signal(signal: SignalProposal) -> Iterator[str]:
    yield "[[template.signal]]"
    yield f"name = {quoted(signal.role)}"
    yield f"kind = {quoted(signal.kind)}  # {comment('; '.join(signal.remarks))}"
    yield f"purpose = {quoted(signal.purpose)}"
    if signal.quantity:
        yield f"quantity = {quoted(signal.quantity)}"
    if signal.unit:
        yield f"unit = {quoted(signal.unit)}"
    elif not signal.states:
        yield f"# unit = {quoted(signal.suggested_unit or '')}  # state it"
    if signal.states:
        yield f"states = {quoted_list(signal.states)}"
        if signal.words:
            words = ", ".join(f"{quoted(word)} = {code}" for word, code in signal.words.items())
            yield f"words = {{ {words} }}"
    elif signal.low is None:
        yield "# limits = []  # lowest and highest reading of the instrument, not of the data"
    else:
        yield f"limits = [{signal.low:g}, {signal.high:g}]  # of a usual instrument"
    if signal.encoding:
        yield f"encoding = {quoted(signal.encoding)}"
    if signal.is_shared:
        yield "shared = true"
    if signal.resolution is not None:
        yield f"resolution = {signal.resolution:g}"
    yield f"sampling = {quoted('cov') if signal.interval_s is None else f'{signal.interval_s:g}'}"
    yield f"stale_after_s = {signal.stale_after_s:g}"
    columns = ", ".join(f"{quoted(copy)} = {quoted(name)}" for copy, name in signal.columns)
    yield f"columns = {{ {columns} }}"
    if signal.missing:
        yield f"missing = {quoted_list(signal.missing)}"
