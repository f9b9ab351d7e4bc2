"""Pictures: the right colours, the right line styles, the same bytes each time."""

import pytest

from builders import loop_template
from graphghha.errors import ConfigError, DataError
from graphghha.graph import CpsGraph, Node
from graphghha.graph.draw import COLORS, draw_graph


def test_an_svg_names_every_node_and_shows_kinds_and_edge_styles(tmp_path):
    graph = loop_template()
    draw_graph(graph, tmp_path / "a.svg")
    draw_graph(graph, tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    assert all(name in text for name in graph.names) and "pump (no signal)" in text
    assert all(color.lower() in text for color in COLORS.values())
    assert text.count("stroke-dasharray") == 2 * 3 + 2, (
        "three phys edges (line and head), one unmeasured node, the legend"
    )


def test_a_png_is_a_png(tmp_path):
    draw_graph(loop_template(), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_names_are_drawn_as_they_are(tmp_path):
    draw_graph(CpsGraph([Node(r"T$\foo$", "sensor")]), tmp_path / "a.svg")
    assert r"T$\foo$" in (tmp_path / "a.svg").read_text()


def test_what_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        draw_graph(loop_template(), tmp_path / "nowhere" / "a.svg")
    with pytest.raises(ConfigError, match="end in .svg or .png"):
        draw_graph(loop_template(), tmp_path / "a.gif")
    with pytest.raises(ConfigError, match="draw the template"):
        draw_graph(loop_template().replicate(100), tmp_path / "a.svg")
