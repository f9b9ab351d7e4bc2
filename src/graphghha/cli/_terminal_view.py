"""The live view of a site on a terminal: zones by worst state, newest incidents as sentences, counters."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from graphghha.alarms import Event
    from graphghha.demo import Demo

NEWEST = 10
SHOWN = ("incident.annunciated", "incident.closed")
STYLES = {
    "unacknowledged": "bold white on red",
    "acknowledged": "red",
    "returned": "yellow",
    "unknown": "grey50",
    "normal": "green",
}


def lines(events: "Iterable[Event]") -> "Iterator[tuple[Event, str]]":
    """Yield the events that an operator sees, each with its line of text."""
    from graphghha._util.text import clean
    from graphghha.monitor import event_line
    from graphghha.monitor.display import PLAIN

    for event in events:
        if event.kind in SHOWN:
            yield event, clean(f"{PLAIN.moment(event.time_ms)}  {event_line(event.kind, event.body)}")


def show_live(running: "Demo", speed: float) -> None:
    """Show the demonstration at a multiple of real time; Ctrl-C ends it and still prints the score card."""
    from rich.console import Console
    from rich.live import Live

    console, newest = Console(stderr=True), deque[str](maxlen=NEWEST)
    pause_s = running.plant.step_s / speed
    console.print("simulating the preceding days to fill the detector's windows ...")
    try:
        with Live(console=console, refresh_per_second=8) as live:
            due = time.monotonic()
            for minute in running.watch():
                newest.extend(line for _, line in lines(minute.events))
                live.update(render(running.status(), newest))
                due = max(due + pause_s, time.monotonic() - 1.0)
                time.sleep(max(0.0, due - time.monotonic()))
    except KeyboardInterrupt:
        console.print("stopped")


def write_picture(status: dict[str, Any], newest: Iterable[str], path: "Path") -> None:
    """Write the view of a site as an SVG file."""
    import io

    from rich.console import Console

    console = Console(record=True, width=116, file=io.StringIO())
    console.print(render(status, newest))
    path.write_text(console.export_svg(title="graphghha demo"), encoding="utf-8")


def render(status: dict[str, Any], newest: Iterable[str]) -> "RenderableType":
    """Return the view of a site, from its `read_status` and the newest lines."""
    from rich.columns import Columns
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    tiles = [
        Panel(Text(_label(zone["state"]), style=STYLES.get(zone["state"], "blue")), title=zone["zone"] or "", width=18)
        for zone in status["zones"]
    ]
    counters = status["counters"]
    header = Text(
        f"data as of {status['as_of'].replace('T', ' ')}    open incidents: {status['open_incidents']}    "
        f"readings: {sum(counters[name] for name in ('accepted', 'superseded', 'duplicate', 'conflict')):,}    "
        f"late: {counters['late']:,}    stale: {counters['stale']:,}",
        style="bold",
    )
    incidents = Panel(Text("\n".join(newest) or "nothing to report"), title="newest incidents")
    return Group(header, Columns(tiles), incidents)


def _label(state: str) -> str:
    return "ATTACK" if state == "unacknowledged" else state
