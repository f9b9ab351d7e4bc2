"""A column of cells, collected block by block: numbers where every cell is one, otherwise codes of distinct texts."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import SchemaError
from graphghha.exports.values import MOST_STATES, Cell, read_cell, state_words
from graphghha.exports.vocabulary import OFF_WORDS, ON_WORDS
from graphghha.plants.arrow import pa, pc
from graphghha.plants.units import conversion

NUMBERS_AMONG_STATES, WORDS_A_NUMBER = 2, 9  # different numbers that a column of states may hold, and how rarely
MOST_TEXTS = 100_000  # distinct texts of a column that are kept; a column with more holds remarks, not readings


@dataclass(frozen=True, slots=True)
class Column:
    """A column of cells [n] as numbers, NaN where there is no value, and what its texts were taken for."""

    values: NDArray[np.float64]
    states: tuple[str, ...] = ()  # states[code] is the word that was read as this code
    missing: Counter[str] = field(default_factory=Counter)  # marks of a missing value, how often each occurs
    malformed: Counter[str] = field(default_factory=Counter)  # texts that are neither a number nor a state
    unit: str | None = None  # a unit that stands in the cells

    @property
    def is_text(self) -> bool:
        """Whether the column holds texts only, none of them a value."""
        return bool(self.malformed) and not np.isfinite(self.values).any()


class ColumnBuilder:
    """Collects the blocks of one column."""

    def __init__(self, decimal: str = ".") -> None:
        self._decimal = decimal
        self._numbers: list[NDArray[np.float64] | NDArray[np.int32]] = []  # codes of texts are int32
        self._code_of: dict[str, int] = {}

    def add(self, block: Any) -> None:
        """Add the cells of an Arrow array of texts, numbers or truth values."""
        kind = block.type
        if pa.types.is_dictionary(kind):
            block = block.cast(kind.value_type)
            kind = block.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            self._numbers.append(to_numpy(block.cast(pa.float64())))
            return
        if not pa.types.is_string(kind):
            block = _as_text(block)
        numbers = _plain_numbers(block, self._decimal)
        self._numbers.append(self._codes(block) if numbers is None else numbers)

    def finish(self) -> Column:
        """Return the whole column."""
        if not any(block.dtype == np.int32 for block in self._numbers):
            return Column(np.concatenate(self._numbers).astype(np.float64) if self._numbers else np.empty(0))
        texts = list(self._code_of)
        cells = [read_cell(text, self._decimal) for text in texts]
        counts = np.zeros(len(texts) + 1, np.int64)
        plain: Counter[float] = Counter()  # how often each number occurs; of a column of states there are few
        for block in self._numbers:
            if block.dtype == np.int32:
                counts += np.bincount(block, minlength=len(texts) + 1)
            elif len(plain) <= MOST_STATES:
                found, often = np.unique(block[np.isfinite(block)], return_counts=True)
                plain.update(dict(zip(found.tolist(), often.tolist(), strict=True)))
        words, missing, units = _sort_texts(cells, counts)
        for cell, count in zip(cells, counts.tolist(), strict=False):
            if np.isfinite(cell.number):
                plain[cell.number] += count
        states = state_words(words) if _are_states(words, plain) else ()
        code_of = {word.lower(): float(code) for code, word in enumerate(states)}
        unit = _common_unit(units)
        own = [code_of.get((cell.word or "").lower(), np.nan) if states else _in(unit, cell) for cell in cells]
        table = np.array([*own, np.nan])
        other = np.nan if states else 1.0  # a number is no state
        blocks = [table[block] if block.dtype == np.int32 else block * other for block in self._numbers]
        values = np.concatenate(blocks).astype(np.float64)
        malformed = Counter({f"{number:g}": often for number, often in plain.items()}) if states else words
        return Column(values, states, missing, malformed, unit)

    def _codes(self, block: Any) -> NDArray[np.int32]:
        """Return the code of each cell's text; the code of an empty cell is one past the last and set at the end."""
        encoded = block.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        if len(self._code_of) + len(texts) > MOST_TEXTS:
            texts = ["(many texts)"] * len(texts)
        own = np.array([self._code_of.setdefault(text, len(self._code_of)) for text in texts] + [-1], np.int32)
        codes: NDArray[np.int32] = own[encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)]
        return np.where(codes < 0, self._code_of.setdefault("", len(self._code_of)), codes).astype(np.int32)


def _are_states(words: Counter[str], numbers: Counter[float]) -> bool:
    """Return whether a column holds states. A number or two may be among them: 0 is written where a device is lost."""
    if not numbers:
        return True
    known = len(words) > 1 or any(word.lower() in OFF_WORDS | ON_WORDS for word in words)
    return known and len(numbers) <= NUMBERS_AMONG_STATES and words.total() >= WORDS_A_NUMBER * numbers.total()


def _as_text(block: Any) -> Any:
    """Return a column of another type as texts: truth values become words, lists and the like are not readings."""
    try:
        return block.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([f"({block.type})"] * len(block), pa.string())


def _sort_texts(cells: list[Cell], counts: NDArray[np.int64]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Return how often each word, each mark of a missing value and each unit occurs."""
    words: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    units: Counter[str] = Counter()
    for cell, count in zip(cells, counts.tolist(), strict=False):
        if cell.missing:
            missing[cell.missing] += count
        elif cell.word:
            words[cell.word] += count
        elif cell.unit:
            units[cell.unit] += count
    return words, missing, units


def _common_unit(units: Counter[str]) -> str | None:
    """Return the unit of most cells if all others can be converted to it: dashboards write 980 W, then 1.02 kW."""
    if not units:
        return None
    usual = units.most_common(1)[0][0]
    return usual if all(_is_convertible(unit, usual) for unit in units) else None


def _is_convertible(unit: str, wanted: str) -> bool:
    try:
        conversion(unit, wanted)
    except SchemaError:
        return False
    return True


def _in(unit: str | None, cell: Cell) -> float:
    """Return the number of a cell in the unit of its column."""
    if unit is None or cell.unit is None or cell.unit == unit:
        return cell.number
    shift, scale = conversion(cell.unit, unit)
    return (cell.number - shift) * scale


def to_numpy(column: Any) -> NDArray[np.float64]:
    """Return an Arrow array of numbers, NaN where it is null."""
    values: NDArray[np.float64] = np.array(column.fill_null(float("nan")).to_numpy(zero_copy_only=False), np.float64)
    return values


def _plain_numbers(column: Any, decimal: str) -> NDArray[np.float64] | None:
    """Return the numbers of a column in which every cell is empty or a plain number, or None."""
    text = pc.utf8_trim_whitespace(column)
    if decimal == ",":
        text = pc.replace_substring(pc.replace_substring(text, ".", ""), ",", ".")
    filled = pc.if_else(pc.equal(pc.binary_length(text), 0), None, text)
    try:
        return to_numpy(filled.cast(pa.float64()))
    except pa.ArrowInvalid:
        return None
