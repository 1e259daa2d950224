"""Reports parts of plug-ins that were switched off for the document of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMetaObject, QObject, Qt, QTimer

from inspector.formats import guards
from inspector.protocol.secrets.masking import mask_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.ui.docview.panes import Panes
    from inspector.ui.widgets.notice import NoticeStack

_NOTICE = "plugin-failed"


class PluginNotices(QObject):
    """Shows one notice with all parts of plug-ins that have failed since the document was opened."""

    def __init__(self, notices: NoticeStack, show_settings: Callable[[], object], parent: QObject) -> None:
        """Stores its collaborators.

        Args:
            notices: shows the failures.
            show_settings: opens Settings > Plug-ins.
            parent: the owner.
        """
        super().__init__(parent)
        self._notices = notices
        self._show_settings = show_settings
        self._reported: tuple[guards.Trip, ...] = ()
        # Reading goes on first: the part fails amid a line.
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._report)

    def attach(self, _panes: Panes) -> None:
        """Begins to report failures."""
        self._reported = ()
        self._notices.dismiss(_NOTICE)
        if self._on_trip not in guards.watchers:
            guards.watchers.append(self._on_trip)
        self._timer.start()

    def stop(self) -> None:
        """Stops because the document is about to close."""
        self._timer.stop()
        if self._on_trip in guards.watchers:
            guards.watchers.remove(self._on_trip)

    def _on_trip(self) -> None:
        # A query's thread may notice it, and timers belong to the window's thread.
        QMetaObject.invokeMethod(self._timer, "start", Qt.ConnectionType.QueuedConnection)

    def _report(self) -> None:
        """Shows new failures once, also if the notice was closed."""
        trips = guards.trips()
        # Not by number: another window that opens a log clears them.
        if not {*trips} <= {*self._reported}:
            sentence = " ".join(mask_text(trip.sentence) for trip in trips)
            links = [("Settings...", self._show_settings)]
            self._notices.show_notice(
                _NOTICE, "warning", sentence, links, token="severity.warning", closable=True
            )  # fmt: skip
        self._reported = trips
