"""What routes share: the configuration, the journal, the access file, and who asks."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request

from graphghha.errors import AccessError, GraphGHHAError, LoginError
from graphghha.web.access_store import AccessStore, Identity
from graphghha.web.config import WebConfig
from graphghha.web.library import Library, SiteAbout, origin
from graphghha.web.limits import LoginLimit, TokenBucket
from graphghha.web.roles import NEEDED, is_enough
from graphghha.web.stream import Broadcaster

log = logging.getLogger(__name__)
MOST_UNCOUNTED = 10_000  # people and addresses whose refusals are counted instead of recorded


@dataclass(slots=True)
class Context:
    """The parts of a running web process."""

    config: WebConfig
    access: AccessStore
    library: Library
    broadcaster: Broadcaster
    logins: LoginLimit = field(default_factory=LoginLimit)
    # of refusals, so that nobody floods the journal: of people who are logged in, and of strangers
    _own: TokenBucket = field(default_factory=lambda: TokenBucket(1.0, 20.0))
    _strange: TokenBucket = field(default_factory=lambda: TokenBucket(0.1, 10.0))
    _uncounted: dict[str, int] = field(default_factory=dict)

    @property
    def cookie(self) -> str:
        return "__Host-graphghha" if self.config.is_secure else "graphghha"

    def identity(self, request: Request) -> Identity | None:
        """Return who asks; None if it is unknown."""
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if scheme:
            return self.access.token(secret.strip()) if scheme.lower() == "bearer" else None
        secret = request.cookies.get(self.cookie, "")
        return self.access.session(secret) if secret else None

    def refused(self, who: Identity, request: Request, what: str, why: str, site: str | None = None) -> None:
        """Leave a note about something that was refused."""
        body = {"what": what[:200], "error": "AccessError", "reason": why[:500], **origin(who, address(request))}
        self._note_refusal(self._own, who.id, body, site)

    def refused_stranger(self, address: str, what: str, why: str, name: str = "") -> None:
        """Leave a note about a request of somebody who is not logged in."""
        who = Identity(person=name, role="viewer", kind="login", id="")
        body = {"what": what[:200], "error": "AccessError", "reason": why[:500], **origin(who, address)}
        self._note_refusal(self._strange, address, body, None)

    def _note_refusal(self, bucket: TokenBucket, key: str, body: Mapping[str, str], site: str | None) -> None:
        if bucket.take(key):
            if len(self._uncounted) < MOST_UNCOUNTED:
                self._uncounted[key] = self._uncounted.get(key, 0) + 1
            return
        more = self._uncounted.pop(key, 0)
        reason = f"{body['reason']} ({more} more were not recorded)" if more else body["reason"]
        try:
            self.library.note("access.refused", {**body, "reason": reason}, site)
        except GraphGHHAError as exc:  # it is refused nevertheless
            log.warning("a refusal is not recorded: %s", exc)

    def need(self, who: Identity, request: Request, what: str, site: str | None = None) -> None:
        """Raise if the role is not enough, and leave a note about it."""
        if not is_enough(who.role, NEEDED[what]):
            text = f"you may not {what} as {who.role}; it needs the role {NEEDED[what]}"
            self.refused(who, request, what, text, site)
            raise AccessError(text, NEEDED[what])


def address(request: Request) -> str:
    """Return the address of the other machine."""
    return request.client.host if request.client else ""


def context(request: Request) -> Context:
    """Return the parts of this process."""
    found: Context = request.app.state.context
    return found


Parts = Annotated[Context, Depends(context)]


def somebody(request: Request, parts: Parts) -> Identity:
    """Return who asks; raise if nobody is logged in."""
    who = parts.identity(request)
    if who is None:
        if "authorization" in request.headers:  # a session that has ended is nothing unusual; a wrong token is
            parts.refused_stranger(address(request), "token", "the token is unknown or has expired")
        raise LoginError("log in first, or send a token that has not expired")
    return who


Who = Annotated[Identity, Depends(somebody)]


def _site(site: str, who: Who, parts: Parts) -> SiteAbout:
    return parts.library.about(site, who)


Site = Annotated[SiteAbout, Depends(_site)]


def needs(what: str) -> Any:
    """Return a dependency that admits only roles that may do something."""

    def check(request: Request, who: Who, parts: Parts) -> None:
        parts.need(who, request, what, request.path_params.get("site"))

    return Depends(check)
