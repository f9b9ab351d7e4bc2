"""One attack from the studio to its disposition in the demo, over a restart; and a source that falls silent."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from browser.conftest import Window
from graphghha.plants import load_plant

pytestmark = pytest.mark.slow
FOUND_MS = 240_000
COMMENT = "tech on the way <b>now</b>"


class Demo:
    """`graphghha demo` on a state folder that outlives it."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        command = [sys.executable, "-m", "graphghha", "demo", "--no-browser", "--port", str(port), "--speed", "60"]
        self.process = subprocess.Popen(
            [*command, "--state", str(folder / "state")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.entrance = re.search(r"http\S+", self.process.stderr.readline()).group(0)
        self.address = self.entrance.split("/?")[0]
        self.port = int(self.address.rpartition(":")[2])
        self._streams = (self.process.stdout, self.process.stderr)
        self._readers = [threading.Thread(target=stream.read, daemon=True) for stream in self._streams]
        for reader in self._readers:  # a full pipe would stop it
            reader.start()

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(180)
        for reader, stream in zip(self._readers, self._streams, strict=True):
            reader.join()
            stream.close()


def test_an_attack_lives_from_the_studio_to_its_disposition_and_over_a_restart(browser, tmp_path):
    demo = Demo(tmp_path)
    try:
        window = Window(browser, demo.address)
        page = window.page
        page.goto(demo.entrance)
        page.locator(".alarm-bar a.said", has_text="Zone 7 · cooling valve").wait_for(
            timeout=FOUND_MS
        )  # of the schedule
        window.open("studio")
        page.get_by_role("button", name="Damper").click()
        page.get_by_role("button", name="80 %", exact=True).click()
        page.get_by_role("button", name="Zone 2", exact=True).click()
        page.get_by_role("button", name="6 h", exact=True).click()
        page.get_by_role("button", name="Inject into Zone 2").click()
        page.get_by_text("Injected into Zone 2").wait_for()
        watched = page.get_by_role("region", name="The attack that is watched")
        watched.get_by_role("heading", name=re.compile("Zone 2: found after .* right node first")).wait_for(
            timeout=FOUND_MS
        )
        watched.get_by_role("link", name="its incident").click()
        page.get_by_role("heading", level=1).filter(has_text="Zone 2: outdoor-air damper").wait_for()
        causes = page.get_by_role("region", name="What it may be")
        causes.get_by_text("fits best").wait_for()
        causes.get_by_text("cannot be excluded").wait_for()
        address = page.url.partition("#")[2]

        _act(page, "a", "Comment", COMMENT, "Acknowledge", "^Acknowledged: Zone 2")
        _act(page, "s", "Reason", "known work", "Shelve until", "^Shelved: Zone 2")
        page.get_by_role("button", name="More actions").first.click()
        page.get_by_role("button", name="Bring back...").click()
        page.get_by_role("button", name="Bring back", exact=True).click()
        page.get_by_text(re.compile("^Brought back: Zone 2")).wait_for()
        _act(page, "d", "Comment", "it was a drill", "Save", "^Judged: Zone 2", choice="Attack")
        page.get_by_text("it was:").wait_for()

        demo.close()
        page.get_by_text(re.compile("What you see is")).wait_for()
        demo = Demo(tmp_path, demo.port)
        window.close(expected="")  # requests failed while nobody answered
        window = Window(browser, demo.address)
        page = window.page
        page.goto(demo.entrance)
        page.get_by_role("link", name="All alarms").wait_for()
        page.goto(f"{demo.address}/#{address}")
        page.get_by_role("region", name="Story").get_by_text(COMMENT).wait_for()
        page.get_by_text("it was:").wait_for()
        window.open("studio")
        score = page.get_by_role("region", name="Score card of this run")
        score.get_by_role("cell", name="Zone 2", exact=True).wait_for()
        assert score.get_by_role("row").count() == 8  # the head, six of the schedule, ours
        window.close()
    finally:
        demo.close()


def test_a_run_is_exported_and_another_building_takes_its_place(browser, tmp_path):
    demo = Demo(tmp_path)
    try:
        window = Window(browser, demo.address)
        page = window.page
        page.goto(demo.entrance)
        page.get_by_role("link", name="All alarms").wait_for()
        window.open("studio")
        card = page.get_by_role("region", name="Score card of this run")
        card.get_by_text("seed 7", exact=False).wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Export run").click()
        run = json.loads(download.value.path().read_text())
        assert re.fullmatch(r"demo_run_seed-7_2018-07-\d\d\.json", download.value.suggested_filename)
        assert (run["seed"], len(run["injections"]), run["score"]["attacks"]) == (7, 6, 0)
        assert run["incidents_in_all"] == len(run["incidents"])

        page.get_by_role("button", name="New building...").click()
        seed = page.get_by_label("Seed")
        seed.fill("twelve")
        page.get_by_role("button", name="Begin with it").click()
        page.get_by_text("The seed is a whole number").wait_for()
        seed.fill("12")
        page.get_by_role("button", name="Begin with it").click()
        card.get_by_text("seed 12", exact=False).wait_for(timeout=FOUND_MS)  # the same session, another journal
        assert (tmp_path / "state/runs/1/journal.sqlite").is_file()
        window.open("alarms")
        journal = page.get_by_role("region", name="Journal")
        journal.get_by_text("Scoring began.").wait_for()
        assert "seed 12" not in journal.inner_text()  # the wish for it is in the journal of the run before
        window.close(expected="")  # requests failed while the building was exchanged
    finally:
        demo.close()


def _act(page, key, field, words, button, done, choice=None) -> None:
    """Carry out a command by keyboard; the plant is fast, so an incident may change meanwhile: then look again."""
    toast, refused = (
        page.get_by_text(re.compile(done)),
        page.get_by_role("heading", name="It has changed while you looked"),
    )
    for _ in range(5):
        page.keyboard.press(key)
        if choice:
            page.get_by_role("radio", name=choice).check()
        page.get_by_label(field).fill(words)
        page.get_by_role("dialog").get_by_role("button", name=re.compile(f"^{button}")).click()
        toast.or_(refused).first.wait_for()
        if toast.is_visible():
            return
        page.get_by_role("button", name="Look again").click()
    raise AssertionError(f"{key}: the incident changed every time")


SILENT = """
[monitor]
state_dir = "state"
[[site]]
name = "demo"
source = "-"
zones = 1
warm_up_rows = 2
lateness_s = 0
stale_after_s = 60
lost_after_s = 60
learn_days = 0
"""


def test_a_silent_source_is_shown_and_nothing_looks_normal(browser, tmp_path):
    config = tmp_path / "silent.toml"
    config.write_text(SILENT)
    command = [sys.executable, "-m", "graphghha", "serve", str(config), "--port", "0", "--json"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            entrance = json.loads(process.stdout.readline())["address"]
            signals = load_plant("fcu").signals
            values = {signal.name: (signal.low + signal.high) / 2 for signal in signals}
            for second in (180, 120, 60, 0):
                moment = datetime.fromtimestamp(time.time() - second, UTC).isoformat(timespec="seconds")
                process.stdin.write(json.dumps({"device": "zone-01", "time": moment, "values": values}) + "\n")
            process.stdin.flush()
            window = Window(browser, entrance.split("/?")[0])
            page = window.page
            page.goto(entrance)
            page.get_by_role("heading", name="Nobody is watching: the source is silent").wait_for(timeout=FOUND_MS)
            page.get_by_text("Alarms that stood keep standing.").wait_for()
            page.get_by_text("32 unknown").first.wait_for()
            assert page.locator(".tile").count() == 1
            assert "normal" not in page.locator(".tile").inner_text()
            back = page.get_by_role("heading", name="Data is back.")
            for _ in range(60):  # it is back with the second whole minute
                moment = datetime.now(UTC).isoformat(timespec="seconds")
                process.stdin.write(json.dumps({"device": "zone-01", "time": moment, "values": values}) + "\n")
                process.stdin.flush()
                page.wait_for_timeout(4_000)
                if back.is_visible():
                    break
            back.wait_for()
            page.get_by_text(re.compile(r"Unknown for \d+ more minutes?\.")).wait_for()
            window.close()
        finally:
            process.stdin.close()
            process.send_signal(signal.SIGTERM)
            process.wait(120)
            process.stdout.close()
