"""Sessions, people and tokens."""

from typing import Any

from fastapi import APIRouter, Request, Response

from graphghha._util.times import iso
from graphghha._version import __version__
from graphghha.errors import BusyError, LoginError
from graphghha.web.access_store import Identity, PersonInfo, TokenInfo
from graphghha.web.context import Context, Parts, Who, address, needs
from graphghha.web.contract.access import Login, MadeToken, NewPerson, NewToken, People, Person, Session, Token, Tokens
from graphghha.web.library import origin
from graphghha.web.roles import allowed
from graphghha.web.site_view import now_text
from graphghha.web.stream import BOOT

router = APIRouter(tags=["access"])


def session_of(who: Identity) -> Session:
    """Return who asks, as the API says it."""
    return Session(
        person=who.person,
        role=who.role,  # type: ignore[arg-type]
        may=allowed(who.role),
        sites=None if who.sites is None else list(who.sites),
        kind=who.kind,  # type: ignore[arg-type]
        expires=iso(who.expires_ms) if who.expires_ms else None,
        server_time=now_text(),
        version=__version__,
        boot=BOOT,
    )


def set_cookie(response: Response, parts: Context, secret: str) -> None:
    """Hand the secret of a session to a browser."""
    response.set_cookie(
        parts.cookie,
        secret,
        max_age=int(parts.config.session_hours * 3600),
        httponly=True,
        samesite="strict",
        secure=parts.config.is_secure,
        path="/",
    )


@router.get("/session")
def read_session(who: Who) -> Session:
    """Who asks, and what they may do."""
    return session_of(who)


@router.post("/session")
def log_in(login: Login, request: Request, response: Response, parts: Parts) -> Session:
    """Log in with name and password; sets the cookie of the session."""
    here = address(request)
    if (wait_s := parts.logins.begin(login.name, here)) > 0:
        raise BusyError("too many attempts; wait before the next one", retry_after_s=int(wait_s) + 1)
    person = parts.access.check_password(login.name, login.password)
    if person is None:
        parts.refused_stranger(here, "login", "name or password is wrong", login.name)
        raise LoginError("name or password is wrong")
    parts.logins.succeed(login.name, here)
    secret = parts.access.begin_session(person.name, person.role, person.sites, "login", parts.config.session_hours)
    who = parts.access.session(secret)
    assert who is not None
    set_cookie(response, parts, secret)
    parts.library.note("access.login", {"role": who.role, **origin(who, here)})
    return session_of(who)


@router.delete("/session", status_code=204)
def log_out(request: Request, response: Response, who: Who, parts: Parts) -> None:
    """Log out."""
    if who.kind != "token":
        parts.access.end_session(request.cookies.get(parts.cookie, ""))
        parts.library.note("access.logout", origin(who, address(request)))
    response.delete_cookie(parts.cookie, path="/", secure=parts.config.is_secure, httponly=True, samesite="strict")


@router.get("/people", dependencies=[needs("people")])
def list_people(parts: Parts) -> People:
    """Everybody who may log in."""
    return People(items=[_person(person) for person in parts.access.people()])


@router.post("/people", status_code=201, dependencies=[needs("people")])
def add_person(new: NewPerson, request: Request, who: Who, parts: Parts) -> Person:
    """Add a person, or replace password, role and sites of one."""
    person = parts.access.add_person(new.name, new.password, new.role, new.sites)
    _changed(parts, request, who, f"person {new.name}: {new.role}")
    return _person(person)


@router.delete("/people/{name}", status_code=204, dependencies=[needs("people")])
def remove_person(name: str, request: Request, who: Who, parts: Parts) -> None:
    """Remove a person and end their sessions."""
    parts.access.remove_person(name)
    _changed(parts, request, who, f"person {name} removed")


@router.get("/tokens", dependencies=[needs("people")])
def list_tokens(parts: Parts) -> Tokens:
    """All tokens, without their secrets."""
    return Tokens(items=[Token(**_token(token)) for token in parts.access.tokens()])


@router.post("/tokens", status_code=201, dependencies=[needs("people")])
def make_token(new: NewToken, request: Request, who: Who, parts: Parts) -> MadeToken:
    """Make a token. Its secret is in this answer and nowhere else."""
    token, secret = parts.access.add_token(new.name, new.role, new.sites, new.days)
    _changed(parts, request, who, f"token {token.id} {new.name}: {new.role}")
    return MadeToken(**_token(token), secret=secret)


@router.delete("/tokens/{token}", status_code=204, dependencies=[needs("people")])
def remove_token(token: str, request: Request, who: Who, parts: Parts) -> None:
    """Revoke a token."""
    parts.access.remove_token(token)
    _changed(parts, request, who, f"token {token} revoked")


def _changed(parts: Context, request: Request, who: Identity, what: str) -> None:
    parts.library.note("access.changed", {"what": what[:300], **origin(who, address(request))})


def _person(person: PersonInfo) -> Person:
    sites = None if person.sites is None else list(person.sites)
    return Person(name=person.name, role=person.role, sites=sites, created=iso(person.created_ms))  # type: ignore[arg-type]


def _token(token: TokenInfo) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "role": token.role,
        "sites": None if token.sites is None else list(token.sites),
        "created": iso(token.created_ms),
        "expires": iso(token.expires_ms),
        "last_used": iso(token.used_ms) if token.used_ms else None,
    }
