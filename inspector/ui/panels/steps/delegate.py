"""Paints the cells of the table of steps."""

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
    QStyledItemDelegate,
    QStyleOptionViewItem,
)
from typing_extensions import override

from inspector.engine.requests.steps import RowKind, State, StepText
from inspector.ui.look import icons
from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.steps.model import Index, StepColumn
from inspector.ui.panels.steps.waterfall import paint_grid, paint_row

if TYPE_CHECKING:
    from inspector.ui.panels.steps.view import StepsView

INDENT, CHEVRON = 18, 14
_LEAST_WITH_NOTE = 240
"""Width of a text below which a long note is left out."""
_ELIDED = Qt.TextElideMode.ElideRight
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class StepDelegate(QStyledItemDelegate):
    """Paints step, figures and bars of a row."""

    def __init__(self, view: StepsView, themes: ThemeController) -> None:
        super().__init__(view)
        self._view, self._themes = view, themes

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, view = self._themes.theme, self._view
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        column = StepColumn(index.column())
        current = view.currentIndex().row() == index.row()
        paint_ground(
            painter, theme, rect, selected=current, hovered=view.hovered == index.row(), active=view.hasFocus(),
            bar=column is StepColumn.STEP,
        )  # fmt: skip
        place = int(view.steps.visible[index.row()])
        if column is StepColumn.BARS:
            area = rect.adjusted(0, 0, -theme.metrics.scroll_bar, 0)
            paint_grid(painter, theme, view.axis, area)
            paint_row(painter, theme, view.axis, view.steps.rows, place, area, is_open=view.steps.is_open(place))
        elif column is StepColumn.STEP:
            self._paint_step(painter, theme, rect, place)
        else:
            self._paint_figure(painter, theme, rect, place, column)

    def _paint_figure(self, painter: QPainter, theme: Theme, rect: QRect, place: int, column: StepColumn) -> None:
        rows = self._view.steps.rows
        failed = column is StepColumn.TOOK and rows.states[place] == State.FAILED
        painter.setFont(theme.font("body-strong" if failed else "body"))
        painter.setPen(theme.color("severity.error" if failed else "ink.secondary"))
        pad = theme.metrics.cell_padding
        painter.drawText(rect.adjusted(0, 0, -pad, 0), RIGHT, self._view.steps.cell(place, column))

    def _paint_step(self, painter: QPainter, theme: Theme, rect: QRect, place: int) -> None:
        view, rows = self._view, self._view.steps.rows
        left = view.text_left(place) + rect.left()
        right = rect.right() - theme.metrics.cell_padding
        middle = rect.center().y()
        if view.steps.is_parent(place):
            self._paint_chevron(painter, left - round(CHEVRON * theme.zoom), middle, is_open=view.steps.is_open(place))
        text = view.steps.text_of(place)
        if text is None:
            return
        pills = self._pills(place)
        for words, token in reversed(pills):
            right = self._paint_pill(painter, theme, words, token, right, middle)
        self._paint_text(painter, theme, text, QRect(left, rect.top(), right - left, rect.height()), rows.kinds[place])

    def _paint_chevron(self, painter: QPainter, x: int, middle: int, *, is_open: bool) -> None:
        """Paints the sign of a row that opens."""
        side = round(12 * self._themes.theme.zoom)
        name = "ri.arrow-down-s-line" if is_open else "ri.arrow-right-s-line"
        pixmap = icons.pixmap(name, "ink.secondary", side, self._view.devicePixelRatioF())
        painter.drawPixmap(x, middle - side // 2, pixmap)

    def _pills(self, place: int) -> list[tuple[str, str]]:
        steps = self._view.steps
        if steps.is_parent(place):
            failed = int(steps.rows.failed[place])
            return [(f"{failed:,} failed", "severity.error")] if failed and not steps.is_open(place) else []
        match State(int(steps.rows.states[place])):
            case State.FAILED:
                return [("failed", "severity.error")]
            case State.REJECTED:
                return [("rejected", "severity.warning")]
            case State.WAITING:
                return [("waiting", "severity.warning")]
            case State.CANCELLED:
                return [("cancelled", "ink.tertiary")]
            case _:
                return []

    def _paint_pill(
        self, painter: QPainter, theme: Theme, words: str, token: str, right: int, middle: int
    ) -> int:  # fmt: skip
        painter.setFont(theme.font("badge"))
        wide = QFontMetrics(theme.font("badge")).horizontalAdvance(words) + round(12 * theme.zoom)
        high = theme.metrics.badge
        box = QRectF(right - wide, middle - high / 2 + 0.5, wide, high)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.pill_fill(token))
        painter.drawRoundedRect(box, high / 2, high / 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(theme.color(token))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
        return right - wide - theme.metrics.unit

    def _paint_text(self, painter: QPainter, theme: Theme, text: StepText, box: QRect, kind: int) -> None:
        """Paints title, tool, text and note; the text is elided first, the note before the title."""
        gap = theme.metrics.unit + 2
        note_room = QFontMetrics(theme.font("small")).horizontalAdvance(text.note) + gap if text.note else 0
        if note_room > box.width() // 2:
            note_room = box.width() // 2 if box.width() >= round(_LEAST_WITH_NOTE * theme.zoom) else 0
        edge = box.right() - note_room
        x = box.left()
        tool_ink = "ink.primary"
        text_ink = "ink.primary" if kind in (RowKind.TURN, RowKind.STEP) and not text.tool else "ink.secondary"
        for words, role, ink in (
            (text.title, "body-strong", "ink.primary"), (text.tool, "mono-row", tool_ink), (text.text, "body", text_ink)
        ):  # fmt: skip
            if not words or x >= edge:
                continue
            painter.setFont(theme.font(role))
            painter.setPen(theme.color(ink))
            shown = painter.fontMetrics().elidedText(words, _ELIDED, edge - x)
            painter.drawText(QRect(x, box.top(), edge - x, box.height()), LEFT, shown)
            x += painter.fontMetrics().horizontalAdvance(shown) + gap
        if note_room:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("ink.tertiary"))
            left = min(x, edge + gap)
            shown = painter.fontMetrics().elidedText(text.note, _ELIDED, box.right() - left)
            painter.drawText(QRect(left, box.top(), box.right() - left, box.height()), LEFT, shown)
