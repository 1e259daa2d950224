"""Context growth plot: estimated tokens with and without collapsing, and reported tokens."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from inspector.engine.requests.growth import Growth
from inspector.engine.requests.plots import NameMessage, Window, columns_of, outline
from inspector.present.plot_words import signed_count
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.growth.card import CardText
from inspector.ui.panels.growth.cursor_answer import CursorAnswer
from inspector.ui.panels.growth.figure import Level, Scale, fill, polygon, segments
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.timeline.legend import Key, area_color
from inspector.ui.panels.timeline.shapes import COMPACTED
from inspector.ui.widgets.latest_answer import Client

UNCOLLAPSED, SEEN, SAVED, REPORTED = "ink.tertiary", "accent.ring", "badge.consumed", "ink.primary"
KEYS = (
    Key("without collapsing, estimate", UNCOLLAPSED, "dashed", "uncollapsed"),
    Key("seen by the model, estimate", SEEN, "line", "seen"),
    Key("saved by collapsing", SAVED, "area", "saved"),
)
REPORTED_KEY = Key("reported", REPORTED, "diamond", "reported")
COMPACTED_KEY = Key("compacted", COMPACTED, "dashed", "compacted")
LIMIT_KEY = Key("reported limit", "severity.error", "dashed", "limit")
_DASHED_UP_TO = 500
"""Maximum of corners for a dashed line. Dashes are invisible in a line that changes at every pixel."""
_MAX_SEPARATE, _APART_PX = 100, 6
"""Up to this many reports each is drawn; of more, one per so many pixels."""
_NEAR_LIMIT = 2
"""A limit is drawn up to this multiple of the greatest value, and only named beyond it."""


def _diamond(middle: QPointF, size: int) -> QPolygonF:
    x, y, high, wide = round(middle.x()), round(middle.y()), 0.5 * size, 0.4 * size
    return QPolygonF([QPointF(x, y - high), QPointF(x + wide, y), QPointF(x, y + high), QPointF(x - wide, y)])


class GrowthFigure:
    """The plot of one reader's context.

    Attributes:
        empty: text for a plot without values.
        figures: the drawn context.
    """

    def __init__(
        self, client: Client, axis: TimeAxis, themes: ThemeController, show_card: Callable[[], object]
    ) -> None:
        """Creates an empty plot.

        Args:
            client: asks the engine.
            axis: the visible range of time.
            themes: gives the look.
            show_card: called when the message at the cursor is known.
        """
        self._axis, self._themes = axis, themes
        self._words = CursorAnswer[str](client, show_card)
        self.figures = Growth()
        self.empty = ""
        self._under, self._saved = QPolygonF(), QPolygonF()
        self._uncollapsed = QPolygonF()
        self._seen: list[QLineF] = []
        self.reported: list[QPointF] = []
        self.given: list[QLineF] = []
        self.compacted: list[float] = []

    @property
    def keys(self) -> tuple[Key, ...]:
        """Legend entries of the drawn values."""
        keys = KEYS
        if len(self.figures.report_places):
            keys = (REPORTED_KEY, *keys)
        if len(self.figures.compactions):
            keys = (*keys, COMPACTED_KEY)
        return keys if self.figures.limit is None else (*keys, LIMIT_KEY)

    def show(self, figures: Growth) -> None:
        self.figures = figures
        self._words.drop_answer()

    def _step_at(self, ns: int) -> int:
        """Returns the last step at or before a time, or -1."""
        return int(np.searchsorted(self.figures.places, ns, side="right")) - 1

    def values_at(self, step: int) -> tuple[int, int]:
        """Returns tokens without collapsing and as the model sees it, after a step."""
        return (0, 0) if step < 0 else (int(self.figures.lines[0, step]), int(self.figures.lines[1, step]))

    def _report_at(self, ns: int) -> int | None:
        """Returns the last tokens reported at or before a time."""
        before = np.flatnonzero(self.figures.report_places <= ns)
        return int(self.figures.report_tokens[before[-1]]) if len(before) else None

    # Figure

    def draw(self, window: Window) -> Scale:
        """Reduces the steps to pixel columns."""
        figures, axis = self.figures, self._axis
        columns = columns_of(figures.places, figures.lines, window)
        left = min(max(0.0, axis.x_of(axis.first_ns, window.width)), window.width)
        right = min(max(left, axis.x_of(axis.last_ns, window.width)), window.width)
        (x, whole), (x_seen, seen) = (outline(columns, line, left, right) for line in (0, 1))
        self._uncollapsed = polygon(x, whole)
        self._seen = segments(x_seen, seen)
        self._under = polygon(np.concatenate((x_seen, (right, left))), np.concatenate((seen, (0.0, 0.0))))
        self._saved = polygon(np.concatenate((x, x_seen[::-1])), np.concatenate((whole, seen[::-1])))
        self.reported = self._reported_in(window)
        self.given = self._line_in(window, right)
        x_compacted = axis.xs_of(figures.compaction_places, window.width)
        self.compacted = x_compacted[(x_compacted >= 0) & (x_compacted <= window.width)].tolist()
        return self._scale()

    def _reported_in(self, window: Window) -> list[QPointF]:
        """Returns the places of reports; the greatest of many in one place, so that thousands stay distinguishable."""
        figures = self.figures
        x = self._axis.xs_of(figures.report_places, window.width)
        inside = np.flatnonzero((x >= 0) & (x <= window.width))
        x, y = x[inside], figures.report_tokens[inside].astype(np.float64)
        if len(x) > _MAX_SEPARATE:
            # By pixel cell, the greatest value first.
            order = np.lexsort((-y, (x / _APART_PX).astype(np.int64)))
            first = np.unique((x[order] / _APART_PX).astype(np.int64), return_index=True)[1]
            x, y = x[order][first], y[order][first]
        return [QPointF(*place) for place in zip(x.tolist(), y.tolist(), strict=True)]

    def _line_in(self, window: Window, right: float) -> list[QLineF]:
        """Returns the line through the reported values. Each holds until the next report."""
        figures = self.figures
        if not len(figures.report_places):
            return []
        times = np.maximum.accumulate(figures.report_places)
        first = min(max(0.0, self._axis.x_of(int(times[0]), window.width)), window.width)
        x, y = outline(columns_of(times, figures.report_tokens[None], window), 0, first, max(first, right))
        return [line for line in segments(x, y) if line.y1() or line.dx()]  # no upright from 0 to the first report

    def paint(self, painter: QPainter) -> None:
        theme = self._themes.theme
        wash = QColor(theme.color(SEEN))
        wash.setAlphaF(0.10)
        fill(painter, self._under, wash)
        fill(painter, self._saved, area_color(theme, SAVED))
        # Dashes of a long path are slow to paint and invisible.
        few = self._uncollapsed.size() <= _DASHED_UP_TO
        pen = self._pen(UNCOLLAPSED, 1.5 * theme.zoom if few else 1)
        if few:
            pen.setDashPattern([4, 2])
        painter.setPen(pen)
        painter.drawPolyline(self._uncollapsed)
        painter.setPen(self._pen(SEEN, (1 if self.given else 2) * theme.zoom))
        painter.drawLines(self._seen)
        painter.setPen(self._pen(REPORTED, 2 * theme.zoom))
        painter.drawLines(self.given)
        mark = self._pen(COMPACTED, theme.zoom)
        mark.setDashPattern([3, 3])
        painter.setPen(mark)
        painter.drawLines([QLineF(x, 0, x, self._scale().most) for x in self.compacted])
        places = [painter.transform().map(place) for place in self.reported]
        # Marks have a fixed size in pixels, so they are painted without the scale of the plot.
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("surface.base"), 1))
        painter.setBrush(theme.color(REPORTED))
        size = round(9 * theme.zoom)
        for place in places:
            painter.drawPolygon(_diamond(place, size))

    def _pen(self, token: str, width: float) -> QPen:
        pen = QPen(self._themes.theme.color(token), width)
        pen.setCosmetic(True)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        return pen

    def _scale(self) -> Scale:
        figures = self.figures
        most = int(figures.lines[0].max(initial=0)) if figures.lines.size else 0
        most = max(most, int(figures.report_tokens.max(initial=0)))
        limit, reader = figures.limit, figures.reader
        if limit is None or reader is None:
            return Scale(most or 1)
        words = f"{limit:,} limit, reported by {safe_line(reader.title, 40)}"
        near = limit <= _NEAR_LIMIT * most
        return Scale(max(most, limit) if near else most or 1, (Level(limit, words, "severity.error"),))

    def card(self, ns: int) -> CardText | None:
        """Returns both values, saved tokens, the last report and the message of the last step."""
        step = self._step_at(ns)
        whole, seen = self.values_at(step)
        report = self._report_at(ns)
        rows = [] if report is None else [("last reported", f"{report:,}", REPORTED)]
        rows += [
            ("without collapsing, estimate", f"{whole:,}", "ink.secondary"),
            ("seen by the model, estimate", f"{seen:,}", "accent.text"),
        ]
        if whole > seen:
            rows.append(("saved", f"{whole - seen:,}", SAVED))
        if step < 0:
            return CardText(tuple(rows))
        message = int(self.figures.messages[step])
        if message in self.figures.compactions:
            rows.append(("compacted", f"No. {message + 1:,}", COMPACTED))
        change = seen - self.values_at(step - 1)[1]
        words = self._words.answer_to(NameMessage(message))
        return CardText(tuple(rows), f"{words} {signed_count(change)}" if words is not None else "")

    def dots(self, ns: int) -> list[tuple[float, str]]:
        whole, seen = self.values_at(self._step_at(ns))
        return [(whole, UNCOLLAPSED), (seen, SEEN)] if whole != seen else [(seen, SEEN)]

    def find_message(self, ns: int, found: Callable[[int], object]) -> None:
        if (message := self._message_at(ns)) is not None:
            found(message)

    def _message_at(self, ns: int) -> int | None:
        """Returns the message of the last step."""
        step = self._step_at(ns)
        return int(self.figures.messages[step]) if step >= 0 else None

    def find_time(self, ns: int | None, step: int, found: Callable[[int], object]) -> None:
        if (time := self._next_time(ns, step)) is not None:
            found(time)

    def _next_time(self, ns: int | None, step: int) -> int | None:
        steps = self.figures.places
        if not len(steps):
            return None
        if ns is None:
            return int(steps[0 if step > 0 else -1])
        place = int(np.searchsorted(steps, ns, side="right" if step > 0 else "left")) - (step < 0)
        return int(steps[place]) if 0 <= place < len(steps) else None
