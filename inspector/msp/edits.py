"""Edits as lists of small steps, each of which can be taken back: a member set, an element put in, an attribute."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from inspector.msp.objects import Message, Subsession

EditKind = Literal["append", "visibility", "policy", "session", "restructure"]
REMOVED = object()
"""As the value of a member: it goes."""
_NEVER = object()
"""A state no document is in."""


class Edit(NamedTuple):
    """One edit as it was made, taken back or made again."""

    words: str
    """What the user did, as "Close units"."""
    kind: EditKind
    """What it is about: `visibility` of a message, `policy` of a sub-session, `session`: its sub-context or snapshots.

    `append`: what is in `added` came and nothing else changed; `restructure`: something went, or was read again.
    """
    key: str
    """Key of the session or sub-session it is about; empty: the whole document."""
    message: Message | None = None
    """The message it is about."""
    added: tuple[Message | Subsession, ...] = ()
    """In order: messages that came, sub-sessions that were opened (`is_open`) or closed (not `is_open`)."""


class SessionObserver(Protocol):
    """Is told of every edit, at once and in the caller's thread."""

    def session_edited(self, edit: Edit, /) -> None:
        """Something was edited, taken back, made again, or read again."""
        ...


class Step(Protocol):
    """One change of one object."""

    def do(self) -> None:
        """Make it."""
        ...

    def undo(self) -> None:
        """Take it back."""
        ...


@dataclass(slots=True)
class SetMember:
    """A member gets another value, or goes when the value is `REMOVED`."""

    data: dict[str, Any]
    name: str
    value: object
    _before: dict[str, Any] = field(default_factory=dict, init=False)

    def do(self) -> None:
        """Make it."""
        self._before = self.data.copy()
        if self.value is REMOVED:
            self.data.pop(self.name, None)
        else:
            self.data[self.name] = self.value

    def undo(self) -> None:
        """Take it back; a member that went comes back where it was."""
        self.data.clear()
        self.data.update(self._before)


@dataclass(slots=True)
class Insert:
    """A list gets one more element, at its end."""

    items: list[Any]
    value: object

    def do(self) -> None:
        """Make it."""
        self.items.append(self.value)

    def undo(self) -> None:
        """Take it back: all that came behind it was taken back before."""
        self.items.pop()


@dataclass(slots=True)
class Remove:
    """A list loses an element."""

    items: list[Any]
    place: int
    _before: object = field(default=None, init=False)

    def do(self) -> None:
        """Make it."""
        self._before = self.items.pop(self.place)

    def undo(self) -> None:
        """Take it back; the element comes back where it was."""
        self.items.insert(self.place, self._before)


@dataclass(slots=True)
class SetAttribute:
    """An attribute of one of our objects gets another value."""

    target: object
    name: str
    value: object
    _before: object = field(default=None, init=False)

    def do(self) -> None:
        """Make it."""
        self._before = getattr(self.target, self.name)
        setattr(self.target, self.name, self.value)

    def undo(self) -> None:
        """Take it back."""
        setattr(self.target, self.name, self._before)


class Made(NamedTuple):
    """An edit with the steps it took."""

    edit: Edit
    steps: Sequence[Step]


class EditHistory:
    """What was edited since the document was read, and what of it was taken back."""

    def __init__(self) -> None:
        self._done: list[Made] = []
        self._undone: list[Made] = []
        self._saved: object = self.state
        self._writing: object = _NEVER

    @property
    def state(self) -> object:
        """What tells the document as it is now from what it was before its edits, and from what they will make it."""
        return self._done[-1] if self._done else None

    @property
    def dirty(self) -> bool:
        """Whether the document is another one than was read or saved last, or than is being written at this moment."""
        overtaken = self._writing is not _NEVER and self.state is not self._writing
        return overtaken or self.state is not self._saved

    @property
    def undo_words(self) -> str | None:
        """What would be taken back."""
        return self._done[-1].edit.words if self._done else None

    @property
    def redo_words(self) -> str | None:
        """What would be made again."""
        return self._undone[-1].edit.words if self._undone else None

    def make(self, made: Made) -> None:
        """Make an edit; what was taken back before cannot be made again."""
        for step in made.steps:
            step.do()
        self._done.append(made)
        self._undone.clear()

    def undo(self) -> Edit | None:
        """Take the last edit back; None when there is none."""
        if not self._done:
            return None
        made = self._done.pop()
        for step in reversed(made.steps):
            step.undo()
        self._undone.append(made)
        edit = made.edit
        return edit._replace(kind="restructure", added=()) if edit.kind == "append" else edit

    def redo(self) -> Edit | None:
        """Make the edit again that was taken back last; None when there is none."""
        if not self._undone:
            return None
        made = self._undone.pop()
        for step in made.steps:
            step.do()
        self._done.append(made)
        return made.edit

    @contextmanager
    def writing(self, state: object) -> Generator[None]:
        """Meanwhile a state is written: when that is done the disk has no longer what was saved last."""
        self._writing = state
        try:
            yield
        finally:
            self._writing = _NEVER

    def forget_saved(self) -> None:
        """What is on the disk is none of the states there were."""
        self._saved = _NEVER

    def saved(self, state: object) -> None:
        """What there was in this state is what is on the disk."""
        self._saved = state
