"""Events about the source of a site: it is silent, cannot be reached, or fails."""

import logging

from graphghha.alarms import Event
from graphghha.monitor.feed import Feed

log = logging.getLogger(__name__)


def silent_event(feed: Feed, refusals: str, time_ms: int) -> Event:
    """Return the event of a source that has never sent a usable reading; `refusals` says why it could not be used."""
    reason = "; ".join(part for part in (feed.status.detail, refusals) if part)
    log.warning("%s: the source has not sent a usable reading: %s", feed.site, reason)
    return Event(time_ms, "source.silent", {"priority": "high", "reason": reason})


def connection_event(feed: Feed, time_ms: int) -> Event | None:
    """Return the event of a source that cannot be reached, again at growing intervals, or is reachable again."""
    away_s = feed.away_s or 0.0
    match feed.look():
        case "lost":
            reason, away_s = feed.status.detail, feed.away_s or 0.0
            log.warning("%s: no connection to the source: %s", feed.site, reason)
            text = f"no connection to the source for {_span(away_s)}: {reason}"
            body = {"reason": reason, "seconds": round(away_s), "text": text, "priority": "high"}
            return Event(time_ms, "source.unreachable", body)
        case "found":
            body = {"seconds": round(away_s), "text": f"the source is connected again after {_span(away_s)}"}
            return Event(time_ms, "source.reachable", body)
        case _:
            return None


def failure_event(feed: Feed, exc: Exception, time_ms: int) -> Event | None:
    """Delay the next attempt after an error of the source; return the event of the first error in a row."""
    reason, is_first = str(exc) or repr(exc), not feed.is_failing
    log.warning("%s: the source failed, next attempt in %.1f s: %s", feed.site, feed.note_failure(reason), reason)
    return Event(time_ms, "source.failed", {"reason": reason, "priority": "high"}) if is_first else None


def _span(seconds: float) -> str:
    """Return a span of time in words."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3600:.1f} h"
