"""The timeline panel of one document: head, ruler, lanes, plot and overview strip."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QScrollBar, QSplitter, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.causes.chain import ChainStep, steps_of_turn
from inspector.analysis.views.timeline.lanes import FAMILIES
from inspector.analysis.views.timeline.range_condition import number_condition, time_condition
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.growth import GrowthPlot
from inspector.ui.panels.plot_choices import PlotChoices
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.timeline.head import TimelineHead
from inspector.ui.panels.timeline.lanes_view import LanesView
from inspector.ui.panels.timeline.legend import Key, Legend
from inspector.ui.panels.timeline.ruler import Ruler, Strip
from inspector.ui.panels.timeline.shapes import COMPACTED
from inspector.ui.panels.timeline.source import TimelineSource
from inspector.ui.widgets.labels import TextLabel

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
        filter_requested(str, str): a display filter and its way of joining the active one (filter_menu.FilterMode).
        end_left(): the user scrolled away from the end of live traffic.

    Attributes:
        axis: the visible range, shared with the plot.
        source, head, ruler, view, legend, strip, splitter: its parts.
    """

    message_requested = Signal(int)
    details_requested = Signal(int)
    filter_requested = Signal(str, str)
    end_left = Signal()

    def __init__(
        self, document: CaptureDocument, theme_controller: ThemeController, rows: VisibleRows, choices: PlotChoices,
        parent: QWidget,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setObjectName("timelinePanel")
        self.setAccessibleName("Timeline")
        self.setProperty("variant", "base")
        self._document = document
        self._themes = theme_controller
        self._choices = choices
        self._stopped = False
        self._current: int | None = None
        self._follows = False
        self._drawn: tuple[object, ...] = ()
        self._spacing = "time"
        self.axis = TimeAxis(self)
        self.source = TimelineSource(document, rows)
        self.head = TimelineHead(theme_controller, self)
        upper = QWidget(self)
        self.ruler = Ruler(self.axis, theme_controller, upper)
        self._bar = QScrollBar(Qt.Orientation.Vertical, upper)
        self._bar.setObjectName("timelineScrollBar")
        self._bar.setAccessibleName("Scroll the lanes")
        self.view = LanesView(self.source, self.axis, theme_controller, self._bar, upper)
        # Not in a layout: `_place` sets its geometry.
        self._bar.setParent(self.view)  # it overlaps the right margin of the axis
        self.empty = TextLabel(NOTHING, variant="secondary", name="timelineEmpty", parent=self.view)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.legend = Legend(theme_controller, "timelineLegend", upper)
        self.legend.one_line = True
        self.strip = Strip(self.axis, self.source, theme_controller, self)
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self.splitter.setObjectName("timelineSplitter")
        self.splitter.setChildrenCollapsible(False)
        self._lay_out(upper)
        self.setFocusProxy(self.view)
        self._refresh_timer = QTimer(self)
        self._refresh_timer.setSingleShot(True)
        self._refresh_timer.timeout.connect(self.refresh)
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
        self.plot = GrowthPlot(self._document, self._themes, self.axis, self._choices, self)
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
        needed = self.ruler.height() + self.view.lanes_height + self.legend.height()
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
        self.plot.message_requested.connect(self.message_requested)
        self.plot.left.connect(self.view.setFocus)
        self._choices.spacing_changed.connect(self._space_by)
        self._space_by(self._choices.spacing)

    # Calls of the window

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Takes in a flush of the document while visible. O(new messages), except for deferred work."""
        # A hidden timeline catches up when it is shown.
        if self.isVisible():
            self.refresh(changed=bool(len(changes.changed)) or changes.tree_moved)
            self.plot.apply_changes(changes)

    def refresh_view(self) -> None:
        """Redraws after a change of filter or scope."""
        if self.isVisible():
            self.refresh()

    def refresh(self, *, changed: bool = False) -> None:
        """Draws the present state. A large capture is drawn once its lanes are computed."""
        if self._stopped:
            return
        source = self.source
        source.update(changed=changed)
        times = source.times
        self.axis.set_capture(times.first_ns, times.last_ns, times.breaks() if self._spacing == "time" else ())
        self.empty.setVisible(not source.lanes.lanes)
        self.empty.setText(WORKING.format(source.share) if source.working else NOTHING)
        # The rest is drawn by the timer, so that one flush stays short.
        if source.is_outdated:
            self._refresh_timer.start(budgets.current.more_ms if source.working else budgets.current.lists_ms)
        version = (source.version, source.lanes, source.lanes.version)
        if not source.working or version != self._drawn:
            before, self._drawn = self._drawn, version
            self._draw(anew=before[1:] != version[1:])

    def _draw(self, *, anew: bool) -> None:
        if self._follows and self._is_live:
            self.axis.show_end()
        self.view.refresh()
        self.legend.show_keys(self._keys())
        self._fit_split()
        self.strip.refresh()
        if anew:
            self.show_message(self._current, bring=False)

    def _keys(self) -> list[Key]:
        """Returns the legend entries of everything in this capture, at any zoom."""
        source, spans = self.source, self.source.spans
        there = {family.name.lower() for family, on in zip(FAMILIES, source.lanes.families, strict=True) if on}
        keys = [Key(family, family, "mark") for family in _FAMILIES if family in there]
        keys += [key for key, on in zip(_SPANS, spans.kinds, strict=True) if on]
        keys += _CONTEXTS if any(lane.rows for lane in source.lanes.lanes) else ()
        keys += [_PROBLEM] if len(source.problems) else []
        keys += [_COMPACTION] if len(source.compactions) else []
        keys += [_CHAIN] if self._current is not None else []
        keys += [_GAP] if source.lanes.gaps else []
        keys += [_BREAK] if self.axis.scale.breaks else []
        return [*keys, *(_GROUPED_KEYS if source.lanes.given > 1 else ())]

    def show_message(self, message: int | None, *, bring: bool = True) -> None:
        """Selects a message after a selection in any view."""
        self._current = message
        if self._stopped or not self.isVisible():
            return
        known = message is not None and message < len(self.source.times.values)
        chain: list[ChainStep] = []
        if known and message is not None:
            chain = steps_of_turn(self._document.analysis, self._document.chain(message), message)
        self.view.show_message(message if known else None, [(step.message, step.after) for step in chain])
        if known and message is not None:
            if bring:
                self.view.bring(message)
            self.axis.set_cursor(int(self.source.times.values[message]))
        else:
            self.axis.set_cursor(None)

    def follow(self, on: bool) -> None:
        """Follows new messages at the same zoom, or stops."""
        self._follows = on
        if on and self._is_live and not self._stopped:
            self.axis.show_end()

    @property
    def _is_live(self) -> bool:
        return self._document.live or self._document.sources.followed is not None

    def _on_range_changed(self) -> None:
        """Stops following once the user scrolls away from the end, and unchecks the button, as the table does."""
        if self._follows and self._is_live and not self.axis.at_end and self.isVisible():
            self._follows = False
            self.end_left.emit()

    def show_current(self) -> None:
        """Scrolls to the selected message."""
        self.refresh()
        self.show_message(self._current)

    def stop(self) -> None:
        """Stops reading the document."""
        self._stopped = True
        self._refresh_timer.stop()
        self.plot.stop()

    # User input

    def _choose_by(self, by: str) -> None:
        self.source.set_by("context" if by == "context" else "participant")
        self.refresh()

    def _choose_shown(self, shown: str) -> None:
        self.source.set_only_shown(shown == "table")
        self.refresh()

    def _space_by(self, spacing: str) -> None:
        """Sets the spacing of messages in lanes and plots."""
        if spacing == self._spacing:
            return
        self._spacing = spacing
        self.head.spacing.choose(spacing)
        self.axis.count_messages(spacing == "message")
        self.source.set_counting(spacing == "message")
        self.plot.set_counting(spacing == "message")
        if not self._stopped:
            self.refresh(changed=True)
            self.axis.fit()
            self.show_message(self._current)

    def _choose_time(self, first: int, last: int) -> None:
        """Adds the brushed range to the filter, so that every pane follows."""
        source = self.source
        condition = number_condition(first, last) if self.axis.counts else time_condition(source.clock, first, last)
        if condition is not None:
            self.filter_requested.emit(condition, "and")

    # Qt events

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh(changed=True)
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
        wide = self._themes.theme.metrics.scroll_bar
        self._bar.setGeometry(self.view.width() - wide, 0, wide, self.view.height())
        self.empty.setGeometry(self.view.rect())
