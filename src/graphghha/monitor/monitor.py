"""Many sites in one process: readings in, journal out; a batch is acknowledged only once it is on the disk.

An error at one site never stops another, and a failing disk stops the journal but not the scoring.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from queue import SimpleQueue
from threading import Event as Flag
from typing import Any

from graphghha._util.text import encodable
from graphghha._util.times import iso
from graphghha.alarms import Command, Event
from graphghha.errors import ConfigError, GraphGHHAError, JournalError, NotFoundError
from graphghha.monitor.about import describe_site
from graphghha.monitor.commit_buffer import CommitBuffer
from graphghha.monitor.detector import Detector
from graphghha.monitor.feed import Feed
from graphghha.monitor.journal import Journal
from graphghha.monitor.model_swap import PreparedModel, describe_commissioning, describe_swap
from graphghha.monitor.orders import Order, carry_out, parse_request, refusal
from graphghha.monitor.rehearsal import rehearse
from graphghha.monitor.restore import read_history, restore_site
from graphghha.monitor.row_clock import ROWS_AT_ONCE
from graphghha.monitor.site import Site, SiteUpdate
from graphghha.monitor.site_config import SiteConfig
from graphghha.monitor.source_events import connection_event, failure_event, silent_event
from graphghha.monitor.status import summarize_site
from graphghha.plants import Points
from graphghha.sources import Batch, Source

log = logging.getLogger(__name__)
POLL_S, COMMANDS_EVERY_S = 0.05, 0.25
SLOW_COMMIT_S = 0.25  # a commit that fails after so long has waited for another process
MOST_ANSWER = 1_000  # characters


class Monitor:
    """Monitors sites: hand it batches with `step`, or let it `run` on sources."""

    def __init__(self, journal: Journal, *, load: Callable[[str, Path], Detector] | None = None) -> None:
        """`load(site, directory)` returns a verified detector of a model directory; only `swap_model` needs it."""
        self.journal, self._load = journal, load
        self.sites: dict[str, Site] = {}
        self.sources: dict[str, Source] = {}  # of sites that are fed by `run`
        self._simulations: dict[str, Mapping[str, float | None]] = {}  # of simulated sites: speed and seed
        self._buffers: dict[str, CommitBuffer] = {}
        self._failing_since_ms: int | None = None
        self._reports: SimpleQueue[tuple[str, dict[str, Any]]] = SimpleQueue()
        self._commit_at = 0.0  # no attempt before this time: at most half of it is spent waiting for a file
        self.ending = Flag()  # set it to leave a long step between two rows; its batch is then not acknowledged

    @property
    def is_journal_failing(self) -> bool:
        """Return whether the last write to the journal failed."""
        return self._failing_since_ms is not None

    def add(
        self,
        name: str,
        detector: Detector,
        config: SiteConfig | None = None,
        *,
        simulation: Mapping[str, float | None] | None = None,
    ) -> Site:
        """Start to monitor a site: from its state in the journal if there is one, otherwise from the beginning.

        `simulation` has speed and seed if the site is simulated.
        """
        if name in self.sites:
            raise ConfigError(f"site {name!r} is already monitored; give each site a name of its own")
        config = config or SiteConfig()
        buffer = self._buffers[name] = CommitBuffer()
        self.sites[name], note = self._restore(name, detector, config)
        self.sites[name].rehearse()
        if simulation is not None:
            self._simulations[name] = simulation
        self._register(name)
        now_ms = self._time_ms(name)
        self._report_damage(name)
        if self.journal.problem:
            self._journal_failed(JournalError(self.journal.problem), name)
        if note:
            log.warning("%s: %s", name, note)
            buffer.events.append(Event(now_ms, "site.reset", {"reason": note}))
        return self.sites[name]

    def _register(self, name: str) -> None:
        """Store what a site consists of, for readers who do not have its model."""
        site = self.sites[name]
        detector, config, graph = site.detector, site.config, site.detector.graph
        known: dict[str, Any] = {"plant": detector.plant.name, "model": detector.model, "zones": list(graph.zone_names)}
        known |= {"nodes": list(graph.names), "points": list(detector.points), "step_ms": config.clock.step_ms}
        known |= {"point_units": list(Points.from_names(detector.plant, detector.points).units)}
        known |= config.display.to_dict()
        self.journal.register(name, known, describe_site(detector, config, self._simulations.get(name)))

    def feed(self, name: str, source: Source) -> Feed:
        """Return the source of a site as `run` takes it; its silence is counted from the site's last batch."""
        self.sources[name] = source
        return Feed(name, source, self.sites[name].received_ms)

    def step(self, batch: Batch, source: Source | None = None) -> list[Event]:
        """Score a batch, write the result, then acknowledge the batch to its source."""
        if batch.site not in self.sites:
            raise NotFoundError(f"no site {batch.site!r}; monitored are {', '.join(self.sites) or 'none'}")
        events = self._guarded(batch.site, lambda site: site.stream(batch))
        if len(batch) or batch.rejected:  # otherwise only time has passed, which is not worth a write of its own
            self._buffers[batch.site].is_dirty = True
        if self.sites[batch.site].is_adrift:
            self._start_afresh(batch.site)
            events += self._guarded(batch.site, lambda site: site.stream(batch))
        if source is not None and not self.ending.is_set():  # otherwise it may not have been taken to its end
            self._buffers[batch.site].hold(source, batch)
        self.commit()
        return events

    def finish(self, name: str) -> list[Event]:
        """Score the rows of a site that are still open, because its source has ended."""
        events = self._guarded(name, Site.stream_rest)
        self._commit_at = 0.0
        self.commit()
        return events

    def record(self, name: str, event: Event) -> None:
        """Add an event to the site's next commit."""
        self._buffers[name].events.append(event)

    def report(self, kind: str, body: dict[str, Any]) -> None:
        """Have the loop record an event about the whole process, at the first site. May be called from any thread."""
        self._reports.put((kind, body))

    def _take_reports(self) -> None:
        while not self._reports.empty():
            kind, body = self._reports.get()
            name = next(iter(self.sites))
            self.record(name, Event(self._time_ms(name), kind, body))
            self.commit()

    def answer_commands(self) -> None:
        """Carry out the commands that operators have left in the journal."""
        commands = self.journal.take_commands()
        answered = {number for buffer in self._buffers.values() for number, *_ in buffer.answers}
        for number, name, command, sent_ms in commands:
            if number not in answered:  # otherwise its answer waits for the disk
                self._answer(number, name, command, sent_ms)
        if commands:
            self.commit()

    def command(self, name: str, command: Command) -> list[Event]:
        """Carry out a command given in this process; raise an error with the reason if it is refused."""
        command = command.given_at(time.time_ns() // 1_000_000)
        events = self.sites[name].command(command, self.journal.reader.incident(command.target))
        self._buffers[name].events += events
        self.commit()
        return events

    def prepare_model(self, name: str, directory: Path) -> PreparedModel:
        """Load another model for a site and fill its windows. Takes long; may be called from any thread."""
        assert self._load is not None, "a monitor that swaps models is given `load`"
        try:
            detector = self._load(name, directory)
            if detector.graph != self.sites[name].detector.graph:
                raise ConfigError(f"{name}: the new model is made for another graph; the old one stays in use")
            history, pipeline = read_history(self.journal, name, detector), detector.pipeline()
            rehearse(detector, pipeline)
            pipeline.warm_up(history.values, history.fresh)
            until_ms = int(history.times_ms[-1]) if len(history) else None
            return PreparedModel(directory, detector, pipeline, until_ms)
        except Exception as exc:  # whatever is wrong with the new model, the old one stays in use
            is_ours = isinstance(exc, GraphGHHAError)
            reason = str(exc) if is_ours else repr(exc)
            log.error("%s: model %s was refused: %s", name, directory, reason, exc_info=not is_ours)
            return PreparedModel(directory, reason=reason)

    def use_model(self, name: str, prepared: PreparedModel) -> bool:
        """Use a model that `prepare_model` returned; if it cannot be used, keep the old one and return False."""
        site, reason = self.sites[name], prepared.reason
        was, detector = site.detector, prepared.detector
        if detector is not None:
            try:
                site.swap_model(
                    detector, read_history(self.journal, name, detector, prepared.until_ms), prepared.pipeline
                )
            except Exception as exc:
                log.exception("%s: model %s cannot be swapped in", name, prepared.directory)
                reason = repr(exc)
        if detector is None or reason:
            body = {"directory": prepared.directory.name, "reason": reason, "kept": was.model, "priority": "medium"}
            self.record(name, Event(self._time_ms(name), "model.refused", body))
        else:
            self.record(name, Event(self._time_ms(name), "model.swapped", describe_swap(was, detector)))
            if detector.is_own and detector.commissioning != was.commissioning:
                self.record(name, Event(self._time_ms(name), "site.commissioned", describe_commissioning(detector)))
            try:
                self._register(name)
            except JournalError as exc:  # a page then shows the numbers of the old model
                log.warning("%s: the new model is not registered: %s", name, exc)
        self.commit()
        return not reason

    def swap_model(self, name: str, directory: Path) -> bool:
        """Load and use another model for a site; if it cannot be used, keep the old one and return False."""
        return self.use_model(name, self.prepare_model(name, directory))

    def commit(self) -> None:
        """Write what the buffers hold, then acknowledge the batches. A failing journal does not stop the scoring."""
        waiting = {name: buffer for name, buffer in self._buffers.items() if buffer}
        if not waiting:
            return
        began = time.monotonic()
        if began < self._commit_at:
            self._announce()
            return
        since_ms = self._failing_since_ms
        try:
            recovered = [] if since_ms is None else [Event(self._now_ms, "journal.recovered", {"since_ms": since_ms})]
            self.journal.write(
                [
                    buffer.to_commit(
                        self.sites[name],
                        summarize_site(self.sites[name], self.sources.get(name)),
                        recovered if at == 0 else [],
                    )
                    for at, (name, buffer) in enumerate(waiting.items())
                ]
            )
        except Exception as exc:  # also of a state that cannot be packed, for want of memory
            if not isinstance(exc, JournalError):
                log.exception("a commit failed")
            if (took_s := time.monotonic() - began) > SLOW_COMMIT_S:
                self._commit_at = began + 2 * took_s
            self._journal_failed(exc, next(iter(waiting)))
            return
        self._failing_since_ms = None
        for buffer in waiting.values():
            buffer.settle()
        self.journal.unwritten.clear()
        if self._report_damage(next(iter(waiting))):
            self.commit()

    def run(self, feeds: Iterable[Feed], stop: Flag) -> None:
        """Poll, score, commit and acknowledge until `stop` is set or every source has ended."""
        active = list(feeds)
        answered_at = time.monotonic()
        while active and not stop.is_set():
            timeout_s = POLL_S / len(active)
            active = [feed for feed in active if self._poll(feed, timeout_s)]
            if time.monotonic() - answered_at >= COMMANDS_EVERY_S:
                self.answer_commands()
                self._take_reports()
                if self.is_journal_failing:
                    self.commit()
                answered_at = time.monotonic()
        self.answer_commands()
        self._take_reports()
        self._commit_at = 0.0
        self.commit()

    def _poll(self, feed: Feed, timeout_s: float) -> bool:
        """Take one batch of one source; return False when the source has ended."""
        if (pause_s := feed.pause_s) > 0:
            time.sleep(min(timeout_s, pause_s))
            return True
        was_failing = feed.is_failing
        try:
            batch = feed.poll(timeout_s)
        except Exception as exc:  # whatever a source raises concerns its own site only
            self._record_now(feed.site, failure_event(feed, exc, self._time_ms(feed.site)))
            return True
        self._record_now(feed.site, connection_event(feed, self._time_ms(feed.site)))
        if was_failing and not feed.is_failing:
            self.record(feed.site, Event(self._time_ms(feed.site), "source.recovered", {}))
        if batch is not None:
            if feed.is_silent and len(batch):
                feed.is_silent = False
                self.record(feed.site, Event(self._time_ms(feed.site), "source.heard", {}))
            self.step(batch, feed if batch.receipt is not None or len(batch) else None)
            return True
        if feed.is_overdue(self.sites[feed.site].config.lost_after_ms / 1000):
            # without plant time the site itself cannot notice it
            refusals = self.sites[feed.site].point_watch.describe_refusals()
            self._record_now(feed.site, silent_event(feed, refusals, self._time_ms(feed.site)))
        if feed.status.is_finished:
            self.finish(feed.site)
            return False
        return True

    def _record_now(self, name: str, event: Event | None) -> None:
        if event is not None:
            self.record(name, event)
            self.commit()

    def _answer(self, number: int, name: str, text: str, sent_ms: int) -> None:
        buffer = self._buffers[name if name in self.sites else next(iter(self.sites))]
        try:
            if name not in self.sites:
                raise NotFoundError(f"site {name!r} is no longer monitored; monitored are {', '.join(self.sites)}")
            asked = parse_request(text, sent_ms)
            if isinstance(asked, Order):
                buffer.events += carry_out(asked, self.sites[name], self.sources.get(name), self._time_ms(name))
            else:
                asked = asked.given_at(sent_ms)
                buffer.events += self.sites[name].command(asked, self.journal.reader.incident(asked.target))
            buffer.answers.append((number, "done", ""))
        except Exception as exc:  # any process that may write the journal may have written the command
            if not isinstance(exc, GraphGHHAError):
                log.warning("%s: command %d was refused", name, number, exc_info=True)
            buffer.answers.append((number, "refused", encodable(f"{type(exc).__name__}: {exc}"[:MOST_ANSWER])))
            if name in self.sites:
                buffer.events.append(Event(self._time_ms(name), "operator.refused", refusal(text, exc)))

    def _guarded(self, name: str, work: Callable[[Site], Iterator[SiteUpdate]]) -> list[Event]:
        """Run one step of a site; if it fails, return the site to its last commit and report the failure."""
        buffer, events = self._buffers[name], list[Event]()
        try:
            for update in work(self.sites[name]):
                buffer.add(update)
                events += update.events
                if self.ending.is_set():
                    break
                if len(update.times_ms) >= ROWS_AT_ONCE:  # more may follow, for as long as a gap was
                    self.commit()
        except Exception as exc:
            log.exception("%s: a batch could not be scored", name)
            site = self.sites[name]
            if not buffer.rows:  # otherwise the journal is behind, and the state in memory is the better one
                try:
                    self.sites[name], _ = self._restore(name, site.detector, site.config)
                except Exception:  # what failed above may make this fail too
                    log.exception("%s: its last commit cannot be read; going on with the state in memory", name)
            failed = {"priority": "high", "reason": repr(exc)}
            update = SiteUpdate([Event(self._time_ms(name), "site.failed", failed)])
            buffer.add(update)
            events += update.events
        return events

    def _restore(self, name: str, detector: Detector, config: SiteConfig) -> tuple[Site, str]:
        """Return the site as stored in the journal, or a new one with the reason why that state cannot be used."""
        site, events, note = restore_site(self.journal, name, detector, config)
        self._buffers[name].events += events
        return site, note

    def _start_afresh(self, name: str) -> None:
        """Replace a site whose first reading had a wrong time, or that was silent for longer than a grid can bridge."""
        old, buffer = self.sites[name], self._buffers[name]
        self.sites[name] = site = Site(name, old.detector, old.config)
        buffer.events += site.inherit(old.board_state(), old.time_ms)
        reason = f"its points now state times far from {iso(old.time_ms)}; starting fresh"
        log.warning("%s: %s", name, reason)
        buffer.events.append(Event(old.time_ms, "site.reset", {"reason": reason}))

    def _report_damage(self, name: str) -> bool:
        """Report what was repaired in the journal, at a site of it; return False if there is nothing to report."""
        damage = self.journal.take_damage()
        if damage is not None:
            self.record(name, Event(self._time_ms(name), "journal.damaged", {"priority": "high", **damage}))
        return damage is not None

    def _announce(self) -> None:
        """Hand what the journal does not take to the sinks, as far as it has a priority."""
        for name, buffer in self._buffers.items():
            self.journal.unwritten.add(name, buffer.take_unannounced())

    def _journal_failed(self, exc: Exception, name: str) -> None:
        if self._failing_since_ms is None:
            self._failing_since_ms = self._now_ms
            log.error("the journal cannot be written; scoring continues: %s", exc)
            body = {"priority": "high", "reason": str(exc) or repr(exc)}
            self.record(name, Event(self._now_ms, "journal.failing", body))
        self._announce()
        for buffer in self._buffers.values():
            buffer.bound()

    @property
    def _now_ms(self) -> int:
        return max((self._time_ms(name) for name in self.sites), default=0)

    def _time_ms(self, name: str) -> int:
        """Return the plant time; before the first row, the time of this machine's clock."""
        return self.sites[name].time_ms or time.time_ns() // 1_000_000
