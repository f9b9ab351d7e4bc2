"""Logs: readable by machines and people, silent about secrets."""

import io
import json
import logging
import os
import subprocess
import sys

import pytest

from graphghha.monitor.service.logs import redact, set_up_logs


@pytest.fixture
def logs():
    stream = io.StringIO()
    logger = logging.getLogger("graphghha")
    before = logger.handlers[:], logger.level, logger.propagate

    def set_up(style, secrets=()):
        set_up_logs("info", style, secrets=secrets, stream=stream)
        return logging.getLogger("graphghha.test"), stream

    yield set_up
    logger.handlers[:], logger.level, logger.propagate = before


def flush():
    for handler in logging.getLogger("graphghha").handlers:
        handler.flush()


def test_a_machine_reads_one_object_per_line(logs):
    logger, stream = logs("auto")
    logger.info("source of %s lost", "north\nfloor", extra={"site": "north"})
    logger.debug("not asked for")
    flush()
    (line,) = stream.getvalue().splitlines()
    fields = json.loads(line)
    assert (
        fields["message"] == "source of north\nfloor lost" and fields["site"] == "north" and fields["level"] == "info"
    )
    assert fields["time"].endswith("Z") and fields["logger"] == "graphghha.test"


@pytest.mark.parametrize("style", ["json", "text"])
def test_a_known_secret_appears_nowhere_not_even_in_a_traceback(logs, style):
    logger, stream = logs(style, secrets=["open sesame"])
    try:
        raise ValueError("login with open sesame failed")
    except ValueError:
        logger.exception("tried open sesame", extra={"login": "open sesame"})
    flush()
    assert "sesame" not in stream.getvalue() and "ValueError" in stream.getvalue()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mqtt://me:pa:ss@broker:8883/x", "mqtt://me:***@broker:8883/x"),
        ("mqtt://me:p@ss@broker/x", "mqtt://me:***@broker/x"),
        ("password = 'two words', user=me", "password = ***, user=me"),
        ('{"token": "abc"}', '{"token": ***}'),
        ("nothing to hide at 10:30 from a@b", "nothing to hide at 10:30 from a@b"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text, expected):
    assert redact(text) == expected


BLOCKED = """
import logging
from graphghha.monitor.service import set_up_logs
set_up_logs("info", "text")
for number in range(30_000):
    logging.getLogger("graphghha.test").info("%d %s", number, "x" * 100)
print("done", flush=True)
"""


def test_a_blocked_standard_error_keeps_nobody_waiting_and_does_not_delay_the_end():
    reader, writer = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-c", BLOCKED], stdout=subprocess.PIPE, stderr=writer, timeout=60, check=False
        )
        assert done.returncode == 0 and done.stdout == b"done\n"
        assert b"0 xxx" in os.read(reader, 1000)
    finally:
        os.close(reader)
        os.close(writer)
