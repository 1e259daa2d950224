"""Values of a configuration with their positions in the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TOO_DEEP = "its values are nested too deeply"


class UnreadableError(Exception):
    """A configuration that cannot be read, or changed safely; the text is a sentence without a subject."""


@dataclass(slots=True)
class Value:
    """One value of a configuration.

    Attributes:
        start, end: position in characters; 0 and 0 for a TOML table, which has no single span.
        plain: the Python value.
        members: members of an object, by name.
        items: items of an array.
    """

    start: int
    end: int
    plain: Any = None
    members: dict[str, Value] | None = None
    items: list[Value] | None = field(default=None)

    def value_at(self, *path: str) -> Value | None:
        """Returns the value under these keys, or None."""
        found: Value | None = self
        for name in path:
            found = found.members.get(name) if found is not None and found.members is not None else None
        return found


def spliced(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Replaces non-overlapping spans of a text."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
