"""The live terminal view of a demonstration: zones by worst state, the newest incidents as sentences, counters."""

import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from graphghha.wiring import Demo, Minute

NEWEST = 10


def show_live(running: "Demo", speed: float) -> None:
    """Show the demonstration at a multiple of real time; Ctrl-C ends it and leaves the score card."""
    from rich.console import Console
    from rich.live import Live

    from graphghha.wiring import describe

    console, told = Console(stderr=True), deque[str](maxlen=NEWEST)
    pause_s = 60.0 / speed
    console.print("simulating the days before, which fill the detector's windows ...")
    try:
        with Live(console=console, refresh_per_second=8) as live:
            due = time.monotonic()
            for minute in running.watch():
                told.extend(f"{str(minute.time)[11:16]}  {describe(n, running.plant)}" for n in minute.notices)
                live.update(_view(running, minute, told))
                due = max(due + pause_s, time.monotonic() - 1.0)
                time.sleep(max(0.0, due - time.monotonic()))
    except KeyboardInterrupt:
        console.print("stopped")


def write_picture(running: "Demo", minute: "Minute", told: "deque[str]", path: "Path") -> None:
    """The view of one minute as an SVG."""
    import io

    from rich.console import Console

    console = Console(record=True, width=116, file=io.StringIO())
    console.print(_view(running, minute, told))
    path.write_text(console.export_svg(title="graphghha demo"), encoding="utf-8")


def _view(running: "Demo", minute: "Minute", told: "deque[str]") -> "RenderableType":
    from rich.columns import Columns
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    graph = running.pipeline.graph
    zones = tuple(dict.fromkeys(zone for zone in graph.zones if zone is not None))
    state = {zone: ("normal", "green") for zone in zones}
    for node, unknown in enumerate(minute.alarms.unknown):
        if unknown and (zone := graph.zones[node]) is not None:
            state[zone] = ("unknown", "grey50")
    for incident in minute.incidents:
        if incident.is_annunciated and incident.standing and incident.zone is not None:
            state[incident.zone] = ("ATTACK", "bold white on red")
    tiles = [Panel(Text(word, style=style), title=zone, width=18) for zone, (word, style) in state.items()]
    open_count = sum(bool(incident.is_annunciated and incident.standing) for incident in minute.incidents)
    header = Text(f"data as of {str(minute.time).replace('T', ' ')}    open incidents: {open_count}", style="bold")
    news = Panel(Text("\n".join(told) or "nothing to report"), title="newest incidents")
    return Group(header, Columns(tiles), news)
