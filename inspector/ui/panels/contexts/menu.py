"""Context menu of rows in the context tree."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.engine.requests.context_tree import MAIN, Note, OddName
from inspector.engine.requests.filters import Reach, Scope
from inspector.present.formats import count_of, message_number
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.widgets.filter_menu import add_filter_actions

_SCOPE_CHOICES = (
    ("This context and below", Reach.BELOW),
    ("This one only", Reach.ONLY),
    ("Direct children", Reach.CHILDREN),
)


class ContextMenu(QMenu):
    """Actions of a context, a main context, a space or a source.

    Signals:
        scope_chosen(Scope | None): bind the table to it, or to everything.
        filter_chosen(str, str): an expression, and its combination with the current filter (`filter_menu.FilterMode`).
        details_chosen(Scope): show its details.
        problems_chosen(Scope): show the problems of its subtree in the table.
        message_chosen(int): go to a message.
        mark_chosen(), comment_chosen(): mark or unmark it; edit its comment.
        export_chosen(): export it as a sub-session.
    """

    scope_chosen = Signal(object)
    filter_chosen = Signal(str, str)
    details_chosen = Signal(object)
    problems_chosen = Signal(object)
    message_chosen = Signal(int)
    mark_chosen = Signal()
    comment_chosen = Signal()
    export_chosen = Signal()

    def __init__(self, target: Scope, current: Scope | None, filter_: str, parent: QWidget | None = None) -> None:
        """Creates the menu.

        Args:
            target: the clicked row.
            current: the current scope, shown with a tick.
            filter_: display filter of the target.
            parent: owner.
        """
        super().__init__(parent)
        self._target = target
        self.setObjectName("contextMenu")
        self.setAccessibleName("Context")
        if target.source is not None:
            self._add_scope("Whole source", target, current)
        elif target.node is None:
            self._add_scope("Whole space", target, current)
        elif target.node == MAIN:
            self._add_scope("Main context", target, current)
        else:
            for title, reach in _SCOPE_CHOICES:
                self._add_scope(title, Scope(target.space, target.node, reach), current)
        clear = self.addAction("Clear scope")
        clear.setEnabled(current is not None)
        clear.triggered.connect(self._on_clear)
        self.addSeparator()
        if target.node is not None:
            self.addAction("Show in details").triggered.connect(self._on_details)
            self.addSeparator()
        add_filter_actions(self, filter_, self.filter_chosen.emit)
        self.addSeparator()
        self.triggered.connect(self._on_triggered)

    def _add_scope(self, title: str, scope: Scope, current: Scope | None) -> None:
        action = self.addAction(title)
        action.setCheckable(True)
        action.setChecked(scope == current)
        action.setData(scope)

    def add_copy(self, title: str, text: str) -> None:
        """Adds an action that copies a text with its secrets masked."""
        self.addAction(title).setData(text)

    def add_export(self) -> None:
        """Adds the export as a sub-session."""
        self.addAction("Export as MSP sub-session...").triggered.connect(lambda: self.export_chosen.emit())

    def add_notes(self, note: Note) -> None:
        """Adds actions for mark and comment."""
        self.addAction("Unmark" if note.marked else "Mark").triggered.connect(lambda: self.mark_chosen.emit())
        words = "Edit comment..." if note.comment else "Comment..."
        self.addAction(words).triggered.connect(lambda: self.comment_chosen.emit())
        self.addSeparator()

    def add_problems(self, count: int, odd_names: Sequence[OddName]) -> None:
        """Adds actions for the problems of the subtree and for messages with irregularities."""
        if count:
            self.addAction(f"Show {count_of(count, 'message')} with a problem").triggered.connect(self._on_problems)
        for one in odd_names:
            action = self.addAction(f"Go to {message_number(one.message)}: {one.words}")
            action.triggered.connect(lambda _=False, message=one.message: self.message_chosen.emit(message))
        if count or odd_names:
            self.addSeparator()

    def _on_problems(self) -> None:
        self.problems_chosen.emit(self._target)

    def _on_triggered(self, action: QAction) -> None:
        data = action.data()
        if isinstance(data, Scope):
            self.scope_chosen.emit(data)
        elif isinstance(data, str):
            QGuiApplication.clipboard().setText(mask_text(data))

    def _on_clear(self) -> None:
        self.scope_chosen.emit(None)

    def _on_details(self) -> None:
        self.details_chosen.emit(self._target)
