"""Write the generated tables of the docs pages: `python scripts/docs_tables.py docs`."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from graphghha.graph import EdgeKind, NeighborRule, neighborhood
from graphghha.lab.markdown import table
from graphghha.plants.fcu.attacks.catalog import ROWS
from graphghha.plants.fcu.signals import SIGNALS
from graphghha.plants.fcu.topology import MEANINGS, TEMPLATE

# page -> the blocks between its marks <!-- begin NAME --> and <!-- end NAME -->
PAGES = {"plants/fcu.md": ("nodes", "edges"), "attacks.md": ("cases",), "data.md": ("signals",)}


def nodes() -> list[str]:
    """Return the table of the template's nodes."""
    degrees = neighborhood(TEMPLATE, NeighborRule()).degrees
    rows = [
        (f"`{node.name}`", node.kind, MEANINGS[node.name], degree)
        for node, degree in zip(TEMPLATE.nodes, degrees, strict=True)
    ]
    count = f"{TEMPLATE.num_nodes} nodes, {TEMPLATE.num_edges} edges, {degrees.mean():.2f} attended nodes on average."
    return [*table(("node", "kind", "meaning", "attends to (both directions, itself included)"), rows), "", count]


def edges() -> list[str]:
    """Return the tables of the template's edges, one per kind."""
    lines = []
    for kind, title in ((EdgeKind.COMM, "Communication"), (EdgeKind.PHYS, "Physical")):
        chosen = [edge for edge in TEMPLATE.edges if edge.kind == kind]
        rows = [(f"`{edge.source}`", f"`{edge.target}`", edge.reason) for edge in chosen]
        lines += [f"### {title} ({len(chosen)})", "", *table(("from", "to", "because"), rows), ""]
    return lines[:-1]


def cases() -> list[str]:
    """Return the attack catalogue."""
    rows = []
    for row in ROWS.values():
        info = row.info
        targets, equivalent = (", ".join(f"`{name}`" for name in names) for names in (info.targets, info.hits))
        rows.append(
            (f"`{info.name}`", info.family, info.attack_class, targets, info.severity, equivalent, info.meaning)
        )
    header = ("case", "family", "class", "nodes", "severity", "also a hit", "meaning")
    return [*table(header, rows), "", f"{len(ROWS)} cases."]


def signals() -> list[str]:
    """Return the table of signals."""
    rows = [(f"`{s.name}`", s.meaning, s.unit, f"{s.low:g} to {s.high:g}", f"{s.noise:g}") for s in SIGNALS]
    return table(("point", "meaning", "unit", "range", "noise (standard deviation)"), rows)


BLOCKS = {"nodes": nodes, "edges": edges, "cases": cases, "signals": signals}


def filled(text: str, names: Iterable[str]) -> str:
    """Return a page with its generated blocks brought up to date."""
    for name in names:
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        block = "\n".join([begin, "", *BLOCKS[name](), "", end])
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        text, count = re.subn(pattern, lambda _, block=block: block, text, flags=re.DOTALL)  # type: ignore[misc]
        assert count == 1, f"the page needs one block {name}"
    return text


def write_pages(docs: Path) -> None:
    """Bring every page up to date."""
    for page, names in PAGES.items():
        path = docs / page
        path.write_text(filled(path.read_text(encoding="utf-8"), names), encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
