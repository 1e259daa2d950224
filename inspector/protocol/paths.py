"""Context paths such as `reason-789/security/permissions` (docs/protocols.md 6)."""

from __future__ import annotations


def normalise(path: str) -> str:
    """Strip edge slashes and drop empty segments; "" when nothing remains (the main context)."""
    if "//" not in path and path[:1] != "/" and path[-1:] != "/":
        return path
    return "/".join(segment for segment in path.split("/") if segment)


def root(path: str) -> str:
    """First segment: `a` of `a/b/c`."""
    return path.partition("/")[0]


def leaf(path: str) -> str:
    """Last segment: `c` of `a/b/c`."""
    return path.rpartition("/")[2]


def parent(path: str) -> str | None:
    """The path one level up; None for a root."""
    return path.rpartition("/")[0] or None


def depth(path: str) -> int:
    """Number of segments: 3 for `a/b/c`."""
    return path.count("/") + 1


def is_ancestor(path: str, other: str) -> bool:
    """Whether `other` lies strictly below `path`: true for (`a`, `a/b/c`), false for (`a`, `a`) and (`a`, `ab/c`)."""
    return other.startswith(path + "/")


def is_under(path: str, other: str) -> bool:
    """Whether `other` is `path` or lies below it: the filter operator `under`."""
    return other == path or is_ancestor(path, other)


def is_child(path: str, other: str) -> bool:
    """Whether `other` lies directly below `path`: the filter operator `childof`."""
    return parent(other) == path


def quote_segment(identifier: str) -> str:
    """An opaque id as one segment of a displayed path: `%` and `/` become %25 and %2F."""
    return identifier.replace("%", "%25").replace("/", "%2F")
