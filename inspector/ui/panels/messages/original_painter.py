"""Paints content across columns: collapsed results and folded streams with their links, and gaps."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPen

from inspector.present import wire_text
from inspector.present.original_result import Original, OriginalLine, OriginalLineKind
from inspector.protocol import kinds
from inspector.ui.look.icons import kind_icon
from inspector.ui.look.paint_cache import PaintCache

COPY, DETAILS = "Copy", "Open in details"
"""Links in the head of an original; a MORE line is one link to the details."""
_RULE = 2
_INDENT = 12
_COLUMN_GAP = 20
_WIDEST_COLUMN = 260
_LINK_GAP = 20


@dataclass(frozen=True, slots=True)
class Link:
    """A clickable area."""

    rect: QRect
    name: str


class OriginalPainter:
    """Paints and hit-tests the lines of originals."""

    def __init__(self, paints: PaintCache) -> None:
        self._paints = paints

    def links(self, rect: QRect, line: OriginalLine, title: str = "Original") -> list[Link]:
        """Returns the links of a line; `rect` as for `paint`, `title` of its original."""
        paints = self._paints
        if line.kind is OriginalLineKind.MORE:
            width = paints.width("small", line.text)
            return [Link(QRect(rect.x() + _INDENT, rect.y(), width, rect.height()), DETAILS)]
        if line.kind is not OriginalLineKind.HEAD:
            return []
        right = rect.right() + 1 - _INDENT
        room = right - rect.x() - _INDENT - self._head_width(line, title)
        copy, details = paints.width("small", COPY), paints.width("small", DETAILS)
        links: list[Link] = []
        if room >= copy + details + 2 * _LINK_GAP:
            links.append(Link(QRect(right - details, rect.y(), details, rect.height()), DETAILS))
            right -= details + _LINK_GAP
        links.append(Link(QRect(right - copy, rect.y(), copy, rect.height()), COPY))
        return links

    def _head_width(self, line: OriginalLine, title: str) -> int:
        paints = self._paints
        return paints.metrics.icon_row + 6 + paints.width("body-medium", title) + 8 + paints.width("small", line.text)

    def paint(self, painter: QPainter, rect: QRect, original: Original, part: int, hovered: str | None) -> None:
        """Paints one line.

        Args:
            painter: of the viewport.
            rect: the row, from its vertical line to the right edge of the block.
            original: the original of the line.
            part: 1 for its first line.
            hovered: the link under the pointer in this line, or None.
        """
        theme = self._paints.theme
        line = original.lines[part - 1]
        painter.fillRect(rect, theme.color("surface.inset"))
        painter.fillRect(QRect(rect.x(), rect.y(), _RULE, rect.height()), theme.color("line.strong"))
        if line.kind is OriginalLineKind.HEAD:
            self._paint_head(painter, rect, line, original.title)
        elif line.kind in (OriginalLineKind.COLUMNS, OriginalLineKind.RECORD):
            self._paint_cells(painter, rect, original, line)
        elif line.kind is OriginalLineKind.TEXT:
            # prose in the text font, code in the monospaced one
            role = "mono-row" if original.title == "Original" else "body"
            self._paint_text(painter, rect, line.text, role, "ink.secondary")
        elif line.kind is OriginalLineKind.NOTE:
            self._paint_text(painter, rect, line.text, "small", "ink.tertiary")
        self._paint_links(painter, rect, line, original.title, hovered)

    def _paint_head(self, painter: QPainter, rect: QRect, line: OriginalLine, title: str) -> None:
        paints = self._paints
        x = rect.x() + _INDENT
        end = min(link.rect.x() for link in self.links(rect, line, title)) - _INDENT
        x += (
            paints.icon(
                painter, "read_only" if title == "Original" else kind_icon(kinds.FRAME), "ink.tertiary", x, rect
            )
            + 6
        )
        x += paints.draw(painter, "body-medium", "ink.secondary", x, rect, title, end - x) + 8
        paints.draw(painter, "small", "ink.tertiary", x, rect, line.text, max(0, end - x))

    def _paint_text(self, painter: QPainter, rect: QRect, text: str, role: str, token: str) -> None:
        x = rect.x() + _INDENT
        room = rect.right() + 1 - _INDENT - x
        draw = self._paints.draw_chips if wire_text.has_hidden(text) else self._paints.draw
        draw(painter, role, token, x, rect, text, room)

    def _paint_links(self, painter: QPainter, rect: QRect, line: OriginalLine, title: str, hovered: str | None) -> None:
        for link in self.links(rect, line, title):
            text = line.text if line.kind is OriginalLineKind.MORE else link.name
            self._paints.draw(painter, "small", "accent.text", link.rect.x(), rect, text, link.rect.width())
            if link.name == hovered:
                y = rect.center().y() + self._paints.font_metrics("small").ascent() // 2 + 2
                painter.drawLine(link.rect.x(), y, link.rect.right(), y)

    # Tables

    def _paint_cells(self, painter: QPainter, rect: QRect, original: Original, line: OriginalLine) -> None:
        head = line.kind is OriginalLineKind.COLUMNS
        role = "small" if head else "mono-row"
        places = self.column_places(original, rect.width() - 2 * _INDENT)
        for (column, x, width), text in zip(places, line.cells, strict=False):
            shown = wire_text.safe_line(text)
            left = rect.x() + _INDENT + x
            if original.numeric[column]:
                left += max(0, width - self._paints.width(role, shown))
            token = "ink.primary" if column == 0 and not head else "ink.secondary"
            self._paints.draw(painter, role, token, left, rect, shown, width)
        if not head:
            return
        hidden = len(line.cells) - len(places)
        end = rect.right() + 1 - _INDENT
        if hidden:
            self._paints.draw_right(painter, "small", "ink.tertiary", end, rect, f"+{hidden}")
        painter.fillRect(
            QRect(rect.x() + _INDENT, rect.bottom(), end - rect.x() - _INDENT, 1), self._paints.theme.color("line.hair")
        )

    def column_places(self, original: Original, room: int) -> list[tuple[int, int, int]]:
        """Returns (column, x, width) of the table's columns that fit.

        Widths follow the visible lines. The last column takes the rest.
        """
        table = original.table
        places: list[tuple[int, int, int]] = []
        x = 0
        for column in range(len(table[0].cells)):
            natural = max(
                self._paints.width("small" if line is table[0] else "mono-row", wire_text.safe_line(line.cells[column]))
                for line in table
            )
            width = min(natural, _WIDEST_COLUMN)
            if places and x + min(width, 60) > room:
                break
            left = room - x
            last = column == len(table[0].cells) - 1
            places.append((column, x, min(natural if last else width, left)))
            x += width + _COLUMN_GAP
        return places


def paint_gap(painter: QPainter, rect: QRect, paints: PaintCache, sentence: str) -> None:
    """Paints a dashed amber line across a row, with its sentence in the middle."""
    room = max(0, rect.width() - 80)
    if paints.is_wider("column", sentence, room):
        # The first sentence; tooltip and details have the reason.
        sentence = sentence.partition(". ")[0]
    text = paints.elided("column", sentence, room)
    width = paints.width("column", text)
    start = rect.x() + (rect.width() - width) // 2
    middle = rect.y() + rect.height() // 2
    pen = QPen(paints.theme.color("severity.warning"), 1)
    pen.setStyle(Qt.PenStyle.CustomDashLine)
    pen.setDashPattern([3, 3])
    painter.setPen(pen)
    painter.drawLine(rect.x(), middle, start - 12, middle)
    painter.drawLine(start + width + 12, middle, rect.right(), middle)
    paints.draw(painter, "column", "severity.warning", start, rect, text, width)
