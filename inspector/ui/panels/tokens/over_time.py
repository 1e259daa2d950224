"""Plot of cumulative tokens over time: stacked areas in the colours of the table's bars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QPainter, QPolygonF

from inspector.analysis.views.summaries.token_shares import Grouping, tokens_over_time
from inspector.analysis.views.timeline.track_marks import Window
from inspector.base.slices import SlicedWork
from inspector.document.document import CaptureDocument
from inspector.present.plot_words import message_words
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.growth.card import CardText
from inspector.ui.panels.growth.figure import Scale, fill, polygon
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.tokens.model import COLORS, FILL_ALPHA, OTHERS, TokenRow

_BINS = 600
"""Time resolution over the whole capture."""


class OverTimeFigure:
    """Cumulative tokens of the largest rows and of all others together.

    Attributes:
        empty: text for a plot without values.
    """

    def __init__(self, document: CaptureDocument, axis: TimeAxis, themes: ThemeController) -> None:
        self._document, self._axis, self._themes = document, axis, themes
        self.empty = ""
        self._areas: list[QPolygonF] = []  # in the order of `_names`
        self._names = ["others"]
        self._times: NDArray[np.int64] = np.zeros(0, np.int64)
        self._edges = np.zeros(2, np.int64)
        self._sums = np.zeros((1, 1), np.int64)

    def showing(
        self, way: Grouping, rows: Sequence[TokenRow], times: NDArray[np.int64], counted: NDArray[np.integer] | None
    ) -> SlicedWork[None]:
        """Computes the sums. O(messages) in numpy.

        Args:
            way: the meaning of a row.
            rows: rows with an area of their own, the largest first.
            times: (n,) int64, times of messages.
            counted: the counted messages; all by default.
        """
        first, last = self._axis.first_ns, self._axis.last_ns
        scale = self._axis.scale
        begin, end = scale.place(first), scale.place(last)
        width = max(1, -(-(end - begin + 1) // _BINS))
        edges = scale.times(begin + np.arange(_BINS + 1) * np.int64(width))
        keys = [row.key for row in rows]
        sums = yield from tokens_over_time(self._document.analysis, times, edges, keys, way, counted)
        self._times, self._edges = times, edges
        self._names = [*(row.whole_name for row in rows), "others"]
        self._sums = np.cumsum(sums, axis=1)
        self.empty = "" if self._sums[:, -1].any() else "No tokens counted here."

    def _colors(self) -> list[str]:
        return [*COLORS[: len(self._names) - 1], OTHERS]

    def draw(self, window: Window) -> Scale:
        """Stacks the areas, the largest at the bottom."""
        x = np.clip(self._axis.xs_of(self._edges, window.width), 0, window.width)
        below = np.zeros(len(x))
        self._areas.clear()
        for sums in self._sums:
            above = below + np.append(0, sums)
            self._areas.append(polygon(np.concatenate((x, x[::-1])), np.concatenate((above, below[::-1]))))
            below = above
        return Scale(float(below[-1]) or 1)

    def paint(self, painter: QPainter) -> None:
        for area, token in zip(self._areas, self._colors(), strict=False):
            color = QColor(self._themes.theme.color(token))
            color.setAlphaF(FILL_ALPHA)
            fill(painter, area, color)

    def _bin(self, ns: int) -> int:
        return min(max(int(np.searchsorted(self._edges, ns, side="right")) - 1, 0), self._sums.shape[1] - 1)

    def card(self, ns: int) -> CardText | None:
        """Returns the sums up to a time."""
        held = self._sums[:, self._bin(ns)]
        rows = [
            (safe_line(name, 40), f"{int(tokens):,}", token)
            for name, tokens, token in zip(self._names, held, self._colors(), strict=True)
            if tokens
        ]
        message = self.message_at(ns)
        words = message_words(self._document, message) if message is not None else ""
        return CardText((*rows, ("tokens so far", f"{int(held.sum()):,}", "ink.primary")), words)

    def dots(self, ns: int) -> list[tuple[float, str]]:
        return [(float(self._sums[:, self._bin(ns)].sum()), "ink.primary")]

    def message_at(self, ns: int) -> int | None:
        """Returns the last message up to a time."""
        rows = np.flatnonzero(self._times <= ns)
        return int(rows[-1]) if len(rows) else None

    def next_time(self, ns: int | None, step: int) -> int | None:
        """Returns the time of the next message."""
        if not len(self._times):
            return None
        if ns is None:
            return int(self._times.min() if step > 0 else self._times.max())
        further = self._times[self._times > ns] if step > 0 else self._times[self._times < ns]
        return int(further.min() if step > 0 else further.max()) if len(further) else None
