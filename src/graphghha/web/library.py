"""The journal as the routes use it: a reader per thread, what sites consist of, and commands with their answers."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphghha._util.times import iso
from graphghha.errors import ConfigError, ConflictError, GraphGHHAError, JournalError, NoMonitorError, NotFoundError
from graphghha.monitor.journal import JournalBusyError, PageReader, submit_bodies, submit_body, withdraw_command
from graphghha.monitor.journal.lease import Lease
from graphghha.web.access_store import Identity

WAIT_S, POLL_EVERY_S = 10.0, 0.05
RUNNING_S = 5.0  # how long the answer to "does a monitor run" is used


@dataclass(frozen=True, slots=True)
class SiteAbout:
    """What a site consists of."""

    name: str
    hash: str
    body: Mapping[str, Any]  # as `describe_site` wrote it
    model: str
    nodes: tuple[str, ...]
    points: tuple[str, ...]
    step_ms: int

    @property
    def zones(self) -> list[str]:
        return list(self.body["zones"])

    @property
    def template(self) -> list[dict[str, Any]]:
        return list(self.body["template"])

    @property
    def names(self) -> dict[str, str]:
        """Return the roles in words."""
        return {node["role"]: node["name"] for node in self.template}

    def node_name(self, zone: str, role: str) -> str:
        """Return the full name of a node."""
        return f"{zone}/{role}" if zone else role

    def zone_number(self, zone: str) -> int:
        """Return the position of a zone."""
        if zone not in self.zones:
            raise NotFoundError(f"site {self.name!r} has no zone {zone!r}")
        return self.zones.index(zone)

    def role(self, name: str) -> dict[str, Any]:
        """Return a node of the template."""
        for node in self.template:
            if node["role"] == name:
                return dict(node)
        raise NotFoundError(f"site {self.name!r} has no node {name!r}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one command."""

    state: str  # done | refused | withdrawn
    error: str = ""
    message: str = ""


class Library:
    """Readers of one journal. May be used from any thread; each thread reads by a connection of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._abouts: dict[str, SiteAbout] = {}
        self._running: tuple[float, bool] = (0.0, False)

    @property
    def reader(self) -> PageReader:
        """Return the reader of this thread."""
        reader: PageReader | None = getattr(self._local, "reader", None)
        try:
            stat = self.path.stat()
        except OSError as exc:
            raise JournalError(f"{self.path}: {exc.strerror}") from exc
        identity = (stat.st_dev, stat.st_ino)
        if reader is None or self._local.identity != identity:  # the file was salvaged or put back
            if reader is not None:
                reader.close()
            reader = PageReader(self.path)
            self._local.reader, self._local.identity = reader, identity
        return reader

    def about(self, site: str, who: Identity | None = None) -> SiteAbout:
        """Return what a site consists of; a site that may not be seen does not exist."""
        known = self.reader.sites()
        if site not in known or (who is not None and not who.may_see(site)):
            raise NotFoundError(f"there is no site {site!r}")
        digest = str(known[site].get("about", ""))
        kept = self._abouts.get(site)
        if kept is not None and kept.hash == digest and kept.model == str(known[site].get("model", "")):
            return kept
        found = self.reader.about(site)
        if found is None:
            raise JournalError(f"{self.path}: site {site!r} was written by an older monitor; start the monitor once")
        body = known[site]
        about = SiteAbout(
            site,
            found[0],
            found[1],
            str(body.get("model", "")),
            tuple(body["nodes"]),
            tuple(body.get("points", ())),
            int(body.get("step_ms", 60_000)),
        )
        self._abouts[site] = about
        return about

    def sites(self, who: Identity) -> list[str]:
        """Return the sites that somebody may see."""
        return [site for site in self.reader.sites() if who.may_see(site)]

    def is_monitored(self) -> bool:
        """Return whether a monitor runs on the journal."""
        at, answer = self._running
        if time.monotonic() - at > RUNNING_S or not at:
            try:
                Lease(self.path).close()
                answer = False
            except JournalBusyError:
                answer = True
            except (OSError, GraphGHHAError):
                answer = False
            self._running = (time.monotonic(), answer)
        return answer

    def age_s(self) -> float | None:
        """Return the seconds since the journal was last written."""
        times = []
        for suffix in ("", "-wal"):
            try:
                times.append(self.path.with_name(self.path.name + suffix).stat().st_mtime)
            except OSError:
                continue
        return max(0.0, time.time() - max(times)) if times else None

    def ask(self, requests: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Outcome]:
        """Leave commands or orders, each for a site, and wait for the answers; what is not taken is withdrawn."""
        numbers = submit_bodies(self.path, requests)
        answers: dict[int, Outcome] = {}
        until = time.monotonic() + WAIT_S
        while len(answers) < len(numbers) and time.monotonic() < until:
            time.sleep(POLL_EVERY_S)
            for number in numbers:
                if number not in answers and (answer := self._answer(number)) is not None:
                    answers[number] = answer
        for number in numbers:
            if number not in answers:
                withdraw_command(self.path, number)
                text = f"the monitor has not answered within {WAIT_S:g} s; the command is withdrawn"
                answers[number] = self._answer(number) or Outcome("withdrawn", "NoMonitorError", text)
        return [answers[number] for number in numbers]

    def order(self, site: str, body: Mapping[str, Any]) -> None:
        """Have an order carried out; raise an error with the reason if it is refused."""
        (outcome,) = self.ask([(site, body)])
        if outcome.state != "done":
            raise error_of(outcome)

    def note(self, kind: str, body: Mapping[str, Any], site: str | None = None) -> None:
        """Leave a note in the journal, without waiting for it."""
        known = list(self.reader.sites())
        where = site if site in known else (known[0] if known else None)
        if where is not None:
            submit_body(self.path, where, {"order": "note", "kind": kind, **body})

    def _answer(self, number: int) -> Outcome | None:
        state, answer = self.reader.answer(number)
        if state == "done":
            return Outcome("done")
        if state == "refused":
            name, _, message = answer.partition(": ")
            return Outcome("refused", name, message)
        return None


def error_of(outcome: Outcome) -> GraphGHHAError:
    """Return the error that an outcome stands for."""
    kinds: dict[str, type[GraphGHHAError]] = {
        kind.__name__: kind for kind in (ConfigError, ConflictError, NotFoundError, NoMonitorError)
    }
    return kinds.get(outcome.error, ConflictError)(outcome.message)


def origin(who: Identity, address: str) -> dict[str, str]:
    """Return who asks, as commands and notes carry it."""
    return {
        "by": who.person,
        "token": f"{who.kind}:{who.id}",
        "address": address[:64],
        "wall_time": iso(time.time_ns() // 1_000_000),
    }


def plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body as plain JSON values."""
    return dict(json.loads(json.dumps(dict(body), default=str)))
