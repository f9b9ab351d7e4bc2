from dataclasses import replace
from datetime import UTC, datetime, timedelta

from graphghha.alarms import Event
from graphghha.monitor import Journal, Monitor
from graphghha.resuming import resume_simulation
from graphghha.showcase import SITE, scheduled_attacks, showcase_settings
from monitor_builders import CONFIG, detector, telemetry, wide


def test_the_showcase_is_an_ordinary_simulated_site(tmp_path):
    (site,) = showcase_settings(tmp_path, seed=3, speed=60.0).site
    source = site.source
    assert (site.zones, source.seed, source.speed, len(source.cases)) == (12, 3, 60.0, 6)
    assert source.start < source.live_from < min(case.start for case in source.cases)
    assert site.model is None and site.learn_days == 14  # as for a real site


def test_the_studio_knows_the_schedule_once(tmp_path):
    settings, path = showcase_settings(tmp_path), tmp_path / "journal.sqlite"
    events = scheduled_attacks(settings, path)
    assert [event.body["zone"] for event in events][:2] == ["zone-07", "zone-03"]
    assert (events[0].body["start"], events[0].body["end"]) == ("2018-07-10T09:15:00Z", "2018-07-10T11:15:00Z")
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add(SITE, detector(), CONFIG)
        for event in events:
            monitor.record(SITE, event)
        times, values = telemetry(5)
        monitor.step(wide(times, values, site=SITE))
    assert scheduled_attacks(settings, path) == []


def test_a_simulation_goes_on_where_it_stood_with_what_was_injected(tmp_path):
    (site,) = showcase_settings(tmp_path).site
    path, config = tmp_path / "journal.sqlite", site.source
    assert resume_simulation(config, SITE, path) == config  # before the first start
    injected = {"case": "FCU_OADMPRStuck_80@zone-02,start=2018-07-10T08:00,for=2h"}
    with Journal(path) as journal:
        monitor = Monitor(journal)
        monitor.add(SITE, detector(), CONFIG)
        times, values = telemetry(5)
        for body in (injected, {"case": str(config.cases[0])}, {"case": "nonsense"}):
            monitor.record(SITE, Event(int(times[0]), "studio.injected", body))
        withdrawn = {"case": str(config.cases[1]), "became": "", "end": None}
        shorter = str(replace(config.cases[0], duration=timedelta(minutes=5)))
        for body in (withdrawn, {"case": str(config.cases[0]), "became": shorter, "end": "2018-07-10T09:20:00Z"}):
            monitor.record(SITE, Event(int(times[0]), "studio.withdrawn", body))
        monitor.step(wide(times, values, site=SITE))
    resumed = resume_simulation(config, SITE, path)
    assert [str(case) for case in resumed.cases] == [shorter, *map(str, config.cases[2:]), injected["case"]]
    assert resumed.after == datetime.fromtimestamp(int(times[-1]) / 1000, UTC).replace(tzinfo=None)
    assert resume_simulation(replace(config, start=datetime(2019, 1, 1)), SITE, path).after is None
