"""Which equipment a point belongs to, and which pieces of equipment are copies of one another, from names alone.

`VAV-1_ZN-T`, `VAV-3-DA-T` and `S_7_PH-O` are `ZN-T` of VAV-1, `DA-T` of VAV-3 and `PH-O` of S-7. Pieces that share
letters and most of their points are copies of one template.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphghha.exports.naming import Kind, words_of
from graphghha.exports.notes import Guess

_NUMBER = r"\d{1,5}[A-Za-z]?(?:[-_]\d{1,4}(?=[-_./: ]|$))?"  # 12, 12A, 1-04
_EQUIPMENT = re.compile(rf"([A-Za-z]{{1,12}})[-_ ]?({_NUMBER})(?=[-_./: ]|$)")
_SINGLE = re.compile(rf"([A-Za-z]{{1,12}})[-_ ]?({_NUMBER})[-_./: ]+(\S.*)")
# equipment that may stand behind other equipment in a name, or have no separator behind its number
_KNOWN = r"(?:AHU|RTU|DOAS|MAU|VAV|CAV|FCU|FPB|FPVAV|TU|HP|WSHP|CH|BLR|CT|HX|CRAC)"
_NESTED = re.compile(rf"({_KNOWN})[-_ ]?({_NUMBER})[-_./: ]+(\S.*)", re.IGNORECASE)
_JOINED = re.compile(rf"({_KNOWN})(\d{{1,5}})([A-Za-z]\S.*)", re.IGNORECASE)
# parts of paths that are places or engines, not equipment
_PLACES = ("B", "F", "L", "FL", "LVL", "SITE", "BLDG", "BUILDING", "FLOOR", "FLR", "LEVEL", "WING")
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


def split_name(name: str) -> tuple[str, str, str]:
    """Return the letters and the number of the equipment in a name, and the rest; empty texts if there is none."""
    *path, last = [part for part in re.split(r"[/.:|]+", name) if part.strip()] or [name]
    if match := _SINGLE.fullmatch(last.strip()) or _JOINED.fullmatch(last.strip()):
        if (inner := _NESTED.fullmatch(match[3].strip())) and inner[1].upper() != match[1].upper():
            match = inner
        return match[1].upper(), _number(match[2]), match[3].strip()
    for at in reversed(range(len(path))):
        found = [each for each in _EQUIPMENT.findall(path[at]) if each[0].upper() not in _PLACES]
        if found:
            letters, number = found[-1]
            rest = "-".join(part.strip() for part in (*path[at + 1 :], last))
            return letters.upper(), _number(number), rest
    return "", "", name.strip()


def _number(text: str) -> str:
    return text.upper().replace("_", "-")


def parent_of(name: str) -> str:
    """Return the piece of equipment in front of that of a name, `AHU1` of `AHU1/VAV-12/ZN-T`, or an empty text."""
    *path, last = [part for part in re.split(r"[/.:|]+", name) if part.strip()] or [name]
    if match := _SINGLE.fullmatch(last.strip()):
        inner = _NESTED.fullmatch(match[3].strip())
        if inner and inner[1].upper() != match[1].upper():
            return last.strip()[: match.start(3)].rstrip("-_./: ")
    else:
        own = next((part for part in reversed(path) if _is_piece(part)), None)
        path = path[: path.index(own)] if own else []
    for part in reversed(path):
        if (found := _EQUIPMENT.search(part)) and found[1].upper() not in _ENGINES:
            return found[0]
    return ""


def _is_piece(part: str) -> bool:
    return any(letters.upper() not in _PLACES for letters, _ in _EQUIPMENT.findall(part))


def role_of(rest: str, kind: Kind) -> str:
    """Return the role of a point in its template: its words, so that `DA-T` and `DA_T` are one.

    How an occupancy is read out (`OCC-O` here, `OCC-C` there) does not make two roles.
    """
    words = words_of(rest).replace("0 CC", "OCC").split()
    if kind.purpose == "mode" and len(words) > 1 and len(words[-1]) == 1:
        words = words[:-1]
    return "-".join(words) or rest


def find_templates(
    points: Mapping[str, Kind], site: str, stated: Mapping[str, tuple[str, str]] | None = None
) -> tuple[tuple[Template, ...], tuple[Guess, ...]]:
    """Return the templates of an export, copies in natural order, and what was guessed.

    `stated` gives the piece of equipment and the role of points for which these are known.
    """
    known, points = _stated_templates(points, stated or {})
    pieces: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    loose: dict[str, str] = {}
    guesses: list[Guess] = []
    for name, kind in points.items():
        letters, number, rest = split_name(name)
        own = loose if not letters else pieces[letters, number]
        role = role_of(rest, kind)
        if role in own:
            guesses.append(Guess(name, "role", name, f"{own[role]!r} has the same words and equipment"))
            role = name
        own[role] = name
    guesses += _place_loose(loose, pieces)
    templates = list(known)
    for letters in dict.fromkeys(letters for letters, _ in pieces):
        copies_of = {number: roles for (other, number), roles in pieces.items() if other == letters}
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
) -> tuple[list[Template], dict[str, Kind]]:
    """Return the templates of points whose equipment is known, and the other points."""
    pieces: dict[str, dict[str, str]] = defaultdict(dict)
    for name in points:
        if name in stated:
            copy, role = stated[name]
            pieces[copy][role if role not in pieces[copy] else name] = name
    templates: list[Template] = []
    for group in alike_pieces(pieces):
        roles = tuple(dict.fromkeys(role for copy in group for role in pieces[copy]))
        owned = {(copy, role): name for copy in group for role, name in pieces[copy].items()}
        letters = split_name(f"{group[0]}_x")[0].lower()
        taken = {template.name for template in templates}
        name = letters if len(group) > 1 and letters and letters not in taken else group[0]
        templates.append(Template(name, tuple(group), roles, owned))
    return templates, {name: kind for name, kind in points.items() if name not in stated}


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
