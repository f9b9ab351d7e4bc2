"""Events as lines of text on standard output."""

from collections.abc import Callable, Sequence

from graphghha._util.text import clean
from graphghha._util.times import iso
from graphghha.alarms import StoredEvent
from graphghha.cli._output import echo
from graphghha.monitor import event_line

MOST_CHARACTERS = 400
# single alarms and operators' commands stay in the journal; on a screen they would hide the incidents
_LEFT_OUT = ("alarm.", "operator.", "nodes.", "truth.", "incident.updated")


class TextSink:
    """A sink that prints one line per event; calls `on_closed` when the reader has closed the pipe."""

    name = "terminal"

    def __init__(self, on_closed: Callable[[], None]) -> None:
        self._on_closed = on_closed

    def deliver(self, events: Sequence[StoredEvent]) -> None:
        """Print the events that concern an operator."""
        try:
            for event in events:
                if not event.kind.startswith(_LEFT_OUT):
                    echo(f"{iso(event.time_ms)[:16].replace('T', ' ')}  {event.site}  {_line(event)}")
        except BrokenPipeError:
            self._on_closed()
            raise

    def close(self) -> None:
        """Leave standard output open."""


def _line(event: StoredEvent) -> str:
    if event.kind.startswith("incident."):
        return clean(event_line(event.kind, dict(event.body)), MOST_CHARACTERS)
    details = ", ".join(f"{name} {value}" for name, value in event.body.items() if name != "priority")
    return clean(f"{event.kind.replace('.', ' ')}{f': {details}' if details else ''}", MOST_CHARACTERS)
