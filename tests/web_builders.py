"""A watched building with its web application, and a client that needs no socket."""

import asyncio
import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphghha.monitor import Journal, Monitor
from graphghha.web.access_store import AccessStore
from graphghha.web.app import make_app
from graphghha.web.config import WebConfig
from monitor_builders import CONFIG, detector, telemetry, wide

HOST = "localhost"
ROLES = ("viewer", "operator", "engineer", "admin")
# the role that each route needs; a route that is missing here fails the test
NEEDED = {
    ("GET", "/session"): "viewer",
    ("POST", "/session"): None,
    ("DELETE", "/session"): "viewer",
    ("GET", "/people"): "admin",
    ("POST", "/people"): "admin",
    ("DELETE", "/people/{name}"): "admin",
    ("GET", "/tokens"): "admin",
    ("POST", "/tokens"): "admin",
    ("DELETE", "/tokens/{token}"): "admin",
    ("GET", "/sites"): "viewer",
    ("GET", "/sites/{site}"): "viewer",
    ("GET", "/sites/{site}/state"): "viewer",
    ("GET", "/sites/{site}/zones/{zone}"): "viewer",
    ("GET", "/sites/{site}/history"): "viewer",
    ("GET", "/sites/{site}/scores"): "viewer",
    ("GET", "/sites/{site}/points"): "viewer",
    ("GET", "/sites/{site}/kpis"): "viewer",
    ("GET", "/sites/{site}/model"): "viewer",
    ("POST", "/sites/{site}/stops"): "engineer",
    ("DELETE", "/sites/{site}/stops/{version}"): "engineer",
    ("GET", "/sites/{site}/cases"): "viewer",
    ("GET", "/sites/{site}/injections"): "viewer",
    ("POST", "/sites/{site}/injections"): "engineer",
    ("DELETE", "/sites/{site}/injections/{injection}"): "engineer",
    ("POST", "/sites/{site}/runs"): "engineer",
    ("POST", "/sites/{site}/found"): "operator",
    ("GET", "/incidents"): "viewer",
    ("GET", "/incidents/export"): "viewer",
    ("GET", "/incidents/{incident}"): "viewer",
    ("POST", "/commands"): "operator",
    ("GET", "/events"): "viewer",
    ("GET", "/audit"): "engineer",
    ("GET", "/health"): "viewer",
    ("GET", "/stream"): "viewer",
}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


@dataclass
class Building:
    """A monitor that answers commands in a thread, and the application on its journal."""

    folder: Path
    rows: int = 100
    secrets: dict[str, str] = field(default_factory=dict)

    def __enter__(self):
        self.journal = Journal(self.folder / "journal.sqlite")
        self.monitor = Monitor(self.journal)
        self.monitor.add("office", detector(), CONFIG, simulation={"speed": 60.0, "seed": 7})
        times, values = telemetry(self.rows)
        for at in range(0, self.rows, 5):
            self.monitor.step(wide(times[at : at + 5], values[at : at + 5]))
        self.config = WebConfig(
            journal=self.journal.path,
            access=self.folder / "access.sqlite",
            hosts=("testserver",),
            requests_per_s=1e6,
            static=self.folder / "static",
            time_zones={"office": "America/Chicago"},
        )
        access = AccessStore(self.config.access)
        self.secrets = {role: access.add_token(role, role, None, 1)[1] for role in ROLES}
        self.secrets["elsewhere"] = access.add_token("elsewhere", "admin", ["other"], 1)[1]
        access.close()
        self.app = make_app(self.config)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._answer_commands)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.pause()
        self.journal.close()

    def pause(self):
        """End the thread that carries out commands."""
        self._stop.set()
        self._thread.join()

    def _answer_commands(self):
        while not self._stop.wait(0.01):
            self.monitor.answer_commands()

    def call(self, method, path, body=None, *, role=None, headers=None, client="127.0.0.1") -> Answer:
        """Send a request through the whole application."""
        given = {"host": HOST, **(headers or {})}
        if role is not None:
            given["authorization"] = f"Bearer {self.secrets[role]}"
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        if body is not None:
            given |= {"content-type": "application/json", "content-length": str(len(data))}
        return asyncio.run(send(self.app, method, path, given, data, client))

    def get(self, path, role="viewer", **more) -> Any:
        answer = self.call("GET", f"/api/v1{path}", role=role, **more)
        assert answer.status == 200, (path, answer)
        return answer.json


async def send(app, method, path, headers, data, client) -> Answer:
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": (client, 1234),
        "server": ("localhost", 80),
    }
    waiting = [{"type": "http.request", "body": data, "more_body": False}]
    status, seen, body = 0, {}, b""

    async def receive():
        return waiting.pop() if waiting else await asyncio.Event().wait()

    async def take(message):
        nonlocal status, seen, body
        if message["type"] == "http.response.start":
            status = message["status"]
            seen = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        elif message["type"] == "http.response.body":
            body += message.get("body", b"")

    await app(scope, receive, take)
    return Answer(status, seen, body)
