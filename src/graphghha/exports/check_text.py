"""A data check for people: equal findings and guesses are listed once, with the points or files they concern."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphghha.exports.check import DataCheck
from graphghha.exports.findings import Finding, Topic
from graphghha.exports.notes import Guess, counted, span_text

MOST_NAMES = 4
MOST_LINES = 12  # of one topic


@dataclass(frozen=True, slots=True)
class Group:
    """A finding or guess that holds for several points or files."""

    topic: str
    text: str
    abouts: tuple[str, ...]
    detail: str = ""  # if there is one only

    @property
    def sentence(self) -> str:
        return f"{self.text} ({self.detail})" if self.detail else self.text

    @property
    def names(self) -> str:
        more = len(self.abouts) - MOST_NAMES
        return ", ".join(self.abouts[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def group_findings(findings: Sequence[Finding]) -> list[Group]:
    """Return findings with the same text as one."""
    groups: dict[tuple[Topic, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.topic, finding.text), []).append(finding)
    return [
        Group(
            str(topic),
            text,
            tuple(dict.fromkeys(finding.about for finding in same)),
            same[0].detail if len(same) == 1 else "",
        )
        for (topic, text), same in groups.items()
    ]


def group_guesses(guesses: Sequence[Guess]) -> list[Group]:
    """Return guesses with the same value as one, with the reason of the first."""
    groups: dict[tuple[str, str], list[Guess]] = {}
    for guess in guesses:
        groups.setdefault((guess.what, guess.value), []).append(guess)
    return [
        Group(what, f"{value}: {same[0].reason}", tuple(dict.fromkeys(guess.about for guess in same)))
        for (what, value), same in groups.items()
    ]


def summary_lines(check: DataCheck) -> Iterator[str]:
    """Yield what the export is: files, points, interval, time zone."""
    read = [file for file in check.files if file.is_read]
    left_out = len(check.files) - len(read)
    layouts = ", ".join(sorted({file.layout for file in read})) or "none"
    yield f"{counted(len(check.files), 'file')}: {len(read)} read ({layouts}), {left_out} left out"
    modes = [str(point.facts["reporting"]) for point in check.points]
    each = ", ".join(f"{modes.count(mode)} {mode}" for mode in dict.fromkeys(modes))
    yield f"{counted(len(check.points), 'point')}: {each}"
    if check.step_ms:
        yield f"interval: {span_text(check.step_ms)}"
    yield f"time zone: {check.zone.clock.zone} ({check.zone.reason})"


def lines(check: DataCheck) -> Iterator[str]:
    """Yield the findings, then what was guessed."""
    by_topic: dict[str, list[Group]] = {}
    for group in group_findings(check.findings):
        by_topic.setdefault(group.topic, []).append(group)
    for topic, groups in by_topic.items():
        for group in groups[:MOST_LINES]:
            yield f"{topic:<10} {group.names}: {group.sentence}"
        if rest := groups[MOST_LINES:]:
            names = {about for group in rest for about in group.abouts}
            yield f"{topic:<10} and {len(names)} further points or files; --json and --html list all of them"
    if not check.findings:
        yield "nothing odd was found"
    guesses = [group for group in group_guesses(check.guesses) if group.topic not in ("order", "doubled hour")]
    for group in guesses:
        where = group.names if len(group.abouts) <= MOST_NAMES else f"{len(group.abouts)} files or points"
        yield f"guessed    {where}: {group.topic} {group.text}"
