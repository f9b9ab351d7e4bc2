"""docs/results/shift.md: models in buildings unlike those they were trained in, from the JSON of `bench shift`."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from graphghha.lab.markdown import Result, table
from graphghha.lab.metrics.intervals import poisson_interval, wilson_interval

INTRODUCTION = """Each row is a building that differs from the reference building in one way
([conditions](../testbed.md#buildings)), or, in the last two rows, in many ways. *As shipped* means that nothing about
the building is known to the model; *commissioned* means that it has seen quiet days of the same building before. A
building has {zones} zones and is judged in January and in July, {days} days each; the pause between two attacks on a
zone is {gap:g} days on average, and cases are drawn from the whole catalogue. The seeds are the same in all rows.
*Quiet* false alarms are those in zones that were not under attack then; the others name the wrong node of an attacked
zone. Intervals are of 95 %; attacks of one building are not independent, so true ones are somewhat wider."""
CONDITION = ("condition", "false alarms a day", "quiet ones", "found", "of visible attacks", "right node", "precision")
COLUMNS = ("", "false alarms a day: median, worst", "quiet: median, worst", "found", "right node", "attacks")
RETRAINED = "fcu-zones"
ANEW = """The network of {model} was trained anew with other seeds, which decide its weights at the start and the order
of windows, by `graphghha bench whether-where --networks`; thresholds were found again as well. Over the {count}
conditions that all of them were measured in, the same buildings under the same attacks. Command: {command}, and so
on."""
TOGETHER = """All of them together, {view}. The attacks are the same for each, so that intervals hold for these attacks
only."""


def shift_page(results: Sequence[Result], directory: Path) -> Path:
    """Write the page, with a section for every model, and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    config = results[-1]["config"]
    gap = config["schedule"]["mean_gap_days"]
    text = [
        "# In buildings unlike those of training",
        "",
        " ".join(INTRODUCTION.format(zones=config["zones"], days=config["days"], gap=gap).split()),
    ]
    anew = [result for result in results if _is_trained_anew(result)]
    known = [result for result in results if not _is_trained_anew(result)]
    for model in dict.fromkeys(map(_model, known)):
        own = [result for result in known if _model(result) == model]
        text += _section(model, own)
        if model == RETRAINED and (parts := trained_anew(model, own, anew)):
            text += ["", f"### {model}, trained with other seeds"]
            text += [line for part in parts for line in ("", *part)]
            text += _together(own, anew)
    page = directory / "shift.md"
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return page


def _model(result: Result) -> str:
    return str(result["config"].get("model", "fcu"))


def _is_trained_anew(result: Result) -> bool:
    return _model(result).startswith("seed-")


def trained_anew(model: str, own: Sequence[Result], anew: Sequence[Result]) -> list[list[str]]:
    """Return a table of the model and of its kind trained with other seeds, with a sentence before it.

    It is about the conditions that all of them were measured in. Nothing if there is no other seed.
    """
    results = _alike(own, anew)
    if not results:
        return []
    common = _common(results)
    text = ANEW.format(model=model, count=len(common), command=shift_command(_model(anew[0]), anew[0]))
    lines = [
        (f"{trained}, {name}", *_summary([_pooled(of, condition, view) for condition in common]))
        for view, name in _views(anew[-1]).items()
        for trained, of in _by_model(results).items()
    ]
    return [[" ".join(text.split())], table(COLUMNS, lines)]


def _together(own: Sequence[Result], anew: Sequence[Result]) -> list[str]:
    """Return the conditions with the rows of all networks in one."""
    results = _alike(own, anew)
    text = []
    for view, name in _views(anew[-1]).items():
        lines = [condition_line(condition, _pooled(results, condition, view)) for condition in _common(results)]
        text += ["", " ".join(TOGETHER.format(view=name).split()), "", *table(CONDITION, lines)]
    return text


def _alike(own: Sequence[Result], anew: Sequence[Result]) -> list[Result]:
    """Return results of other seeds of training with the model's in the same buildings; empty if either lacks."""
    settings = [(each["config"]["seed"], each["config"].get("commission_days", 0)) for each in anew]
    results = [each for each in own if (each["config"]["seed"], each["config"].get("commission_days", 0)) in settings]
    return [*results, *anew] if results and anew else []


def _by_model(results: Sequence[Result]) -> dict[str, list[Result]]:
    return {name: [each for each in results if _model(each) == name] for name in map(_model, results)}


def _common(results: Sequence[Result]) -> list[str]:
    """Return the conditions that every network was measured in, in the order of the first result."""
    measured = [{row["condition"] for each in of for row in each["rows"]} for of in _by_model(results).values()]
    everywhere = set.intersection(*measured)
    return [name for name in dict.fromkeys(row["condition"] for row in results[0]["rows"]) if name in everywhere]


def _pooled(results: Sequence[Result], condition: str, is_commissioned: bool) -> dict[str, Any]:
    wanted = (condition, is_commissioned)
    return pool([row for each in results for row in each["rows"] if (row["condition"], row["commissioned"]) == wanted])


def _views(result: Result) -> dict[bool, str]:
    days = result["config"].get("commission_days", 0)
    views = {False: "as shipped"}
    return {**views, True: f"after {days} days of commissioning"} if days else views


def _section(model: str, results: Sequence[Result]) -> list[str]:
    """Return the section of one model; results of several seeds are pooled."""
    views: dict[bool, dict[str, list[dict[str, Any]]]] = {}
    for result in results:
        for row in result["rows"]:
            views.setdefault(row["commissioned"], {}).setdefault(row["condition"], []).append(row)
    pooled = {view: {name: pool(rows) for name, rows in conditions.items()} for view, conditions in views.items()}
    names = _views(results[-1])
    commands = [shift_command(model, result) for result in results]
    text = ["", f"## {model}", "", f"Measured by {', '.join(dict.fromkeys(commands))}.", ""]
    text += table(
        COLUMNS,
        [(names[view], *_summary(list(conditions.values()))) for view, conditions in pooled.items()],
    )
    for view, conditions in pooled.items():
        text += ["", f"### {model}, {names[view]}", ""]
        text += table(
            CONDITION,
            [condition_line(name, row) for name, row in conditions.items()],
        )
    return text


def shift_command(model: str, result: Result) -> str:
    """Return the command that measured a result, as Markdown."""
    config = result["config"]
    options = "" if model == "fcu" else f" --model {model}"
    for name in ("commission_days", "pause_days"):
        if config.get(name):
            options += f" --{name.replace('_', '-')} {config[name]}"
    options += "".join(f" --condition {name}" for name in config.get("conditions", ()))
    return f"`graphghha bench shift{options} --seed {config['seed']}`"


def pool(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return several rows of one condition as one."""
    days, events = sum(row["days"] for row in rows), sum(row["events"] for row in rows)
    false, quiet = (
        sum(round(row[name] * row["days"]) for row in rows)
        for name in ("false_alarms_per_day", "quiet_false_alarms_per_day")
    )
    found, named = (
        sum(round((row[name] or 0.0) * row["events"]) for row in rows) for name in ("event_recall", "hit_at_1")
    )
    precisions = [row["precision"] for row in rows if row["precision"] is not None]
    precision = sum(precisions) / len(precisions) if precisions else None
    return {
        "days": days,
        "events": events,
        "false": false,
        "quiet": quiet,
        "found": found,
        "named": named,
        "precision": precision,
    }


def _summary(rows: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    false, quiet = ([row[name] / row["days"] for row in rows] for name in ("false", "quiet"))
    events = sum(row["events"] for row in rows)
    shares = [share(sum(row[name] for row in rows), events) for name in ("found", "named")]
    rates = [f"{median(values):.2f}, {max(values):.2f}" for values in (false, quiet)]
    return (*rates, *shares, str(events))


def condition_line(name: str, row: dict[str, Any]) -> tuple[Any, ...]:
    """Return the cells of one condition from a pooled row."""
    false = interval(row["false"] / row["days"], poisson_interval(row["false"], row["days"]))
    found = share(row["found"], row["events"])
    named = f"{row['named'] / row['events']:.2f}" if row["events"] else "undefined"
    precision = "undefined" if row["precision"] is None else f"{row['precision']:.2f}"
    return name, false, f"{row['quiet'] / row['days']:.2f}", found, row["events"], named, precision


def share(count: int, total: int) -> str:
    """Return a share with its interval."""
    return interval(count / total, wilson_interval(count, total)) if total else "undefined"


def interval(value: float, limits: tuple[float, float]) -> str:
    """Return a value with its interval."""
    return f"{value:.2f} [{limits[0]:.2f}, {limits[1]:.2f}]"
