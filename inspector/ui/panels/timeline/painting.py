"""Paints the lanes: heads, baselines, context bars, spans, marks, the selected chain, cursor and brush.

Straight lines are on whole pixels; only round shapes and curves are antialiased.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPen, QPixmap

from inspector.engine.requests.timeline import (
    DENSE_PX,
    Picture,
    SeenBar,
    SeenLane,
    SeenMark,
    SeenSpan,
    Severity,
    SpanKind,
    TrackPicture,
)
from inspector.present import formats
from inspector.present.wire_text import safe_line
from inspector.ui.look.state_dots import draw_state
from inspector.ui.look.theme import Theme
from inspector.ui.panels.timeline.geometry import head_width, right_margin
from inspector.ui.panels.timeline.shapes import (
    COMPACTED,
    Shapes,
    dense_color,
    draw_break,
    draw_compaction,
    draw_open_end,
    draw_wedge,
)

_TINT, _EDGE = 0.16, 0.5
_OPEN_END = 14
_MIN_LABEL_WIDTH, _MIN_LABEL_WIDTH_AFTER = 34, 60
"""Minimum widths of a label in a bar and after it."""
_MIN_TEXT_WIDTH = 2
"""Minimum width of any label."""
_CAP, _REACH = 20, 8
"""Width of the end sign after a bar; extension of a bar around its outermost messages."""
_STRIP = 10
"""Height of a density strip."""
_MAX_NAME = 120
_DASH = 3
_SIGN = 6
"""Half the side of a compaction sign."""
_ABOVE_COUNT = 13
"""From the middle of a count to that of a compaction sign above it."""
_BREAK = re.compile(r"[ :/#]+")
"""Ends of parts of a name, after which it may go on in a second line."""
_SPAN = 10
"""Height of a span's bar."""
SPAN_FAMILIES = {SpanKind.REQUEST: "tools", SpanKind.PROPOSAL: "proposals", SpanKind.MODEL: "chat"}
_ENDED = ("concluded", "cancelled")


@dataclass(frozen=True, slots=True)
class Overlay:
    """The layer over the lanes.

    Attributes:
        cursor, brushed: pixels on the axis, or None.
        gaps: gaps in the capture, pixels on the axis.
        chain: positions of the selected message's chain, in order of arrival.
        links: index pairs of cause and effect in the chain.
        selected: index of the selected message, or -1.
        focus: True if the view has the keyboard focus.
    """

    cursor: float | None
    brushed: tuple[float, float] | None
    gaps: list[float]
    chain: list[tuple[float, int]]
    links: list[tuple[int, int]]
    selected: int
    focus: bool


def name_lines(metrics: QFontMetrics, name: str, room: int, *, two: bool) -> list[str]:
    """Returns a lane's name on one line, or on two that break between its parts.

    The last line is elided in the middle: names of sub-agents of one type differ at their ends.

    Args:
        metrics: of the font.
        name: the name.
        room: width of a line in pixels.
        two: allows a second line.
    """
    lines: list[str] = []
    if two and metrics.horizontalAdvance(name) > room:
        ends = [found.end() for found in _BREAK.finditer(name) if found.end() < len(name)]
        fitting = [end for end in ends if metrics.horizontalAdvance(name[:end].rstrip()) <= room]
        if fitting:
            lines, name = [name[: fitting[-1]].rstrip()], name[fitting[-1] :]
    return [*lines, metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room)]


class LanesPainter:
    """Paints in one theme; creates fonts and metrics once.

    Attributes:
        label_boxes: boxes of labels in the last painting; y from the top of all lanes.
    """

    def __init__(self, theme: Theme, shapes: Shapes) -> None:
        self._theme = theme
        self._shapes = shapes
        self._name_font, self._small = theme.font("body-medium"), theme.font("small")
        self._name_metrics, self._small_metrics = QFontMetrics(self._name_font), QFontMetrics(self._small)
        self._head = head_width(theme)
        self._reach, self._cap, self._open_end = self._px(_REACH), self._px(_CAP), self._px(_OPEN_END)
        self._pens = {reasoning: _pen_and_brush(theme, reasoning=reasoning) for reasoning in (False, True)}
        self._dash: dict[int, QPixmap] = {}  # by colour
        self.label_boxes: list[QRectF] = []

    def _px(self, pixels: float) -> int:
        return round(pixels * self._theme.zoom)

    def paint(
        self, painter: QPainter, area: QRect, picture: Picture, ticks: list[float],
        breaks: list[tuple[float, float]],
    ) -> None:  # fmt: skip
        """Paints the lanes and their content.

        Args:
            painter: of the view or of a cached pixmap.
            area: the view.
            picture: the visible content.
            ticks: vertical lines of the ruler, pixels on the axis.
            breaks: ends of the silences left out, pixels on the axis.
        """
        theme, head, top = self._theme, self._head, picture.top
        painter.fillRect(area, theme.color("surface.base"))
        hair = theme.color("line.hair")
        for x in ticks:
            painter.fillRect(head + round(x), 0, 1, area.height(), hair)
        self.label_boxes.clear()
        painter.setClipRect(QRect(head, 0, area.width() - head, area.height()))
        for left, right in breaks:
            draw_break(painter, QRectF(head + left, 0, right - left, area.height()), theme)
        painter.translate(0, -top)
        right = area.width() - right_margin(theme)
        painter.setClipRect(QRect(head, top, area.width() - head, area.height()))
        for track in picture.tracks.values():
            self._paint_track(painter, track, right, picture)
        barred: dict[int, list[SeenSpan]] = {}
        for span in picture.spans:
            self._paint_span(painter, span)
            if not span.waits:
                barred.setdefault(span.y, []).append(span)
        for track in picture.tracks.values():
            self._paint_marks(painter, track, picture.densest, barred.get(track.y, []))
        self._paint_problems(painter, picture)
        self._paint_compactions(painter, picture)
        painter.setClipping(False)
        for lane in picture.lanes:
            self._paint_head(painter, lane)
            painter.fillRect(0, lane.bottom - 1, area.width(), 1, hair)
        painter.translate(0, top)
        painter.fillRect(head - 1, 0, 1, area.height(), hair)

    def paint_over(self, painter: QPainter, area: QRect, width: int, top: int, overlay: Overlay) -> None:
        """Paints the layer over the lanes: chain, gaps, brush and cursor.

        Args:
            painter: of the view.
            area: the view.
            width: of the axis.
            top: vertical scroll position.
            overlay: the layer.
        """
        painter.setClipRect(area.adjusted(self._head, 0, 0, 0))
        painter.translate(0, -top)
        self._paint_chain(painter, overlay)
        painter.translate(0, top)
        self._paint_over(painter, area, width, overlay)

    def _paint_head(self, painter: QPainter, lane: SeenLane) -> None:
        theme, left = self._theme, self._theme.metrics.pane_padding
        begin, end = lane.top, lane.bottom
        painter.fillRect(0, begin, self._head, end - begin, theme.color("surface.chrome"))
        room = self._head - left - self._px(9)
        count, one_line = f"{lane.count:,}", end - begin < self._px(50)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        line = QRectF(left, begin, room, self._px(34))
        painter.setFont(self._small)
        painter.setPen(theme.color("ink.tertiary"))
        if one_line:
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, count)
            room -= self._small_metrics.horizontalAdvance(count) + self._px(6)
        else:
            below = formats.count_of(lane.count, "message")
            if lane.space:
                below = f"{safe_line(lane.space, _MAX_NAME)}, {count}"
            second = QRectF(left, begin + self._px(24), room, self._px(18))
            painter.drawText(second, flags, self._elided(self._small_metrics, below, room))
        painter.setFont(self._name_font)
        painter.setPen(theme.color("ink.primary"))
        fits_two = one_line and 2 * self._name_metrics.height() <= line.height()
        name = name_lines(self._name_metrics, safe_line(lane.name, _MAX_NAME), int(room), two=fits_two)
        painter.drawText(line, flags, "\n".join(name))

    def _elided(self, metrics: QFontMetrics, text: str, room: float) -> str:
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(room))

    # Tracks

    def _paint_track(self, painter: QPainter, track: TrackPicture, right: int, picture: Picture) -> None:
        theme, head = self._theme, self._head
        if track.base:
            painter.fillRect(head, track.y, right - head, 1, theme.color("line.strong"))
            return
        high = self._px(18)
        top = track.y - high // 2
        for begin, end in track.crowd:
            painter.fillRect(head + begin, top, max(1, end - begin), high, theme.color("line.strong"))
        begins = [head + begin for begin, _ in track.crowd]
        following = [*(one.left - self._reach + head for one in track.bars[1:]), right]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for seen, next_left in zip(track.bars, following, strict=False):
            # A bar ends before a crowd of bars that are too narrow to be drawn.
            crowd = bisect_right(begins, head + seen.right) if begins else 0
            until = min(right, next_left - 2, begins[crowd] if crowd < len(begins) else right)
            self._paint_bar(painter, seen, top, high, track.marks, picture, until)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_bar(
        self, painter: QPainter, seen: SeenBar, top: int, high: int, marks: list[SeenMark], picture: Picture,
        until: float,
    ) -> None:  # fmt: skip
        """Paints a context's bar with label and end sign.

        Pens and brushes are prepared, because there are thousands of bars.
        """
        state, reach, open_end = seen.state, self._reach, self._open_end
        left, right = max(seen.left, -50), min(seen.right, picture.width + 50)
        box = QRectF(self._head + left - reach + 0.5, top + 0.5, right - left + 2 * reach - 1, high - 1)
        pen, brush = self._pens[seen.reasoning]
        painter.setPen(pen)
        painter.setBrush(brush)
        ended = state in _ENDED
        if not ended:
            box.setRight(box.right() + open_end - 4)
        box.setRight(max(min(box.right(), until), box.left() + self._px(6)))  # the next bar begins there
        if ended or box.width() < 2 * open_end:
            radius = self._theme.metrics.radius_mark
            painter.drawRoundedRect(box, radius, radius)
        else:
            self._paint_open(painter, box)
        has_cap = ended and box.right() + self._cap <= until
        if has_cap:
            place = QPointF(box.right() + self._px(9), top + high / 2)
            draw_state(painter, place, state, self._theme, implicit=False, halo=0)
        self._paint_label(painter, seen, box, marks, (box.right() + (self._cap if has_cap else self._px(4)), until))

    def _paint_open(self, painter: QPainter, box: QRectF) -> None:
        """Paints a bar without an end; it fades out in stripes."""
        edge = box.right() - self._open_end + 0.5
        radius = self._theme.metrics.radius_mark
        path = QPainterPath()
        path.moveTo(edge, box.top())
        path.lineTo(box.left() + radius, box.top())
        path.quadTo(box.left(), box.top(), box.left(), box.top() + radius)
        path.lineTo(box.left(), box.bottom() - radius)
        path.quadTo(box.left(), box.bottom(), box.left() + radius, box.bottom())
        path.lineTo(edge, box.bottom())
        painter.drawPath(path)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        stripes = box.adjusted(0, -0.5, 0, 0.5)
        draw_open_end(painter, edge + self._px(3), stripes, self._theme, painter.pen().color())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _paint_label(
        self, painter: QPainter, seen: SeenBar, box: QRectF, marks: list[SeenMark], after: tuple[float, float]
    ) -> None:
        """Paints the context's name in the first gap between marks that fits, or in the widest gap.

        If all gaps are too narrow, the name is painted after the bar, in the span `after`.
        """
        zoom, pad = self._theme.zoom, self._px(8)
        begin, end = max(box.left(), self._head) + pad, box.right() - pad
        if seen.state not in _ENDED:
            end -= self._open_end
        behind = after[0], after[1] - pad
        if not seen.label or max(end - begin, behind[1] - behind[0]) < _MIN_TEXT_WIDTH:
            return
        words = safe_line(seen.label, _MAX_NAME)
        wanted = self._small_metrics.horizontalAdvance(words) + _MIN_TEXT_WIDTH
        rooms: list[tuple[float, float]] = []
        for one in marks:
            x, half = self._head + one.mark.x, one.mark.half * zoom + self._px(5)
            if begin - half < x < end + half:
                rooms.append((begin, x - half))
                begin = max(begin, x + half)
        rooms.append((begin, end))
        place = next((room for room in rooms if room[1] - room[0] >= wanted), None)
        place = place or max(rooms, key=lambda room: room[1] - room[0])
        if place[1] - place[0] < min(wanted, self._px(_MIN_LABEL_WIDTH)):
            place = behind
            if place[1] - place[0] < min(wanted, self._px(_MIN_LABEL_WIDTH_AFTER)):
                return
        painter.setFont(self._small)
        painter.setPen(self._theme.color("ink.secondary"))
        line = QRectF(place[0], box.top(), place[1] - place[0], box.height())
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        shown = self._elided(self._small_metrics, words, line.width())
        self.label_boxes.append(QRectF(line.x(), line.y(), self._small_metrics.horizontalAdvance(shown), line.height()))
        painter.drawText(line, flags, shown)

    def _paint_span(self, painter: QPainter, span: SeenSpan) -> None:
        """Paints a bar of a span's duration, dashed while it is unanswered."""
        color = QColor(self._theme.family_color(SPAN_FAMILIES[span.sort]))
        color.setAlphaF(0.75)
        y = span.y
        left, right = self._head + round(max(span.left, -20)), self._head + round(span.right)
        if span.waits:
            painter.drawTiledPixmap(left, y, max(0, right - left), 2, self._dashes(color))
        else:
            high = self._px(_SPAN)
            painter.fillRect(left, y - high // 2, max(1, right - left), high, color)

    def _dashes(self, color: QColor) -> QPixmap:
        """Returns one dash and its gap as a tile. A long line has too many dashes to paint each."""
        found = self._dash.get(color.rgba())
        if found is None:
            found = self._dash[color.rgba()] = QPixmap(2 * _DASH, 2)
            found.fill(Qt.GlobalColor.transparent)
            painter = QPainter(found)
            painter.fillRect(0, 0, _DASH, 2, color)
            painter.end()
        return found

    def _paint_marks(self, painter: QPainter, track: TrackPicture, densest: int, bars: Sequence[SeenSpan]) -> None:
        """Paints the marks of messages. Counts are omitted where span bars already show the messages."""
        high, wide = self._px(_STRIP), round(DENSE_PX * self._theme.zoom)
        for one in track.marks:
            x, mark = self._head + one.mark.x, one.mark
            token = "ink.tertiary" if one.family is None else f"family.{one.family.name.lower()}"
            if mark.dense:
                color = dense_color(self._theme, token, mark.count / densest, hidden=mark.hidden)
                painter.fillRect(round(x - wide / 2), track.y - high // 2, wide, high, color)
            elif mark.count == 1 and one.family is not None:
                self._shapes.draw(painter, x, track.y, one.family, hidden=mark.hidden)
            elif not any(bar.left <= mark.last_x and bar.right >= mark.first_x for bar in bars):
                self._shapes.draw_count(painter, x, track.y, mark.count, token, hidden=mark.hidden)

    def _paint_compactions(self, painter: QPainter, picture: Picture) -> None:
        """Paints a dashed line across the lane, and the sign in place of the message's mark or above a count."""
        pen = QPen(self._theme.color(COMPACTED), 1)
        pen.setDashPattern([3, 3])
        for one in picture.compactions:
            x = self._head + round(one.x)
            painter.setPen(pen)
            painter.drawLine(x, one.top, x, one.bottom - 2)
            side, y = self._px(_SIGN), one.y - self._px(_ABOVE_COUNT) * one.at_count
            painter.fillRect(QRect(x - side, y - side, 2 * side, 2 * side), self._theme.color("surface.base"))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_compaction(painter, QPointF(x + 0.5, y + 0.5), self._theme)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_problems(self, painter: QPainter, picture: Picture) -> None:
        """Paints a small wedge above the mark."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        zoom = self._theme.zoom
        for problem in picture.problems:
            token = "severity.error" if problem.severity >= Severity.ERROR else "severity.warning"
            above = (9.5 if problem.on_count else 6.5) * zoom
            draw_wedge(painter, QPointF(self._head + problem.x, problem.y - above), self._theme, token)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    # Layer over the lanes

    def _paint_chain(self, painter: QPainter, overlay: Overlay) -> None:
        if not overlay.chain:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        zoom, ring = self._theme.zoom, self._theme.color("accent.ring")
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(ring, 1.5 * zoom))
        places = [QPointF(self._head + x, y) for x, y in overlay.chain]
        for one, other in ((places[cause], places[effect]) for cause, effect in overlay.links):
            if abs(one.y() - other.y()) > 1 or other.x() - one.x() > 14 * zoom:
                path = QPainterPath(one)
                bend = (other.y() - one.y()) * 0.4 or 0.0
                lift = -9 * zoom if not bend else 0.0
                path.cubicTo(
                    QPointF(one.x() + 2, one.y() + bend + lift), QPointF(other.x() - 2, other.y() - bend + lift), other
                )
                painter.drawPath(path)
        for place, point in enumerate(places):
            selected = place == overlay.selected
            painter.setPen(QPen(ring, (2.5 if selected else 1.5) * zoom))
            reach = (6.5 if selected else 5.5) * zoom
            painter.drawEllipse(point, reach, reach)
        if overlay.focus and 0 <= overlay.selected < len(places):
            painter.setPen(QPen(ring, 1))
            painter.drawEllipse(places[overlay.selected], 9.5 * zoom, 9.5 * zoom)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_over(self, painter: QPainter, area: QRect, width: int, overlay: Overlay) -> None:
        theme = self._theme
        for x in overlay.gaps:
            for y in range(0, area.height(), 6):
                painter.fillRect(self._head + round(x), y, 1, 3, theme.color("severity.warning"))
        if overlay.brushed is not None:
            left, right = (round(min(max(x, 0), width)) + self._head for x in overlay.brushed)
            wash = QColor(theme.color("accent.ring"))
            wash.setAlphaF(0.14)
            painter.fillRect(left, 0, max(1, right - left), area.height(), wash)
            for x in (left, right):
                painter.fillRect(x, 0, 1, area.height(), theme.color("accent.ring"))
        if overlay.cursor is not None and 0 <= overlay.cursor <= width:
            painter.fillRect(self._head + round(overlay.cursor), 0, 1, area.height(), theme.color("ink.secondary"))


def _pen_and_brush(theme: Theme, *, reasoning: bool) -> tuple[QPen, QColor]:
    """Returns the pen and fill of context bars."""
    color = QColor(theme.family_color("reasoning") if reasoning else theme.color("ink.tertiary"))
    edge = QColor(color)
    color.setAlphaF(_TINT if reasoning else _TINT * 0.75)
    edge.setAlphaF(_EDGE if reasoning else _EDGE * 0.7)
    return QPen(edge, 1), color
