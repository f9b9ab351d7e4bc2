"""A picture of a plant's graph: three columns by kind, solid comm edges, dashed phys edges, dotted near edges."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphghha.errors import ConfigError, DataError, EngineError
from graphghha.graph.cps import EDGE_KINDS, NODE_KINDS, CpsGraph, EdgeKind, NodeKind

# Colours that stay apart in the common forms of colour blindness (Okabe and Ito).
COLORS = {NodeKind.SENSOR: "#56B4E9", NodeKind.CONTROLLER: "#E69F00", NodeKind.ACTUATOR: "#009E73"}
STYLES: dict[EdgeKind, tuple[Any, str]] = {
    EdgeKind.COMM: ("-", "#444444"),
    EdgeKind.PHYS: ((0, (4, 2)), "#B2182B"),
    EdgeKind.NEAR: ((0, (1, 2)), "#4D4D99"),
}
FORMATS = (".svg", ".png")
MAX_NODES = 400
COLUMNS = (NodeKind.CONTROLLER, NodeKind.ACTUATOR, NodeKind.SENSOR)  # command, action, effect: phys edges cross nothing
COLUMN_WIDTH, ROW_HEIGHT = 4.4, 0.42  # inches
HALF_BOX = 0.19  # of a node, in columns


def draw_graph(graph: CpsGraph, path: Path, title: str = "") -> None:
    """Draw a graph into an SVG or PNG file. The same graph gives the same bytes."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"{path}: a picture must end in {' or '.join(FORMATS)}")
    if graph.num_nodes > MAX_NODES:
        raise ConfigError(
            f"{graph.num_nodes} nodes are too many for one picture (at most {MAX_NODES}); draw the template instead"
        )
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as exc:
        raise EngineError("matplotlib is not installed; run: pip install 'graphghha[bench]'") from exc

    place = place_nodes(graph)
    height = ROW_HEIGHT * (2 + place[:, 1].max() - place[:, 1].min())
    figure = Figure(figsize=(2.7 * COLUMN_WIDTH, max(3.0, height + 0.9)), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_title(title or f"{graph.num_nodes} nodes, {graph.num_edges} edges", loc="left", fontsize=11)
    _draw_edges(axes, graph, place)
    _draw_nodes(axes, graph, place)
    _draw_legend(axes, graph)
    axes.set_xlim(-0.5, 2.3)
    axes.set_ylim(place[:, 1].min() - 1, place[:, 1].max() + 1)
    with mpl.rc_context({"svg.hashsalt": "graphghha", "svg.fonttype": "none"}):
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else {"Software": None}
        try:
            figure.savefig(path, dpi=130, metadata=metadata)
        except OSError as exc:
            raise DataError(f"{path}: cannot be written: {exc.strerror}") from exc


def place_nodes(graph: CpsGraph, first: int | None = None) -> NDArray[np.float64]:
    """Return positions [s 2] of all nodes, or of the first ones: x by kind, y by the mean y of a node's neighbours."""
    size = graph.num_nodes if first is None else first
    edges = graph.edge_index[:, (graph.edge_index < size).all(axis=0)]
    rows = np.concatenate([edges[0], edges[1]])
    cols = np.concatenate([edges[1], edges[0]])
    y = np.zeros(size)
    columns = [np.flatnonzero(graph.kinds[:size] == kind) for kind in range(len(NODE_KINDS))]
    tallest = max(len(column) for column in columns)
    for column in columns:
        y[column] = np.linspace(0, tallest - 1, len(column) + 2)[1:-1]
    degree = np.maximum(np.bincount(rows, minlength=size), 1)
    for _ in range(12):
        mean_y = np.bincount(rows, y[cols], minlength=size) / degree
        for column in columns:
            order = column[np.argsort(mean_y[column], kind="stable")]
            y[order] = np.linspace(0, tallest - 1, len(column) + 2)[1:-1]
    x = np.array([COLUMNS.index(kind) for kind in NODE_KINDS], np.float64)[graph.kinds[:size]]
    return np.stack([x, -y], axis=1)


def _draw_nodes(axes: Any, graph: CpsGraph, place: NDArray[np.float64]) -> None:
    from matplotlib.patches import FancyBboxPatch

    for node, (x, y) in zip(graph.nodes, place, strict=True):
        corner, face = (x - HALF_BOX + 0.02, y - 0.28), COLORS[NodeKind(node.kind)]
        size = (2 * HALF_BOX - 0.04, 0.56)
        axes.add_patch(
            FancyBboxPatch(
                corner,
                *size,
                boxstyle="round,pad=0.02,rounding_size=0.04",
                facecolor=face,
                edgecolor="#222222",
                lw=0.8 if node.signal else 0.5,
                linestyle="-" if node.signal else ":",
                zorder=3,
            )
        )
        label = node.name if node.signal else f"{node.name} (no signal)"
        axes.text(x, y, label, ha="center", va="center", fontsize=8.5, zorder=4, parse_math=False)


def _draw_edges(axes: Any, graph: CpsGraph, place: NDArray[np.float64]) -> None:
    from matplotlib.patches import FancyArrowPatch

    for source, target, kind in zip(*graph.edge_index, graph.edge_kinds, strict=True):
        style, color = STYLES[EDGE_KINDS[kind]]
        (x0, y0), (x1, y1) = place[source], place[target]
        side = np.sign(x1 - x0)  # 0 within a column: leave and arrive on the left
        start = (x0 + (side or -1) * HALF_BOX, y0)
        end = (x1 - (side or 1) * HALF_BOX, y1)
        bend = 0.04 if side else 0.3 * np.sign(y0 - y1)
        axes.add_patch(
            FancyArrowPatch(
                start,
                end,
                arrowstyle="-|>",
                mutation_scale=9,
                shrinkA=1,
                shrinkB=1,
                connectionstyle=f"arc3,rad={bend}",
                linestyle=style,
                color=color,
                lw=0.9,
                alpha=0.6,
                zorder=2,
            )
        )


def _draw_legend(axes: Any, graph: CpsGraph) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(facecolor=color, edgecolor="#222222", label=kind) for kind, color in COLORS.items()]
    present = {EdgeKind.COMM, EdgeKind.PHYS} | {EDGE_KINDS[kind] for kind in graph.edge_kinds}
    for kind, (style, color) in STYLES.items():
        if kind not in present:
            continue
        handles.append(Line2D([], [], linestyle=style, color=color, label=f"{kind} edge"))
    axes.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=len(handles), frameon=False, fontsize=9
    )
