"""The sheets of a workbook (.xlsx) as CSV files. Times are written as texts, everything else as it is stored."""

import csv
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

from graphghha.errors import DataError

MOST_COLUMNS = 16_384
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_DATE_FORMATS = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])  # built into the format
_LITERAL = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_EPOCHS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}


def write_sheets(path: Path, folder: Path) -> Iterator[Path]:
    """Write each sheet with at least two rows as a CSV file, and yield it; a single one is named like the workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            book = _Workbook(archive)
            found = [(name, part) for name, part in book.sheets if part in archive.namelist()]
            for number, (name, part) in enumerate(found):
                stem = path.stem if len(found) == 1 else re.sub(r"[^\w. ()+-]", "_", name)
                target = folder / f"{stem}.csv"
                if target.exists():
                    target = folder / f"{stem} {number}.csv"
                with archive.open(part) as sheet:
                    widths = [len(row) for row in book.rows(sheet)]
                if sum(width > 0 for width in widths) < 2:
                    continue
                with archive.open(part) as sheet, target.open("w", encoding="utf-8", newline="") as file:
                    # cells that are empty at the end of a row are not stored
                    csv.writer(file).writerows([*row, *[""] * (max(widths) - len(row))] for row in book.rows(sheet))
                yield target
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, ValueError, IndexError) as exc:
        raise DataError(f"{path}: cannot be read as a workbook: {exc}; save the sheet as CSV") from exc


class _Workbook:
    """The sheets of a workbook and what their cells refer to."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        names = set(archive.namelist())
        root = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        targets = {link.get("Id"): str(link.get("Target")) for link in links}
        self.sheets = [
            (str(sheet.get("name")), _part(targets[sheet.get(_LINK)])) for sheet in root.iter(f"{_MAIN}sheet")
        ]
        properties = root.find(f"{_MAIN}workbookPr")
        self._epoch = _EPOCHS[properties is not None and properties.get("date1904") in ("1", "true")]
        self._texts = _shared_texts(archive) if "xl/sharedStrings.xml" in names else []
        self._is_date = _date_styles(archive) if "xl/styles.xml" in names else []

    def rows(self, sheet: IO[bytes]) -> Iterator[list[str]]:
        """Yield the cells of each row as texts."""
        for _, element in ElementTree.iterparse(sheet):
            if element.tag != f"{_MAIN}row":
                continue
            cells: dict[int, str] = {}
            for at, cell in enumerate(element.iter(f"{_MAIN}c")):
                column = _column(cell.get("r") or "", at)
                if column < MOST_COLUMNS:
                    cells[column] = self._text(cell)
            yield [cells.get(column, "") for column in range(max(cells, default=-1) + 1)]
            element.clear()

    def _text(self, cell: Any) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return "".join(part.text or "" for part in cell.iter(f"{_MAIN}t"))
        found = cell.find(f"{_MAIN}v")
        text = (found.text or "") if found is not None else ""
        if kind == "s" and text:
            return self._texts[int(text)]
        if kind == "b":
            return "TRUE" if text == "1" else "FALSE"
        style = int(cell.get("s") or 0)
        if kind == "n" and text and style < len(self._is_date) and self._is_date[style]:
            return self._time(float(text))
        return text

    def _time(self, days: float) -> str:
        whole = self._epoch + timedelta(milliseconds=round(days * 86_400_000))
        # a day as a floating-point number is only good to some milliseconds
        rounded = whole.replace(microsecond=0) + timedelta(seconds=whole.microsecond >= 500_000)
        nearest = rounded if abs(rounded - whole) <= timedelta(milliseconds=2) else whole
        return nearest.isoformat(sep=" ", timespec="milliseconds" if nearest.microsecond else "seconds")


def _part(target: str) -> str:
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _shared_texts(archive: zipfile.ZipFile) -> list[str]:
    with archive.open("xl/sharedStrings.xml") as file:
        return [
            "".join(part.text or "" for part in element.iter(f"{_MAIN}t"))
            for _, element in ElementTree.iterparse(file)
            if element.tag == f"{_MAIN}si"
        ]


def _date_styles(archive: zipfile.ZipFile) -> list[bool]:
    """Return for each style of cells whether it shows a number as a date or time."""
    root = ElementTree.fromstring(archive.read("xl/styles.xml"))
    formats = {int(each.get("numFmtId") or 0): each.get("formatCode") or "" for each in root.iter(f"{_MAIN}numFmt")}
    styles = root.find(f"{_MAIN}cellXfs")
    found = []
    for style in styles if styles is not None else ():
        number = int(style.get("numFmtId") or 0)
        letters = _LITERAL.sub("", formats.get(number, "")).lower()
        found.append(number in _DATE_FORMATS or bool(re.search(r"[ydh]|mm?:|:mm?", letters)))
    return found


def _column(reference: str, at: int) -> int:
    """Return the number of a column from the name of a cell, 27 of `AB12`; cells without a name are in order."""
    number = 0
    for letter in reference:
        if not letter.isalpha():
            break
        number = number * 26 + ord(letter.upper()) - 64
    return number - 1 if number else at
