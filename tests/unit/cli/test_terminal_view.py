"""The view of sites fits its terminal, shows the newest first, and says what it does not know."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from graphghha.alarms import Command, Verb
from graphghha.cli._site_view import SiteView, Tile, read_view
from graphghha.cli._svg_picture import picture
from graphghha.cli._terminal_view import plain, render
from graphghha.monitor import Display, Journal, Monitor
from monitor_builders import CONFIG, detector, telemetry, wide

SIZES = [(80, 24), (160, 50), (40, 12)]
VIEW = SiteView(
    name="north",
    as_of="2018-07-10 09:20 CDT (14:20 UTC)",
    openness="1 open: 1 unacknowledged",
    figures="readings 1,000, late 0, stale 0",
    warnings=(),
    tiles=tuple(Tile(f"zone-{at:02}", "normal", "", "22.4 °C") for at in range(1, 13)),
    incidents=tuple(
        ("unacknowledged", f"incident number {at}, {'with much evidence ' * 12}") for at in range(9, 0, -1)
    ),
)


def with_zones(count):
    alarm = Tile("zone-x", "unacknowledged", "cooling valve", "22.4 °C  100%")
    return replace(VIEW, tiles=(*VIEW.tiles, *[VIEW.tiles[0]] * (count - 13), alarm))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("zones", [12, 48, 480])
def test_it_fits_the_terminal(size, zones):
    shown = plain([with_zones(zones) if zones > 12 else VIEW], *size).splitlines()
    assert len(shown) <= size[1] and max(map(len, shown)) <= size[0]


def test_the_newest_incident_is_at_the_top_and_the_oldest_is_cut():
    shown = plain([VIEW], 80, 24)
    assert "incident number 9" in shown and "incident number 1," not in shown
    assert shown.index("incident number 9") < shown.index("incident number 8")
    assert all(f"incident number {at}" in plain([VIEW], 160, 50) for at in range(1, 10))


def test_a_zone_in_alarm_is_listed_however_many_there_are():
    for size in SIZES[:2]:
        shown = plain([with_zones(480)], *size)
        assert "zone-x B cooling valve" in shown and "zones are normal" in shown


def test_the_letters_in_view_are_explained_and_fit_80_columns():
    states = ("unacknowledged", "acknowledged", "returned", "normal")
    view = replace(VIEW, tiles=tuple(Tile("zone-01", state, "valve", "") for state in states))
    assert plain([view], 80, 24).splitlines()[-1] == "Ctrl-C ends   B unacknowledged C acknowledged D returned"
    assert plain([VIEW], 80, 24).splitlines()[-1] == "Ctrl-C ends"


def test_sites_that_do_not_fit_are_counted():
    shown = plain([replace(VIEW, name=f"site-{at}") for at in range(7)], 80, 24)
    assert "site-1" in shown and "5 more sites do not fit" in shown


@pytest.fixture
def journal(tmp_path):
    times, values = telemetry(140)
    with Journal(tmp_path / "journal.db") as opened:
        monitor = Monitor(opened)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(times[:40], values[:40]))
        yield opened, monitor, times, values


def test_a_site_is_read_from_its_journal(journal):
    opened, monitor, times, values = journal
    assert read_view(opened.reader, "nowhere", Display()) is None
    view = read_view(opened.reader, "office", Display(time_zone="America/Chicago"))
    assert view.openness == "1 open: 1 unacknowledged" and "CDT" in view.as_of
    tile = next(tile for tile in view.tiles if tile.zone == "zone-02")
    assert (tile.state, tile.node) == ("unacknowledged", "valve")
    monitor.step(wide(times[40:], values[40:]))
    view = read_view(opened.reader, "office", Display())
    assert view.openness == "2 open: 2 back in range, not acknowledged", "what open means is said"
    for body in opened.reader.incidents():
        monitor.command("office", Command(verb=Verb.ACK, target=body["id"], by="ann"))
    assert read_view(opened.reader, "office", Display()).openness == "no incident is open"


def test_the_picture_needs_no_font_and_draws_its_frames():
    drawn = picture(render([VIEW], 80, 24), 80)
    assert not any(letter in drawn for letter in "─│╭╮╰╯") and "@font-face" not in drawn and "url(" not in drawn
    texts = [each for each in ElementTree.fromstring(drawn).iter() if each.tag.endswith("text")]
    assert texts and all(each.get("textLength") for each in texts), "as wide with any font"
