"""Events as lines of ArcSight's Common Event Format, version 0. Pure.

Names come from the plant, and a plant may be hostile: `clean` makes them safe to write into a line of a log.
"""

from datetime import UTC, datetime

from graphghha._util.text import clean
from graphghha._version import __version__
from graphghha.alarms import StoredEvent

SEVERITY = {"critical": 10, "high": 8, "medium": 5, "low": 3}
NO_PRIORITY = 1
# Limits low enough that a line full of hostile names still fits the 8 kB that receivers accept.
_NAME, _TEXT, _MESSAGE, _HOST, _ID = 128, 200, 400, 100, 128


def cef_line(event: StoredEvent) -> str:
    """Return `CEF:0|vendor|product|version|signature|name|severity|extension`."""
    severity = SEVERITY.get(str(event.body.get("priority")), NO_PRIORITY)
    header = ("graphghha", "graphghha", __version__, clean(event.kind, _NAME), _title(event), severity)
    fields = " ".join(f"{key}={_extension(value)}" for key, value in _fields(event).items())
    return f"CEF:0|{'|'.join(_header(part) for part in header)}|{fields}"


def _title(event: StoredEvent) -> str:
    """Return what happened, in the same words for the same thing, so that a SIEM can count it."""
    what, _, happened = event.kind.partition(".")
    attack_class = event.body.get("class")
    noun = "anomaly" if "hypotheses" in event.body or event.body.get("class_is", "by_label") != "by_label" else "attack"
    subject = f"{attack_class} {noun}" if what == "incident" and attack_class else what
    return clean(f"{subject} {happened}".replace("_", " ").strip(), _NAME)


def _fields(event: StoredEvent) -> dict[str, str]:
    body = event.body
    own = body.get("root") or body.get("node")
    node = "/".join(str(part) for part in (event.site, body.get("zone"), own) if part)
    fields = {"rt": str(event.time_ms), "externalId": clean(body.get("id", event.key), _ID), "cat": _family(event)}
    if (since := _to_ms(body.get("since"))) is not None:
        fields["start"] = str(since)
    if own:
        fields["dvchost"] = clean(own, _HOST)
    techniques = body.get("consistent_with") or ()
    labelled = {
        "cs1": ("node", node),
        "cs2": ("attackTechnique", ",".join(str(technique) for technique in techniques)),
        "cs3": ("eventKey", event.key),
        "cs4": ("attackClass", body.get("class")),
        "cs5": ("state", body.get("state") or body.get("status")),
        "cs6": ("zone", body.get("zone")),
        "cn1": ("version", body.get("version")),
        "cfp1": ("probability", body.get("probability")),
        "flexString1": ("action", body.get("action")),
    }
    for key, (label, value) in labelled.items():
        if value not in (None, ""):
            fields[f"{key}Label"] = label
            fields[key] = clean(value, _TEXT)
    if message := body.get("text") or "; ".join(body.get("reasons") or ()) or body.get("reason"):
        fields["msg"] = clean(message, _MESSAGE, keep_newlines=True)
    return fields


def _family(event: StoredEvent) -> str:
    return clean(event.kind.partition(".")[0], _NAME)


def _header(part: object) -> str:
    return str(part).replace("\\", "\\\\").replace("|", "\\|")


def _extension(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("=", "\\=")
    return escaped.replace("\r", "\\r").replace("\n", "\\n")


def _to_ms(text: object) -> int | None:
    """Return the milliseconds of an RFC 3339 time, None if the text is not a time."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
