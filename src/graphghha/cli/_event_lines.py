"""Events as lines of text on standard output."""

import re
from collections.abc import Callable, Mapping, Sequence

from graphghha._util.text import clean
from graphghha._util.times import parse_time_ms
from graphghha.alarms import StoredEvent
from graphghha.cli._output import echo
from graphghha.monitor import Display, event_line
from graphghha.monitor.display import PLAIN
from graphghha.monitor.journal.unwritten import MARK, NOT_JOURNALED

MOST_CHARACTERS = 400
# single alarms and operators' commands stay in the journal; on a screen they would hide the incidents
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_LEFT_OUT = ("alarm.", "operator.", "nodes.", "truth.", "incident.updated")


class TextSink:
    """A sink that prints one line per event; calls `on_closed` when the reader has closed the pipe."""

    name = "terminal"

    def __init__(self, on_closed: Callable[[], None], displays: Mapping[str, Display]) -> None:
        """`displays` say how the times and readings of each site are shown."""
        self._on_closed, self._displays = on_closed, displays

    def deliver(self, events: Sequence[StoredEvent]) -> None:
        """Print the events that concern an operator."""
        try:
            for event in events:
                if not event.kind.startswith(_LEFT_OUT):
                    display = self._displays.get(event.site, PLAIN)
                    echo(f"{display.moment(event.time_ms)}  {event.site}  {_line(event, display)}")
        except BrokenPipeError:
            self._on_closed()
            raise

    def close(self) -> None:
        """Leave standard output open."""


def _line(event: StoredEvent, display: Display) -> str:
    if event.kind.startswith("incident."):
        mark = f" ({MARK})" if event.body.get(NOT_JOURNALED) else ""
        return clean(event_line(event.kind, dict(event.body), display), MOST_CHARACTERS) + mark
    if isinstance(text := event.body.get("text"), str):
        return clean(text, MOST_CHARACTERS)
    what = event.kind.partition(".")[2] if event.kind.startswith("site.") else event.kind.replace(".", " ")
    body = {name: value for name, value in event.body.items() if name not in ("priority", NOT_JOURNALED)}
    details = ", ".join(f"{name} {_value(value, event, display)}" for name, value in body.items())
    mark = f" ({MARK})" if event.body.get(NOT_JOURNALED) and "reason" not in body else ""
    return clean(f"{what}{f': {details}' if details else ''}{mark}", MOST_CHARACTERS)


def _value(value: object, event: StoredEvent, display: Display) -> str:
    """Return a value of an event for people: a time in the zone of the site, anything else as it is."""
    is_time = isinstance(value, str) and _TIME.fullmatch(value) and parse_time_ms(value) is not None
    return display.clock(str(value), event.time_ms) if is_time else str(value)
