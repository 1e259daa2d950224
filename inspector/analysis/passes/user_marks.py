"""Stores the marks and comments that the user put on messages and contexts.

This is no pass, since notes do not come from the traffic. It lives here because filters and views query it like a pass,
and each edit reports the changed messages like one. Notes are few and stored one by one. A message without a note costs
no memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.field_columns import Flags, Interned
from inspector.analysis.passes.changed_rows import ChangedRows, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN

MAX_COMMENT_LENGTH = 20_000
"""Limit of a comment, in characters; the rest is cut."""
_MARK_BIT = 1


class ContextTarget(NamedTuple):
    """A context of a space."""

    space: int
    """String id of the space."""
    node: int
    """Its node in the context tree; MAIN for the main context."""


Target = int | ContextTarget
"""A target of a note: a message, by its index, or a context."""


class Note(NamedTuple):
    """A user's mark and comment on a message or a context; false if it has neither."""

    marked: bool = False
    comment: str = ""

    def __bool__(self) -> bool:
        return self.marked or bool(self.comment)

    @property
    def words(self) -> list[str]:
        """Returns words for the parts of the note, for screen readers."""
        return ["marked"] * self.marked + ["comment"] * bool(self.comment)


EMPTY_NOTE = Note()


class UserMarks:
    """The notes of one capture.

    A context's note follows the context through merges and moves of the tree.

    Attributes:
        changed: messages with a changed note, since the last `take_rows`.
        version: grows with every change.
    """

    def __init__(self, contexts: ContextPass) -> None:
        self._pass = contexts
        self._messages: dict[int, Note] = {}
        self._contexts: dict[ContextTarget, Note] = {}  # by the nodes of that version of the tree
        self._tree_version = contexts.tree.version
        self._bits: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._comment_ids: NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._texts: list[str] = [""]
        self._text_ids: dict[str, int] = {"": 0}
        self._rows: Rows | None = None
        self.changed = ChangedRows()
        self.version = 0

    def __len__(self) -> int:
        return len(self._messages) + len(self._contexts)

    # Editing

    def set_note(self, target: Target, note: Note) -> bool:
        """Sets the note of a message or a context; an empty note removes it.

        Returns:
            True if that changed anything.
        """
        note = Note(note.marked, note.comment[:MAX_COMMENT_LENGTH])
        if note == self.note(target):
            return False
        if isinstance(target, int):
            self._set_message_note(target, note)
        else:
            self._set_context_note(target, note)
        self.version += 1
        return True

    def _set_message_note(self, message: int, note: Note) -> None:
        if note:
            self._messages[message] = note
        else:
            del self._messages[message]
        self._bits = _extended(self._bits, message + 1)
        self._comment_ids = _extended(self._comment_ids, message + 1)
        # The columns mirror the notes, so that filters read them like a pass's columns.
        self._bits[message] = _MARK_BIT if note.marked else 0
        self._comment_ids[message] = self._text_id(note.comment)
        self._rows = None
        self.changed.add(message)

    def _set_context_note(self, target: ContextTarget, note: Note) -> None:
        living = self.current_target(target)
        if note:
            self._current_contexts()[living] = note
        else:
            self._current_contexts().pop(living, None)

    def _current_contexts(self) -> dict[ContextTarget, Note]:
        """Returns the notes of contexts by the nodes of the current tree."""
        if self._tree_version != self._pass.tree.version:
            self._tree_version = self._pass.tree.version
            kept, self._contexts = self._contexts, {}
            for key, note in kept.items():
                living = self.current_target(key)
                other = self._contexts.get(living, EMPTY_NOTE)  # the tree has merged two contexts
                comments = "\n".join(comment for comment in (other.comment, note.comment) if comment)
                self._contexts[living] = Note(other.marked or note.marked, comments)
        return self._contexts

    def _text_id(self, text: str) -> int:
        found = self._text_ids.get(text)
        if found is None:  # entries are never replaced, since filters cache results per entry
            found = self._text_ids[text] = len(self._texts)
            self._texts.append(text)
        return found

    # Lookup

    def note(self, target: Target) -> Note:
        if isinstance(target, int):
            return self._messages.get(target, EMPTY_NOTE)
        return self._current_contexts().get(self.current_target(target), EMPTY_NOTE) if self._contexts else EMPTY_NOTE

    def current_target(self, target: ContextTarget) -> ContextTarget:
        """Returns the context with its node in the current tree."""
        node = target.node if target.node == MAIN else self._pass.tree.resolve(target.node)
        # The main context has no node, and never merges.
        return ContextTarget(target.space, node)

    @property
    def rows(self) -> Rows:
        """Messages with a mark or a comment, ascending."""
        if self._rows is None:
            self._rows = np.sort(np.fromiter(self._messages, np.int64, len(self._messages)))
        return self._rows

    def contexts(self) -> Iterator[tuple[ContextTarget, Note]]:
        """Yields the contexts with a note, in the order of their first notes; a merged one once."""
        yield from list(self._current_contexts().items())

    def targets(self) -> list[Target]:
        """Returns all targets with a note: messages, then contexts."""
        return [*self.rows.tolist(), *(target for target, _ in self.contexts())]

    # Fields

    def marked_column(self, length: int) -> Flags:
        """Returns the field `mark` of the first `length` messages."""
        self._bits = _extended(self._bits, length)
        return Flags(self._bits[:length], _MARK_BIT)

    def comment_column(self, length: int) -> Interned:
        """Returns the field `comment` of the first `length` messages."""
        self._comment_ids = _extended(self._comment_ids, length)
        return Interned(self._comment_ids[:length], self._texts)


def _extended(values: NDArray[Any], length: int) -> NDArray[Any]:
    """Returns an array of at least `length`, padded with zeros.

    Copies non-zero values only: zero pages that are never written take no memory.
    """
    if len(values) >= length:
        return values
    grown = np.zeros(max(length, len(values) * 3 // 2, 1024), values.dtype)
    held = values.nonzero()[0]
    grown[held] = values[held]
    return grown
