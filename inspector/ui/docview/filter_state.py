"""Filter, stacked conditions, scope and exempt hidden calls of a table; checks and applies them.

Depends on no panel. `Panes` shows the results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from PySide6.QtCore import QObject, Signal

from inspector.engine.requests.account import PENDING_FILTER
from inspector.engine.requests.filters import (
    CheckedFilter,
    FilterProblem,
    FilterStack,
    Scope,
    ValidFilter,
    check_text,
    chosen_with,
    excluded_with,
    negate_filter,
    resolve_variables,
)
from inspector.engine.requests.locations import MAIN, LocateMessage, ResolveContext
from inspector.engine.requests.scopes import DescribeScope, ScopeFacts
from inspector.engine.requests.views import CountMatches
from inspector.present.places import ContextPlace
from inspector.protocol.secrets.masking import mask_text
from inspector.ui import intervals
from inspector.ui.docview.running_search import RunningSearch
from inspector.ui.panels.messages.view_rows import VIEW, ViewRows
from inspector.ui.widgets.latest_answer import Client, LatestAnswer

View: TypeAlias = tuple[ValidFilter, Scope | None, FilterStack]
"""Filter, scope and stack of a view."""

_MAX_STACKS = 100
CALLS = 'kind in {"mcp/request", "mcp/proposal", "jsonrpc/request", "jsonrpc/notification"}'
"""Filter of messages that agents must act on in any context."""


class FilterState(QObject):
    """Filter and scope of one document's messages.

    Signals:
        filter_applied(str): a filter is in force.
        filter_grown(str): the filter follows its growing chain, without a choice by the user.
        filter_failed(FilterProblem): a filter is invalid. The last valid one stays.
        filter_refused(str): the reason why no filter was created from a value.
        highlight_requested(str): highlight the messages of this filter.
        scope_changed(Scope | None): the part of the tree that the table shows.
        context_changed(): `scope_facts` or the context for `$context` have changed.
        calls_switched(): requests and proposals are about to bypass filter and scope, or to stop that.

    Attributes:
        search: the running search for matching messages.
        scope_facts: description of the scope; None without one, and until it is known.
    """

    filter_applied = Signal(str)
    filter_grown = Signal(str)
    filter_failed = Signal(object)
    filter_refused = Signal(str)
    highlight_requested = Signal(str)
    scope_changed = Signal(object)
    context_changed = Signal()
    calls_switched = Signal()

    def __init__(self, client: Client, rows: ViewRows, parent: QObject) -> None:
        """Shows all messages.

        Args:
            client: asks the engine.
            rows: the visible messages.
            parent: the owner.
        """
        super().__init__(parent)
        self._client = client
        self._selected_in: str | None = None  # path of the current message's context
        self._stack = FilterStack()
        self._stacks_by_filter: dict[str, FilterStack] = {}
        self.search = RunningSearch(client, rows, self)
        self.scope_facts: ScopeFacts | None = None
        self._described_scope: Scope | None = None
        self._describing = LatestAnswer(
            self, client, lambda: DescribeScope(self.search.scope or Scope(0, None)), self._show_scope_facts,
            every_ms=lambda: intervals.LISTS_MS, ready=lambda: self.search.scope is not None,
        )  # fmt: skip

    def stop(self) -> None:
        """Cancels the search because the document is about to close."""
        self.search.stop()
        self._describing.stop()

    def _describe_scope(self) -> None:
        """Asks for a description of another scope."""
        scope = self.scope
        if scope != self._described_scope:
            self._described_scope, self.scope_facts = scope, None
            self._describing.request_now()

    def _show_scope_facts(self, facts: ScopeFacts) -> None:
        if facts != self.scope_facts:
            self.scope_facts = facts
            self.context_changed.emit()

    def check(self, text: str) -> CheckedFilter:
        """Checks a filter with the selected context as `$context`."""
        return check_text(text, self.selected_context)

    def check_filter(self, text: str) -> FilterProblem | None:
        """Returns the error of a filter; None for a valid one."""
        return self.check(text).problem

    @property
    def stack(self) -> FilterStack:
        """The stacked conditions and the bar's own text of the filter in force or in search."""
        return self._stack

    def preview(self, text: str, show: Callable[[int | None], object]) -> None:
        """Shows the number of matches for this text in the bar; None if counting would take too long."""
        text = self._stack.with_text(text).combined
        self._client.send_request(CountMatches(VIEW, text, self.selected_context, self.scope), show)

    def apply_filter(self, text: str) -> None:
        """Applies a display filter alone. Stacked conditions stay, switched off.

        An invalid filter only shows an error in the bar.
        """
        self.apply_stack(self._stack.with_only(text))

    def apply_own_text(self, text: str) -> None:
        """Applies the text of the filter bar together with the enabled conditions."""
        self.apply_stack(self._stack.with_text(text))

    def stack_filter(self, text: str) -> None:
        """Adds the text of the filter bar to the conditions. The bar becomes empty."""
        if self.check_filter(text) is None:
            self.apply_stack(self._stack.with_text_stacked(resolve_variables(text, self.selected_context)))

    def apply_stack(self, stack: FilterStack) -> None:
        """Applies conditions and the bar's own text. Invalid ones only show an error."""
        stack = stack.without_stale_exception()
        # The bar's text first, because only the bar can mark the position of an error.
        own = self.check_filter(stack.text) if stack.text.strip() else None
        found = CheckedFilter(problem=own) if own is not None else self.check(stack.combined)
        if found.filter is None:
            self.filter_failed.emit(found.problem)
            return
        self._store_stack(stack)
        self.search.start(found.filter, self.scope)
        self.filter_applied.emit(found.filter.text)

    def _store_stack(self, stack: FilterStack) -> None:
        """Stores the stack of the active filter, to restore it with the filter."""
        self._stack = stack
        # reinserted at the end, so that the oldest entry is evicted first
        self._stacks_by_filter.pop(stack.combined, None)
        self._stacks_by_filter[stack.combined] = stack
        if len(self._stacks_by_filter) > _MAX_STACKS:
            del self._stacks_by_filter[next(iter(self._stacks_by_filter))]

    def combine_filter(self, text: str, mode: str = "replace") -> None:
        """Applies a filter requested by a cell, node or value.

        Args:
            text: the filter.
            mode: replace; and, and_not (adds a condition: the filter or its negation); or (shows its messages too);
                highlight (highlights its messages without filtering).

        Refuses a filter with a secret, which would appear in the bar, in the history and in saved files.
        """
        if mask_text(text) != text:
            self.filter_refused.emit("This value contains a secret and cannot be used as a filter.")
            return
        match mode:
            case "highlight":
                self.highlight_requested.emit(text)
            case "and":
                self.apply_stack(self._stack.with_condition(text))
            case "and_not":
                self.apply_stack(self._stack.with_condition(negate_filter(text)))
            case "or":
                self.apply_stack(self._stack.with_alternative(text))
            case _:
                self.apply_filter(text)

    def choose(self, field: str, value: str, hide: bool) -> None:
        """Toggles a value of a field among the values to show or to hide.

        Args:
            field: name of the field.
            value: one value; several can be chosen.
            hide: True to hide its messages.
        """
        # the filter would appear in the history and in saved files
        if mask_text(value) != value:
            self.filter_refused.emit("This value contains a secret and cannot be used as a filter.")
            return
        self.apply_stack((excluded_with if hide else chosen_with)(self._stack, field, value))

    def set_scope(self, scope: Scope | None) -> None:
        """Limits the table to a part of the tree, or shows all of it for None."""
        now = self.scope
        another = scope is not None and (now is None or now.identity != scope.identity)
        if another and self._stack.besides:  # the calls shown in addition were an exception to the old view
            self.apply_stack(self._stack.with_besides(""))
        self.search.start(self.filter, scope)
        self._describe_scope()
        self.scope_changed.emit(scope)

    def scope_to_message(self, message: int) -> None:
        """Makes the context of a message the scope, or the one that it began."""
        found = self._client.answer_now(LocateMessage(message))
        self.set_scope(Scope(found.space, found.node if found.begun == MAIN else found.begun))

    def scope_to_opened(self, message: int, node: int) -> None:
        """Makes the context that a message opened the scope."""
        self.set_scope(Scope(self._client.answer_now(LocateMessage(message)).space, node))

    def scope_to_context(self, place: ContextPlace | None) -> None:
        """Makes a context the scope; None shows all."""
        node = None if place is None else self._client.answer_now(ResolveContext(place.node))
        self.set_scope(None if place is None else Scope(place.space, node))

    @property
    def view(self) -> View:
        """The current view; `show_view` restores it."""
        return self.filter, self.scope, self._stack

    def show_view(self, view: View) -> None:
        self.put_view(*view)

    def clear(self) -> None:
        """Removes filter, conditions and scope."""
        self.put_view(ValidFilter(), None, FilterStack())

    def show_everything(self) -> None:
        """Removes filter and scope. Conditions stay, switched off."""
        self.put_view(ValidFilter(), None, self._stack.with_only(""))

    def put_view(self, filter_: ValidFilter, scope: Scope | None, stack: FilterStack | None = None) -> None:
        """Restores a view, or shows one by a valid filter. Conditions unknown for it stay, switched off."""
        if filter_ is self.filter and scope == self.scope:
            return
        self._store_stack(stack or self._stacks_by_filter.get(filter_.text) or self._stack.with_only(filter_.text))
        self.search.start(filter_, scope)
        self._describe_scope()
        self.scope_changed.emit(scope)
        self.filter_applied.emit(filter_.text)

    def search_all(self) -> None:
        """Applies only the bar's own text, to all messages.

        Removes the scope and switches other conditions off. Without either, it removes the filter as well.
        """
        if self.scope is None and self._stack.combined == self._stack.text.strip():
            self.clear()
            return
        self.set_scope(None)
        self.apply_stack(self._stack.with_only(self._stack.text))

    def show_pending(self) -> None:
        """Shows the requests without an answer and the open proposals."""
        self.set_scope(None)
        self.apply_filter(PENDING_FILTER)

    def grow(self, filter_: ValidFilter) -> None:
        """Replaces the filter of a grown chain without a choice by the user."""
        self._store_stack(self._stack.with_only(filter_.text))
        self.search.start(filter_, self.scope)
        self.filter_grown.emit(filter_.text)

    def show_hidden_calls(self) -> None:
        """Shows the requests and proposals that filter and scope hide. Both stay in force."""
        self.let_calls_through(True)

    def hide_calls_again(self) -> None:
        """Hides requests and proposals by filter and scope again."""
        self.let_calls_through(False)

    @property
    def shows_calls(self) -> bool:
        """True if requests and proposals bypass filter or scope."""
        return bool(self._stack.besides) or (self.scope is not None and self.scope.calls)

    def let_calls_through(self, on: bool) -> None:
        """Lets requests and proposals bypass filter and scope, or stops that."""
        self.calls_switched.emit()
        stack = self._stack.with_besides(CALLS if on else "").without_stale_exception()
        scope = None if self.scope is None else replace(self.scope, calls=on)
        found = self.check(stack.combined)
        if found.filter is None:  # $context of a filter without an active context
            self.filter_failed.emit(found.problem)
            return
        self.put_view(found.filter, scope, stack)

    @property
    def filter(self) -> ValidFilter:
        """The filter in force or in search."""
        return self.search.filter

    @property
    def scope(self) -> Scope | None:
        """The scope in force or in search."""
        return self.search.scope

    def select_context(self, path: str | None) -> None:
        """Sets the path of the current message's context; None without one."""
        if path != self._selected_in:
            self._selected_in = path
            self.context_changed.emit()

    @property
    def selected_context(self) -> str | None:
        """Path for `$context`: the scope's node, else the context of the current message."""
        facts = self.scope_facts
        if facts is not None and facts.path is not None:
            return facts.path
        return self._selected_in
