"""The demonstration with the page: the simulated building is served like a real site."""

import os
import sys
import webbrowser
from contextlib import ExitStack
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from graphghha.cli._demo_run import DemoRun
from graphghha.cli._output import echo
from graphghha.errors import ConfigError
from graphghha.web.config import STATIC, WebConfig

NEEDED = ("fastapi", "uvicorn", "argon2")


def why_no_page(static: Path = STATIC) -> str | None:
    """Return what keeps this installation from showing the page, and what to do; None if it can."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        return f"the page needs {', '.join(missing)}; run: pip install 'graphghha[serve]'"
    if not (static / "index.html").is_file():
        return "the page is not built; in a clone run scripts/page, which brings Node.js along if it is missing"
    return None


def show_page(*, seed: int | None, speed: float, port: int | None, state: Path | None, is_browser_wanted: bool) -> None:
    """Serve the showcase day until Ctrl-C; begin it anew when the studio asks for it."""
    from graphghha.cli.watch import handle_signals
    from graphghha.monitor.service import set_up_logs
    from graphghha.showcase import showcase_settings
    from graphghha.web.server import first_address
    from graphghha.wiring import web_config

    set_up_logs("warning", "auto")
    with ExitStack() as resources:
        folder = state or Path(resources.enter_context(TemporaryDirectory(prefix="graphghha-demo-")))
        run = DemoRun(folder.resolve(), speed=speed)
        building = run.seed_of(seed)
        signals = resources.enter_context(handle_signals())
        web, sock = _listen(web_config(showcase_settings(run.folder)), port)
        resources.callback(sock.close)
        echo(f"The page is at {first_address(web, sock)}", err=True)
        echo(
            f"A simulated building at {speed:g} times real time, attacked six times; its studio takes further attacks. "
            "Zones are judged by each other until the site has learned what is normal there (14 days of its time). "
            "Ctrl-C ends it.",
            err=True,
        )
        if is_browser_wanted:
            _open_browser(first_address(web, sock, is_further=True))
        web = replace(web, can_start_over=True)
        while (wanted := run.watch(building, web, sock, signals)) is not None:
            building = wanted
            run.put_away()
            echo(f"The building starts over, with seed {building}.", err=True)


def _listen(web: WebConfig, port: int | None) -> tuple[WebConfig, socket]:
    """Listen on the wanted port, or on any free one if nobody chose it and the usual one is taken."""
    from graphghha.web.server import listen

    if port is not None:
        web = replace(web, port=port)
    try:
        return web, listen(web)
    except ConfigError:
        if port is not None:
            raise
    echo(f"Port {web.port} is taken, so the page gets another one; choose one with --port", err=True)
    web = replace(web, port=0)
    return web, listen(web)


def _open_browser(address: str) -> None:
    """Open the page in a browser with a window; say what to do where there is none."""
    if _has_screen() and webbrowser.open(address):
        return
    port = urlsplit(address).port
    where = "here" if "SSH_CONNECTION" not in os.environ else "over ssh"
    echo(
        f"No browser can be opened {where}. Open the address in a browser of this machine, or forward its port "
        f"(ssh -L {port}:127.0.0.1:{port} HOST); --terminal shows the building in the terminal instead.",
        err=True,
    )


def _has_screen() -> bool:
    """Return whether a window can be opened; a text browser would take the terminal away."""
    if "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
