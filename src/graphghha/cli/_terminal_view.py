"""The live terminal view of a site: zones by worst state, the newest incidents as sentences, counters."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from graphghha.alarms import Fact
    from graphghha.demo import Demo

NEWEST = 10
TOLD = ("incident.annunciated", "incident.closed")
STYLES = {
    "unacknowledged": "bold white on red",
    "acknowledged": "red",
    "returned": "yellow",
    "unknown": "grey50",
    "normal": "green",
}


def lines(facts: "Iterable[Fact]") -> "Iterator[tuple[Fact, str]]":
    """What an operator is told, each with its sentence."""
    from graphghha.alarms import iso
    from graphghha.monitor.incident_json import news

    for fact in facts:
        if fact.kind in TOLD:
            yield fact, f"{iso(fact.time_ms)[11:16]}  {news(fact.kind, fact.body)}"


def show_live(running: "Demo", speed: float) -> None:
    """Show the demonstration at a multiple of real time; Ctrl-C ends it and leaves the score card."""
    from rich.console import Console
    from rich.live import Live

    console, told = Console(stderr=True), deque[str](maxlen=NEWEST)
    pause_s = 60.0 / speed
    console.print("simulating the days before, which fill the detector's windows ...")
    try:
        with Live(console=console, refresh_per_second=8) as live:
            due = time.monotonic()
            for minute in running.watch():
                told.extend(line for _, line in lines(minute.facts))
                live.update(render(running.view(), told))
                due = max(due + pause_s, time.monotonic() - 1.0)
                time.sleep(max(0.0, due - time.monotonic()))
    except KeyboardInterrupt:
        console.print("stopped")


def write_picture(view: dict[str, Any], told: Iterable[str], path: "Path") -> None:
    """A view as an SVG."""
    import io

    from rich.console import Console

    console = Console(record=True, width=116, file=io.StringIO())
    console.print(render(view, told))
    path.write_text(console.export_svg(title="graphghha demo"), encoding="utf-8")


def render(view: dict[str, Any], told: Iterable[str]) -> "RenderableType":
    """A view (`graphghha.monitor.status`) for a terminal."""
    from rich.columns import Columns
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    tiles = [
        Panel(Text(_word(zone["state"]), style=STYLES.get(zone["state"], "blue")), title=zone["zone"] or "", width=18)
        for zone in view["zones"]
    ]
    counters = view["counters"]
    header = Text(
        f"data as of {view['as_of'].replace('T', ' ')}    open incidents: {view['open_incidents']}    "
        f"readings: {sum(counters[name] for name in ('accepted', 'superseded', 'duplicate', 'conflict')):,}    "
        f"late: {counters['late']:,}    stale: {counters['stale']:,}",
        style="bold",
    )
    news = Panel(Text("\n".join(told) or "nothing to report"), title="newest incidents")
    return Group(header, Columns(tiles), news)


def _word(state: str) -> str:
    return "ATTACK" if state == "unacknowledged" else state
