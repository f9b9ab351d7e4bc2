"""The words that exports use: names of columns, states, marks of a missing value, qualities."""


def _words(text: str, *phrases: str) -> frozenset[str]:
    return frozenset(text.split()) | frozenset(phrases)


# names of columns
TIME_WORDS = _words(
    """time times timestamp timestamps datetime date ts t_stamp zeit zeitpunkt zeitstempel datum uhrzeit horodatage
    heure fecha hora data ora tijd _time time_s time_ms time_us ts_ms ts_s
    timestamp_s timestamp_ms timestamp_us timestamp_ns timestamp_utc time_utc epoch epoch_s epoch_ms unixtime
    unix_time""",
    *("date time", "date/time", "date / time", "date and time", "time stamp", "datum zeit", "datum/zeit", "local time"),
)
NAME_WORDS = _words(
    """point name tag tagname tag_name tagid pointname point_name pointid signal sensor variable series history channel
    object object_name metric item trend messpunkt datenpunkt _field entity_id""",
    *("point name", "tag name", "object name", "point id", "history name", "sensor name", "trend name", "tag path"),
    *("name path reference", "item reference", "object reference", "point path", "tagpath", "path"),
)
GROUP_WORDS = _words("zone device equipment equip unit_id controller floor building site asset host station")
VALUE_WORDS = _words(
    """value val values reading readings present_value presentvalue wert messwert valeur valor data measurement y v
    numeric_value float_value floatvalue _value""",
    *("present value", "point value", "actual value", "raw value"),
)
UNIT_WORDS = _words("unit units uom engineering_units einheit unité unidad", "engineering units")
QUALITY_COLUMNS = _words(
    """quality status flags flag qualität qualitycode quality_code dataquality validity valid trend_flags trendflags
    reliability""",
    *("data quality", "quality code", "value quality", "trend flags"),
)
REMARK_COLUMNS = _words("comment comments remark remarks note notes annotation user source description message")
NUMBER_COLUMNS = _words(
    "index id row rownum record recno seq sequence unnamed # no. trial experiment session fold split",
    "unnamed: 0",
)

# cells without a value
MISSING_WORDS = _words(
    """nan null none n/a na #n/a #value! #ref! - -- --- ? * nil missing void unavailable error fault failed bad invalid
    disconnected offline down comm_fail noread unreliable overrange underrange""",
    *("no data", "not available", "bad input", "i/o timeout", "no result", "pt created", "scan off", "no sensor"),
)

# states: words of rest are read as 0, their counterparts as 1
OFF_WORDS = _words(
    """off false no unoccupied unocc inactive closed close stopped stop disabled disable normal idle low aus nein falsch
    zu non arrêt night standby"""
)
ON_WORDS = _words(
    """on true yes occupied occ active open opened running run enabled enable alarm started start high ein ja wahr auf
    oui marche day auto"""
)

# qualities
BAD_FLAGS = _words("down fault stale null disabled invalid")
GOOD_WORDS = _words(
    """good ok okay uncertain repaired valid normal gut true overridden override alarm unackedalarm manual g start
    modified interpolated good_clamped active reliable no-fault-detected"""
)
BAD_WORDS = BAD_FLAGS | _words(
    """bad failed offline error missing false unreliable questionable schlecht gestört ungültig comm_fail no_sensor
    nosensor open-loop shorted-loop over-range under-range hidden b"""
)
