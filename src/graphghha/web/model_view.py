"""The model in use: its numbers, its card and figures, and the record of its commissioning."""

from dataclasses import asdict
from pathlib import Path

from graphghha._util.times import iso
from graphghha.alarms import StoredEvent
from graphghha.models import read_commissioning, read_figures
from graphghha.web.contract.model import Commissioned, ModelCard
from graphghha.web.events import to_line
from graphghha.web.library import Library, SiteAbout
from graphghha.web.site_view import as_of

MOST_CARD = 200_000  # characters


def model_card(library: Library, about: SiteAbout, directory: Path | None) -> ModelCard:
    """Return what is known of the model in use."""
    swaps = library.reader.events_before(None, 20, ("model.*", "site.watching"))
    own: list[StoredEvent] = [event for event in swaps if event.site == about.name]
    path = directory / "README.md" if directory else None
    card = path.read_text(encoding="utf-8", errors="replace")[:MOST_CARD] if path and path.is_file() else ""
    return ModelCard(
        site=about.name,
        model=about.model,
        signed_by=about.body.get("signed_by"),
        levels=dict(about.body["numbers"]),
        card=card,
        figures=read_figures(directory) if directory else {},
        commissioning=_commissioned(directory) if directory else None,
        loaded=iso(own[0].time_ms) if own else as_of(library.reader.summary(about.name)),
        changes=[to_line(event) for event in own],
    )


def _commissioned(directory: Path) -> Commissioned | None:
    record = read_commissioning(directory)
    if record is None:
        return None
    fields = {name: value for name, value in asdict(record).items() if name in Commissioned.model_fields}
    return Commissioned.model_validate({**fields, "reporting": record.reporting or {}})
