"""`graphghha serve` as users start it: two processes, and nothing that happens to the page changes the scoring."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.monitor import Reader

pytestmark = pytest.mark.slow
SETTINGS = """
[monitor]
state_dir = "state"
[[site]]
name = "demo"
source = "sim:fcu?zones=1&seed=7&speed=600&days=2&start=2018-07-10T06:00"
warm_up_rows = 5
lateness_s = 0
learn_days = 0
[web]
port = 0
"""


def wait_for(condition, most_s=90.0):
    end = time.monotonic() + most_s
    while time.monotonic() < end:
        try:
            if (value := condition()) is not None and value is not False:
                return value
        except (OSError, urllib.error.URLError):
            pass
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


@pytest.fixture
def served(tmp_path):
    config = tmp_path / "site.toml"
    config.write_text(SETTINGS)
    command = [sys.executable, "-m", "graphghha", "serve", str(config), "--json"]
    with (tmp_path / "errors.txt").open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            address = json.loads(process.stdout.readline())["address"]
            yield process, address, tmp_path / "state" / "journal.sqlite", config
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
            process.stdout.close()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def enter(address):
    """Open the printed address and return the cookie."""
    try:
        urllib.request.build_opener(NoRedirect).open(address, timeout=30)
    except urllib.error.HTTPError as answer:
        if answer.code == 303:
            return answer.headers["set-cookie"].partition(";")[0]
    return None


def children(pid):
    """Return the children of all threads of a process."""
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in files for child in file.read_text().split()]


def web_process(pid):
    """Return the child that listens: the one started for the web, not the helper that tracks resources."""
    named = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children(pid)}
    return next((child for child, text in named.items() if b"spawn_main" in text), None)


def rows(journal):
    with Reader(journal) as reader:
        return int(reader.summary("demo").get("steps", 0))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_a_killed_web_process_and_a_stuck_client_change_nothing(served):
    process, address, journal, _ = served
    base = address.partition("?")[0]
    cookie = wait_for(lambda: enter(address))
    request = urllib.request.Request(f"{base}api/v1/sites", headers={"Cookie": cookie})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert [site["name"] for site in json.load(answer)["items"]] == ["demo"]
    host, port = base.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port))) as stuck:  # asks for the stream and never reads it
        stuck.sendall(f"GET /api/v1/stream HTTP/1.1\r\nHost: {host}:{port}\r\nCookie: {cookie}\r\n\r\n".encode())
        before = rows(journal)
        wait_for(lambda: rows(journal) > before + 20)
        web = wait_for(lambda: web_process(process.pid))
        os.kill(web, signal.SIGKILL)
        at = rows(journal)
        wait_for(lambda: rows(journal) > at + 20)
    wait_for(lambda: web_process(process.pid) not in (None, web))
    wait_for(lambda: urllib.request.urlopen(request, timeout=30).status == 200)
    with Reader(journal) as reader:
        assert not [event for event in reader.events_after(0, 1000) if event.kind in ("site.failed", "source.lost")]


def test_people_and_tokens_are_managed_on_the_command_line(tmp_path):
    config = tmp_path / "site.toml"
    config.write_text(SETTINGS)
    runner = CliRunner()

    def call(*arguments, **more):
        return runner.invoke(main, [*arguments[:2], str(config), *arguments[2:]], **more)

    added = call("user", "add", "ortiz", "--role", "operator", "--password-stdin", input="correct horse battery\n")
    assert added.exit_code == 0
    assert "ortiz" in call("user", "list").output and "operator" in call("user", "list").output
    assert call("user", "add", "x", "--password-stdin", input="short\n").exit_code == 2
    made = json.loads(call("token", "create", "siem", "--days", "7", "--json").output)
    listed = call("token", "list").output
    assert made["id"] in listed and made["secret"] not in listed
    assert call("token", "revoke", made["id"]).exit_code == 0 and call("token", "list").output == ""
    assert call("user", "remove", "ortiz").exit_code == 0 and call("user", "remove", "ortiz").exit_code == 7


def test_an_address_that_others_reach_needs_tls_or_a_proxy_and_people(tmp_path):
    config = tmp_path / "site.toml"
    config.write_text(SETTINGS + 'bind = "0.0.0.0"\n')
    refused = CliRunner().invoke(main, ["serve", str(config)])
    assert refused.exit_code == 2 and "behind_proxy" in refused.output
