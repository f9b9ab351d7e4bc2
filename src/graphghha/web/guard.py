"""What every request passes before a route sees it: known host, own origin, size, rate; and headers of the answer."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from graphghha.web.config import WebConfig
from graphghha.web.limits import TokenBucket

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 65_536
BODY_S = 20.0  # how long a body may take
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        b"font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


class Guard:
    """An ASGI application around another."""

    def __init__(self, app: App, config: WebConfig, on_foreign: Callable[[str, str, str], None]) -> None:
        """`on_foreign` is called with the address, what it asked for and why a request was taken for an attack."""
        self._app, self._config, self._on_foreign = app, config, on_foreign
        self._bucket = TokenBucket(config.requests_per_s, 4 * config.requests_per_s)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if (refused := self._refusal(scope, headers)) is not None:
            if refused[0] == 403:
                what = f"{scope['method']} {scope['path'][:100]}"
                await asyncio.to_thread(self._on_foreign, _address(scope), what, refused[2])
            await _answer(send, *refused)
            return
        await self._app(scope, _bounded(receive), self._with_headers(scope, send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str, str, int | None] | None:
        host = _without_port(headers.get("host", ""))
        if host not in self._config.allowed_hosts:
            return 403, "ForbiddenError", f"this server is not {host[:80]!r}; name it under web.hosts", None
        wait_s = self._bucket.take(_address(scope))
        if wait_s > 0:
            return 429, "BusyError", "too many requests from this address", int(wait_s) + 1
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdecimal() and len(length) < 10) or int(length) > MOST_BODY:
            return 413, "DataError", f"a body has at most {MOST_BODY} bytes", None
        is_machine = (
            headers.get("authorization", "").lower().startswith("bearer ")
        )  # no page can make a browser send it
        if scope["method"] not in SAFE and not is_machine:
            site, origin = headers.get("sec-fetch-site"), headers.get("origin")
            if site is not None and site != "same-origin":
                return 403, "ForbiddenError", "the request comes from another origin", None
            if origin is not None and _origin_host(origin) != headers.get("host", "").lower():
                return 403, "ForbiddenError", "the request comes from another origin", None
            if site is None and origin is None and "cookie" in headers:
                return 403, "ForbiddenError", "a request with a cookie must name its Origin", None
        return None

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        is_api = str(scope["path"]).startswith("/api/")

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = list(HEADERS)
                present = {name.lower() for name, _ in message["headers"]}
                if is_api and b"cache-control" not in present:
                    more.append((b"cache-control", b"no-store"))
                if self._config.is_secure:
                    more.append((b"strict-transport-security", b"max-age=31536000"))
                message["headers"] = [*message["headers"], *more]
            await send(message)

        return sending


def _bounded(receive: Receive) -> Receive:
    """Return `receive` that ends a body which is too long, whatever it says about its length, or too slow."""
    taken, is_whole, until = 0, False, time.monotonic() + BODY_S

    async def receiving() -> Message:
        nonlocal taken, is_whole
        if is_whole:
            return await receive()  # of the end of the connection
        try:
            message = await asyncio.wait_for(receive(), max(0.0, until - time.monotonic()))
        except TimeoutError:
            return {"type": "http.disconnect"}
        if message["type"] == "http.request":
            taken, is_whole = taken + len(message.get("body", b"")), not message.get("more_body", False)
            if taken > MOST_BODY:
                return {"type": "http.disconnect"}
        return message

    return receiving


async def _answer(send: Send, status: int, error: str, message: str, retry_s: int | None) -> None:
    body = json.dumps({"error": error, "message": message, "needs": None, "retry_after_s": retry_s}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    if retry_s is not None:
        headers.append((b"retry-after", str(retry_s).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _address(scope: Scope) -> str:
    return str((scope.get("client") or ("",))[0])


def _without_port(host: str) -> str:
    """Return the name in a Host header, without port and brackets."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _origin_host(origin: str) -> str:
    return origin.partition("://")[2].lower()
