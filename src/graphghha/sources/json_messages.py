"""Decodes JSON messages: one reading, one device with several points, or a list of either.

{"point": "zone-01/RM_TEMP", "time": "2018-07-02T09:00:00Z", "value": 21.4, "unit": "degC", "quality": "good", "seq": 7}
{"device": "zone-01", "time": 1530522000, "values": {"RM_TEMP": 21.4, "FCU_DAT": {"value": 55.0, "unit": "degF"}}}
{"device": "zone-01", "time": 1530522000, "RM_TEMP": 21.4, "FCU_DAT": 12.8}
"""

import json
from typing import Any

from graphghha._util.times import parse_time_ms
from graphghha.sources.base import Rejection
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.mapping import LONGEST_NAME

MOST_READINGS = 50_000  # of one message; what a device of that size sends fits into several
_raw_decode = json.JSONDecoder().raw_decode
# keys of a flat message that describe it; every other key is a point. `seq` is accepted and not used.
DESCRIPTIVE_KEYS = frozenset({"site", "device", "time", "seq", "quality", "unit", "units"})


def decode(payload: bytes, builder: BatchBuilder, received_ms: int, name: str = "") -> None:
    """Add the readings of one message; `name` is its topic, if it has one.

    A message without a time was measured when it was received.
    """
    try:
        text = payload.decode().strip()
        message, end = _raw_decode(text)  # json.loads takes three times as long: it looks for encodings and spaces
        if end < len(text):
            raise ValueError("more than one message")
    except (ValueError, RecursionError):  # not JSON, not UTF-8, a number with too many digits, or nested too deeply
        builder.reject(Rejection.MALFORMED)
        return
    messages = message if isinstance(message, list) else [message]
    if not messages:
        builder.reject(Rejection.MALFORMED)
    if _num_readings(messages) > MOST_READINGS:
        builder.reject(Rejection.TOO_LARGE)
        return
    for each in messages:
        if isinstance(each, dict):
            _decode_object(each, builder, received_ms, name)
        elif name and not isinstance(message, list):
            builder.add(name, each, received_ms)  # the topic of a single point may carry a bare value
        else:
            builder.reject(Rejection.MALFORMED)


def _num_readings(messages: list[Any]) -> int:
    """Return about how many readings there are, without looking at any."""
    values = (each.get("values", each) for each in messages if isinstance(each, dict))
    return len(messages) + sum(len(each) for each in values if isinstance(each, dict))


def _decode_object(message: dict[str, Any], builder: BatchBuilder, received_ms: int, name: str) -> None:
    get = message.get
    if (site := get("site")) is not None and site != builder.site:
        if isinstance(site, str):
            builder.mapper.note_unmapped(f"site {site}")
        builder.reject(Rejection.UNMAPPED)
        return
    time = get("time")
    time_ms = received_ms if time is None else parse_time_ms(time)
    if time_ms is None:
        builder.reject(Rejection.BAD_TIME)
        return
    for level in (get("device"), get("point")):
        if level is None:
            continue
        if not isinstance(level, str):
            builder.reject(Rejection.MALFORMED)
            return
        name = f"{name}/{level}" if name else level
    if len(name) > LONGEST_NAME:  # before it is put in front of every key of the message
        builder.mapper.note_unmapped(name)
        builder.reject(Rejection.UNMAPPED)
        return
    if "value" in message:
        if name:
            builder.add(name, message["value"], time_ms, get("unit"), get("quality"))
        else:
            builder.reject(Rejection.MALFORMED)
        return
    _decode_device(message, builder, time_ms, f"{name}/" if name else "")


def _decode_device(message: dict[str, Any], builder: BatchBuilder, time_ms: int, prefix: str) -> None:
    values = message.get("values")
    if values is None:
        values = {key: value for key, value in message.items() if key not in DESCRIPTIVE_KEYS}
    units = message.get("units") or {}
    if not isinstance(values, dict) or not isinstance(units, dict) or not values:
        builder.reject(Rejection.MALFORMED)
        return
    unit, quality = message.get("unit"), message.get("quality")
    for key, value in values.items():
        if isinstance(value, dict):
            own_unit, own_quality = value.get("unit", unit), value.get("quality", quality)
            builder.add(prefix + key, value.get("value"), time_ms, own_unit, own_quality)
        else:
            builder.add(prefix + key, value, time_ms, units.get(key, unit), quality)
