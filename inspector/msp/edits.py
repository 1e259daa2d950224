"""Undoable edits as lists of small steps: set a member, insert an element, set an attribute."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from inspector.msp.objects import Message, Subsession

EditKind = Literal["append", "visibility", "policy", "session", "restructure"]
REMOVED = object()
"""Value that removes a member."""
_NO_STATE = object()
"""State that no document has."""


class Edit(NamedTuple):
    """An edit when it is made, undone or redone."""

    words: str
    """Label for the user, such as "Close units"."""
    kind: EditKind
    """Scope: `visibility` of a message, `policy` of a sub-session, or `session` for sub-context and snapshots.

    `append` only added the objects in `added`. `restructure` removed objects, or read them again.
    """
    key: str
    """Key of the session or sub-session; empty for the whole document."""
    message: Message | None = None
    """The edited message."""
    added: tuple[Message | Subsession, ...] = ()
    """In order: new messages, and sub-sessions that were opened (`is_open`) or closed (not `is_open`)."""


class SessionObserver(Protocol):
    """Is notified of every edit at once, in the caller's thread."""

    def session_edited(self, edit: Edit, /) -> None:
        """Handles an edit, undo, redo or reload."""
        ...


class Step(Protocol):
    """One change of one object."""

    def apply(self) -> None: ...

    def undo(self) -> None: ...


@dataclass(slots=True)
class SetMember:
    """Sets or removes (`REMOVED`) a member."""

    data: dict[str, Any]
    name: str
    value: object
    _before: dict[str, Any] = field(default_factory=dict, init=False)

    def apply(self) -> None:
        # All members, so that undo restores their order too.
        self._before = self.data.copy()
        if self.value is REMOVED:
            self.data.pop(self.name, None)
        else:
            self.data[self.name] = self.value

    def undo(self) -> None:
        """Restores the member in its old place."""
        self.data.clear()
        self.data.update(self._before)


@dataclass(slots=True)
class Insert:
    """Appends an element to a list."""

    items: list[Any]
    value: object

    def apply(self) -> None:
        self.items.append(self.value)

    def undo(self) -> None:
        """Removes the element; later ones were undone before."""
        self.items.pop()


@dataclass(slots=True)
class Remove:
    """Removes an element from a list."""

    items: list[Any]
    place: int
    _before: object = field(default=None, init=False)

    def apply(self) -> None:
        self._before = self.items.pop(self.place)

    def undo(self) -> None:
        """Restores the element in its old place."""
        self.items.insert(self.place, self._before)


@dataclass(slots=True)
class SetAttribute:
    """Sets an attribute of one of our objects."""

    target: object
    name: str
    value: object
    _before: object = field(default=None, init=False)

    def apply(self) -> None:
        self._before = getattr(self.target, self.name)
        setattr(self.target, self.name, self.value)

    def undo(self) -> None:
        setattr(self.target, self.name, self._before)


class ComposedEdit(NamedTuple):
    """An edit with its steps."""

    edit: Edit
    steps: Sequence[Step]


class EditHistory:
    """Undo and redo history since the document was read."""

    def __init__(self) -> None:
        self._done: list[ComposedEdit] = []
        self._undone: list[ComposedEdit] = []
        self._saved: object = self.state
        self._writing: object = _NO_STATE

    @property
    def state(self) -> object:
        """Identity of the present state among all states of the document."""
        return self._done[-1] if self._done else None

    @property
    def is_dirty(self) -> bool:
        """Returns True if the present state differs from the saved one, or from the one being written."""
        # Edits during a save are not in the file being written.
        overtaken = self._writing is not _NO_STATE and self.state is not self._writing
        return overtaken or self.state is not self._saved

    @property
    def undo_words(self) -> str | None:
        """Label of the edit to undo."""
        return self._done[-1].edit.words if self._done else None

    @property
    def redo_words(self) -> str | None:
        """Label of the edit to redo."""
        return self._undone[-1].edit.words if self._undone else None

    def apply_edit(self, made: ComposedEdit) -> None:
        """Makes an edit and clears the redo history."""
        for step in made.steps:
            step.apply()
        self._done.append(made)
        self._undone.clear()

    def undo(self) -> Edit | None:
        """Undoes the last edit, if any."""
        if not self._done:
            return None
        made = self._done.pop()
        # Later steps rely on earlier ones.
        for step in reversed(made.steps):
            step.undo()
        self._undone.append(made)
        edit = made.edit
        # Rows of an appended object cannot be removed, so views need a new projection.
        return edit._replace(kind="restructure", added=()) if edit.kind == "append" else edit

    def redo(self) -> Edit | None:
        """Redoes the last undone edit, if any."""
        if not self._undone:
            return None
        made = self._undone.pop()
        for step in made.steps:
            step.apply()
        self._done.append(made)
        return made.edit

    @contextmanager
    def mark_writing(self, state: object) -> Generator[None]:
        """Marks a state as being written, since the disk then no longer has the saved state."""
        self._writing = state
        try:
            yield
        finally:
            self._writing = _NO_STATE

    def forget_saved(self) -> None:
        """Marks the disk as different from all known states."""
        self._saved = _NO_STATE

    def mark_saved(self, state: object) -> None:
        """Marks a state as the one on the disk."""
        self._saved = state
