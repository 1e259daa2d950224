"""The stacked filter conditions of a window: chips below the presets, with delayed counts.

The panes own the conditions in force. The engine counts the messages that each condition hides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from inspector.engine.requests.conditions import CountHidden, HiddenCounts
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.widgets.filter_bar import FilterBar
from inspector.ui.widgets.filter_chips import ConditionBar
from inspector.ui.widgets.flat_tool_bar import FlatToolBar
from inspector.ui.widgets.latest_answer import LatestAnswer

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes

_COUNTS_MS = 400
"""Shortest interval of counts of conditions."""


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
        self._hidden: LatestAnswer[HiddenCounts] | None = None
        self.bar = ConditionBar(theme, tool_bar)
        self.bar.words_of = self._condition_words
        self.bar.switched.connect(self._on_switched)
        self.bar.asked.connect(self._on_asked)
        self.bar.cleared.connect(self._on_cleared)
        tool_bar.hold(self.bar)
        tool_bar.hide()

    def attach(self, panes: Panes) -> None:
        """Shows and counts the conditions of these panes."""
        self.stop()
        self._panes, state = panes, panes.filter_state
        self._hidden = LatestAnswer(
            self, panes.client, lambda: CountHidden(VIEW, state.stack, state.scope, state.selected_context),
            lambda found: self.bar.set_hides(found.counts), every_ms=lambda: _COUNTS_MS,
            ready=lambda: bool(self.bar.chips()),
        )  # fmt: skip
        state.filter_applied.connect(self.refresh)
        state.scope_changed.connect(self.refresh)

    def stop(self) -> None:
        """Stops because the document is about to close."""
        if self._hidden is not None:
            self._hidden.stop()

    def refresh(self, *_changed: object) -> None:
        """Shows the current conditions. Counted conditions are not evaluated again."""
        if self._panes is None or self._hidden is None:
            return
        conditions = self._panes.filter_state.stack.conditions
        self.bar.set_conditions(conditions)
        self._tool_bar.setVisible(bool(conditions))
        self._hidden.request_now()

    def _condition_words(self, text: str) -> str:
        """Returns a time range in seconds as the panes show it, or "" to show the text unchanged."""
        if self._panes is None:
            return ""
        from inspector.present.time_ranges import range_words

        return range_words(text, self._panes.messages.model.start_ns) or ""

    def tick(self) -> None:
        """Recounts each second while traffic is live, if some conditions depend on the clock."""
        hidden = self._hidden
        if hidden is not None and hidden.answer is not None and hidden.answer.follows_clock:
            hidden.invalidate()

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
