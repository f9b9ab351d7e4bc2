"""What routes share: the configuration, the journal, the access file, and who asks."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request

from graphghha.errors import AccessError, LoginError
from graphghha.web.access_store import AccessStore, Identity
from graphghha.web.config import WebConfig
from graphghha.web.library import Library, SiteAbout, origin
from graphghha.web.limits import Throttle, TokenBucket
from graphghha.web.roles import NEEDED, is_enough
from graphghha.web.stream import Broadcaster


@dataclass(slots=True)
class Context:
    """The parts of a running web process."""

    config: WebConfig
    access: AccessStore
    library: Library
    broadcaster: Broadcaster
    throttle: Throttle = field(default_factory=Throttle)
    notes: TokenBucket = field(default_factory=lambda: TokenBucket(1.0, 20.0))  # of refusals, so that none floods

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
        if not self.notes.take(who.id):
            body = {"what": what[:200], "error": "AccessError", "reason": why[:500], **origin(who, address(request))}
            self.library.note("access.refused", body, site)

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
