"""`graphghha serve`: the monitor with the page and the HTTP API, in two processes."""

from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING

import click

from graphghha.cli._output import echo, echo_json

if TYPE_CHECKING:
    from graphghha.cli.watch import Signals
    from graphghha.monitor.service import Service
    from graphghha.web.config import WebConfig

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("config", type=_FILE)
@click.option("--port", type=click.IntRange(0, 65535), help="Listen here instead of web.port; 0 takes any free one.")
@click.option("--force", is_flag=True, help="Start although readings of a file do not fit the points they map to.")
@click.option("--json", "as_json", is_flag=True, help="Write the address as a JSON line.")
def serve(config: Path, port: int | None, force: bool, as_json: bool) -> None:
    """Monitor plants, with page and HTTP API.

    The sites are those of the settings file CONFIG. The page runs in a process of its own, which sees only the journal:
    whatever happens to it, scoring goes on. While nobody has an account (`graphghha user add`), the address that is
    printed holds a token that works once.
    """
    from dataclasses import replace

    from graphghha.cli.watch import handle_signals, refuse_implausible
    from graphghha.monitor.service import set_up_logs
    from graphghha.settings import read_settings
    from graphghha.web.server import first_address, listen
    from graphghha.wiring import open_monitor, web_config

    settings = read_settings(config)
    web = web_config(settings)
    if port is not None:
        web = replace(web, port=port)
    secrets = [path.read_text(encoding="utf-8").strip() for path in settings.secret_files()]
    set_up_logs(settings.log.level, settings.log.style, secrets=secrets)
    with handle_signals() as signals:
        if not force:
            refuse_implausible(settings)
        sock = listen(web)
        service = open_monitor(settings)
        where = first_address(web, sock)
        if as_json:
            echo_json({"address": where})
        else:
            echo(f"The page is at {where}", err=True)
        run_with_page(service, web, sock, signals)


def run_with_page(service: "Service", web: "WebConfig", sock: socket, signals: "Signals") -> None:
    """Run the monitor, and the page in a process beside it, until a signal ends both."""
    from graphghha.web.server import WebProcess

    process = WebProcess(web, sock)
    signals.attach(service)
    process.start()
    try:
        service.run()
    finally:
        process.stop()
    if signals.is_interrupted:  # everything is stored by now
        raise KeyboardInterrupt
