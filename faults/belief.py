"""Forged models, planted numbers, hostile text and a crowded health port: what is believed, shown and answered."""

import hashlib
import json
import os
import shutil
import socket
import subprocess
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

from click.testing import CliRunner

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_none, report
from faults.rig import JOURNAL, Rig
from faults.toy_detector import IMMEDIATE, SITE, toy_building, toy_detector, toy_monitor
from graphghha._util.text import clean
from graphghha.alarms import Command, Verb
from graphghha.cli import main
from graphghha.engine.machine import compiler
from graphghha.engine.native import build
from graphghha.errors import CheckpointError
from graphghha.models import load_model, shipped_model, write_manifest
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.service.health import HealthSnapshot
from graphghha.monitor.service.health_server import HealthServer

FORGED, SWAPPED, KERNEL, TEXT, PORT = (
    "consistently forged model",
    "model with another threshold swapped in while running",
    "kernel planted in a shared cache",
    "hostile text of operators and devices",
    "crowded health port",
)
PORTABLE = ("-DPLANTED",)  # a build of its own, which no other part of this process has loaded
HUGE: tuple[object, ...] = (2**63, -1, 10**400, 1e308, None, "1", [], {})
HOSTILE = "night\x1b]0;title\x07\x1b[2J shift\u202e\x9b\r\nsite  incident closed"


def try_belief(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    figures: list[Figure] = []
    for name, trial in ((FORGED, _forged), (SWAPPED, _swapped), (KERNEL, _planted), (TEXT, _text), (PORT, _port)):
        progress(name)
        figures += trial(folder / name)
    return figures


def _forged(folder: Path) -> list[Figure]:
    """Change one number after the other in the rules of a model, and its hash with it."""
    directory = Path(shutil.copytree(shipped_model("fcu"), folder))
    path = directory / "thresholds.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    places = [(part, name) for part in ("rule", "group") for name in whole[part]]
    tried = [(*place, value) for place in places for value in HUGE] + [("rule", "raise_at", 1.0)]
    accepted = 0
    for part, name, value in tried:
        path.write_text(json.dumps({**whole, part: {**whole[part], name: value}}), encoding="utf-8")
        write_manifest(directory)
        try:
            load_model(directory)
            accepted += 1
        except CheckpointError:
            continue
    return [expect_none(FORGED, "absurd numbers of rules that were accepted", accepted, str(len(tried)))]


def _swapped(folder: Path) -> list[Figure]:
    """Exchange a model for one that raises no alarm: somebody must hear of it, with the number that has changed."""
    other = replace(toy_detector(1), model="toy@2", rule=replace(toy_detector(1).rule, raise_at=0.999))
    with Journal(folder / JOURNAL) as journal:
        monitor = Monitor(journal, load=lambda _name, _directory: other)
        monitor.add(SITE, toy_detector(1), IMMEDIATE)
        monitor.step(toy_building(1, 40).batch(0, 40))
        monitor.swap_model(SITE, folder)
        bodies = [event.body for event in journal.events_after(0, 10**6) if event.kind == "model.swapped"]
    named = [body for body in bodies if body.get("priority") == "high" and "rule.raise_at" in body["changed"]]
    return [expect_all(SWAPPED, "alarms of priority that name the number", len(named), 1)]


def _planted(folder: Path) -> list[Figure]:
    """Put a library that runs code into a kernel cache that others may write, with a checksum that fits it."""
    cc = compiler()
    if cc is None:
        return [report(KERNEL, "not tried", "there is no C compiler")]
    folder.mkdir(parents=True)
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    try:
        path = build.kernel_path("fp32", PORTABLE)
        path.parent.mkdir(parents=True)
        source, ran = folder / "planted.c", folder / "ran"
        run = f'static void run(void) {{ fclose(fopen("{ran}", "w")); }}'
        source.write_text(f"#include <stdio.h>\n__attribute__((constructor)) {run}\n", encoding="utf-8")
        subprocess.run([cc, "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
        path.with_suffix(".sha256").write_text(hashlib.sha256(path.read_bytes()).hexdigest(), encoding="ascii")
        path.parent.chmod(0o777)
        build.load_kernel("fp32", PORTABLE)
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before
    return [expect_none(KERNEL, "planted libraries that were executed", int(ran.exists()), "1")]


def _text(folder: Path) -> list[Figure]:
    path = folder / JOURNAL
    with Journal(path) as journal:
        monitor = toy_monitor(journal, 1)
        monitor.step(toy_building(1, 40, [(6, 40, "zone-01/RM_TEMP")]).batch(0, 40))
        (body,) = journal.reader.incidents()
        more = {"target": body["id"], "by": HOSTILE, "reason": HOSTILE}
        monitor.command(SITE, Command(verb=Verb.DISPOSE, disposition="false", **more))
        monitor.command(SITE, Command(verb=Verb.SHELVE, **more))
    (folder / "odd.csv").write_text(f'time,"{HOSTILE}",zone-01/RM_TEMP\n2018-07-02T09:00:00Z,1,21\n', encoding="utf-8")
    listen = ["watch", "--check", "--source", f"csv:{folder / 'odd.csv'}", "--zones", "1", "--seconds", "5"]
    on_journal = [["list"], ["show", body["id"]], ["export"], ["kpi"]]
    commands = [["alarms", *words, "--journal", str(path)] for words in on_journal] + [listen, ["alarms", HOSTILE]]
    unsafe = 0
    for command in [*commands, *([*each, "--json"] for each in commands)]:
        output = CliRunner().invoke(main, command).output
        unsafe += output != clean(output, keep_newlines=True) or "\nsite  incident closed" in output
    count = f"{2 * len(commands)} commands"
    return [expect_none(TEXT, "commands that let it act on the terminal", unsafe, count)]


def _port(folder: Path) -> list[Figure]:
    server = HealthServer(0, lambda: HealthSnapshot(loop_age_s=0.1, is_journal_writable=True))
    server.start()
    silent: list[socket.socket] = []
    answered = 0
    try:
        for _ in range(10):
            silent += [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
            for each in silent[-20:]:
                each.sendall(b"G")
            with urlopen(f"http://127.0.0.1:{server.port}/livez", timeout=20) as answer:
                answered += answer.status == 200
    finally:
        for each in silent:
            each.close()
        server.close()
    return [expect_all(PORT, "questions answered beside 200 connections that send one byte", answered, 10)]
