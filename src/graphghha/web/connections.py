"""Connections that are not waited for: who asks too slowly, does not read, or opens too many of them."""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_S = 15.0  # how long the lines before the body may take
STALL_S = 60.0  # how long a client may leave unread what is sent to it
MOST_EACH = 100  # connections of one address


def make_protocol(*, is_behind_proxy: bool, head_s: float = HEAD_S, stall_s: float = STALL_S) -> type[Any]:
    """Return uvicorn's protocol with these limits; connections of a proxy are everybody's, and not counted."""
    counts: Counter[str] = Counter()

    class Protocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        """One connection."""

        _head: asyncio.TimerHandle | None = None
        _stall: asyncio.TimerHandle | None = None
        _peer = ""

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._peer = str((transport.get_extra_info("peername") or ("",))[0])
            counts[self._peer] += 1
            if counts[self._peer] > MOST_EACH and not is_behind_proxy:
                transport.abort()
                return
            self._head = self.loop.call_later(head_s, transport.abort)

        def connection_lost(self, exc: Exception | None) -> None:
            for timer in (self._head, self._stall):
                if timer is not None:
                    timer.cancel()
            counts[self._peer] -= 1
            if not counts[self._peer]:
                del counts[self._peer]
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            is_asking = self.cycle is None or self.cycle.response_complete
            if is_asking and self._head is None:
                self._head = self.loop.call_later(head_s, self.transport.abort)
            elif not is_asking and self._head is not None:
                self._head.cancel()
                self._head = None

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._stall is None:
                self._stall = self.loop.call_later(stall_s, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._stall is not None:
                self._stall.cancel()
                self._stall = None

    return Protocol
