"""The page of an incident: sentence, first step, charts, evidence, hypotheses, story, in a layout for printing."""

import time
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from graphghha._util.text import clean
from graphghha._util.times import parse_time_ms
from graphghha._version import __version__
from graphghha.monitor.display import Display
from graphghha.monitor.incident_json import BY_PATTERN, headline, is_reason, related_incident, sentence
from graphghha.monitor.journal import Reader
from graphghha.monitor.page.chart import Mark, draw
from graphghha.monitor.page.readings import IncidentReadings, read_charts
from graphghha.monitor.story import story, story_lines
from graphghha.plants.techniques import NONE_FITS, TECHNIQUES

_PRIORITIES = {"critical": 1, "high": 2, "medium": 3, "low": 4}
_STYLE = """
@page { size: A4; margin: 14mm; }
:root { color-scheme: light; }
body { font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums; color: #171c21; background: #fff; max-width: 760px; margin: 24px auto;
  padding: 0 16px; }
h1 { font-size: 20px; line-height: 1.3; margin: 4px 0 12px; } h2 { font-size: 15px; margin: 22px 0 6px; }
p { margin: 4px 0; } .soft, .meta { color: #434d57; } .meta { font-size: 12.5px; }
.first { border: 2px solid #171c21; border-radius: 6px; padding: 10px 14px; margin: 14px 0; font-size: 15px; }
.first b { display: block; font-size: 12px; font-weight: 600; color: #434d57; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top;
  padding: 4px 10px 4px 0; border-bottom: 1px solid #cdd3d8; } th { font-size: 12px; color: #434d57; }
td.num { white-space: nowrap; } code { font: 12px ui-monospace, "SF Mono", Consolas, monospace; color: #434d57; }
ul { margin: 4px 0; padding-left: 20px; } figure { margin: 10px 0 0; break-inside: avoid; }
figcaption { font-size: 13px; font-weight: 600; } figcaption span { font-weight: 400; color: #434d57; }
svg { display: block; width: 100%; height: auto; } section { break-inside: avoid; }
.line { fill: none; stroke: #171c21; stroke-width: 1.5; stroke-linejoin: round; }
.dotted { stroke-dasharray: 2 3; stroke-width: 1.8; } .grid { fill: none; stroke: #dde2e6; stroke-width: 1; }
.tick { font-size: 10.5px; fill: #56616b; } .word { font-size: 10.5px; fill: #171c21; }
.mark { stroke: #76818b; stroke-width: 1; } .dashed { stroke-dasharray: 4 3; }
.expected { fill: none; stroke: #98a3ad; stroke-width: 2.5; }
footer { margin-top: 26px; border-top: 1px solid #cdd3d8; padding-top: 6px; font-size: 12px; color: #434d57; }
"""


def incident_page(reader: Reader, body: dict[str, Any], display: Display, meaning: Sequence[str] = ()) -> str:
    """Return the page of an incident; `meaning` are sentences about its probability and the incidents around it."""
    entries = story(reader.incident_events(body["id"]))
    marks = _marks(body, entries)
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{_text(body["id"])}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        *_head(body, display, meaning),
        f'<div class="first"><b>First step</b>{_text(body["action"])}</div>',
        *_charts(read_charts(reader, body, display), body, marks, display),
        *_evidence(body, display),
        *_hypotheses(body, display),
        *_techniques(body),
        *_story(story_lines(entries, display)),
        _foot(body, display, reader),
        "</body></html>",
    ]
    return "\n".join(parts)


def _text(value: object) -> str:
    return escape(clean(value))


def _head(body: dict[str, Any], display: Display, meaning: Sequence[str]) -> Iterator[str]:
    number = _PRIORITIES.get(body["priority"])
    priority = f"{number} {body['priority']}" if number else body["priority"]
    state = f"closed, {body['state']}" if body["closed"] else body["state"]
    yield f'<p class="meta">Incident {_text(body["id"])} · site {_text(body["site"])} · priority {_text(priority)}'
    yield f" · {_text(state)}</p><h1>{_text(headline(body, display))}</h1>"
    yield f"<p>{_text(_reasons(body, display))}</p>"
    times = [
        ("Since", body["since"]),
        ("announced", body["annunciated"]),
        ("back in range", body.get("cleared") or body["closed"]),
    ]
    shown = [f"{name} {display.moment(time)}" for name, time in times if time]
    yield f'<p class="soft">{_text("; ".join(shown))}</p>'
    for line in (*meaning, related_incident(body, display)):
        if line:
            yield f'<p class="soft">{_text(display.reword(line))}</p>'


def _reasons(body: dict[str, Any], display: Display) -> str:
    """Return what follows the headline in the sentence of the incident."""
    rest = sentence(body, display).removeprefix(headline(body, display)).removeprefix("; ")
    return f"{rest[:1].upper()}{rest[1:]}." if rest else ""


def _charts(
    readings: IncidentReadings | None, body: dict[str, Any], marks: Sequence[Mark], display: Display
) -> Iterator[str]:
    yield "<h2>Readings</h2>"
    if readings is None or not readings.charts:
        why = "The journal no longer holds the readings of these hours." if readings is None else _no_chart(body)
        yield f"<p>{why}</p>"
        return
    first, last = (int(readings.times_ms[at]) for at in (0, -1))
    zone = display.clock(first, first).partition(" ")[2]
    yield f'<p class="meta">{_text(_days(first, last, display))}, times in {_text(zone)}. '
    yield "Grey bar: the range that was expected at the announcement, where the model could say.</p>"
    announced_ms = parse_time_ms(body["time"])
    for number, chart in enumerate(readings.charts):
        unit = f" <span>{_text(chart.unit)}</span>" if chart.unit else ""
        drawn = draw(chart, readings.times_ms, marks, announced_ms, display, with_words=number == 0)
        yield f"<figure><figcaption>{_text(chart.title)}{unit}</figcaption>{drawn}</figure>"


def _days(first_ms: int, last_ms: int, display: Display) -> str:
    first, last = display.day(first_ms), display.day(last_ms)
    return first if first == last else f"{first} to {last}"


def _no_chart(body: dict[str, Any]) -> str:
    if "members" in body:
        return "It consists of incidents of single zones, which have the readings: " + ", ".join(
            _text(each) for each in body["members"]
        )
    return "None of the nodes concerned is measured."


def _evidence(body: dict[str, Any], display: Display) -> Iterator[str]:
    items = [item for item in body["evidence"] if item["kind"] in ("contradiction", "signal")]
    if not items:
        return
    yield "<section><h2>Evidence at the announcement</h2>"
    if not any(map(is_reason, items)):
        yield f"<p>{_text(BY_PATTERN[:1].upper() + BY_PATTERN[1:])}.</p>"
    yield "<table><tr><th>What</th><th>Point</th></tr>"
    for item in sorted(items, key=lambda item: not is_reason(item)):
        points = ", ".join(_text(item[key]) for key in ("node", "against") if item.get(key))
        style = "" if is_reason(item) else ' class="soft"'
        yield f"<tr><td{style}>{_text(display.reword(item['text']))}</td><td><code>{points}</code></td></tr>"
    yield "</table></section>"


def _hypotheses(body: dict[str, Any], display: Display) -> Iterator[str]:
    if not body.get("hypotheses"):
        return
    yield "<section><h2>What may be behind it, likeliest first</h2><ul>"
    for each in body["hypotheses"]:
        reasons = display.reword(" ".join(each["reasons"]))
        yield f"<li><b>{_text(each['kind'])}</b>: {_text(reasons)}</li>"
    yield "</ul></section>"


def _techniques(body: dict[str, Any]) -> Iterator[str]:
    yield "<section><h2>If manipulation, consistent with (ATT&amp;CK for ICS)</h2>"
    if not body["consistent_with"]:
        yield f"<p>{_text(NONE_FITS[:1].upper() + NONE_FITS[1:])}.</p></section>"
        return
    for each in body["consistent_with"]:
        yield f"<p><code>{_text(each)}</code> {_text(TECHNIQUES.get(each, ''))}</p>"
    yield "</section>"


def _story(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "<h2>Story</h2><table><tr><th>Plant time</th><th>What happened</th></tr>"
    for moment, happened in lines:
        yield f'<tr><td class="num">{_text(moment)}</td><td>{_text(happened)}</td></tr>'
    yield "</table>"


def _marks(body: dict[str, Any], entries: Sequence[dict[str, Any]]) -> list[Mark]:
    """Return the moments of an incident; words on the left where the next mark is near, or the end of the chart."""
    acknowledged = [each["time"] for each in entries if each.get("verb") == "ack"]
    found = [
        (body["since"], "since", True),
        (body["annunciated"], "announced", False),
        (next(iter(acknowledged), None), "acknowledged", False),
        (body.get("cleared") or body["closed"], "back in range", True),
    ]
    times = [(parse_time_ms(text), word, is_left) for text, word, is_left in found if text]
    return [Mark(at, word, is_left, word == "since") for at, word, is_left in times if at is not None]


def _foot(body: dict[str, Any], display: Display, reader: Reader) -> str:
    as_of = reader.summary(body["site"]).get("as_of")
    data = f"Data as of {display.moment(as_of)}. " if as_of else ""
    written = display.moment(time.time_ns() // 1_000_000)
    return (
        f"<footer>{_text(data)}Version {_text(body['version'])} of the incident, written {_text(written)} by "
        f"graphghha {_text(__version__)}. It names an anomaly; people name the cause.</footer>"
    )
