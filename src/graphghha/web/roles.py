"""Who may do what. Roles contain each other."""

ROLES = ("viewer", "operator", "engineer", "admin")
NEEDED = {
    "ack": "operator",
    "comment": "operator",
    "shelve": "operator",
    "unshelve": "operator",
    "dispose": "operator",
    "found": "operator",
    "suppress": "engineer",
    "out-of-service": "engineer",
    "return": "engineer",
    "reset": "engineer",
    "stop": "engineer",
    "inject": "engineer",
    "audit": "engineer",
    "people": "admin",
}


def is_enough(role: str, needed: str) -> bool:
    """Return whether a role contains another."""
    return role in ROLES and ROLES.index(role) >= ROLES.index(needed)


def allowed(role: str) -> list[str]:
    """Return what a role may do beyond reading."""
    return [what for what, needed in NEEDED.items() if is_enough(role, needed)]


def may_read(role: str, kind: str) -> bool:
    """Return whether a role may read events of a kind: who logged in and who was refused is part of the audit."""
    return not kind.startswith("access.") or is_enough(role, NEEDED["audit"])
