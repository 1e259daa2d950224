"""Closes a window: asks about unsaved captures and ends a live session first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.ui.docview.window_content import Shown
    from inspector.ui.features.capture_saving import CaptureSaving
    from inspector.ui.features.gateway_window import GatewayWatch
    from inspector.ui.msp import MspEditing
    from inspector.ui.services import TaskOwner


class Closing:
    """Closes one window in order: questions, session, window."""

    def __init__(
        self,
        window: QWidget,
        shown: Shown,
        tasks: TaskOwner,
        gateway: GatewayWatch,
        saving: CaptureSaving,
        msp: MspEditing,
    ) -> None:
        """Stores its collaborators.

        Args:
            window: the window that is closed at the end.
            shown: its document, whose capture may be unsaved.
            tasks: runs the questions as a task.
            gateway: has the session to end.
            saving: asks about the capture.
            msp: asks about edited sessions.
        """
        self._window = window
        self._shown = shown
        self._tasks = tasks
        self._gateway = gateway
        self._saving = saving
        self._msp = msp
        self._is_decided = False

    def put_off(self) -> bool:
        """Returns True if the window must stay open for now.

        The window then closes itself after the questions, unless the user cancels.
        """
        if self._is_decided:
            return self._msp.saving.busy
        asks = self._gateway.connection is not None or self._shown.state.unsaved is not None or self._msp.may_lose_any
        if asks:
            self._tasks.spawn(self._close_if_allowed(), "close the window")
        return asks

    @property
    def may_lose_any(self) -> bool:
        """True if closing now would lose data without the user's consent."""
        return self._saving.unsaved or self._msp.may_lose_any

    async def may_close(self) -> bool:
        """Asks about unsaved data. Returns False if the window must stay open."""
        return await self._saving.may_close() and await self._msp.saving.may_close()

    def stay_after_all(self) -> None:
        """Resets the answers because another window was kept open."""
        self._saving.stay_after_all()
        self._msp.saving.stay_after_all()

    async def _close_if_allowed(self) -> None:
        if await self.may_close() and not self._is_decided:
            await self.aclose()

    async def aclose(self) -> None:
        """Leaves the gateway, ends the demo and closes the window. Asks no question and keeps an unsaved capture."""
        self._is_decided = True
        await self._msp.saving.wait_for_write()
        await self._gateway.end_session_in_time()
        self._window.close()
