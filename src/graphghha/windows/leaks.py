"""The leak check: fails if test data were used before the test, and names the rows."""

from collections.abc import Iterable, Mapping, Sequence

from graphghha.errors import LeakError
from graphghha.windows.provenance import Fingerprint, Span


def check_parts(parts: Mapping[str, Sequence[Span]]) -> None:
    """Raise LeakError if windows of two parts read the same row. Spans cover all rows that the windows read."""
    owned = sorted((span, part) for part, spans in parts.items() for span in spans)
    # spans are sorted by start within a source; this is the span of each part that reaches furthest
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
    """Raise LeakError if a scaler, a threshold or a calibration was fitted on rows of the test."""
    try:
        check_parts({what: seen.spans, "test": test})
    except LeakError as exc:
        raise LeakError(f"the {what} was fitted on test data: {exc}") from None
    if seen.digest in set(test_digests):
        raise LeakError(f"the {what} was fitted on test data: both have the digest {seen.digest[:16]}")


def check_held_out(what: str, held_out: Iterable[str], trained: Iterable[str]) -> None:
    """Raise LeakError if cases, severities or zones that are reported as unseen were in training."""
    if both := sorted(set(held_out) & set(trained)):
        raise LeakError(f"held-out {what} in training: {', '.join(both)}; remove them from one of the two")
