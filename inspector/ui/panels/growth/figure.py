"""The interface of a plot to its canvas, and drawing helpers of all plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QByteArray, QDataStream, QLineF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF

from inspector.engine.requests.plots import Window
from inspector.ui.panels.growth.card import CardText


@dataclass(frozen=True, slots=True)
class Level:
    """A named value: a dashed line, or only its label if it is beyond the scale.

    Attributes:
        value: its height.
        words: its label.
        token: its colour.
    """

    value: float
    words: str
    token: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Vertical range of a plot.

    Attributes:
        most: the greatest visible value.
        levels: named values.
    """

    most: float
    levels: Sequence[Level] = ()


def polygon(x: NDArray[np.float64], y: NDArray[np.float64]) -> QPolygonF:
    """Returns (n,) corners as a polygon, without a Python object per corner."""
    corners = QPolygonF()
    # The wire format of QDataStream: a count, then pairs of big-endian doubles.
    data = len(x).to_bytes(4, "big") + np.stack((x, y), axis=1).astype(">f8").tobytes()
    QDataStream(QByteArray(data)) >> corners  # pyright: ignore[reportUnusedExpression] - it reads them
    return corners


def segments(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[QLineF]:
    """Splits a step line of (n,) corners into pieces. Qt may take seconds for a broad pen on one long path."""
    begins = np.flatnonzero(np.diff(x, prepend=np.nan))  # index of the first corner in each pixel column
    low, high = np.minimum.reduceat(y, begins), np.maximum.reduceat(y, begins)
    upright = np.stack((x[begins], low, x[begins], high), axis=1)[low != high]
    after = begins[1:]
    level = np.stack((x[after - 1], y[after - 1], x[after], y[after]), axis=1)
    return [QLineF(*ends) for ends in np.concatenate((upright, level)).tolist()]


def fill(painter: QPainter, area: QPolygonF, color: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPolygon(area)


class Figure(Protocol):
    """One plot: x in pixels from the left end of the axis, y in its own units."""

    empty: str
    """Text for a plot without values; "" otherwise."""

    def draw(self, window: Window) -> Scale:
        """Computes the visible range."""
        ...

    def paint(self, painter: QPainter) -> None:
        """Paints the computed range. Pens are cosmetic, because the painter scales y."""
        ...

    def card(self, ns: int) -> CardText | None:
        """Returns the values at a time."""
        ...

    def dots(self, ns: int) -> list[tuple[float, str]]:
        """Returns values and colours that the cursor marks at a time."""
        ...

    def find_message(self, ns: int, found: Callable[[int], object]) -> None:
        """Calls `found`, now or later, with the message that a click at a time selects, if there is one."""
        ...

    def find_time(self, ns: int | None, step: int, found: Callable[[int], object]) -> None:
        """Calls `found`, now or later, with the next time for an arrow key, unless this is the end."""
        ...
