"""Plot of cumulative tokens over time: stacked areas in the colours of the table's bars."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtGui import QColor, QPainter, QPolygonF

from inspector.engine.requests.plots import AxisRange, MessageBefore, NearMessage, NextPosition, Window
from inspector.engine.requests.tokens import COLORS, OTHERS, TokensOverTime
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.growth.card import CardText
from inspector.ui.panels.growth.cursor_answer import CursorAnswer
from inspector.ui.panels.growth.figure import Scale, fill, polygon
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.tokens.model import FILL_ALPHA
from inspector.ui.widgets.latest_answer import Client

_NO_PLOT = TokensOverTime(AxisRange(), (), np.zeros(2, np.int64), np.zeros((1, 1), np.int64))


class OverTimeFigure:
    """Cumulative tokens of the largest rows and of all others together.

    Attributes:
        empty: text for a plot without values.
    """

    def __init__(self, client: Client, axis: TimeAxis, themes: ThemeController, changed: Callable[[], object]) -> None:
        """Creates an empty plot.

        Args:
            client: names the messages at the cursor.
            axis: the visible range of time.
            themes: gives the look.
            changed: called when the message at the cursor is known.
        """
        self._client, self._axis, self._themes = client, axis, themes
        self.empty = ""
        self._areas: list[QPolygonF] = []  # in the order of the names
        self._plot = _NO_PLOT
        self._near = CursorAnswer[NearMessage](client, changed)

    def show(self, plot: TokensOverTime) -> None:
        self._plot = plot
        self._near.drop_answer()
        self.empty = "" if plot.sums[:, -1].any() else "No tokens counted here."

    def _colors(self) -> list[str]:
        return [*COLORS[: len(self._plot.names)], OTHERS]

    def draw(self, window: Window) -> Scale:
        """Stacks the areas, the largest at the bottom."""
        x = np.clip(self._axis.xs_of(self._plot.edges, window.width), 0, window.width)
        below = np.zeros(len(x))
        self._areas.clear()
        for sums in self._plot.sums:
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
        place = int(np.searchsorted(self._plot.edges, ns, side="right")) - 1
        return min(max(place, 0), self._plot.sums.shape[1] - 1)

    def card(self, ns: int) -> CardText | None:
        """Returns the sums up to a time."""
        held = self._plot.sums[:, self._bin(ns)]
        rows = [
            (safe_line(name, 40), f"{int(tokens):,}", token)
            for name, tokens, token in zip((*self._plot.names, "others"), held, self._colors(), strict=True)
            if tokens
        ]
        near = self._near.answer_to(MessageBefore(ns, self._axis.counts))
        total = ("tokens so far", f"{int(held.sum()):,}", "ink.primary")
        return CardText((*rows, total), near.words if near is not None else "")

    def dots(self, ns: int) -> list[tuple[float, str]]:
        return [(float(self._plot.sums[:, self._bin(ns)].sum()), "ink.primary")]

    def find_message(self, ns: int, found: Callable[[int], object]) -> None:
        """Finds the last message up to a time."""
        self._client.send_request(
            MessageBefore(ns, self._axis.counts),
            lambda near: found(near.message) if near.message is not None else None,
        )

    def find_time(self, ns: int | None, step: int, found: Callable[[int], object]) -> None:
        """Finds the time of the next message."""
        self._client.send_request(
            NextPosition(ns, step, self._axis.counts), lambda time: found(time) if time is not None else None
        )
