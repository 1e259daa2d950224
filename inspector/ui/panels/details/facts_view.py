"""List of facts, name and value a row: values wrap, link, expand and copy."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.present.facts import Fact, FactPart, Ink
from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.fitted_list import FittedList, plain_value, wrap
from inspector.ui.widgets.filter_menu import add_filter_actions

_STYLES: dict[Ink, tuple[str, str]] = {
    "plain": ("body", "ink.primary"),
    "mono": ("mono-row", "ink.primary"),
    "dim": ("body", "ink.tertiary"),
    "mono-dim": ("mono-row", "ink.tertiary"),
    "strong": ("body-medium", "ink.primary"),
    "link": ("body-medium", "accent.text"),
    "good": ("body", "badge.consumed"),
    "bad": ("body", "severity.error"),
    "warn": ("body", "severity.warning"),
}
_END_LENGTH = 500
MOST_LINES = 400
"""Most lines of an expanded value; Tree and Raw have the rest."""


def _shorten_middle(text: str) -> str:
    """Shortens a middle-elided value to its two ends; measuring all of it takes long."""
    return text if len(text) <= 2 * _END_LENGTH else f"{text[:_END_LENGTH]}…{text[-_END_LENGTH:]}"


class FactsView(FittedList[Fact]):
    """List of facts, one a row."""

    def __init__(
        self,
        themes: ThemeController,
        rows: Sequence[Fact],
        *,
        name: str,
        label: str,
        surface: str = "surface.base",
        name_width: int = 96,
        parent: QWidget | None = None,
    ) -> None:
        """Creates the list; `name_width` is the least width of the name column at 100 %."""
        super().__init__(themes, rows, name=name, label=label, surface=surface, parent=parent)
        self._min_name_width = name_width
        self._open: set[int] = set()
        self._wrapped: dict[tuple[int, int, bool], list[str]] = {}
        # Width of the name column by the width of the list.
        self._name_widths: dict[int, int] = {}

    # Text

    @override
    def row_text(self, row: Fact) -> str:
        value = safe_line(row.value, 2_000)
        return " ".join(filter(None, (f"{row.name}: {value}" if row.name.strip() else value, row.right)))

    @override
    def row_tooltip(self, row: Fact) -> str:
        if row.tooltip is not None:
            return tool_tip(row.tooltip)
        # Short values are rarely cut.
        return tool_tip(row.value) if len(row.value) > 24 else ""

    @override
    def copied_text(self, row: Fact) -> str:
        return row.value if row.copy is None else row.copy

    @override
    def rows_replaced(self, before: Sequence[Fact]) -> None:
        # Rows may have moved: the expansion follows the name.
        opened = {before[row].name for row in self._open if row < len(before)} - {""}
        self._open = {place for place, row in enumerate(self.rows) if row.name in opened}
        self._wrapped.clear()
        self._name_widths.clear()

    # Geometry

    def _names_width(self, width: int) -> int:
        found = self._name_widths.get(width)
        if found is None:
            found = self._name_widths[width] = self._measured_names(width)
        return found

    def _measured_names(self, width: int) -> int:
        theme = self.themes.theme
        plain_names = QFontMetrics(theme.font("body"))
        mono_names = QFontMetrics(theme.font("mono-row"))
        if not any(row.name for row in self.rows):
            return 0
        widest = max(
            (mono_names if r.mono_name else plain_names).horizontalAdvance(r.name[:200]) + self._indent(r)
            for r in self.rows
        )
        return min(max(round(self._min_name_width * theme.zoom), widest + 3 * theme.metrics.unit), round(width * 0.45))

    def _indent(self, row: Fact) -> int:
        return row.indent * 3 * self.themes.theme.metrics.unit

    def _lines(self, row: int, width: int) -> list[str]:
        fact_ = self.rows[row]
        opened = row in self._open
        # Layout and painting ask for the same row several times.
        key = (row, width, opened)
        found = self._wrapped.get(key)
        if found is None:
            part = fact_.parts[0]
            font = self.themes.theme.font(_STYLES[part.ink][0])
            most = MOST_LINES if opened else fact_.lines
            room = width - (self._names_width(width) if fact_.name else 0)
            found = self._wrapped[key] = wrap(part.text, font, room, most)
        return found

    def _wraps(self, row: int) -> bool:
        return len(self.rows[row].parts) == 1 and (self.rows[row].lines > 1 or row in self._open)

    @override
    def row_height(self, row: int, width: int) -> int:
        theme = self.themes.theme
        if not self._wraps(row):
            return theme.metrics.content_row
        height = QFontMetrics(theme.font("body")).height()
        return theme.metrics.content_row + (len(self._lines(row, width)) - 1) * (height + 1)

    # Painting

    @override
    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        theme, fact_ = self.themes.theme, self.rows[row]
        line = theme.metrics.content_row
        first = QRect(rect.left(), rect.top(), rect.width(), line)
        names = self._names_width(rect.width()) if fact_.name else 0
        if fact_.name:
            font = theme.font("mono-row" if fact_.mono_name else "body")
            painter.setFont(font)
            plain_ink = "ink.tertiary" if fact_.mono_name else "ink.secondary"
            painter.setPen(theme.color(_STYLES[fact_.name_ink][1] if fact_.name_ink else plain_ink))
            room = names - theme.metrics.unit - self._indent(fact_)
            shown = QFontMetrics(font).elidedText(safe_line(fact_.name, 200), Qt.TextElideMode.ElideRight, room)
            left = rect.left() + self._indent(fact_)
            painter.drawText(QRect(left, rect.top(), room, line), int(Qt.AlignmentFlag.AlignVCenter), shown)
        if self._wraps(row):
            self._paint_lines(painter, rect, row, names)
            return
        right = rect.right()
        if fact_.right:
            self._paint_right(painter, first, fact_, hovered)
            right -= self._right_width(fact_) + 2 * theme.metrics.unit
        for part, box, text in self._place_parts(fact_, rect.left() + names, right, rect.top()):
            self._paint_part(painter, part, box, text, hovered)

    def _paint_lines(self, painter: QPainter, rect: QRect, row: int, names: int) -> None:
        theme, part = self.themes.theme, self.rows[row].parts[0]
        role, token = _STYLES[part.ink]
        painter.setFont(theme.font(role))
        painter.setPen(theme.color(token))
        step = QFontMetrics(theme.font("body")).height() + 1
        ascent = QFontMetrics(theme.font("body")).ascent()
        base = rect.top() + (theme.metrics.content_row - QFontMetrics(theme.font("body")).height()) / 2 + ascent
        for place, text in enumerate(self._lines(row, rect.width())):
            painter.drawText(QPointF(rect.left() + names, base + place * step), text)

    def _right_font(self, fact_: Fact, hovered: bool = False) -> QFont:
        if fact_.right_message is None:
            return self.themes.theme.font("small")
        font = QFont(self.themes.theme.font("body-medium"))
        font.setWeight(QFont.Weight.Normal)
        font.setUnderline(hovered)
        return font

    def _right_width(self, fact_: Fact) -> int:
        return QFontMetrics(self._right_font(fact_)).horizontalAdvance(fact_.right)

    def _paint_right(self, painter: QPainter, rect: QRect, fact_: Fact, hovered: bool) -> None:
        theme = self.themes.theme
        painter.setFont(self._right_font(fact_, hovered))
        painter.setPen(theme.color("ink.tertiary" if fact_.right_message is None else "accent.text"))
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), fact_.right)

    def _paint_part(self, painter: QPainter, part: FactPart, box: QRectF, text: str, hovered: bool) -> None:
        theme = self.themes.theme
        role, token = _STYLES[part.ink]
        font = theme.font(role)
        if part.is_link and hovered:
            font = QFont(font)
            font.setUnderline(True)
        painter.setFont(font)
        painter.setPen(theme.color(token))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter), text)

    def _place_parts(self, fact_: Fact, left: int, right: int, top: int) -> list[tuple[FactPart, QRectF, str]]:
        """Places the parts of a one-line value: part, box and fitting text.

        Plain words are cut before links, and a name before the short words behind it, such as a duration.
        """
        theme = self.themes.theme
        placed: list[tuple[FactPart, QRectF, str]] = []
        place = float(left)
        mode = Qt.TextElideMode.ElideMiddle if fact_.middle else Qt.TextElideMode.ElideRight
        links = [self._width(part) if part.is_link else 0 for part in fact_.parts]
        whole = links if len(links) < 2 else [self._width(part) for part in fact_.parts]
        for number, part in enumerate(fact_.parts):
            metrics = QFontMetrics(theme.font(_STYLES[part.ink][0]))
            reserved = 0 if part.is_link else sum(links[number:])
            behind = sum(whole[1:])
            if not number and not part.is_link and 2 * behind <= right - left:
                reserved = behind
            gaps = sum(not one.is_link for one in fact_.parts[number:]) if reserved else 0
            room = right - place - reserved - gaps * theme.metrics.unit
            if room < theme.metrics.unit:
                continue
            shown = metrics.elidedText(
                plain_value(_shorten_middle(part.text) if fact_.middle else part.text), mode, int(room)
            )
            width = metrics.horizontalAdvance(shown)
            placed.append((part, QRectF(place, top, width + 2, theme.metrics.content_row), shown))
            place += width + (theme.metrics.unit if reserved and shown.endswith("…") else 0)
        return placed

    def _width(self, part: FactPart) -> int:
        return QFontMetrics(self.themes.theme.font(_STYLES[part.ink][0])).horizontalAdvance(plain_value(part.text))

    # Interaction

    def _part_at(self, row: int, place: QPoint) -> FactPart | None:
        if self._wraps(row):
            return None
        fact_, width = self.rows[row], self.viewport().width()
        names = self._names_width(width) if fact_.name else 0
        rect = self.visualRect(self.model().index(row, 0))
        if fact_.right_message is not None and place.x() >= rect.right() - self._right_width(fact_):
            return FactPart(fact_.right, "link", fact_.right_message)
        for part, box, _ in self._place_parts(fact_, rect.left() + names, rect.right(), rect.top()):
            if box.contains(QPointF(place)):
                return part
        return None

    def _can_expand(self, row: int) -> bool:
        if row in self._open:
            return True
        fact_, width = self.rows[row], self.viewport().width()
        if len(fact_.parts) != 1 or fact_.parts[0].is_link or fact_.middle:
            return False
        names = self._names_width(width) if fact_.name else 0
        text = fact_.parts[0].text
        if fact_.lines == 1:
            font = self.themes.theme.font(_STYLES[fact_.parts[0].ink][0])
            taken = names + (self._right_width(fact_) if fact_.right else 0)
            return QFontMetrics(font).horizontalAdvance(plain_value(text)) > width - taken
        return self._lines(row, width)[-1].endswith("…") and not text.endswith("…")

    @override
    def is_link(self, row: int, place: QPoint) -> bool:
        part = self._part_at(row, place)
        return (part is not None and part.is_link) or self._can_expand(row)

    @override
    def click_row(self, row: int, place: QPoint) -> None:
        part = self._part_at(row, place)
        if part is not None and part.is_link:
            self._follow(part)
        elif self._can_expand(row):
            self.toggle(row)

    @override
    def activate_row(self, row: int) -> None:
        link = next((part for part in self.rows[row].parts if part.is_link), None)
        if link is not None:
            self._follow(link)
        elif (message := self.rows[row].right_message) is not None:
            self.message_requested.emit(message)
        elif self._can_expand(row):
            self.toggle(row)

    def _follow(self, part: FactPart) -> None:
        if part.message is not None:
            self.message_requested.emit(part.message)
        elif part.place is not None:
            self.place_requested.emit(part.place)

    def toggle(self, row: int) -> None:
        """Expands a cut value, or cuts it again."""
        self._open ^= {row}
        self.scheduleDelayedItemsLayout()
        self.updateGeometry()

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        fact_ = self.rows[row]
        self.add_copy(menu, "Copy value", row)
        for message in (*(part.message for part in fact_.parts), fact_.right_message):
            if message is not None:
                go = menu.addAction(f"Go to No. {message + 1}")
                go.triggered.connect(lambda _=False, message=message: self.message_requested.emit(message))
        for part in fact_.parts:
            if part.place is not None:
                go = menu.addAction("Show in details")
                go.triggered.connect(lambda _=False, place=part.place: self.place_requested.emit(place))
        if self._can_expand(row):
            toggle = menu.addAction("Show less" if row in self._open else "Show all")
            toggle.triggered.connect(lambda: self.toggle(self.rows.index(fact_)) if fact_ in self.rows else None)
        if fact_.filter:
            menu.addSeparator()
            add_filter_actions(menu, fact_.filter, self.filter_requested.emit, self.column_requested.emit)

    @override
    def _on_theme_changed(self) -> None:
        self._wrapped.clear()
        self._name_widths.clear()
        super()._on_theme_changed()
