"""Undo history of a window: marks, comments, presets, highlight rules and views.

Undo and Redo in the Edit menu use it. All windows share presets and highlight rules. Their edits are in the history of
the window where they were made, and continuous typing is one step.
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

if TYPE_CHECKING:
    from inspector.ui.services import SettingsOwner

_EDIT_S = 2.0
"""Edits of one entry within this time are one undo step."""

_MAX_STEPS = 500
"""Maximum number of steps; a step holds a few words."""
_MERGE_ID = 1
"""Id of mergeable steps. Qt asks steps with equal ids to merge."""


@dataclass(frozen=True, slots=True)
class _Lists:
    """The lists in the settings that the user edits in the window."""

    presets: list[Preset]
    highlights: list[HighlightRule]

    @classmethod
    def from_settings(cls, settings: Settings) -> _Lists:
        # Copies, since the settings are edited in place.
        return cls(
            [preset.model_copy() for preset in settings.presets], [rule.model_copy() for rule in settings.highlights]
        )

    def write_to_settings(self, settings: Settings) -> None:
        settings.presets[:] = [preset.model_copy() for preset in self.presets]
        settings.highlights[:] = [rule.model_copy() for rule in self.highlights]


class _Step(QUndoCommand):
    """One undo step. Qt runs `redo` when it is pushed."""

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
        return -1 if self._entry is None else _MERGE_ID

    @override
    def mergeWith(self, other: QUndoCommand) -> bool:
        """Merges the next edit of the same entry, such as the next typed letter."""
        if not isinstance(other, _Step) or other._entry != self._entry or other._done_at - self._done_at > _EDIT_S:
            return False
        self._redo, self._done_at = other._redo, other._done_at
        # both spans now reach from the state before the first edit to the state after the last
        self._span[1:], other._span[:1] = other._span[1:], self._span[:1]
        return True

    @override
    def redo(self) -> None:
        self._redo()

    @override
    def undo(self) -> None:
        self._undo()


class UndoHistory(QObject):
    """The undo steps of one window.

    Signals:
        steps_changed(str, str): words for the next undo and redo step; "" without one.
        refused(str): the reason why a step was not undone or redone.

    Attributes:
        stack: Qt's undo stack.
    """

    steps_changed = Signal(str, str)
    refused = Signal(str)

    def __init__(self, owner: SettingsOwner, parent: QObject) -> None:
        """Starts with an empty history.

        Args:
            owner: has the presets and highlight rules.
            parent: the owner.
        """
        super().__init__(parent)
        self._owner = owner
        self._lists = _Lists.from_settings(owner.settings)
        owner.settings_changes.lists_restored.connect(self._on_lists_restored)
        self.stack = QUndoStack(self)
        self.stack.setObjectName("history")
        self.stack.setUndoLimit(_MAX_STEPS)
        self.stack.indexChanged.connect(self._on_changed)

    def do(
        self, words: str, redo: Callable[[], object], undo: Callable[[], object], entry: tuple[str, int] | None = None
    ) -> None:
        """Runs an undoable step.

        Args:
            words: the words after "Undo": "mark No. 12".
            redo: runs the step, now and on each redo.
            undo: reverts the step.
            entry: the edited entry, so that continuous typing is one step.
        """
        self.stack.push(_Step(words, redo, undo, entry))

    def undo(self) -> None:
        self.stack.undo()

    def redo(self) -> None:
        self.stack.redo()

    def _on_changed(self, _index: int = 0) -> None:
        self.steps_changed.emit(self.stack.undoText(), self.stack.redoText())

    @property
    def present(self) -> set[str]:
        """The fulfilled `needs` of actions: undo and redo."""
        can = {"undo": self.stack.canUndo(), "redo": self.stack.canRedo()}
        return {name for name, possible in can.items() if possible}

    def close(self) -> None:
        """Clears the history because the window closes."""
        # Clearing emits the signal too, and the window is closing.
        self.stack.indexChanged.disconnect(self._on_changed)
        self.stack.clear()

    # Presets and highlight rules

    def note_lists(self, *, edited_here: bool) -> None:
        """Pushes a step if presets or rules were edited in this window since the last save.

        O(presets and rules).
        """
        before, after = self._lists, _Lists.from_settings(self._owner.settings)
        if before == after:
            return
        self._lists = after
        if edited_here:
            words, entry = _edit_of_lists(before, after)
            span = [before, after]  # merged steps extend it
            step = _Step(
                words, lambda: self._put(after, span[0]), lambda: self._put(before, span[1]), entry=entry, span=span
            )
            self.stack.push(step)

    def _put(self, lists: _Lists, instead_of: _Lists) -> None:
        """Restores the lists, unless another window has edited them since."""
        owner = self._owner
        present = _Lists.from_settings(owner.settings)
        if present == lists:
            return
        # another window has edited the lists, and its edits must not be lost
        if present != instead_of:
            self.refused.emit(
                "Presets or highlight rules were edited in another window since, so they were not changed."
            )
            return
        lists.write_to_settings(owner.settings)
        owner.settings_changes.lists_restored.emit(lists)
        owner.apply_settings()
        owner.settings_changes.presets_changed.emit()
        owner.save_settings()

    def _on_lists_restored(self, lists: _Lists) -> None:
        self._lists = lists


def _edit_of_lists(before: _Lists, after: _Lists) -> tuple[str, tuple[str, int] | None]:
    """Returns the words of an edit, and the edited entry if it is a single one."""
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
        return f"reorder {word}s", None
    return f"edit {word}s", None
