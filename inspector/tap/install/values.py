"""Values of a configuration with the places where they stand in its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TOO_DEEP = "its values are nested too deeply"


class UnreadableError(Exception):
    """A configuration that cannot be read, or not be changed without a risk; a sentence without a subject."""


@dataclass(slots=True)
class Value:
    """One value of a configuration.

    Attributes:
        start, end: where it stands, in characters; 0 and 0 for a table of TOML, which is spread.
        plain: what it is.
        members: of an object, by name.
        items: of an array.
    """

    start: int
    end: int
    plain: Any = None
    members: dict[str, Value] | None = None
    items: list[Value] | None = field(default=None)

    def at(self, *path: str) -> Value | None:
        """What stands under these names."""
        found: Value | None = self
        for name in path:
            found = found.members.get(name) if found is not None and found.members is not None else None
        return found


def spliced(text: str, edits: list[tuple[int, int, str]]) -> str:
    """A text with some of its spans replaced; they do not overlap."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
