"""Events as lines for people."""

from collections.abc import Callable, Sequence

import click

from graphghha.monitor.incident_json import news
from graphghha.monitor.sinks import Event
from graphghha.monitor.sinks.text import clean, utc

# single alarms and operators' commands are in the journal; on a screen they would bury the incidents
_LEFT_OUT = ("alarm.", "operator.", "nodes.", "truth.", "incident.updated")


class LinesForPeople:
    """A sink that prints; when nobody reads any more, `on_closed` is called."""

    name = "terminal"

    def __init__(self, on_closed: Callable[[], None]) -> None:
        self._on_closed = on_closed

    def deliver(self, events: Sequence[Event]) -> None:
        try:
            for event in events:
                if not event.kind.startswith(_LEFT_OUT):
                    click.echo(f"{utc(event.time_ms)[:16].replace('T', ' ')}  {event.site}  {_line(event)}")
        except BrokenPipeError:
            self._on_closed()
            raise

    def close(self) -> None:
        pass


def _line(event: Event) -> str:
    if event.kind.startswith("incident."):
        return clean(news(event.kind, dict(event.body)), 400)
    said = ", ".join(f"{name} {value}" for name, value in event.body.items() if name != "priority")
    return clean(f"{event.kind.replace('.', ' ')}{f': {said}' if said else ''}", 400)
