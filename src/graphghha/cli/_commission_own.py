"""`graphghha commission` for the model of a plant of the user's own: it learns on."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphghha.cli._output import echo, echo_json

if TYPE_CHECKING:
    from graphghha.exports.recordings import Recording
    from graphghha.models.own import OwnModel

JOURNAL = ".sqlite"
MOST_DAYS = 90  # of a journal


def commission_own(data: Path, site: str | None, model: Path, out: Path, *, as_json: bool) -> None:
    """Let a model learn from later files, or from the rows of a journal."""
    from graphghha.cli._commission_input import check_out, say_next
    from graphghha.lab.training.own_relearn import learn_on
    from graphghha.models.manifest import fingerprint
    from graphghha.models.own import load_own_model, save_own_model

    check_out(model, out)
    base = load_own_model(model, with_lessons=True)
    later = _later(base, data, site)
    learned = learn_on(base, later, base=fingerprint(model), progress=lambda text: echo(text, err=True))
    save_own_model(learned, out)
    record: dict[str, Any] = dict(learned.provenance["learned_on"])
    echo(
        f"learned from {record['later_days']:.1f} later days as well; threshold {base.rule.threshold:.2f}, now "
        f"{learned.rule.threshold:.2f}",
        err=True,
    )
    if as_json:
        echo_json({"model": str(out), **record, "threshold": learned.rule.threshold})
    say_next(out, as_json=as_json)


def _later(base: "OwnModel", data: Path, site: str | None) -> "list[Recording]":
    from graphghha.errors import DataError
    from graphghha.exports.recordings import read_recordings
    from graphghha.lab.training.own_relearn import quiet_recordings, quiet_rows
    from graphghha.monitor.journal.reader import Reader
    from graphghha.settings import read_settings

    if data.suffix == ".toml":
        settings = read_settings(data)
        names = [each.name for each in settings.site]
        site = site or (names[0] if len(names) == 1 else None)
        if site not in names:
            raise DataError(f"{data}: has the sites {', '.join(names)}; name one with --site")
        data = settings.monitor.state_dir / settings.monitor.journal
    if data.suffix != JOURNAL:
        return quiet_recordings(base, read_recordings([data], base.plant).recordings)
    if site is None:
        raise DataError(f"{data}: is a journal; name the site with --site")
    with Reader(data) as reader:
        rows = reader.rows(site, newest=round(MOST_DAYS * 86_400 / base.plant.step_s))
        incidents = reader.incidents(site=site, limit=100_000)
    if rows is None:
        raise DataError(f"{data}: holds no rows of site {site!r}")
    if rows.values.shape[1] != len(base.plant.template.points):
        raise DataError(
            f"{data}: the rows of site {site!r} have {rows.values.shape[1]} points, and plant {base.plant.name!r} has "
            f"{len(base.plant.template.points)}; this is not the model that watched it"
        )
    return quiet_rows(base, rows, incidents)
