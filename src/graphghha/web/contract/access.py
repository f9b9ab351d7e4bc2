"""Who uses the API: sessions of browsers, people, tokens of machines."""

from typing import Annotated, Literal

from pydantic import Field

from graphghha.web.contract.common import Answer, Request, Role, Time

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]*$")]


class Login(Request):
    """Name and password of a person."""

    name: Name
    password: str = Field(min_length=1, max_length=1024)


class Session(Answer):
    """Who asks, and what they may do."""

    person: str = Field(examples=["m.ortiz"])
    role: Role
    may: list[str] = Field(description="the verbs of `POST /commands` and the other changes that the role allows")
    sites: list[str] | None = Field(description="null: all sites")
    kind: Literal["login", "token", "local"] = Field(description="`local`: by the one-time token of a printed address")
    expires: Time | None
    server_time: Time
    version: str = Field(description="of graphghha")
    boot: str = Field(description="changes when the web process starts again; a page of another boot reloads itself")


class Person(Answer):
    """A person who may log in."""

    name: str
    role: Role
    sites: list[str] | None = None
    created: Time


class NewPerson(Request):
    """A person to add, or whose password, role or sites are to be replaced."""

    name: Name
    password: str = Field(min_length=12, max_length=1024)
    role: Role
    sites: list[str] | None = None


class Token(Answer):
    """A token of a machine. Its secret is shown once, when it is made."""

    id: str
    name: str
    role: Role
    sites: list[str] | None = None
    created: Time
    expires: Time
    last_used: Time | None = None


class NewToken(Request):
    """A token to make."""

    name: Name
    role: Role
    sites: list[str] | None = None
    days: int = Field(default=90, ge=1, le=366)


class MadeToken(Token):
    """A new token with its secret, which is not stored and cannot be shown again."""

    secret: str = Field(description="send it as `Authorization: Bearer ...`")


class People(Answer):
    items: list[Person]


class Tokens(Answer):
    items: list[Token]
