"""Figures of the page's server: long lists, a week of one signal, and what live clients cost the monitor.

Run it as `python scripts/bench_web.py [--clients 20] [--seconds 30]`; it prints one JSON object.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from graphghha.alarms import Event
from graphghha.monitor.journal import Commit, IncidentFilter, Journal, PageReader

MINUTE = 60_000
SETTINGS = """
[monitor]
state_dir = "state"
[[site]]
name = "demo"
source = "sim:fcu?zones=48&seed=7&speed=60&days=2"
warm_up_rows = 5
lateness_s = 0
learn_days = 0
[web]
port = 0
requests_per_s = 1000.0
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lists = measure_lists(Path(folder) / "lists.sqlite")
        signals = measure_signal(Path(folder) / "rows.sqlite")
        load = measure_load(Path(folder), options.clients, options.seconds)
    print(json.dumps({"lists": lists, "signal": signals, "load": load}, indent=1))


def measure_lists(path: Path, count: int = 100_000) -> dict[str, Any]:
    """Return the milliseconds of pages of a long list."""
    with Journal(path) as journal:
        for at in range(0, count, 5_000):
            journal.write([Commit(site="s", time_ms=0, events=[_incident(n) for n in range(at, at + 5_000)])])
    filters = {
        "first_page": IncidentFilter(sites=["s"]),
        "open": IncidentFilter(sites=["s"], is_open=True),
        "zone_and_priority": IncidentFilter(sites=["s"], zone="zone-07", priorities=("high",)),
        "words": IncidentFilter(sites=["s"], words="damper 77"),
        "rare_words": IncidentFilter(sites=["s"], words="damper 99999"),
        "state": IncidentFilter(sites=["s"], states=("acknowledged",)),
    }
    with PageReader(path) as reader:
        figures = {}
        for name, wanted in filters.items():
            figures[name] = _ms(lambda wanted=wanted: reader.list_and_count(wanted))
        deep = ("2018-01-20T00:00:00Z", 50_000)
        figures["page_in_the_middle"] = _ms(lambda: reader.list_incidents(filters["first_page"], after=deep))
    return figures


def measure_signal(path: Path, zones: int = 48, signals: int = 29, days: int = 7) -> dict[str, Any]:
    """Return the milliseconds in which a week of one zone is read, and the size of the file in MB."""
    points = [f"zone-{zone:02}/p{at}" for zone in range(zones) for at in range(signals)]
    rng = np.random.default_rng(0)
    with Journal(path) as journal:
        journal.register("s", {"nodes": [], "points": points})
        for hour in range(24 * days + 1):
            times = [(hour * 60 + at) * MINUTE for at in range(60)]
            values = rng.normal(20, 1, (60, len(points))).round(2).astype(np.float32)
            for at in range(0, 60, 15):
                part = slice(at, at + 15)
                journal.write(
                    [Commit(site="s", time_ms=times[-1], times_ms=times[part], rows=[values[part]], state={})]
                )
    with PageReader(path) as reader:
        week = (0, days * 24 * 60 * MINUTE)
        read = _ms(lambda: reader.zone_rows("s", points, "zone-07", *week))
        return {**read, "mb": path.stat().st_size / 1e6}


def measure_load(folder: Path, clients: int, seconds: float) -> dict[str, Any]:
    """Return the CPU shares of the monitor without and with live clients, in per cent of one core."""
    config = folder / "site.toml"
    config.write_text(SETTINGS)
    command = [sys.executable, "-m", "graphghha", "serve", str(config), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        base, cookie = address.partition("?")[0], _enter(address)
        time.sleep(20.0)  # the day is simulated and the windows fill
        alone = _share(process.pid, seconds)
        received = [0] * clients
        for number in range(clients):
            threading.Thread(target=_listen, args=(base, cookie, received, number), daemon=True).start()
        time.sleep(2.0)
        watched = _share(process.pid, seconds)
        web = _web(process.pid)
        return {
            "clients": clients,
            "monitor_percent_alone": alone,
            "monitor_percent_with_clients": watched,
            "web_percent_with_clients": _share(web, seconds / 3) if web else None,
            "bytes_per_client_and_s": round(sum(received) / clients / (seconds * 4 / 3 + 2)),
        }
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(300)  # a machine that is busy takes its time


def _incident(number: int) -> Event:
    time_text = f"2018-01-{1 + number // 3600 % 28:02}T{number // 150 % 24:02}:{number // 3 % 60:02}:{number % 60:02}Z"
    is_open = number % 50 == 0
    body = {
        "id": f"s-{number}",
        "site": "s",
        "zone": f"zone-{number % 48:02}",
        "root": "FCU_DMPR",
        "state": "acknowledged" if is_open else "normal",
        "priority": ("high", "medium", "low")[number % 3],
        "time": time_text,
        "annunciated": time_text,
        "closed": None if is_open else time_text,
        "text": f"Zone {number % 48}: outdoor-air damper, actuator attack, p = 0.99; number {number}",
        "evidence": [{"kind": "signal", "text": "x" * 400}],
        "version": 3,
    }
    return Event(0, "incident.closed", body)


def _ms(work: Any, times: int = 15) -> dict[str, float]:
    """Return the median time, and the median of the processor's time, which other processes do not lengthen."""
    taken, busy = [], []
    for _ in range(times):
        began, worked = time.perf_counter(), time.process_time()
        work()
        taken.append((time.perf_counter() - began) * 1000)
        busy.append((time.process_time() - worked) * 1000)
    return {"ms": round(median(taken), 2), "cpu_ms": round(median(busy), 2)}


def _share(pid: int, seconds: float) -> float:
    before = _cpu_s(pid)
    time.sleep(seconds)
    return round(100 * (_cpu_s(pid) - before) / seconds, 2)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _web(pid: int) -> int | None:
    files = Path(f"/proc/{pid}/task").glob("*/children")  # of all threads
    children = [int(each) for file in files for each in file.read_text().split()]
    return next((each for each in children if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()), None)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _enter(address: str) -> str:
    for _ in range(600):
        try:
            urllib.request.build_opener(_NoRedirect).open(address, timeout=30)
        except urllib.error.HTTPError as answer:
            if answer.code != 303:
                raise SystemExit(f"the printed address is refused: {answer}") from answer
            return str(answer.headers["set-cookie"]).partition(";")[0]
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server did not start")


def _listen(base: str, cookie: str, received: list[int], number: int) -> None:
    request = urllib.request.Request(f"{base}api/v1/stream", headers={"Cookie": cookie})
    with urllib.request.urlopen(request) as answer:
        while data := answer.read1(65_536):
            received[number] += len(data)


if __name__ == "__main__":
    main()
