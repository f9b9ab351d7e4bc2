"""A terminal view as an SVG picture that looks the same with any font: frames are drawn, and text is fitted."""

import io
from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.segment import Segment
    from rich.style import Style

CELL, LINE, PAD = 8.4, 18, 14  # pixels
GROUND, INK, SOFT, FRAME = "#14171a", "#ebeef0", "#98a3ac", "#59636c"
FONTS = 'ui-monospace, "SF Mono", "Cascadia Mono", Consolas, "DejaVu Sans Mono", monospace'
# from the middle of a cell to its left, right, upper and lower edge
_FRAMES = {"─": "lr", "│": "ud", "╭": "rd", "╮": "ld", "╰": "ru", "╯": "lu"}


def picture(view: "RenderableType", width: int) -> str:
    """Return the picture of a view that is `width` characters wide."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system="truecolor")
    rows = console.render_lines(view, console.options.update(width=width))
    size = f"{width * CELL + 2 * PAD:.0f} {len(rows) * LINE + 2 * PAD}"
    parts = [part for number, row in enumerate(rows) for part in _row(row, PAD + number * LINE)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-family=\'{FONTS}\' font-size="14">',
            f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _row(row: "list[Segment]", top: float) -> Iterator[str]:
    at = 0
    for segment in row:
        for is_frame, letters in groupby(segment.text, key=lambda letter: letter in _FRAMES):
            text = "".join(letters)
            if is_frame:
                yield _frame(text, PAD + at * CELL, top)
            elif text.strip():
                yield from _words(text, segment.style, PAD + at * CELL, top)
            at += len(text)


def _words(text: str, style: "Style | None", left: float, top: float) -> Iterator[str]:
    is_reverse = bool(style and style.reverse)
    start = left + (len(text) - len(text.lstrip())) * CELL
    words = text.strip()
    width = f"{len(words) * CELL:.1f}"
    if is_reverse:
        box = f'x="{start - 2:.1f}" y="{top + 1}" width="{len(words) * CELL + 4:.1f}" height="{LINE - 2}"'
        yield f'<rect {box} fill="{INK}"/>'
    colour = GROUND if is_reverse else SOFT if style and style.dim else INK
    weight = ' font-weight="700"' if style and style.bold else ""
    yield (
        f'<text x="{start:.1f}" y="{top + 13.5}" textLength="{width}" lengthAdjust="spacingAndGlyphs" '
        f'fill="{colour}"{weight} xml:space="preserve">{escape(words)}</text>'
    )


def _frame(text: str, left: float, top: float) -> str:
    path = []
    for number, letter in enumerate(text):
        x, y = left + (number + 0.5) * CELL, top + LINE / 2
        ends = {"l": (x - CELL / 2, y), "r": (x + CELL / 2, y), "u": (x, top), "d": (x, top + LINE)}
        (x1, y1), (x2, y2) = (ends[side] for side in _FRAMES[letter])
        path.append(f"M{x1:.1f} {y1:.1f}L{x:.1f} {y:.1f}L{x2:.1f} {y2:.1f}")
    return f'<path d="{"".join(path)}" fill="none" stroke="{FRAME}" stroke-width="1.2"/>'
