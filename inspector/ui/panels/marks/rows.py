"""Which marks and comments the panel lists, and in which rows: messages by their number, then contexts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.analysis.marks import ContextTarget, Marks, Target
from inspector.filters.visible import VisibleRows
from inspector.ui.panels.list_view import Key
from inspector.ui.panels.stepping import are_shown

_MESSAGE = ""


@dataclass
class Choice:
    """What the user wants to see.

    Attributes:
        view_only: not what the display filter and the scope hide.
        comments_only: not what is marked without a word.
    """

    view_only: bool = False
    comments_only: bool = False


class MarkRows:
    """The rows as of the last `take`.

    Attributes:
        outside: messages with a note that filter and scope hide.
        left_out: notes that are not listed for the user's choice.
    """

    def __init__(self) -> None:
        self.outside = 0
        self.left_out = 0
        self._targets: list[Target] = []
        self._row_of: dict[Key, int] = {}

    def take(self, marks: Marks, shown: VisibleRows, choice: Choice) -> None:
        """Make the rows anew. O(notes log messages shown)."""
        messages = marks.rows
        among = are_shown(messages, shown)
        self.outside = len(messages) - int(np.count_nonzero(among))
        listed: list[Target] = (messages[among] if choice.view_only else messages).tolist()
        listed += [target for target, _ in marks.contexts()]
        if choice.comments_only:
            listed = [target for target in listed if marks.note(target).comment]
        self._targets = listed
        self._row_of = {key_of(target): row for row, target in enumerate(listed)}
        self.left_out = len(messages) + sum(1 for _ in marks.contexts()) - len(listed)

    def __len__(self) -> int:
        return len(self._targets)

    def target_at(self, row: int) -> Target:
        """What a row is about."""
        return self._targets[row]

    def key_at(self, row: int) -> Key:
        """What names a row."""
        return key_of(self._targets[row])

    def row_of(self, key: Key) -> int:
        """The row of a key; -1 when it is not listed."""
        return self._row_of.get(key, -1)


def key_of(target: Target) -> Key:
    """What names the row of a message or a context."""
    if isinstance(target, ContextTarget):
        return str(target.space), target.node
    return _MESSAGE, target
