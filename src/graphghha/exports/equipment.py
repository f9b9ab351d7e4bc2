"""Which equipment a point belongs to, and which pieces of equipment are copies of one another, from names alone.

`VAV-1_ZN-T`, `VAV-3-DA-T` and `S_7_PH-O` are `ZN-T` of VAV-1, `DA-T` of VAV-3 and `PH-O` of S-7. Pieces that share
letters and most of their points are copies of one template.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphghha.exports.naming import Kind, quantity_of_unit, words_of
from graphghha.exports.notes import Guess
from graphghha.exports.role_words import unify_roles
from graphghha.plants.units import canonical, inner

_NUMBER = r"\d{1,5}[A-Za-z]?(?:[-_]\d{1,4}(?=[-_./: ]|$))?"  # 12, 12A, 1-04
_LETTERS = r"[^\W\d_]{1,12}"
_EQUIPMENT = re.compile(rf"({_LETTERS})[-_ ]?({_NUMBER})(?=[-_./: ]|$)")
_SINGLE = re.compile(rf"({_LETTERS})[-_ ]?({_NUMBER})[-_./: ]+(\S.*)")
# equipment that may stand anywhere in a name, have no separator behind its number, or a letter for a number
_KNOWN = r"(?i:AHU|RTU|DOAS|MAU|VAV|CAV|FCU|FPB|FPVAV|TU|HP|WSHP|CH|BLR|CT|HX|CRAC)"
_INNER = re.compile(rf"(?<![A-Za-z0-9])(({_KNOWN})[-_ ]?({_NUMBER}|[A-Z]\d{{2,4}}))[-_ ]+(?=\S)")
_JOINED = re.compile(rf"(({_KNOWN})(\d{{1,5}}))(?=[A-Za-z]\S)")
_LETTERED = re.compile(rf"({_KNOWN})[-_ ]([A-Z]{{1,2}}-?\d{{0,4}})")
# parts of paths that are places or engines, not equipment
_PLACES = (
    "B",
    "F",
    "L",
    "FL",
    "LVL",
    "SITE",
    "BLDG",
    "BUILDING",
    "FLOOR",
    "FLR",
    "LEVEL",
    "WING",
    "AREA",
    "LINE",
    "STATION",
)
_ENGINES = ("NAE", "NCE", "NIE", "NAJ", "JACE", "N", "FC", *_PLACES)
ALIKE = 0.4  # share of points that two copies have in common at least


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of equipment: its roles, its copies, and which point of the export each copy has for a role."""

    name: str
    copies: tuple[str, ...]
    roles: tuple[str, ...]
    points: Mapping[tuple[str, str], str]  # (copy, role) -> name of the point

    def missing(self, role: str) -> tuple[str, ...]:
        """Return the copies that have no point for a role."""
        return tuple(copy for copy in self.copies if (copy, role) not in self.points)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of equipment in a name: its letters and number, how it is written, and what stands behind it."""

    letters: str
    number: str
    text: str
    rest: str


def split_name(name: str) -> tuple[str, str, str]:
    """Return the letters and the number of the equipment in a name, and the rest; empty texts if there is none."""
    pieces = _pieces(name)
    return (pieces[-1].letters, pieces[-1].number, pieces[-1].rest) if pieces else ("", "", name.strip())


def parent_of(name: str) -> str:
    """Return the piece of equipment in front of that of a name, `AHU1` of `AHU1/VAV-12/ZN-T`, or an empty text."""
    *others, own = _pieces(name) or [_Piece("", "", "", "")]
    above = [each for each in others if each.letters not in _ENGINES and each.letters != own.letters]
    return above[-1].text if above else ""


def _pieces(name: str) -> list[_Piece]:
    """Return the pieces of equipment that a name goes through, from the outermost on."""
    *path, last = [part.strip() for part in re.split(r"[/.:|']+", name) if part.strip()] or [name]
    found = []
    for at, part in enumerate(path):
        rest = "-".join((*path[at + 1 :], last))
        if match := _LETTERED.fullmatch(part):
            found.append(_piece(match[1], match[2], part, rest))
            continue
        inside = [match for match in _EQUIPMENT.finditer(part) if match[1].upper() not in _PLACES]
        found += [_piece(match[1], match[2], match[0], rest) for match in inside]
    inner = list(_INNER.finditer(last)) or list(_JOINED.finditer(last))[:1]
    found += [_piece(match[2], match[3], match[1], last[match.end() :]) for match in inner]
    if not found and (match := _SINGLE.fullmatch(last)):
        found.append(_piece(match[1], match[2], last[: match.start(3)].rstrip("-_./: "), match[3]))
    return found


def _piece(letters: str, number: str, text: str, rest: str) -> _Piece:
    return _Piece(letters.upper(), number.upper().replace("_", "-"), text, rest.strip())


def role_of(rest: str, kind: Kind) -> str:
    """Return the role of a point in its template: its words, so that `DA-T` and `DA_T` are one.

    How an occupancy is read out (`OCC-O` here, `OCC-C` there) does not make two roles.
    """
    words = words_of(rest).replace("0 CC", "OCC").split()
    if kind.purpose == "mode" and len(words) > 1 and len(words[-1]) == 1:
        words = words[:-1]
    return "-".join(words) or rest


def find_templates(
    points: Mapping[str, Kind],
    site: str,
    stated: Mapping[str, tuple[str, str]] | None = None,
    units: Mapping[str, str | None] | None = None,
) -> tuple[tuple[Template, ...], tuple[Guess, ...]]:
    """Return the templates of an export, copies in natural order, and what was guessed.

    `stated` gives the piece of equipment and the role of points for which these are known. Points with units of
    different quantities have different roles.
    """
    known, points, guesses = _stated_templates(points, stated or {})
    pieces: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    loose: dict[str, str] = {}
    for name, kind in points.items():
        letters, number, rest = split_name(name)
        own = loose if not letters else pieces[letters, number]
        role = role_of(rest, kind)
        if role in own:
            guesses.append(Guess(name, "role", name, f"{own[role]!r} has the same words and equipment"))
            role = name
        own[role] = name
    _part_quantities(pieces, units or {})
    guesses += _place_loose(loose, pieces)
    templates = list(known)
    for letters in dict.fromkeys(letters for letters, _ in pieces):
        copies_of = {number: roles for (other, number), roles in pieces.items() if other == letters}
        guesses += unify_roles(copies_of) if len(copies_of) > 1 else []
        for group in alike_pieces(copies_of):
            templates.append(_template(letters, {number: copies_of[number] for number in group}))
            if len(group) > 1:
                copies = ", ".join(templates[-1].copies)
                reason = "their names differ in a number and they share most points"
                guesses.append(Guess(letters, "copies", copies, reason))
    if loose:
        templates.append(Template(site, (site,), tuple(loose), {(site, role): loose[role] for role in loose}))
    return tuple(templates), tuple(guesses)


def _stated_templates(
    points: Mapping[str, Kind], stated: Mapping[str, tuple[str, str]]
) -> tuple[list[Template], dict[str, Kind], list[Guess]]:
    """Return the templates of points whose equipment is known, the other points, and what was guessed."""
    pieces: dict[str, dict[str, str]] = defaultdict(dict)
    for name in points:
        if name in stated:
            copy, role = stated[name]
            pieces[copy][role if role not in pieces[copy] else name] = name
    templates: list[Template] = []
    guesses: list[Guess] = []
    for group in alike_pieces(pieces):
        guesses += unify_roles({copy: pieces[copy] for copy in group}) if len(group) > 1 else []
        roles = tuple(dict.fromkeys(role for copy in group for role in pieces[copy]))
        owned = {(copy, role): name for copy in group for role, name in pieces[copy].items()}
        letters = split_name(f"{group[0]}_x")[0].lower()
        taken = {template.name for template in templates}
        name = letters if len(group) > 1 and letters and letters not in taken else group[0]
        templates.append(Template(name, tuple(group), roles, owned))
    return templates, {name: kind for name, kind in points.items() if name not in stated}, guesses


def _part_quantities(pieces: Mapping[tuple[str, str], dict[str, str]], units: Mapping[str, str | None]) -> None:
    """Give points of one name roles of their own where they measure different things: `AIT-302.PV` in pH is no copy."""
    measured: dict[tuple[str, str], set[str]] = defaultdict(set)
    for (letters, _), own in pieces.items():
        for role, point in own.items():
            if quantity := _quantity(units.get(point)):
                measured[letters, role].add(quantity)
    for (letters, _), own in pieces.items():
        for role, point in list(own.items()):
            unit = units.get(point)
            if unit and len(measured[letters, role]) > 1:
                own[f"{role}-{canonical(unit)}"] = own.pop(role)


def _quantity(unit: str | None) -> str | None:
    return (quantity_of_unit(unit) or inner(unit)) if unit else None


def _place_loose(loose: dict[str, str], pieces: dict[tuple[str, str], dict[str, str]]) -> list[Guess]:
    """Give points without equipment to the only piece that has no copies, if there is one."""
    letters = Counter(letter for letter, _ in pieces)
    single = [piece for piece in pieces if letters[piece[0]] == 1]
    if len(single) != 1 or not loose or len(loose) > len(pieces[single[0]]):
        return []
    name = f"{single[0][0]}-{single[0][1]}"
    guesses = []
    for role, point in list(loose.items()):
        if role not in pieces[single[0]]:
            pieces[single[0]][role] = loose.pop(role)
            reason = "its name has no equipment, and this is the only piece without copies"
            guesses.append(Guess(point, "equipment", name, reason))
    return guesses


def alike_pieces(pieces: Mapping[str, Mapping[str, str]]) -> list[list[str]]:
    """Return groups of pieces that share most of their roles, each in natural order."""
    groups: list[list[str]] = []
    for number in sorted(pieces, key=lambda text: (len(text), text)):
        for group in groups:
            common = set().union(*(pieces[other] for other in group))
            own = set(pieces[number])
            if len(own & common) >= ALIKE * min(len(own), len(common)):
                group.append(number)
                break
        else:
            groups.append([number])
    return groups


def _template(letters: str, pieces: Mapping[str, Mapping[str, str]]) -> Template:
    spelling = {number: _spelling(letters, number, roles.values()) for number, roles in pieces.items()}
    roles = tuple(dict.fromkeys(role for own in pieces.values() for role in own))
    name = letters.lower() if len(pieces) > 1 else spelling[next(iter(pieces))]
    owned = {(spelling[number], role): point for number, own in pieces.items() for role, point in own.items()}
    return Template(name, tuple(spelling.values()), roles, owned)


def _spelling(letters: str, number: str, names: Iterable[str]) -> str:
    """Return the usual way to write a piece of equipment, such as `S-7` where one name has `S_7`."""
    digits = number.replace("-", "[-_]")
    pattern = re.compile(rf"({letters}[-_ ]?{digits})(?=[-_./: ]|$|[A-Za-z])", re.IGNORECASE)
    found = Counter(match[1] for name in names if (match := pattern.search(name)))
    return found.most_common(1)[0][0] if found else f"{letters}-{number}"
