"""Replaces a window's document by an edited version; keeps filter, scope, selection and marks.

Keeps selection, position, scope, filter, marks and focus, and paints no intermediate state. Messages have other numbers
in the new document, so both engines map their places.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QDockWidget, QWidget

from inspector.engine import wire
from inspector.engine.requests.filters import Scope
from inspector.engine.requests.places import MAIN, ContextTarget, FoundPlaces, KeepPlaces, RestorePlaces
from inspector.present.places import ContextPlace
from inspector.ui.document_client import DocumentClient

if TYPE_CHECKING:
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.docview.window_requests import WindowRequests


async def read_beside(
    client: DocumentClient, begin: Callable[[], object], is_wanted: Callable[[wire.Reading], bool]
) -> bool:
    """Reads a document that is not shown.

    Args:
        client: the document.
        begin: begins to read.
        is_wanted: called with the progress; False ends the reading.

    Returns:
        True if it was read to its end.

    Raises:
        OpenFailedError: it cannot be read.
        EngineDiedError: the engine has ended.
    """
    async with contextlib.aclosing(client.reading(begin)) as steps:
        async for progress in steps:
            if not is_wanted(progress):
                client.stop_reading()
                return False
    return True


class DocumentReplacement:
    """Replaces the document of a window."""

    def __init__(
        self, window: QWidget, shown: Shown, requests: WindowRequests, docks: Mapping[str, QDockWidget],
        center: Callable[[], Center], show_anew: Callable[[DocumentClient], Panes],
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

    def replace_by(self, client: DocumentClient) -> Panes | None:
        """Shows a document and closes the old one. Returns None if no document is shown."""
        window, before, center = self._window, self._shown.panes, self._center()
        if before is None:
            return None
        view, asked = _capture_view(before)
        places = client.answer_now(RestorePlaces(before.client.answer_now(asked)))
        focus = window.focusWidget()
        dock = next((dock for dock in self._docks.values() if focus is not None and dock.isAncestorOf(focus)), None)
        name = focus.objectName() if focus is not None else ""
        in_center = focus is None or center.isAncestorOf(focus)
        stack = before.filter_state.stack
        # no state between the two documents is painted
        window.setUpdatesEnabled(False)
        try:
            client.take_session(before.client)
            panes = self._show_anew(client)
            panes.filter_state.apply_stack(stack)
            _restore_view(panes, view, _PlaceReader(places))
            shown = center.currentWidget()
            stays = focus is not None and shown is not None and shown.isAncestorOf(focus) and focus.isVisibleTo(shown)
            if focus is not None and stays:  # the view outlives its panes
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
            before.client.close()
            before.client.deleteLater()
        return panes


@dataclass(frozen=True, slots=True)
class _View:
    """The state of a view. Its messages and contexts are in the request for places, in the order of these fields.

    Attributes:
        selected: number of selected messages.
        offset: position of the top row in the viewport, in pixels.
        scope: the scope, and True if it has a context.
    """

    has_current: bool
    selected: int
    has_top: bool
    offset: int
    scroll: int
    following: bool
    find: str
    scope: Scope | None
    has_place: bool


class _PlaceReader:
    """Takes the found places in the order in which they were asked for."""

    def __init__(self, found: FoundPlaces) -> None:
        self._messages, self._contexts, self.source = iter(found.messages), iter(found.contexts), found.source

    def messages(self, count: int) -> list[int | None]:
        return [next(self._messages) for _ in range(count)]

    def message(self, exists: bool) -> int | None:
        return next(self._messages) if exists else None

    def context(self, exists: bool) -> ContextTarget | None:
        return next(self._contexts) if exists else None


_MAX_SELECTED = 200
"""Maximum number of selected messages to restore; of a larger selection only the current one stays."""


def _capture_view(panes: Panes) -> tuple[_View, KeepPlaces]:
    table = panes.messages.view
    current = panes.messages.current_message()
    top = table.rowAt(0)
    shown = panes.rows.visible
    selected: NDArray[Any] = np.asarray(panes.messages.selected_messages())
    several = selected.tolist() if 1 < len(selected) <= _MAX_SELECTED else []
    place, scope = panes.details.place, panes.filter_state.scope
    has_top = 0 <= top < len(shown)
    messages = [*([] if current is None else [current]), *several, *([int(shown[top])] if has_top else [])]
    contexts = []
    if scope is not None and scope.source is None:
        contexts.append(ContextTarget(scope.space, MAIN if scope.node is None else scope.node))
    if isinstance(place, ContextPlace):
        contexts.append(ContextTarget(place.space, place.node))
    view = _View(
        has_current=current is not None,
        selected=len(several),
        has_top=has_top,
        offset=table.rowViewportPosition(top),
        scroll=table.verticalScrollBar().value(),
        following=panes.messages.following,
        find=panes.contexts.find_box.text(),
        scope=scope,
        has_place=isinstance(place, ContextPlace),
    )
    source = None if scope is None else scope.source
    return view, KeepPlaces(tuple(messages), tuple(contexts), source)


def _restore_view(panes: Panes, view: _View, places: _PlaceReader) -> None:
    """Restores the state of a view."""
    table = panes.messages.view
    if view.find:
        panes.contexts.find_box.setText(view.find)
    # The scope first, since it decides which rows can be selected.
    scope = view.scope
    if scope is not None and scope.source is not None:
        panes.filter_state.set_scope(None if places.source is None else replace(scope, source=places.source))
    elif scope is not None and (found := places.context(True)) is not None:
        node = None if scope.node is None else found.node
        panes.filter_state.set_scope(Scope(found.space, node, scope.reach, scope.calls))
    panes.messages.follow(view.following)
    row, selected, top = places.message(view.has_current), places.messages(view.selected), places.message(view.has_top)
    if row is not None and panes.rows.row_of(row) is not None:
        panes.messages.go_to(row)
        _restore_selection(panes, row, selected)
    at = panes.rows.row_of(top) if top is not None else None
    bar = table.verticalScrollBar()
    if not view.following:
        bar.setValue(view.scroll if at is None else bar.value() + table.rowViewportPosition(at) - view.offset)
    place = places.context(view.has_place)
    if place is not None:
        panes.show_context(place.space, place.node)


def _restore_selection(panes: Panes, current: int, messages: Sequence[int | None]) -> None:
    """Selects messages in addition to the current one."""
    for row in sorted({row for row in messages if row is not None} - {current}):
        if panes.rows.row_of(row) is not None:
            panes.messages.view.selection.messages.toggle(row, current)
    panes.messages.view.selection.messages.gathering = False
