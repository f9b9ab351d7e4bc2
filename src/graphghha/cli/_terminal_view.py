"""The live view of sites on a terminal: zones with their readings, incidents newest first, fitted to its size."""

from collections.abc import Callable, Sequence
from threading import Event as Flag
from typing import TYPE_CHECKING

from graphghha.cli._site_view import LETTERS, SiteView, Tile

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType
    from rich.text import Text


# grey is normal: only what needs somebody stands out
STYLES = {
    "unacknowledged": "bold reverse",
    "acknowledged": "bold",
    "returned": "bold dim",
    "unknown": "italic",
    "normal": "dim",
}
TILE_WIDTHS, TILE_HEIGHT, CELL_WIDTH = (32, 26, 20), 4, 26
LARGEST_SHARE = 0.6  # of the lines of a site, for its zones
LEAST_LINES = 10  # of a site
ENTRY_LINES = 3  # of an incident; the rest is cut
REFRESH_S = 1.0
PICTURE_WIDTH, PICTURE_HEIGHT = 118, 34


def show_sites(read: Callable[[], Sequence[SiteView]], stop: Flag) -> None:
    """Show sites on the terminal until `stop` is set; `read` returns them as they are now."""
    from rich.console import Console
    from rich.live import Live

    from graphghha.errors import GraphGHHAError

    console = Console()
    with Live(console=console, auto_refresh=False, screen=True) as live:
        while True:
            try:
                shown = render(read(), console.width, console.height)
            except GraphGHHAError as exc:  # a busy journal is read again a second later
                shown = _text(f"The journal cannot be read: {exc}. Scoring goes on.", "bold")
            live.update(shown, refresh=True)
            if stop.wait(REFRESH_S):
                return


def write_picture(views: Sequence[SiteView], path: "Path") -> None:
    """Write the view of sites as an SVG file."""
    from graphghha.cli._svg_picture import picture

    path.write_text(picture(render(views, PICTURE_WIDTH, PICTURE_HEIGHT), PICTURE_WIDTH), encoding="utf-8")


def render(views: Sequence[SiteView], width: int, height: int) -> "RenderableType":
    """Return sites as something that fits a terminal of this size; those that do not fit are counted."""
    from rich.console import Group

    if not views:
        return _text("Nothing has been heard yet.", "")
    fitting = max(1, min(len(views), (height - 1) // LEAST_LINES))
    own = (height - 1 - (fitting < len(views))) // fitting
    parts: list[RenderableType] = [part for view in views[:fitting] for part in _site(view, width, own)]
    if fitting < len(views):
        parts.append(_text(f"{len(views) - fitting} more sites do not fit this terminal", "dim"))
    states = {tile.state for view in views for tile in view.tiles}  # all letters would not fit 80 columns
    keys = " ".join(f"{letter} {state}" for state, letter in LETTERS.items() if state in states)
    parts.append(_text(f"Ctrl-C ends   {keys}".rstrip(), "dim"))
    return Group(*parts)


def _site(view: SiteView, width: int, height: int) -> "list[RenderableType]":
    from rich.console import Group
    from rich.panel import Panel

    head = [
        _text(f"{view.name}   data as of {view.as_of}", "bold"),
        _text(f"{view.openness}   {view.figures}", "bold"),
        *(_text(warning, "bold" if at == 0 else "") for at, warning in enumerate(view.warnings)),
    ]
    zones, used = _zones(view.tiles, width, int(LARGEST_SHARE * height))
    left = height - len(head) - used - 2
    if left < 1:
        return [*head, zones]
    entries = _entries(view.incidents, width - 4, left)
    title = "incidents, newest first"
    return [*head, zones, Panel(Group(*entries), title=title, height=left + 2, width=width)]


def _zones(tiles: Sequence[Tile], width: int, height: int) -> "tuple[RenderableType, int]":
    """Return the zones in their fixed order, and how many lines they take: tiles, or a line each if there are many."""
    from rich.console import Group

    # as few rows as possible, then as wide as possible
    rows, tile_width = min((-(-len(tiles) // max(1, width // each)), -each) for each in TILE_WIDTHS)
    if rows * TILE_HEIGHT <= height:
        across = max(1, width // -tile_width)
        drawn = [[_tile(tile, -tile_width) for tile in tiles[at * across :][:across]] for at in range(rows)]
        return Group(*(_row(each) for each in drawn)), rows * TILE_HEIGHT
    across = max(1, width // CELL_WIDTH)
    rows, shown, left = -(-len(tiles) // across), tiles, 0
    if rows > height:  # what is normal is counted instead
        shown = [tile for tile in tiles if tile.state != "normal"][: max(0, (height - 1) * across)]
        left, rows = len(tiles) - len(shown), -(-len(shown) // across)
    cells = [_row([_cell(tile) for tile in shown[at * across :][:across]]) for at in range(rows)]
    if left:
        normal = sum(tile.state == "normal" for tile in tiles)
        cells.append(_text(f"{normal} zones are normal; {left} of {len(tiles)} zones are not listed", "dim"))
    return Group(*cells), len(cells)


def _row(parts: "Sequence[RenderableType]") -> "RenderableType":
    from rich.table import Table

    grid = Table.grid()
    for _ in parts:
        grid.add_column()
    grid.add_row(*parts)
    return grid


def _tile(tile: Tile, width: int) -> "RenderableType":
    from rich.console import Group
    from rich.panel import Panel

    style = STYLES.get(tile.state, "")
    inside = Group(_text(_state(tile), style), _text(tile.readings, ""))
    return Panel(inside, title=tile.zone, width=width, height=TILE_HEIGHT)


def _cell(tile: Tile) -> "RenderableType":
    text = f"{tile.zone} {_state(tile)} {tile.readings}"
    return _text(f"{text[: CELL_WIDTH - 1]:<{CELL_WIDTH}}", STYLES.get(tile.state, ""))


def _state(tile: Tile) -> str:
    return f"{LETTERS[tile.state]} {tile.node or tile.state}" if tile.state in LETTERS else tile.state


def _entries(incidents: Sequence[tuple[str, str]], width: int, height: int) -> "list[RenderableType]":
    """Return the newest incidents that fit, each cut to a few lines."""
    from rich.console import Console
    from rich.text import Text

    if not incidents:
        return [_text("No incident so far.", "dim")]
    console, entries, left = Console(width=max(width, 1)), list["RenderableType"](), height
    for state, line in incidents:
        style = STYLES.get(state, "").replace("reverse", "").strip()
        wrapped = Text(line, style=style).wrap(console, max(width, 1))
        most = min(ENTRY_LINES, left)
        if not most:
            break
        shown = list(wrapped[:most])
        if len(wrapped) > most:
            shown[-1].truncate(max(1, width - 1))
            shown[-1].append("…")
        entries += shown
        left -= len(shown)
    return entries


def _text(text: str, style: str) -> "Text":
    from rich.text import Text

    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def plain(views: Sequence[SiteView], width: int, height: int) -> str:
    """Return the view as plain text, for tests and logs."""
    import io

    from rich.console import Console

    console: Console = Console(file=io.StringIO(), width=width, height=height, color_system=None)
    with console.capture() as captured:
        console.print(render(views, width, height))
    return captured.get()
