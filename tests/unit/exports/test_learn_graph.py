import json
from datetime import datetime, timedelta

import numpy as np
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import DataError
from graphghha.exports.learn_graph import learn_graph
from graphghha.exports.learned import learn_edges
from graphghha.graph import read_graph


def pumped_tanks(rows=1200, seed=1):
    """Two tanks that do not know of one another, each with a pump, a flow behind it and a level."""
    rng = np.random.default_rng(seed)
    columns = {}
    for tank in (1, 2):
        pump = np.repeat(rng.random(rows // 10 + 1) > 0.5, 10)[:rows].astype(float)
        flow = 5 * pump + rng.normal(0, 0.1, rows)
        level = np.cumsum(0.02 * flow - 0.05 + rng.normal(0, 0.002, rows))
        columns |= {f"TK{tank}_P-S": pump, f"TK{tank}_FT": flow, f"TK{tank}_LIT": level}
    return columns


def write(path, columns, minutes=5):
    start = datetime(2024, 3, 1)
    lines = ["time," + ",".join(columns)]
    for row, values in enumerate(zip(*columns.values(), strict=True)):
        time = start + timedelta(minutes=minutes * row)
        lines.append(f"{time:%Y-%m-%d %H:%M}," + ",".join(f"{value:.4f}" for value in values))
    path.write_text("\n".join(lines) + "\n")


def test_signals_of_one_tank_are_joined_and_those_of_two_are_not():
    columns = pumped_tanks()
    names = list(columns)
    edges, _ = learn_edges(np.stack(list(columns.values()), axis=1), [name[:3] for name in names])
    found = {(names[edge.source], names[edge.target]) for edge in edges}
    assert ("TK1_P-S", "TK1_FT") in found and ("TK2_P-S", "TK2_FT") in found
    assert all(source[:3] == target[:3] for source, target in found)
    assert all(edge.share >= 0.75 and 0 < edge.strength <= 1 for edge in edges)


def test_noise_has_no_edges():
    values = np.random.default_rng(3).normal(size=(2000, 30))
    edges, weak = learn_edges(values, [str(number) for number in range(30)])
    assert edges == [] and weak >= 0


def test_a_graph_is_learned_from_files_with_a_report(tmp_path):
    columns = pumped_tanks() | {"TK1_X-T": np.full(1200, 7.0)}
    write(tmp_path / "a.csv", {name: values[:600] for name, values in columns.items()})
    learned = learn_graph([tmp_path / "a.csv"])
    assert learned.graph.zone_names == ("TK1", "TK2") and learned.step_s == 300 and learned.rows == 600
    kinds = {(edge.source, edge.target): str(edge.kind) for edge in learned.graph.edges}
    assert kinds["TK1_P-S", "TK1_FT"] == "near"  # actuators come first
    assert "TK1_X-T" in {omission.about for omission in learned.omissions if "never moves" in omission.reason}


def test_the_command_writes_graph_and_report(tmp_path):
    write(tmp_path / "a.csv", pumped_tanks(600))
    out = tmp_path / "g.json"
    result = CliRunner().invoke(
        main, ["graph", "learn", "--data", str(tmp_path / "a.csv"), "--out", str(out), "--json"]
    )
    report = json.loads(result.stdout)
    assert result.exit_code == 0 and report["edges"][0]["share"] == 1.0
    assert read_graph(out).num_edges == len(report["edges"])


def test_too_few_rows_are_refused(tmp_path):
    write(tmp_path / "a.csv", pumped_tanks(50))
    with pytest.raises(DataError, match="50 rows are too few"):
        learn_graph([tmp_path / "a.csv"])


def test_a_water_network_is_learned_as_it_is_piped(data_dir):
    learned = learn_graph([data_dir / "batadal" / "train_normal.parquet"])
    found = {frozenset((edge.source, edge.target)) for edge in learned.graph.edges}
    for pump in (2, 4, 7, 8, 10):  # the flow of a pump goes with its state
        assert frozenset((f"F_PU{pump}", f"S_PU{pump}")) in found
    assert learned.graph.num_edges < 6 * learned.graph.num_nodes
