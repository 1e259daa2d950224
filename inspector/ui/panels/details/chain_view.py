"""List of a causal chain or a reasoning: time, rail, icon, name, relation and No. (docs/design.md 15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QMenu
from typing_extensions import override

from inspector.present.chain_rows import ChainRow
from inspector.present.reasoning_facts import ThreadRow
from inspector.present.wire_text import tool_tip
from inspector.ui.look import icons
from inspector.ui.panels.details.fitted_list import FittedList, wrap

# Left edges at 100 %, except the delta's right edge.
_DELTA, _RAIL, _ICON, _NAME = 56, 70, 85, 104
# Narrower views show durations only in tooltips.
_DURATION_MIN_WIDTH = 440
_NAME_LINES = 2
"""Most lines of a name; the tooltip has the whole name."""
RAIL_LEFT, NAME_LEFT = _RAIL, _NAME
"""Left edges of the rail and of the names, at 100 %."""
_LONGEST_TIMES = ("+59 min 59 s", "+23 h 59 min")
"""Longest usual times. The column reserves their width, so that a later step moves nothing."""


class ChainView(FittedList[ChainRow]):
    """Causal chain as a list; Enter or a click goes to a message.

    Attributes:
        took: shows durations, such as the time from a call to its answer.
        whole: all rows; they replace a row that counts hidden ones.
    """

    took = False
    whole: Sequence[ChainRow] = ()
    _measured: tuple[object, int] = (None, 0)

    @override
    def row_text(self, row: ChainRow) -> str:
        took = _duration_text(row) if self.took else ""
        number = f"No. {row.number}" if row.number else ""
        return ", ".join(filter(None, (row.delta, row.name, row.relation, took, number)))

    @override
    def row_tooltip(self, row: ChainRow) -> str:
        return tool_tip(row.tooltip)

    @override
    def row_height(self, row: int, width: int) -> int:
        line, link = self.themes.theme.metrics.content_row, self.rows[row]
        lines, _, below = self.words_in(link, self._text_width(link, width))
        return line + (len(lines) - 1) * self._line_step() + below * self._small_step()

    @override
    def first_row(self) -> int:
        return next((place for place, row in enumerate(self.rows) if row.own), 0)

    @override
    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        theme, link = self.themes.theme, self.rows[row]
        zoom = theme.zoom
        # Only for the rounded corners: straight lines are sharper without antialiasing.
        if link.own or hovered:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("surface.hover"))
            painter.drawRoundedRect(rect, theme.metrics.radius_mark, theme.metrics.radius_mark)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        rect, whole = QRect(rect.left(), rect.top(), rect.width(), theme.metrics.content_row), rect
        painter.setFont(theme.font("body-medium" if link.own else "body"))
        painter.setPen(theme.color("ink.primary" if link.own else "ink.tertiary"))
        box = QRect(rect.left(), rect.top(), round(_DELTA * zoom) + self._extra_time_width(), rect.height())
        painter.drawText(box, middle | int(Qt.AlignmentFlag.AlignRight), link.delta)
        rect = rect.adjusted(self._extra_time_width(), 0, 0, 0)
        self._paint_rail(painter, rect, row)
        # Names on several lines leave a gap that the rail must cross.
        if row < len(self.rows) - 1 and whole.bottom() > rect.bottom():
            self._paint_rail_below(painter, rect, whole, row)
        side = theme.metrics.icon_row
        ratio = self.devicePixelRatioF()
        pixmap = icons.pixmap(link.icon, "ink.secondary", side, ratio) if link.icon else (
            icons.kind_pixmap(link.kind, side, ratio)
        )  # fmt: skip
        painter.drawPixmap(rect.left() + round(_ICON * zoom), rect.top() + (rect.height() - side) // 2, pixmap)
        self._paint_words(painter, rect, link, hovered)

    def _extra_time_width(self) -> int:
        """Returns the pixels by which times exceed their column. Times are never cut."""
        room = round(_DELTA * self.themes.theme.zoom)
        # row lists are replaced, never changed in place: identity is a valid cache key
        if self._measured[0] is not self.rows:
            metrics = QFontMetrics(self.themes.theme.font("body-medium"))
            texts = (*_LONGEST_TIMES, *(link.delta for link in self.rows))
            widest = max(metrics.horizontalAdvance(text) for text in texts)
            self._measured = (self.rows, widest)
        return max(0, self._measured[1] - room)

    def _paint_rail(self, painter: QPainter, rect: QRect, row: int) -> None:
        theme = self.themes.theme
        center = QPointF(rect.left() + round(_RAIL * theme.zoom), rect.center().y() + 0.5)
        radius = (4.5 if self.rows[row].own else 3) * theme.zoom
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(0.55)
        if row > 0:
            painter.setPen(self._rail_into(row))
            painter.drawLine(QPointF(center.x(), rect.top()), QPointF(center.x(), center.y() - radius))
        if row < len(self.rows) - 1:
            painter.setPen(self._rail_into(row + 1))
            painter.drawLine(QPointF(center.x(), center.y() + radius), QPointF(center.x(), rect.bottom() + 1))
        painter.setOpacity(1)
        painter.setPen(QPen(theme.color("accent.ring"), 1.5))
        own = self.rows[row].own
        painter.setBrush(theme.color("accent.ring") if own else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(center, radius, radius)
        painter.restore()

    def _rail_into(self, row: int) -> QPen:
        """Returns the pen of the rail above a row; dashed for a likely cause."""
        pen = QPen(self.themes.theme.color("accent.ring"), 1)
        if self.rows[row].likely:
            # Dashes, not colour alone: a likely cause is a guess.
            pen.setDashPattern([2, 3])
        return pen

    def _paint_words(self, painter: QPainter, rect: QRect, link: ChainRow, hovered: bool) -> None:
        theme = self.themes.theme
        unit = theme.metrics.unit
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        number = link.number
        font = QFont(theme.font("body-medium"))
        font.setWeight(QFont.Weight.Normal)
        font.setUnderline(hovered and not link.own)
        right = rect.right() - 2 * unit + 2
        painter.setFont(font)
        painter.setPen(theme.color("ink.tertiary" if link.own else "accent.text"))
        painter.drawText(
            QRect(rect.left(), rect.top(), right - rect.left(), rect.height()),
            middle | int(Qt.AlignmentFlag.AlignRight),
            number,
        )
        room = self._text_width(link, rect.right() - rect.left() + 1 + self._extra_time_width())
        left = rect.left() + round(_NAME * theme.zoom)
        right = left + room
        if self.shows_took:
            self._paint_took(painter, rect, link, right + 2 * unit + self._took_width())
        lines, relation, below = self.words_in(link, room)
        name_font = theme.font("mono-row" if link.mono else "body")
        metrics = QFontMetrics(name_font)
        painter.setFont(name_font)
        painter.setPen(theme.color("ink.primary"))
        for place, name in enumerate(lines):
            box = QRectF(left, rect.top() + place * self._line_step(), room + 2, rect.height())
            painter.drawText(box, middle, name)
        if relation:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color(link.token))
            top = rect.top() + (len(lines) - 1) * self._line_step() + below * self._small_step()
            start = left if below else left + metrics.horizontalAdvance(lines[-1]) + 2 * unit
            metrics = painter.fontMetrics()
            wide = metrics.horizontalAdvance(relation) if below else max(0, right - start)
            painter.drawText(QRectF(start, top, wide + 2, rect.height()), middle, relation)

    def _paint_rail_below(self, painter: QPainter, first: QRect, rect: QRect, row: int) -> None:
        """Paints the rail beside a step's further lines."""
        x = first.left() + round(_RAIL * self.themes.theme.zoom)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(0.55)
        painter.setPen(self._rail_into(row + 1))
        painter.drawLine(QPointF(x, first.bottom() + 1), QPointF(x, rect.bottom() + 1))
        painter.restore()

    def _text_width(self, link: ChainRow, width: int) -> int:
        """Returns the width in pixels for a row's name and relation in a list of `width`."""
        theme = self.themes.theme
        unit = theme.metrics.unit
        room = width - 1 - self._extra_time_width() - round(_NAME * theme.zoom) - 4 * unit + 2
        room -= self._number_width(link)
        return max(1, room - (self._took_width() + 2 * unit if self.shows_took else 0))

    def _number_width(self, link: ChainRow) -> int:
        # All rows reserve the widest number: otherwise the durations would not align.
        number = str(max(row.message for row in self.rows) + 1) if self.shows_took else link.number
        return QFontMetrics(self.themes.theme.font("body-medium")).horizontalAdvance(number)

    def _line_step(self) -> int:
        return QFontMetrics(self.themes.theme.font("body")).height() + 1

    def _small_step(self) -> int:
        return QFontMetrics(self.themes.theme.font("small")).height() + 1

    @property
    def shows_took(self) -> bool:
        """True if rows show durations; narrow views show them only in tooltips."""
        return self.took and self.width() >= round(_DURATION_MIN_WIDTH * self.themes.theme.zoom)

    def words_in(self, link: ChainRow, room: int) -> tuple[list[str], str, bool]:
        """Fits a row into `room` pixels: lines of the name, the relation, and True if the relation is below.

        The name has priority over the relation: it is whole, or on two lines.
        """
        theme = self.themes.theme
        font = theme.font("mono-row" if link.mono else "body")
        names, relations = QFontMetrics(font), QFontMetrics(theme.font("small"))
        wanted = relations.horizontalAdvance(link.relation) + 2 * theme.metrics.unit if link.relation else 0
        whole = names.horizontalAdvance(link.name)
        if whole + wanted <= room:
            return [link.name], link.relation, False
        lines = [link.name] if whole <= room else wrap(link.name, font, room, _NAME_LINES)
        if not link.relation:
            return lines, "", False
        if names.horizontalAdvance(lines[-1]) + wanted <= room:
            return lines, link.relation, False
        # The number stands on the first line alone, so that a relation below may pass under it.
        wide = room + (0 if self.shows_took else self._number_width(link) + 2 * theme.metrics.unit)
        return lines, relations.elidedText(link.relation, Qt.TextElideMode.ElideRight, wide), True

    def _took_width(self) -> int:
        metrics = QFontMetrics(self.themes.theme.font("small"))
        return max((metrics.horizontalAdvance(_duration_text(row)) for row in self.rows), default=0)

    def _paint_took(self, painter: QPainter, rect: QRect, link: ChainRow, right: int) -> None:
        """Paints a step's duration right of its name."""
        theme, wanted = self.themes.theme, self._took_width()
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        box = QRect(right - wanted, rect.top(), wanted, rect.height())
        painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), _duration_text(link))

    @override
    def is_link(self, row: int, place: QPoint) -> bool:
        return self.rows[row].is_link or self.rows[row].hides

    @override
    def click_row(self, row: int, place: QPoint) -> None:
        self.activate_row(row)

    @override
    def activate_row(self, row: int) -> None:
        if self.rows[row].hides:
            self.replace_rows(self.whole)
        elif self.rows[row].is_link:
            self.message_requested.emit(self.rows[row].message)

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        link = self.rows[row]
        if link.is_link:
            menu.addAction(f"Go to No. {link.number}").triggered.connect(
                lambda: self.message_requested.emit(link.message)
            )
        super().fill_menu(menu, row)


def _duration_text(link: ChainRow) -> str:
    return f"took {link.took}" if link.took else ""


MOST_LINES = 4
"""Most lines of a reasoning; a click shows the whole text."""


class ThreadView(ChainView):
    """Steps of a reasoning; Enter or a click goes to a message."""

    # By row and width; a layout asks for several widths.
    _wrapped: dict[tuple[int, int], list[str]] | None = None

    @override
    def row_text(self, row: ChainRow) -> str:
        text = super().row_text(row)
        if isinstance(row, ThreadRow) and row.where:
            return f"in {row.where}: {text}"
        return text

    @override
    def row_height(self, row: int, width: int) -> int:
        line = self.themes.theme.metrics.content_row
        more = len(self._lines(row, width)) - 1
        height = line + max(0, more) * self._line_step() + self._where_height(row)
        return height + (self.themes.theme.metrics.unit if more > 0 else 0)

    @override
    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        theme, link = self.themes.theme, self.rows[row]
        above = self._where_height(row)
        first = QRect(rect.left(), rect.top() + above, rect.width(), theme.metrics.content_row)
        if (link.own or hovered) and rect.height() > first.height() + above:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("surface.hover"))
            radius = theme.metrics.radius_mark
            painter.drawRoundedRect(rect.adjusted(0, above, 0, 0), radius, radius)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if above:
            self._paint_where(painter, rect, row, above)
        super().paint_row(painter, first, row, hovered)
        self._paint_rail_around(painter, rect, first, row)
        self._paint_more_lines(painter, rect, first, row)

    def _paint_where(self, painter: QPainter, rect: QRect, row: int, height: int) -> None:
        theme, link = self.themes.theme, self.rows[row]
        assert isinstance(link, ThreadRow)
        left = rect.left() + self._text_left()
        room = rect.right() - left
        metrics = QFontMetrics(theme.font("small"))
        words = metrics.elidedText(f"in {link.where}", Qt.TextElideMode.ElideMiddle, room)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(QRectF(left, rect.top(), room, height), int(Qt.AlignmentFlag.AlignBottom), words)

    def _paint_rail_around(self, painter: QPainter, rect: QRect, first: QRect, row: int) -> None:
        """Paints the rail above and below the step's first line."""
        theme = self.themes.theme
        x = rect.left() + round(RAIL_LEFT * theme.zoom) + self._extra_time_width()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(0.55)
        painter.setPen(QPen(theme.color("accent.ring"), 1))
        if row > 0 and first.top() > rect.top():
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, first.top()))
        if row < len(self.rows) - 1 and rect.bottom() > first.bottom():
            painter.drawLine(QPointF(x, first.bottom() + 1), QPointF(x, rect.bottom() + 1))
        painter.restore()

    def _paint_more_lines(self, painter: QPainter, rect: QRect, first: QRect, row: int) -> None:
        lines = self._lines(row, rect.width())[1:]
        if not lines:
            return
        theme = self.themes.theme
        metrics = QFontMetrics(theme.font("body"))
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.primary"))
        base = first.top() + (first.height() - metrics.height()) / 2 + metrics.ascent()
        for place, text in enumerate(lines, start=1):
            painter.drawText(QPointF(rect.left() + self._text_left(), base + place * self._line_step()), text)

    @override
    def _paint_words(self, painter: QPainter, rect: QRect, link: ChainRow, hovered: bool) -> None:
        if isinstance(link, ThreadRow) and link.text and not link.own:
            width = self.viewport().width()
            # By identity: equal rows may occur twice.
            row = next(place for place, other in enumerate(self.rows) if other is link)
            # the text was wrapped for the full width, so the relation has no room
            link = replace(link, name=self._lines(row, width)[0], relation="")
        super()._paint_words(painter, rect, link, hovered)

    # Geometry

    def _text_left(self) -> int:
        return round(NAME_LEFT * self.themes.theme.zoom) + self._extra_time_width()

    @override
    def words_in(self, link: ChainRow, room: int) -> tuple[list[str], str, bool]:
        """Fits a row on one line; `_lines` wraps the text of a reasoning itself."""
        lines, relation, below = super().words_in(link, room)
        if len(lines) > 1 or below:
            font = self.themes.theme.font("mono-row" if link.mono else "body")
            return [QFontMetrics(font).elidedText(link.name, Qt.TextElideMode.ElideRight, room)], "", False
        return lines, relation, below

    def _where_height(self, row: int) -> int:
        link = self.rows[row]
        if not isinstance(link, ThreadRow) or not link.where:
            return 0
        return QFontMetrics(self.themes.theme.font("small")).height() + self.themes.theme.metrics.unit

    def _lines(self, row: int, width: int) -> list[str]:
        """Wraps a step's text at a width; one line for a step without text."""
        link = self.rows[row]
        if not isinstance(link, ThreadRow) or not link.text or link.own:
            return [link.name]
        if self._wrapped is None:
            self._wrapped = {}
        found = self._wrapped.get((row, width))
        if found is None:
            theme = self.themes.theme
            number = QFontMetrics(theme.font("body-medium")).horizontalAdvance(str(link.message + 1))
            room = width - self._text_left() - number - 5 * theme.metrics.unit
            found = self._wrapped[row, width] = wrap(link.text, theme.font("body"), room, MOST_LINES)
        return found

    @override
    def _on_theme_changed(self) -> None:
        self._wrapped = None
        super()._on_theme_changed()
