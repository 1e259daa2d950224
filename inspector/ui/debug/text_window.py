"""Window of plain text that is refreshed on request or periodically."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.present.wire_text import visible_controls
from inspector.ui.look.theme import ThemeController

_WIDTH, _HEIGHT = 720, 560


class TextWindow(QWidget):
    """Text with buttons to refresh and to copy it."""

    def __init__(
        self,
        theme_controller: ThemeController,
        title: str,
        compose: Callable[[], str],
        *,
        name: str,
        every_ms: int = 0,
        parent: QWidget | None = None,
    ) -> None:
        """Makes the window; `show()` shows it.

        Args:
            theme_controller: source of the look.
            title: title of the window.
            compose: returns the text.
            name: object name.
            every_ms: interval of refreshes; 0 for none.
            parent: owner.
        """
        super().__init__(parent, Qt.WindowType.Window)
        self._themes = theme_controller
        self._compose = compose
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setProperty("variant", "chrome")
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._column = QVBoxLayout(self)
        self.view = QPlainTextEdit(self)
        self.view.setObjectName(f"{name}View")
        self.view.setAccessibleName(title)
        self.view.setProperty("variant", "field")
        self.view.setReadOnly(True)
        self.view.setTabChangesFocus(True)
        self.view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._column.addWidget(self.view, 1)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addStretch(1)
        for words, act in (("&Refresh", self.refresh), ("&Copy", self.copy), ("Close", self.close)):
            button = QPushButton(words, self)
            button.setObjectName(f"{name}{words.replace('&', '')}")
            button.clicked.connect(act)
            row.addWidget(button)
        self._column.addLayout(row)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        zoom = theme_controller.theme.zoom
        self.resize(round(_WIDTH * zoom), round(_HEIGHT * zoom))
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.refresh)
        if every_ms:
            self._timer.start(every_ms)
        self.refresh()

    def refresh(self, *_pressed: object) -> None:
        """Updates the text, unless a selection would be lost."""
        if self.view.textCursor().hasSelection():
            return
        place = self.view.verticalScrollBar().value()
        self.view.setPlainText(visible_controls(self._compose()))
        self.view.verticalScrollBar().setValue(place)

    def copy(self) -> None:
        QApplication.clipboard().setText(self.view.toPlainText())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        side = round(12 * theme.zoom)
        self._column.setContentsMargins(side, side, side, side)
        self._column.setSpacing(round(10 * theme.zoom))
        self.view.setFont(theme.font("mono-row"))
