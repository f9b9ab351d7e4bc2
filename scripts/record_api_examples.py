"""Record the examples of the OpenAPI document from a real site: a simulated building with an attack that is found.

Run it as `python scripts/record_api_examples.py` after a change of the API's answers; it takes about two minutes.
"""

import json
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from graphghha.web.openapi import EXAMPLES

SETTINGS = """
[monitor]
state_dir = "state"
[[site]]
name = "demo"
source = "sim:fcu?zones=2&seed=7&speed=240&days=3&start=2018-07-10T06:00&live_from=2018-07-10T08:00"
warm_up_rows = 5
lateness_s = 0
learn_days = 0
[web]
port = 0
"""
MOST_ITEMS, MOST_NUMBERS, MOST_TEXT = 2, 6, 300
PASSWORD = "correct horse battery staple"


class Client:
    """Asks a server and keeps what it asked and was answered, by operation."""

    def __init__(self, address: str, secret: str) -> None:
        self.address, self.secret = address, secret
        self.kept: dict[str, dict[str, Any]] = {}

    def ask(self, operation: str, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.address}/api/v1{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            if operation == "stream":
                text = "".join(answer.readline().decode() for _ in range(3))
            else:
                text = answer.read().decode()
            is_json = bool(text) and answer.headers["Content-Type"] == "application/json"
        found = json.loads(text) if is_json else "".join(text.splitlines(keepends=True)[:3])
        self.kept[operation] = ({} if body is None else {"request": body}) | (
            {"answer": shortened(found)} if text else {}
        )
        return found


def shortened(value: Any) -> Any:
    """Return a value with short lists and texts, since an example need not be whole."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    if isinstance(value, list):
        is_numbers = all(isinstance(each, int | float | None) for each in value)
        return [shortened(each) for each in value[: MOST_NUMBERS if is_numbers else MOST_ITEMS]]
    return value[:MOST_TEXT] if isinstance(value, str) and not value.startswith("event:") else value


def record(client: Client) -> None:
    """Ask for everything once."""
    ask, site = client.ask, "/sites/demo"
    wait(lambda: ask("list_sites", "GET", "/sites")["items"][0]["as_of"])
    case = {"case": "FCU_OADMPRStuck_80", "zone": "zone-01", "comment": "drill of the night shift"}
    attack = ask("inject", "POST", f"{site}/injections", case)
    wait(lambda: ask("list_incidents", "GET", "/incidents?zone=zone-01&limit=2")["items"])
    incident = ask("list_incidents", "GET", "/incidents?limit=2")["items"][0]
    target = {"id": incident["id"], "version": incident["version"]}
    ask("command", "POST", "/commands", {"verb": "ack", "targets": [target], "comment": "on my way"})
    ask("read_incident", "GET", f"/incidents/{incident['id']}")
    for operation, path in (
        ("read_site", ""),
        ("read_state", "/state"),
        ("read_zone", "/zones/zone-01"),
        ("read_history", "/history?point=zone-01/FCU_DMPR&width=6&band=true"),
        ("read_scores", "/scores?zone=zone-01&width=6"),
        ("read_points", "/points"),
        ("read_kpis", "/kpis"),
        ("read_model", "/model"),
        ("read_cases", "/cases"),
        ("read_injections", "/injections"),
    ):
        ask(operation, "GET", site + path)
    stop = ask("begin_stop", "POST", f"{site}/stops", {"minutes": 60, "reason": "yearly service", "zones": ["zone-02"]})
    ask("end_stop", "DELETE", f"{site}/stops/{stop['version']}")
    ask("end_injection", "DELETE", f"{site}/injections/{attack['id']}")
    found = {"zone": "zone-02", "node": "FCU_HVLV", "disposition": "fault", "text": "leaking valve"}
    ask("record_find", "POST", f"{site}/found", found)
    ask("add_person", "POST", "/people", {"name": "m.ortiz", "password": PASSWORD, "role": "operator"})
    ask("log_in", "POST", "/session", {"name": "m.ortiz", "password": PASSWORD})
    ask("list_people", "GET", "/people")
    ask("remove_person", "DELETE", "/people/m.ortiz")
    made = ask("make_token", "POST", "/tokens", {"name": "siem", "role": "viewer", "sites": ["demo"], "days": 90})
    client.kept["make_token"]["answer"]["secret"] = "gghha_..."
    ask("list_tokens", "GET", "/tokens")
    ask("remove_token", "DELETE", f"/tokens/{made['id']}")
    ask("read_session", "GET", "/session")
    ask("list_events", "GET", "/events?kind=incident.*&limit=2")
    ask("audit", "GET", "/audit?limit=2")
    ask("health", "GET", "/health")
    ask("export_incidents", "GET", "/incidents/export?format=csv")
    ask("stream", "GET", "/stream?site=demo")
    client.kept["log_out"] = {}  # it has neither a body nor an answer
    client.kept["start_over"] = {"request": {"seed": 8, "comment": "another building"}}  # of the demonstration only


def wait(is_there: Any) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end:
        try:
            if is_there():
                return
        except (urllib.error.URLError, IndexError):
            pass
        time.sleep(0.5)
    raise SystemExit("it did not happen in time")


def main() -> None:
    """Record and write."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "site.toml"
        config.write_text(SETTINGS, encoding="utf-8")
        command = [sys.executable, "-m", "graphghha"]
        token = [*command, "token", "create", str(config), "siem", "--role", "admin", "--json"]
        secret = json.loads(subprocess.check_output(token))["secret"]
        process = subprocess.Popen([*command, "serve", str(config), "--json"], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            client = Client(json.loads(process.stdout.readline())["address"].partition("/?")[0], secret)
            record(client)
        finally:
            process.terminate()
            process.wait(60)
    text = json.dumps(dict(sorted(client.kept.items())), indent=1, ensure_ascii=False)
    EXAMPLES.write_text(text.replace(folder, "/var/lib/graphghha") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
