"""What a plot is to the canvas it is drawn on; and what all plots here share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from inspector.analysis.timeline.marks import Window
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


class Figure(Protocol):
    """One plot. It draws itself with items of pyqtgraph, whose x are pixels from the axis' left end."""

    empty: str
    """What is said where there is nothing to draw; "" otherwise."""

    def draw(self, window: Window) -> Scale:
        """Bring the items to what is shown of the time."""
        ...

    def show_items(self, *, shown: bool) -> None:
        """Show or hide all items."""
        ...

    def use_theme(self) -> None:
        """Take over colours."""
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
