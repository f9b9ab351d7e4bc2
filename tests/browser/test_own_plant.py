"""A plant that nobody here has seen, without zones: described, trained, watched and looked at in the browser."""

import json
import os
import re
import subprocess
import sys

import pytest

from browser.conftest import ROOT, Window

pytestmark = pytest.mark.slow
TANK = ROOT / "docs/examples/tank.py"
SETTINGS = """
[monitor]
state_dir = "state"

[[site]]
name = "demo"
source = "csv:{file}"
model = "model"
"""
FOUND_BY = "2026-03-21T06:00"  # the tank's first attack is over by then


def run(folder, *arguments):
    command = (
        [sys.executable, *arguments]
        if arguments[0].endswith(".py")
        else [sys.executable, "-m", "graphghha", *arguments]
    )
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


@pytest.fixture(scope="module")
def tank(browser, tmp_path_factory):
    """Watch the tank until its attack is in the journal, then serve it while it goes on slowly; yield the address."""
    folder = tmp_path_factory.mktemp("tank")
    run(folder, str(TANK))
    run(folder, "plant", "new", "--data", "normal.csv", "--out", "plant.toml")
    run(folder, "train", "--plant", "plant.toml", "--data", "normal.csv", "--out", "model", "--alert-budget", "1/day")
    head, *rows = (folder / "later.csv").read_text().splitlines()
    parts = {"first": [row for row in rows if row < FOUND_BY], "rest": [row for row in rows if row >= FOUND_BY]}
    for name, own in parts.items():
        assert own, name
        (folder / f"{name}.csv").write_text("\n".join([head, *own]) + "\n")
    (folder / "first.toml").write_text(SETTINGS.format(file="first.csv"))
    (folder / "rest.toml").write_text(SETTINGS.format(file="rest.csv?speed=60"))
    run(folder, "watch", "first.toml")
    command = [sys.executable, "-m", "graphghha", "serve", "rest.toml", "--port", "0", "--json"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
        yield str(json.loads(process.stdout.readline())["address"])
        process.terminate()
        process.wait(120)
        process.stdout.close()


def test_a_plant_without_zones_has_every_screen(browser, tank):
    window = Window(browser, tank.split("/?")[0])
    page = window.page
    page.goto(tank)
    link = page.locator(".incident-list a", has_text="LIT101").first
    link.wait_for()
    link.click()
    page.get_by_role("heading", level=1).filter(has_text="LIT101").wait_for()
    graph = page.get_by_role("region", name="Around the root")
    graph.get_by_role("link", name=re.compile("^LIT101, sensor")).wait_for()
    page.get_by_role("img", name=re.compile("^P of LIT101")).wait_for()
    page.get_by_role("region", name="Signals before and after").get_by_text("now", exact=False).nth(1).wait_for()
    graph.get_by_role("link", name=re.compile("^MV101, actuator")).click()
    page.get_by_role("region", name="History of MV101").wait_for()
    nodes = page.get_by_role("region", name=re.compile("^5 nodes of"))
    assert re.search(r"LIT101\s+[A-G]?\s*LIT101\s+\d\.\d+ m", nodes.inner_text())
    page.get_by_role("link", name="Overview").first.click()
    page.locator(".tile").click()
    nodes.wait_for()
    for screen in ("alarms", "kpis", "model", "mapping"):
        window.open(screen)
        page.get_by_role("heading", level=1).first.wait_for(state="attached")
    assert page.locator(".failed-part").count() == 0
    assert window.answers == []  # nothing that was asked for is missing
    window.close()
