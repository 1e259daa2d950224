"""Chip at the end of the tabs with the scope of the table: `review-7 / fetch and below v x` (docs/design.md 14)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.engine.requests.filters import Reach
from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.floating import FloatingFrame

SEPARATOR = " / "
"""Separator of the labels in a path."""


class PathLabel(QWidget):
    """A context path: ancestors tertiary, leaf primary; elided to `.../leaf` if room is short."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self._labels: list[str] = []
        self.setObjectName("scopePath")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def text(self) -> str:
        """The whole path."""
        return SEPARATOR.join(self._labels)

    def set_labels(self, labels: Sequence[str]) -> None:
        """Sets the path, root first."""
        self._labels = [safe_line(label, 200) for label in labels]
        self.setToolTip(tool_tip(self.text))
        self.setAccessibleName(self.text)
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        widest = round(280 * self._themes.theme.zoom)
        return QSize(min(widest, metrics.horizontalAdvance(self.text) + 2), metrics.height())

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), round(56 * self._themes.theme.zoom)), self.fontMetrics().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._labels:
            return
        painter = QPainter(self)
        theme = self._themes.theme
        metrics = self.fontMetrics()
        above, leaf = SEPARATOR.join(self._labels[:-1]), self._labels[-1]
        above = f"{above}{SEPARATOR}" if above else ""
        if metrics.horizontalAdvance(above + leaf) > self.width() and above:
            above = "…/"
        painter.setPen(theme.color("ink.tertiary"))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(self.rect()), flags, above)
        left = metrics.horizontalAdvance(above)
        painter.setPen(theme.color("ink.primary"))
        room = QRectF(left, 0, self.width() - left, self.height())
        painter.drawText(room, flags, metrics.elidedText(leaf, Qt.TextElideMode.ElideRight, int(room.width())))


class ScopeChip(FloatingFrame):
    """Chip with the scope of the table; hidden without a scope.

    Signals:
        reach_chosen(Reach): set the reach of the scope.
        cleared: clear the scope.
    """

    reach_chosen = Signal(object)
    cleared = Signal()

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(theme_controller, name="scopeChip", parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._row = QHBoxLayout(self)
        self._path = PathLabel(theme_controller, self)
        self._reach = QToolButton(self)
        self._reach.setObjectName("scopeReach")
        self._reach.setProperty("variant", "status")
        self._reach.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        # Puts the arrow behind the words.
        self._reach.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self._reach.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._reach.setToolTip("Reach of the scope")
        self._reach.clicked.connect(self._open_menu)
        self._clear = IconButton(
            theme_controller, "clear", "Clear scope", name="scopeClear", variant="status", size=14, parent=self
        )
        self._clear.clicked.connect(self.cleared)
        for widget in (self._path, self._reach, self._clear):
            self._row.addWidget(widget)
        self._build_menu()
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.hide()

    def _build_menu(self) -> None:
        self._menu = QMenu(self)
        self._menu.setObjectName("scopeMenu")
        self._menu.setAccessibleName("Reach of the scope")
        group = QActionGroup(self)
        self._actions: dict[Reach, QAction] = {}
        for reach in Reach:
            action = self._menu.addAction(reach.value)
            action.setObjectName(f"scopeReach_{reach.name.lower()}")
            action.setCheckable(True)
            action.setData(reach.name)
            group.addAction(action)
            self._actions[reach] = action
        self._menu.triggered.connect(self._on_menu_triggered)

    def show_scope(self, path: str | Sequence[str] | None, reach: Reach | None) -> None:
        """Shows a scope, or hides the chip.

        Args:
            path: labels of the path, root first, or one text with " / " between them; the name of a space or of its
                main context; None hides the chip.
            reach: reach of the scope; None if it cannot be changed.
        """
        if path is None:
            self.hide()
            return
        self._path.set_labels(path.split(SEPARATOR) if isinstance(path, str) else path)
        self._reach.setVisible(reach is not None)
        words = self._path.text
        if reach is not None:
            self._reach.setText(reach.value)
            self._reach.setAccessibleName(f"Reach: {reach.value}")
            self._reach.setToolTip(f"Reach of the scope: {reach.value}")
            self._actions[reach].setChecked(True)
            words = f"{words}, {reach.value}"
        self.setAccessibleName(f"Scope: {words}")
        self.show()

    @property
    def least_width(self) -> int:
        """Width with an elided path and whole buttons, in pixels."""
        return self.sizeHint().width() - self._path.sizeHint().width() + self._path.minimumSizeHint().width()

    def set_short(self, on: bool) -> None:
        """Shows the reach as an arrow alone, without its words."""
        style = Qt.ToolButtonStyle.ToolButtonIconOnly if on else Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        if self._reach.toolButtonStyle() is not style:
            self._reach.setToolButtonStyle(style)

    def words(self) -> str:
        return self.accessibleName().removeprefix("Scope: ")

    @override
    def radius(self) -> float:
        return self.height() / 2

    def _open_menu(self) -> None:
        self._menu.popup(self._reach.mapToGlobal(QPoint(0, self._reach.height() + 2)))

    def _on_menu_triggered(self, action: QAction) -> None:
        self.reach_chosen.emit(Reach[str(action.data())])

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        side = round(14 * theme.zoom)
        self.setFixedHeight(theme.metrics.chip)
        self._row.setContentsMargins(round(10 * theme.zoom), 0, round(3 * theme.zoom), 0)
        self._row.setSpacing(round(2 * theme.zoom))
        self._reach.setIcon(icons.icon("collapse"))
        self._reach.setIconSize(QSize(side, side))
        self._path.updateGeometry()
