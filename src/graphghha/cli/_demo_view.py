"""The demonstration on a terminal: its lines, and its live view at a multiple of real time."""

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from graphghha.cli._site_view import SiteView, read_view
from graphghha.cli._terminal_view import render

if TYPE_CHECKING:
    from graphghha.alarms import Event
    from graphghha.demo import Demo

SHOWN = ("incident.annunciated", "incident.closed")


def lines(events: "Iterable[Event]") -> "Iterator[tuple[Event, str]]":
    """Yield the events that an operator sees, each with its line of text."""
    from graphghha._util.text import clean
    from graphghha.monitor import event_line
    from graphghha.monitor.display import PLAIN

    for event in events:
        if event.kind in SHOWN:
            yield event, clean(f"{PLAIN.moment(event.time_ms)}  {event_line(event.kind, event.body)}")


def show_demo(running: "Demo", speed: float) -> None:
    """Show the demonstration at a multiple of real time; Ctrl-C ends it and still prints the score card."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    pause_s = running.plant.step_s / speed
    console.print("simulating the preceding days to fill the detector's windows ...")
    try:
        with Live(console=console, refresh_per_second=8, screen=True) as live:
            due = time.monotonic()
            for _ in running.watch():
                live.update(render(demo_views(running), console.width, console.height))
                due = max(due + pause_s, time.monotonic() - 1.0)
                time.sleep(max(0.0, due - time.monotonic()))
    except KeyboardInterrupt:
        console.print("stopped")


def demo_views(running: "Demo") -> list[SiteView]:
    """Return the view of a demonstration, with the attacks that its simulator carries out now."""
    from graphghha.monitor.display import PLAIN

    attacks = running.attacks_now()
    note = f"The simulator attacks now: {', '.join(attacks)}" if attacks else "The simulator does not attack now."
    view = read_view(running.reader, running.SITE, PLAIN, note=note)
    return [view] if view else []
