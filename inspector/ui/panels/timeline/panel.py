"""The timeline panel of one document: head, ruler, lanes, plot and overview strip."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QScrollBar, QSplitter, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.plots import RangeCondition
from inspector.engine.requests.timeline import (
    FindInTimeline,
    LaneBy,
    LanesLook,
    TimelineFacts,
    TimelinePlace,
    TimelineProgress,
    UpdateTimeline,
)
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.growth import GrowthPlot
from inspector.ui.panels.plot_choices import PlotChoices
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.timeline.head import TimelineHead
from inspector.ui.panels.timeline.lanes_view import LanesView
from inspector.ui.panels.timeline.legend import Key, Legend
from inspector.ui.panels.timeline.ruler import Ruler, Strip
from inspector.ui.panels.timeline.shapes import COMPACTED
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.latest_answer import Client, LatestAnswer, Pending

_FAMILIES = ("chat", "tools", "proposals", "reasoning", "streams", "control")
"""Families with a mark of their own."""
_GROUPED_KEYS = (
    Key("several", "ink.tertiary", "count"),
    Key("many", "ink.tertiary", "dense"),
)
_SPANS = (
    Key("until answered", "family.tools", "span"), Key("no answer yet", "family.tools", "waits"),
    Key("model", "family.chat", "span"),
)  # fmt: skip
_CONTEXTS = (
    Key("concluded", "concluded", "state"), Key("cancelled", "cancelled", "state"), Key("open", "ink.tertiary", "open"),
)  # fmt: skip
_PROBLEM = Key("problem", "severity.warning", "wedge")
_COMPACTION = Key("context compacted", COMPACTED, "compaction", "compacted")
_CHAIN = Key("selected chain", "accent.ring", "ring")
_GAP = Key("nothing received", "severity.warning", "gap")
_BREAK = Key("silence left out", "line.strong", "break")
NOTHING = "No messages in this view."
WORKING = "Computing lanes, {:.0%}."


class TimelinePanel(QWidget):
    """The timeline.

    Signals:
        message_requested(int): select this message.
        details_requested(int): show its details.
        range_chosen(str): the user brushed a range; a display filter.
        end_left(): the user scrolled away from the end of live traffic.

    Attributes:
        axis: the visible range, shared with the plot.
        head, ruler, view, legend, strip, splitter: its parts.
        latest: facts about the lanes.
    """

    message_requested = Signal(int)
    details_requested = Signal(int)
    range_chosen = Signal(str)
    end_left = Signal()

    def __init__(
        self, client: Client, view: int, theme_controller: ThemeController, choices: PlotChoices,
        parent: QWidget,
    ) -> None:  # fmt: skip
        """Creates an empty timeline.

        Args:
            client: asks the engine.
            view: number of the view that shows or hides messages.
            theme_controller: gives the look.
            choices: the spacing, shared with other plots.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("timelinePanel")
        self.setAccessibleName("Timeline")
        self.setProperty("variant", "base")
        self._client = client
        self._themes = theme_controller
        self._choices = choices
        self._stopped = False
        self._current: int | None = None
        self._finding: Pending | None = None
        self._is_brought = True  # the selected message has been scrolled to
        self._follows = False
        self._layout = 0
        self._spacing = self._shown_spacing = "time"
        self._look = LanesLook(view)
        self.axis = TimeAxis(self)
        self.head = TimelineHead(theme_controller, self)
        upper = QWidget(self)
        self.ruler = Ruler(self.axis, theme_controller, upper)
        self._bar = QScrollBar(Qt.Orientation.Vertical, upper)
        self._bar.setObjectName("timelineScrollBar")
        self._bar.setAccessibleName("Scroll the lanes")
        self.view = LanesView(client, lambda: self._look, self.axis, theme_controller, self._bar, upper)
        # Not in a layout: `_place` sets its geometry.
        self._bar.setParent(self.view)  # it overlaps the right margin of the axis
        self.empty = TextLabel(NOTHING, variant="secondary", name="timelineEmpty", parent=self.view)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.legend = Legend(theme_controller, "timelineLegend", upper)
        self.legend.one_line = True
        self.strip = Strip(self.axis, theme_controller, self)
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self.splitter.setObjectName("timelineSplitter")
        self.splitter.setChildrenCollapsible(False)
        self._lay_out(upper)
        self.setFocusProxy(self.view)
        self.latest = LatestAnswer(self, client, self._question, self._show_facts, every_ms=lambda: intervals.LISTS_MS)
        self._progress_timer = QTimer(self)
        self._progress_timer.setSingleShot(True)
        self._progress_timer.timeout.connect(self._ask_progress)
        self._connect()

    def _lay_out(self, upper: QWidget) -> None:
        lanes = QVBoxLayout(upper)
        self.splitter.addWidget(upper)
        column = QVBoxLayout(self)
        for layout in (lanes, column):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        lanes.addWidget(self.ruler)
        lanes.addWidget(self.view, 1)
        lanes.addWidget(self.legend)
        column.addWidget(self.head)
        column.addWidget(self.splitter, 1)
        column.addWidget(self.strip)
        self.plot = GrowthPlot(self._client, self._themes, self.axis, self._choices, self)
        self.splitter.addWidget(self.plot)
        self.splitter.setSizes([600, 400])
        self._is_split_by_user = False
        self.splitter.splitterMoved.connect(self._on_split)

    def _on_split(self, *_place: int) -> None:
        self._is_split_by_user = True

    def _fit_split(self) -> None:
        """Gives the plot the height that few lanes leave, unless the user moved the splitter."""
        room = sum(self.splitter.sizes())
        if self._is_split_by_user or not room:
            return
        needed = self.ruler.height() + self.view.picture.height + self.legend.sizeHint().height()
        upper = max(room // 5, min(room * 3 // 5, needed))
        # A pixel more or less is rounding, and each change lays out both parts.
        if abs(self.splitter.sizes()[0] - upper) > 1:
            self.splitter.setSizes([upper, room - upper])

    def _connect(self) -> None:
        self.head.by_chosen.connect(self._choose_by)
        self.head.shown_chosen.connect(self._choose_shown)
        self.head.spacing_chosen.connect(self._choices.choose_spacing)
        self.head.fit_requested.connect(self.axis.fit)
        self.head.zoom_requested.connect(self.view.gestures.zoom)
        self.view.message_requested.connect(self.message_requested)
        self.view.details_requested.connect(self.details_requested)
        self.head.brush_toggled.connect(self.axis.set_brushing)
        self.axis.brushing_changed.connect(self.head.show_brushing)
        self.axis.brush_committed.connect(self._choose_time)
        self.axis.range_changed.connect(self._on_range_changed)
        self.view.height_changed.connect(self._fit_split)
        self.view.resized.connect(self._place_over_lanes)
        self.strip.bins_changed.connect(self.refresh)
        self.plot.message_requested.connect(self.message_requested)
        self.plot.left.connect(self.view.setFocus)
        self._choices.spacing_changed.connect(self._space_by)
        self._space_by(self._choices.spacing)

    # Calls of the window

    def refresh(self) -> None:
        """Draws the present state, as soon as the lanes are computed."""
        self._progress_timer.stop()
        if self.latest.is_pending:
            self.latest.is_stale = True
        else:
            self.latest.request_now()
        self._ask_progress()

    @property
    def is_busy(self) -> bool:
        """True while lanes or their picture are on their way."""
        return self.latest.is_pending or self.view.is_asking

    def _question(self) -> UpdateTimeline:
        return UpdateTimeline(self._look, self._spacing == "time", self.strip.bins)

    def _ask_progress(self) -> None:
        """Shows how far the lanes are while there are none."""
        if self.latest.is_pending and not self.view.picture.lanes and not self._stopped:
            self._client.send_request(TimelineProgress(self._look.view), self._show_progress)

    def _show_progress(self, share: float) -> None:
        if self.latest.is_pending:
            self.empty.setText(WORKING.format(share))
            self._progress_timer.start(intervals.LISTS_MS)

    def _show_facts(self, facts: TimelineFacts) -> None:
        self._progress_timer.stop()
        respaced, self._shown_spacing = self._shown_spacing != self._spacing, self._spacing
        with self.view.one_picture():
            self.axis.count_messages(self._look.by_order)
            self.axis.set_capture(facts.range.first_ns, facts.range.last_ns, facts.range.breaks)
            if respaced:
                self.axis.fit()
                self.plot.refresh()
            if self._follows and self._is_live:
                self.axis.show_end()
        self.empty.setVisible(not facts.lanes)
        self.empty.setText(NOTHING)
        self.legend.show_keys(self._keys(facts))
        self._fit_split()
        self.strip.show_counts(facts.overview)
        if facts.layout != self._layout or respaced:
            self._layout = facts.layout
            self.show_message(self._current, bring=respaced)
        if self.latest.is_stale:
            self.latest.request_now()
        elif facts.is_behind:
            self.latest.invalidate()

    def _keys(self, facts: TimelineFacts) -> list[Key]:
        """Returns the legend entries of everything in this capture, at any zoom."""
        spans = (facts.has_answered, facts.has_open, facts.has_models)
        keys = [Key(family, family, "mark") for family in _FAMILIES if family in facts.families]
        keys += [key for key, on in zip(_SPANS, spans, strict=True) if on]
        keys += _CONTEXTS if facts.has_contexts else ()
        keys += [_PROBLEM] if facts.has_problems else []
        keys += [_COMPACTION] if facts.has_compactions else []
        keys += [_CHAIN] if self._current is not None else []
        keys += [_GAP] if facts.has_gaps else []
        keys += [_BREAK] if facts.range.breaks else []
        return [*keys, *(_GROUPED_KEYS if facts.given > 1 else ())]

    def show_message(self, message: int | None, *, bring: bool = True) -> None:
        """Selects a message after a selection in any view."""
        self._current = message
        self._is_brought = self._is_brought and not bring
        if self._finding is not None:
            self._finding.cancel()
        if self._stopped or not self.isVisible():
            return
        if message is None:
            self._show_place(None)
            return
        question = FindInTimeline(self._look, message, self._themes.theme.zoom)
        self._finding = self._client.send_request(question, self._show_place)

    def _show_place(self, place: TimelinePlace | None) -> None:
        self.view.show_message(None if place is None else self._current, place)
        if place is not None and not self._is_brought:
            self.view.bring(place)
        self._is_brought = True
        self.axis.set_cursor(None if place is None else place.ns)

    def follow(self, on: bool) -> None:
        """Follows new messages at the same zoom, or stops."""
        self._follows = on
        if on and self._is_live and not self._stopped:
            self.axis.show_end()

    @property
    def _is_live(self) -> bool:
        state = self._client.state
        return state.is_live or state.followed is not None

    def _on_range_changed(self) -> None:
        """Stops following once the user scrolls away from the end, and unchecks the button, as the table does."""
        if self._follows and self._is_live and not self.axis.at_end and self.isVisible():
            self._follows = False
            self.end_left.emit()

    def show_current(self) -> None:
        """Scrolls to the selected message."""
        self.show_message(self._current)

    def stop(self) -> None:
        """Ends all requests."""
        self._stopped = True
        self._progress_timer.stop()
        self.latest.stop()
        self.plot.stop()

    # User input

    def _choose_by(self, by: str) -> None:
        self._ask_for("context" if by == "context" else "participant", only_shown=self._look.only_shown)

    def _choose_shown(self, shown: str) -> None:
        self._ask_for(self._look.by, only_shown=shown == "table")

    def _ask_for(self, by: LaneBy, *, only_shown: bool) -> None:
        """Asks for other lanes; the present ones stay until the new ones are complete."""
        self._look = LanesLook(self._look.view, by, only_shown, self._spacing == "message")
        self.latest.request_now()
        self._ask_progress()

    def _space_by(self, spacing: str) -> None:
        """Sets the spacing of messages in lanes and plots."""
        if spacing != self._spacing:
            self._spacing = spacing
            self.head.spacing.choose(spacing)
            self._ask_for(self._look.by, only_shown=self._look.only_shown)

    def _choose_time(self, first: int, last: int) -> None:
        """Filters by the brushed range, so that every pane follows."""
        condition = self._client.answer_now(RangeCondition(first, last, self.axis.counts))
        if condition is not None:
            self.range_chosen.emit(condition)

    # Qt events

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_message(self._current)
        self._place()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        self._fit_split()
        padding = self._themes.theme.metrics.pane_padding
        self.legend.keep_off(padding, padding)

    def _place_over_lanes(self) -> None:
        wide = self._themes.theme.metrics.scroll_bar
        self._bar.setGeometry(self.view.width() - wide, 0, wide, self.view.height())
        self.empty.setGeometry(self.view.rect())
