"""Defines `Field`: a name, a type, help and the column of its values. `fields` lists all fields."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column
from inspector.protocol.secrets.neighbour_secrets import is_secret_by_neighbours
from inspector.store.messages.payload_values import OPEN_JSON, value_at_path


class FieldType(enum.Enum):
    """Type of a field's values; decides the operators."""

    STRING = "text"
    KIND = "kind"
    """A text whose `like` follows capability rules."""
    CONTEXT = "context path"
    """The only type with `under`, `below`, `above` and `childof`."""
    INTEGER = "whole number"
    NUMBER = "number"
    TIME = "time"
    """Integer nanoseconds since the Unix epoch, UTC."""
    SEVERITY = "severity"
    """A word of `Severity`, in its order."""
    BOOLEAN = "yes or no"
    ANY = "any"
    """Type decided per value: fields of a payload."""


class Depends(enum.Enum):
    """Events that can change a value after its message was read."""

    FIXED = "nothing"
    PASS = "a later message"
    TREE = "a move in the context tree"
    CLOCK = "the time"


@dataclass(frozen=True)
class Field:
    """One field of the filter language."""

    name: str
    type: FieldType
    label: str
    """Column title."""
    help: str
    """One sentence."""
    column: Callable[[Analysis], Column]
    depends: Depends = Depends.FIXED
    many: bool = False
    """Values are lists; a comparison is true if any element matches."""
    like_column: Callable[[Analysis], Column] | None = None
    """Column for `like` if it differs from `column`."""
    secret: str | None = None
    """A key on the path of a payload value that names a secret. Callers that show a value check `secret_at`."""
    values: tuple[str, ...] = ()
    """Values offered even if no message has them."""
    only: Sequence[str] = ()
    """All possible values; empty if any value is possible."""
    path: tuple[str, ...] = ()
    """Keys from the payload down to the value; empty if the field is no payload value."""

    def value(self, analysis: Analysis, message: int) -> object:
        """Returns the value of one message: None if absent, [] for an absent list, times as integer nanoseconds."""
        return self.column(analysis).value(message)

    def secret_at(self, analysis: Analysis, message: int) -> str | None:
        """Returns the key that makes the value of a message a secret, if any."""
        if self.secret is not None or not self.path:
            return self.secret
        return self.path[-1] if _is_secret_beside(analysis.capture.records.payload(message), self.path) else None


def _is_secret_beside(value: object, path: tuple[str, ...]) -> bool:
    """Returns True if neighbours mark the value at a path as secret, also inside opened JSON texts."""
    while OPEN_JSON in path:
        place = path.index(OPEN_JSON)
        if is_secret_by_neighbours(value, path[:place]):
            return True
        value, path = value_at_path(value, path[: place + 1]), path[place + 1 :]
    return is_secret_by_neighbours(value, path)
