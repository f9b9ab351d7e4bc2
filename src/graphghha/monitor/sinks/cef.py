"""An event as one line of ArcSight's Common Event Format, version 0. Pure."""

from graphghha._version import __version__
from graphghha.monitor.sinks.base import Event
from graphghha.monitor.sinks.text import clean, to_ms

SEVERITY = {"critical": 10, "high": 8, "medium": 5, "low": 3}  # of an event without priority: 1
# Short enough that a line of nothing but hostile names still fits the 8 kB that receivers take.
_NAME, _TEXT, _MESSAGE, _HOST, _ID = 128, 200, 400, 100, 128


def cef_line(event: Event) -> str:
    """`CEF:0|vendor|product|version|signature|name|severity|extension`."""
    severity = SEVERITY.get(str(event.body.get("priority")), 1)
    header = ("graphghha", "graphghha", __version__, clean(event.kind, _NAME), title(event), severity)
    fields = " ".join(f"{key}={_extension(value)}" for key, value in _fields(event).items())
    return f"CEF:0|{'|'.join(_header(part) for part in header)}|{fields}"


def title(event: Event) -> str:
    """What happened, in words: the same words for the same thing, so that a SIEM can count them."""
    what, _, happened = event.kind.partition(".")
    attack_class = event.body.get("class")
    subject = f"{attack_class} attack" if what == "incident" and attack_class else what
    return clean(f"{subject} {happened}".replace("_", " ").strip(), _NAME)


def _fields(event: Event) -> dict[str, str]:
    body = event.body
    own = body.get("root") or body.get("node")
    node = "/".join(str(part) for part in (event.site, body.get("zone"), own) if part)
    fields = {"rt": str(event.time_ms), "externalId": clean(body.get("id", event.key), _ID), "cat": _family(event)}
    if (since := to_ms(body.get("since"))) is not None:
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


def _family(event: Event) -> str:
    return clean(event.kind.partition(".")[0], _NAME)


def _header(part: object) -> str:
    return str(part).replace("\\", "\\\\").replace("|", "\\|")


def _extension(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("=", "\\=")
    return escaped.replace("\r", "\\r").replace("\n", "\\n")
