"""`graphghha watch`: the monitor as a service, until it is stopped."""

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Event as Flag
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

import click

from graphghha.cli._model import MODEL
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import check_writable

if TYPE_CHECKING:
    from graphghha.cli._site_view import SiteView
    from graphghha.monitor import Display
    from graphghha.monitor.service import Service
    from graphghha.settings import Settings, SiteTable

_FOLDER = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("config", required=False, type=_FILE)
@click.option("--source", help="Instead of CONFIG: sim:fcu?zones=2, csv:FILE, parquet:FILE, mqtt://HOST/PREFIX, or -.")
@click.option("--plant", default="fcu", show_default=True, help="The plant of --source.")
@click.option("--zones", type=click.IntRange(1), help="Zones of --source, if it does not state them.")
@click.option("--model", type=MODEL, help="With --source: a model directory, or the name of a shipped model.")
@click.option("--mapping", type=_FILE, help="With --source: a mapping file from its names to points.")
@click.option("--time-zone", help="With --source: the site's zone, such as America/Chicago, to show times in.")
@click.option("--units", type=click.Choice(["degC", "degF"]), help="With --source: show temperatures in this unit.")
@click.option(
    "--state", type=_FOLDER, help="With --source: keep the journal here (default: a temporary folder, deleted on exit)."
)
@click.option(
    "--check",
    "is_check",
    is_flag=True,
    help="Only report which names map to points, and which points are silent.",
)
@click.option(
    "--seconds",
    default=70.0,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="How long --check listens.",
)
@click.option(
    "--write-mapping",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --check: draft a mapping file from what was heard.",
)
@click.option("--force", is_flag=True, help="Start although readings of a file do not fit the points they map to.")
@click.option("--live", is_flag=True, help="Show the sites on the whole terminal instead of printing lines.")
@click.option("--json", "as_json", is_flag=True, help="Write events as JSON lines.")
def watch(
    config: Path | None,
    is_check: bool,
    seconds: float,
    write_mapping: Path | None,
    force: bool,
    live: bool,
    as_json: bool,
    **short: Any,
) -> None:
    """Monitor plants and report attacks.

    The sites are those of the settings file CONFIG, or one site that reads from --source.
    """
    if (config is None) == (short["source"] is None):
        raise click.UsageError("give either a settings file or --source")
    if live and (as_json or is_check):
        raise click.UsageError("--live shows a view instead of lines: leave out --json and --check")
    if live and not sys.stdout.isatty():
        raise click.UsageError("--live needs a terminal; without it lines are printed")
    if write_mapping is not None:
        if not is_check:
            raise click.UsageError("--write-mapping belongs to --check")
        check_writable(write_mapping)
    with ExitStack() as resources:
        if config is None and short["state"] is None:
            short["state"] = Path(resources.enter_context(TemporaryDirectory(prefix="graphghha-")))
        settings = _settings(config, short)
        if is_check:
            _check(settings, seconds, as_json, write_mapping)
        else:
            _watch(settings, as_json, force, live)


def _settings(config: Path | None, short: dict[str, Any]) -> "Settings":
    from graphghha.errors import ConfigError
    from graphghha.settings import parse_settings, read_settings

    if config is not None:
        return read_settings(config)
    keys = ("source", "plant", "zones", "model", "mapping", "time_zone", "units")
    site = {"name": "site"} | {key: short[key] for key in keys if short[key] is not None}
    try:
        return parse_settings({"monitor": {"state_dir": short["state"]}, "site": [site]}, Path(), "watch")
    except ConfigError as exc:  # name the options of this command line, not the keys of a settings file
        raise ConfigError(str(exc).replace("site[0].", "--")) from exc


def _watch(settings: "Settings", as_json: bool, force: bool, is_live: bool) -> None:
    from graphghha.cli._event_lines import TextSink
    from graphghha.monitor import Display
    from graphghha.monitor.service import set_up_logs
    from graphghha.monitor.sinks import Cursor, FollowRule, JsonLinesStdout
    from graphghha.wiring import open_monitor

    secrets = [path.read_text(encoding="utf-8").strip() for path in settings.secret_files()]
    with ExitStack() as resources:
        stream = resources.enter_context(_log_file(settings)) if is_live else None
        set_up_logs(settings.log.level, settings.log.style, secrets=secrets, stream=stream)
        signals = resources.enter_context(handle_signals())
        if not force:
            refuse_implausible(settings)
        service = open_monitor(settings)
        signals.attach(service)
        displays = {site.name: Display(time_zone=site.time_zone, units=site.units) for site in settings.site}
        if is_live:
            resources.enter_context(_live_view(settings, displays))
            service.run()
        else:
            output = JsonLinesStdout("stdout", service.stop) if as_json else TextSink(service.stop, displays)
            service.follow(output, Cursor(settings.monitor.state_dir / "watch.cursor"), FollowRule())
            service.run()
        if signals.is_interrupted:  # everything is stored by now
            raise KeyboardInterrupt


def _log_file(settings: "Settings") -> IO[str]:
    """Open the file that takes the log while the terminal shows the view."""
    from graphghha.errors import ConfigError
    from graphghha.monitor.journal import make_private_folder

    path = settings.monitor.state_dir / "watch.log"
    try:
        make_private_folder(path.parent)
        return path.open("a", encoding="utf-8")
    except OSError as exc:
        raise ConfigError(f"{path}: {exc.strerror}; choose a state folder that can be written") from exc


@contextmanager
def _live_view(settings: "Settings", displays: "Mapping[str, Display]") -> Iterator[None]:
    """Show the sites on the terminal while the monitor runs."""
    from graphghha.cli._site_view import read_view
    from graphghha.cli._terminal_view import show_sites
    from graphghha.monitor import Reader

    path, stop = settings.monitor.state_dir / settings.monitor.journal, Flag()
    with Reader(path) as reader:

        def read() -> "list[SiteView]":
            views = [read_view(reader, name, display) for name, display in displays.items()]
            return [view for view in views if view is not None]

        shown = Thread(target=show_sites, args=(read, stop), name="live-view", daemon=True)
        shown.start()
        try:
            yield
        finally:
            stop.set()
            shown.join(5.0)


class Signals:
    """Signals that have arrived, and the service that they concern."""

    def __init__(self) -> None:
        self._arrived: SimpleQueue[int] = SimpleQueue()
        self._service: Service | None = None
        self.is_interrupted = False  # by Ctrl-C

    def attach(self, service: "Service") -> None:
        """Let signals act on this service from now on, instead of on one that was attached before."""
        is_first, self._service = self._service is None, service
        if is_first:
            Thread(target=self._act, name="signals", daemon=True).start()

    def _act(self) -> None:
        while self._service is not None:
            if self._arrived.get() == signal.SIGHUP:
                self._service.reload()
            else:
                self._service.stop()

    def handle(self, number: int, _frame: object) -> None:
        """Take a signal. This interrupts the main thread anywhere: it may use the queue but must not take a lock."""
        self._arrived.put(number)
        self.is_interrupted |= number == signal.SIGINT
        if self._service is None and number != signal.SIGHUP:
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(0)


@contextmanager
def handle_signals() -> Iterator[Signals]:
    """Let SIGTERM and SIGINT end the service, and SIGHUP load its models again.

    Until a service is attached there is nothing to shut down, so SIGTERM and SIGINT end the process at once: on a busy
    machine, starting may take a while.
    """
    signals = Signals()
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.signal(number, signals.handle) for number in numbers}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def refuse_implausible(settings: "Settings") -> None:
    """Raise if a recording cannot be what its site says it is: a live source is judged as its readings come."""
    from graphghha.checking import implausible
    from graphghha.errors import DataError

    if problems := [problem for site in settings.site if not site.force for problem in implausible(site)]:
        raise DataError("; ".join(problems))


def _topics(site: "SiteTable") -> str:
    """Return what was listened to at a broker."""
    from graphghha.sources import MqttConfig

    config = site.source_config
    return f", listening to {', '.join(config.filters)}" if isinstance(config, MqttConfig) else ""


def _slowness(site: "SiteTable", step_s: float) -> str:
    """Return what follows from readings of a live source that are longer apart than they stay fresh."""
    from graphghha.monitor.silence import slow_source_advice
    from graphghha.sources import FileConfig

    is_file = isinstance(site.source_config, FileConfig)
    if is_file or site.reports == "changes" or step_s <= 1.1 * site.stale_after_s:
        return ""
    return f", and they are used for {site.stale_after_s:g} s: {slow_source_advice(step_s)}"


def _check(settings: "Settings", seconds: float, as_json: bool, write_mapping: Path | None) -> None:
    from graphghha.checking import check_site, draft_mapping
    from graphghha.errors import DataError
    from graphghha.exports.notes import counted

    unusable = []
    for site in settings.site:
        report = check_site(site, seconds)
        if not report.mapped:
            is_heard = report.unmapped or report.rejected
            unmapped = (
                "none of the names that arrived maps to a point; draft a mapping file with --write-mapping FILE, "
                "look through it, and check again with --mapping FILE (mapping = in a settings file)"
            )
            silent = f"nothing arrived; {report.status.detail}{_topics(site) if report.status.is_connected else ''}"
            if not (is_heard and write_mapping):
                unusable.append(f"{site.name}: {unmapped if is_heard else silent}")
        if report.problem:
            unusable.append(report.problem)
        if write_mapping is not None:
            several = len(settings.site) > 1
            path = write_mapping.with_stem(f"{write_mapping.stem}-{site.name}") if several else write_mapping
            left = draft_mapping(site, report, path, seconds)
            resemble = f"; {counted(left, 'name')} in it resemble no point" if left else ""
            echo(f"{site.name}: wrote {path}{resemble}; look through it, then check with --mapping {path}", err=True)
        if as_json:
            echo_json({"site": site.name, **report.to_dict()})
            continue
        echo(
            f"{site.name}: {report.readings} readings in {report.seconds:.0f} s, {len(report.mapped)} names map, "
            f"{len(report.unmapped)} do not, {len(report.silent)} points are silent",
            err=True,
        )
        if report.rejected:
            reasons = ", ".join(f"{count} {why}" for why, count in sorted(report.rejected.items()))
            echo(f"{site.name}: rejected: {reasons}", err=True)
        for note in report.notes:
            echo(f"{site.name}: {note}", err=True)
        if report.step_s is not None:
            echo(
                f"{site.name}: a point has a reading every {report.step_s:g} s{_slowness(site, report.step_s)}",
                err=True,
            )
        if assumed := sum(each.is_assumed for each in report.mapped):
            echo(f"{site.name}: no unit is stated for {counted(assumed, 'name')}, marked ? below", err=True)
        if report.doubts:
            echo(f"{site.name}: readings of {counted(len(report.doubts), 'name')} do not fit", err=True)
        if report.mapped and not (report.status.is_connected or report.status.is_finished):
            echo(f"{site.name}: {report.status.detail}", err=True)
        for name, point, unit, readings, remark in report.rows():
            echo(f"{name:<40} {point:<28} {unit:<9} {readings:>8}  {remark}")
    if unusable:
        raise DataError("; ".join(unusable))
