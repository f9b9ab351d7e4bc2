"""Telemetry and labels as Parquet, streamed in chunks: long (one row per reading) or wide (one column per point).

A row group of the long layout is one chunk (a day, as `simulate` writes it) of at most ZONES_PER_ROW_GROUP zones, so
that a large building is never held in memory as rows. One of the wide layout is a week of chunks: Parquet keeps about
1.6 kB in memory per column and row group, which for a year of many zones would exceed the readings themselves.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from graphghha._util.files import atomic_path
from graphghha.errors import ConfigError, DataError, SchemaError
from graphghha.plants.arrow import pa, pq

Layout = Literal["long", "wide"]
Times = NDArray[np.datetime64]
Values = NDArray[np.floating[Any]]

FORMAT = "graphghha-telemetry/1"
META_KEY = b"graphghha"
QUALITIES = ("good", "repaired", "missing")  # a missing reading has the value NaN
GOOD, REPAIRED, MISSING = range(3)
TIME = pa.timestamp("ms", tz="UTC")
CHUNKS_PER_ROW_GROUP = 7  # of the wide layout
ZONES_PER_ROW_GROUP = 20  # of the long layout

LABEL_SCHEMA = pa.schema(
    [
        ("time", TIME),
        ("zone", pa.dictionary(pa.int16(), pa.string())),
        ("node", pa.dictionary(pa.int16(), pa.string())),
        ("case", pa.dictionary(pa.int16(), pa.string())),
        ("class", pa.dictionary(pa.int8(), pa.string())),
        ("active", pa.bool_()),
        ("observable", pa.bool_()),
        ("recovering", pa.bool_()),
    ]
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TelemetryMeta:
    """The metadata of a telemetry file, stored as JSON in the Parquet schema."""

    plant: str
    template_hash: str
    site: str
    zones: tuple[str, ...]
    points: tuple[str, ...]
    units: tuple[str, ...]  # per point
    step_s: float
    layout: Layout = "long"
    seed: int | None = None
    cases: tuple[str, ...] = ()  # case specs in the notation of the CLI
    notes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.layout not in ("long", "wide"):
            raise ConfigError(f"telemetry: unknown layout {self.layout!r}; use long | wide")
        if len(self.units) != len(self.points):
            raise ConfigError(f"telemetry: {len(self.points)} points but {len(self.units)} units")
        if not all(isinstance(name, str) for name in (*self.zones, *self.points, *self.units)):
            raise ConfigError("telemetry: zones, points and units must be strings")
        if not isinstance(self.step_s, int | float) or not 0 < self.step_s < float("inf"):
            raise ConfigError(f"telemetry: step_s must be a positive number, got {self.step_s!r}")

    def to_bytes(self) -> bytes:
        """Return the JSON that is stored in the schema."""
        return json.dumps({"format": FORMAT} | asdict(self), sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, raw: bytes, where: Path) -> Self:
        """Read the JSON of the schema of the file `where`."""
        try:
            fields = json.loads(raw)
            if fields.pop("format") != FORMAT:
                raise ValueError("it has another format version")
            tuples = {key: tuple(fields[key]) for key in ("zones", "points", "units", "cases")}
            return cls(**fields | tuples)
        except (KeyError, TypeError, ValueError) as exc:
            raise SchemaError(f"{where}: the {META_KEY.decode()!r} entry of the schema is not {FORMAT}: {exc}") from exc


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of telemetry: z zones, t times, p points."""

    times: Times  # [t] datetime64[ms], UTC
    values: Values  # [z t p]
    quality: NDArray[np.uint8]  # [z t p] index into QUALITIES
    sent: NDArray[np.bool_] | None = None  # [z t p] whether a reading arrived; None where all did


def labels_path(path: Path) -> Path:
    """Return the path of the labels of a telemetry file: NAME.parquet -> NAME.labels.parquet."""
    return path.with_name(path.name.removesuffix(".parquet") + ".labels.parquet")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the operating system while writing a path into a DataError that names it."""
    try:
        yield
    except OSError as exc:
        raise DataError(f"{path}: cannot be written: {exc.strerror or exc}") from exc


def make_folder(path: Path) -> None:
    """Create the folder and those above it."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


class ParquetSink:
    """A Parquet file that appears under its name only when it is complete."""

    def __init__(self, path: Path, schema: Any, **options: Any) -> None:
        if os.path.isdir(path):
            raise DataError(f"{path}: cannot be written: it is a folder")
        self.path = path
        with writing(path), ExitStack() as stack:
            partial = stack.enter_context(atomic_path(path))
            writer = pq.ParquetWriter(partial, schema, compression="zstd", write_page_checksum=True, **options)
            self._writer = stack.enter_context(writer)
            self._file = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def append(self, table: Any) -> None:
        """Write a row group."""
        with writing(self.path):
            self._writer.write_table(table, row_group_size=max(len(table), 1))

    def flush(self) -> None:
        """Write what is still held back; called once at the end."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with writing(self.path):
            if kind is not None:
                self._file.__exit__(kind, error, at)
                return
            with self._file:
                self.flush()


class TelemetryWriter(ParquetSink):
    """Appends chunks of telemetry to one file."""

    def __init__(self, path: Path, meta: TelemetryMeta) -> None:
        self.meta = meta
        schema = _schema(meta).with_metadata({META_KEY: meta.to_bytes()})
        # noisy values hardly repeat, so a dictionary is of no use; splitting the bytes of the floats helps
        values = ["value"] if meta.layout == "long" else _columns(meta)
        super().__init__(
            path,
            schema,
            use_dictionary=[name for name in schema.names if name not in set(values)],
            use_byte_stream_split=values,
            write_statistics=["time"],
        )
        self.schema = schema
        self._held: list[Any] = []

    def write(self, chunk: Chunk) -> None:
        """Append a chunk."""
        zones, steps, points = chunk.values.shape
        assert (zones, points) == (len(self.meta.zones), len(self.meta.points))
        assert len(chunk.times) == steps
        if self.meta.layout == "long":
            for begin in range(0, zones, ZONES_PER_ROW_GROUP):
                self.append(self._long(chunk, begin, min(begin + ZONES_PER_ROW_GROUP, zones)))
            return
        values = chunk.values if chunk.sent is None else np.where(chunk.sent, chunk.values, np.nan)
        columns = [_stamps(chunk.times), *_flat(values.astype(np.float32))]
        self._held.append(pa.Table.from_arrays(columns, schema=self.schema))
        if len(self._held) == CHUNKS_PER_ROW_GROUP:
            self.flush()

    def flush(self) -> None:
        if self._held:
            table = pa.concat_tables(self._held)
            self._held = []
            self.append(table)

    def _long(self, chunk: Chunk, begin: int, end: int) -> Any:
        """Return the rows of the zones begin <= zone < end, ordered by zone, point and time."""
        values = chunk.values[begin:end].transpose(0, 2, 1).astype(np.float32)
        zones, points, steps = values.shape
        quality = chunk.quality[begin:end].transpose(0, 2, 1)
        columns = [
            coded(np.zeros(values.size, np.int8), [self.meta.site]),
            coded(np.repeat(np.arange(begin, end, dtype=np.int16), points * steps), self.meta.zones),
            coded(np.tile(np.repeat(np.arange(points, dtype=np.int16), steps), zones), self.meta.points),
            _stamps(np.tile(chunk.times, zones * points)),
            pa.array(values.ravel()),
            coded(quality.astype(np.int8).ravel(), QUALITIES),
        ]
        table = pa.Table.from_arrays(columns, schema=self.schema)
        if chunk.sent is None:
            return table
        return table.filter(pa.array(chunk.sent[begin:end].transpose(0, 2, 1).ravel()))


class TelemetryFile:
    """A telemetry file, read chunk by chunk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = pq.ParquetFile(path, page_checksum_verification=True)
        except (OSError, pa.ArrowInvalid) as exc:
            raise DataError(f"{path}: cannot be read as Parquet: {exc}") from exc
        raw = (self._file.schema_arrow.metadata or {}).get(META_KEY)
        if raw is None:
            raise SchemaError(
                f"{path}: not a telemetry file of this package: its schema has no {META_KEY.decode()!r} entry"
            )
        self.meta = TelemetryMeta.from_bytes(raw, path)
        _check_columns(path, _schema(self.meta), self._file.schema_arrow)
        self._whole = ("time",) if self.meta.layout == "wide" else ("time", "zone", "point", "quality")

    @property
    def num_steps(self) -> int:
        """The number of times in the file, for progress bars; an estimate if the long layout leaves readings out."""
        rows: int = self._file.metadata.num_rows
        return rows if self.meta.layout == "wide" else rows // max(1, len(self.meta.zones) * len(self.meta.points))

    def chunks(self) -> Iterator[Chunk]:
        """Read the file in chunks of at most a day, in its own order."""
        if self.meta.layout == "long":
            yield from self._long_chunks()
            return
        rows_per_day = max(1, round(86400 / self.meta.step_s))
        for table in self._row_groups():
            for begin in range(0, len(table), rows_per_day):
                yield self._wide_chunk(table.slice(begin, rows_per_day))

    def _row_groups(self) -> Iterator[Any]:
        for number in range(self._file.num_row_groups):
            try:
                table = self._file.read_row_group(number)
            except (OSError, pa.ArrowInvalid) as exc:
                raise DataError(f"{self.path}: row group {number} cannot be read: {exc}") from exc
            for name in self._whole:
                if nulls := table[name].null_count:
                    raise DataError(f"{self.path}: {nulls} rows of row group {number} have no {name}; leave them out")
            yield table

    def _long_chunks(self) -> Iterator[Chunk]:
        """Join row groups that overlap in time: they hold other zones of the same chunk."""
        held: Chunk | None = None
        for table in self._row_groups():
            stamps = _naive(table["time"])
            if not len(stamps):
                continue
            times = np.unique(stamps)
            if held is not None and times[0] > held.times[-1]:
                yield held
                held = None
            held = self._widened(held, times)
            self._fill(held, table, stamps)
        if held is not None:
            yield held

    def _widened(self, held: Chunk | None, times: Times) -> Chunk:
        """Return the chunk with room for these times, where every reading is still missing."""
        if held is not None and np.array_equal(held.times, times):
            return held
        every = times if held is None else np.union1d(held.times, times)
        shape = (len(self.meta.zones), len(every), len(self.meta.points))
        wider = Chunk(every, np.full(shape, np.nan, np.float32), np.full(shape, MISSING, np.uint8))
        if held is not None:
            kept = np.searchsorted(every, held.times)
            wider.values[:, kept] = held.values
            wider.quality[:, kept] = held.quality
        return wider

    def _wide_chunk(self, table: Any) -> Chunk:
        shape = (len(self.meta.zones), len(self.meta.points), len(table))
        values = np.stack([table[name].to_numpy() for name in _columns(self.meta)]).reshape(shape).transpose(0, 2, 1)
        quality = np.where(np.isnan(values), MISSING, GOOD).astype(np.uint8)
        return Chunk(_naive(table["time"]), values, quality)

    def _fill(self, chunk: Chunk, table: Any, stamps: Times) -> None:
        zone, point = self._codes(table["zone"], self.meta.zones), self._codes(table["point"], self.meta.points)
        when = np.searchsorted(chunk.times, stamps)
        given = table["value"].to_numpy().astype(np.float32)
        chunk.values[zone, when, point] = given
        kept = chunk.values[zone, when, point]
        if (other := (kept != given) & ~(np.isnan(kept) & np.isnan(given))).any():
            row = int(np.argmax(other))
            where = f"{self.meta.zones[zone[row]]}/{self.meta.points[point[row]]} at {stamps[row]}"
            raise DataError(f"{self.path}: {where} is {given[row]:g} and {kept[row]:g}; keep only one of the two")
        chunk.quality[zone, when, point] = self._codes(table["quality"], QUALITIES)

    def _codes(self, column: Any, names: Sequence[str]) -> NDArray[np.int64]:
        """Return positions in `names`; the column's own dictionary may have another order, or unknown names."""
        encoded = column.combine_chunks()
        encoded = encoded if pa.types.is_dictionary(encoded.type) else encoded.dictionary_encode()
        index = {name: number for number, name in enumerate(names)}
        own = encoded.dictionary.to_pylist()
        if unknown := [name for name in own if name not in index]:
            raise SchemaError(f"{self.path}: {unknown[0]!r} is not among {', '.join(names[:6])}...")
        codes: NDArray[np.int64] = np.array([index[name] for name in own], np.int64)[encoded.indices.to_numpy()]
        return codes


def holds_labels(path: Path) -> bool:
    """Return whether a Parquet file holds labels, whatever its name."""
    try:
        return bool(pq.read_schema(path).names == LABEL_SCHEMA.names)
    except (OSError, pa.ArrowInvalid):
        return False  # it is reported by whoever reads it


def read_labels(path: Path) -> Any:
    """Return the label rows of a telemetry file as a pyarrow table, which is empty without attacks."""
    try:
        table = pq.read_table(labels_path(path))
    except (OSError, pa.ArrowInvalid) as exc:
        raise DataError(f"{labels_path(path)}: cannot be read: {exc}") from exc
    _check_columns(labels_path(path), LABEL_SCHEMA, table.schema)
    return table


def coded(codes: NDArray[np.integer[Any]], names: Sequence[str]) -> Any:
    """Return a column of names, stored as positions in `names`."""
    return pa.DictionaryArray.from_arrays(pa.array(codes), list(names))


def _stamps(times: Times) -> Any:
    return pa.array(times.astype("datetime64[ms]"), pa.timestamp("ms")).cast(TIME)


def _columns(meta: TelemetryMeta) -> list[str]:
    return [f"{zone}/{point}" for zone in meta.zones for point in meta.points]


def _schema(meta: TelemetryMeta) -> Any:
    if meta.layout == "wide":
        return pa.schema([("time", TIME), *((name, pa.float32()) for name in _columns(meta))])
    name = pa.dictionary(pa.int16(), pa.string())
    few = pa.dictionary(pa.int8(), pa.string())
    return pa.schema(
        [("site", few), ("zone", name), ("point", name), ("time", TIME), ("value", pa.float32()), ("quality", few)]
    )


def _flat(values: NDArray[np.float32]) -> list[Any]:
    by_column = np.ascontiguousarray(values.transpose(0, 2, 1)).reshape(-1, values.shape[1])
    return [pa.array(column) for column in by_column]


def _naive(column: Any) -> Times:
    times: Times = column.cast(pa.timestamp("ms"), safe=False).to_numpy()  # finer stamps lose what is below
    return times


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _is_name(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _check_columns(path: Path, wanted: Any, schema: Any) -> None:
    """Check that all wanted columns are there and that their types can be read as ours."""
    if missing := set(wanted.names) - set(schema.names):
        raise SchemaError(f"{path}: missing columns {sorted(missing)}")
    for column in wanted:
        fits, kind = _KINDS[column.type.id]
        if not fits(given := schema.field(column.name).type):
            raise SchemaError(f"{path}: column {column.name!r} holds {given}; it must hold {kind}")


_KINDS = {
    TIME.id: (pa.types.is_timestamp, "timestamps"),
    pa.float32().id: (_is_number, "numbers"),
    pa.bool_().id: (pa.types.is_boolean, "true or false"),
    pa.string().id: (_is_name, "names"),
    pa.dictionary(pa.int8(), pa.string()).id: (_is_name, "names"),
}
