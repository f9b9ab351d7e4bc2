"""Descriptors, threads and memory that are used up: the process lives, says so, and comes back by itself."""

import os
import resource
from contextlib import contextmanager, suppress
from threading import Thread

import pytest

from faults.announce import no_descriptors
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.service import Service
from graphghha.monitor.service.resources import DESCRIPTORS, MEMORY, SPARE_BYTES, exhausted_resources
from monitor_builders import CONFIG, ListSource, detector, telemetry, wide
from waiting import until


@contextmanager
def limit(kind, value):
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (value, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)


def size_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def test_with_enough_of_everything_nothing_is_reported_and_nothing_is_left_open():
    before = len(os.listdir("/proc/self/fd"))
    assert exhausted_resources() == {} and len(os.listdir("/proc/self/fd")) == before


def test_descriptors_that_are_used_up_are_named():
    with no_descriptors():
        assert "Too many open files" in exhausted_resources()[DESCRIPTORS]
    assert exhausted_resources() == {}


def test_memory_that_is_used_up_is_named():
    ballast = []
    with limit(resource.RLIMIT_AS, size_bytes()):
        with suppress(MemoryError):
            while True:
                ballast.append(bytearray(SPARE_BYTES // 2))
        found = exhausted_resources()
    del ballast
    assert MEMORY in found and exhausted_resources() == {}


@pytest.mark.slow
def test_a_monitor_without_descriptors_raises_its_alarms_says_so_and_comes_back(tmp_path):
    times, values = telemetry(140)
    batches = [wide(times[at : at + 7], values[at : at + 7]) for at in range(0, 140, 7)]
    source = ListSource(batches[:1], ends=False)
    monitor = Monitor(Journal(tmp_path / "journal.db"))
    monitor.add("office", detector(), CONFIG)
    service = Service(monitor, {"office": source}, {}, drain_s=5)
    thread = Thread(target=service.run)
    thread.start()

    def kinds():
        return [event.kind for event in monitor.journal.events_after(0, 999)]

    until(lambda: monitor.sites["office"].steps == 7, "the first rows")
    with no_descriptors():
        until(lambda: service.snapshot().exhausted, "notice")
        assert "no file descriptors left" in service.snapshot().to_dict()["reasons"][0]
        source.batches.extend(batches[1:])
        until(lambda: monitor.sites["office"].steps == 140, "the last row")
        assert thread.is_alive()
    until(lambda: "resources.available" in kinds(), "the end of it")
    assert kinds().count("resources.exhausted") == 1 and kinds().count("incident.annunciated") == 2
    service.stop()
    thread.join(20)
    assert not thread.is_alive()
