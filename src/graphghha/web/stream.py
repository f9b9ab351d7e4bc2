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

from graphghha.errors import GraphGHHAError
from graphghha.web.access_store import Identity
from graphghha.web.events import to_line
from graphghha.web.library import Library
from graphghha.web.site_view import as_of, now_text, scores_now

log = logging.getLogger(__name__)
LOOK_EVERY_S, STATE_EVERY_S, COMMENT_EVERY_S, CHECK_EVERY_S = 0.2, 0.5, 15.0, 30.0
MOST_WAITING = 1_000  # frames of a client that does not read; then it is cut off
PAGE = 500
BOOT = secrets.token_hex(4)


def frame(event: str, data: Any, number: int | None = None) -> bytes:
    """Return one server-sent event as bytes."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {event}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


@dataclass(eq=False, slots=True)
class Client:
    """One open stream."""

    who: Identity
    site: str | None
    queue: asyncio.Queue[tuple[str, int | None, bytes] | None] = field(
        default_factory=lambda: asyncio.Queue(MOST_WAITING)
    )

    def wants(self, site: str) -> bool:
        return self.who.may_see(site) and self.site in (None, site)

    def put(self, site: str, number: int | None, data: bytes) -> bool:
        """Hand over a frame; return False if the client is too far behind."""
        if not self.wants(site):
            return True
        try:
            self.queue.put_nowait((site, number, data))
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
                events, states = await asyncio.to_thread(self._look)
                for site, number, data in (*events, *states):
                    for client in [client for client in self.clients if not client.put(site, number, data)]:
                        self._cut(client)
            except GraphGHHAError as exc:  # a journal that is being salvaged comes back
                log.warning("the live stream cannot read the journal: %s", exc)
            await asyncio.sleep(LOOK_EVERY_S)

    def _last_number(self) -> int:
        try:
            return self._library.reader.last_event_number()
        except GraphGHHAError:
            return 0

    def _look(self) -> tuple[list[tuple[str, int | None, bytes]], list[tuple[str, int | None, bytes]]]:
        reader = self._library.reader
        events: list[tuple[str, int | None, bytes]] = []
        for event in reader.events_after(self._last, PAGE):
            events.append((event.site, event.number, frame("journal", to_line(event).model_dump(), event.number)))
            self._last = event.number
        states: list[tuple[str, int | None, bytes]] = []
        for site in reader.sites():
            _, scored_ms = reader.last_commit(site)
            sent_ms, sent_at = self._sent.get(site, (-1, 0.0))
            if scored_ms != sent_ms and time.monotonic() - sent_at >= STATE_EVERY_S:
                self._sent[site] = (scored_ms, time.monotonic())
                with suppress(GraphGHHAError):
                    states.append((site, None, self.state(site)))
        return events, states

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
            past, last = await asyncio.to_thread(self._catch_up, client, after)
            for data in past:
                yield data
            while True:
                try:
                    item = await asyncio.wait_for(client.queue.get(), COMMENT_EVERY_S)
                except TimeoutError:
                    item = ("", None, b": still here\n\n")
                if item is None:
                    return
                _, number, data = item
                if number is None or number > last:
                    yield data
                if time.monotonic() - checked > CHECK_EVERY_S:
                    checked = time.monotonic()
                    if not await asyncio.to_thread(is_valid):
                        yield frame("error", {"error": "UnauthorizedError", "message": "you are logged out"})
                        return
        finally:
            self.clients.discard(client)

    def _catch_up(self, client: Client, after: int | None) -> tuple[list[bytes], int]:
        """Return the greeting, the events after a number, and the states; and the number reached."""
        reader = self._library.reader
        first, last = reader.first_event_number(), reader.last_event_number()
        hello = {"boot": BOOT, "first": first, "last": last, "server_time": now_text()}
        frames = [frame("hello", hello)]
        if after is not None and after > last:  # the journal was replaced
            after = None
            frames.append(frame("gap", {"from": 1, "to": last}))
        at = last if after is None else after
        if at + 1 < first:
            frames.append(frame("gap", {"from": at + 1, "to": first - 1}))
            at = first - 1
        while at < last and (page := reader.events_after(at, PAGE)):
            for event in page:
                at = event.number
                if client.wants(event.site):
                    frames.append(frame("journal", to_line(event).model_dump(), event.number))
            if len(frames) > MOST_WAITING * 5:
                frames.append(frame("gap", {"from": at + 1, "to": last}))
                at = last
        for site in reader.sites():
            if client.wants(site):
                with suppress(GraphGHHAError):
                    frames.append(self.state(site))
        return frames, max(at, last)
