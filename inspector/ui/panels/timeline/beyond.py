"""What stands in the lanes where no message is in sight: the ways to the next ones."""

from __future__ import annotations

from PySide6.QtCore import QRect, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.floating import FloatingFrame
from inspector.ui.widgets.labels import TextLabel

NOTHING_HERE = "No message in this stretch of time."


class Beyond(FloatingFrame):
    """A sentence, and a way to either side.

    Signals:
        asked(int): bring the next (1) or previous (-1) message into sight.

    Attributes:
        previous, next: the ways.
    """

    asked = Signal(int)

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(theme_controller, name="timelineBeyond", parent=parent)
        self.setAccessibleName(NOTHING_HERE)
        words = TextLabel(NOTHING_HERE, variant="secondary", name="timelineBeyondWords", parent=self)
        self.previous = LinkButton("\N{LEFTWARDS ARROW} Previous", name="timelineBeyondPrevious", parent=self)
        self.next = LinkButton("Next \N{RIGHTWARDS ARROW}", name="timelineBeyondNext", parent=self)
        row = QHBoxLayout(self)
        for widget in (self.previous, words, self.next):
            row.addWidget(widget)
        self.previous.setAccessibleName("Previous message")
        self.next.setAccessibleName("Next message")
        self.previous.clicked.connect(lambda: self.asked.emit(-1))
        self.next.clicked.connect(lambda: self.asked.emit(1))
        self.hide()

    def show_ways(self, before: bool, after: bool, *, area: QRect) -> None:
        """Offer the ways there are, in the middle of an area of the parent."""
        self.previous.setVisible(before)
        self.next.setVisible(after)
        self.adjustSize()
        place = QRect(self.rect())
        place.moveCenter(area.center())
        self.move(place.topLeft())
        self.show()
        self.raise_()
