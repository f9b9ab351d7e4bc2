"""Operators' commands to a journal file: carried out by the monitor if one runs on it, and directly if none does."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphghha.alarms import STATE_NAMES, AlarmBoard, Command, NodeAlarm
from graphghha.errors import ConfigError, ConflictError, GraphGHHAError, JournalError, NotFoundError
from graphghha.monitor.journal import Commit, Journal, JournalBusyError, Reader, submit_command, withdraw_command

WAIT_S, POLL_EVERY_S = 10.0, 0.1
NO_MONITOR = "no monitor runs on this journal; the command was carried out in the file, and a monitor will find it done"


def send_command(
    path: Path, command: Command, site: str | None = None, *, note: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """Have a command carried out and return its target afterwards; raise an error with the reason if it is refused.

    `note` is called with a sentence for the operator if no monitor runs.
    """
    command = command.given_at(time.time_ns() // 1_000_000)
    with Reader(path) as reader:
        site = _find_site(reader, command.target, site)
        if not _carry_out(path, site, command) and not _ask_monitor(path, reader, site, command):
            return _target(reader, site, command.target)
        note(NO_MONITOR)
        return _target(reader, site, command.target)


def _target(reader: Reader, site: str, target: str) -> dict[str, Any]:
    """Return an incident as it is now, or the alarm of a node."""
    if (body := reader.incident(target)) is not None:
        return body
    try:
        _, board = reader.checkpoint(site) or (None, {"alarms": {}})
        stored = board["alarms"].get(target)
        alarm = NodeAlarm.from_dict(stored) if stored else NodeAlarm()
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise JournalError(f"{reader.path}: the alarms of site {site!r} cannot be read: {exc!r}") from exc
    return {"site": site, "node": target, "state": STATE_NAMES[alarm.state], **alarm.to_dict()}


def _carry_out(path: Path, site: str, command: Command) -> bool:
    """Carry out a command if no monitor runs on the journal; return False if somebody else writes it."""
    try:
        journal = Journal(path)
    except JournalBusyError:
        return False
    with journal:
        _apply(journal, site, command)
    return True


def _apply(journal: Journal, site: str, command: Command) -> None:
    """Apply the command to the alarm board of the last checkpoint."""
    reader = journal.reader
    checkpoint = reader.checkpoint(site)
    if checkpoint is None:
        raise NotFoundError(f"{reader.path}: site {site!r} has no alarms yet")
    try:
        board = AlarmBoard.from_dict(checkpoint[1], frozenset(reader.sites()[site]["nodes"]))
        now_ms = int(reader.summary(site)["time_ms"])
        events = board.apply(command, now_ms, reader.incident(command.target))
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        if isinstance(exc, GraphGHHAError):
            raise
        raise JournalError(
            f"{reader.path}: the alarms of site {site!r} cannot be read; start the monitor, which rebuilds them"
        ) from exc
    journal.write([Commit(site=site, time_ms=now_ms, events=events, board=board.to_dict())])


def _ask_monitor(path: Path, reader: Reader, site: str, command: Command) -> bool:
    """Leave the command for the monitor that runs on this journal, and wait for its answer.

    Who writes the journal may be another command, and no monitor: then carry the command out here, and return True.
    """
    number = submit_command(path, site, command)
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        state, answer = reader.answer(number)
        if state == "done":
            return False
        if state == "refused":
            raise _refusal(answer)
        time.sleep(POLL_EVERY_S)
        if state == "pending" and _is_carried_out_here(path, number, site, command):
            return True
    if withdraw_command(path, number):
        raise JournalError(
            f"{path}: the monitor that writes this journal has not answered within {WAIT_S:g} s, so the command is "
            "withdrawn and will not be carried out; see whether the monitor runs (`/livez`, `/readyz`)"
        )
    state, answer = reader.answer(number)
    if state == "refused":
        raise _refusal(answer)
    if state != "done":
        raise JournalError(
            f"{path}: the monitor has taken the command and cannot write its answer; see `/readyz`, then `alarms show`"
        )
    return False


def _is_carried_out_here(path: Path, number: int, site: str, command: Command) -> bool:
    try:
        journal = Journal(path)
    except JournalBusyError:
        return False
    with journal:
        if not withdraw_command(path, number):
            return False  # a monitor took it and has just ended; its answer is there, or the next monitor gives it
        _apply(journal, site, command)
    return True


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
