import numpy as np
import pytest

from graphghha.plants.fcu.lbnl.writer import LbnlWriter
from graphghha.plants.fcu.signals import INDEX, NAMES, SOURCE_SCALE
from graphghha.plants.telemetry import GOOD
from lbnl_builders import lines_of, read


def test_a_simulated_file_reads_back_in_si_up_to_its_two_decimals(folder, simulated):
    times, values, quality = read(folder)
    truth = np.concatenate([day.telemetry[0] for day in simulated])
    assert (times == np.concatenate([day.times for day in simulated])).all()
    assert (np.abs(values - truth) <= 0.00501 * SOURCE_SCALE + 1e-9).all()
    assert (quality == GOOD).all()


def test_the_file_looks_like_the_published_ones(folder):
    header, first, *_ = lines_of(folder)
    assert header == ",".join(("Datetime", *NAMES))
    time, *cells = first.split(",")
    assert time == "12/30/2018 00:00"
    assert all(len(cell.partition(".")[2]) <= 2 for cell in cells)
    assert 32 < float(cells[INDEX["RM_TEMP"]]) < 100  # degF


def test_a_file_under_way_lies_aside_and_a_failed_one_leaves_nothing(tmp_path, simulated):
    path = tmp_path / "FCU_Mine.csv"
    path.write_text("precious")
    with pytest.raises(RuntimeError), LbnlWriter(path) as writer:
        writer.write(simulated[0].times, simulated[0].telemetry[0])
        assert path.read_text() == "precious"
        raise RuntimeError("power cut")
    assert [each.name for each in tmp_path.iterdir()] == ["FCU_Mine.csv"]
    assert path.read_text() == "precious"
