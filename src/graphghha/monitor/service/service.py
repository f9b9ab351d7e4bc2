"""A running monitor with its sources and sinks, health report, model updates and orderly shutdown."""

import logging
import os
import shutil
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event as Flag
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from graphghha.alarms import Event
from graphghha.errors import ConfigError, GraphGHHAError
from graphghha.monitor.feed import Feed
from graphghha.monitor.model_swap import PreparedModel
from graphghha.monitor.monitor import Monitor
from graphghha.monitor.service.health import HealthSnapshot, SiteHealth
from graphghha.monitor.service.model_watch import ModelWatch
from graphghha.monitor.service.resources import exhausted_resources
from graphghha.monitor.sinks import Cursor, Follower, FollowRule, Sink, stop_all
from graphghha.sources import Source

if TYPE_CHECKING:
    from graphghha.monitor.service.health_server import HealthServer

log = logging.getLogger(__name__)

CHECK_EVERY_S = 2.0
Stopping = Callable[[float], bool]  # waits for some seconds, and says whether the service is to end
Learning = Callable[
    [Callable[[str, Path], None], Stopping], None
]  # called with the function that requests another model of a site
CLOSE_S = 2.0  # for all sources together: one that hangs in a dead network must not delay the shutdown


class Service:
    """Runs a monitor until it is stopped or every source has ended."""

    def __init__(
        self,
        monitor: Monitor,
        sources: Mapping[str, Source],
        models: Mapping[str, Path],
        *,
        drain_s: float,
        learning: Learning | None = None,
    ) -> None:
        """`models` are the directories that are watched for a new model; `learning` adapts models to their sites."""
        self._monitor, self._drain_s, self._learning = monitor, drain_s, learning
        self._feeds = {site: monitor.feed(site, source) for site, source in sources.items()}
        self._models = ModelWatch(models)
        self._followers: list[Follower] = []
        self._health: HealthServer | None = None
        self._wanted: dict[str, Path] = {}  # models to load
        self._prepared: dict[str, PreparedModel] = {}  # models to use before the loop continues
        self._exhausted: dict[str, str] = {}  # what there is none left of, with the error
        self._refused: dict[str, str] = {}  # why the model in a site's directory is not in use
        self._lock, self._interrupt, self._stop, self._to_load = Lock(), Flag(), Flag(), Flag()

    def follow(self, sink: Sink, cursor: Cursor, rule: FollowRule) -> None:
        """Deliver the journal's events to this sink."""
        self._followers.append(Follower(self._monitor.journal, sink, cursor, rule, pulse=self.pulse))

    def record(self, site: str, event: Event) -> None:
        """Add an event to the first commit of a site, before the service runs."""
        self._monitor.record(site, event)

    def serve_health(self, port: int) -> None:
        """Answer `/livez`, `/readyz` and `/metrics` while running."""
        from graphghha.monitor.service.health_server import HealthServer  # needs prometheus_client

        try:
            self._health = HealthServer(port, self.snapshot)
        except OSError as exc:
            raise ConfigError(f"health.port {port} cannot be opened: {exc.strerror}; choose another port") from exc

    def stop(self) -> None:
        """Ask for an orderly shutdown. May be called from any thread."""
        self._stop.set()
        self._interrupt.set()
        self._monitor.ending.set()

    def reload(self) -> None:
        """Load every site's model again. May be called from any thread."""
        self._request_models(self._models.all())

    def run(self) -> list[str]:
        """Run to the end; return the names of sinks that did not receive everything (it stays in the journal)."""
        for follower in self._followers:
            follower.start()
        if self._health:
            self._health.start()
        background = Thread(target=self._check_regularly, name="background-check", daemon=True)
        background.start()
        Thread(target=self._load_models, name="model-loader", daemon=True).start()
        if self._learning:
            ask = (lambda site, directory: self._request_models({site: directory}), self._stop.wait)
            Thread(target=self._learning, args=ask, name="learning", daemon=True).start()
        notify_systemd("READY=1")
        try:
            while not self._stop.is_set():
                self._interrupt.clear()
                self._swap_models()
                if not self._stop.is_set():
                    self._monitor.run(self._feeds.values(), self._interrupt)
                if not self._interrupt.is_set():
                    break  # every source has ended
        finally:
            notify_systemd("STOPPING=1")
            self._stop.set()
            self._to_load.set()
            behind = self._shut_down()
        background.join(CHECK_EVERY_S)
        return behind

    def snapshot(self) -> HealthSnapshot:
        """Return the present condition of the monitor. May be called from any thread."""
        now, journal = time.monotonic(), self._monitor.journal
        return HealthSnapshot(
            loop_age_s=now - max(feed.polled_at for feed in self._feeds.values()),
            is_journal_writable=not self._monitor.is_journal_failing,
            journal_bytes=_or_zero(lambda: journal.path.stat().st_size),
            disk_free_bytes=_or_zero(lambda: shutil.disk_usage(journal.path.parent).free),
            sites=tuple(self._site_health(name) for name in self._feeds),
            sinks=tuple(follower.stats for follower in self._followers),
            last_event=_or_zero(journal.reader.last_event_number),
            exhausted=dict(self._exhausted),
        )

    def pulse(self) -> dict[str, Any]:
        """Return the body of a heartbeat."""
        health = self.snapshot().to_dict()
        return health if health["status"] == "ready" else {**health, "priority": "medium"}

    def _site_health(self, name: str) -> SiteHealth:
        site, feed = self._monitor.sites[name], self._feeds[name]
        status, counters, unknown = feed.status, site.counters, int(site.unknown.sum())
        incidents = Counter(str(body.get("priority")) for body in site.board_incidents.values())
        return SiteHealth(
            name=name,
            model=site.detector.model,
            refused_model=self._refused.get(name, ""),
            is_connected=status.is_connected or status.is_finished,
            is_lost=site.is_lost,
            detail=status.detail,
            failure=feed.failure,
            silence=site.silence_reason,
            data_time_s=site.time_ms / 1000 if site.time_ms else None,
            readings={field: getattr(counters, field) for field in counters.__dataclass_fields__},
            rejected=site.rejected,
            wrong_clocks=tuple(site.wrong_clocks),
            blind_zones=tuple(site.blind_zones),
            unseen=tuple(filter(None, (site.slowness, *(each.text for each in site.point_watch.conditions(name))))),
            rows_scored=site.steps,
            nodes={"unknown": unknown, "known": site.detector.graph.num_nodes - unknown},
            incidents=dict(incidents),
            durations=feed.durations,
        )

    def _request_models(self, models: Mapping[str, Path]) -> None:
        if models:
            with self._lock:
                self._wanted |= models
            self._to_load.set()

    def _load_models(self) -> None:
        """Load models in a thread of its own: a large or slow one must not keep any site waiting."""
        while not self._stop.is_set():
            self._to_load.wait()
            self._to_load.clear()
            with self._lock:
                wanted, self._wanted = self._wanted, {}
            for site, directory in wanted.items():
                if self._stop.is_set():
                    return
                prepared = self._monitor.prepare_model(site, directory)
                with self._lock:
                    self._prepared[site] = prepared
                self._interrupt.set()

    def _swap_models(self) -> None:
        with self._lock:
            ready, self._prepared = self._prepared, {}
        for site, prepared in ready.items():
            if self._monitor.use_model(site, prepared):
                self._refused.pop(site, None)
                log.info("%s: now using model %s", site, self._monitor.sites[site].detector.model)
            else:
                self._refused[site] = prepared.reason or "it cannot be swapped in"

    def _check_regularly(self) -> None:
        """Notice new models, and feed systemd's watchdog as long as the monitor's loop runs."""
        while not self._stop.wait(CHECK_EVERY_S):
            try:
                self._check_resources()
                self._request_models(self._models.changed())
                if self.snapshot().is_live:
                    notify_systemd("WATCHDOG=1")
            except Exception:  # a full disk or a busy journal must not end this thread
                with suppress(Exception):
                    log.exception("the background check failed; it runs again in %g s", CHECK_EVERY_S)

    def _check_resources(self) -> None:
        """Report once that descriptors, threads or memory are used up, and once that there are some again."""
        found, known = exhausted_resources(), self._exhausted
        self._exhausted = found
        for what in found.keys() - known.keys():
            self._monitor.report("resources.exhausted", {"what": what, "reason": found[what], "priority": "high"})
        for what in known.keys() - found.keys():
            self._monitor.report("resources.available", {"what": what})

    def _shut_down(self) -> list[str]:
        """Close sources first, so that nothing new arrives; unacknowledged batches come again after a restart."""
        closing = [
            Thread(target=self._close, args=each, name=f"close-{each[0]}", daemon=True) for each in self._feeds.items()
        ]
        until = time.monotonic() + CLOSE_S
        for thread in closing:
            with suppress(RuntimeError):  # no thread can be started; the end of the process closes the source too
                thread.start()
        for thread in closing:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))
        behind = stop_all(self._followers, self._drain_s)
        for name in behind:
            log.warning("sink %s did not receive everything; the rest follows after a restart", name)
        if self._health:
            self._health.close()
        self._monitor.journal.close()
        return behind

    def _close(self, site: str, feed: Feed) -> None:
        try:
            feed.close()
        except Exception:
            log.exception("%s: the source could not be closed", site)


def _or_zero(measure: Callable[[], int]) -> int:
    """Return a figure of the journal; 0 while its file cannot be read, which the next commit reports."""
    try:
        return measure()
    except (OSError, GraphGHHAError):
        return 0


def notify_systemd(state: str) -> None:
    """Report a state such as `READY=1` to systemd; do nothing if it did not start this process."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    # an address in the abstract name space is written with @ for its leading NUL
    target = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(state.encode(), target)
