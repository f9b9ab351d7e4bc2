"""Ctrl-C, as a real SIGINT to a real process: one line, exit code 130, and what to do to go on."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import until

pytestmark = pytest.mark.slow

COMMANDS = {
    "watch": (
        ["watch", "--source", "sim:fcu?zones=2&days=300&speed=60", "--state", "state"],
        "the same command goes on",
    ),
    "train": (["train", "--out", "model"], "the same command continues there"),
    "evaluate": (["evaluate", "fcu"], "no report was written"),
    "simulate": (["simulate", "--zones", "30", "--days", "3000", "--out", "x.parquet"], "start the same command again"),
    "bench": (["bench", "latency", "--out", "x.json"], "`bench paper` goes on"),
}


def _hear_interrupts():
    """Undo that a shell lets what it starts in the background ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_is_one_line_and_code_130(name, tmp_path):
    arguments, hint = COMMANDS[name]
    with (tmp_path / "said").open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "graphghha", *arguments],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            preexec_fn=_hear_interrupts,
        )
    try:
        # every one of these commands imports pyarrow or torch once it has begun to work
        maps = Path(f"/proc/{process.pid}/maps")
        ended = lambda: None if process.poll() is None else f"it ended with {process.returncode}"  # noqa: E731
        is_at_work = lambda: any(part in maps.read_text() for part in ("libarrow", "libtorch"))  # noqa: E731
        until(is_at_work, f"{name} to begin", 120, failure=ended)
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130
    finally:
        process.kill()
        process.wait()
    lines = [line for line in (tmp_path / "said").read_text().splitlines() if "interrupted" in line]
    text = (tmp_path / "said").read_text()
    assert len(lines) == 1 and "Traceback" not in text, text
    assert hint in lines[0] or lines[0].endswith("nothing was written; start the same command again"), lines
    assert not (tmp_path / "x.parquet").exists() and not (tmp_path / "x.json").exists()
