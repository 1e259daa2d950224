"""Non-modal card for editing a comment, floating below its subject."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.floating import FloatingFrame
from inspector.ui.widgets.labels import TextLabel

_WIDTH, _LINES = 380, 5


class CommentEditor(FloatingFrame):
    """Card with a title, a text editor, Cancel and Save.

    Signals:
        saved(object, str): the subject and its new text.

    Attributes:
        text: the editor.
        about: the subject; None while the card is closed.
    """

    saved = Signal(object, str)

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(theme_controller, name="commentEditor", parent=parent)
        self.about: object = None
        self._before = ""
        self._from: QWidget | None = None
        self.setAccessibleName("Comment")
        self._title = TextLabel(variant="strong", name="commentTitle", parent=self)
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("commentText")
        self.text.setAccessibleName("Comment")
        self.text.setProperty("variant", "field")
        # Tab goes to the buttons.
        self.text.setTabChangesFocus(True)
        self.text.setPlaceholderText("Your comment")
        self.text.installEventFilter(self)
        keys = QKeySequence("Ctrl+Enter").toString(QKeySequence.SequenceFormat.NativeText)
        hint = TextLabel(f"{keys} saves, Esc cancels", variant="hint", name="commentHint", parent=self)
        cancel = QPushButton("Cancel", self)
        cancel.setObjectName("commentCancel")
        cancel.clicked.connect(self.cancel)
        save = QPushButton("Save", self)
        save.setObjectName("commentSave")
        save.setDefault(True)
        save.clicked.connect(self.save)
        self._row = QHBoxLayout()
        self._row.addWidget(hint, 1)
        self._row.addWidget(cancel)
        self._row.addWidget(save)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self._title)
        self._column.addWidget(self.text)
        self._column.addLayout(self._row)
        theme_controller.changed.connect(self._fit)
        self._fit()
        self.hide()

    def _fit(self) -> None:
        metrics, zoom = self._themes.theme.metrics, self._themes.theme.zoom
        side = 3 * metrics.unit
        self._column.setContentsMargins(side, 2 * metrics.unit, side, side)
        self._column.setSpacing(2 * metrics.unit)
        self._row.setSpacing(2 * metrics.unit)
        self.text.setFont(self._themes.theme.font("body"))
        self.text.setFixedHeight(_LINES * self.text.fontMetrics().lineSpacing() + 4 * metrics.unit)
        self.setFixedWidth(round(_WIDTH * zoom))

    def open(self, about: object, title: str, text: str, near: QRect) -> None:
        """Opens the card; unsaved text on another subject is saved first.

        Args:
            about: the subject, emitted with the text.
            title: name of the subject.
            text: its present comment.
            near: rectangle in the parent; the card opens below it, or above if there is no room.
        """
        if self.about is not None and self.about != about:
            self.save()
        if self.about is None:
            self.about, self._before = about, text
            self._from = QApplication.focusWidget()
            self._title.setText(title)
            self.text.setPlainText(text)
            self.text.moveCursor(QTextCursor.MoveOperation.End)
        self._place(near)
        self.show()
        self.raise_()
        self.text.setFocus(Qt.FocusReason.PopupFocusReason)

    def _place(self, near: QRect) -> None:
        self.adjustSize()
        parent = self.parentWidget()
        area, unit = parent.rect() if parent is not None else near, self._themes.theme.metrics.unit
        left = max(unit, min(near.left(), area.right() - self.width() - unit))
        top = near.bottom() + unit
        if top + self.height() > area.bottom() - unit:
            top = near.top() - unit - self.height()
        self.move(left, max(unit, top))

    @property
    def title(self) -> str:
        return self._title.text()

    def save(self) -> None:
        """Closes the card, and emits the text if it was changed."""
        about, text = self.about, self.text.toPlainText().strip()
        changed = text != self._before
        self.cancel()
        if about is not None and changed:
            self.saved.emit(about, text)

    def cancel(self) -> None:
        """Closes the card and discards the text."""
        if self.about is not None:
            came_from, self._from, self.about = self._from, None, None
            # Only a hidden focus is given back; the user may have moved it elsewhere.
            inside = self.isAncestorOf(QApplication.focusWidget() or self)
            self.hide()
            # The widget may have been deleted since.
            if inside and came_from is not None and isValid(came_from):
                came_from.setFocus(Qt.FocusReason.PopupFocusReason)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
            if event.key() == Qt.Key.Key_Escape:
                self.cancel()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and control:
                self.save()
                return True
        return super().eventFilter(watched, event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.cancel()
        else:
            super().keyPressEvent(event)
