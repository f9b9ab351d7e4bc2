"""How a text file is laid out as a table: separator, lines before the data, names and units of columns, decimals."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphghha._util.utf8_file import Utf8File
from graphghha.errors import DataError
from graphghha.exports.notes import Guess
from graphghha.exports.sample import Sample
from graphghha.exports.times import family_of
from graphghha.exports.vocabulary import TIME_WORDS
from graphghha.plants.arrow import pa, pacsv
from graphghha.plants.units import is_known

SEPARATORS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}
MOST_HEADER_LINES = 600  # reports list their points, a line each
MOST_LINES = 500  # looked at
BLOCK_BYTES = 1 << 22
_COMMA_NUMBER = re.compile(r"([-+]?\d+,\d+)(?:\s*[^\d\s,;.:].{0,14})?")  # with a unit behind it, or none
_DOT_NUMBER = re.compile(r"[-+]?\d*\.\d+(?:\s*[^\d\s,;.:].{0,14})?")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+")
_SETTING = re.compile(r"\s*[#;/]*\s*([A-Za-z][\w ./-]{0,40}?)\s*[:=,;\t]\s*(.+?)[\s,;]*$")


@dataclass(frozen=True, kw_only=True, slots=True)
class TableFormat:
    """How a text file is laid out as a table."""

    encoding: str
    separator: str
    decimal: str
    skip_lines: int  # physical lines before the first row of data
    names: tuple[str, ...]  # of the columns; a file without a header has empty ones
    units: tuple[str, ...] = ()  # of the columns, from a line below the names
    settings: dict[str, str] = field(default_factory=dict)  # `key: value` lines before the header, keys in lower case
    guesses: tuple[Guess, ...] = ()


def recognize_table(
    sample: Sample, about: str, *, separator: str | None = None, decimal: str | None = None
) -> TableFormat | None:
    """Return the layout of a sample, or None if there is not a single line with two fields."""
    lines = [line for line in sample.lines if line.strip()]
    if not lines:
        return None
    guesses = []
    separator = separator or _separator(lines)
    if separator is None:
        return None
    width = _usual_width(lines, separator)
    rows = [(number, fields_of(line, separator)) for number, line in enumerate(sample.head[:MOST_HEADER_LINES])]
    first = next((number for number, row in rows if len(row) == width and _is_data(row)), None)
    full = [number for number, row in rows if len(row) == width and any(cell.strip() for cell in row)]
    skip = first if first is not None else (full[0] + 1 if full else len(sample.head))
    headers = [number for number in full if number < skip]
    names, units, header = _header(rows, headers, width)
    if names is None and first and (short := rows[first - 1][1]) and _names_time(short):
        # rows are longer than their header: a separator ends each line, or stands unquoted inside a cell
        names, header = tuple(cell.strip() for cell in short) + ("",) * (width - len(short)), first - 1
    if names is None:
        names = ("",) * width
        guesses.append(Guess(about, "header", "none", "the first line already holds readings"))
    body = [fields_of(line, separator) for line in sample.lines[skip:][:MOST_LINES]]
    if decimal is None:
        decimal, reason = _decimal(body, separator)
        if decimal == ",":
            guesses.append(Guess(about, "decimal mark", "comma", reason))
    if separator != ",":
        reason = f"it divides {sum(len(row) == width for row in body)} of {len(body)} sampled lines alike"
        guesses.append(Guess(about, "separator", SEPARATORS.get(separator, repr(separator)), reason))
    if sample.encoding not in ("utf-8", "utf-8-sig"):
        guesses.append(Guess(about, "encoding", sample.encoding, "its bytes are not UTF-8"))
    different = _with_groups(names, [dict(rows)[number] for number in headers if header is None or number < header])
    if different != tuple(names):
        example = next((old, new) for old, new in zip(names, different, strict=True) if old != new)
        reason = f"several columns are named {example[0]!r}"
        guesses.append(Guess(about, "names of columns", f"such as {example[1]!r}", reason))
        names = different
    before = skip if header is None else header
    if legend := _legend(sample.head[:before], separator, names):
        example = next(iter(legend.items()))
        reason = f"a line before them says that {example[0]} is {example[1]}"
        guesses.append(Guess(about, "names of columns", f"{len(legend)} from a list", reason))
        names = tuple(legend.get(name, name) for name in names)
    settings = _settings(sample.head[:before])
    if before:
        guesses.append(Guess(about, "header lines", str(before), "they come before the names of the columns"))
    return TableFormat(
        encoding=sample.encoding,
        separator=separator,
        decimal=decimal,
        skip_lines=skip,
        names=tuple(names),
        units=units,
        settings=settings,
        guesses=tuple(guesses),
    )


def open_table(
    path: Path, layout: TableFormat, columns: Sequence[int] | None = None, torn: list[str] | None = None
) -> Iterator[Any]:
    """Yield record batches of text with the columns asked for, named by their number.

    Rows with another number of fields are left out and added to `torn`.
    """

    def leave_out(row: Any) -> str:
        if torn is not None:
            torn.append(row.text or "")
        return "skip"

    width = len(layout.names)
    names = [str(number) for number in range(width)]
    wanted = names if columns is None else [str(number) for number in columns]
    is_utf8 = layout.encoding in ("utf-8", "utf-8-sig")
    try:
        reader = pacsv.open_csv(
            Utf8File(path) if is_utf8 else path,
            read_options=pacsv.ReadOptions(
                use_threads=False,
                block_size=BLOCK_BYTES,
                column_names=names,
                skip_rows=layout.skip_lines,
                encoding="utf8" if is_utf8 else layout.encoding,
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=layout.separator, invalid_row_handler=leave_out, newlines_in_values=False
            ),
            convert_options=pacsv.ConvertOptions(
                include_columns=wanted, column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False
            ),
        )
        for batch in reader:
            yield pa.RecordBatch.from_arrays([_as_text(column) for column in batch.columns], names=wanted)
    except pa.ArrowInvalid as exc:
        if "Empty CSV file" in str(exc) or "Empty CSV" in str(exc):
            return
        raise DataError(f"{path}: cannot be read as a table: {exc}") from exc
    except (OSError, UnicodeError) as exc:
        raise DataError(f"{path}: cannot be read: {exc}") from exc


def _as_text(column: Any) -> Any:
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:  # a few bytes are not UTF-8
        return pa.array([(cell or b"").decode("utf-8", "replace") for cell in column.to_pylist()], pa.string())


def fields_of(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return [line]


def _separator(lines: list[str]) -> str | None:
    """Return the separator that divides most lines alike; a comma only if nothing else does."""
    best, best_share = None, 0.5
    for separator in SEPARATORS:
        widths = Counter(len(fields_of(line, separator)) for line in lines[-MOST_LINES:])
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
        share = count / min(MOST_LINES, len(lines))
        if width >= 2 and share > best_share:
            best, best_share = separator, share
    if best is None and any("," in line for line in lines[-MOST_LINES:]):
        return ","
    return best


def _usual_width(lines: list[str], separator: str) -> int:
    widths = Counter(len(fields_of(line, separator)) for line in lines[-MOST_LINES:])
    return max((item for item in widths.items() if item[0] > 1), key=lambda item: item[1], default=(1, 0))[0]


def _is_data(row: list[str]) -> bool:
    """Return whether a row looks like readings: a time among its cells, or numbers in half of them."""
    filled = [cell for cell in row if cell.strip()]
    if any(family_of([cell]) for cell in filled):
        return True
    numbers = [cell for cell in filled if re.fullmatch(r"[-+]?[\d.,]+(?:[eE][-+]?\d+)?", cell.strip())]
    return bool(filled) and 2 * len(numbers) > len(filled)


def _names_time(row: list[str]) -> bool:
    return len(row) > 1 and any(cell.strip().lower() in TIME_WORDS for cell in row)


def _header(
    rows: list[tuple[int, list[str]]], headers: list[int], width: int
) -> tuple[Sequence[str] | None, tuple[str, ...], int | None]:
    """Return the names of the columns, their units if a line below the names holds them, and the line of the names."""
    if not headers:
        return None, (), None
    cells = dict(rows)
    last = headers[-1]
    below = [cell.strip() for cell in cells[last]]
    filled = [cell for cell in below if cell]
    if len(headers) > 1 and filled and sum(_is_unit(cell) for cell in filled) >= 0.7 * len(filled):
        return [cell.strip() for cell in cells[headers[-2]]], tuple(below), headers[-2]
    return below, (), last


def _with_groups(names: Sequence[str], above: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return names that differ: of equal ones each gets the cell above it in front, or its number behind it."""
    filled = [name for name in names if name]
    if len(set(filled)) == len(filled):
        return tuple(names)
    for row in reversed(above):
        groups: list[str] = []
        for cell in row:
            groups.append(cell.strip() or (groups[-1] if groups else ""))  # a merged cell is filled in its first column
        joined = [f"{group} {name}".strip() if name else "" for group, name in zip(groups, names, strict=True)]
        if len(set(filter(None, joined))) == len(filled):
            return tuple(joined)
    seen: Counter[str] = Counter()
    different = []
    for name in names:
        seen[name] += 1
        different.append(f"{name} #{seen[name]}" if name and seen[name] > 1 else name)
    return tuple(different)


def _is_unit(text: str) -> bool:
    plain = text.strip("[]() ")
    return is_known(plain) or plain.lower() in ("", "-", "n/a", "none", "state", "bool", "enum")


def _decimal(body: list[list[str]], separator: str) -> tuple[str, str]:
    cells = [cell.strip() for row in body for cell in row]
    commas = [match[1] for cell in cells if (match := _COMMA_NUMBER.fullmatch(cell))]
    if not commas or any(_DOT_NUMBER.fullmatch(cell) for cell in cells):
        return ".", ""
    if all(_THOUSANDS.fullmatch(cell) for cell in commas) and separator == ",":
        return ".", ""
    return ",", f"{commas[0]} occurs, and no number with a point"


def _legend(lines: Sequence[str], separator: str, names: Sequence[str]) -> dict[str, str]:
    """Return what lines before the header say about its columns: `"Point_1:","AHU1.SAT"` names the column Point_1."""
    has_suffix = any("suffix" in line.lower() for line in lines)
    found: dict[str, str] = {}
    for line in lines:
        key, *rest = (cell.strip() for cell in fields_of(line, separator)) if line.strip() else ("",)
        key = key.rstrip(": ")
        if key in names and rest and rest[0]:
            found[key] = ":".join(filter(None, rest[:2] if has_suffix else rest[:1]))
    return found if 2 * len(found) >= len([name for name in names if name]) - 2 and len(found) > 0 else {}


def _settings(lines: Sequence[str]) -> dict[str, str]:
    """Return the `key: value` lines that some systems write before the header."""
    found = (_SETTING.fullmatch(line) for line in lines[-MOST_LINES:])
    return {match[1].strip().lower(): match[2].strip(' ,;"') for match in found if match}
