"""A real browser on the real thing: `graphghha serve` on a simulated building, started as users start it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src/graphghha/web/static/index.html"
MODEL = ROOT / "src/graphghha/models/default/fcu"  # names a node, and judges from the first full window on
SETTINGS = f"""
[monitor]
state_dir = "state"

[[site]]
name = "demo"
source = "sim:fcu?zones=2&speed=300&start=2018-07-02T04:00&seed=7"
model = "{MODEL}"
time_zone = "America/Chicago"
"""


def need(is_there: object, what: str) -> None:
    """Skip without something that the test needs; in CI no test may skip."""
    if is_there:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{what}: in CI no test may skip")
    pytest.skip(what)


@pytest.fixture(scope="module")
def browser():
    """A browser that ends with the module: its event loop would be in the way of tests that start their own."""
    chromium = shutil.which("chromium")
    need(chromium, "chromium is missing (Debian: apt-get install chromium)")
    need(STATIC.is_file(), "the page is not built (run scripts/page)")
    api = (
        pytest.importorskip("playwright.sync_api")
        if not os.environ.get("CI")
        else __import__("playwright.sync_api").sync_api
    )
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


class Served:
    """A running `graphghha serve` and the addresses under which it is reached."""

    def __init__(self, folder: Path) -> None:
        self.settings = folder / "demo.toml"
        self.settings.write_text(SETTINGS)
        self.log = (folder / "log").open("w")
        command = [sys.executable, "-m", "graphghha", "serve", str(self.settings), "--port", "0", "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        assert self.process.stdout is not None
        self.entrance = str(json.loads(self.process.stdout.readline())["address"])
        self.address = self.entrance.split("/?")[0]

    def add_person(self, name: str, role: str, password: str) -> None:
        command = [
            sys.executable,
            "-m",
            "graphghha",
            "user",
            "add",
            str(self.settings),
            name,
            "--role",
            role,
            "--password-stdin",
        ]
        subprocess.run(command, input=f"{password}\n", text=True, check=True, capture_output=True)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(180)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.log.close()


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("served"))
    yield made
    made.close()


class Window:
    """A browser window that notes console errors and refuses every foreign host."""

    def __init__(
        self, browser, address: str, state: dict | None = None, theme: str = "light", size=(1440, 900)
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=theme,
            storage_state=state,
            reduced_motion="reduce",
        )
        self.address, self.problems, self.foreign, self.answers = address, [], [], []
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        self.page.on(
            "response", lambda answer: answer.status >= 400 and self.answers.append((answer.status, answer.url))
        )
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.context.route("**/*", self._pass)

    def _pass(self, route) -> None:
        if route.request.url.startswith((self.address, "blob:", "data:")):
            route.continue_()
        else:
            self.foreign.append(route.request.url)
            route.abort()

    def open(self, screen: str) -> None:
        self.page.goto(f"{self.address}/#/demo/{screen}")

    def close(self, *, expected: str = "\0") -> None:
        self.context.close()
        assert [text for text in self.problems if expected not in text] == [], self.answers
        assert self.foreign == []


@pytest.fixture(scope="module")
def entered(served, browser) -> dict:
    """The cookies of somebody who opened the printed address."""
    window = Window(browser, served.address)
    window.page.goto(served.entrance)
    window.page.get_by_role("link", name="All alarms").wait_for()
    state = window.context.storage_state()
    window.close()
    return state
