"""Messages per second by kind: bars of equal duration, stacked by family."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from inspector.engine.requests.plots import PER_MESSAGE, NextPosition, Window
from inspector.engine.requests.rates import NAMES, BarMessages, Bins, CountRates, DescribeBar, Rates, bin_width
from inspector.present import formats
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.growth.card import CardText
from inspector.ui.panels.growth.cursor_answer import CursorAnswer
from inspector.ui.panels.growth.figure import Scale
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.timeline.legend import Key
from inspector.ui.widgets.latest_answer import Client

_ANY_WIDTH = 1_000
"""Width of the axis before the first drawing, pixels."""
_GREYS = {"gateway": "line.control", "unknown": "line.strong"}
"""Families whose usual colours are too similar for stacked bars."""


def family_token(name: str) -> str:
    return _GREYS.get(name, f"family.{name}")


class RatesFigure:
    """The bars of one document.

    Attributes:
        empty: text for a plot without values.
    """

    def __init__(
        self, client: Client, axis: TimeAxis, themes: ThemeController,
        ask: Callable[[], object], show_card: Callable[[], object],
    ) -> None:  # fmt: skip
        """Creates an empty plot.

        Args:
            client: asks the engine.
            axis: the visible range of time.
            themes: gives the look.
            ask: called when bars of another range are needed (`question`).
            show_card: called when the messages at the cursor are known.
        """
        self._client, self._axis, self._themes, self._ask = client, axis, themes, ask
        self.empty = ""
        self._window: Window | None = None
        self._asked: CountRates | None = None
        self._rates: Rates | None = None  # the drawn bars; the last ones until others are known
        self._asked_bar = CursorAnswer[BarMessages](client, show_card)
        self._bars: list[list[QRectF]] = []  # by family

    def question(self) -> CountRates:
        """Returns the request for the bars of the visible range."""
        axis, window = self._axis, self._window or self._axis.window(_ANY_WIDTH)
        bar = bin_width(axis.span_ns, window.width)
        self._asked = CountRates(
            axis.first_ns, window.left_ns, window.right_ns, max(PER_MESSAGE, bar) if axis.counts else bar,
            axis.counts, axis.scale.breaks,
        )  # fmt: skip
        return self._asked

    def show(self, rates: Rates) -> None:
        self._rates = rates
        self._asked_bar.drop_answer()
        self.empty = "" if any(rates.totals) else "No message yet."

    @property
    def _bins(self) -> Bins | None:
        return self._rates.bins if self._rates is not None else None

    @property
    def keys(self) -> tuple[Key, ...]:
        """Families that have messages, as legend entries."""
        counts = self._rates.totals if self._rates is not None else ()
        return tuple(Key(name, family_token(name), "bar") for name, n in zip(NAMES, counts, strict=False) if n)

    # Figure

    def draw(self, window: Window) -> Scale:
        axis, self._window = self._axis, window
        if (before := self._asked) != self.question():
            self._asked = before
            self._ask()
        rates = self._rates
        self._bars.clear()
        if rates is None:
            return Scale(1)
        bins = rates.bins
        x = np.round(axis.xs_of(bins.edges, window.width))
        # A gap of one pixel between bars, and at least one pixel of width.
        left, right = x[:-1], np.maximum(x[1:] - 1, x[:-1] + 1)
        inside = right > 0
        below = np.zeros(len(left))
        left = np.maximum(left, 0)
        for counts in bins.counts:
            high = counts / rates.seconds
            some = inside & (counts > 0)
            bars = np.stack((left, below, right - left, high), axis=1)[some]
            self._bars.append([QRectF(*bar) for bar in bars.tolist()])
            below = below + high
        return Scale(float(below[inside].max(initial=0)) or 1)

    def paint(self, painter: QPainter) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        for name, bars in zip(NAMES, self._bars, strict=False):
            painter.setBrush(self._themes.theme.color(family_token(name)))
            painter.drawRects(bars)

    def _bin(self, ns: int) -> int | None:
        bins = self._bins
        if bins is None:
            return None
        place = int(np.searchsorted(bins.edges, ns, side="right")) - 1
        return place if 0 <= place < bins.counts.shape[1] else None

    def _bar(self, bins: Bins, place: int) -> DescribeBar:
        return DescribeBar(int(bins.edges[place]), int(bins.edges[place + 1]), self._axis.counts)

    def card(self, ns: int) -> CardText | None:
        """Returns the time range, the count of each family and the most frequent kind."""
        place, rates = self._bin(ns), self._rates
        if place is None or rates is None:
            return None
        bins = rates.bins
        counts, total = bins.counts[:, place], int(bins.counts[:, place].sum())
        begin, end = (int(ns) for ns in bins.edges[place : place + 2])
        step = min(bins.width_ns, 1_000_000_000)
        since, until = self._axis.words_of(begin, step), self._axis.words_of(end, step)
        if self._axis.counts:
            until = self._axis.words_of(end - 1)
        rate = total / float(rates.seconds[place])
        words = f"{rate:,.0f}" if rate >= 10 or rate == int(rate) else f"{rate:,.2g}"
        rows = [(f"{since} to {until}", f"{words} per second", "ink.primary")]
        rows += [
            (name, formats.count_of(int(n), "message"), family_token(name))
            for name, n in zip(NAMES, counts, strict=True)
            if n
        ]
        answer = self._asked_bar.answer_to(self._bar(bins, place)) if total else BarMessages(words="No messages")
        return CardText(tuple(rows), answer.words if answer is not None else "")

    def dots(self, ns: int) -> list[tuple[float, str]]:
        """Returns nothing: bars have no marks."""
        return []

    def find_message(self, ns: int, found: Callable[[int], object]) -> None:
        """Finds the earliest message of a bar."""
        place, bins = self._bin(ns), self._bins
        if place is not None and bins is not None:
            self._client.send_request(
                self._bar(bins, place), lambda bar: found(bar.earliest) if bar.earliest is not None else None
            )

    def find_time(self, ns: int | None, step: int, found: Callable[[int], object]) -> None:
        """Finds the middle of the next bar that is not empty, or the next message beyond the visible range."""
        bins = self._bins
        if bins is None:
            return
        full, edges = np.flatnonzero(bins.totals), bins.edges
        here = None if ns is None else self._bin(ns)
        if here is not None:
            full = full[full > here] if step > 0 else full[full < here]
        if len(full):
            place = full[0 if step > 0 else -1]
            found(int(edges[place] + (edges[place + 1] - edges[place]) // 2))
        elif ns is not None:
            # Up to the last bar, or from the first one, there is no message that it does not show.
            border = int(edges[-1]) - 1 if step > 0 else int(edges[0])
            self._client.send_request(
                NextPosition(border, step, self._axis.counts), lambda time: found(time) if time is not None else None
            )
