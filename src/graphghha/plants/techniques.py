"""Techniques of ATT&CK for ICS by id (v20, and the ids that it replaced), with their names."""

from typing import Any

TECHNIQUES: dict[str, str] = {
    "T1692.001": "Unauthorized Message: Command Message",
    "T1692.002": "Unauthorized Message: Reporting Message",
    "T0855": "Unauthorized Command Message",
    "T0856": "Spoof Reporting Message",
    "T0836": "Modify Parameter",
    "T0889": "Modify Program",
    "T0831": "Manipulation of Control",
    "T0832": "Manipulation of View",
    "T0838": "Modify Alarm Settings",
    "T0878": "Alarm Suppression",
}
NONE_FITS = "no technique fits: physical tampering is outside ATT&CK"


def name_techniques(ids: list[str]) -> list[dict[str, Any]]:
    """Return techniques with their names, as an incident's JSON holds them; the name of an unknown id is empty."""
    return [{"id": each, "name": TECHNIQUES.get(each, "")} for each in ids]


def describe_techniques(ids: list[str]) -> str:
    """Return techniques for people: ids with names, or that none fits."""
    return ", ".join(f"{each} {TECHNIQUES.get(each, '')}".strip() for each in ids) or NONE_FITS
