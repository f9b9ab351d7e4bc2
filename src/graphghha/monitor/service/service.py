"""A monitor with all that surrounds it: sources, sinks, health, new models, an orderly end."""

import logging
import shutil
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from threading import Event as Flag
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from graphghha.errors import ConfigError
from graphghha.monitor.monitor import Monitor
from graphghha.monitor.service.health import HealthSnapshot, SiteHealth
from graphghha.monitor.service.model_watch import ModelWatch
from graphghha.monitor.service.systemd import notify
from graphghha.monitor.sinks import Sink
from graphghha.monitor.sinks.cursor import Cursor
from graphghha.monitor.sinks.follow import Follower, FollowRule, stop_all
from graphghha.monitor.watched import WatchedSource
from graphghha.sources import Source

if TYPE_CHECKING:
    from graphghha.monitor.service.health_server import HealthServer

logger = logging.getLogger(__name__)

ATTEND_EVERY_S = 2.0
CLOSE_S = 2.0  # for all sources together: one that hangs in a dead network must not hold up the end


class Service:
    """Runs until told to stop, or until every source has ended."""

    def __init__(
        self, monitor: Monitor, sources: Mapping[str, Source], models: Mapping[str, Path], *, drain_s: float
    ) -> None:
        """`models` are the directories whose change means another model."""
        self._monitor, self._drain_s = monitor, drain_s
        self._sources = {site: WatchedSource(source) for site, source in sources.items()}
        self._models = ModelWatch(models)
        self._followers: list[Follower] = []
        self._health: HealthServer | None = None
        self._wanted: dict[str, Path] = {}  # models to swap in at the next turn
        self._lock, self._turn, self._stop = Lock(), Flag(), Flag()

    def follow(self, sink: Sink, cursor: Cursor, rule: FollowRule) -> None:
        """Tell this sink everything the journal holds."""
        self._followers.append(Follower(self._monitor.journal, sink, cursor, rule, pulse=self.pulse))

    def serve_health(self, port: int) -> None:
        """Answer `/livez`, `/readyz` and `/metrics` while running."""
        from graphghha.monitor.service.health_server import HealthServer  # needs prometheus_client

        try:
            self._health = HealthServer(port, self.snapshot)
        except OSError as exc:
            raise ConfigError(f"health.port {port}: {exc.strerror}; choose another") from exc

    def stop(self) -> None:
        """End soon, in order. For any thread and for signal handlers."""
        self._stop.set()
        self._turn.set()

    def reload(self) -> None:
        """Load every site's model again. For any thread."""
        self._want(self._models.all())

    def run(self) -> list[str]:
        """The names of sinks that did not get everything; it waits for them in the journal."""
        for follower in self._followers:
            follower.start()
        if self._health:
            self._health.start()
        attendant = Thread(target=self._attend, name="attendant", daemon=True)
        attendant.start()
        notify("READY=1")
        try:
            while not self._stop.is_set():
                self._turn.clear()
                self._swap()
                if not self._stop.is_set():
                    self._monitor.run(self._sources, self._turn)
                if not self._turn.is_set():
                    break  # every source has ended
        finally:
            notify("STOPPING=1")
            self._stop.set()
            behind = self._end()
        attendant.join(ATTEND_EVERY_S)
        return behind

    def snapshot(self) -> HealthSnapshot:
        """For any thread."""
        now, journal = time.monotonic(), self._monitor.journal
        return HealthSnapshot(
            loop_age_s=now - max(source.polled_at for source in self._sources.values()),
            is_journal_writable=not self._monitor.is_journal_failing,
            journal_bytes=journal.path.stat().st_size,
            disk_free_bytes=shutil.disk_usage(journal.path.parent).free,
            sites=tuple(self._site_health(name) for name in self._sources),
            sinks=tuple(follower.stats for follower in self._followers),
            last_event=journal.reader.last_event_number(),
        )

    def pulse(self) -> dict[str, Any]:
        """The body of a heartbeat."""
        told = self.snapshot().to_dict()
        return told if told["status"] == "ready" else {**told, "priority": "medium"}

    def _site_health(self, name: str) -> SiteHealth:
        site, source = self._monitor.sites[name], self._sources[name]
        status, counters, unknown = source.status, site.intake.counters, int(site.unknown.sum())
        incidents = Counter(str(body.get("priority")) for body in list(site.desk.incidents.values()))
        return SiteHealth(
            name=name,
            model=site.detector.model,
            is_connected=status.is_connected or status.is_finished,
            is_lost=site.is_lost,
            detail=status.detail,
            data_time_s=site.time_ms / 1000 if site.time_ms else None,
            readings={field: getattr(counters, field) for field in counters.__dataclass_fields__},
            rejected=dict(site.intake.rejected),
            rows_scored=site.steps,
            nodes={"unknown": unknown, "known": site.detector.graph.num_nodes - unknown},
            incidents=dict(incidents),
            durations=source.durations,
        )

    def _want(self, models: Mapping[str, Path]) -> None:
        if models:
            with self._lock:
                self._wanted |= models
            self._turn.set()

    def _swap(self) -> None:
        with self._lock:
            wanted, self._wanted = self._wanted, {}
        for site, directory in wanted.items():
            if self._monitor.swap(site, directory):
                logger.info("%s: model %s is in use", site, self._monitor.sites[site].detector.model)

    def _attend(self) -> None:
        """New models are noticed; the service manager hears of us as long as the loop turns."""
        while not self._stop.wait(ATTEND_EVERY_S):
            try:
                self._want(self._models.changed())
                if self.snapshot().is_live:
                    notify("WATCHDOG=1")
            except Exception:  # a full disk or a busy journal must not end the attendant
                logger.exception("the attendant stumbled")

    def _end(self) -> list[str]:
        """Sources first, so that nothing new comes; what was not acknowledged comes again after a restart."""
        closing = [
            Thread(target=self._close, args=each, name=f"close-{each[0]}", daemon=True)
            for each in self._sources.items()
        ]
        until = time.monotonic() + CLOSE_S
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join(max(0.0, until - time.monotonic()))
        behind = stop_all(self._followers, self._drain_s)
        for name in behind:
            logger.warning("sink %s did not get everything; the rest follows after a restart", name)
        if self._health:
            self._health.close()
        self._monitor.journal.close()
        return behind

    def _close(self, site: str, source: Source) -> None:
        try:
            source.close()
        except Exception:
            logger.exception("%s: source did not close", site)
