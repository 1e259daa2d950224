"""What a plot is to the canvas it is drawn on; and what all plots here share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QByteArray, QDataStream, QLineF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF

from inspector.analysis.views.timeline.marks import Window
from inspector.ui.panels.growth.card import CardText


@dataclass(frozen=True, slots=True)
class Level:
    """A value that is named: a dashed line across, or only its words where it lies beyond the scale.

    Attributes:
        value: where it is.
        words: what it is.
        token: its colour.
    """

    value: float
    words: str
    token: str


@dataclass(frozen=True, slots=True)
class Scale:
    """How high a plot reaches.

    Attributes:
        most: the greatest value to be seen.
        levels: values that are named.
    """

    most: float
    levels: Sequence[Level] = ()


def polygon(x: NDArray[np.float64], y: NDArray[np.float64]) -> QPolygonF:
    """(n,) corners as Qt draws them, without an object of Python for each."""
    corners = QPolygonF()
    data = len(x).to_bytes(4, "big") + np.stack((x, y), axis=1).astype(">f8").tobytes()
    QDataStream(QByteArray(data)) >> corners  # pyright: ignore[reportUnusedExpression]  it reads them
    return corners


def segments(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[QLineF]:
    """A line of (n,) corners that goes in steps, piece by piece: a broad one as a whole may take Qt seconds."""
    begins = np.flatnonzero(np.diff(x, prepend=np.nan))  # of the corners in each column
    low, high = np.minimum.reduceat(y, begins), np.maximum.reduceat(y, begins)
    upright = np.stack((x[begins], low, x[begins], high), axis=1)[low != high]
    after = begins[1:]
    level = np.stack((x[after - 1], y[after - 1], x[after], y[after]), axis=1)
    return [QLineF(*ends) for ends in np.concatenate((upright, level)).tolist()]


def fill(painter: QPainter, area: QPolygonF, color: QColor) -> None:
    """Fill an area that has no outline."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPolygon(area)


class Figure(Protocol):
    """One plot: x are pixels from the axis' left end, y its own values."""

    empty: str
    """What is said where there is nothing to draw; "" otherwise."""

    def draw(self, window: Window) -> Scale:
        """Work out what is shown of the time."""
        ...

    def paint(self, painter: QPainter) -> None:
        """Paint what was worked out last, in the theme's colours; pens are cosmetic, for the painter scales y."""
        ...

    def card(self, ns: int) -> CardText | None:
        """What is said at a time."""
        ...

    def dots(self, ns: int) -> list[tuple[float, str]]:
        """Values with their colours that the cursor marks at a time."""
        ...

    def message_at(self, ns: int) -> int | None:
        """The message a click at a time selects."""
        ...

    def next_time(self, ns: int | None, step: int) -> int | None:
        """Where an arrow key moves the cursor from a time; None where there is nothing further."""
        ...
