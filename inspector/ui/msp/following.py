"""A window of sessions follows their edits: what was added and changed at once, what was taken away by reading anew.

What can be appended or written in its place comes through the document as any growth does. Else another projection is
read in slices beside the one shown, and takes its place when it is complete, with the view as it was.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QDockWidget, QWidget

from inspector.analysis.context_tree import MAIN
from inspector.analysis.marks import ContextTarget
from inspector.base.aio import spawn
from inspector.capture.reading import LIVE_BLOCK_BYTES
from inspector.document.document import CaptureDocument
from inspector.filters.visible import Scope
from inspector.msp.projection import Place
from inspector.present.subject import ContextPlace
from inspector.ui import budgets
from inspector.ui.docview.panel import SUBSESSIONS

if TYPE_CHECKING:
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.requests import WindowRequests
    from inspector.ui.docview.shown import Shown
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack


class MspFollowing:
    """Keeps the capture a window shows up to the sessions it is a projection of."""

    def __init__(
        self, window: QWidget, shown: Shown, services: Services, requests: WindowRequests, notices: NoticeStack,
        docks: Mapping[str, QDockWidget], *,
        show_anew: Callable[[CaptureDocument], Panes], shown_again: Callable[[], None],
    ) -> None:  # fmt: skip
        """Follow nothing yet.

        Args:
            window: keeps what has the keyboard, and paints nothing while its document is exchanged.
            shown: what it shows.
            services: say which tool names mean the same.
            requests: what is asked of the window.
            notices: where it is said what could not be read.
            docks: by title; what has the keyboard in them gets it back.
            show_anew: has the window show another projection of what it shows.
            shown_again: called when it does.
        """
        self._window = window
        self._shown = shown
        self._services = services
        self._requests = requests
        self._notices = notices
        self._docks = docks
        self._show_anew = show_anew
        self._shown_again = shown_again
        self._center: Center | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._again = False

    def attach(self, center: Center) -> None:
        """The window shows the document in these views."""
        self._center = center

    def start(self, document: CaptureDocument) -> None:
        """Follow from now on, if the document shows sessions."""
        if document.sessions is None:
            return
        document.sessions.start(self._renew)
        if document.sessions.missed_any:
            self._renew()

    def stop(self) -> None:
        """Follow no more."""
        for task in list(self._tasks):
            task.cancel()

    @property
    def active(self) -> bool:
        """Whether another projection is being read."""
        return any(not task.done() for task in self._tasks)  # one that has ended is told of a turn later

    def _renew(self) -> None:
        self._again = True
        if not self.active:
            spawn(self._read_anew(), name="read sessions anew", owner=self._tasks)

    async def _read_anew(self) -> None:
        while self._again and self._shown.panes is not None:
            self._again = False
            fresh = await self._projected()
            if fresh is not None and not self._again:
                self._exchange(fresh)
                self.start(fresh)
            elif fresh is not None:
                fresh.close()

    async def _projected(self) -> CaptureDocument | None:
        """The sessions as they are now, read in slices; None where they were edited again meanwhile."""
        shown, loop = self._shown.document, asyncio.get_running_loop()
        if shown.msp is None:
            return None
        fresh = CaptureDocument(shown.name)
        until = loop.time() + budgets.current.slice_s
        revision = shown.msp.revision
        try:
            paths = shown.msp.paths
            steps = fresh.open_sessions(paths, block_bytes=LIVE_BLOCK_BYTES, wait=False, sessions=shown.msp)
            with contextlib.closing(steps):
                for progress in steps:
                    if progress.waiting or loop.time() > until:
                        await asyncio.sleep(budgets.current.input_s if progress.waiting else 0)
                        until = loop.time() + budgets.current.slice_s
                    if shown.msp.revision != revision:
                        self._again = True
                        break
            fresh.use_tool_aliases(self._services.tool_aliases)
            fresh.use_idle_time(self._services.settings.contexts.idle_after_s)
        except OSError as error:
            fresh.close()
            sentence = f"The messages cannot be shown as they are now: {error.strerror or error}."
            self._notices.say(sentence, "severity.error")
            return None
        except BaseException:
            fresh.close()
            raise
        return fresh

    def _exchange(self, fresh: CaptureDocument) -> None:
        """Show another projection in place of the one shown, without a flicker: nothing is painted in between."""
        window, before, shown, center = self._window, self._shown.panes, self._shown.document, self._center
        if before is None or center is None:
            return
        fresh.name, fresh.path = shown.name, shown.path  # it may have been saved under another name meanwhile
        view = _seen(before)
        focus = window.focusWidget()
        dock = next((dock for dock in self._docks.values() if focus is not None and dock.isAncestorOf(focus)), None)
        name = focus.objectName() if focus is not None else ""
        in_center = focus is None or center.isAncestorOf(focus)
        stack = before.filter_state.stack
        window.setUpdatesEnabled(False)
        try:
            _carry_marks(shown, fresh)
            panes = self._show_anew(fresh)
            panes.filter_state.apply_stack(stack)
            _see(panes, view)
            if focus is not None and in_center and center.current == SUBSESSIONS:  # it is the same view as before
                focus.setFocus()
            elif in_center:
                center.take_focus()
            elif dock is not None:
                content = dock.widget() or dock  # those that were there go only with the next turn of the loop
                held = content.findChild(QWidget, name) if name else None
                (held or content).setFocus()
            self._shown_again()
            self._requests.actions_changed.emit()
            self._requests.counts_changed.emit()
        finally:
            window.setUpdatesEnabled(True)
            shown.close()


@dataclass(frozen=True, slots=True)
class _View:
    """What the user sees of a document, said in a way that another projection of it understands."""

    current: Place | None
    selected: list[Place]
    top: Place | None
    scroll: int
    following: bool
    find: str
    scope: tuple[str, str | None, Scope] | None
    place: tuple[str, str | None] | None


_MOST_SELECTED = 200
"""Of more messages that are selected together only the current one stays so."""


def _seen(panes: Panes) -> _View:
    document, table = panes.document, panes.messages.view
    current = panes.messages.current_message()
    top = table.rowAt(0)
    shown = panes.rows.visible
    selected: NDArray[Any] = np.asarray(panes.messages.selected_messages())
    several = selected.tolist() if 1 < len(selected) <= _MOST_SELECTED else []
    place = panes.details.place
    return _View(
        current=_place(document, current),
        selected=[found for row in several if (found := _place(document, row)) is not None],
        top=_place(document, int(shown[top])) if 0 <= top < len(shown) else None,
        scroll=table.verticalScrollBar().value(),
        following=panes.messages.following,
        find=panes.contexts.find_box.text(),
        scope=_scope_words(document, panes.filter_state.scope),
        place=_context_words(document, place.space, place.node) if isinstance(place, ContextPlace) else None,
    )


def _see(panes: Panes, view: _View) -> None:
    """Take up a view where it was left."""
    document, table = panes.document, panes.messages.view
    if view.find:
        panes.contexts.find_box.setText(view.find)
    if view.scope is not None:
        space, name, scope = view.scope
        found = _context_of(document, space, name)
        if found is not None:
            node = None if scope.node is None else found.node
            panes.filter_state.set_scope(Scope(found.space, node, scope.reach, scope.calls))
    panes.messages.follow(view.following)
    row = _row(document, view.current)
    if row is not None and panes.rows.row_of(row) is not None:
        panes.messages.go_to(row)
        _select(panes, row, view.selected)
    top = _row(document, view.top)
    at = panes.rows.row_of(top) if top is not None else None
    bar = table.verticalScrollBar()
    if not view.following:
        bar.setValue(view.scroll if at is None else bar.value() + at - table.rowAt(0))
    if view.place is not None:
        found = _context_of(document, *view.place)
        if found is not None:
            panes.show_context(found.space, found.node)


def _select(panes: Panes, current: int, places: list[Place]) -> None:
    """Select messages together with the current one, as they were."""
    rows = {row for place in places if (row := _row(panes.document, place)) is not None} - {current}
    for row in sorted(rows):
        if panes.rows.row_of(row) is not None:
            panes.messages.view.selection.messages.toggle(row, current)
    panes.messages.view.selection.messages.gathering = False


def _place(document: CaptureDocument, row: int | None) -> Place | None:
    """What of the sessions a row shows."""
    sessions = document.sessions
    return None if sessions is None or row is None else sessions.shown.projection.place_at(row)


def _row(document: CaptureDocument, place: Place | None) -> int | None:
    sessions = document.sessions
    return None if sessions is None or place is None else sessions.shown.projection.row_at(place)


def _context_words(document: CaptureDocument, space: int, node: int) -> tuple[str, str | None]:
    """A context by the names of its session and its own; None for main."""
    tree = document.analysis.contexts.tree
    living = tree.resolve(node)
    return document.capture.strings[space], None if living == MAIN else tree.name[living]


def _scope_words(document: CaptureDocument, scope: Scope | None) -> tuple[str, str | None, Scope] | None:
    if scope is None:
        return None
    return (*_context_words(document, scope.space, MAIN if scope.node is None else scope.node), scope)


def _context_of(document: CaptureDocument, space: str, name: str | None) -> ContextTarget | None:
    code = document.capture.strings.find(space) if space else 0
    if code is None:
        return None
    node = MAIN if name is None else document.analysis.contexts.tree.find(code, name)
    return None if name is not None and node == MAIN else ContextTarget(code, node)


def _carry_marks(shown: CaptureDocument, fresh: CaptureDocument) -> None:
    """Marks and comments stay on what they were put on."""
    marks = shown.analysis.marks
    for target in list(marks.targets()) if len(marks) else ():
        if isinstance(target, ContextTarget):
            there = _context_of(fresh, *_context_words(shown, target.space, target.node))
        else:
            there = _row(fresh, _place(shown, target))
        if there is not None:
            fresh.analysis.marks.put(there, marks.note(target))
