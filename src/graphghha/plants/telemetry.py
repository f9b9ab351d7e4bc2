"""Telemetry and labels as Parquet, streamed in chunks: long (one row per reading) or wide (one column per point).

A row group is one chunk (a day, as `simulate` writes it) in the long layout, a week of chunks in the wide one: Parquet
keeps about 1.6 kB in memory per column and row group, which for a year of many zones would outweigh the readings.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError, DataError, EngineError, SchemaError

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as exc:
    raise EngineError("telemetry files need pyarrow: pip install 'graphghha[data]'") from exc

Layout = Literal["long", "wide"]
Times = NDArray[np.datetime64]
Values = NDArray[np.floating[Any]]

FORMAT = "graphghha-telemetry/1"
META_KEY = b"graphghha"
QUALITIES = ("good", "repaired", "missing")  # a missing reading has the value NaN
GOOD, REPAIRED, MISSING = range(3)
TIME = pa.timestamp("ms", tz="UTC")
CHUNKS_PER_ROW_GROUP: dict[Layout, int] = {"long": 1, "wide": 7}

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
    """What a telemetry file says about itself, kept as JSON in the Parquet schema."""

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

    def to_bytes(self) -> bytes:
        return json.dumps({"format": FORMAT} | asdict(self), sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, raw: bytes, where: Path) -> Self:
        try:
            fields = json.loads(raw)
            if fields.pop("format") != FORMAT:
                raise ValueError("another format version")
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


def labels_path(path: Path) -> Path:
    """Where the labels of a telemetry file lie: NAME.parquet -> NAME.labels.parquet."""
    return path.with_name(path.name.removesuffix(".parquet") + ".labels.parquet")


class ParquetSink:
    """A Parquet file that appears under its name only when it is whole."""

    def __init__(self, path: Path, schema: Any, **options: Any) -> None:
        self.path = path
        self.partial = path.with_name(path.name + ".partial")
        try:
            self.writer = pq.ParquetWriter(self.partial, schema, compression="zstd", **options)
        except OSError as exc:
            raise DataError(f"{path}: cannot be written: {exc.strerror or exc}") from exc

    def __enter__(self) -> Self:
        return self

    def flush(self) -> None:
        """Write what is still held back."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.flush()
        self.writer.close()
        if kind is None:
            os.replace(self.partial, self.path)
        else:
            self.partial.unlink(missing_ok=True)


class TelemetryWriter(ParquetSink):
    """Appends chunks of telemetry to one file."""

    def __init__(self, path: Path, meta: TelemetryMeta) -> None:
        self.meta = meta
        schema = _schema(meta).with_metadata({META_KEY: meta.to_bytes()})
        # noise leaves nothing for a dictionary to find; sorting the bytes of the floats does help
        values = ["value"] if meta.layout == "long" else _columns(meta)
        super().__init__(
            path,
            schema,
            use_dictionary=[name for name in schema.names if name not in set(values)],
            use_byte_stream_split=values,
            write_statistics=["time"],
        )
        self.schema = schema
        self._keys: dict[int, list[Any]] = {}
        self._held: list[Any] = []

    def write(self, chunk: Chunk) -> None:
        zones, steps, points = chunk.values.shape
        assert (zones, points) == (len(self.meta.zones), len(self.meta.points))
        assert len(chunk.times) == steps
        times = pa.array(chunk.times.astype("datetime64[ms]"), pa.timestamp("ms")).cast(TIME)
        values = chunk.values.astype(np.float32)
        columns = self._long(times, values, chunk) if self.meta.layout == "long" else [times, *_flat(values)]
        self._held.append(pa.Table.from_arrays(columns, schema=self.schema))
        if len(self._held) == CHUNKS_PER_ROW_GROUP[self.meta.layout]:
            self.flush()

    def flush(self) -> None:
        if self._held:
            table = pa.concat_tables(self._held)
            self._held = []
            self.writer.write_table(table, row_group_size=len(table))

    def _long(self, times: Any, values: NDArray[np.float32], chunk: Chunk) -> list[Any]:
        zones, steps, points = values.shape
        if steps not in self._keys:
            rows = np.arange(zones * points * steps)
            zone, point = np.divmod(rows // steps, points)
            site = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(rows), np.int8)), [self.meta.site])
            named = (
                pa.DictionaryArray.from_arrays(pa.array(index.astype(np.int16)), list(names))
                for index, names in ((zone, self.meta.zones), (point, self.meta.points))
            )
            self._keys = {steps: [site, *named, pa.array((rows % steps).astype(np.int32))]}
        *keys, which = self._keys[steps]
        quality = chunk.quality.transpose(0, 2, 1).ravel().astype(np.int8)
        return [
            *keys,
            times.take(which),
            pa.array(values.transpose(0, 2, 1).ravel()),
            pa.DictionaryArray.from_arrays(pa.array(quality), list(QUALITIES)),
        ]


class TelemetryFile:
    """A telemetry file, read chunk by chunk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = pq.ParquetFile(path)
        except (OSError, pa.ArrowInvalid) as exc:
            raise DataError(f"{path}: cannot be read as Parquet: {exc}") from exc
        raw = (self._file.schema_arrow.metadata or {}).get(META_KEY)
        if raw is None:
            raise SchemaError(f"{path}: no telemetry of this package: its schema has no {META_KEY.decode()!r} entry")
        self.meta = TelemetryMeta.from_bytes(raw, path)
        if missing := set(_schema(self.meta).names) - set(self._file.schema_arrow.names):
            raise SchemaError(f"{path}: missing columns {sorted(missing)}")

    def chunks(self) -> Iterator[Chunk]:
        """At most a day at a time, in the order of the file."""
        rows_per_day = max(1, round(86400 / self.meta.step_s))
        for number in range(self._file.num_row_groups):
            try:
                table = self._file.read_row_group(number)
            except (OSError, pa.ArrowInvalid) as exc:
                raise DataError(f"{self.path}: row group {number} cannot be read: {exc}") from exc
            if self.meta.layout == "long":
                yield self._chunk_of_long(table)
            else:
                for begin in range(0, len(table), rows_per_day):
                    yield self._chunk_of_wide(table.slice(begin, rows_per_day))

    def _chunk_of_wide(self, table: Any) -> Chunk:
        shape = (len(self.meta.zones), len(self.meta.points), len(table))
        values = np.stack([table[name].to_numpy() for name in _columns(self.meta)]).reshape(shape).transpose(0, 2, 1)
        quality = np.where(np.isnan(values), MISSING, GOOD).astype(np.uint8)
        return Chunk(_naive(table["time"]), values, quality)

    def _chunk_of_long(self, table: Any) -> Chunk:
        times, when = np.unique(_naive(table["time"]), return_inverse=True)
        where = tuple(
            self._codes(table[name], names) for name, names in (("zone", self.meta.zones), ("point", self.meta.points))
        )
        shape = (len(self.meta.zones), len(times), len(self.meta.points))
        values = np.full(shape, np.nan, np.float32)
        quality = np.full(shape, MISSING, np.uint8)
        values[where[0], when, where[1]] = table["value"].to_numpy()
        quality[where[0], when, where[1]] = self._codes(table["quality"], QUALITIES)
        return Chunk(times, values, quality)

    def _codes(self, column: Any, names: Sequence[str]) -> NDArray[np.int64]:
        """The column's own dictionary may have another order than ours, or hold names we do not know."""
        encoded = column.combine_chunks()
        encoded = encoded if pa.types.is_dictionary(encoded.type) else encoded.dictionary_encode()
        index = {name: number for number, name in enumerate(names)}
        own = encoded.dictionary.to_pylist()
        if unknown := [name for name in own if name not in index]:
            raise SchemaError(f"{self.path}: {unknown[0]!r} is not among {', '.join(names[:6])}...")
        codes: NDArray[np.int64] = np.array([index[name] for name in own], np.int64)[encoded.indices.to_numpy()]
        return codes


def read_labels(path: Path) -> Any:
    """The label rows of a telemetry file as a pyarrow table; a file without attacks has none."""
    try:
        table = pq.read_table(labels_path(path))
    except (OSError, pa.ArrowInvalid) as exc:
        raise DataError(f"{labels_path(path)}: cannot be read: {exc}") from exc
    if missing := set(LABEL_SCHEMA.names) - set(table.schema.names):
        raise SchemaError(f"{labels_path(path)}: missing columns {sorted(missing)}")
    return table


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
    times: Times = column.cast(pa.timestamp("ms")).to_numpy()
    return times
