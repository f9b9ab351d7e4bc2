"""What always held must go on to hold: one writer, private files, one answer to a command, records that stay whole."""

import contextlib
import json
import random
import shutil
import sqlite3
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag
from threading import Thread

from faults.announce import LiveSource, Run
from faults.clocks import CONFIG, NAMES, ZONES
from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none, report
from faults.rig import JOURNAL, Rig, until
from faults.schedule import Message, Play, regular
from faults.toy_detector import SITE, STEP_MS, toy_building, toy_detector, toy_monitor
from graphghha.alarms import Command, StoredEvent, Verb
from graphghha.errors import CheckpointError, ConflictError, GraphGHHAError
from graphghha.models import load_model, shipped_model
from graphghha.monitor import Journal, send_command
from graphghha.monitor.journal import submit_command
from graphghha.monitor.journal.commands import ANSWERED_KEPT, MOST_AT_ONCE
from graphghha.monitor.sinks.jsonl import event_json
from graphghha.monitor.sinks.syslog import syslog_message
from graphghha.sources import ReadingBatch, Rejection

WRITERS, MODES, ACKS, MIXED, COMMANDS, FLIPS, READER, TEXT, LEAP, AHEAD, PAST = (
    "a second monitor on the journal, also without its lock file",
    "files of a new state folder",
    "20 operators acknowledge the same version at once",
    "80 mixed commands of 20 operators at once while it runs",
    "many operators' commands at once",
    "one flipped bit in a file of the model",
    "a reader that never ends its transaction",
    "hostile text in every field of events",
    "a recording of years ago, then live readings, junk first",
    "one single message 590 s ahead",
    "10 h of silence, then one device repeats an old time",
)
OPERATORS, ROWS, HOUR_MS = 20, 60, 3_600_000
MEANWHILE, ROW_EVERY_S = 100, 0.02  # rows that arrive beside commands
ATTACK = ((8, ROWS, "zone-01/RM_TEMP"),)
MAX_LEAP_S = 20.0


def try_held(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    figures: list[Figure] = []
    for number, (name, trial) in enumerate(
        (
            (WRITERS, _writers),
            (MODES, _modes),
            (ACKS, _acks),
            (MIXED, _mixed),
            (COMMANDS, _commands),
            (FLIPS, _flips),
            (READER, _reader),
            (TEXT, _text),
            (LEAP, _leap),
            (AHEAD, _ahead),
            (PAST, _past),
        )
    ):
        progress(name)
        figures += trial(folder / str(number), effort)
    return figures


def _writers(folder: Path, effort: Effort) -> list[Figure]:
    telemetry, refused = toy_building(1, ROWS), 0
    with Journal(folder / JOURNAL) as journal:
        monitor = toy_monitor(journal, 1)
        for row in range(ROWS):
            monitor.step(telemetry.batch(row, row + 1))
            if row in (20, 40):
                try:
                    Journal(folder / JOURNAL).close()
                except ConflictError:
                    refused += 1
            if row == 30:
                (folder / f"{JOURNAL}.lock").unlink()
        rows = journal.reader.rows(SITE)
    return [
        expect_all(WRITERS, "second monitors that were refused", refused, 2),
        expect_all(WRITERS, "rows of the first one", 0 if rows is None else len(rows), ROWS),
    ]


def _modes(folder: Path, effort: Effort) -> list[Figure]:
    with Journal(folder / "state" / JOURNAL) as journal:
        toy_monitor(journal, 1).step(toy_building(1, 10).batch(0, 10))
        places = [folder / "state", *(folder / "state").iterdir()]
        open_to_others = [each.name for each in places if each.stat().st_mode & 0o077]
    return [expect_none(MODES, "files and folders that others may open", len(open_to_others), str(len(places)))]


def _acks(folder: Path, effort: Effort) -> list[Figure]:
    telemetry, stop = toy_building(1, ROWS, ATTACK), Flag()
    with Journal(folder / JOURNAL) as journal:
        monitor = toy_monitor(journal, 1)
        monitor.step(telemetry.batch(0, ROWS))
        (body,) = journal.reader.incidents()
        loop = Thread(target=monitor.run, args=([monitor.feed(SITE, LiveSource())], stop))
        loop.start()

        def acknowledge(number: int) -> str:
            command = Command(verb=Verb.ACK, target=body["id"], by=f"operator {number}", version=body["version"])
            return _answer(folder / JOURNAL, command)

        with ThreadPoolExecutor(OPERATORS) as pool:
            answers = list(pool.map(acknowledge, range(OPERATORS)))
        stop.set()
        loop.join()
    return [
        expect_all(ACKS, "done", answers.count("done"), 1),
        expect_all(ACKS, "refused, because the incident has changed", answers.count("refused"), OPERATORS - 1),
    ]


def _mixed(folder: Path, effort: Effort) -> list[Figure]:
    """Let every operator send four commands while rows arrive; compare the answers with the events in the journal."""
    end = ROWS + MEANWHILE
    telemetry, path = toy_building(2, end, ((8, end, "zone-01/RM_TEMP"),)), folder / JOURNAL
    run = Run.start(path, toy_detector(2))
    try:
        run.feed(telemetry, 0, ROWS)
        reader = run.monitor.journal.reader
        (body,) = reader.incidents()
        nodes = [name for name in telemetry.names if name.startswith("zone-02/")]
        commands = [
            replace(command, by=f"operator {number}, command {at}")
            for number in range(OPERATORS)
            for at, command in enumerate(
                (
                    Command(verb=Verb.ACK, target=body["id"], by="", version=body["version"]),
                    Command(verb=Verb.COMMENT, target=body["id"], by="", reason=f"seen by {number}"),
                    Command(verb=Verb.SHELVE, target=nodes[number], by="", reason="works", for_ms=HOUR_MS),
                    Command(verb=Verb.SUPPRESS, target=nodes[(number + 1) % len(nodes)], by="", reason="works"),
                )
            )
        ]
        with ThreadPoolExecutor(len(commands)) as pool:
            waiting = [pool.submit(_answer, path, command) for command in commands]
            for row in range(ROWS, end):
                run.source.batches.append(telemetry.batch(row, row + 1))
                time.sleep(ROW_EVERY_S)
            answers = {command.by: each.result() for command, each in zip(commands, waiting, strict=True)}
        until(lambda: run.monitor.sites[SITE].steps >= end, "the last row")
        events = Counter(
            (event.body["by"], event.kind)
            for event in reader.events_after(0, 10**6)
            if event.kind in ("operator.command", "operator.refused")
        )
    finally:
        run.end()
    kind = {"done": "operator.command", "refused": "operator.refused"}
    answered = {by: answer for by, answer in answers.items() if answer in kind}
    once = Counter((by, kind[answer]) for by, answer in answered.items())
    done = list(answers.values()).count("done")
    with contextlib.closing(sqlite3.connect(path)) as stranger:
        is_sound = stranger.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return [
        expect_all(MIXED, "commands answered, done or refused with a reason", len(answered), len(commands)),
        report(MIXED, "of these done", str(done)),
        expect_none(
            MIXED, "answers without an event, events without an answer", ((once - events) + (events - once)).total()
        ),
        expect_none(MIXED, "commands carried out twice", sum(count > 1 for count in events.values())),
        expect_all(MIXED, "rows judged meanwhile", run.monitor.sites[SITE].steps - ROWS, MEANWHILE),
        expect_all(MIXED, "journals that are sound", int(is_sound), 1),
    ]


def _answer(path: Path, command: Command) -> str:
    try:
        send_command(path, command)
        return "done"
    except ConflictError:
        return "refused"
    except GraphGHHAError as exc:
        return str(exc)


def _commands(folder: Path, effort: Effort) -> list[Figure]:
    with Journal(folder / JOURNAL) as journal:
        monitor = toy_monitor(journal, 1)
        monitor.step(toy_building(1, ROWS, ATTACK).batch(0, ROWS))
        command = Command(verb=Verb.SHELVE, target="zone-01/RM_TEMP", by="ada", reason="works", for_ms=1_000)
        for _ in range(effort.many_commands):
            submit_command(folder / JOURNAL, SITE, command)
        for _ in range(effort.many_commands // MOST_AT_ONCE + 1):  # so many turns of the loop
            monitor.answer_commands()
        left = len(journal.take_commands())
        journal.trim()
        with contextlib.closing(sqlite3.connect(folder / JOURNAL)) as stranger:
            (kept,) = stranger.execute("SELECT count(*) FROM commands").fetchone()
    return [
        expect_none(COMMANDS, "commands without an answer", left, f"{effort.many_commands:,}"),
        expect_at_most(COMMANDS, "commands that retention keeps", kept, ANSWERED_KEPT),
    ]


def _flips(folder: Path, effort: Effort) -> list[Figure]:
    directory, chance = Path(shutil.copytree(shipped_model("fcu"), folder / "model")), random.Random(0)
    files = sorted(each for each in directory.iterdir() if each.name != "README.md")
    accepted = 0
    for file in files:
        whole = file.read_bytes()
        for _ in range(effort.model_flips):
            flipped = bytearray(whole)
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
            file.write_bytes(flipped)
            try:
                load_model(directory)
                accepted += 1
            except CheckpointError:
                continue
        file.write_bytes(whole)
    return [expect_none(FLIPS, "models that were accepted", accepted, str(len(files) * effort.model_flips))]


def _reader(folder: Path, effort: Effort) -> list[Figure]:
    telemetry = toy_building(1, ROWS, ATTACK)
    with Journal(folder / JOURNAL) as journal:
        monitor = toy_monitor(journal, 1)
        with contextlib.closing(sqlite3.connect(folder / JOURNAL, isolation_level=None)) as stranger:
            stranger.execute("BEGIN")
            stranger.execute("SELECT count(*) FROM events").fetchone()
            for row in range(ROWS):
                monitor.step(telemetry.batch(row, row + 1))
            failing = monitor.is_journal_failing
        rows = journal.reader.rows(SITE)
    return [
        expect_all(READER, "rows written meanwhile", 0 if rows is None else len(rows), ROWS),
        expect_none(READER, "failures of the journal", int(failing)),
    ]


def _text(folder: Path, effort: Effort) -> list[Figure]:
    """Put hostile text into every field; an event must stay one record."""
    chance, broken = random.Random(0), 0
    pieces = ["\r\n", "\x00", "\x1b[2J", "\u202e", "|", "=", "\\", '"]', "\ud800", "<11>1 forged", "x" * 2_000, "\x9b"]
    fields = ("id", "zone", "root", "class", "state", "text", "action", "reason", "priority", "since")
    for number in range(1, effort.hostile_events + 1):
        body = {name: "".join(chance.sample(pieces, 4)) for name in fields}
        event = StoredEvent(number, "".join(chance.sample(pieces, 2)), 0, "incident.annunciated", body)
        message = syslog_message(event, hostname="host", enterprise=32473, pid=1)
        line = event_json(event)
        controls = sum(byte < 32 for byte in message)
        broken += controls > 0 or "\n" in line or json.loads(line)["number"] != number
    return [expect_none(TEXT, "records that break or hold control characters", broken, f"{effort.hostile_events:,}")]


def _leap(folder: Path, effort: Effort) -> list[Figure]:
    """Replay a recording into a state folder, then let live readings of years later arrive, after an unusable one."""
    telemetry = toy_building(2, ROWS)
    now_ms = time.time_ns() // 1_000_000 // STEP_MS * STEP_MS
    live = replace(telemetry, times_ms=now_ms + STEP_MS * (telemetry.times_ms - telemetry.times_ms[0]) // STEP_MS)
    with Journal(folder / JOURNAL) as journal:
        monitor = toy_monitor(journal, 2)
        monitor.step(telemetry.batch(0, ROWS))
        began = time.process_time()
        monitor.step(ReadingBatch.empty(SITE, now_ms, {Rejection.UNMAPPED: 1}))
        for row in range(ROWS):
            monitor.step(live.batch(row, row + 1))
        took_s, reached = time.process_time() - began, monitor.sites[SITE].time_ms
        rows = journal.reader.rows(SITE, from_ms=now_ms)
    return [
        expect_at_most(LEAP, "processor time", took_s, MAX_LEAP_S, " s"),
        expect_none(LEAP, "minutes behind the newest live row", max(0, int(live.times_ms[-1]) - reached) // STEP_MS),
        expect_none(LEAP, "years closed minute by minute", int(rows is not None and len(rows) > 2 * ROWS)),
    ]


def _ahead(folder: Path, effort: Effort) -> list[Figure]:
    telemetry = toy_building(ZONES, 60, ((15, 40, "zone-07/FCU_CVLV"),))
    messages = regular(telemetry, ZONES)

    def ahead(message: Message) -> Message:
        is_it = (message.device, message.row) == (ZONES - 1, 30)
        return replace(message, stated_ms=message.stated_ms + 590_000) if is_it else message

    clean, play = (Play(telemetry, toy_detector(ZONES), CONFIG) for _ in range(2))
    clean.run(messages)
    play.run([ahead(message) for message in messages])
    others = range(ZONES - 1)
    same = sum(play.incidents([NAMES[device]]) == clean.incidents([NAMES[device]]) for device in others)
    return [
        expect_all(AHEAD, "other zones with the incidents of a clean run", same, ZONES - 1),
        expect_none(AHEAD, "readings of other zones lost", play.lost(others, 57)),
        expect_none(AHEAD, "losses of the whole site", len(play.kinds("source.lost"))),
    ]


def _past(folder: Path, effort: Effort) -> list[Figure]:
    """After ten hours everybody comes back; one device repeats the time of before, often."""
    rows, cut = 100, 60
    telemetry = toy_building(ZONES, rows)
    telemetry.times_ms[cut:] += 10 * HOUR_MS
    messages = regular(telemetry, ZONES)
    repeats_ms = int(telemetry.times_ms[cut - 1])
    chatter = [
        replace(message, arrives_ms=message.arrives_ms + late_ms, stated_ms=repeats_ms)
        for message in messages
        if message.device == ZONES - 1 and message.row >= cut
        for late_ms in range(0, STEP_MS, 500)
    ]
    honest = [message for message in messages if message.device != ZONES - 1 or message.row < cut]
    play = Play(telemetry, toy_detector(ZONES), CONFIG)
    play.run(honest + chatter)
    behind = (int(telemetry.times_ms[-1]) - play.times_ms[-1]) // STEP_MS if play.times_ms else rows
    return [expect_at_most(PAST, "minutes that the site stays behind", behind, 3)]
