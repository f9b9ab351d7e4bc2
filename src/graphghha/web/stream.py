"""The live stream: one task looks at the journal, every client has a bounded queue."""

import asyncio
import base64
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from graphghha.alarms import StoredEvent
from graphghha.errors import BusyError, GraphGHHAError
from graphghha.web.access_store import Identity
from graphghha.web.events import to_line
from graphghha.web.library import Library
from graphghha.web.roles import may_read
from graphghha.web.site_view import as_of, now_text, scores_now

log = logging.getLogger(__name__)
LOOK_EVERY_S, STATE_EVERY_S, COMMENT_EVERY_S, CHECK_EVERY_S = 0.2, 0.5, 15.0, 30.0
MOST_WAITING = 1_000  # frames of a client that does not read; then it is cut off
MOST_PAST = 5_000  # events that a client is sent of those it missed; then it reads lists anew
MOST_EACH = 32  # streams of one person or token
PAGE = 500
BOOT = secrets.token_hex(4)


def frame(event: str, data: Any, number: int | None = None) -> bytes:
    """Return one server-sent event as bytes."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {event}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Frame:
    """One server-sent event and whom it is for."""

    data: bytes
    site: str | None = None  # None: everybody
    number: int | None = None  # of an event of the journal
    kind: str = ""
    is_gap: bool = False


@dataclass(eq=False, slots=True)
class Client:
    """One open stream."""

    who: Identity
    site: str | None
    queue: asyncio.Queue[Frame | None] = field(default_factory=lambda: asyncio.Queue(MOST_WAITING))

    def wants(self, site: str | None, kind: str = "") -> bool:
        """Return whether frames of a site and kind are for this client."""
        is_own = site is None or (self.who.may_see(site) and self.site in (None, site))
        return is_own and may_read(self.who.role, kind)

    def put(self, given: Frame) -> bool:
        """Hand over a frame; return False if the client is too far behind."""
        if not self.wants(given.site, given.kind):
            return True
        try:
            self.queue.put_nowait(given)
        except asyncio.QueueFull:
            return False
        return True


class Broadcaster:
    """Reads the journal once for all clients."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.clients: set[Client] = set()
        self._task: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._last = 0
        self._sent: dict[str, tuple[int, float]] = {}  # site -> time of the scores sent, and when
        self._problem = ""  # that was logged

    def refuse_more(self, who: Identity, most: int) -> None:
        """Raise if too many streams are open, of all people or of this one."""
        own = sum((client.who.kind, client.who.person) == (who.kind, who.person) for client in self.clients)
        if len(self.clients) >= most or own >= MOST_EACH:
            raise BusyError("too many live streams are open", retry_after_s=30)

    async def start(self) -> None:
        """Begin to look at the journal, from its present end; the task ends with the last client."""
        async with self._starting:
            if self._task is None or self._task.done():
                self._last = await asyncio.to_thread(self._last_number)
                self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        for client in list(self.clients):
            self._cut(client)
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while self.clients:
            try:
                for each in await asyncio.to_thread(self._look):
                    for client in [client for client in self.clients if not client.put(each)]:
                        self._cut(client)
                self._problem = ""
            except (GraphGHHAError, ValueError, KeyError, TypeError) as exc:  # a journal that is salvaged comes back
                if repr(exc) != self._problem:
                    log.warning("the live stream cannot read the journal: %s", exc)
                    self._problem = repr(exc)
            await asyncio.sleep(LOOK_EVERY_S)

    def _last_number(self) -> int:
        try:
            return self._library.reader.last_event_number()
        except GraphGHHAError:
            return 0

    def _look(self) -> list[Frame]:
        """Return what is new: events, then the states of sites that were scored again."""
        reader, found = self._library.reader, list[Frame]()
        if (last := reader.last_event_number()) < self._last:  # the journal was replaced by another
            found.append(Frame(frame("gap", {"from": 1, "to": last}), is_gap=True))
            self._last = last
        for event in reader.events_after(self._last, PAGE):
            found.append(_journal_frame(event))
            self._last = event.number
        for site in reader.sites():
            _, scored_ms = reader.last_commit(site)
            sent_ms, sent_at = self._sent.get(site, (-1, 0.0))
            if scored_ms != sent_ms and time.monotonic() - sent_at >= STATE_EVERY_S:
                self._sent[site] = (scored_ms, time.monotonic())
                with suppress(GraphGHHAError):
                    found.append(Frame(self.state(site), site))
        return found

    def state(self, site: str) -> bytes:
        """Return the state frame of a site."""
        about = self._library.about(site)
        summary = self._library.reader.summary(site)
        scores = scores_now(self._library, about)
        data = {
            "site": site,
            "hash": about.hash,
            "as_of": as_of(summary),
            "number": self._last,
            "server_time": now_text(),
            "scores": base64.b64encode(scores.tobytes()).decode(),
            "is_lost": bool(summary.get("is_lost", False)),
            "is_flood": bool(summary.get("is_flood", False)),
        }
        return frame("state", data)

    def _cut(self, client: Client) -> None:
        self.clients.discard(client)
        with suppress(asyncio.QueueEmpty):
            while True:
                client.queue.get_nowait()
        client.queue.put_nowait(None)

    async def follow(self, client: Client, after: int | None, is_valid: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Yield the frames of one client: what it missed, then what happens."""
        self.clients.add(client)
        await self.start()
        checked = time.monotonic()
        try:
            last = 0
            async for data, reached in self._past(client, after):
                yield data
                last = reached
            while True:
                try:
                    item = await asyncio.wait_for(client.queue.get(), COMMENT_EVERY_S)
                except TimeoutError:
                    item = Frame(b": still here\n\n")
                if item is None:
                    return
                if item.is_gap:
                    last = 0
                if item.number is None or item.number > last:
                    yield item.data
                if time.monotonic() - checked > CHECK_EVERY_S:
                    checked = time.monotonic()
                    if not await asyncio.to_thread(is_valid):
                        yield frame("error", {"error": "LoginError", "message": "you are logged out"})
                        return
        finally:
            self.clients.discard(client)

    async def _past(self, client: Client, after: int | None) -> AsyncIterator[tuple[bytes, int]]:
        """Yield the greeting, the events after a number, and the states; each with the number that is then reached."""
        first, last = await asyncio.to_thread(self._numbers)
        hello = {"boot": BOOT, "first": first, "last": last, "server_time": now_text()}
        yield frame("hello", hello), last
        at = last if after is None else after
        if at > last:  # the journal was replaced
            yield frame("gap", {"from": 1, "to": last}), last
            at = last
        if at + 1 < first:
            yield frame("gap", {"from": at + 1, "to": first - 1}), last
            at = first - 1
        sent = 0
        while at < last and (page := await asyncio.to_thread(self._page, at)):
            for event in page:
                at = event.number
                if client.wants(event.site, event.kind):
                    sent += 1
                    yield _journal_frame(event).data, max(at, last)
            if sent >= MOST_PAST and at < last:
                yield frame("gap", {"from": at + 1, "to": last}), last
                break
        for data in await asyncio.to_thread(self._states, client):
            yield data, max(at, last)

    def _numbers(self) -> tuple[int, int]:
        return self._library.reader.first_event_number(), self._library.reader.last_event_number()

    def _page(self, after: int) -> list[StoredEvent]:
        return self._library.reader.events_after(after, PAGE)

    def _states(self, client: Client) -> list[bytes]:
        found = []
        for site in self._library.reader.sites():
            if client.wants(site):
                with suppress(GraphGHHAError):
                    found.append(self.state(site))
        return found


def _journal_frame(event: StoredEvent) -> Frame:
    data = frame("journal", to_line(event).model_dump(), event.number)
    return Frame(data, event.site, event.number, event.kind)
