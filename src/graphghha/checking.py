"""Look at the source of a site before it is watched: what it sends, what maps to points, and whether readings fit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from graphghha._util.files import atomic_write
from graphghha.errors import GraphGHHAError
from graphghha.plants import Plant, load_plant
from graphghha.settings import SiteTable, find_problems, read_settings
from graphghha.sources import CheckReport, FileConfig, SourceConfig, check_source
from graphghha.sources.draft import RESEMBLES_NO_POINT

PLAUSIBILITY_S = 20.0  # how long a recording is looked at before it is watched


def check_site(site: SiteTable, seconds: float, **changes: Any) -> CheckReport:
    """Listen to the source of a site and report what it sends, without touching the broker's session.

    `changes` are settings of the source that take the place of the site's own.
    """
    config = replace(site.source_config, **changes)
    return _check(config, site.name, load_plant(site.plant_source), site.zones, seconds)


def _check(config: SourceConfig, site: str, plant: Plant, zones: int, seconds: float) -> CheckReport:
    return check_source(config, site=site, points=plant.building(zones).points, plant=plant, seconds=seconds)


def draft_mapping(site: SiteTable, report: CheckReport, path: Path, seconds: float) -> int:
    """Write a mapping file for what a check heard, and return how many of its names resemble no point.

    A recording is then read again with it, because the readings of names that are mapped now suggest their units.
    """
    atomic_write(path, report.draft)
    if isinstance(site.source_config, FileConfig):
        report = check_site(site, seconds, mapping=path, speed=None)
        atomic_write(path, report.draft)
    return report.draft.count(RESEMBLES_NO_POINT)


def implausible(site: SiteTable) -> list[str]:
    """Return why the recording of a site cannot be watched as it is mapped: nothing maps, or readings do not fit."""
    if not isinstance(site.source_config, FileConfig) or load_plant(site.plant_source).is_own:
        return []  # files of a plant of the user's own are refused when they are opened, if they do not fit
    return implausible_file(site.source_config, site.name, load_plant(site.plant_source), site.zones)


def implausible_file(config: FileConfig, name: str, plant: Plant, num_zones: int, command: str = "watch") -> list[str]:
    """Return why a recording cannot be what its names and units say; `command` takes it all the same with --force."""
    report = _check(replace(config, speed=None), name, plant, num_zones, PLAUSIBILITY_S)
    if report.problem:
        return [report.problem]
    if not report.mapped and report.unmapped:
        example = report.unmapped[0].name
        return [
            f"{name}: none of its {len(report.unmapped)} names, such as {example!r}, maps to a point; "
            "use a mapping file (watch --check --write-mapping drafts one)"
        ]
    if not report.readings and report.status.is_finished:
        reasons = ", ".join(f"{count:,} {why}" for why, count in sorted(report.rejected.items())) or "it is empty"
        where = name if name == str(config.path) else f"{name}: {config.path}"
        return [f"{where} has no usable reading ({reasons}); watch --check shows more"]
    zones = {point.rpartition("/")[0] for point in plant.building(num_zones).points}
    silent = sorted(zones - {each.point.rpartition("/")[0] for each in report.mapped})
    if silent and report.mapped and report.readings:
        return [
            f"{name}: has {len(zones)} zones, and the recording none of the points of {', '.join(silent[:5])}; "
            f"state {len(zones) - len(silent)} zones, map their names, or {command} with --force"
        ]
    if not (doubts := report.doubts):
        return []
    first = doubts[0]
    more = f" and {len(doubts) - 1} more" if len(doubts) > 1 else ""
    return [
        f"{name}: {first.name} as {first.point}{more}: {first.doubt}; state units in a mapping file "
        f"(watch --check shows them), convert the readings, or {command} with --force"
    ]


def find_start_problems(path: Path) -> list[str]:
    """Return everything that would keep `graphghha watch` from starting with a settings file."""
    problems = find_problems(path)
    try:
        sites = read_settings(path).site
    except GraphGHHAError:
        return problems  # those of the tables come first
    for number, site in enumerate(sites):
        if not site.force and not any(f"site[{number}]." in problem for problem in problems):
            problems += [f"{path}: site[{number}].source: {text}" for text in implausible(site)]
    return problems
