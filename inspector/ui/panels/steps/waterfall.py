"""Paints bars of steps on a time axis: by class, hatched for persons, red for failures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from inspector.engine.requests.steps import Bar, State, StepRows
from inspector.ui.look.hatch import paint_hatch
from inspector.ui.look.theme import Theme
from inspector.ui.panels.steps.step_axis import StepAxis

BAR_PX, _LINE_PX, _LEAST_PX, _PATH_PX = 10, 4, 2, 2
_NO_TIME = np.iinfo(np.int64).min


def bar_color(theme: Theme, bar: int, *, failed: bool = False) -> QColor:
    """Returns the colour of a bar."""
    if failed:
        return theme.color("severity.error")
    return theme.color("accent.fill" if bar == Bar.MODEL else "family.tools")


def fill_bar(painter: QPainter, theme: Theme, box: QRectF, bar: int, *, failed: bool = False) -> None:
    """Paints one bar. A person's is hatched, so that it reads without colour."""
    painter.setPen(Qt.PenStyle.NoPen)
    radius = min(2.0, box.width() / 2)
    if bar == Bar.PERSON or (bar == Bar.ALLOWED and not failed):
        paint_hatch(painter, theme, box, "family.tools" if bar == Bar.ALLOWED else "")
        return
    painter.setBrush(bar_color(theme, bar, failed=failed))
    painter.drawRoundedRect(box, radius, radius)


def bars_below(rows: StepRows, place: int) -> NDArray[np.int64]:
    """Returns the rows with own bars from a row to the last one below it."""
    inside = np.arange(place, int(rows.ends[place]))
    return inside[np.isin(rows.bars[inside], (Bar.MODEL, Bar.TOOL, Bar.PERSON, Bar.ALLOWED))]


def paint_row(
    painter: QPainter, theme: Theme, axis: StepAxis, rows: StepRows, place: int, cell: QRect, *, is_open: bool
) -> None:
    """Paints the bars of a row; a closed group has the bars of all its steps."""
    painter.save()
    painter.setClipRect(cell)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    width, zoom = max(1, cell.width()), theme.zoom
    high = round(BAR_PX * zoom)
    top = cell.top() + (cell.height() - high) // 2
    bar, parent = int(rows.bars[place]), int(rows.ends[place]) > place + 1
    if bar == Bar.NONE:
        _paint_moment(painter, theme, axis, rows, place, QRect(cell.left(), top, width, high))
    if bar == Bar.WHOLE:
        _paint_line(painter, theme, axis, rows, place, QRect(cell.left(), cell.top(), width, cell.height()))
    shown = bars_below(rows, place) if parent and not is_open else np.array([place]) if bar not in (0, 4) else None
    if shown is not None and len(shown):
        _paint_bars(painter, theme, axis, rows, shown, QRect(cell.left(), top, width, high))
        _paint_waits(painter, theme, axis, rows, place, QRect(cell.left(), top, width, high))
    if len(rows.path_rows):
        last = place + 1 if is_open else int(rows.ends[place])
        _paint_path(painter, theme, axis, rows, (place, last), QRect(cell.left(), top + high + 2, width, _PATH_PX))
    painter.restore()


def _paint_waits(
    painter: QPainter, theme: Theme, axis: StepAxis, rows: StepRows, place: int, box: QRect
) -> None:  # fmt: skip
    """Hatches the times in which a call waited for a person's permission."""
    first, last = np.searchsorted(rows.wait_rows, (place, place + 1))
    for begin, end in zip(rows.wait_starts_ns[first:last], rows.wait_stops_ns[first:last], strict=True):
        left, right = (min(max(axis.x_of(int(ns), box.width()), -20), box.width() + 20) for ns in (begin, end))
        if right > left:
            area = QRectF(box.left() + left, box.top(), right - left, box.height())
            painter.fillRect(area, theme.color("surface.base"))
            paint_hatch(painter, theme, area)


def _paint_path(
    painter: QPainter, theme: Theme, axis: StepAxis, rows: StepRows, places: tuple[int, int], box: QRect
) -> None:  # fmt: skip
    """Paints a line below the bars where their steps are on a critical path."""
    first, last = np.searchsorted(rows.path_rows, places)
    width = box.width()
    lefts = np.clip(axis.xs_of(rows.path_starts_ns[first:last], width), -1, width + 1)
    rights = np.clip(axis.xs_of(rows.path_stops_ns[first:last], width), -1, width + 1)
    spans = np.stack((np.floor(lefts), np.maximum(np.ceil(rights), np.floor(lefts) + 1)), axis=1)
    for left, right in np.unique(spans[rights > 0], axis=0).tolist() if len(spans) else ():
        painter.fillRect(QRectF(box.left() + left, box.top(), right - left, box.height()), theme.color("ink.primary"))


def _paint_moment(
    painter: QPainter, theme: Theme, axis: StepAxis, rows: StepRows, place: int, box: QRect
) -> None:  # fmt: skip
    start = int(rows.starts_ns[place])
    if start == _NO_TIME:
        return
    x = box.left() + axis.x_of(start, box.width())
    color = "severity.error" if rows.states[place] == State.FAILED else "line.control"
    painter.fillRect(QRectF(x, box.top(), 2, box.height()), theme.color(color))


def _paint_line(painter: QPainter, theme: Theme, axis: StepAxis, rows: StepRows, place: int, box: QRect) -> None:
    start, stop = int(rows.starts_ns[place]), int(rows.stops_ns[place])
    if _NO_TIME in (start, stop):
        return
    left = max(box.left() - 10, box.left() + axis.x_of(start, box.width()))
    right = min(box.right() + 10, box.left() + axis.x_of(stop, box.width()))
    if right <= left:
        right = left + _LEAST_PX
    high = round(_LINE_PX * theme.zoom)
    line = QRectF(left, box.top() + (box.height() - high) / 2, right - left, high)
    painter.setPen(QPen(theme.color("line.strong"), 1))
    painter.setBrush(theme.color("surface.inset"))
    painter.drawRoundedRect(line, 2, 2)


def _paint_bars(
    painter: QPainter, theme: Theme, axis: StepAxis, rows: StepRows, places: NDArray[np.int64], box: QRect
) -> None:
    """Paints bars; ones that fall on the same pixels are painted once."""
    width = box.width()
    lefts = box.left() + np.clip(axis.xs_of(rows.starts_ns[places], width), -20, width + 20)
    rights = box.left() + np.clip(axis.xs_of(rows.stops_ns[places], width), -20, width + 20)
    rights = np.maximum(rights, lefts + _LEAST_PX)
    inside = (rights >= box.left()) & (lefts <= box.right() + 1)
    failed = rows.states[places] == State.FAILED
    classes = np.where(failed, 9, rows.bars[places])[inside].astype(np.int64)
    spans = np.stack((np.round(lefts[inside]).astype(np.int64), np.round(rights[inside]).astype(np.int64), classes))
    if not spans.shape[1]:
        return
    # Failures last, so that they are seen.
    unique = np.unique(spans[::-1], axis=1)[::-1]
    for left, right, kind in unique.T.tolist():
        fill_bar(
            painter, theme, QRectF(left, box.top(), max(right - left, _LEAST_PX), box.height()), kind, failed=kind == 9
        )


def paint_grid(painter: QPainter, theme: Theme, axis: StepAxis, box: QRect) -> None:
    """Paints the lines of ticks, and idle times left out as dashed lines, in a cell or below all rows."""
    width = max(1, box.width())
    painter.save()
    painter.setClipRect(box)
    painter.setPen(QPen(theme.color("line.hair"), 1))
    for ns, _ in axis.ticks(width):
        x = round(box.left() + axis.x_of(ns, width))
        painter.drawLine(x, box.top(), x, box.bottom())
    for left, right in axis.breaks_shown(width):
        gap = QRectF(box.left() + left, box.top(), max(3.0, right - left), box.height())
        painter.fillRect(gap, QBrush(theme.color("surface.inset")))
        pen = QPen(theme.color("line.control"), 1)
        pen.setDashPattern([1, 3])
        painter.setPen(pen)
        painter.drawLine(QPointF(gap.center().x(), gap.top()), QPointF(gap.center().x(), gap.bottom()))
    painter.restore()
