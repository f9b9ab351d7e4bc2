"""`graphghha watch` as a process: output that nobody takes, and secrets that must not come out of it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from faults.broker import Broker, free_port
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none
from faults.rig import JOURNAL, PREFIX, Rig, catches, child_environment, publish, until, watched_ms
from faults.toy_detector import SITE, Telemetry, toy_building

ERROR, OUTPUT, SECRETS = (
    "standard error is blocked",
    "standard output is blocked",
    "passwords of brokers, in files and in addresses",
)
ZONES, ROWS = 2, 40
MAX_END_S = 20.0
SECRET = "correct-horse-battery-staple"


def try_process(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    """Run the command line whatever the rig."""
    figures: list[Figure] = []
    for number, (fault, stream) in enumerate(((ERROR, "stderr"), (OUTPUT, "stdout"))):
        progress(fault)
        figures += _blocked(folder / str(number), fault, stream)
    progress(SECRETS)
    return figures + _secrets(folder / "secrets")


def _command(*words: str) -> list[str]:
    return [sys.executable, "-c", "from graphghha.cli import main; main()", *words]


def _settings(folder: Path, broker: Broker, more: str = "", tables: str = "") -> Path:
    path = folder / "watch.toml"
    path.write_text(
        f'[monitor]\nstate_dir = "{folder / "state"}"\njournal = "{JOURNAL}"\n[log]\nlevel = "debug"\n{tables}'
        f'[[site]]\nname = "{SITE}"\nsource = "{broker.address}/{PREFIX}"\nplant = "fcu"\nzones = {ZONES}\n'
        f"warm_up_rows = 5\n{more}",
        encoding="utf-8",
    )
    return path


def full_pipe() -> tuple[int, int]:
    """Return a pipe that takes nothing more."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b"\0")
    os.set_blocking(writer, True)
    return reader, writer


def _watch(folder: Path, telemetry: Telemetry, broker: Broker, process: "subprocess.Popen[bytes]") -> int:
    """Send all rows; return how many of them the journal has."""
    state = folder / "state"
    ended = lambda: None if process.poll() is None else f"the process ended with {process.returncode}"  # noqa: E731
    until(lambda: (state / JOURNAL).exists() and catches(process.pid, signal.SIGTERM), "a journal", ended)
    with broker.publisher() as device:
        first, last = int(telemetry.times_ms[0]), int(telemetry.times_ms[-2])

        def is_heard() -> bool:
            publish(device, telemetry, 0, 2)
            time.sleep(0.2)
            return watched_ms(state) >= first

        until(is_heard, "a first row", ended)
        publish(device, telemetry, 2, ROWS)
        until(lambda: watched_ms(state) >= last, "the last row", ended)
    return 1 + (watched_ms(state) - first) // 60_000


def _blocked(folder: Path, fault: str, stream: str) -> list[Figure]:
    folder.mkdir(parents=True)
    telemetry = toy_building(ZONES, ROWS, [(10, ROWS, "zone-01/RM_TEMP")])
    reader, writer = full_pipe()
    out, err = (writer if stream == name else subprocess.DEVNULL for name in ("stdout", "stderr"))
    with Broker(folder) as broker:
        command = _command("watch", str(_settings(folder, broker)))
        process = subprocess.Popen(command, env=child_environment(), stdout=out, stderr=err)
        try:
            rows = _watch(folder, telemetry, broker, process)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(2 * MAX_END_S)
            took_s = time.monotonic() - began
        finally:
            process.kill()
            process.wait()
            os.close(reader)
            os.close(writer)
    return [
        expect_all(fault, "rows judged meanwhile", rows, ROWS - 1),
        expect_at_most(fault, "time until SIGTERM has ended it", took_s, MAX_END_S, " s"),
    ]


def _secrets(folder: Path) -> list[Figure]:
    folder.mkdir(parents=True)
    telemetry, port = toy_building(ZONES, ROWS), free_port()
    password = folder / "password"
    password.write_text(f"{SECRET}\n", encoding="utf-8")
    log = folder / "log"
    with Broker(folder) as broker:
        broker.stop()
        broker = Broker(folder, password=("monitor", SECRET))
        more = f'username = "monitor"\npassword_file = "{password}"\n'
        settings = _settings(folder, broker, more, f"[health]\nport = {port}\n")
        spoken = [_said(["config", "check", str(settings)])]
        with log.open("wb") as out:
            command = _command("watch", str(settings))
            process = subprocess.Popen(command, env=child_environment(), stdout=out, stderr=out)
        try:
            rows = _watch(folder, telemetry, broker, process)
            about = Path(f"/proc/{process.pid}")
            spoken += [(about / name).read_bytes() for name in ("cmdline", "environ")]
            spoken += [_answer(port, path) for path in ("livez", "readyz", "metrics")]
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        finally:
            process.kill()
            process.wait()
            broker.stop()
    address = f"mqtt://monitor:{SECRET}@127.0.0.1:1/{PREFIX}"
    refused = _said(["watch", "--source", address, "--zones", "2", "--plant", "fcu"])
    bad = folder / "bad.toml"
    bad.write_text(settings.read_text().replace(broker.address, f"mqtt://monitor:{SECRET}@127.0.0.1:1"))
    spoken += [refused, _said(["config", "check", str(bad)]), _said(["watch", str(bad)]), log.read_bytes()]
    stored = [each.read_bytes() for each in (folder / "state").rglob("*") if each.is_file()]
    places = [*spoken, *stored]
    return [
        expect_all(SECRETS, "rows judged with a password", rows, ROWS - 1),
        expect_none(
            SECRETS,
            "places that repeat one: log at debug, journal, settings check, process list, health port, errors",
            sum(SECRET.encode() in place for place in places),
            str(len(places)),
        ),
        expect_all(SECRETS, "addresses with a password that are refused", int(b"password" in refused.lower()), 1),
    ]


def _said(words: Sequence[str]) -> bytes:
    done = subprocess.run(_command(*words), env=child_environment(), capture_output=True, timeout=120, check=False)
    return done.stdout + done.stderr


def _answer(port: int, path: str) -> bytes:
    try:
        with urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
            return bytes(answer.read())
    except HTTPError as exc:
        return exc.read()
