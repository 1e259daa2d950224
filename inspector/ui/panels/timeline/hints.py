"""Hints over the lanes: the card at the pointer, and links to the nearest messages if none is visible.

Texts of messages and contexts are escaped and have secrets masked.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.timeline.lanes import Bar
from inspector.analysis.views.timeline.spans import SpanKind
from inspector.analysis.views.timeline.track_marks import Mark
from inspector.present import formats
from inspector.present.context_labels import node_label
from inspector.present.message_row import row_content
from inspector.present.time_ranges import since_words
from inspector.present.wire_text import safe_line
from inspector.store.columns.hashes import NO_ROW
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.timeline.source import TimelineSource
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.floating import FloatingFrame
from inspector.ui.widgets.labels import TextLabel

_LONGEST = 140


def _time_label(source: TimelineSource, place: int) -> str:
    """Returns the time of a position as labelled on the axis."""
    return since_words(source.since_ns(place), of_ns=source.clock.last_ns - source.clock.first_ns)


def message_lines(source: TimelineSource, row: int) -> tuple[str, str, str]:
    """Returns the card of a message: sender, receivers and kind; text; No., time and latency."""
    content = row_content(source.document, row)
    ends = " to ".join(filter(None, (content.sender, content.receivers)))
    kind = content.kind_text or content.word
    title = f"{ends}: {kind}" if ends else kind
    since = _time_label(source, int(source.times.values[row]))
    foot = ", ".join(filter(None, (formats.message_number(row), since, content.latency and f"took {content.latency}")))
    return title, safe_line(content.text, _LONGEST), foot


def compaction_lines(source: TimelineSource, row: int) -> tuple[str, str, str]:
    """Returns the lines of a compacted context: its participant, its size before and after, No. and time."""
    title, text, foot = message_lines(source, row)
    who = title.partition(":")[0].partition(" to ")[0]
    return f"{who}: context compacted" if who else "Context compacted", text, foot


def several_lines(source: TimelineSource, mark: Mark) -> tuple[str, str, str]:
    """Returns the card of a mark for several messages: count, first message, and a hint for spreading them out."""
    title, text, foot = message_lines(source, mark.row)
    first = ", ".join(filter(None, (title, text)))
    return formats.count_of(mark.count, "message"), f"The first is {first}", f"{foot}. Double-click to spread them out."


def span_lines(source: TimelineSource, row: int, end: int, sort: SpanKind) -> tuple[str, str, str]:
    """Returns the card of a span: message and duration; text; first and last No. and start."""
    spans = source.spans
    place = int(np.flatnonzero((spans.rows == row) & (spans.sorts == sort))[0])
    until = source.times.last_ns if end == NO_ROW else int(spans.ends_ns[place])
    took = formats.duration(source.since_ns(until) - source.since_ns(int(spans.starts_ns[place])))
    title, text, _ = message_lines(source, row)
    who = title.partition(":")[0]
    if sort is SpanKind.MODEL:
        title, text = f"{who.partition(' to ')[0]}: model, {took}", text
    else:
        title = f"{title}, {took}{' so far' if end == NO_ROW else ''}"
    numbers = [formats.message_number(row), *([] if end in (NO_ROW, row) else [formats.message_number(end)])]
    return title, text, f"{' to '.join(numbers)}, from {_time_label(source, int(spans.starts_ns[place]))}"


def bar_lines(source: TimelineSource, bar: Bar) -> tuple[str, str, str]:
    """Returns the card of a context's bar: label; path if it differs; state, start and duration."""
    document = source.document
    label = node_label(document, bar.node) if bar.node != MAIN else "main"
    path = safe_line(document.analysis.contexts.tree.path(bar.node), _LONGEST) if bar.node != MAIN else ""
    took = source.since_ns(bar.end_ns) - source.since_ns(bar.start_ns)
    foot = f"{bar.state.capitalize()}, from {_time_label(source, bar.start_ns)}, {formats.duration(took)}"
    return label, path if path != label else "", foot


def accessible_text(source: TimelineSource, lane: str, row: int) -> str:
    """Returns the text of the message under the cursor for screen readers."""
    title, text, foot = message_lines(source, row)
    return f"Lane {safe_line(lane, _LONGEST)}. {foot}. {title}. {text}"


_WIDEST, _PAD, _AWAY = 360, 10, 14


class HoverCard(FloatingFrame):
    """A title, a line and a small line of plain text.

    Attributes:
        lines: its texts.
    """

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(theme_controller, name="timelineCard", parent=parent)
        self.setAccessibleName("Item at the pointer")
        # The card follows the pointer, and clicks are for the lanes below.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.lines: tuple[str, str, str] = ("", "", "")
        self.hide()

    def show_lines(self, lines: tuple[str, str, str], at: QPoint) -> None:
        """Shows the texts beside a position of the parent."""
        if lines != self.lines:
            self.lines = lines
            self.setAccessibleDescription(". ".join(filter(None, lines)))
        self.resize(self.sizeHint())
        parent = self.parentWidget()
        away = round(_AWAY * self._themes.theme.zoom)
        x, y = at.x() + away, at.y() + away
        if parent is not None:
            if x + self.width() > parent.width():
                x = max(0, at.x() - away - self.width())
            if y + self.height() > parent.height():
                y = max(0, at.y() - away - self.height())
        self.move(x, y)
        self.show()
        self.raise_()
        self.update()

    def _rows(self) -> list[tuple[str, str, str]]:
        title, text, foot = self.lines
        roles = (
            ("body-medium", "ink.primary", title),
            ("body", "ink.secondary", text),
            ("small", "ink.tertiary", foot),
        )
        return [row for row in roles if row[2]]

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        pad = round(_PAD * theme.zoom)
        metrics = [(QFontMetrics(theme.font(role)), text) for role, _, text in self._rows()]
        width = max((one.horizontalAdvance(text) + 2 for one, text in metrics), default=0)
        height = sum(one.height() + 2 for one, _ in metrics)
        return QSize(min(width, round(_WIDEST * theme.zoom)) + 2 * pad, height + 2 * pad - 4)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = self._themes.theme
        painter = QPainter(self)
        pad = round(_PAD * theme.zoom)
        y = pad - 2
        for role, token, text in self._rows():
            font = theme.font(role)
            metrics = QFontMetrics(font)
            painter.setFont(font)
            painter.setPen(theme.color(token))
            room = self.width() - 2 * pad
            line = QRectF(pad, y, room + 1, metrics.height())
            painter.drawText(
                line, Qt.AlignmentFlag.AlignLeft, metrics.elidedText(text, Qt.TextElideMode.ElideRight, room + 1)
            )
            y += metrics.height() + 2


NOTHING_HERE = "No message in this time range."


class Beyond(FloatingFrame):
    """A sentence and links to the nearest messages on both sides.

    Signals:
        asked(int): bring the next (1) or previous (-1) message into view.

    Attributes:
        previous, next: the links.
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
        """Shows the available links in the middle of an area of the parent."""
        self.previous.setVisible(before)
        self.next.setVisible(after)
        self.adjustSize()
        place = QRect(self.rect())
        place.moveCenter(area.center())
        self.move(place.topLeft())
        self.show()
        self.raise_()
