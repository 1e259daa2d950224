"""Head of a list panel: title, hint with a link, and the buttons Copy, More and Close."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget
from typing_extensions import override

from inspector.present.wire_text import tool_tip
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.widgets.buttons import LinkButton

_MIN_WIDTH = 280
_AFTER_TITLE = 8


class HintLabel(QWidget):
    """A hint that is elided in a narrow head and complete in its tooltip."""

    def __init__(self, theme_controller: ThemeController, *, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self._text = ""
        self.setObjectName(name)
        # The layout may shrink it; the text is then elided.
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        theme_controller.changed.connect(self.updateGeometry)

    @property
    def text(self) -> str:
        return self._text

    def set_text(self, text: str) -> None:
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.setToolTip(tool_tip(text))
            self.updateGeometry()
            self.update()

    @override
    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._themes.theme.font("small"))
        return QSize(metrics.horizontalAdvance(self._text) + 1, metrics.height())

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        metrics = QFontMetrics(theme.font("small"))
        painter = QPainter(self)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        shown = metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)


class ListHead(PaneHead):
    """Head of a list panel: title, hint with a link to hidden rows, and the buttons Copy, More and Close.

    Signals:
        reach_switched(): list hidden messages too, or only the visible ones.
        copy_clicked, close_clicked: copy the list; close the panel.

    Attributes:
        hint, link: the sentence and its link.
        menu: of the button More; the owner of the head fills it.
    """

    reach_switched = Signal()
    copy_clicked = Signal()
    close_clicked = Signal()

    def __init__(
        self, theme_controller: ThemeController, title: str, *, name: str, parent: QWidget | None = None
    ) -> None:
        """Creates the head.

        Args:
            theme_controller: gives the look.
            title: plural noun of the listed things.
            name: prefix of object names.
            parent: owner.
        """
        super().__init__(theme_controller, title, name=f"{name}Head", parent=parent)
        what = title.lower()
        # After the count and the spacing inserted next.
        place = self._row.indexOf(self._count) + 2
        self._row.insertSpacing(place - 1, _AFTER_TITLE)
        self.hint = HintLabel(theme_controller, name=f"{name}Hint", parent=self)
        self._row.insertWidget(place, self.hint)
        self.link = LinkButton("", name=f"{name}Reach", parent=self)
        self.link.clicked.connect(self.reach_switched)
        self._row.insertWidget(place + 1, self.link)
        self._copy = self.add_button("copy", f"Copy the listed {what}", name=f"{name}Copy")
        self._copy.clicked.connect(self.copy_clicked)
        self._more = self.add_button("more", f"More for {what}", name=f"{name}More")
        self._more.clicked.connect(self._on_more_clicked)
        self._close = self.add_button("clear", f"Close the {what}", name=f"{name}Close")
        self._close.clicked.connect(self.close_clicked)
        self.menu = QMenu(self)
        self.menu.setObjectName(f"{name}Menu")
        self.menu.setAccessibleName(f"More for {what}")
        theme_controller.changed.connect(self._fit_link)

    def hide_close(self) -> None:
        """Hides the button that closes the panel, for a panel that is a tab."""
        self._close.hide()

    def show_hint(self, hint: str, link: str) -> None:
        """Shows a hint about hidden rows and the label of its link; "" hides either."""
        self.hint.set_text(hint)
        self.link.set_label(link)
        self.link.setVisible(bool(link))
        self._fit_link()

    def _fit_link(self) -> None:
        self.link.setFixedWidth(self.link.sizeHint().width())  # the style sheet lets links shrink to zero width

    @override
    def minimumSizeHint(self) -> QSize:
        """Returns a small width: tooltips and the menu hold everything that is elided."""
        return QSize(round(_MIN_WIDTH * self._themes.theme.zoom), super().minimumSizeHint().height())

    def _on_more_clicked(self) -> None:
        self.menu.popup(self._more.mapToGlobal(QPoint(0, self._more.height())))
