"""Paints rows of the context tree: chevron, state, label, problems, counts (docs/design.md 14)."""

from __future__ import annotations

import time

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem
from typing_extensions import override

from inspector.present.formats import short_count
from inspector.present.sources import FAULTY_STATES, GROWING_STATES, token_of
from inspector.ui.look import icons
from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.state_dots import draw_state
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.contexts.model import ContextTreeModel
from inspector.ui.panels.pane_head import name_font

# Pixels at 100 %, from the left edge of the first level.
_CHEVRON_X = 14
_DOT_X = 29
_LABEL_X = 40
_ICON = 14
_ICON_GAP = 4
_ICON_SIZE = 12
_SWATCH = 8
_TOKENS_MIN_WIDTH = 250
"""Width from which a second number leaves labels readable, pixels at 100 %."""
_USAGE_MIN_WIDTH = 380
"""Width from which reported usage is shown in three numbers, pixels at 100 %."""
_SPACE_LABEL_X = 43
# The widest result of `short_count`, so that columns are aligned.
_WIDEST_TOKENS = "999.9k"
_MAX_INDENT_LEVEL = 18
"""Most indented levels; deeper labels would have no width left."""


class ContextDelegate(QStyledItemDelegate):
    """Painter of one row.

    Attributes:
        shows_cursor: the keyboard is in use, so the current row has a ring.
        marked_row: row of the scope or its nearest visible ancestor; without a scope of the selected message.
    """

    def __init__(
        self, model: ContextTreeModel, theme_controller: ThemeController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._themes = theme_controller
        self.marked_row = -1
        self.shows_cursor = False
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self._zoom = theme.zoom
        self._fonts = {role: name_font(theme.font(role)) for role in ("body", "body-strong")}
        self._metrics = {role: QFontMetrics(font) for role, font in self._fonts.items()}
        self._metrics["small"] = QFontMetrics(theme.font("small"))

    def chevron(self, row: int, cell: QRect) -> QRect:
        """Returns the clickable rectangle of a row's chevron; empty without children."""
        if not self._model.has_children(row):
            return QRect()
        side = round(18 * self._zoom)
        return QRect(self._x(_CHEVRON_X, row, cell) - side // 2, cell.top(), side, cell.height())

    def dot(self, row: int, cell: QRect) -> QRect:
        """Returns the square of a row's state dot, halo included."""
        side = round(16 * self._zoom)
        return QRect(self._x(_DOT_X, row, cell) - side // 2, cell.center().y() - side // 2, side, side)

    def _x(self, offset: int, row: int, cell: QRect) -> int:
        level = min(self._model.depth(row), _MAX_INDENT_LEVEL)
        return cell.left() + round(offset * self._zoom) + level * self._themes.theme.metrics.indent

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, self._themes.theme.metrics.row)

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row, cell = index.row(), option.rect
        painter.save()
        self._paint_ground(painter, option, row)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_chevron(painter, row, cell)
        right = self._paint_problems(painter, row, cell, self._paint_count(painter, row, cell))
        right = self._paint_note(painter, row, cell, right)
        source = self._model.source(row)
        if source is not None:
            self._paint_source(painter, row, source, cell, right)
        elif self._model.node(row) is None:
            self._paint_space(painter, row, cell, right)
        else:
            self._paint_context(painter, row, cell, right)
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, row: int) -> None:
        theme, cell, state = self._themes.theme, option.rect, option.state
        active = bool(state & QStyle.StateFlag.State_Active) and option.widget.hasFocus()
        selected = bool(state & QStyle.StateFlag.State_Selected)
        paint_ground(
            painter, theme, cell,
            selected=selected or row == self.marked_row,
            hovered=bool(state & QStyle.StateFlag.State_MouseOver),
            active=selected and active,
            cursor=bool(state & QStyle.StateFlag.State_HasFocus) and active and self.shows_cursor and not selected,
        )  # fmt: skip

    def _paint_chevron(self, painter: QPainter, row: int, cell: QRect) -> None:
        if self._model.has_children(row):
            name = "collapse" if self._model.is_expanded(row) else "expand"
            self._paint_icon(painter, name, "ink.secondary", 16, self._x(_CHEVRON_X, row, cell), cell)

    def _paint_icon(self, painter: QPainter, name: str, token: str, side: int, center_x: int, cell: QRect) -> None:
        side = round(side * self._zoom)
        pixmap = icons.pixmap(name, token, side, painter.device().devicePixelRatioF())
        top = cell.top() + (cell.height() - side) // 2
        painter.drawPixmap(QRect(center_x - side // 2, top, side, side), pixmap)

    def _paint_count(self, painter: QPainter, row: int, cell: QRect) -> int:
        """Draws the count, which is never elided; returns the right limit of the label."""
        theme = self._themes.theme
        text = f"{self._model.count(row):,}"
        right = cell.right() + 1 - theme.metrics.pane_padding
        left = right - self._metrics["small"].horizontalAdvance(text)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRect(left, cell.top(), right - left, cell.height()), flags, text)
        columns = self._token_columns(row, cell.width())
        if columns:
            left = self._paint_tokens(painter, columns, cell, right)
        return left - theme.metrics.cell_padding

    def _paint_tokens(self, painter: QPainter, columns: list[tuple[int, str]], cell: QRect, right: int) -> int:
        """Draws tokens in columns left of the widest count; returns their left edge."""
        theme, metrics = self._themes.theme, self._metrics["small"]
        right -= metrics.horizontalAdvance(f"{self._model.most_messages:,}") + 2 * theme.metrics.unit
        painter.setPen(theme.color("ink.secondary"))
        for value, unit in reversed(columns):
            width = metrics.horizontalAdvance(f"{_WIDEST_TOKENS}{unit}")
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            box = QRect(right - width, cell.top(), width, cell.height())
            painter.drawText(box, flags, f"{short_count(value)}{unit}")
            right -= width + theme.metrics.unit
        return right + theme.metrics.unit

    def _token_columns(self, row: int, width: int) -> list[tuple[int, str]]:
        """Returns (value, unit) of the token columns that leave width for the label."""
        model, room = self._model, width / self._zoom
        columns: list[tuple[int, str]] = []
        if model.usage.shown:
            used = model.reported(row)
            if room >= _USAGE_MIN_WIDTH:
                columns += [(used.input, " in"), (used.cached, " cached"), (used.output, " out")]
            elif room >= _TOKENS_MIN_WIDTH or model.usage.asked:
                columns.append((sum(used), " used" if room >= _TOKENS_MIN_WIDTH else ""))
        if model.tokens.shown and (not columns or room >= _USAGE_MIN_WIDTH):
            columns.append((model.token_count(row), " tok" if room >= _TOKENS_MIN_WIDTH else ""))
        return columns

    def _paint_problems(self, painter: QPainter, row: int, cell: QRect, right: int) -> int:
        """Draws the icon of the worst problem in the subtree, and the count if there is space.

        Notes have no icon here: it would be in every other row. Returns the right limit of the label.
        """
        tally = self._model.tally(row)
        worst = tally.worst
        if not tally.problems or worst is None:
            return right
        theme, word = self._themes.theme, worst.word
        # Spaces always show the count: their sum is the status bar's figure.
        if self._model.node(row) is None or cell.width() >= round(_TOKENS_MIN_WIDTH * self._zoom):
            text = f"{tally.problems:,}"
            width = self._metrics["small"].horizontalAdvance(text)
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color(f"severity.{word}"))
            box = QRect(right - width, cell.top(), width, cell.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            right -= width + theme.metrics.unit - 1
        side = round(_ICON_SIZE * self._zoom)
        self._paint_icon(painter, word, f"severity.{word}", _ICON_SIZE, right - side // 2, cell)
        return right - side - theme.metrics.unit

    def _paint_note(self, painter: QPainter, row: int, cell: QRect, right: int) -> int:
        """Draws the icon of a mark or comment; returns the right limit of the label."""
        note = self._model.note(row)
        if not note:
            return right
        side = round(_ICON_SIZE * self._zoom)
        name = "mark" if note.marked else "comment"
        self._paint_icon(painter, name, "accent.text", _ICON_SIZE, right - side // 2, cell)
        return right - side - self._themes.theme.metrics.unit

    def _paint_space(self, painter: QPainter, row: int, cell: QRect, right: int) -> None:
        self._paint_icon(painter, "space", "ink.secondary", _ICON, self._x(_DOT_X + 1, row, cell), cell)
        left = self._x(_SPACE_LABEL_X, row, cell)
        box = QRect(left, cell.top(), right - left, cell.height())
        self._paint_label(painter, row, box, "body-strong", "ink.primary")

    def _paint_source(self, painter: QPainter, row: int, source: int, cell: QRect, right: int) -> None:
        """Draws a source: state, colour swatch as in the gutter, name."""
        theme, state = self._themes.theme, self._model.state(row)
        if state in FAULTY_STATES:
            self._paint_icon(painter, "error", "severity.error", _ICON_SIZE, self._x(_DOT_X, row, cell), cell)
        else:
            center = QPointF(self._x(_DOT_X, row, cell), cell.top() + cell.height() / 2)
            draw_state(
                painter, center, "active" if state in GROWING_STATES else "concluded", theme, implicit=False, halo=0
            )
        side, left = round(_SWATCH * self._zoom), self._x(_LABEL_X, row, cell)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(token_of(source)))
        painter.drawRoundedRect(QRectF(left, cell.top() + (cell.height() - side) / 2, side, side), 2, 2)
        left += side + round(_ICON_GAP * self._zoom)
        box = QRect(left, cell.top(), right - left, cell.height())
        self._paint_label(painter, row, box, "body-strong", "ink.primary")

    def _paint_context(self, painter: QPainter, row: int, cell: QRect, right: int) -> None:
        model, theme = self._model, self._themes.theme
        implicit = model.is_implicit(row)
        # A context without messages of its own is neither idle nor active.
        state = model.end(row) if implicit else model.state(row)
        center = QPointF(self._x(_DOT_X, row, cell), cell.top() + cell.height() / 2)
        halo = model.activity.halo(model.code(row), time.monotonic()) if state == "active" else 0.0
        draw_state(painter, center, state, theme, implicit=implicit, halo=halo)
        left = self._x(_LABEL_X, row, cell)
        if model.is_reasoning(row):
            side = round(_ICON * self._zoom)
            self._paint_icon(painter, "reasoning", "family.reasoning", _ICON, left + side // 2, cell)
            left += side + round(_ICON_GAP * self._zoom)
        ended = state in ("concluded", "cancelled")
        token = "ink.secondary" if ended else "ink.tertiary" if implicit else "ink.primary"
        self._paint_label(painter, row, QRect(left, cell.top(), right - left, cell.height()), "body", token)

    def _paint_label(self, painter: QPainter, row: int, box: QRect, role: str, token: str) -> None:
        if box.width() <= 0:
            return
        theme, metrics = self._themes.theme, self._metrics[role]
        # Ids are elided in the middle, words at the end.
        middle = self._model.is_raw_id(row)
        mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        text = metrics.elidedText(self._model.label(row), mode, box.width())
        painter.setFont(self._fonts[role])
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        needle = self._model.needle
        at = text.casefold().find(needle) if needle and self._model.node(row) is not None else -1
        painter.setPen(theme.color(token))
        if at < 0:
            painter.drawText(box, flags, text)
            return
        self._paint_match(painter, text, at, len(needle), box, metrics, token)

    def _paint_match(
        self, painter: QPainter, text: str, at: int, length: int, box: QRect, metrics: QFontMetrics, token: str
    ) -> None:
        """Draws a label with a highlighted match."""
        theme = self._themes.theme
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        start, end = (metrics.horizontalAdvance(text, stop) for stop in (at, at + length))
        # Measured inside the whole label: kerning would shift a part measured alone.
        mark = QRectF(box.left() + start - 1, box.top() + 4, end - start + 2, box.height() - 8)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent.wash"))
        painter.drawRoundedRect(mark, 3, 3)
        for part, left, ink in (
            (text[:at], 0, token),
            (text[at : at + length], start, "accent.text"),
            (text[at + length :], end, token),
        ):
            painter.setPen(theme.color(ink))
            painter.drawText(box.adjusted(left, 0, 0, 0), flags, part)
