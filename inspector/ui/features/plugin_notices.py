"""Reports parts of plug-ins that failed for the document of a window, and plug-ins switched on or off meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.settings.model import SwitchedPlugin
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.docview.panes import Panes
    from inspector.ui.widgets.notice import NoticeStack

_NOTICE = "plugin-failed"
_SWITCHED_NOTICE = "plugins-switched"
_SWITCHED = "Plug-ins were switched on or off. This applies to logs that are opened from now on."
_NOT_REOPENED = "This window shows traffic that arrives once, so it goes on without the change."


class PluginNotices(QObject):
    """Shows one notice with all parts of plug-ins that have failed since the document was opened."""

    def __init__(
        self, notices: NoticeStack, show_settings: Callable[[], object], switched: Callable[[], list[SwitchedPlugin]],
        reopen: Callable[[], bool], parent: QObject,
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            notices: shows the failures.
            show_settings: opens Settings > Plug-ins.
            switched: returns the plug-ins that are switched on.
            reopen: opens the document again; returns False if it cannot be.
            parent: the owner.
        """
        super().__init__(parent)
        self._notices = notices
        self._show_settings, self._switched, self._reopen = show_settings, switched, reopen
        self._opened_with: list[SwitchedPlugin] = []
        self._client: DocumentClient | None = None
        self._reported: list[str] = []

    def attach(self, panes: Panes) -> None:
        """Begins to report failures."""
        self._reported = []
        self._notices.dismiss(_NOTICE)
        self._notices.dismiss(_SWITCHED_NOTICE)
        self._opened_with = list(self._switched())
        self._client = panes.client
        self._client.state_changed.connect(self._report)
        self._report()

    def apply_settings(self) -> None:
        """Offers to open the document again with other plug-ins."""
        if self._client is None:
            return
        if self._switched() == self._opened_with:
            self._notices.dismiss(_SWITCHED_NOTICE)
        else:
            links = [("Reopen", self._on_reopen)]
            self._notices.show_notice(_SWITCHED_NOTICE, "note", _SWITCHED, links, closable=True)

    def _on_reopen(self) -> None:
        if not self._reopen():
            self._notices.show_notice(_SWITCHED_NOTICE, "note", _NOT_REOPENED, [], closable=True)

    def stop(self) -> None:
        """Stops because the document is about to close."""
        if self._client is not None:
            self._client.state_changed.disconnect(self._report)
            self._client = None

    def _report(self) -> None:
        """Shows new failures once, also if the notice was closed."""
        failures = self._client.state.plugin_failures if self._client is not None else []
        if not {*failures} <= {*self._reported}:
            links = [("Settings...", self._show_settings)]
            self._notices.show_notice(
                _NOTICE, "warning", " ".join(failures), links, token="severity.warning", closable=True
            )  # fmt: skip
        self._reported = failures
