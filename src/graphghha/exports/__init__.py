"""Reads what people have: tables that building and plant systems exported, in any dialect.

`read_exports` reads files and folders into memory, `ExportReader` one file at a time. Everything that was guessed or
left out is a value with its reason. Names load on first use, because reading files needs pyarrow.
"""

from typing import TYPE_CHECKING

from graphghha._util.lazy import lazy_names

if TYPE_CHECKING:
    from graphghha.exports.naming import Kind, guess_kind
    from graphghha.exports.notes import Guess, Omission
    from graphghha.exports.options import ExportOptions
    from graphghha.exports.parts import merge_parts
    from graphghha.exports.reader import Export, ExportReader, FileReport, read_exports
    from graphghha.exports.reporting import Mode, Reporting
    from graphghha.exports.resample import Rows, common_step_ms, lay_on_grid
    from graphghha.exports.series import Series

_MODULES = {
    "Export": "reader",
    "ExportOptions": "options",
    "ExportReader": "reader",
    "FileReport": "reader",
    "Guess": "notes",
    "Kind": "naming",
    "Mode": "reporting",
    "Omission": "notes",
    "Reporting": "reporting",
    "Rows": "resample",
    "Series": "series",
    "common_step_ms": "resample",
    "guess_kind": "naming",
    "lay_on_grid": "resample",
    "merge_parts": "parts",
    "read_exports": "reader",
}

__all__ = [
    "Export",
    "ExportOptions",
    "ExportReader",
    "FileReport",
    "Guess",
    "Kind",
    "Mode",
    "Omission",
    "Reporting",
    "Rows",
    "Series",
    "common_step_ms",
    "guess_kind",
    "lay_on_grid",
    "merge_parts",
    "read_exports",
]

__getattr__ = lazy_names(__name__, _MODULES)
