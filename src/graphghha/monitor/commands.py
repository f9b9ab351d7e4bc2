"""Operators at work on a journal file, whether or not a monitor runs on it: one fold, two ways to reach it."""

import time
from pathlib import Path
from typing import Any

from graphghha.alarms import WORDS, Command, Desk, NodeAlarm
from graphghha.errors import ConfigError, ConflictError, GraphGHHAError, JournalError, NotFoundError
from graphghha.monitor.journal.journal import Entry, Journal, JournalBusyError, submit
from graphghha.monitor.journal.reader import Reader

WAIT_S, LOOK_EVERY_S = 10.0, 0.1


def order(path: Path, command: Command, site: str | None = None) -> dict[str, Any]:
    """Have a command carried out; returns the target as it stands then, or raises what the desk refused it with."""
    with Reader(path) as reader:
        site = _site_of(reader, command.target, site)
        try:
            journal = Journal(path)
        except JournalBusyError:
            _ask(path, reader, site, command)
        else:
            with journal:
                _carry_out(journal, site, command)
        return target_of(reader, site, command.target)


def target_of(reader: Reader, site: str, target: str) -> dict[str, Any]:
    """An incident as it stands, or a node's alarm."""
    if (body := reader.incident(target)) is not None:
        return body
    _, desk = reader.checkpoint(site) or (None, {"alarms": {}})
    kept = desk["alarms"].get(target)
    alarm = NodeAlarm.from_dict(kept) if kept else NodeAlarm()
    return {"site": site, "node": target, "state": WORDS[alarm.letter], **alarm.to_dict()}


def _carry_out(journal: Journal, site: str, command: Command) -> None:
    """No monitor runs: fold the command into the desk as it was left."""
    reader = journal.reader
    kept = reader.checkpoint(site)
    if kept is None:
        raise NotFoundError(f"{reader.path}: site {site!r} has no alarms yet")
    desk = Desk.from_dict(kept[1], frozenset(reader.sites()[site]["nodes"]))
    now_ms = int(reader.summary(site)["time_ms"])
    facts = desk.apply(command, now_ms, reader.incident(command.target))
    journal.write([Entry(site=site, time_ms=now_ms, facts=facts, desk=desk.to_dict())])


def _ask(path: Path, reader: Reader, site: str, command: Command) -> None:
    """A monitor runs: leave the command and wait for its answer."""
    number = submit(path, site, command)
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        state, answer = reader.answer(number)
        if state == "done":
            return
        if state == "refused":
            raise _refusal(answer)
        time.sleep(LOOK_EVERY_S)
    raise JournalError(f"{path}: the monitor has not answered for {WAIT_S:g} s; the command stays with it")


def _refusal(answer: str) -> GraphGHHAError:
    """The error the monitor met, by its name."""
    name, _, message = answer.partition(": ")
    known: dict[str, type[GraphGHHAError]] = {
        kind.__name__: kind for kind in (ConfigError, ConflictError, NotFoundError)
    }
    return known.get(name, GraphGHHAError)(message)


def _site_of(reader: Reader, target: str, site: str | None) -> str:
    if (body := reader.incident(target)) is not None:
        return str(body["site"])
    sites = {name: what for name, what in reader.sites().items() if site in (None, name)}
    having = [name for name, what in sites.items() if target in what["nodes"]]
    if not having:
        raise NotFoundError(f"{reader.path}: no incident or node {target!r}; `alarms list` shows what there is")
    if len(having) > 1:
        raise NotFoundError(f"node {target!r} is in sites {', '.join(having)}; say which with --site")
    return having[0]
