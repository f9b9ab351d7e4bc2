"""The one place that imports pyarrow, or raises an error that explains how to install it."""

from graphghha.errors import EngineError

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq
except ImportError as exc:
    raise EngineError("telemetry and LBNL files need pyarrow: pip install 'graphghha[data]'") from exc

__all__ = ["pa", "pacsv", "pc", "pq"]
