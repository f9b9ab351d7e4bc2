"""One run of the demonstration's building after the other, in a folder that keeps them apart."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING

from graphghha.errors import ConfigError

if TYPE_CHECKING:
    from graphghha.alarms import StoredEvent
    from graphghha.cli.watch import Signals
    from graphghha.web.config import WebConfig

SEED = 7
RUNS = "runs"
SHOWN = ("incident.annunciated", "incident.closed")


class DemoRun:
    """The folder of the demonstration: the journal of the present run, and those of runs before it under `runs`."""

    def __init__(self, folder: Path, *, speed: float) -> None:
        self.folder, self._speed = folder, speed

    def seed_of(self, wanted: int | None) -> int:
        """Return the seed of the building that the folder's journal holds, otherwise the wanted one."""
        seed = self._seed_before()
        if seed is None:
            return SEED if wanted is None else wanted
        if wanted is not None and wanted != seed:
            raise ConfigError(
                f"{self.folder} holds the building with seed {seed}; leave --seed out to go on with it, or give "
                "another --state"
            )
        return seed

    def _seed_before(self) -> int | None:
        from graphghha.monitor.journal import PageReader
        from graphghha.showcase import SITE, showcase_settings
        from graphghha.wiring import web_config

        journal = web_config(showcase_settings(self.folder)).journal
        if not journal.is_file():
            return None
        with PageReader(journal) as reader:
            about = reader.about(SITE) if SITE in reader.sites() else None
        return None if about is None else about[1].get("seed")

    def watch(self, seed: int, web: "WebConfig", sock: socket, signals: "Signals") -> int | None:
        """Monitor and serve the building to its end; return the seed of the next one if somebody asked for it."""
        from graphghha.cli._event_lines import TextSink
        from graphghha.cli.serve import run_with_page
        from graphghha.monitor.orders import STARTED_OVER
        from graphghha.monitor.sinks import Cursor, FollowRule
        from graphghha.showcase import scheduled_attacks, showcase_settings
        from graphghha.wiring import open_monitor

        settings = showcase_settings(self.folder, seed=seed, speed=self._speed)
        scheduled = scheduled_attacks(settings, web.journal)
        service = open_monitor(settings)
        for event in scheduled:
            service.record(settings.site[0].name, event)
        service.follow(TextSink(service.stop, {}), Cursor(self.folder / "demo.cursor"), FollowRule(kinds=SHOWN))
        wish = Wish(service.stop)
        service.follow(wish, Cursor(self.folder / "wish.cursor"), FollowRule(kinds=(STARTED_OVER,)))
        run_with_page(service, web, sock.dup(), signals)
        return wish.seed

    def put_away(self) -> None:
        """Move what belongs to the run that has ended to a folder of its own; who may log in stays."""
        from graphghha.web.config import ACCESS_FILE

        runs = self.folder / RUNS
        place = runs / str(1 + sum(1 for _ in runs.glob("*")))
        place.mkdir(parents=True)
        for file in list(self.folder.iterdir()):
            if file.name != RUNS and not file.name.startswith(ACCESS_FILE):
                shutil.move(file, place / file.name)


class Wish:
    """A sink that ends the run when the studio asks for the next one."""

    name = "studio"

    def __init__(self, stop: Callable[[], None]) -> None:
        self.seed: int | None = None
        self._stop = stop

    def deliver(self, events: "Sequence[StoredEvent]") -> None:
        self.seed = int(events[-1].body["seed"])
        self._stop()

    def close(self) -> None:
        """Hold nothing."""
