"""Find bar above a table: text, options and the number of hits."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget
from typing_extensions import override

from inspector.engine.requests.find import MAX_QUERY, FindQuery
from inspector.ui.input.keys import KeyWords, with_key
from inspector.ui.look.style_sheet import repolish
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import IconLabel, TextLabel

_PROGRESS = 2
"""Height of the progress line at the lower edge, in pixels."""
_COUNT, _MIN_COUNT = 200, 56
"""Largest and smallest width of the hit count, in pixels at 100 %."""
_ICON_FROM = 360
"""Smallest width of the bar that shows the icon, in pixels at 100 %."""


class FindBar(QWidget):
    """A bar above the table, hidden until the user opens it.

    Signals:
        query_changed(FindQuery | None): the query changed or became empty.
        step_requested(int): go to the next (1) or previous (-1) hit.
        closed(): the user closed the bar.
    """

    query_changed = Signal(object)
    step_requested = Signal(int)
    closed = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self._fraction: float | None = None
        self._words = self._aside = ""
        self.setObjectName("findBar")
        self.setAccessibleName("Find in view")
        self.setProperty("variant", "head")
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._icon = IconLabel(themes, "find", "ink.tertiary", name="findIcon", parent=self)
        self.editor = QLineEdit(self)
        self.editor.setObjectName("findText")
        self.editor.setAccessibleName("Find in view")
        self.editor.setPlaceholderText("Find in the messages shown")
        self.editor.setProperty("variant", "search")
        self.editor.setMaxLength(MAX_QUERY)
        self.editor.textChanged.connect(self._on_changed)
        self.editor.installEventFilter(self)
        self.match_case = self._switch("Aa", "Match case", "findCase")
        self.is_pattern = self._switch(".*", "Regular expression", "findPattern")
        self._count = TextLabel(variant="small", name="findCount", parent=self)
        self._count.setAccessibleName("Found")
        self.previous = self._button("up", "Previous hit", "findPrevious")
        self.next = self._button("down", "Next hit", "findNext")
        self.close_button = self._button("clear", "Close (Esc)", "findClose")
        self.previous.clicked.connect(lambda: self.step_requested.emit(-1))
        self.next.clicked.connect(lambda: self.step_requested.emit(1))
        self.close_button.clicked.connect(self.closed)
        self._lay_out()
        self.setFocusProxy(self.editor)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.show_state("", usable=False)
        self.hide()

    def _switch(self, text: str, words: str, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setText(text)
        button.setToolTip(words)
        button.setAccessibleName(words)
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setProperty("variant", "segment")
        button.toggled.connect(self._on_changed)
        return button

    def _button(self, icon: str, words: str, name: str) -> IconButton:
        return IconButton(self._themes, icon, words, name=name, variant="small", parent=self)

    def _lay_out(self) -> None:
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._icon)
        self._row.addWidget(self.editor, 1)
        for widget in (self.match_case, self.is_pattern):
            self._row.addWidget(widget)
        self._row.addWidget(self._count)
        for widget in (self.previous, self.next, self.close_button):
            self._row.addWidget(widget)

    # Query

    @property
    def query(self) -> FindQuery | None:
        """The query; None while the text is empty."""
        text = self.editor.text()
        if not text:
            return None
        return FindQuery(text, match_case=self.match_case.isChecked(), is_pattern=self.is_pattern.isChecked())

    def open(self, text: str = "") -> None:
        """Shows the bar and focuses its editor, with `text` if it is not empty."""
        self.show()
        if text:
            self.editor.setText(text)
        self.editor.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.editor.selectAll()

    def _on_changed(self, *_: object) -> None:
        self.query_changed.emit(self.query)

    def show_keys(self, words: KeyWords) -> None:
        """Adds shortcuts to the tooltips."""
        self.previous.set_description(with_key("Previous hit", words("edit.find_previous")))
        self.next.set_description(with_key("Next hit", words("edit.find_next")))

    # Results

    def show_state(
        self, words: str, *, usable: bool = True, wrong: bool = False, fraction: float | None = None, aside: str = ""
    ) -> None:
        """Shows the result of a search.

        Args:
            words: "3 of 41", or a sentence.
            usable: there are hits to go to.
            wrong: the words describe an error in the query.
            fraction: progress of the search; None when it is finished.
            aside: further information, such as a part that was skipped.
        """
        description = words if not aside else f"{words}; {aside[:1].lower()}{aside[1:]}" if words else aside
        self._words = words
        self._count.setAccessibleDescription(description)
        self._aside = description if wrong or aside else ""
        self._fit_count()
        variant = "error" if wrong else "small"
        if self._count.property("variant") != variant:
            self._count.setProperty("variant", variant)
            repolish(self._count)
        mark = "true" if wrong else "false"
        if self.editor.property("wrong") != mark:
            self.editor.setProperty("wrong", mark)
            repolish(self.editor)
        self.previous.setEnabled(usable)
        self.next.setEnabled(usable)
        if fraction != self._fraction:
            self._fraction = fraction
            self.update()

    @property
    def words(self) -> str:
        return self._words

    # Keys

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter goes to the next hit, Shift+Enter to the previous one."""
        if watched is self.editor and isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            step = {Qt.Key.Key_Return: -1 if back else 1, Qt.Key.Key_Enter: -1 if back else 1}.get(Qt.Key(event.key()))
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), step)
            if step is not None:
                self.step_requested.emit(step)
                return True
        return super().eventFilter(watched, event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)

    # Appearance

    def _fit_count(self) -> None:
        """Gives the count a fixed width, so that the other widgets do not move while the user types."""
        zoom = self._themes.theme.zoom
        self._count.setFixedWidth(max(round(_MIN_COUNT * zoom), min(round(_COUNT * zoom), self.width() * 2 // 5)))
        room = self._count.contentsRect().width()
        shown = self._count.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideRight, room)
        self._count.setText(shown)
        self._count.setToolTip(self._aside or (self._words if shown != self._words else ""))

    @override
    def minimumSizeHint(self) -> QSize:
        """Excludes the icon and optional space, so that they do not keep the bar wide."""
        hint, least = super().minimumSizeHint(), round(_MIN_COUNT * self._themes.theme.zoom)
        icon = 0 if self._icon.isHidden() else self._icon.minimumWidth() + self._row.spacing()
        return QSize(hint.width() - icon - self._count.minimumWidth() + least, hint.height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._icon.setVisible(event.size().width() >= _ICON_FROM * self._themes.theme.zoom)
        self._fit_count()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._fraction is not None:
            painter = QPainter(self)
            width = round(self.width() * self._fraction)
            painter.fillRect(
                QRect(0, self.height() - _PROGRESS, width, _PROGRESS), self._themes.theme.color("accent.ring")
            )

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self._row.setContentsMargins(metrics.pane_padding, metrics.unit, metrics.unit, metrics.unit)
        self._row.setSpacing(metrics.unit)
        self._count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._count.setContentsMargins(metrics.unit, 0, metrics.unit, 0)
        self._fit_count()
