"""Which messages the table shows: the filter with its stacked conditions, and the scope; how they are put in force.

It knows no panel: `Panes` has them shown.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TypeAlias

from PySide6.QtCore import QObject, Signal

from inspector.analysis.views.account.unanswered import PENDING_FILTER
from inspector.document.document import CaptureDocument
from inspector.filters import DisplayFilter, FilterError, compile_filter
from inspector.filters.facets import chosen_with, excluded_with
from inspector.filters.search import Search
from inspector.filters.stacked_conditions import FilterStack, opposite, resolved
from inspector.filters.visible import Scope, VisibleRows
from inspector.protocol.secrets.masking import mask_text
from inspector.ui import budgets
from inspector.ui.docview.running_search import RunningSearch

View: TypeAlias = tuple[DisplayFilter, Scope | None, FilterStack]
"""What chooses messages."""

_MOST_STACKS = 100
CALLS = 'kind in {"mcp/request", "mcp/proposal", "jsonrpc/request", "jsonrpc/notification"}'
"""What agents must act on in any context."""
_PREVIEWED, _DEAR_PREVIEWED = 2_000_000, 20_000
"""Among more messages nobody is told beforehand how many a filter would show; the second where it decodes them."""


class FilterState(QObject):
    """Filter and scope of one document's messages.

    Signals:
        filter_applied(str): a filter is in force.
        filter_grown(str): the filter in force went on with the chain it shows; nobody chose another one.
        filter_failed(FilterError): a filter could not be read; the last good one stays.
        filter_refused(str): why no filter is made of something that was pointed at.
        highlight_requested(str): messages of this filter shall stand out.
        scope_changed(Scope | None): the part of the tree the table is bound to.
        calls_switched(): requests and proposals are about to be let through filter and scope, or no more.

    Attributes:
        search: looks for what is to be shown, and says how far it is.
        selected_in: path of the context of the current message; None where there is none.
        own_filter: the bar's own text alone; None where it is all that is in force, or was not compiled by itself.
    """

    filter_applied = Signal(str)
    filter_grown = Signal(str)
    filter_failed = Signal(object)
    filter_refused = Signal(str)
    highlight_requested = Signal(str)
    scope_changed = Signal(object)
    calls_switched = Signal()

    def __init__(self, document: CaptureDocument, rows: VisibleRows, parent: QObject) -> None:
        """Show everything.

        Args:
            document: whose messages they are.
            rows: those that are shown.
            parent: owner.
        """
        super().__init__(parent)
        self._document = document
        self._rows = rows
        self._rows.choose(self._rows.filter, None)  # what was read before there was a window
        self.selected_in: str | None = None
        self.own_filter: DisplayFilter | None = None
        self._stack = FilterStack()
        self._stacks: dict[str, FilterStack] = {}
        self.search = RunningSearch(self._rows, self)

    def check_filter(self, text: str) -> FilterError | None:
        """What is wrong with a filter; None when nothing is."""
        try:
            self.compile(text)
        except FilterError as error:
            return error
        return None

    def compile(self, text: str) -> DisplayFilter:
        """A filter as it would be put in force now, where `$context` stands for the context selected.

        Raises:
            FilterError: it is no filter.
        """
        return compile_filter(text, selected_context=self.selected_context)

    @property
    def stack(self) -> FilterStack:
        """The stacked conditions and the bar's own text that make the filter in force, or on its way to be."""
        return self._stack

    def preview(self, text: str) -> int | None:
        """How many messages would be shown with this text in the bar; None where finding out takes its time."""
        try:
            filter_ = self.compile(self._stack.with_text(text).combined)
        except FilterError:
            return None
        most = _PREVIEWED if filter_.is_cheap(self._document.analysis) else _DEAR_PREVIEWED
        if len(self._document.analysis) > most:
            return None
        search = Search(self._rows, filter_, self.scope)
        return len(search.result()) if search.step(time.perf_counter() + budgets.current.first_s) else None

    def apply_filter(self, text: str) -> None:
        """Put this display filter alone in force; a wrong one changes nothing but what the bar says.

        Stacked conditions stay, switched off.
        """
        self.apply_stack(self._stack.alone(text))

    def apply_own_text(self, text: str, compiled: DisplayFilter | None = None) -> None:
        """Put what was written into the filter bar in force, together with the stacked conditions that are on.

        Args:
            text: what was written.
            compiled: the same compiled, where that was done to check it.
        """
        self.apply_stack(self._stack.with_text(text), compiled)

    def stack_filter(self, text: str, compiled: DisplayFilter | None = None) -> None:
        """Turn what was written into the filter bar into one more condition; the bar is free for the next.

        Args:
            text: what was written.
            compiled: the same compiled, where that was done to check it.
        """
        if compiled is not None or self.check_filter(text) is None:
            self.apply_stack(self._stack.stacked(resolved(text, self.selected_context)), compiled)

    def apply_stack(self, stack: FilterStack, compiled: DisplayFilter | None = None) -> None:
        """Put conditions and the bar's own text in force; where they are no filter nothing changes but what is said.

        Args:
            stack: the conditions and the text.
            compiled: a part of it that was compiled already; it is not compiled again.
        """
        stack = stack.settled()
        combined, own = stack.combined, None
        try:
            if stack.text != combined and stack.text.strip():
                # First, for only in the bar can an error be shown in its place.
                own = compiled if compiled is not None and compiled.text == stack.text else self.compile(stack.text)
            filter_ = compiled if compiled is not None and compiled.text == combined else self.compile(combined)
        except FilterError as error:
            self.filter_failed.emit(error)
            return
        self.own_filter = own
        self._keep_stack(stack)
        self.search.start(filter_, self.scope)
        self.filter_applied.emit(filter_.text)

    def _keep_stack(self, stack: FilterStack) -> None:
        """Say what the filter in force is made of, and remember it for whoever returns to it."""
        self._stack = stack
        self._stacks.pop(stack.combined, None)
        self._stacks[stack.combined] = stack
        if len(self._stacks) > _MOST_STACKS:
            del self._stacks[next(iter(self._stacks))]

    def combine_filter(self, text: str, mode: str = "replace") -> None:
        """Apply a filter a cell, node or value asked for.

        Args:
            text: the filter.
            mode: replace; and, and_not (one more condition: the filter, or its opposite); or (show it as well);
                highlight (it filters nothing, but its messages stand out).

        A filter with a secret in it is refused: it would stand in the bar, in the history, and in what is saved.
        """
        if mask_text(text) != text:
            self.filter_refused.emit("This value holds a secret, so no filter is made of it.")
            return
        match mode:
            case "highlight":
                self.highlight_requested.emit(text)
            case "and":
                self.apply_stack(self._stack.added(text))
            case "and_not":
                self.apply_stack(self._stack.added(opposite(text)))
            case "or":
                self.apply_stack(self._stack.widened(text))
            case _:
                self.apply_filter(text)

    def choose(self, field: str, value: str, hide: bool) -> None:
        """Show the messages alone that have a value of a field, or hide them; asked again, no longer.

        Args:
            field: its name.
            value: one of it; several may be chosen.
            hide: hide those that have it.
        """
        if mask_text(value) != value:
            self.filter_refused.emit("This value holds a secret, so no filter is made of it.")
            return
        self.apply_stack((excluded_with if hide else chosen_with)(self._stack, field, value))

    def set_scope(self, scope: Scope | None) -> None:
        """Bind the table to a part of the tree, or to everything."""
        now = self.scope
        another = scope is not None and (now is None or now.place != scope.place)
        if another and self._stack.besides:  # what is shown as well was an exception to the view before
            self.apply_stack(self._stack.showing(""))
        self.search.start(self.filter, scope)
        self.scope_changed.emit(scope)

    @property
    def view(self) -> View:
        """What chooses the messages shown; `show_view` returns to it."""
        return self.filter, self.scope, self._stack

    def show_view(self, view: View) -> None:
        """Return to a view."""
        self.put_view(*view)

    def clear(self) -> None:
        """Show everything: no filter, no condition, no scope."""
        self.put_view(compile_filter(""), None, FilterStack())

    def show_everything(self) -> None:
        """Show everything: filter and scope go; conditions stay, switched off."""
        self.put_view(compile_filter(""), None, self._stack.alone(""))

    def put_view(self, filter_: DisplayFilter, scope: Scope | None, stack: FilterStack | None = None) -> None:
        """Return to a view, or show one that was not asked for by its filter: then conditions stay, switched off."""
        if filter_ is self.filter and scope == self.scope:
            return
        self._keep_stack(stack or self._stacks.get(filter_.text) or self._stack.alone(filter_.text))
        self.search.start(filter_, scope)
        self.scope_changed.emit(scope)
        self.filter_applied.emit(filter_.text)

    def search_all(self) -> None:
        """Let the filter bar's own text choose among all messages.

        The scope goes and other conditions are switched off; with neither, all goes.
        """
        if self.scope is None and self._stack.combined == self._stack.text.strip():
            self.clear()
            return
        self.set_scope(None)
        self.apply_stack(self._stack.alone(self._stack.text))

    def show_pending(self) -> None:
        """Show the requests without an answer and the proposals nobody has acted on."""
        self.set_scope(None)
        self.apply_filter(PENDING_FILTER)

    def grow(self, filter_: DisplayFilter) -> None:
        """Go on with a chain that is shown alone by a filter that has it as it is now; nobody chose that one."""
        self._keep_stack(self._stack.alone(filter_.text))
        self.search.start(filter_, self.scope)
        self.filter_grown.emit(filter_.text)

    def show_hidden_calls(self) -> None:
        """Show the requests and proposals as well that filter and scope hide; both stay what they are."""
        self.let_calls_through(True)

    def hide_calls_again(self) -> None:
        """Let filter and scope hide requests and proposals as they did before."""
        self.let_calls_through(False)

    @property
    def shows_calls(self) -> bool:
        """Whether requests and proposals are shown that filter or scope would hide."""
        return bool(self._stack.besides) or (self.scope is not None and self.scope.calls)

    def let_calls_through(self, on: bool) -> None:
        """Let requests and proposals through filter and scope, or not."""
        self.calls_switched.emit()
        stack = self._stack.showing(CALLS if on else "").settled()
        scope = None if self.scope is None else replace(self.scope, calls=on)
        try:
            filter_ = self.compile(stack.combined)
        except FilterError as error:  # of $context, which stands for nothing any more
            self.filter_failed.emit(error)
            return
        self.put_view(filter_, scope, stack)

    @property
    def filter(self) -> DisplayFilter:
        """The filter in force, or on its way to be."""
        return self.search.filter

    @property
    def scope(self) -> Scope | None:
        """The scope in force, or on its way to be."""
        return self.search.scope

    @property
    def selected_context(self) -> str | None:
        """Path `$context` stands for: the scope's node, else the context of the current message."""
        tree = self._document.analysis.contexts.tree
        scope = self.scope
        if scope is not None and scope.node is not None and tree.resolve(scope.node) >= 0:
            return tree.path(tree.resolve(scope.node))
        return self.selected_in
