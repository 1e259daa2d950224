"""How a window closes: what is not saved is asked about first, and a live session ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.ui.docview.shown import Shown
    from inspector.ui.features.capture_saving import CaptureSaving
    from inspector.ui.features.gateway_window import GatewayWatch
    from inspector.ui.msp import MspEditing
    from inspector.ui.services import TaskOwner


class Closing:
    """Settles what becomes of what one window holds before it closes."""

    def __init__(
        self,
        window: QWidget,
        shown: Shown,
        tasks: TaskOwner,
        gateway: GatewayWatch,
        saving: CaptureSaving,
        msp: MspEditing,
    ) -> None:
        """Let it stay open.

        Args:
            window: is closed in the end.
            shown: its document, whose capture may be unsaved.
            tasks: runs the asking.
            gateway: its session ends.
            saving: asks about the capture.
            msp: asks about sessions.
        """
        self._frame = window
        self._shown = shown
        self._tasks = tasks
        self._gateway = gateway
        self._saving = saving
        self._msp = msp
        self._settled = False

    def put_off(self) -> bool:
        """Whether the window must stay for now; it closes by itself as soon as all is settled, unless it shall not."""
        if self._settled:
            return self._msp.saving.busy
        asks = self._gateway.session is not None or self._shown.location.unsaved is not None or self._msp.may_lose_any
        if asks:
            self._tasks.spawn(self._close_if_allowed(), "close the window")
        return asks

    @property
    def may_lose_any(self) -> bool:
        """Whether closing now would lose something that nobody has said may be lost."""
        return self._saving.unsaved or self._msp.may_lose_any

    async def may_close(self) -> bool:
        """Ask what shall become of what is not saved; False when the window shall stay."""
        return await self._saving.may_close() and await self._msp.saving.may_close()

    def stay_after_all(self) -> None:
        """Another window was not to be closed: what was answered here does not count."""
        self._saving.stay_after_all()
        self._msp.saving.stay_after_all()

    async def _close_if_allowed(self) -> None:
        if await self.may_close() and not self._settled:
            await self.aclose()

    async def aclose(self) -> None:
        """Leave the gateway, end the demo, then close the window; nothing is asked, an unsaved capture stays."""
        self._settled = True
        await self._msp.saving.settle()
        await self._gateway.end_session()
        self._frame.close()
