"""Commission the sites of a running monitor: once a site was watched for two weeks, and again every week.

Until then a site is judged by the numbers that its model was shipped with. Later commissionings follow the seasons; the
limits of the model keep each threshold between a floor and a cap. Rows of a zone's open incidents are left out, so that
an attack is not learned as usual. The model of a plant of the user's own learns on: later rows join those it has.
"""

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from graphghha._util.times import parse_time_ms
from graphghha.errors import DataError, GraphGHHAError
from graphghha.models import Model, load_model, save_model
from graphghha.models.manifest import fingerprint, read_small_json
from graphghha.models.own import OwnModel, load_own_model
from graphghha.monitor.journal.reader import Reader
from graphghha.windows import Rows
from graphghha.windows.multiscale import DAY

log = logging.getLogger(__name__)

KEPT = 3  # commissioned models of a site that are kept
MOST_LEFT_OUT = 0.5  # of a zone's rows; a zone with more is learned whole, and listed as a standing fault
FALSE_ALARM = "false"
DAY_MS = DAY * 1000
EVERY_S = 10.0
NICE = 10  # of the process that learns


@dataclass(frozen=True, slots=True)
class LearningPlan:
    """What a site is commissioned from, and when."""

    base: Path  # the model as shipped or trained
    folder: Path  # of the site's commissioned models
    zones: int
    step_ms: int
    days: int = 14
    again_days: int = 7

    def newest(self) -> tuple[Path, Model] | None:
        """Return the newest commissioned model that was derived from the base as it is now."""
        base = load_model(self.base)
        for directory in sorted(self.folder.glob("*"), reverse=True):
            try:
                model = load_model(directory)
            except (GraphGHHAError, OSError) as exc:
                log.warning("%s: a commissioned model cannot be used: %s", directory, exc)
                continue
            record = model.commissioning
            if record and record.base == base.fingerprint and len(record.zones) == self.zones:
                return directory, model
        return None

    def is_due(self, first_ms: int, last_ms: int) -> bool:
        """Return whether the rows of a site, from the first to the last, are enough for a new commissioning."""
        if last_ms - first_ms < self.days * DAY_MS - self.step_ms:
            return False
        newest = self.newest()
        record = newest[1].commissioning if newest else None
        if record is None:
            return True
        return self._is_long_ago(record.last, last_ms)

    def _is_long_ago(self, until: str, last_ms: int) -> bool:
        """Return whether a model that learned from rows up to a time is to learn again."""
        since_ms = last_ms + self.step_ms - _time_ms(until)
        return self.again_days > 0 and since_ms >= self.again_days * DAY_MS

    def learn(self, journal: Path, site: str) -> Path:
        """Commission a site on its newest days, in a process of its own, and return the directory of its model."""
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=os.nice, initargs=(NICE,)) as process:
            return process.submit(commission_journal, journal, site, self).result()


@dataclass(frozen=True, slots=True)
class OwnLearningPlan(LearningPlan):
    """What a plant of the user's own learns on from, and when: all rows without an incident join its training data."""

    def newest(self) -> tuple[Path, OwnModel] | None:  # type: ignore[override]
        """Return the newest model that has learned on from the base as it is now."""
        for directory, _ in self._derived():
            try:
                return directory, load_own_model(directory)
            except (GraphGHHAError, OSError) as exc:
                log.warning("%s: a model that has learned on cannot be used: %s", directory, exc)
        return None

    def _derived(self) -> Iterator[tuple[Path, str]]:
        """Yield the models that have learned on from the base, newest first, and until when; they are not verified."""
        base = fingerprint(self.base)
        for directory in sorted(self.folder.glob("*"), reverse=True):
            try:
                record = read_small_json(directory / "config.json")["provenance"]["learned_on"]
                if record["base"] == base:
                    yield directory, str(record["last"])
            except (GraphGHHAError, KeyError, TypeError) as exc:
                log.warning("%s: is not a model that has learned on: %s", directory, exc)

    def is_due(self, first_ms: int, last_ms: int) -> bool:
        """Return whether the rows of a site are enough to learn on."""
        if last_ms - first_ms < self.days * DAY_MS - self.step_ms:
            return False
        _, until = next(self._derived(), (None, None))
        return until is None or self._is_long_ago(until, last_ms)

    def learn(self, journal: Path, site: str) -> Path:
        """Learn on from a journal by `graphghha commission`, which needs the laboratory that a monitor does without."""
        with Reader(journal) as reader:
            times = reader.row_times(site)
        if times is None:
            raise DataError(f"{journal}: holds no rows of site {site!r}")
        directory = self.folder / f"{datetime.fromtimestamp(times[1] / 1000, UTC):%Y%m%dT%H%M}"
        shutil.rmtree(directory, ignore_errors=True)
        command = [sys.executable, "-m", "graphghha", "commission", str(journal), "--site", site]
        command += ["--model", str(self.base), "--out", str(directory)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
            _, said = process.communicate()
        if process.returncode:
            raise DataError(f"{site}: could not learn on: {(said.strip().splitlines() or ['no reason was given'])[-1]}")
        remove_old(self.folder)
        return directory


class Learner:
    """Commissions sites in a process of its own, so that neither time nor memory of the monitor is taken."""

    def __init__(self, journal: Path, plans: Mapping[str, LearningPlan]) -> None:
        self._journal, self.plans = journal, dict(plans)
        self._failed: dict[str, int] = {}  # the last row at which a site could not be commissioned
        self._refused: set[str] = set()  # the sites that it was said of, until they can be

    def due(self) -> list[str]:
        """Return the sites that can be commissioned now."""
        sites = []
        with Reader(self._journal) as reader:
            for site, plan in self.plans.items():
                times = reader.row_times(site)
                if times and times[1] >= self._failed.get(site, -(2**62)) + DAY_MS and plan.is_due(*times):
                    sites.append(site)
                    self._failed[site] = times[1]  # until it has succeeded
        return sites

    def commission(self, site: str) -> Path:
        """Commission a site on its newest days and return the directory of its model."""
        directory = self.plans[site].learn(self._journal, site)
        self._failed.pop(site, None)
        self._refused.discard(site)
        return directory

    def run(self, swap: Callable[[str, Path], None], is_stopping: Callable[[float], bool]) -> None:
        """Commission whatever is due until `is_stopping(seconds)` is true; `swap(site, base)` puts a model into use."""
        while not is_stopping(EVERY_S):
            try:
                for site in self.due():
                    self._try(site, swap)
            except Exception:  # a busy journal or a full disk must not end the learning
                log.exception("no site could be commissioned; they are judged as before")

    def _try(self, site: str, swap: Callable[[str, Path], None]) -> None:
        """Commission a site and put its model into use; if its days do not allow it, the model it has stays in use."""
        log.info("%s: commissioning on its newest days", site)
        try:
            self.commission(site)
            swap(site, self.plans[site].base)
        except DataError as exc:  # a gap lasts for days: it is said once, and not every day
            level = logging.DEBUG if site in self._refused else logging.WARNING
            self._refused.add(site)
            log.log(level, "%s: is judged as before, and tried again every day: %s", site, exc)
        except Exception:
            log.exception("%s: could not be commissioned; it is judged as before, and tried again a day later", site)


def commission_journal(journal: Path, site: str, plan: LearningPlan) -> Path:
    """Commission a site on the newest rows of a journal; write the model, and remove old ones."""
    from graphghha.commissioning.rows import commission_rows  # it needs pyarrow, a live monitor does not

    with Reader(journal) as reader:
        rows = reader.rows(site, newest=plan.days * DAY_MS // plan.step_ms)
        incidents = reader.incidents(site=site)
    if rows is None:
        raise DataError(f"{journal}: holds no rows of site {site!r}")
    base = load_model(plan.base)
    points = base.template.replicate(plan.zones).points
    model = commission_rows(
        base,
        [rows],
        plan.zones,
        hide=lambda rows: without_incidents(rows, points, incidents),
        days=plan.days,
        step_ms=plan.step_ms,
        data=f"journal of {site}",
        where=str(journal),
    )
    assert model.commissioning is not None
    directory = plan.folder / f"{datetime.fromisoformat(model.commissioning.last):%Y%m%dT%H%M}"
    shutil.rmtree(directory, ignore_errors=True)
    save_model(model, directory)
    remove_old(plan.folder)
    return directory


def remove_old(folder: Path) -> None:
    """Keep the newest models of a site."""
    for old in sorted(folder.glob("*"))[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def without_incidents(rows: Rows, points: Iterable[str], incidents: Iterable[Mapping[str, Any]]) -> Rows:
    """Return rows in which the points of a zone are unknown while an incident of it was open.

    Incidents that people called false alarms stay in. So does a zone in alarm for most of the time: what stands for
    weeks is a fault to be listed, and a zone without any rows could not be learned at all.
    """
    zone_of = np.array([point.rpartition("/")[0] for point in points])
    fresh = rows.fresh.copy()
    for zone in dict.fromkeys(zone_of.tolist()):
        own = [body for body in incidents if zone in (body.get("zone"), *(body.get("zones") or ()))]
        hidden = np.zeros(len(rows), np.bool_)
        for body in own:
            if (body.get("disposition") or {}).get("is") != FALSE_ALARM:
                since, closed = parse_time_ms(body.get("since")), parse_time_ms(body.get("closed"))
                hidden |= (rows.times_ms >= (since or 0)) & (rows.times_ms <= (2**62 if closed is None else closed))
        if hidden.any() and hidden.mean() <= MOST_LEFT_OUT:
            fresh[np.ix_(hidden, zone_of == zone)] = False
    return replace(rows, values=np.where(fresh, rows.values, np.nan), fresh=fresh)


def _time_ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
