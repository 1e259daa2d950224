"""One clock for two documents side by side: a selection in one selects the message of the same time in the other."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, SignalInstance
from PySide6.QtWidgets import QApplication

from inspector.engine.requests.moments import FindMessageAt, TimeOfMessage
from inspector.protocol.timestamps import NO_TIME
from inspector.ui.panels.messages.view_rows import VIEW

if TYPE_CHECKING:
    from inspector.engine.requests.columns import ColumnFigures
    from inspector.ui.docview.panes import Panes
    from inspector.ui.window.main_window import MainWindow

ClockMode = Literal["time", "start", "none"]
"""Same time, same time since the first message, or independent selections."""


class SharedClock(QObject):
    """Links the selections of two documents until it is stopped.

    Attributes:
        mode: the meaning of the same time.
    """

    def __init__(self, left: MainWindow, right: MainWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._links: list[tuple[SignalInstance, Callable[..., None]]] = []
        self.mode: ClockMode = "time" if _overlap(left, right) else "start"
        for one, other in ((left, right), (right, left)):
            self._link(one.shown.attached, partial(self._attach, one, other))
            if one.panes is not None:
                self._attach(one, other, one.panes)

    def stop(self) -> None:
        """Ends the link."""
        self.mode = "none"
        for signal, slot in self._links:
            with contextlib.suppress(RuntimeError):  # a document that has gone
                signal.disconnect(slot)
        self._links = []  # which keep both documents
        self.deleteLater()

    def _link(self, signal: SignalInstance, slot: Callable[..., None]) -> None:
        signal.connect(slot)
        self._links.append((signal, slot))

    def _attach(self, one: MainWindow, other: MainWindow, panes: Panes) -> None:
        self._link(panes.selection_changed, partial(self._on_selected, one, other))

    def _on_selected(self, one: MainWindow, other: MainWindow, message: int | None) -> None:
        """Follows selections of the user, who has the focus in that document."""
        focus = QApplication.focusWidget()
        panes = one.panes
        if self.mode == "none" or message is None or panes is None or focus is None or not one.isAncestorOf(focus):
            return
        panes.client.send_request(TimeOfMessage(message), partial(self._show, panes, other))

    def _show(self, panes: Panes, other: MainWindow, time_ns: int) -> None:
        there = other.panes
        if self.mode == "none" or time_ns == NO_TIME or there is None:
            return
        if self.mode == "start":
            here_ns, there_ns = _figures(panes).start_ns, _figures(there).start_ns
            if NO_TIME in (here_ns, there_ns):
                return
            time_ns += there_ns - here_ns
        found = partial(self._select, other, there)
        there.client.send_request(FindMessageAt(VIEW, time_ns), found)

    def _select(self, other: MainWindow, panes: Panes, message: int | None) -> None:
        if message is not None and other.panes is panes and self.mode != "none":
            panes.messages.go_to(message)


def _figures(panes: Panes) -> ColumnFigures:
    return panes.messages.model.figures


def _overlap(left: MainWindow, right: MainWindow) -> bool:
    """Returns True if both documents have messages of the same time."""
    if left.panes is None or right.panes is None:
        return False
    one, other = _figures(left.panes), _figures(right.panes)
    if NO_TIME in (one.start_ns, other.start_ns):
        return False
    return one.start_ns <= other.latest_ns and other.start_ns <= one.latest_ns
