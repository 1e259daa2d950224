"""What a field is: a name, a type, a sentence, and the column its values are in. Which there are stands in `fields`."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column
from inspector.protocol.secrets.beside import is_secret_beside
from inspector.store.messages.payload_values import OPEN_JSON, walk


class FieldType(enum.Enum):
    """What values a field has, and so which operators fit."""

    STRING = "text"
    KIND = "kind"
    """A text whose `like` follows capability rules."""
    CONTEXT = "context path"
    """A path; the only type with `under`, `below`, `above` and `childof`."""
    INTEGER = "whole number"
    NUMBER = "number"
    TIME = "time"
    """Integer nanoseconds since the Unix epoch, UTC."""
    SEVERITY = "severity"
    """A word of `Severity`, ordered as those are."""
    BOOLEAN = "yes or no"
    ANY = "any"
    """Decided value by value: fields of a payload."""


class Depends(enum.Enum):
    """What can change a value after its message was read."""

    FIXED = "nothing"
    PASS = "a later message"
    TREE = "a move in the context tree"
    CLOCK = "the time"


@dataclass(frozen=True)
class Field:
    """One field."""

    name: str
    type: FieldType
    label: str
    """Column title."""
    help: str
    """One sentence."""
    column: Callable[[Analysis], Column]
    depends: Depends = Depends.FIXED
    many: bool = False
    """Values are lists; a comparison holds if it holds for any element."""
    like_column: Callable[[Analysis], Column] | None = None
    """What `like` matches where that is not `column`."""
    secret: str | None = None
    """A key on the way to a payload's value that names a secret; whoever shows a value asks `secret_at`."""
    values: tuple[str, ...] = ()
    """Values that are offered also where no message has them."""
    only: Sequence[str] = ()
    """All values there can be; empty where messages may have any."""
    path: tuple[str, ...] = ()
    """Keys from the payload down to the value; empty for what is no value of a payload."""

    def value(self, analysis: Analysis, message: int) -> object:
        """The value of one message: None when absent, [] for an absent list, times as integer nanoseconds."""
        return self.column(analysis).value(message)

    def secret_at(self, analysis: Analysis, message: int) -> str | None:
        """The key for which the value of a message is a secret and has to be masked; None where it is none by that."""
        if self.secret is not None or not self.path:
            return self.secret
        return self.path[-1] if _is_secret_beside(analysis.capture.records.payload(message), self.path) else None


def _is_secret_beside(value: object, path: tuple[str, ...]) -> bool:
    """Whether the value at a path is masked with its neighbours: those in the texts that are opened on the way, too."""
    while OPEN_JSON in path:
        place = path.index(OPEN_JSON)
        if is_secret_beside(value, path[:place]):
            return True
        value, path = walk(value, path[: place + 1]), path[place + 1 :]
    return is_secret_beside(value, path)
