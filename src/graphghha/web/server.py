"""The web process: uvicorn with the application, started beside the monitor and started again if it ends."""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from multiprocessing.process import BaseProcess

from graphghha.errors import ConfigError, EngineError
from graphghha.web.access_store import AccessStore
from graphghha.web.config import WebConfig

log = logging.getLogger(__name__)
FIRST_PAUSE_S, LONGEST_PAUSE_S, STEADY_S = 0.5, 30.0, 60.0
STOP_S = 5.0


def listen(config: WebConfig) -> socket.socket:
    """Return a socket that listens where the settings say; raise if the port is taken."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((config.host, config.port))
        sock.listen(128)
    except OSError as exc:
        sock.close()
        raise ConfigError(
            f"web.port {config.port} on {config.host} cannot be opened: {exc.strerror}; choose another with --port"
        ) from exc
    sock.set_inheritable(True)
    return sock


def address(config: WebConfig, sock: socket.socket) -> str:
    """Return the address of the page."""
    port = sock.getsockname()[1]
    host = f"[{config.host}]" if ":" in config.host else config.host
    return f"{'https' if config.is_tls else 'http'}://{host}:{port}/"


def first_address(config: WebConfig, sock: socket.socket, *, is_further: bool = False) -> str:
    """Return the address to print: with a one-time token while nobody has an account.

    `is_further` leaves addresses that were returned before as they are.

    An address that others can reach needs accounts.
    """
    access = AccessStore(config.access)
    try:
        if access.has_people():
            return address(config, sock)
        if not config.is_loopback:
            raise ConfigError(
                f"web.bind {config.host}: an address that others can reach needs people who log in; add one with "
                "`graphghha user add`"
            )
        return f"{address(config, sock)}?token={access.make_once(is_further=is_further)}"
    finally:
        access.close()


def serve(config: WebConfig, sock: socket.socket) -> None:
    """Answer requests until the process is stopped."""
    try:
        import uvicorn
    except ImportError as exc:
        raise EngineError("the web process needs uvicorn; run: pip install 'graphghha[serve]'") from exc
    from graphghha.web.app import make_app
    from graphghha.web.connections import make_protocol

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a key press reaches both processes; the monitor ends this one
    _end_with_parent()
    settings = uvicorn.Config(
        make_app(config),
        http=make_protocol(is_behind_proxy=config.behind_proxy),
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=config.behind_proxy,
        forwarded_allow_ips="127.0.0.1,::1" if config.behind_proxy else "",
        ssl_certfile=config.cert_file,
        ssl_keyfile=config.key_file,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        limit_concurrency=500,
        lifespan="on",
    )
    uvicorn.Server(settings).run(sockets=[sock])


class WebProcess:
    """Keeps a web process running beside the monitor, which never waits for it."""

    def __init__(self, config: WebConfig, sock: socket.socket) -> None:
        self._config, self._sock = config, sock
        self._stop = threading.Event()
        self._process: BaseProcess | None = None
        self._thread = threading.Thread(target=self._keep, name="web-process", daemon=True)
        self.starts = 0

    @property
    def pid(self) -> int | None:
        """Return the number of the process that runs now."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the process and wait for it."""
        self._stop.set()
        if self._process is not None and self._process.pid is not None:
            self._process.terminate()
            self._process.join(STOP_S)
            if self._process.is_alive():
                self._process.kill()
        self._sock.close()

    def _keep(self) -> None:
        pause_s = FIRST_PAUSE_S
        while not self._stop.is_set():
            began = time.monotonic()
            self.starts += 1
            context = multiprocessing.get_context("spawn")
            self._process = context.Process(target=serve, args=(self._config, self._sock), name="web", daemon=True)
            self._process.start()
            self._process.join()
            if self._stop.is_set():
                return
            pause_s = FIRST_PAUSE_S if time.monotonic() - began > STEADY_S else min(LONGEST_PAUSE_S, 2 * pause_s)
            log.error("the web process ended (%s); it starts again in %g s", self._process.exitcode, pause_s)
            self._stop.wait(pause_s)


def _end_with_parent() -> None:
    """End this process if the monitor was killed, so that its port is free again."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
