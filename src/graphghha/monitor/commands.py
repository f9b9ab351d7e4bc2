"""Operators' commands to a journal file: carried out by the monitor if one runs on it, and directly if none does."""

import time
from pathlib import Path
from typing import Any

from graphghha.alarms import STATE_NAMES, AlarmBoard, Command, NodeAlarm
from graphghha.errors import ConfigError, ConflictError, GraphGHHAError, JournalError, NotFoundError
from graphghha.monitor.journal import Commit, Journal, JournalBusyError, Reader, submit_command

WAIT_S, POLL_EVERY_S = 10.0, 0.1


def send_command(path: Path, command: Command, site: str | None = None) -> dict[str, Any]:
    """Have a command carried out and return its target afterwards; raise an error with the reason if it is refused."""
    with Reader(path) as reader:
        site = _find_site(reader, command.target, site)
        try:
            journal = Journal(path)
        except JournalBusyError:
            _ask_monitor(path, reader, site, command)
        else:
            with journal:
                _carry_out(journal, site, command)
        return _target(reader, site, command.target)


def _target(reader: Reader, site: str, target: str) -> dict[str, Any]:
    """Return an incident as it is now, or the alarm of a node."""
    if (body := reader.incident(target)) is not None:
        return body
    _, board = reader.checkpoint(site) or (None, {"alarms": {}})
    stored = board["alarms"].get(target)
    alarm = NodeAlarm.from_dict(stored) if stored else NodeAlarm()
    return {"site": site, "node": target, "state": STATE_NAMES[alarm.state], **alarm.to_dict()}


def _carry_out(journal: Journal, site: str, command: Command) -> None:
    """Apply the command to the alarm board of the last checkpoint, because no monitor runs."""
    reader = journal.reader
    checkpoint = reader.checkpoint(site)
    if checkpoint is None:
        raise NotFoundError(f"{reader.path}: site {site!r} has no alarms yet")
    board = AlarmBoard.from_dict(checkpoint[1], frozenset(reader.sites()[site]["nodes"]))
    now_ms = int(reader.summary(site)["time_ms"])
    events = board.apply(command, now_ms, reader.incident(command.target))
    journal.write([Commit(site=site, time_ms=now_ms, events=events, board=board.to_dict())])


def _ask_monitor(path: Path, reader: Reader, site: str, command: Command) -> None:
    """Leave the command for the monitor that runs on this journal, and wait for its answer."""
    number = submit_command(path, site, command)
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        state, answer = reader.answer(number)
        if state == "done":
            return
        if state == "refused":
            raise _refusal(answer)
        time.sleep(POLL_EVERY_S)
    raise JournalError(
        f"{path}: the monitor has not answered within {WAIT_S:g} s; it will carry out the command when it can"
    )


def _refusal(answer: str) -> GraphGHHAError:
    """Return the error that the monitor raised, rebuilt from its name and message."""
    name, _, message = answer.partition(": ")
    known: dict[str, type[GraphGHHAError]] = {
        kind.__name__: kind for kind in (ConfigError, ConflictError, NotFoundError)
    }
    return known.get(name, GraphGHHAError)(message)


def _find_site(reader: Reader, target: str, site: str | None) -> str:
    if (body := reader.incident(target)) is not None:
        return str(body["site"])
    sites = {name: about for name, about in reader.sites().items() if site in (None, name)}
    having = [name for name, about in sites.items() if target in about["nodes"]]
    if not having:
        raise NotFoundError(
            f"{reader.path}: there is no incident or node {target!r}; `alarms list` shows the incidents"
        )
    if len(having) > 1:
        raise NotFoundError(f"node {target!r} exists in sites {', '.join(having)}; choose one with --site")
    return having[0]
