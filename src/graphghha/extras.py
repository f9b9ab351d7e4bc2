"""The optional packages: which are installed here, and which extra installs each. Standard library only."""

from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple


class Part(NamedTuple):
    """An optional package."""

    package: str
    extra: str
    purpose: str
    version: str | None  # None when missing


_PARTS = (
    ("torch", "torch", "the layers, the ADU, training"),
    ("pyarrow", "data", "Parquet and large CSV files"),
    ("numba", "data", "fast simulation; without it the same code runs interpreted"),
    ("pydantic", "monitor", "settings files"),
    ("prometheus_client", "monitor", "metrics"),
    ("onnxscript", "onnx", "export to ONNX"),
    ("onnxruntime", "edge", "scoring without torch"),
    ("matplotlib", "bench", "pictures and report plots"),
    ("scikit-learn", "bench", "baselines"),
    ("paho-mqtt", "mqtt", "readings from and events to an MQTT broker"),
    ("cryptography", "sign", "signed models"),
    ("torch_geometric", "pyg", "the sparse GATConv to compare with"),
)


def survey() -> tuple[Part, ...]:
    """Return every optional package with the version that is installed here."""
    return tuple(Part(package, extra, purpose, _version(package)) for package, extra, purpose in _PARTS)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
