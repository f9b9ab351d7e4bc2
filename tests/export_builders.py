"""Small invented exports in the dialects of building systems."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from graphghha.exports import Export, ExportOptions, Series, read_exports

NOON = datetime(2021, 5, 30, 12, tzinfo=UTC)


def ms(*parts: int, zone: str = "UTC", fold: int = 0) -> int:
    """The time in ms since 1970."""
    return round(datetime(*parts, tzinfo=ZoneInfo(zone), fold=fold).timestamp() * 1000)


def read(folder: Path, *texts: str | bytes, names: tuple[str, ...] = (), **options: object) -> Export:
    """Write files and read them."""
    paths = []
    for number, text in enumerate(texts):
        path = folder / (names[number] if names else f"part-{number}.csv")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        paths.append(path)
    return read_exports(paths, ExportOptions(**options))


def only(export: Export) -> Series:
    """The one point of an export."""
    (series,) = export.series
    return series


def table(header: str, line: str, *, rows: int = 30, step_min: float = 5, start: datetime = NOON) -> str:
    """A table whose lines are filled in with a time and a number that goes up and down."""
    lines = [header]
    for row in range(rows):
        time = start + timedelta(minutes=step_min * row)
        lines.append(time.strftime(line).replace("{v}", f"{20 + row % 7 * 0.1:.1f}"))
    return "\n".join(lines) + "\n"


def reasons(export: Export) -> str:
    """Everything that was guessed or left out, as text."""
    return "\n".join(map(str, (*export.guesses, *export.omissions)))
