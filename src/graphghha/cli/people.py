"""`graphghha user` and `graphghha token`: who may use the page and the HTTP API."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphghha.cli._output import echo, echo_json

if TYPE_CHECKING:
    from graphghha.web.access_store import AccessStore

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_ROLE = click.Choice(["viewer", "operator", "engineer", "admin"])


@click.group()
def user() -> None:
    """People who may log in."""


@user.command("add")
@click.argument("config", type=_FILE)
@click.argument("name")
@click.option("--role", type=_ROLE, default="viewer", show_default=True, help="What it may do.")
@click.option("--site", "sites", multiple=True, help="May see this site only; may be repeated.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
def add_user(config: Path, name: str, role: str, sites: tuple[str, ...], password_stdin: bool) -> None:
    """Add a person, or change one.

    CONFIG is the settings file of `graphghha serve`. The password is asked for twice; it has at least 12 characters.
    """
    if password_stdin:
        password = sys.stdin.readline().rstrip("\n")
    else:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    access = _open(config)
    access.add_person(name, password, role, sites or None)
    access.close()
    _record(config, f"person {name}: {role}")
    echo(f"{name} may log in as {role}", err=True)


@user.command("list")
@click.argument("config", type=_FILE)
def list_users(config: Path) -> None:
    """List people and their roles."""
    access = _open(config)
    for person in access.people():
        echo(f"{person.name:<30} {person.role:<10} {', '.join(person.sites or ['all sites'])}")
    access.close()


@user.command("remove")
@click.argument("config", type=_FILE)
@click.argument("name")
def remove_user(config: Path, name: str) -> None:
    """Remove a person."""
    access = _open(config)
    access.remove_person(name)
    access.close()
    _record(config, f"person {name} removed")
    echo(f"{name} may no longer log in", err=True)


@click.group()
def token() -> None:
    """Tokens of machines that use the API."""


@token.command("create")
@click.argument("config", type=_FILE)
@click.argument("name")
@click.option("--role", type=_ROLE, default="viewer", show_default=True, help="What it may do.")
@click.option("--site", "sites", multiple=True, help="May see this site only; may be repeated.")
@click.option("--days", type=click.IntRange(1, 366), default=90, show_default=True, help="How long it is valid.")
@click.option("--json", "as_json", is_flag=True, help="Write id and secret as JSON.")
def create_token(config: Path, name: str, role: str, sites: tuple[str, ...], days: int, as_json: bool) -> None:
    """Make a token and print its secret.

    The secret is not stored. Send it as `Authorization: Bearer SECRET`.
    """
    access = _open(config)
    made, secret = access.add_token(name, role, sites or None, days)
    access.close()
    _record(config, f"token {made.id} {name}: {role}")
    if as_json:
        echo_json({"id": made.id, "name": name, "role": role, "secret": secret})
    else:
        echo(secret)
        echo(f"token {made.id} of {name}: {role} for {days} days", err=True)


@token.command("list")
@click.argument("config", type=_FILE)
def list_tokens(config: Path) -> None:
    """List tokens without their secrets."""
    from graphghha._util.times import iso

    access = _open(config)
    for each in access.tokens():
        echo(f"{each.id}  {each.name:<30} {each.role:<10} until {iso(each.expires_ms)}")
    access.close()


@token.command("revoke")
@click.argument("config", type=_FILE)
@click.argument("token_id")
def revoke_token(config: Path, token_id: str) -> None:
    """Revoke a token by its id."""
    access = _open(config)
    access.remove_token(token_id)
    access.close()
    _record(config, f"token {token_id} revoked")
    echo(f"token {token_id} is revoked", err=True)


def _open(config: Path) -> "AccessStore":
    from graphghha.settings import read_settings
    from graphghha.web.access_store import AccessStore
    from graphghha.web.config import ACCESS_FILE

    return AccessStore(read_settings(config).monitor.state_dir / ACCESS_FILE)


def _record(config: Path, what: str) -> None:
    """Leave a note for the journal, if there is one: its monitor writes it now, or when it starts."""
    import getpass
    import time

    from graphghha._util.times import iso
    from graphghha.settings import read_settings
    from graphghha.web.library import Library

    monitor = read_settings(config).monitor
    journal = monitor.state_dir / monitor.journal
    try:
        person = getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in containers
        person = "somebody"
    if journal.is_file():
        by = {"by": f"{person} (command line)", "wall_time": iso(time.time_ns() // 1_000_000)}
        Library(journal).note("access.changed", {"what": what[:300], **by})
