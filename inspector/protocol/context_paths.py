"""Context paths such as `reason-789/security/permissions`: parses, compares, quotes and shortens them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from inspector.protocol.secrets.masking import MASK, mask_users


def normalise(path: str) -> str:
    """Strips edge slashes and drops empty segments; returns "" if no segment remains (the main context)."""
    if "//" not in path and path[:1] != "/" and path[-1:] != "/":
        return path
    return "/".join(segment for segment in _without_passwords(path).split("/") if segment)


def _without_passwords(identifier: str) -> str:
    """Masks user information in addresses of an id, since it would be unrecognizable after splitting."""
    return mask_users(identifier, lambda _: MASK) if "://" in identifier else identifier


def root_segment(path: str) -> str:
    """Returns the first segment: `a` of `a/b/c`."""
    return path.partition("/")[0]


def parent_path(path: str) -> str | None:
    """Returns the parent path; None for a root."""
    return path.rpartition("/")[0] or None


def path_depth(path: str) -> int:
    """Returns the number of segments: 3 for `a/b/c`."""
    return path.count("/") + 1


def is_ancestor(path: str, other: str) -> bool:
    """Returns True if `other` is strictly below `path`: for (`a`, `a/b/c`), not for (`a`, `a`) and (`a`, `ab/c`)."""
    return other.startswith(path + "/")


def is_under(path: str, other: str) -> bool:
    """Returns True if `other` is `path` or below it: the filter operator `under`."""
    return other == path or is_ancestor(path, other)


def is_child(path: str, other: str) -> bool:
    """Returns True if `other` is directly below `path`: the filter operator `childof`."""
    return parent_path(other) == path


def quote_segment(identifier: str) -> str:
    """Returns an opaque id as one segment of a displayed path: `%` and `/` become %25 and %2F.

    The first character of an id that looks like omitted levels is escaped too.
    """
    quoted = _without_passwords(identifier).replace("%", "%25").replace("/", "%2F")
    return "%E2%80%A6" + quoted[1:] if _LEFT_OUT.fullmatch(quoted) else quoted


# Displayed paths are short at any depth: otherwise 10,000 nested contexts would each repeat all their ancestors, and a
# file of 1 MB would produce 500 MB of paths.

MAX_SHOWN_LEVELS = 32
"""Longer paths show their ends, as `a/…9996…/x/y/z`."""
LAST_SHOWN = 3
MAX_SEGMENT_LENGTH = 1_000
"""Characters of an id in a path; a longer one shows its ends."""

_LEFT_OUT = re.compile("…([0-9]{1,9})…")


def display_segment(identifier: str) -> str:
    """Returns an id as a segment of a displayed path; shortens a long one in the middle."""
    if len(identifier) > MAX_SEGMENT_LENGTH:
        half = MAX_SEGMENT_LENGTH // 2
        identifier = f"{identifier[:half]}…{identifier[-half:]}"
    return quote_segment(identifier)


def shorten_path(first: str, depth: int, last: Sequence[str]) -> str:
    """Returns a displayed path of the given depth by its ends."""
    return "/".join((first, f"…{depth - 1 - len(last)}…", *last))


class DisplayedPath:
    """A parsed displayed path, shortened or not.

    Attributes:
        depth: levels of its context.
    """

    def __init__(self, path: str) -> None:
        segments = path.split("/")
        cuts = [place for place, segment in enumerate(segments) if _LEFT_OUT.fullmatch(segment)]
        at = cuts[0] if len(cuts) == 1 else len(segments)
        self._first, self._last = segments[:at], segments[at + 1 :]
        left_out = int(segments[at].strip("…")) if at < len(segments) else 0
        self.depth = len(self._first) + left_out + len(self._last)

    def may_have_id_at(self, level: int, identifier: str) -> bool:
        """Returns True if an id may be at a level, 0 for the root; omitted levels match any id."""
        if level < len(self._first):
            segment = self._first[level]
        elif level >= self.depth - len(self._last):
            segment = self._last[level - self.depth]
        else:
            return True
        # Filters may write a segment quoted or not.
        return segment in (display_segment(identifier), quote_segment(identifier))
