"""Units of measurement by quantity: readings are converted to one inner unit per quantity when they come in."""

from graphghha.errors import SchemaError

CFM = 0.47194745  # L/s of air
GPM = 0.0630902  # L/s of water

# SI value = (value - shift) * scale; the first unit of a quantity is the one used inside.
# A unit may occur in two quantities: 50 % is 0.5 of a valve's stroke, and 50 %RH of humidity.
QUANTITIES: dict[str, dict[str, tuple[float, float]]] = {
    "temperature": {"degC": (0.0, 1.0), "degF": (32.0, 1.0 / 1.8), "K": (273.15, 1.0)},
    "flow": {
        "L/s": (0.0, 1.0),
        "L/min": (0.0, 1.0 / 60.0),
        "L/h": (0.0, 1.0 / 3600.0),
        "m3/s": (0.0, 1000.0),
        "m3/h": (0.0, 1.0 / 3.6),
        "CFM": (0.0, CFM),
        "GPM": (0.0, GPM),
    },
    "share": {"fraction": (0.0, 1.0), "%": (0.0, 0.01)},
    "humidity": {"%RH": (0.0, 1.0), "%": (0.0, 1.0), "fraction": (0.0, 100.0)},
    "rotation": {"rev/s": (0.0, 1.0), "Hz": (0.0, 1.0), "rpm": (0.0, 1.0 / 60.0)},
    "power": {
        "W": (0.0, 1.0),
        "kW": (0.0, 1e3),
        "MW": (0.0, 1e6),
        "Btu/h": (0.0, 0.29307107),
        "kBtu/h": (0.0, 293.07107),
        "ton": (0.0, 3516.8528),
        "hp": (0.0, 745.69987),
    },
    "pressure": {
        "Pa": (0.0, 1.0),
        "hPa": (0.0, 100.0),
        "mbar": (0.0, 100.0),
        "kPa": (0.0, 1e3),
        "bar": (0.0, 1e5),
        "MPa": (0.0, 1e6),
        "psi": (0.0, 6894.7573),
        "inH2O": (0.0, 249.08891),
        "inHg": (0.0, 3386.389),
        "mmHg": (0.0, 133.32239),
    },
    "length": {"m": (0.0, 1.0), "cm": (0.0, 0.01), "mm": (0.0, 1e-3), "ft": (0.0, 0.3048), "in": (0.0, 0.0254)},
    "speed": {"m/s": (0.0, 1.0), "ft/min": (0.0, 0.00508)},
    "energy": {"kWh": (0.0, 1.0), "Wh": (0.0, 1e-3), "MWh": (0.0, 1e3), "MJ": (0.0, 1.0 / 3.6), "GJ": (0.0, 1e3 / 3.6)},
    "voltage": {"V": (0.0, 1.0), "mV": (0.0, 1e-3), "kV": (0.0, 1e3)},
    "current": {"A": (0.0, 1.0), "mA": (0.0, 1e-3)},
    "concentration": {"ppm": (0.0, 1.0), "ppb": (0.0, 1e-3)},
    "content": {"mg/L": (0.0, 1.0), "ug/L": (0.0, 1e-3), "g/L": (0.0, 1e3)},
    "turbidity": {"NTU": (0.0, 1.0)},
    "irradiance": {"W/m2": (0.0, 1.0), "kW/m2": (0.0, 1e3)},
    "reactive power": {"kvar": (0.0, 1.0), "var": (0.0, 1e-3), "Mvar": (0.0, 1e3)},
    "apparent power": {"kVA": (0.0, 1.0), "VA": (0.0, 1e-3), "MVA": (0.0, 1e3)},
    "vibration": {"mm/s": (0.0, 1.0), "in/s": (0.0, 25.4)},
    "illuminance": {"lx": (0.0, 1.0)},
    "conductivity": {"uS/cm": (0.0, 1.0), "mS/cm": (0.0, 1e3)},
    "acidity": {"pH": (0.0, 1.0)},
    "mass flow": {"kg/s": (0.0, 1.0), "kg/h": (0.0, 1.0 / 3600.0), "t/h": (0.0, 1.0 / 3.6)},
    "mode": {"mode": (0.0, 1.0)},
}

# other spellings, as `_plain` returns them
_SPELLINGS = {
    **{word: "degC" for word in ("c", "celsius", "cel", "degreescelsius")},
    **{word: "degF" for word in ("f", "fahrenheit", "degreesfahrenheit")},
    **{word: "K" for word in ("kelvin", "degreeskelvin", "degk")},
    **{word: "L/s" for word in ("lps", "literspersecond", "litrespersecond")},
    **{word: "L/min" for word in ("lpm", "litersperminute", "litresperminute")},
    **{word: "m3/h" for word in ("cmh", "m3/hr", "cubicmetersperhour")},
    **{word: "m3/s" for word in ("cms", "cubicmeterspersecond")},
    **{word: "CFM" for word in ("ft3/min", "cubicfeetperminute")},
    **{word: "GPM" for word in ("gal/min", "usgallonsperminute")},
    **{word: "%" for word in ("percent", "pct")},
    **{word: "%RH" for word in ("rh", "%rh", "%r.h.", "r.h.", "percentrelativehumidity")},
    **{
        word: "inH2O"
        for word in ("inwc", "inwg", "in.w.c.", "in.wc", "in/wc", "in.w.g.", '"wc', '"wg', "inchesofwater")
    },
    **{word: "W" for word in ("watt", "watts")},
    **{word: "kW" for word in ("kilowatts",)},
    **{word: "Btu/h" for word in ("btu/hr", "btuh", "btusperhour")},
    **{word: "kBtu/h" for word in ("kbtu/hr", "kbtuh", "mbh")},
    **{word: "psi" for word in ("psig", "psia", "poundsforcepersquareinch")},
    **{word: "bar" for word in ("barg", "bar(g)", "bara", "bar(a)")},
    **{word: "ton" for word in ("tons", "tonsofrefrigeration")},
    **{word: "NTU" for word in ("fnu",)},
    **{word: "W/m2" for word in ("w/m\N{SUPERSCRIPT TWO}", "watts/m2", "wattspersquaremeter")},
    **{word: "rpm" for word in ("rev/min", "revolutionsperminute")},
    **{word: "rev/s" for word in ("rps",)},
    **{word: "Pa" for word in ("pascals", "pascal")},
    **{word: "fraction" for word in ("1", "ratio")},
    **{word: "kWh" for word in ("kilowatthours",)},
    **{word: "V" for word in ("volt", "volts")},
    **{word: "A" for word in ("amp", "amps", "ampere", "amperes")},
    **{word: "lx" for word in ("lux", "luxes")},
    **{word: "ppm" for word in ("partspermillion",)},
    **{word: "uS/cm" for word in ("\N{MICRO SIGN}s/cm", "\N{GREEK SMALL LETTER MU}s/cm")},
}


def _plain(unit: str) -> str:
    plain = unit.strip().lower().replace("\N{SUPERSCRIPT THREE}", "3").replace("\N{DEGREE SIGN}", "deg")
    plain = plain.replace("\N{SUBSCRIPT TWO}", "2")
    return "".join(plain.split()).replace("-", "").replace("_", "")


_BY_PLAIN = {_plain(unit): unit for units in QUANTITIES.values() for unit in units} | _SPELLINGS


def canonical(unit: str) -> str:
    """Return our spelling of a unit, or the unit itself if it is unknown."""
    return _BY_PLAIN.get(_plain(unit), unit)


def is_known(unit: str) -> bool:
    """Return whether a unit, in any common spelling, is one of ours."""
    return _plain(unit) in _BY_PLAIN


def conversion(unit: str, wanted: str) -> tuple[float, float]:
    """Return (shift, scale) such that (value - shift) * scale is in the wanted unit."""
    source, target = canonical(unit), canonical(wanted)
    if source == target:
        return 0.0, 1.0
    # a unit of two quantities is taken as the one whose inner unit is wanted
    tables = sorted(QUANTITIES.values(), key=lambda units: next(iter(units)) != target)
    for units in tables:
        if target in units and source in units:
            (shift, scale), (target_shift, target_scale) = units[source], units[target]
            return shift - target_shift * target_scale / scale, scale / target_scale
    choices = next((list(units) for units in tables if target in units), [target])
    raise SchemaError(f"unit {unit[:40]!r} does not fit a point in {wanted}; use {' | '.join(choices)}")


def inner(unit: str) -> str:
    """Return the inner unit of the quantity that this unit measures, or the unit itself if it is unknown."""
    return next((next(iter(units)) for units in QUANTITIES.values() if canonical(unit) in units), unit)
