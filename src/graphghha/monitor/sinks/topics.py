"""MQTT topics: which filters meet, and how a name becomes one level."""

from urllib.parse import quote


def levels(topic_filter: str) -> list[str]:
    """Of a filter, without the share name of a shared subscription."""
    parts = topic_filter.split("/")
    return parts[2:] if parts[0] == "$share" and len(parts) > 2 else parts


def overlap(first: str, second: str) -> bool:
    """Is there a topic that both filters match?"""
    a, b = levels(first), levels(second)
    # a wildcard at the first level does not match the broker's own topics, which begin with $
    if any(x[0] in ("#", "+") and y[0].startswith("$") for x, y in ((a, b), (b, a))):
        return False
    for x, y in zip(a, b, strict=False):
        if "#" in (x, y):
            return True
        if x != y and "+" not in (x, y):
            return False
    longer = a[len(b) :] or b[len(a) :]
    return longer in ([], ["#"])  # `a/#` matches `a` itself


def level(name: str) -> str:
    """A name as one level of a topic: no separator, wildcard, NUL or leading $ survives."""
    return quote(name, safe=" !'()*,:;=@[]{}~", errors="replace")[:200] or "-"
