"""`graphghha watch`: telemetry in, alarms out, until told to stop."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from graphghha.monitor.service.service import Service
    from graphghha.settings import Settings

_FOLDER = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("config", required=False, type=_FILE)
@click.option("--source", help="Instead of CONFIG: sim:fcu?zones=2, csv:FILE, parquet:FILE, mqtt://HOST/PREFIX, or -.")
@click.option("--plant", default="fcu", show_default=True, help="With --source.")
@click.option("--zones", type=click.IntRange(1), help="With --source, when it does not tell.")
@click.option("--model", type=_FOLDER, help="With --source: a model directory; the shipped one without it.")
@click.option("--mapping", type=_FILE, help="With --source: what its names mean.")
@click.option("--state", type=_FOLDER, help="With --source: where the journal stays; it is thrown away without it.")
@click.option("--check", "is_check", is_flag=True, help="Only listen: what maps, what does not, what is silent.")
@click.option(
    "--seconds",
    default=70.0,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="How long --check listens.",
)
@click.option("--json", "as_json", is_flag=True, help="Events as JSON lines.")
def watch(config: Path | None, is_check: bool, seconds: float, as_json: bool, **short: Any) -> None:
    """Watch plants as CONFIG says, or one plant from --source, and tell who is under attack."""
    if (config is None) == (short["source"] is None):
        raise click.UsageError("give a settings file, or --source")
    with ExitStack() as resources:
        if config is None and short["state"] is None:
            short["state"] = Path(resources.enter_context(TemporaryDirectory(prefix="graphghha-")))
        settings = _settings(config, short)
        if is_check:
            _check(settings, seconds, as_json)
        else:
            _watch(settings, as_json)


def _settings(config: Path | None, short: dict[str, Any]) -> "Settings":
    from graphghha.errors import ConfigError
    from graphghha.settings import parse_settings, read_settings

    if config is not None:
        return read_settings(config)
    keys = ("source", "plant", "zones", "model", "mapping")
    site = {"name": "site"} | {key: short[key] for key in keys if short[key] is not None}
    try:
        return parse_settings({"monitor": {"state_dir": short["state"]}, "site": [site]}, Path(), "watch")
    except ConfigError as exc:  # in the words of this command line
        raise ConfigError(str(exc).replace("site[0].", "--")) from exc


def _watch(settings: "Settings", as_json: bool) -> None:
    from graphghha.cli._event_lines import LinesForPeople
    from graphghha.monitor.service.logs import set_up_logs
    from graphghha.monitor.sinks.cursor import Cursor
    from graphghha.monitor.sinks.follow import FollowRule
    from graphghha.monitor.sinks.jsonl import JsonLinesStdout
    from graphghha.wiring import open_monitor

    secrets = [path.read_text(encoding="utf-8").strip() for path in settings.secret_files()]
    set_up_logs(settings.log.level, settings.log.style, secrets=secrets)
    with _signals() as attach:
        service = open_monitor(settings)
        attach(service)
        shown = JsonLinesStdout("stdout", service.stop) if as_json else LinesForPeople(service.stop)
        service.follow(shown, Cursor(settings.monitor.state_dir / "watch.cursor"), FollowRule())
        service.run()


@contextmanager
def _signals() -> Iterator[Callable[["Service"], None]]:
    """SIGTERM and SIGINT end the service, SIGHUP loads its models again.

    Before it stands there is nothing to end in order, and on a busy machine starting may take long: it ends at once.
    """
    arrived: SimpleQueue[int] = SimpleQueue()
    stands = False

    def attach(service: "Service") -> None:
        nonlocal stands
        stands = True

        def act() -> None:
            while True:
                if arrived.get() == signal.SIGHUP:
                    service.reload()
                else:
                    service.stop()

        Thread(target=act, name="signals", daemon=True).start()

    def handle(number: int, _frame: object) -> None:
        # it interrupts the main thread wherever it is: it may put into this queue, but not touch a lock
        arrived.put(number)
        if not stands and number != signal.SIGHUP:
            raise SystemExit(0)

    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield attach
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _check(settings: "Settings", seconds: float, as_json: bool) -> None:
    from graphghha.errors import DataError
    from graphghha.wiring import check_site

    deaf = []
    for site in settings.site:
        report = check_site(site, seconds)
        if not report.mapped:
            is_heard = report.unmapped or report.rejected
            cure = "nothing that was heard maps to a point; tie its names with a mapping file"
            deaf.append(f"{site.name}: {cure if is_heard else f'nothing was heard; {report.status.detail}'}")
        if as_json:
            click.echo(json.dumps({"site": site.name, **report.to_dict()}))
            continue
        click.echo(
            f"{site.name}: {report.readings} readings in {report.seconds:.0f} s, {len(report.mapped)} names map, "
            f"{len(report.unmapped)} do not, {len(report.silent)} points are silent",
            err=True,
        )
        if report.rejected:
            unused = ", ".join(f"{count} {why}" for why, count in sorted(report.rejected.items()))
            click.echo(f"{site.name}: not used: {unused}", err=True)
        if report.mapped and not (report.status.is_connected or report.status.is_finished):
            click.echo(f"{site.name}: {report.status.detail}", err=True)
        for name, point, readings, remark in report.rows():
            click.echo(f"{name:<40} {point:<28} {readings:>8}  {remark}")
    if deaf:
        raise DataError("; ".join(deaf))
