"""A monitored site is commissioned on its own rows once there are enough of them, and again later."""

import numpy as np
import pytest

from graphghha.errors import ConfigError, DataError
from graphghha.learning import Learner, LearningPlan, without_incidents
from graphghha.models import load_model, save_model
from graphghha.monitor import Journal
from graphghha.monitor.journal import Commit
from graphghha.plants import load_plant
from graphghha.settings import read_settings
from graphghha.windows import Rows
from graphghha.wiring import open_monitor
from model_builders import untrained_zone_model

PLANT = load_plant("fcu")
MINUTE, DAY = 60_000, 86_400_000
POINTS = PLANT.template.replicate(2).points


def readings(days, seed=0):
    """Noise around the middle of each instrument's range, for two zones."""
    by_name = {signal.name: signal for signal in PLANT.signals}
    middle = [(by_name[name].low + by_name[name].high) / 2 for name in PLANT.template.point_signals]
    noise = np.random.default_rng(seed).normal(0, 0.2, (days * 1440, 2 * len(middle)))
    return (np.tile(middle, 2) + noise).astype(np.float32)


def write_days(path, days, *, first_day=0):
    with Journal(path) as journal:
        for day in range(first_day, first_day + days):
            times = [day * DAY + MINUTE * at for at in range(1440)]
            journal.write([Commit(site="north", time_ms=times[-1], times_ms=times, rows=[readings(1, day)])])


@pytest.fixture
def plan(tmp_path):
    save_model(untrained_zone_model(PLANT), tmp_path / "base")
    return LearningPlan(
        base=tmp_path / "base", folder=tmp_path / "models", zones=2, step_ms=MINUTE, days=7, again_days=3
    )


@pytest.mark.slow
def test_a_site_is_commissioned_after_its_days_and_again_later(tmp_path, plan):
    path = tmp_path / "journal.sqlite"
    write_days(path, 6)
    learner = Learner(path, {"north": plan})
    assert learner.due() == [] and plan.newest() is None
    write_days(path, 1, first_day=6)
    assert learner.due() == ["north"]
    assert learner.due() == [], "it is tried once a day only"
    directory = learner.commission("north")
    newest, model = plan.newest()
    record = model.commissioning
    assert newest == directory and record.days == 7 and record.base == load_model(plan.base).fingerprint
    write_days(path, 2, first_day=7)
    assert learner.due() == []
    write_days(path, 1, first_day=9)
    assert learner.due() == ["north"] and learner.commission("north") > directory


@pytest.mark.slow
def test_a_monitor_uses_what_it_has_learned(tmp_path, plan):
    state = tmp_path / "state"
    (tmp_path / "live.toml").write_text(
        f'[monitor]\nstate_dir = "{state}"\n[[site]]\nname = "north"\nsource = "mqtt://127.0.0.1:1/bms"\nzones = 2\n'
        f'model = "{plan.base}"\nlearn_days = 7\n'
    )
    settings = read_settings(tmp_path / "live.toml")

    def opened():
        service = open_monitor(settings)
        try:
            monitor = service._monitor
            site = monitor.sites["north"]
            return site.is_learning, site.detector.model
        finally:
            service._shut_down()

    is_learning, model = opened()
    assert is_learning and model.startswith("base@")
    write_days(state / "journal.sqlite", 7)
    own = LearningPlan(base=plan.base, folder=state / "models" / "north", zones=2, step_ms=MINUTE, days=7)
    Learner(state / "journal.sqlite", {"north": own}).commission("north")
    is_learning, model = opened()
    assert not is_learning and model.startswith("1970"), "the model it made of its own days"
    save_model(untrained_zone_model(PLANT, seed=1), tmp_path / "other")
    (tmp_path / "live.toml").write_text((tmp_path / "live.toml").read_text().replace("/base", "/other"))
    settings = read_settings(tmp_path / "live.toml")
    is_learning, model = opened()
    assert is_learning and model.startswith("other@"), "another base is learned anew"


def test_rows_of_a_zones_incidents_are_left_out_unless_they_were_false_or_last_for_most_of_the_time():
    zones = PLANT.template.replicate(2).zone_names
    values = readings(1)
    times = MINUTE * np.arange(len(values))
    rows = Rows(times, values, np.isfinite(values), np.ones(len(values), bool))

    def incident(zone, first, last, **more):
        iso = [f"1970-01-01T{minute // 60:02d}:{minute % 60:02d}:00Z" for minute in (first, last)]
        return {"zone": zone, "since": iso[0], "closed": iso[1], **more}

    count = len(POINTS) // 2
    kept = without_incidents(rows, POINTS, [incident(zones[1], 60, 119)]).fresh
    assert kept[:, :count].all() and not kept[60:120, count:].any() and kept[120:].all()
    false = incident(zones[1], 60, 119, disposition={"is": "false"})
    assert without_incidents(rows, POINTS, [false]).fresh.all()
    standing = incident(zones[1], 60, 1200)
    assert without_incidents(rows, POINTS, [standing]).fresh.all()
    building = {**incident(None, 60, 119), "zones": list(zones)}
    assert not without_incidents(rows, POINTS, [building]).fresh[60:120].any()


@pytest.mark.parametrize(
    ("days", "is_allowed"), [(0, True), (7, True), (90, True), (3, False), (91, False), (-1, False)]
)
def test_too_few_days_to_learn_from_are_one_clear_problem(tmp_path, days, is_allowed):
    path = tmp_path / "live.toml"
    path.write_text(f'[[site]]\nname = "north"\nsource = "sim:fcu?zones=1&days=1"\nlearn_days = {days}\n')
    if is_allowed:
        assert read_settings(path).site[0].learn_days == days
        return
    with pytest.raises(ConfigError, match=r"learn_days: must be from 7 to 90 days, or 0") as caught:
        read_settings(path)
    assert str(caught.value).count("learn_days") == 1


class Days(LearningPlan):
    """A site whose days are refused until `enough` is set, and another one that can be commissioned."""

    enough = False

    def is_due(self, first_ms, last_ms):
        return True

    def learn(self, journal, site):
        if site == "south" and not self.enough:
            raise DataError(f"{journal}: only 5 of the 14 chosen days hold usable readings")
        return self.folder / site


def test_a_refusal_is_said_once_and_keeps_neither_the_monitor_nor_other_sites_from_going_on(tmp_path, plan, caplog):
    path, used = tmp_path / "journal.sqlite", []
    days = Days(base=plan.base, folder=plan.folder, zones=2, step_ms=MINUTE)
    learner = Learner(path, {"south": days, "north": days})

    def day(number):
        with Journal(path) as journal:
            for site in learner.plans:
                time_ms = number * DAY
                journal.write([Commit(site=site, time_ms=time_ms, times_ms=[time_ms], rows=[readings(1)[:1]])])
        rounds = iter([False, True])
        learner.run(lambda site, base: used.append((number, site)), lambda seconds: next(rounds))
        said = [each.getMessage() for each in caplog.records if each.levelname in ("WARNING", "ERROR")]
        caplog.clear()
        return said

    (said,) = day(1)
    assert said.startswith("south: is judged as before") and "only 5 of the 14" in said
    assert day(2) == [] and used == [(1, "north"), (2, "north")]
    Days.enough = True
    assert day(3) == [] and used[2:] == [(3, "south"), (3, "north")]
    Days.enough = False
    assert len(day(4)) == 1, "it is said again after a commissioning in between"
