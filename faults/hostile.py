"""Hostile commands, names, units and amounts of messages must neither end nor hang the monitor, nor fill its memory."""

import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

from faults.broker import Broker
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none, report
from faults.rig import JOURNAL, PREFIX, Rig, child_environment, memory_mb, until
from faults.toy_detector import SITE, toy_building, toy_monitor
from graphghha.alarms import Command, Verb
from graphghha.errors import GraphGHHAError
from graphghha.monitor import Journal, send_command
from graphghha.plants import Points, load_plant
from graphghha.sources import Rejection, open_source, parse_address
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.json_messages import decode
from graphghha.sources.mapping import Mapper, Rule, Rules
from graphghha.sources.overload import PATIENCE_S

COMMANDS, MANY, NAME, NEW_NAMES, RATE, FLOOD = (
    "hostile operators' commands",
    "20 operators at once, no monitor",
    "a name made to be matched in every way",
    "new names and units in every message",
    "one device sends 20 messages/s of 2,000 readings",
    "one device sends 200 messages/s of 2,000 readings",
)
MAX_GROWTH_MB, MAX_CPU_S, MAX_DELAY_S = 50.0, 1.0, 1.0
MESSAGE_BYTES = 900_000
NODE, OPERATORS = "zone-01/RM_TEMP", 20


def try_hostile(folder: Path, rig: Rig, effort: Effort, progress: Progress, seed: int = 0) -> list[Figure]:
    figures: list[Figure] = []
    trials = (
        (COMMANDS, _commands),
        (MANY, _many_operators),
        (NAME, _name),
        (NEW_NAMES, _names_and_units),
        (RATE, partial(_rate, RATE, 20)),
        (FLOOD, partial(_rate, FLOOD, 200)),
    )
    for name, trial in trials:
        progress(name)
        figures += trial(folder / name.replace("/", "-"), effort, random.Random(seed))
    return figures


def _commands(folder: Path, effort: Effort, chance: random.Random) -> list[Figure]:
    """Leave generated bodies in the journal, as whoever may write the file can; restart in between."""
    telemetry, path = toy_building(1, 40, [(6, 40, NODE)]), folder / JOURNAL
    failed = restarted = 0
    for begin in range(0, effort.hostile_commands, 100):
        with Journal(path) as journal:
            monitor = toy_monitor(journal, 1)
            monitor.step(telemetry.batch(0, 30))
            now_ms = time.time_ns() // 1_000_000
            bodies = [(SITE, _body(chance), now_ms) for _ in range(min(100, effort.hostile_commands - begin))]
            with closing(sqlite3.connect(path)) as stranger, stranger:
                stranger.executemany("INSERT INTO commands (site, body, sent_ms) VALUES (?, ?, ?)", bodies)
            try:
                monitor.answer_commands()
            except Exception:
                failed += 1
            failed += len(journal.take_commands())  # those that have no answer
            restarted += 1
    return [
        expect_none(COMMANDS, "that end the monitor or stay pending", failed, f"{effort.hostile_commands:,}"),
        report(COMMANDS, "restarts in between", str(restarted)),
    ]


def _many_operators(folder: Path, effort: Effort, chance: random.Random) -> list[Figure]:
    """Shelve twenty nodes at once while no monitor runs: nobody may be sent to one, and nothing may be left for it."""
    path, telemetry = folder / JOURNAL, toy_building(1, 20)
    with Journal(path) as journal:
        toy_monitor(journal, 1).step(telemetry.batch(0, 20))

    def shelve(node: str) -> bool:
        try:
            command = Command(verb=Verb.SHELVE, target=node, by="ada", reason="works")
            return bool(send_command(path, command)["state"] == "shelved")
        except GraphGHHAError:
            return False

    with ThreadPoolExecutor(OPERATORS) as pool:
        done = sum(pool.map(shelve, telemetry.names[:OPERATORS]))
    with Journal(path) as journal:
        left = len(journal.take_commands())
    return [
        expect_all(MANY, "commands carried out", done, OPERATORS),
        expect_none(MANY, "commands left for a monitor that starts later", left),
    ]


def _body(chance: random.Random) -> Any:
    anything: list[Any] = [None, True, -1, 2**70, 1e308, float("nan"), "", "x" * 10_000, "\x00\x1b[2J\udcff\u202e", []]
    anything += [{}, [[[[]]]], {"a": [1]}, "zone-01/RM_TEMP", "ack", "shelve", "dispose", 3]
    fields = ("verb", "target", "by", "version", "for_ms", "reason", "disposition", "else")
    usual = {"verb": "shelve", "target": NODE, "by": "ada", "reason": "works", "for_ms": 1000}
    match chance.randrange(6):
        case 0:
            return "[" * chance.randrange(1, 100_000)
        case 1:
            return chance.randbytes(chance.randrange(60))
        case 2:
            return chance.choice([7, 2.5, "{", "null", '"text"', "[1]"])
    changed = {name: chance.choice(anything) for name in chance.sample(fields, chance.randrange(1, 5))}
    return json.dumps({**usual, **changed})


def _mapper() -> Mapper:
    plant = load_plant("fcu")
    rule = Rule(name="bms/{a}.{zone}.{signal}", point="{zone}/{signal}")
    return Mapper(Points.from_names(plant, plant.template.replicate(2).points), Rules(rules=(rule,)))


def _name(folder: Path, effort: Effort, chance: random.Random) -> list[Figure]:
    builder, began = BatchBuilder(SITE, _mapper()), time.process_time()
    for name in ("bms/" + "." * MESSAGE_BYTES + "/", "bms/" + "." * 990 + "/", "bms/" + "." * 990):
        decode(json.dumps({"device": name, "value": 1}).encode(), builder, 0)
    took_s = time.process_time() - began
    unmapped = builder.take(0).rejected.get(Rejection.UNMAPPED, 0)
    return [
        expect_at_most(NAME, "processor time for three messages", took_s, MAX_CPU_S, " s"),
        expect_all(NAME, "messages counted as unmapped", unmapped, 3),
    ]


def _names_and_units(folder: Path, effort: Effort, chance: random.Random) -> list[Figure]:
    builder = BatchBuilder(SITE, _mapper())

    def send(number: int) -> None:
        keys = {
            f"name-{number}-{key}" + "x" * 30: {"value": 1.0, "unit": f"unit-{number}-{key}"} for key in range(5_000)
        }
        own = {"RM_TEMP": {"value": 21, "unit": "degC" + " " * chance.randrange(1_000)}, "FCU_DAT": {"value": 1}}
        message = {"device": "zone-01", "seq": number, "values": {**keys, **own}, "unit": f"u{number}" * 40_000}
        decode(json.dumps(message).encode(), builder, 0)
        builder.take(0)

    for number in range(5):
        send(-number)
    before = memory_mb(os.getpid())
    for number in range(effort.big_messages):
        send(number)
    grown = max(0.0, memory_mb(os.getpid()) - before)
    what = f"memory growth in {effort.big_messages:,} messages of {MESSAGE_BYTES // 1000} kB"
    return [expect_at_most(NEW_NAMES, what, grown, MAX_GROWTH_MB, " MB")]


def _rate(fault: str, per_second: int, folder: Path, effort: Effort, chance: random.Random) -> list[Figure]:
    """Let one device send far more than another one; measure how long the values of the other one take."""
    plant = load_plant("fcu")
    points = plant.template.replicate(2).points
    folder.mkdir(parents=True, exist_ok=True)
    stop, sent, waits = Flag(), dict[float, float](), dict[float, float]()
    counted: Counter[str] = Counter()
    with Broker(folder) as broker, (folder / "rogue").open("wb") as out:
        source = open_source(parse_address(f"{broker.address}/{PREFIX}"), site=SITE, points=points, plant=plant)

        def read() -> None:
            while not stop.is_set():
                if (batch := source.poll(0.1)) is None:
                    continue
                now = time.monotonic()
                counted["read"] += len(batch)
                counted["dropped"] += batch.rejected.get(Rejection.FLOOD, 0)
                columns, _, values = batch.readings()
                for value in values[columns == points.index(NODE)].tolist():
                    waits.setdefault(value, now - sent.get(value, now))
                source.acknowledge(batch)

        reader = Thread(target=read, daemon=True)
        until(lambda: source.status.is_connected, "a connection")
        command = [sys.executable, "-m", "faults.rogue", str(broker.port), f"{PREFIX}/zone-02", str(per_second)]
        rogue = subprocess.Popen(command, stdout=out, env=child_environment())
        try:
            reader.start()
            with broker.publisher() as device:
                end = time.monotonic() + effort.flood_s
                while time.monotonic() < end:
                    value = 20.0 + len(sent) / 1000
                    sent[value] = time.monotonic()
                    device.send(f"{PREFIX}/{NODE}", {"value": value})
                    time.sleep(0.25)
            rogue.kill()
            until(lambda: len(waits) == len(sent), "the last reading of the honest device")
        finally:
            rogue.kill()
            rogue.wait()
            stop.set()
            reader.join(10)
            source.close()
    messages = ((folder / "rogue").read_text(encoding="ascii").split() or ["0"])[-1]
    late = statistics.median([waits[value] for value in list(sent)[len(sent) // 2 :]])
    what = "median delay of the other device in the second half"
    is_long_enough = effort.flood_s >= 3 * PATIENCE_S  # in a shorter run nobody is limited yet
    return [
        expect_all(fault, "readings of the other device that arrive", len(waits), len(sent)),
        expect_at_most(fault, what, late, MAX_DELAY_S, " s")
        if is_long_enough
        else report(fault, what, f"{late:.3g} s"),
        report(fault, "messages of the flooding device", f"{messages}, of which {counted['dropped']} were dropped"),
        report(fault, "readings taken in a second", f"{counted['read'] / effort.flood_s:,.0f}"),
    ]
