"""Column heads of the table of steps; the last one is the ruler of the waterfall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QRect,
    QRectF,
    Qt,
)
from PySide6.QtGui import (
    QFontMetrics,
    QPainter,
)
from PySide6.QtWidgets import (
    QHeaderView,
)
from typing_extensions import override

from inspector.engine.requests.steps import SortBy
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.steps.delegate import LEFT, RIGHT
from inspector.ui.panels.steps.model import StepColumn

if TYPE_CHECKING:
    from inspector.ui.panels.steps.view import StepsView

SORTS: dict[StepColumn, SortBy] = {
    StepColumn.STEP: "started", StepColumn.TOOK: "took", StepColumn.TOKENS: "tokens", StepColumn.COST: "cost",
    StepColumn.STARTED: "started",
}  # fmt: skip


class StepHeads(QHeaderView):
    """Column heads; the last one is the ruler of the waterfall."""

    def __init__(self, view: StepsView, themes: ThemeController) -> None:
        super().__init__(Qt.Orientation.Horizontal, view)
        self._view, self._themes = view, themes
        self.setObjectName("stepsHeader")
        self.setAccessibleName("Columns of the steps")
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(16)

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        theme, column = self._themes.theme, StepColumn(logicalIndex)
        painter.fillRect(rect, theme.color("surface.chrome"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("line.hair"))
        if column is StepColumn.BARS:
            self._paint_ruler(painter, theme, rect.adjusted(0, 0, -theme.metrics.scroll_bar, 0))
            return
        sort, reverse = self._view.sorting
        sorted_here = SORTS[column] == sort and (
            column is StepColumn.STARTED or (column is not StepColumn.STEP and sort != "started")
        )
        painter.setFont(theme.font("column"))
        painter.setPen(theme.color("ink.primary" if sorted_here else "ink.secondary"))
        text = str(self.model().headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
        if sorted_here:
            falls = reverse if sort == "started" else not reverse
            text = f"{text} {'↓' if falls else '↑'}"
        pad = theme.metrics.pane_padding if column is StepColumn.STEP else theme.metrics.cell_padding
        painter.drawText(
            rect.adjusted(pad, 0, -theme.metrics.cell_padding, 0), LEFT if column is StepColumn.STEP else RIGHT, text
        )

    def _paint_ruler(self, painter: QPainter, theme: Theme, rect: QRect) -> None:
        axis, metrics = self._view.axis, QFontMetrics(theme.font("small"))
        pointed = self._view.cursor_words()
        painter.save()
        painter.setClipRect(rect)
        painter.setFont(theme.font("small"))
        taken = None
        box = QRectF()
        if pointed and axis.cursor_ns is not None:
            x = rect.left() + axis.x_of(axis.cursor_ns, rect.width())
            wide = metrics.horizontalAdvance(pointed) + round(12 * theme.zoom)
            left = min(max(x - wide / 2, rect.left()), rect.right() - wide)
            box = QRectF(left, rect.top() + 3, wide, rect.height() - 7)
            taken = box.left() - rect.left(), box.right() - rect.left()
        for left, right, words in axis.labels(rect.width(), lambda one: metrics.horizontalAdvance(one) + 1, taken):
            painter.setPen(theme.color("ink.secondary"))
            painter.drawText(QRectF(rect.left() + left, rect.top(), right - left, rect.height()), LEFT, words)
        if taken is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("ink.primary"))
            painter.drawRoundedRect(box, 4, 4)
            painter.setPen(theme.color("surface.base"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, pointed)
        painter.restore()
