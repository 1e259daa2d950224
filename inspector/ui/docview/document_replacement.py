"""Replaces a window's document by an edited version; keeps filter, scope, selection and marks.

Keeps selection, position, scope, filter, marks and focus, and paints no intermediate state. Messages have other numbers
in the new document, so the caller provides the mapping.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QDockWidget, QWidget

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import ContextTarget
from inspector.document.document import CaptureDocument
from inspector.document.sources import Progress
from inspector.filters.scope import Scope, source_named
from inspector.present.subject import ContextPlace
from inspector.ui import budgets
from inspector.ui.docview.panel import SUBSESSIONS

if TYPE_CHECKING:
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.docview.window_requests import WindowRequests


async def read_beside(steps: Generator[Progress], is_wanted: Callable[[Progress], bool]) -> bool:
    """Reads a document in the background, in slices that keep the window responsive.

    Args:
        steps: the steps of opening it.
        is_wanted: called after each step; False ends the reading.

    Returns:
        True if it was read to its end.

    Raises:
        OSError: it cannot be read.
        UnknownFormatError: no format matches.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + budgets.current.slice_s
    with contextlib.closing(steps):
        for progress in steps:
            if progress.waiting or loop.time() > until:
                # While decoder processes work, polling without a pause would keep this core busy.
                await asyncio.sleep(budgets.current.input_s if progress.waiting else 0)
                until = loop.time() + budgets.current.slice_s
            if not is_wanted(progress):
                return False
    return True


class Places(Protocol):
    """Maps messages of one document to another."""

    def place_of(self, document: CaptureDocument, message: int) -> Hashable | None:
        """Returns a key of a message that is valid in both documents; None if the other one has no such message."""
        ...

    def message_at(self, document: CaptureDocument, place: Any) -> int | None:
        """Returns the message of a key, or None."""
        ...


class DocumentReplacement:
    """Replaces the document of a window."""

    def __init__(
        self, window: QWidget, shown: Shown, requests: WindowRequests, docks: Mapping[str, QDockWidget],
        center: Callable[[], Center], show_anew: Callable[[CaptureDocument], Panes],
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            window: has the focus, and is not painted during the replacement.
            shown: the document and its panes.
            requests: requests to the window.
            docks: the docks by title; the focus in them is restored.
            center: the views of the middle column.
            show_anew: shows another document in the existing docks and views.
        """
        self._window, self._shown, self._requests = window, shown, requests
        self._docks, self._center, self._show_anew = docks, center, show_anew

    def replace_by(self, document: CaptureDocument, places: Places) -> Panes | None:
        """Shows a document and closes the old one. Returns None if no document is shown."""
        window, before, shown, center = self._window, self._shown.panes, self._shown.document, self._center()
        if before is None:
            return None
        view = _capture_view(before, places)
        focus = window.focusWidget()
        dock = next((dock for dock in self._docks.values() if focus is not None and dock.isAncestorOf(focus)), None)
        name = focus.objectName() if focus is not None else ""
        in_center = focus is None or center.isAncestorOf(focus)
        stack = before.filter_state.stack
        # no state between the two documents is painted
        window.setUpdatesEnabled(False)
        try:
            _carry_marks(shown, document, places)
            panes = self._show_anew(document)
            panes.filter_state.apply_stack(stack)
            _restore_view(panes, view, places)
            if focus is not None and in_center and center.current == SUBSESSIONS:  # this view outlives the replacement
                focus.setFocus()
            elif in_center:
                center.take_focus()
            elif dock is not None:
                content = dock.widget() or dock  # old widgets are deleted only in the next iteration of the loop
                held = content.findChild(QWidget, name) if name else None
                (held or content).setFocus()
            self._requests.actions_changed.emit()
            self._requests.counts_changed.emit()
        finally:
            window.setUpdatesEnabled(True)
            shown.close()
        return panes


@dataclass(frozen=True, slots=True)
class _View:
    """The state of a view, in keys that are valid in both documents.

    Attributes:
        offset: position of `top` in the viewport, in pixels.
    """

    current: Hashable | None
    selected: list[Hashable]
    top: Hashable | None
    offset: int
    scroll: int
    following: bool
    find: str
    scope: tuple[str, str | None, Scope] | None
    place: tuple[str, str | None] | None


_MAX_SELECTED = 200
"""Maximum number of selected messages to restore; of a larger selection only the current one stays."""


def _capture_view(panes: Panes, places: Places) -> _View:
    document, table = panes.document, panes.messages.view
    current = panes.messages.current_message()
    top = table.rowAt(0)
    shown = panes.rows.visible
    selected: NDArray[Any] = np.asarray(panes.messages.selected_messages())
    several = selected.tolist() if 1 < len(selected) <= _MAX_SELECTED else []
    place = panes.details.place
    return _View(
        current=None if current is None else places.place_of(document, current),
        selected=[found for row in several if (found := places.place_of(document, row)) is not None],
        top=places.place_of(document, int(shown[top])) if 0 <= top < len(shown) else None,
        offset=table.rowViewportPosition(top),
        scroll=table.verticalScrollBar().value(),
        following=panes.messages.following,
        find=panes.contexts.find_box.text(),
        scope=_scope_words(document, panes.filter_state.scope),
        place=_context_words(document, place.space, place.node) if isinstance(place, ContextPlace) else None,
    )


def _restore_view(panes: Panes, view: _View, places: Places) -> None:
    """Restores the state of a view."""
    document, table = panes.document, panes.messages.view
    if view.find:
        panes.contexts.find_box.setText(view.find)
    # The scope first, since it decides which rows can be selected.
    if view.scope is not None:
        space, name, scope = view.scope
        found = _context_of(document, space, name) if scope.source is None else None
        if scope.source is not None:
            panes.filter_state.set_scope(_source_scope(document, space, scope))
        elif found is not None:
            node = None if scope.node is None else found.node
            panes.filter_state.set_scope(Scope(found.space, node, scope.reach, scope.calls))
    panes.messages.follow(view.following)
    row = None if view.current is None else places.message_at(document, view.current)
    if row is not None and panes.rows.row_of(row) is not None:
        panes.messages.go_to(row)
        _restore_selection(panes, row, [places.message_at(document, place) for place in view.selected])
    top = None if view.top is None else places.message_at(document, view.top)
    at = panes.rows.row_of(top) if top is not None else None
    bar = table.verticalScrollBar()
    if not view.following:
        bar.setValue(view.scroll if at is None else bar.value() + table.rowViewportPosition(at) - view.offset)
    if view.place is not None:
        found = _context_of(document, *view.place)
        if found is not None:
            panes.show_context(found.space, found.node)


def _restore_selection(panes: Panes, current: int, messages: Sequence[int | None]) -> None:
    """Selects messages in addition to the current one."""
    for row in sorted({row for row in messages if row is not None} - {current}):
        if panes.rows.row_of(row) is not None:
            panes.messages.view.selection.messages.toggle(row, current)
    panes.messages.view.selection.messages.gathering = False


def _context_words(document: CaptureDocument, space: int, node: int) -> tuple[str, str | None]:
    """Returns the names of a context's session and of the context; None for main."""
    tree = document.analysis.contexts.tree
    living = tree.resolve(node)
    return document.capture.strings[space], None if living == MAIN else tree.name[living]


def _scope_words(document: CaptureDocument, scope: Scope | None) -> tuple[str, str | None, Scope] | None:
    if scope is None:
        return None
    if scope.source is not None:
        return document.capture.sources[scope.source].name, None, scope
    return (*_context_words(document, scope.space, MAIN if scope.node is None else scope.node), scope)


def _source_scope(document: CaptureDocument, name: str, scope: Scope) -> Scope | None:
    source = source_named(document.capture, name)
    return None if source is None else replace(scope, source=source)


def _context_of(document: CaptureDocument, space: str, name: str | None) -> ContextTarget | None:
    code = document.capture.strings.find(space) if space else 0
    if code is None:
        return None
    node = MAIN if name is None else document.analysis.contexts.tree.find(code, name)
    return None if name is not None and node == MAIN else ContextTarget(code, node)


def _carry_marks(shown: CaptureDocument, document: CaptureDocument, places: Places) -> None:
    """Copies marks and comments to the new document."""
    marks = shown.analysis.marks
    for target in list(marks.targets()) if len(marks) else ():
        if isinstance(target, ContextTarget):
            there = _context_of(document, *_context_words(shown, target.space, target.node))
        else:
            place = places.place_of(shown, target)
            there = None if place is None else places.message_at(document, place)
        if there is not None:
            document.analysis.marks.set_note(there, marks.note(target))
