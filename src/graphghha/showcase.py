"""The showcase day of a plant as a simulated site, with the settings that a real site would have."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from graphghha._util.times import iso
from graphghha.alarms import Event
from graphghha.errors import ConfigError
from graphghha.monitor.journal import PageReader
from graphghha.plants import Plant, Showcase, load_plant
from graphghha.settings import Settings, parse_settings

SITE = "demo"
DAYS_BEFORE = 1  # whole days of readings before the showcase day, which fill the windows
SCHEDULE = "the schedule"  # who attacks


def showcase_settings(state_dir: Path, *, plant: str = "fcu", seed: int = 7, speed: float = 120.0) -> Settings:
    """Return the settings of a building that is attacked on schedule, at a multiple of real time."""
    day = _showcase(load_plant(plant))
    begin = day.day + timedelta(minutes=day.begin_min)
    options = {"zones": day.zones, "seed": seed, "speed": speed, "live_from": begin.isoformat(timespec="minutes")}
    options |= {"start": (day.day - timedelta(days=DAYS_BEFORE)).isoformat(timespec="minutes")}
    written = [f"{key}={value}" for key, value in options.items()]
    written += [f"case={quote(str(case), safe='@,=+:')}" for case in day.cases]
    site = {"name": SITE, "plant": plant, "source": f"sim:{plant}?{'&'.join(written)}"}
    return parse_settings({"monitor": {"state_dir": state_dir}, "site": [site]}, Path(), "demo")


def scheduled_attacks(settings: Settings, journal: Path) -> list[Event]:
    """Return events about the attacks of the schedule, for the studio; none if the journal holds them already."""
    if journal.exists():
        with PageReader(journal) as reader:
            if reader.events_before(None, 1, ("studio.injected",)):
                return []
    (site,) = settings.site
    plant = load_plant(site.plant)
    day, zones = _showcase(plant), plant.template.replicate(site.zones).zone_names
    begin_ms = _ms(day.day + timedelta(minutes=day.begin_min))
    events = []
    for number, case in enumerate(day.cases, 1):
        zone = zones[int(case.zone) - 1] if case.zone.isdecimal() else case.zone
        end = None if case.duration is None else iso(_ms(case.start + case.duration))
        known = {"name": case.name, "zone": zone, "id": f"schedule-{number}", "reason": "", "case": str(case)}
        body = {**known, "start": iso(_ms(case.start)), "end": end, "by": SCHEDULE}
        events.append(Event(begin_ms, "studio.injected", body))
    return events


def _showcase(plant: Plant) -> Showcase:
    if plant.showcase is None:
        raise ConfigError(f"demo: plant {plant.name!r} has no showcase day; choose a plant that has one")
    return plant.showcase


def _ms(moment: datetime) -> int:
    return round(moment.replace(tzinfo=UTC).timestamp() * 1000)
