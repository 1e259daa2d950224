"""Category list of the settings dialog: a group title and its pages, with an accent bar at the current one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.labels import TextLabel


class NavigationItem(QAbstractButton):
    """One page."""

    def __init__(self, theme_controller: ThemeController, page: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # repainted when the pointer enters or leaves
        self._themes = theme_controller
        self.page = page
        self.setObjectName(f"settingsPage_{page}")
        self.setAccessibleName(title)
        self.setText(title)
        self.setCheckable(True)
        self.setAutoExclusive(True)  # a radio button for screen readers
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @override
    def sizeHint(self) -> QSize:
        return QSize(120, self._themes.theme.metrics.control)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        paint_ground(
            painter, theme, self.rect(), selected=self.isChecked(), hovered=self.underMouse(), active=self.hasFocus()
        )
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.primary" if self.isChecked() else "ink.secondary"))
        words = QRectF(self.rect()).adjusted(28 * theme.zoom, 0, -8, 0)
        painter.drawText(words, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self.text())
        if self.hasFocus() and not self.isChecked():
            painter.setPen(QPen(theme.color("accent.ring"), 2))
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))


class Navigation(QWidget):
    """A group of pages. Arrow keys move between them.

    Signals:
        chosen(str): id of the chosen page.
    """

    chosen = Signal(str)

    def __init__(
        self,
        theme_controller: ThemeController,
        group: str,
        pages: Sequence[tuple[str, str]],
        parent: QWidget | None = None,
    ) -> None:
        """Creates the list.

        Args:
            theme_controller: gives the look.
            group: title above the pages.
            pages: ids and titles.
            parent: the owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName("settingsNavigation")
        self.setAccessibleName("Categories")
        self.setProperty("variant", "base")
        # Without this attribute a plain QWidget ignores the background of the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._head = TextLabel(group, variant="strong", name="settingsGroup", parent=self)
        self._column.addWidget(self._head)
        self._group = QButtonGroup(self)
        self._items: list[NavigationItem] = []
        self._showing = False
        for page, title in pages:
            item = NavigationItem(theme_controller, page, title, self)
            item.toggled.connect(self._on_toggled)
            self._group.addButton(item)
            self._items.append(item)
            self._column.addWidget(item)
        self._column.addStretch(1)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def set_current(self, page: str) -> None:
        """Marks a page without a signal."""
        self._showing = True
        for item in self._items:
            item.setChecked(item.page == page)
        self._showing = False

    def _on_toggled(self, on: bool) -> None:
        # Not `clicked`: a screen reader's press toggles checkable buttons, and Qt then emits no click.
        item = self._group.checkedButton()
        if on and not self._showing and isinstance(item, NavigationItem):
            self.chosen.emit(item.page)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        place = next((i for i, item in enumerate(self._items) if item.isChecked()), 0) + step
        if step and 0 <= place < len(self._items):
            self._items[place].setFocus(Qt.FocusReason.TabFocusReason)
            self._items[place].click()
        elif not step:
            super().keyPressEvent(event)

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        self._column.setContentsMargins(0, round(16 * zoom), 0, 0)
        self._head.setContentsMargins(round(14 * zoom), 0, 0, 0)
        self._head.setFixedHeight(self._themes.theme.metrics.control)
