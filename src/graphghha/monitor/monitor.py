"""Many sites in one process: readings in, journal out, nothing acknowledged before it is on the disk.

One site's error never stops another; a disk that fails stops the journal, not the scoring.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event as Flag

import numpy as np

from graphghha.alarms import Command, Fact, iso, refold
from graphghha.errors import ConfigError, GraphGHHAError, JournalError, NotFoundError
from graphghha.monitor.commit_buffer import Pending
from graphghha.monitor.detector import Detector
from graphghha.monitor.feed import Feed
from graphghha.monitor.journal.journal import Journal
from graphghha.monitor.site import Outcome, Site, SiteConfig
from graphghha.monitor.status import summarise
from graphghha.sources import Batch, Source
from graphghha.windows import Rows

log = logging.getLogger(__name__)
POLL_S, COMMANDS_EVERY_S = 0.05, 0.25


class Monitor:
    """Feed it batches, or let it run on sources."""

    def __init__(self, journal: Journal, *, load: Callable[[str, Path], Detector] | None = None) -> None:
        """`load(site, directory)` makes a verified detector of a model directory; only swapping models needs it."""
        self.journal, self._load = journal, load
        self.sites: dict[str, Site] = {}
        self._pending: dict[str, Pending] = {}
        self._failing_since_ms: int | None = None
        self._told_damage = journal.damage is None

    @property
    def is_journal_failing(self) -> bool:
        return self._failing_since_ms is not None

    def add(self, name: str, detector: Detector, config: SiteConfig | None = None) -> Site:
        """Watch a site: as it stood in the journal, or from the beginning."""
        if name in self.sites:
            raise ConfigError(f"site {name!r} is watched already")
        config = config or SiteConfig()
        pending = self._pending[name] = Pending()
        self.sites[name], note = self._restored(name, detector, config)
        graph = detector.graph
        zones = list(dict.fromkeys(zone for zone in graph.zones if zone is not None))
        what = {"plant": detector.plant.name, "model": detector.model, "zones": zones, "nodes": list(graph.names)}
        self.journal.register(name, {**what, "points": list(detector.points), "step_ms": config.intake.step_ms})
        now_ms = self._time_ms(name)
        if not self._told_damage:
            pending.facts.append(Fact(now_ms, "journal.damaged", {"priority": "high", **(self.journal.damage or {})}))
            self._told_damage = True
        if note:
            log.warning("%s: %s", name, note)
            pending.facts.append(Fact(now_ms, "site.reset", {"reason": note}))
        return self.sites[name]

    def step(self, batch: Batch, source: Source | None = None) -> list[Fact]:
        """Judge a batch, write what came of it, then acknowledge it to its source."""
        if batch.site not in self.sites:
            raise NotFoundError(f"no site {batch.site!r}; watched are {', '.join(self.sites) or 'none'}")
        facts = self._guarded(batch.site, lambda site: site.take(batch))
        if self.sites[batch.site].intake.is_adrift:
            self._begin_anew(batch.site)
            facts += self._guarded(batch.site, lambda site: site.take(batch))
        if source is not None:
            self._pending[batch.site].hold(source, batch)
        self.commit()
        return facts

    def finish(self, name: str) -> list[Fact]:
        """The source of a site has ended: judge what is still open."""
        facts = self._guarded(name, Site.finish)
        self.commit()
        return facts

    def note(self, name: str, fact: Fact) -> None:
        """Something to be journaled beside what the site itself says."""
        self._pending[name].facts.append(fact)

    def serve(self) -> None:
        """Answer operators who left commands in the journal."""
        commands = self.journal.pending_commands()
        answered = {number for pending in self._pending.values() for number, *_ in pending.answers}
        for number, name, command in commands:
            if number not in answered:  # else the answer waits for the disk
                self._answer(number, name, command)
        if commands:
            self.commit()

    def command(self, name: str, command: Command) -> list[Fact]:
        """Fold a command of an operator in this process; refused ones raise."""
        facts = self.sites[name].command(command, self.journal.reader.incident(command.target))
        self._pending[name].facts += facts
        self.commit()
        return facts

    def swap(self, name: str, directory: Path) -> bool:
        """Another model for a site, verified first; the old one stays when the new one fails."""
        site = self.sites[name]
        assert self._load is not None, "a monitor that swaps models is given `load`"
        try:
            detector = self._load(name, directory)
            site.swap(detector, self._history(name, detector))
        except Exception as exc:  # whatever is wrong with the new one, the old one goes on
            is_ours = isinstance(exc, GraphGHHAError)
            reason = str(exc) if is_ours else repr(exc)
            log.error("%s: model %s refused: %s", name, directory, reason, exc_info=not is_ours)
            body = {"directory": directory.name, "reason": reason, "kept": site.detector.model}
            self.note(name, Fact(self._time_ms(name), "model.refused", body))
            self.commit()
            return False
        self.note(name, Fact(self._time_ms(name), "model.swapped", {"model": detector.model}))
        self.commit()
        return True

    def commit(self) -> None:
        """Write what is pending, then acknowledge. A failing journal is an event of its own; scoring goes on."""
        waiting = {name: pending for name, pending in self._pending.items() if pending}
        if not waiting:
            return
        since_ms = self._failing_since_ms
        try:
            back = [Fact(self._now_ms, "journal.recovered", {"since_ms": since_ms})] if since_ms is not None else []
            self.journal.write(
                [
                    pending.entry(self.sites[name], summarise(self.sites[name]), back if at == 0 else [])
                    for at, (name, pending) in enumerate(waiting.items())
                ]
            )
        except JournalError as exc:
            self._journal_failed(exc, next(iter(waiting)))
            return
        self._failing_since_ms = None
        for pending in waiting.values():
            pending.settle()

    def run(self, sources: Mapping[str, Source], stop: Flag) -> None:
        """Poll, judge, commit, acknowledge, until told to stop or every source has ended."""
        feeds = {name: Feed(source, self.sites[name].intake.received_ms) for name, source in sources.items()}
        served = time.monotonic()
        while feeds and not stop.is_set():
            for name, feed in list(feeds.items()):
                if not self._pull(name, feed, POLL_S / len(feeds)):
                    del feeds[name]
            if time.monotonic() - served >= COMMANDS_EVERY_S:
                self.serve()
                served = time.monotonic()
        self.serve()
        self.commit()

    def _pull(self, name: str, feed: Feed, timeout_s: float) -> bool:
        """One batch of one source; False when it has ended."""
        now = time.monotonic()
        if now < feed.not_before:
            time.sleep(min(timeout_s, feed.not_before - now))
            return True
        try:
            batch = feed.source.poll(timeout_s)
        except Exception as exc:  # whatever a source throws concerns its own site only
            self._source_failed(name, feed, exc)
            return True
        if batch is None:
            if feed.source.status.is_finished:
                if feed.is_awaited:
                    self._tell_silence(name, feed)
                self.finish(name)
                return False
            batch = feed.tick(name, now)
            self._await(name, feed, now)
        if batch is not None:
            feed.heard(batch, now)
            self.step(batch, feed.source if batch.receipt is not None or len(batch) else None)
        return True

    def _await(self, name: str, feed: Feed, now: float) -> None:
        """A site that was never heard has no plant time yet, and still must not be silent without a word."""
        if feed.is_awaited and now - feed.began >= self.sites[name].config.lost_after_ms / 1000:
            self._tell_silence(name, feed)

    def _tell_silence(self, name: str, feed: Feed) -> None:
        feed.is_awaited = False
        reason = feed.source.status.detail
        log.warning("%s: not one usable reading: %s", name, reason)
        self.note(name, Fact(self._time_ms(name), "source.silent", {"priority": "high", "reason": reason}))
        self.commit()

    def _source_failed(self, name: str, feed: Feed, exc: Exception) -> None:
        log.warning("%s: source failed, next try in %g s: %s", name, feed.back_off_s, exc)
        if feed.is_first_failure:
            self.note(name, Fact(self._time_ms(name), "source.failed", {"reason": str(exc)}))
            self.commit()
        feed.back_off(time.monotonic())

    def _answer(self, number: int, name: str, text: str) -> None:
        pending = self._pending[name if name in self.sites else next(iter(self.sites))]
        try:
            if name not in self.sites:
                raise NotFoundError(f"site {name!r} is not watched any more; watched are {', '.join(self.sites)}")
            command = Command.from_dict(json.loads(text))
            pending.facts += self.sites[name].command(command, self.journal.reader.incident(command.target))
            pending.answers.append((number, "done", ""))
        except (GraphGHHAError, ValueError) as exc:
            pending.answers.append((number, "refused", f"{type(exc).__name__}: {exc}"))

    def _guarded(self, name: str, work: Callable[[Site], Outcome]) -> list[Fact]:
        """A site that fails goes back to its last commit; the batch that did it is reported and left."""
        pending = self._pending[name]
        try:
            outcome = work(self.sites[name])
        except Exception as exc:
            log.exception("%s: a batch could not be judged", name)
            site = self.sites[name]
            if not pending.rows:  # else the journal is behind, and memory is the better witness
                self.sites[name], _ = self._restored(name, site.detector, site.config)
            failed = {"priority": "high", "reason": repr(exc)}
            outcome = Outcome([Fact(self._time_ms(name), "site.failed", failed)])
        pending.add(outcome)
        return outcome.facts

    def _restored(self, name: str, detector: Detector, config: SiteConfig) -> tuple[Site, str]:
        kept, reader = None, self.journal.reader
        try:
            kept = reader.checkpoint(name)
            if kept is not None:
                return Site.from_state(name, detector, config, *kept, self._history(name, detector)), ""
            reason = "it is not in the journal"
        except (GraphGHHAError, KeyError, TypeError, ValueError) as exc:
            reason = str(exc)
        site, events = Site(name, detector, config), reader.site_events(name)
        if not events:
            return site, "" if kept is None else f"its state cannot be used, it begins anew: {reason}"
        # what operators were told and have said stands in the events, whatever became of the checkpoint
        desk = refold(((event.kind, event.body) for event in events), detector.graph.names, latching=config.latching)
        self._pending[name].facts += site.inherit(kept[1] if kept else desk, events[-1].time_ms)
        return site, f"its state cannot be used, it begins anew: {reason}"

    def _begin_anew(self, name: str) -> None:
        """The first reading ever bore a wrong time, or the site stood still for longer than a grid can bridge."""
        old, pending = self.sites[name], self._pending[name]
        self.sites[name] = site = Site(name, old.detector, old.config)
        pending.facts += site.inherit(old.desk.to_dict(), old.time_ms)
        reason = f"its points have gone on far from {iso(old.time_ms)}, it begins anew"
        log.warning("%s: %s", name, reason)
        pending.facts.append(Fact(old.time_ms, "site.reset", {"reason": reason}))

    def _history(self, name: str, detector: Detector) -> Rows:
        rows = self.journal.reader.rows(name, newest=detector.history_rows) if detector.history_rows else None
        if rows is not None and rows.values.shape[1] == len(detector.points):
            return rows
        none = np.empty((0, len(detector.points)))
        return Rows(np.empty(0, np.int64), none, none.astype(np.bool_), np.empty(0, np.bool_))

    def _journal_failed(self, exc: JournalError, name: str) -> None:
        if self._failing_since_ms is None:
            self._failing_since_ms = self._now_ms
            log.error("the journal cannot be written; scoring goes on: %s", exc)
            body = {"priority": "high", "reason": str(exc)}
            self._pending[name].facts.append(Fact(self._now_ms, "journal.failing", body))
        for pending in self._pending.values():
            pending.bound()

    @property
    def _now_ms(self) -> int:
        return max((self._time_ms(name) for name in self.sites), default=0)

    def _time_ms(self, name: str) -> int:
        """Plant time; before the first row nobody but this machine's clock can tell."""
        return self.sites[name].time_ms or time.time_ns() // 1_000_000
