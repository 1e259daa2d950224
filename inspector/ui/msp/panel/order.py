"""List of a merged context's entries in the order sent. A click goes to an entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.present.wire_text import tool_tip
from inspector.ui.look.text_flags import LEFT
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.section import LinkText, SectionLabel

FIRST = 5
"""Number of entries in the collapsed list."""
_ROW, _TEXT_X, _BOX = 22, 24, 15


@dataclass(frozen=True, slots=True)
class OrderLine:
    """An entry as texts; safe to show.

    Attributes:
        layer: from 1.
        tip: its reason and tokens.
    """

    layer: int
    text: str
    tip: str


class OrderRow(QAbstractButton):
    """One entry."""

    def __init__(self, themes: ThemeController, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._line = OrderLine(0, "", "")
        self.setObjectName(f"subsessionOrder{place}")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        # With this attribute Qt repaints when the pointer enters or leaves.
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_line(self, line: OrderLine) -> None:
        if line != self._line:
            self._line = line
            self.setAccessibleName(f"Layer {line.layer}: {line.text}")
            self.setToolTip(tool_tip(f"{line.text}\n\n{line.tip}"))
            self.update()

    @property
    def line(self) -> OrderLine:
        return self._line

    @override
    def sizeHint(self) -> QSize:
        return QSize(0, round(_ROW * self._themes.theme.zoom))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._themes.theme, QPainter(self)
        zoom = theme.zoom
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = round(_BOX * zoom)
        box = QRectF(0.5, (self.height() - side) // 2 + 0.5, side, side)
        painter.setPen(QPen(theme.color("line.strong"), 1))
        painter.drawRoundedRect(box, theme.metrics.radius_mark, theme.metrics.radius_mark)
        painter.setFont(theme.font("badge"))
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(self._line.layer))
        left = round(_TEXT_X * zoom)
        # A copy, since widgets share the fonts of the theme.
        font = type(theme.font("body"))(theme.font("body"))
        font.setUnderline(self.underMouse())
        painter.setFont(font)
        text = QRect(left, 0, self.width() - left, self.height())
        shown = QFontMetrics(font).elidedText(self._line.text, Qt.TextElideMode.ElideRight, text.width())
        painter.setPen(theme.color("ink.primary" if self.underMouse() else "ink.secondary"))
        painter.drawText(text, LEFT, shown)
        if self.hasFocus():
            painter.setPen(QPen(theme.color("accent.ring"), 1.5))
            radius = theme.metrics.radius_mark
            ring = QRectF(self.rect()).adjusted(left - round(5 * zoom), 0.75, -0.75, -0.75)
            painter.drawRoundedRect(ring, radius, radius)


class OrderList(QWidget):
    """The first entries and a link to the others.

    Signals:
        entry_clicked(int): go to the entry with this index.
        reading_asked(): open the dialog with all entries.
    """

    entry_clicked = Signal(int)
    reading_asked = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._lines: Sequence[OrderLine] = ()
        self._total = 0
        self._whole = False
        self.rows: list[OrderRow] = []
        self.setObjectName("subsessionOrder")
        self.setAccessibleName("Order sent")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(SectionLabel(themes, "Order sent", None, self))
        self.more = LinkText(themes, "", "subsessionOrderMore", self)
        self.more.clicked.connect(self._on_more_clicked)
        self._below = QHBoxLayout()
        self._below.addWidget(self.more)
        self._below.addStretch(1)
        self._column.addLayout(self._below)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def show_lines(self, lines: Sequence[OrderLine], total: int) -> None:
        """Shows entries.

        Args:
            lines: the first of them.
            total: number of all entries.
        """
        self._lines, self._total = lines, total
        self._lay_out()

    def fold(self) -> None:
        """Collapses the list."""
        self._whole = False
        self._lay_out()

    def _lay_out(self) -> None:
        wanted = len(self._lines) if self._whole else min(FIRST, len(self._lines))
        while len(self.rows) < wanted:
            row = OrderRow(self._themes, len(self.rows), self)
            row.clicked.connect(self._on_row_clicked)
            self._column.insertWidget(1 + len(self.rows), row)
            self.rows.append(row)
            self.more.raise_()  # Tab follows the order of children
        for place, row in enumerate(self.rows):
            row.setVisible(place < wanted)
            if place < wanted:
                row.show_line(self._lines[place])
        hidden = self._total - wanted
        words = f"{hidden:,} more" if hidden else "Fewer" if wanted > FIRST else ""
        self.more.setText(words)
        self.more.setAccessibleName(f"{words} in the order sent" if words else "")
        self.more.setVisible(bool(words))
        self.more.updateGeometry()
        self.setVisible(self._total > 0)

    def _on_row_clicked(self) -> None:
        sender = self.sender()
        if isinstance(sender, OrderRow):
            self.entry_clicked.emit(self.rows.index(sender))

    def _on_more_clicked(self) -> None:
        if self._total > len(self._lines):
            self.reading_asked.emit()
            return
        self._whole = not self._whole
        self._lay_out()

    def _on_theme_changed(self) -> None:
        self._below.setContentsMargins(round(_TEXT_X * self._themes.theme.zoom) - 1, 0, 0, 0)
        for row in self.rows:
            row.updateGeometry()
