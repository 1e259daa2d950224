"""Opens sessions of coding agents from this machine: a dialog that lists them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from inspector.base.targets import session_target
from inspector.engine.requests.agent_sessions import AgentSession, NewestSessions, find_sessions
from inspector.ui.dialogs.agent_sessions import AgentSessionsDialog

if TYPE_CHECKING:
    from inspector.ui.panels.start.panel import StartPage
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack

NOT_LOOKED = "The lookup of agent sessions is switched off in Settings > General > Startup."


class AgentSessions(QObject):
    """Shows the list of agent sessions and opens the chosen one.

    Signals:
        chosen(str): the target to open, in the form of `base.targets`.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget, services: Services, notices: NoticeStack) -> None:
        """Stores its collaborators.

        Args:
            parent: the window, parent of the dialog.
            services: the look, the settings and background tasks.
            notices: shows that the settings disable the lookup.
        """
        super().__init__(parent)
        self._parent, self._services, self._notices = parent, services, notices
        self._looking: asyncio.Task[None] | None = None

    def show_dialog(self) -> AgentSessionsDialog | None:
        """Shows the list and fills it. Returns None if the settings disable the lookup."""
        if not self._services.settings.start.agent_sessions:
            self._notices.show_sentence(NOT_LOOKED)
            return None
        dialog = AgentSessionsDialog(self._services.theme, self._parent)
        dialog.open_requested.connect(self._open)
        dialog.refresh_requested.connect(lambda: self._look_up(dialog))
        dialog.finished.connect(lambda _result: self.stop())
        dialog.open()
        self._look_up(dialog)
        return dialog

    def list_newest(self, page: StartPage) -> None:
        """Lists the newest sessions on a start page. The engine for the next document looks them up."""
        if self._services.settings.start.agent_sessions:
            self._services.ask_spare(
                NewestSessions(), lambda found: page.show_sessions(found) if isValid(page) else None,
                lambda: page.show_sessions([]) if isValid(page) else None,
            )  # fmt: skip

    def _look_up(self, dialog: AgentSessionsDialog) -> None:
        self.stop()
        self._looking = self._services.spawn(self._fill(dialog), "look up agent sessions")

    async def _fill(self, dialog: AgentSessionsDialog) -> None:
        dialog.show_lookup(await asyncio.to_thread(find_sessions))

    def stop(self) -> None:
        """Cancels the lookup."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _open(self, session: AgentSession) -> None:
        self.chosen.emit(session_target(session.path))
