"""The leak check: a run whose test data was seen before it was tested on fails, with the rows that prove it."""

from collections.abc import Iterable, Mapping, Sequence

from graphghha.errors import LeakError
from graphghha.windows.provenance import Fingerprint, Span


def check_parts(parts: Mapping[str, Sequence[Span]]) -> None:
    """No row may be read by windows of two parts. Spans are the rows the windows read, not where they end."""
    owned = sorted((span, part) for part, spans in parts.items() for span in spans)
    # within one source, sorted by start: remember, per part, the span that reaches furthest
    furthest: dict[str, Span] = {}
    source = None
    for span, part in owned:
        if span.source != source:
            furthest, source = {}, span.source
        for other, reach in furthest.items():
            if other != part and reach.stop > span.start:
                raise LeakError(
                    f"windows of {other} and {part} overlap: {reach} and {span}; leave a gap of one window between them"
                )
        if part not in furthest or furthest[part].stop < span.stop:
            furthest[part] = span


def check_seen(what: str, seen: Fingerprint, test: Sequence[Span], test_digests: Iterable[str] = ()) -> None:
    """A scaler, a threshold or a calibration must not have been fitted on rows that are tested."""
    try:
        check_parts({what: seen.spans, "test": test})
    except LeakError as exc:
        raise LeakError(f"the {what} was fitted on test data: {exc}") from None
    if seen.digest in set(test_digests):
        raise LeakError(f"the {what} was fitted on test data: both have the digest {seen.digest[:16]}")


def check_held_out(what: str, held_out: Iterable[str], trained: Iterable[str]) -> None:
    """Cases, severities or zones that are reported as unseen must not be in training."""
    if both := sorted(set(held_out) & set(trained)):
        raise LeakError(f"held-out {what} in training: {', '.join(both)}; take them out of one of the two")
