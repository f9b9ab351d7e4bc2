"""A data check as one HTML page with a plot for each point. It needs nothing but the file itself."""

from html import escape

import numpy as np

from graphghha.exports.check import CheckedPoint, DataCheck, Trace
from graphghha.exports.check_text import group_findings, group_guesses, summary_lines
from graphghha.exports.findings import Finding, Topic

WIDTH, HEIGHT, PAD = 360, 56, 3
MOST_PLOTS = 2000
MOST_ABOUTS = 40
MOST_FINDINGS = 4  # shown beside a plot

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6570; --line: #d5dae0; --back: #fff; --band: #2f6fab;
  --mark: #e8890c; --odd: #9a4a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4ae; --line: #3a424b; --back: #16191d;
  --band: #6aa9e0; --mark: #f0a23c; --odd: #f0a23c; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 1100px;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .35rem .6rem;
  border-bottom: 1px solid var(--line); } th { color: var(--soft); font-weight: 600; }
td.topic { white-space: nowrap; font-weight: 600; } .soft { color: var(--soft); } .num { white-space: nowrap; }
.odd { color: var(--odd); }
details summary { cursor: pointer; color: var(--soft); } svg { display: block; }
"""


def page(check: DataCheck, title: str) -> str:
    """Return the page."""
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{_STYLE}</style></head><body>",
            f"<h1>Data check: {escape(title)}</h1>",
            "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in summary_lines(check)) + "</ul>",
            "<h2>Findings</h2>",
            _findings(check),
            "<h2>What was guessed</h2>",
            _guesses(check),
            "<h2>Points</h2>",
            _points(check),
            "<h2>Files</h2>",
            _files(check),
            "</body></html>",
        ]
    )


def _findings(check: DataCheck) -> str:
    if not check.findings:
        return "<p>Nothing odd was found.</p>"
    rows = [
        f'<tr><td class="topic">{escape(group.topic)}</td><td>{_abouts(group.abouts)}</td>'
        f"<td>{escape(group.sentence)}</td></tr>"
        for group in group_findings(check.findings)
    ]
    return _table(("about", "point or file", "finding"), rows)


def _guesses(check: DataCheck) -> str:
    rows = [
        f'<tr><td class="topic">{escape(group.topic)}</td><td>{escape(group.text)}</td>'
        f"<td>{_abouts(group.abouts)}</td></tr>"
        for group in group_guesses(check.guesses)
    ]
    return _table(("what", "taken for, because", "where"), rows) if rows else "<p>Nothing.</p>"


def _abouts(abouts: tuple[str, ...]) -> str:
    if len(abouts) <= 4:
        return escape(", ".join(abouts))
    shown = ", ".join(abouts[:MOST_ABOUTS]) + (" .." if len(abouts) > MOST_ABOUTS else "")
    return f"<details><summary>{len(abouts)} of them</summary>{escape(shown)}</details>"


def _points(check: DataCheck) -> str:
    rows = [_point(point) for point in check.points[:MOST_PLOTS]]
    more = len(check.points) - MOST_PLOTS
    note = f'<p class="soft">{more:,} more points are not drawn.</p>' if more > 0 else ""
    return _table(("point", "unit and reporting", "readings"), rows) + note


def _point(point: CheckedPoint) -> str:
    facts = point.facts
    unit = facts["unit"] or "no unit"
    if facts["stated_unit"] and facts["stated_unit"] != facts["unit"]:
        unit += f" (stated {facts['stated_unit']})"
    step = f", {facts['step_s']:g} s" if facts["step_s"] else ""
    kind = f"{facts['kind']['role']}, {facts['kind']['purpose']}"
    states = f"<br>{escape(', '.join(facts['states']))}" if facts["states"] else ""
    if facts["resolution"] is not None:
        states = f"<br>steps of {facts['resolution']:.4g}"
    drawn = _svg(point.trace, point.findings, facts["name"]) if point.trace else '<span class="soft">none</span>'
    span = f"{facts['from']} to {facts['to']}" if facts["from"] else ""
    odd = "".join(
        f'<br><span class="odd">{escape(finding.topic)}: {escape(finding.text)}</span>'
        for finding in point.findings[:MOST_FINDINGS]
    )
    return (
        f'<tr><td>{escape(facts["name"])}<br><span class="soft">{escape(kind)}</span></td>'
        f'<td>{escape(unit)}<br><span class="soft">{escape(facts["reporting"])}{step}, {facts["readings"]:,} readings'
        f'{states}</span></td><td>{drawn}<span class="soft">{escape(span)}</span>{odd}</td></tr>'
    )


def _svg(trace: Trace, findings: tuple[Finding, ...], name: str) -> str:
    """Return the band between the lowest and the highest reading, with what is odd marked on it."""
    known = np.isfinite(trace.low)
    bottom, top = float(trace.low[known].min()), float(trace.high[known].max())
    # a column reaches to the one before it, so that a jump between two columns is seen
    before_low, before_high = np.append(np.nan, trace.low[:-1]), np.append(np.nan, trace.high[:-1])
    trace_low, trace_high = np.fmin(trace.low, before_high), np.fmax(trace.high, before_low)
    size = top - bottom or 1.0
    columns = len(trace.low)
    x = PAD + np.arange(columns) * (WIDTH - 2 * PAD) / max(1, columns - 1)
    low = HEIGHT - PAD - (trace_low - bottom) / size * (HEIGHT - 2 * PAD)
    high = HEIGHT - PAD - (trace_high - bottom) / size * (HEIGHT - 2 * PAD)
    shapes = []
    for part in _runs(known):
        up = [f"{x[i]:.1f},{high[i] - 0.6:.1f}" for i in part]
        down = [f"{x[i]:.1f},{low[i] + 0.6:.1f}" for i in reversed(part)]
        if len(part) == 1:
            i = part[0]
            up, down = [f"{x[i] - 0.5:.1f},{high[i] - 0.6:.1f}", f"{x[i] + 0.5:.1f},{high[i] - 0.6:.1f}"], down
        shapes.append(f'<polygon points="{" ".join(up + down)}" fill="var(--band)"/>')
    length = max(1, trace.end_ms - trace.start_ms)
    for finding in findings:
        if finding.topic in (Topic.GAP, Topic.FLAT, Topic.CLOCK) and finding.start_ms is not None:
            end_ms = finding.end_ms or finding.start_ms
            left = PAD + (finding.start_ms - trace.start_ms) / length * (WIDTH - 2 * PAD)
            right = PAD + (end_ms - trace.start_ms) / length * (WIDTH - 2 * PAD)
            shapes.append(
                f'<rect x="{left:.1f}" y="0" width="{max(1.5, right - left):.1f}" height="{HEIGHT}" '
                f'fill="var(--mark)" opacity="0.35"><title>{escape(finding.text)}</title></rect>'
            )
    label = f"{name}: {bottom:.4g} to {top:.4g}"
    text = f'<text x="{WIDTH + 6}" y="{{y}}" font-size="10" fill="var(--soft)">{{value}}</text>'
    limits = text.format(y=10, value=f"{top:.4g}") + text.format(y=HEIGHT - 2, value=f"{bottom:.4g}")
    frame = f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" fill="none" stroke="var(--line)"/>'
    return (
        f'<svg width="{WIDTH + 60}" height="{HEIGHT}" role="img" aria-label="{escape(label)}">'
        f"{frame}{''.join(shapes)}{limits}</svg>"
    )


def _runs(known: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> list[list[int]]:
    """Return the numbers of the columns with readings, cut where one is absent."""
    rows = np.flatnonzero(known)
    return [part.tolist() for part in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(part)]


def _files(check: DataCheck) -> str:
    rows = []
    for file in check.files:
        what = f"{file.layout}, {file.rows:,} rows, {len(file.points)} points" if file.is_read else "left out"
        why = "; ".join(omission.reason for omission in file.omissions)
        rows.append(f"<tr><td>{escape(file.path.name)}</td><td>{escape(what)}</td><td>{escape(why)}</td></tr>")
    return _table(("file", "read as", "left out"), rows)


def _table(heads: tuple[str, ...], rows: list[str]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
