"""JSON messages into readings: one reading, one device with several points, or a list of either.

{"point": "zone-01/RM_TEMP", "time": "2018-07-02T09:00:00Z", "value": 21.4, "unit": "degC", "quality": "good", "seq": 7}
{"device": "zone-01", "time": 1530522000, "values": {"RM_TEMP": 21.4, "FCU_DAT": {"value": 55.0, "unit": "degF"}}}
{"device": "zone-01", "time": 1530522000, "RM_TEMP": 21.4, "FCU_DAT": 12.8}
"""

import json
from typing import Any

from graphghha.sources.base import Rejection
from graphghha.sources.batch_builder import Intake
from graphghha.sources.timestamps import parse_time_ms

_raw_decode = json.JSONDecoder().raw_decode
# what a flat message says about itself; every other key is a point. `seq` is accepted and not used.
ABOUT = frozenset({"site", "device", "time", "seq", "quality", "unit", "units"})


def decode(payload: bytes, intake: Intake, received_ms: int, name: str = "") -> None:
    """One message; `name` is its topic, if it has one. A message without a time was measured when it was received."""
    try:
        text = payload.decode().strip()
        message, end = _raw_decode(text)  # a third of the time json.loads takes to find out about encodings and spaces
        if end < len(text):
            raise ValueError("more than one message")
    except (ValueError, RecursionError):  # not JSON, not UTF-8, a number too long to read, or nested without end
        intake.reject(Rejection.MALFORMED)
        return
    messages = message if isinstance(message, list) else [message]
    if not messages:
        intake.reject(Rejection.MALFORMED)
    for each in messages:
        if isinstance(each, dict):
            _decode_object(each, intake, received_ms, name)
        elif name and not isinstance(message, list):
            intake.add(name, each, received_ms)  # the bare value of a point's own topic
        else:
            intake.reject(Rejection.MALFORMED)


def _decode_object(message: dict[str, Any], intake: Intake, received_ms: int, name: str) -> None:
    get = message.get
    if (site := get("site")) is not None and site != intake.site:
        intake.mapper.note_unmapped(f"site {site}")
        intake.reject(Rejection.UNMAPPED)
        return
    time = get("time")
    time_ms = received_ms if time is None else parse_time_ms(time)
    if time_ms is None:
        intake.reject(Rejection.BAD_TIME)
        return
    device, point = get("device"), get("point")
    for level in (device, point):
        if level is None:
            continue
        if not isinstance(level, str):
            intake.reject(Rejection.MALFORMED)
            return
        name = f"{name}/{level}" if name else level
    if "value" in message:
        if name:
            intake.add(name, message["value"], time_ms, get("unit"), get("quality"))
        else:
            intake.reject(Rejection.MALFORMED)
        return
    _decode_device(message, intake, time_ms, f"{name}/" if name else "")


def _decode_device(message: dict[str, Any], intake: Intake, time_ms: int, prefix: str) -> None:
    values = message.get("values")
    if values is None:
        values = {key: value for key, value in message.items() if key not in ABOUT}
    units = message.get("units") or {}
    if not isinstance(values, dict) or not isinstance(units, dict) or not values:
        intake.reject(Rejection.MALFORMED)
        return
    unit, quality = message.get("unit"), message.get("quality")
    for key, value in values.items():
        if isinstance(value, dict):
            own_unit, own_quality = value.get("unit", unit), value.get("quality", quality)
            intake.add(prefix + key, value.get("value"), time_ms, own_unit, own_quality)
        else:
            intake.add(prefix + key, value, time_ms, units.get(key, unit), quality)
