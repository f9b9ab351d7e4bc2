"""The folder of the demonstration, run by run."""

import pytest

from graphghha.alarms import StoredEvent
from graphghha.cli._demo_run import SEED, DemoRun, Wish
from graphghha.errors import ConfigError
from graphghha.monitor import Journal, Monitor
from graphghha.showcase import SITE
from monitor_builders import CONFIG, detector, telemetry, wide


def test_a_folder_goes_on_with_the_building_that_its_journal_holds(tmp_path):
    run = DemoRun(tmp_path, speed=60)
    assert (run.seed_of(None), run.seed_of(9)) == (SEED, 9)
    with Journal(tmp_path / "journal.sqlite") as journal:
        monitor = Monitor(journal)
        monitor.add(SITE, detector(), CONFIG, simulation={"speed": 60.0, "seed": 12})
        times, values = telemetry(5)
        monitor.step(wide(times, values, site=SITE))
    assert (run.seed_of(None), run.seed_of(12)) == (12, 12)
    with pytest.raises(ConfigError, match="holds the building with seed 12"):
        run.seed_of(7)


def test_a_run_is_put_away_and_people_stay(tmp_path):
    run = DemoRun(tmp_path, speed=60)
    for number in (1, 2):
        (tmp_path / "journal.sqlite").write_text(f"run {number}")
        (tmp_path / "access.sqlite").write_text("people")
        run.put_away()
        assert (tmp_path / f"runs/{number}/journal.sqlite").read_text() == f"run {number}"
        assert sorted(file.name for file in tmp_path.iterdir()) == ["access.sqlite", "runs"]


def test_a_wish_ends_the_run():
    stopped = []
    wish = Wish(lambda: stopped.append(True))
    assert wish.seed is None
    wish.deliver([StoredEvent(1, "demo", 0, "studio.started_over", {"seed": 3})])
    wish.close()
    assert (wish.seed, stopped) == (3, [True])
