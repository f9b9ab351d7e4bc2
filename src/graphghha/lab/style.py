"""The style of all figures: one color per method, plain axes, and reproducible files."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from graphghha.errors import EngineError

COLOURS = {
    "vanilla_gat": "#c44e52",
    "sparsified_gat": "#dd8452",
    "quantized_gat": "#937860",
    "graphghha": "#1f5fa8",
    "graphghha_uncapped": "#64a0d8",
    "pyg_gatconv": "#2f8f5b",
    "gemm_floor": "#777777",
    "boosting": "#c44e52",
    "node_mlp": "#dd8452",
    "rules": "#2f8f5b",
    "pca_residual": "#8172b3",
    "signal_range": "#b0a090",
    "value_pca": "#8172b3",
    "largest_value": "#b0a090",
    "largest_residual": "#8c8c8c",
    "random": "#999999",
    "always": "#bbbbbb",
    "node_kind": "#cccccc",
    "never": "#dddddd",
}
INK, MUTED, ACCENT, WARM = "#22303c", "#8a97a3", "#1f5fa8", "#dd8452"

_RC: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6eaee",
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 2.0,
    "svg.hashsalt": "graphghha",
}


def require_matplotlib() -> None:
    """Raise EngineError if figures cannot be drawn."""
    if find_spec("matplotlib") is None:
        raise EngineError("figures need matplotlib: pip install 'graphghha[bench]'")


@contextmanager
def styled() -> Iterator[Any]:
    """Yield pyplot in the style of the figures."""
    require_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context(_RC):
        from matplotlib import pyplot

        yield pyplot


def save(figure: Any, path: Path) -> None:
    """Save and close a figure; without dates and random ids, so that the same data gives the same bytes."""
    import matplotlib as mpl
    from matplotlib import pyplot

    figure.tight_layout()
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    with mpl.rc_context({"svg.hashsalt": "graphghha"}):
        figure.savefig(path, metadata=metadata)
    pyplot.close(figure)
