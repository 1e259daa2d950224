"""What the user did to marks, comments, presets, highlight rules and the view, so that it can be undone and done again.

One history for each window, behind Undo and Redo of the Edit menu. Presets and highlight rules are everybody's: an edit
of them stands in the history of the window it was made in; what is typed into one of them is one step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack
from typing_extensions import override

from inspector.settings import HighlightRule, Preset, Settings
from inspector.ui import budgets

if TYPE_CHECKING:
    from inspector.ui.services import SettingsOwner

_STEPS = 500
"""So many steps are kept; a step holds a few words."""
_MERGES = 1
"""Qt asks steps of the same number whether they are one."""


@dataclass(frozen=True, slots=True)
class _Lists:
    """What the user keeps in the settings and edits in the window."""

    presets: list[Preset]
    highlights: list[HighlightRule]

    @classmethod
    def of(cls, settings: Settings) -> _Lists:
        return cls(
            [preset.model_copy() for preset in settings.presets], [rule.model_copy() for rule in settings.highlights]
        )

    def put(self, settings: Settings) -> None:
        settings.presets[:] = [preset.model_copy() for preset in self.presets]
        settings.highlights[:] = [rule.model_copy() for rule in self.highlights]


class _Step(QUndoCommand):
    """One thing that was done; done when it is pushed."""

    def __init__(
        self, words: str, redo: Callable[[], object], undo: Callable[[], object],
        entry: tuple[str, int] | None = None, span: list[_Lists] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(words)
        self._span = [] if span is None else span
        self._redo = redo
        self._undo = undo
        self._entry = entry
        self._done_at = time.monotonic()

    @override
    def id(self) -> int:
        return -1 if self._entry is None else _MERGES

    @override
    def mergeWith(self, other: QUndoCommand) -> bool:
        """Take in the next edit of the same entry, as of the next letter that was typed."""
        if (
            not isinstance(other, _Step)
            or other._entry != self._entry
            or other._done_at - self._done_at > budgets.current.edit_s
        ):
            return False
        self._redo, self._done_at = other._redo, other._done_at
        self._span[1:], other._span[:1] = other._span[1:], self._span[:1]
        return True

    @override
    def redo(self) -> None:
        self._redo()

    @override
    def undo(self) -> None:
        self._undo()


class UndoHistory(QObject):
    """The steps of one window.

    Signals:
        steps_changed(str, str): what can be taken back and what can be done again, in words; "" for nothing.
        refused(str): why a step was not taken back or done again.

    Attributes:
        stack: Qt's own stack of steps.
    """

    steps_changed = Signal(str, str)
    refused = Signal(str)

    def __init__(self, owner: SettingsOwner, parent: QObject) -> None:
        """Nothing was done yet.

        Args:
            owner: has the presets and highlight rules.
            parent: owner.
        """
        super().__init__(parent)
        self._owner = owner
        self._lists = _Lists.of(owner.settings)
        owner.settings_changes.lists_restored.connect(self._on_lists_restored)
        self.stack = QUndoStack(self)
        self.stack.setObjectName("history")
        self.stack.setUndoLimit(_STEPS)
        self.stack.indexChanged.connect(self._on_changed)

    def do(
        self, words: str, redo: Callable[[], object], undo: Callable[[], object], entry: tuple[str, int] | None = None
    ) -> None:
        """Do something that can be undone.

        Args:
            words: what it is, as it follows "Undo": "mark No. 12".
            redo: does it, now and whenever it is done again.
            undo: takes it back.
            entry: what was edited, where typing into it is one step.
        """
        self.stack.push(_Step(words, redo, undo, entry))

    def undo(self) -> None:
        """Take back what was done last."""
        self.stack.undo()

    def redo(self) -> None:
        """Do again what was taken back last."""
        self.stack.redo()

    def _on_changed(self, _index: int = 0) -> None:
        self.steps_changed.emit(self.stack.undoText(), self.stack.redoText())

    @property
    def present(self) -> set[str]:
        """What can be done, as the actions name what they need."""
        can = {"undo": self.stack.canUndo(), "redo": self.stack.canRedo()}
        return {name for name, possible in can.items() if possible}

    def close(self) -> None:
        """The window closes: there is nothing to undo any more."""
        self.stack.indexChanged.disconnect(self._on_changed)
        self.stack.clear()

    # Presets and highlight rules

    def note_lists(self, *, edited_here: bool) -> None:
        """The settings are stored: where presets or rules were edited in this window, that is one step.

        O(presets and rules).
        """
        before, after = self._lists, _Lists.of(self._owner.settings)
        if before == after:
            return
        self._lists = after
        if edited_here:
            words, entry = _words(before, after)
            span = [before, after]  # further typing makes it longer
            step = _Step(
                words, lambda: self._put(after, span[0]), lambda: self._put(before, span[1]), entry=entry, span=span
            )
            self.stack.push(step)

    def _put(self, lists: _Lists, instead_of: _Lists) -> None:
        """Make the lists what they were, unless another window has changed them since: its edits are not taken back."""
        owner = self._owner
        present = _Lists.of(owner.settings)
        if present == lists:
            return
        if present != instead_of:
            self.refused.emit("Presets or highlight rules were edited elsewhere since; nothing was changed.")
            return
        lists.put(owner.settings)
        owner.settings_changes.lists_restored.emit(lists)
        owner.apply_settings()
        owner.settings_changes.presets_changed.emit()
        owner.save_settings()

    def _on_lists_restored(self, lists: _Lists) -> None:
        self._lists = lists


def _words(before: _Lists, after: _Lists) -> tuple[str, tuple[str, int] | None]:
    """What was done, in words, and which entry was edited where it was one of them that was."""
    if before.presets != after.presets:
        return _edit_words("preset", before.presets, after.presets)
    return _edit_words("highlight rule", before.highlights, after.highlights)


def _edit_words(
    word: str, before: Sequence[Preset | HighlightRule], after: Sequence[Preset | HighlightRule]
) -> tuple[str, tuple[str, int] | None]:
    old, new = [item.name for item in before], [item.name for item in after]
    gone, come = [name for name in old if name not in new], [name for name in new if name not in old]
    changed = [place for place, (one, other) in enumerate(zip(before, after, strict=False)) if one != other]
    if len(before) == len(after) and len(changed) == 1:
        verb = "rename" if gone else "edit"
        return f"{verb} {word} {old[changed[0]]}", (word, changed[0])
    if len(after) == len(before) + 1 and len(come) == 1:
        return f"add {word} {come[0]}", None
    if len(after) == len(before) - 1 and len(gone) == 1:
        return f"remove {word} {gone[0]}", None
    if sorted(old) == sorted(new) and old != new:
        return f"order of {word}s", None
    return f"edit of {word}s", None
