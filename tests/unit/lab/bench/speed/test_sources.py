"""Readings per second by source, with and without a broker."""

import pytest

from faults.broker import Broker
from graphghha.errors import ConfigError, EngineError
from graphghha.lab.bench.speed import sources

pytestmark = pytest.mark.slow


def test_files_and_lines_are_read_to_their_end():
    result = sources.measure("fcu", 1, quick=True)
    assert [row["source"] for row in result["rows"]] == [
        *("parquet wide", "parquet long", "JSON line per reading", "JSON line per device")
    ]
    readings = [row["readings"] for row in result["rows"]]
    assert readings == [29 * 1440, 29 * 1440, 29 * sources.LINE_MINUTES, 29 * sources.DEVICE_MINUTES]


def test_a_broker_adds_its_rows_and_keeps_nothing_of_a_run_for_the_next(broker):
    for _ in range(2):
        rows = {
            row["source"]: row["readings"] for row in sources.measure("fcu", 1, mqtt=broker.address, quick=True)["rows"]
        }
        assert rows["MQTT topic per point"] == 29 * sources.LINE_MINUTES // 3
        assert rows["MQTT message per device"] == 29 * sources.DEVICE_MINUTES


def test_a_broker_that_drops_messages_gives_an_error_and_no_figure(mosquitto, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "TIMEOUT_S", 2.0)
    with (
        Broker(tmp_path, settings=("max_queued_messages 50",)) as broker,
        pytest.raises(EngineError, match="max_queued_messages 0"),
    ):
        sources.measure("fcu", 1, mqtt=broker.address, quick=True)


def test_an_address_that_is_not_of_a_broker_is_refused():
    with pytest.raises(ConfigError, match="is not the address of a broker"):
        sources.measure("fcu", 1, mqtt="sim:fcu", quick=True)
