"""The stacked filter conditions of a window: chips below the presets, with delayed counts.

The panes own the conditions in force. `filters.tally` counts the messages that each condition hides.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication

from inspector.analysis import AnalysisChanges
from inspector.filters import DisplayFilter, FilterError, compile_filter
from inspector.filters.tally import ConditionTally
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.filter_bar import FilterBar
from inspector.ui.widgets.filter_chips import ConditionBar
from inspector.ui.widgets.flat_tool_bar import FlatToolBar

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes


class FilterConditions(QObject):
    """Connects the condition chips to the panes.

    Attributes:
        bar: the chips.
    """

    def __init__(self, theme: ThemeController, filter_bar: FilterBar, tool_bar: FlatToolBar) -> None:
        """Puts the chips in a tool bar, which is hidden while there are none.

        Args:
            theme: gives the look.
            filter_bar: edits a condition.
            tool_bar: the empty tool bar.
        """
        super().__init__(tool_bar)
        self._filter_bar = filter_bar
        self._tool_bar = tool_bar
        self._panes: Panes | None = None
        self._tally: ConditionTally | None = None
        self._compiled: dict[str, DisplayFilter] = {}
        self.bar = ConditionBar(theme, tool_bar)
        self.bar.words_of = self._condition_words
        self.bar.switched.connect(self._on_switched)
        self.bar.asked.connect(self._on_asked)
        self.bar.cleared.connect(self._on_cleared)
        tool_bar.hold(self.bar)
        tool_bar.hide()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._count)

    def attach(self, panes: Panes) -> None:
        """Shows and counts the conditions of these panes."""
        self._panes = panes
        self._tally = ConditionTally(panes.rows)
        panes.filter_state.filter_applied.connect(self.refresh)
        panes.filter_state.scope_changed.connect(self.refresh)
        panes.bridge.flushed.connect(self._on_flushed)

    def stop(self) -> None:
        """Stops because the document is about to close."""
        self._timer.stop()
        self._tally = None

    def refresh(self, *_changed: object) -> None:
        """Shows the current conditions. Counted conditions are not evaluated again."""
        panes, tally = self._panes, self._tally
        if panes is None or tally is None:
            return
        state = panes.filter_state
        conditions = state.stack.conditions
        self.bar.set_conditions(conditions)
        self._tool_bar.setVisible(bool(conditions))
        if not conditions:
            self._compiled.clear()
            tally.set_conditions([], state.filter, None)
            self._timer.stop()
            return
        # Each condition is combined with the shown filter, so that together they match like one filter.
        if state.own_filter is not None:
            self._compiled[state.own_filter.text] = state.own_filter
        own = self._compile(state.stack.with_exception(state.stack.text))
        compiled = [
            (self._compile(state.stack.with_exception(condition.text)), condition.on) for condition in conditions
        ]
        # Only filters in use stay cached.
        self._compiled = {one.text: one for one in (own, *(filter_ for filter_, _ in compiled))}
        tally.set_conditions(compiled, own, state.scope)
        self._timer.start(budgets.current.more_ms)

    def _condition_words(self, text: str) -> str:
        """Returns a time range in seconds as the panes show it, or "" to show the text unchanged."""
        if self._panes is None:
            return ""
        from inspector.present.time_ranges import range_words

        return range_words(text, self._panes.messages.model.start_ns) or ""

    def _compile(self, text: str) -> DisplayFilter:
        known = self._compiled.get(text)
        # The meaning of `$context` depends on the selection.
        if known is not None and "$" not in text:
            return known
        try:
            return self._panes.filter_state.compile(text) if self._panes is not None else compile_filter(text)
        except FilterError:  # $context of a filter without an active context
            return compile_filter("")

    # Counting

    def _on_flushed(self, changes: AnalysisChanges) -> None:
        if self._tally is not None and self.bar.chips():
            self._tally.on_changes(changes)
            if not self._timer.isActive():
                self._timer.start(budgets.current.conditions_ms)

    def tick(self) -> None:
        """Recounts each second while traffic is live, because some fields depend on the clock."""
        if self._tally is not None and self.bar.chips():
            self._tally.on_clock()
            if not self._tally.is_finished and not self._timer.isActive():
                self._timer.start(budgets.current.conditions_ms)

    def _count(self) -> None:
        tally = self._tally
        if tally is None:
            return
        if tally.step(time.perf_counter() + budgets.current.background_slice_s):
            self.bar.set_hides(tally.hidden)
        else:
            self._timer.start(budgets.current.more_ms)

    # User actions

    def _on_switched(self, place: int, on: bool) -> None:
        if self._panes is not None:
            self._panes.filter_state.apply_stack(self._panes.filter_state.stack.with_switched(place, on=on))

    def _on_cleared(self) -> None:
        if self._panes is not None:
            self._panes.filter_state.apply_stack(replace(self._panes.filter_state.stack, conditions=()))

    def _on_asked(self, place: int, what: str) -> None:
        if self._panes is None:
            return
        stack = self._panes.filter_state.stack
        text = stack.conditions[place].text
        match what:
            case "remove":
                self._panes.filter_state.apply_stack(stack.without_condition(place))
            case "negate":
                self._panes.filter_state.apply_stack(stack.with_negated(place))
            case "only":
                others = [replace(condition, on=number == place) for number, condition in enumerate(stack.conditions)]
                self._panes.filter_state.apply_stack(replace(stack, conditions=tuple(others)))
            case "edit":
                self._edit(place)
            case _:
                QGuiApplication.clipboard().setText(text)

    def _edit(self, place: int) -> None:
        """Moves a condition into the filter bar. The old text of the bar becomes a condition."""
        if self._panes is None:
            return
        stack = self._panes.filter_state.stack
        text = stack.conditions[place].text
        self._panes.filter_state.apply_stack(
            stack.without_condition(place).with_text("").with_condition(stack.text).with_text(text)
        )
        self._filter_bar.focus_editor()
