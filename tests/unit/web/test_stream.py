"""The live stream over a real socket: greeting, resume, gaps, states, and clients that do not read."""

import asyncio
import json
import socket
import threading
import time
import urllib.request
from contextlib import contextmanager

import pytest
import uvicorn

from graphghha.alarms import Event
from graphghha.web.access_store import Identity
from graphghha.web.stream import MOST_WAITING, Broadcaster, Client, Frame
from web_builders import Building

pytestmark = pytest.mark.slow


@contextmanager
def served(app):
    """Run the application on a free port of this machine and yield the port."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: server.run(sockets=[sock]))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield sock.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        sock.close()


def frames(building, port, query="", last=None, *, until, most_s=20.0):
    """Read frames of the stream until one satisfies `until`; return them as (event, id, data)."""
    headers = {"Authorization": f"Bearer {building.secrets['viewer']}"}
    if last is not None:
        headers["Last-Event-ID"] = str(last)
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1/stream{query}", headers=headers)
    found, current = [], {}
    end = time.monotonic() + most_s
    with urllib.request.urlopen(request, timeout=most_s) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for raw in answer:
            assert time.monotonic() < end, found
            line = raw.decode().rstrip("\n")
            if line:
                name, _, value = line.partition(": ")
                current[name] = value
                continue
            if "event" in current:
                found.append((current["event"], current.get("id"), json.loads(current["data"])))
                if until(found):
                    return found
            current = {}
    return found


def states(found):
    return [data for kind, _, data in found if kind == "state"]


def numbers(found):
    return [int(number) for kind, number, _ in found if kind == "journal"]


def test_a_stream_greets_resumes_and_goes_on(own_building):
    building = own_building
    with served(building.app) as port:
        last = building.journal.reader.last_event_number()
        found = frames(building, port, last=last - 3, until=lambda found: states(found))
        assert found[0][0] == "hello" and found[0][2]["last"] == last
        assert numbers(found) == [last - 2, last - 1, last]
        assert states(found)[0]["site"] == "office" and states(found)[0]["as_of"]

        def write():
            time.sleep(1.0)
            building.monitor.record("office", Event(0, "note.later", {}))
            building.monitor.commit()

        threading.Thread(target=write).start()
        found = frames(building, port, until=lambda found: numbers(found))
        assert numbers(found)[0] > last, "without a number it begins now"


def test_a_gap_is_told(own_building):
    building = own_building
    last = building.journal.reader.last_event_number()
    building.pause()
    building.journal._transact(lambda connection: connection.execute("DELETE FROM events WHERE number <= 5"))
    with served(building.app) as port:
        found = frames(building, port, last=2, until=lambda found: last in numbers(found))
        assert ("gap", None, {"from": 3, "to": 5}) in found and numbers(found) == list(range(6, last + 1))
        found = frames(building, port, last=last + 1000, until=lambda found: states(found))
        assert [kind for kind, *_ in found[:2]] == ["hello", "gap"], "the journal was replaced by another"


def test_a_site_that_may_not_be_seen_is_not_in_the_stream(tmp_path):
    with Building(tmp_path) as building, served(building.app) as port:
        building.secrets["viewer"] = building.secrets["elsewhere"]
        found = frames(building, port, last=0, until=lambda found: True)
        assert [kind for kind, *_ in found] == ["hello"]
        answer = building.call("GET", "/api/v1/stream?site=office", role="elsewhere")
        assert answer.status == 404


def test_a_client_that_does_not_read_is_cut_off():
    async def run():
        client = Client(Identity(person="a", role="viewer", kind="token", id="1"), None)
        broadcaster = Broadcaster(None)
        broadcaster.clients.add(client)
        for number in range(MOST_WAITING):
            assert client.put(Frame(b"x", "office", number))
        assert not client.put(Frame(b"x", "office", MOST_WAITING))
        broadcaster._cut(client)
        assert client not in broadcaster.clients and await client.queue.get() is None

    asyncio.run(run())
