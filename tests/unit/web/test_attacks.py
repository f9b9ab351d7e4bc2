"""The web process attacked from outside: foreign pages, slow and stuck connections, guesses, files that vanish."""

import http.client
import json
import os
import select
import shutil
import socket
import sqlite3
import threading
import time
from contextlib import closing

import pytest
import uvicorn

from graphghha.errors import BusyError, ConflictError, JournalError
from graphghha.monitor.journal import submit_bodies, submit_body
from graphghha.monitor.journal.commands import EXPIRES_MS, parse_body
from graphghha.web import connections
from graphghha.web.access_store import AccessStore, Identity
from graphghha.web.connections import make_protocol
from graphghha.web.stream import MOST_EACH, Broadcaster, Client
from waiting import until
from web_builders import HOST, Building

API = "/api/v1"
EVIL = {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}


def audit(building):
    return [event["body"] for event in building.get("/audit", role="admin")["items"]]


@pytest.fixture
def port(own_building, request):
    """The application on a real socket, with short patience."""
    protocol = make_protocol(is_behind_proxy=False, head_s=getattr(request, "param", 0.5), stall_s=0.5)
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(own_building.app, http=protocol, log_level="error", lifespan="on"))
    thread = threading.Thread(target=lambda: server.run(sockets=[sock]))
    thread.start()
    until(lambda: server.started)
    yield sock.getsockname()[1]
    server.should_exit = True
    thread.join()
    sock.close()


def is_closed(connection, within_s=10.0):
    """Return whether the other side ends a connection."""
    connection.settimeout(within_s)
    try:
        while connection.recv(65_536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def test_what_a_foreign_page_tries_is_refused_and_recorded(own_building):
    building = own_building
    body = {"verb": "ack", "targets": [{"id": "x", "version": 0}]}
    basic = EVIL | {"authorization": "Basic eDp5"}  # a form that is sent to http://x:y@127.0.0.1
    for headers in (EVIL, basic, {"origin": "null"}, {"origin": "http://localhost.evil.example"}):
        assert building.call("POST", f"{API}/commands", body, headers=headers).status == 403
    rebound = {"host": "rebound.example:8420"}
    assert building.call("GET", f"{API}/sites", role="admin", headers=rebound).status == 403
    assert building.call("GET", f"{API}/sites", headers={"authorization": "Bearer guessed"}).status == 401
    until(lambda: len(audit(building)) >= 6)
    reasons = [each["reason"] for each in audit(building)]
    assert sum("another origin" in reason for reason in reasons) == 4
    assert any("rebound.example" in reason for reason in reasons) and any("expired" in reason for reason in reasons)


def test_refusals_beyond_a_number_are_counted(own_building):
    for _ in range(40):
        own_building.call("POST", f"{API}/people", {}, role="viewer")
    until(lambda: len(audit(own_building)) >= 20)
    time.sleep(1.1)  # one a second from then on
    own_building.call("POST", f"{API}/people", {}, role="viewer")
    until(lambda: any("more were not recorded" in each["reason"] for each in audit(own_building)))


def test_a_viewer_does_not_read_who_logged_in(own_building):
    own_building.call("GET", f"{API}/audit", role="viewer")
    until(lambda: audit(own_building))
    kinds = {event["kind"] for event in own_building.get("/events?limit=500")["items"]}
    assert kinds and "access.refused" not in kinds
    assert own_building.get("/events?kind=access.*")["items"] == []
    assert own_building.get("/events?kind=access.*", role="engineer")["items"]
    viewer = Client(Identity(person="v", role="viewer", kind="token", id="1"), None)
    engineer = Client(Identity(person="e", role="engineer", kind="token", id="2"), None)
    assert not viewer.wants("office", "access.login") and viewer.wants("office", "alarm.raised")
    assert engineer.wants("office", "access.login")


def test_the_last_admin_stays_an_admin(tmp_path):
    with closing(AccessStore(tmp_path / "access.sqlite")) as access:
        access.add_person("ana", "correct horse battery", "admin")
        with pytest.raises(ConflictError, match="last admin"):
            access.add_person("ana", "correct horse battery", "viewer")
        access.add_person("roy", "correct horse battery", "admin")
        assert access.add_person("ana", "correct horse battery", "viewer").role == "viewer"


def test_a_file_of_people_that_is_replaced_or_cannot_be_written(own_building):
    path = own_building.config.access
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(path, path.with_name("copy"))
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    assert own_building.call("GET", f"{API}/sites", role="viewer").status == 401, "it knows nobody any more"
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    os.replace(path.with_name("copy"), path)
    assert own_building.call("GET", f"{API}/sites", role="viewer").status == 200, "the copy was put back"
    path.with_name("copy").write_bytes(b"this is no database" * 1000)
    os.replace(path.with_name("copy"), path)
    answer = own_building.call("GET", f"{API}/sites", role="viewer")
    assert answer.status == 507 and answer.json["error"] == "JournalError"


def test_a_journal_that_vanishes_is_not_created_by_a_request(tmp_path):
    path = tmp_path / "journal.sqlite"
    with pytest.raises(JournalError):
        submit_body(path, "office", {"order": "note"})
    assert not path.exists()


def test_commands_for_many_targets_are_left_together(own_building):
    numbers = submit_bodies(own_building.config.journal, [("office", {"order": "note"})] * 200)
    assert numbers == list(range(numbers[0], numbers[0] + 200))


def test_a_note_is_never_too_late_and_a_command_is():
    long_ago = time.time_ns() // 1_000_000 - 10 * EXPIRES_MS
    assert parse_body(json.dumps({"order": "note", "kind": "access.refused"}), long_ago)["kind"] == "access.refused"
    with pytest.raises(ConflictError, match="nobody waits"):
        parse_body(json.dumps({"verb": "ack"}), long_ago)


def test_streams_of_one_person_are_limited():
    broadcaster = Broadcaster(None)
    greedy = Identity(person="v", role="viewer", kind="token", id="1")
    broadcaster.clients = {Client(greedy, None) for _ in range(MOST_EACH)}
    with pytest.raises(BusyError):
        broadcaster.refuse_more(greedy, 100)
    broadcaster.refuse_more(Identity(person="w", role="viewer", kind="token", id="2"), 100)


def test_a_live_stream_goes_on_in_a_journal_that_replaced_the_former(tmp_path):
    (tmp_path / "other").mkdir()
    with Building(tmp_path) as building, Building(tmp_path / "other", rows=30) as other:
        building.pause()
        other.pause()
        broadcaster = Broadcaster(building.app._app.state.context.library)
        broadcaster._last = building.journal.reader.last_event_number()
        last = other.journal.reader.last_event_number()
        assert last < broadcaster._last
        with closing(sqlite3.connect(other.config.journal)) as raw:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for suffix in ("-wal", "-shm"):
            building.config.journal.with_name(building.config.journal.name + suffix).unlink()
        shutil.copy(other.config.journal, tmp_path / "new")
        os.replace(tmp_path / "new", building.config.journal)
        frames = broadcaster._look()
        assert frames[0].is_gap and json.loads(frames[0].data.split(b"data: ")[1]) == {"from": 1, "to": last}


@pytest.mark.slow
def test_slow_and_stuck_connections_are_ended(own_building, port):
    """Somebody who sends a byte now and then, who sends nothing, and who never reads an answer."""
    with closing(socket.create_connection(("127.0.0.1", port))) as silent:
        assert is_closed(silent), "it asked for nothing"
    with closing(socket.create_connection(("127.0.0.1", port))) as slow:
        slow.sendall(b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n")
        assert is_closed(slow), "its head never ended"
    request = f"GET {API}/openapi.json HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as prompt:
        prompt.connect()
        for _ in range(3):
            prompt.request("GET", f"{API}/openapi.json", headers={"Host": HOST})
            answer = prompt.getresponse()
            assert answer.status == 200 and answer.read()
            assert prompt.sock is not None, "it goes on by the same connection"
            time.sleep(0.3)
    with closing(socket.socket()) as stuck:
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stuck.connect(("127.0.0.1", port))
        stuck.sendall(request * 200)  # more than the buffers of both sides hold
        time.sleep(3.0)
        assert is_closed(stuck), "it read nothing"


@pytest.mark.slow
@pytest.mark.parametrize("port", [20.0], indirect=True)
def test_one_address_opens_so_many_connections_at_most(own_building, port, monkeypatch):
    monkeypatch.setattr(connections, "MOST_EACH", 5)
    opened = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
    try:
        ended: set[socket.socket] = set()
        until(lambda: len(ended.update(select.select(opened, [], [], 0.05)[0]) or ended) >= 3)
        assert len(ended) == 3
    finally:
        for each in opened:
            each.close()


@pytest.mark.slow
def test_a_body_that_never_ends_is_not_waited_for(own_building, port, monkeypatch):
    monkeypatch.setattr("graphghha.web.guard.BODY_S", 0.5)
    head = f"POST {API}/session HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n"
    for length in ("Content-Length: 1000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"):
        with closing(socket.create_connection(("127.0.0.1", port))) as slow:
            slow.sendall((head + length).encode())
            slow.settimeout(10)
            assert slow.recv(100).startswith(b"HTTP/1.1 400")
    with closing(socket.create_connection(("127.0.0.1", port))) as endless:
        endless.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
        try:
            for _ in range(40):
                endless.sendall(chunk)
        except ConnectionError:
            return
        endless.settimeout(10)
        assert endless.recv(100).startswith(b"HTTP/1.1 400")
