"""Updates the capture of a window after edits of its sessions.

Appended and changed messages arrive through the document as any growth. After other edits the engine reads another
projection, which replaces the displayed one with the same view state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from inspector.base.async_tasks import start_task
from inspector.engine.client import EngineDiedError, OpenFailedError
from inspector.engine.requests.msp_edits import ReadSessionsState, SessionsState
from inspector.engine.targets import OpenOptions
from inspector.ui.docview.document_replacement import read_beside

if TYPE_CHECKING:
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.msp.saving import MspSaving
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack


class MspFollowing:
    """Keeps the displayed capture, a projection of the sessions, up to date."""

    def __init__(
        self, shown: Shown, services: Services, notices: NoticeStack, saving: MspSaving, *,
        show_instead: Callable[[DocumentClient], Panes | None], shown_again: Callable[[], None],
    ) -> None:  # fmt: skip
        """Creates the feature.

        Args:
            shown: the displayed document.
            services: contain aliases of tool names.
            notices: shows read errors.
            saving: has the state of the sessions; a running write ends before the replacement.
            show_instead: replaces the window's document by another projection.
            shown_again: called after the replacement.
        """
        self._shown = shown
        self._services = services
        self._notices = notices
        self._saving = saving
        self._show_instead = show_instead
        self._shown_again = shown_again
        self._tasks: set[asyncio.Task[Any]] = set()
        self._again = False

    def start(self) -> None:
        """Reads the sessions anew if they were edited while they were read."""
        panes = self._shown.panes
        if self._saving.state is None or panes is None:
            return
        panes.client.send_request(ReadSessionsState(), self._on_state)

    def _on_state(self, state: SessionsState | None) -> None:
        self._saving.note_state(state)
        if state is not None and state.is_behind:
            self.schedule_read()

    def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()

    @property
    def active(self) -> bool:
        """True while another projection is being read."""
        # the done callback of a task runs one iteration after its end
        return any(not task.done() for task in self._tasks)

    def schedule_read(self) -> None:
        """Reads the sessions anew, after an edit that the capture cannot show."""
        self._again = True
        if not self.active:
            start_task(self._read_anew(), name="read sessions anew", owner=self._tasks)

    async def _read_anew(self) -> None:
        while self._again and self._shown.panes is not None:
            self._again = False
            projected = await self._read_projection()
            await self._saving.wait_for_write()
            if projected is not None and not self._again:
                if self._show_instead(projected) is not None:
                    self._shown_again()
                self.start()
            elif projected is not None:
                projected.close()

    async def _read_projection(self) -> DocumentClient | None:
        """Reads the present sessions beside the displayed ones. Returns None if that fails."""
        shown = self._shown.client
        if shown is None:
            return None
        projected, settings = shown.beside(), self._services.settings
        projected.setParent(None)  # a window that closes meanwhile must not delete it
        options = OpenOptions(
            memory_mb=settings.memory.limit_mb, idle_after_s=settings.contexts.idle_after_s,
            aliases=tuple(rule.text for rule in self._services.tool_aliases.rules),
        )  # fmt: skip
        try:
            await read_beside(
                projected, lambda: projected.project_sessions(shown, options), lambda _progress: not self._again
            )
        except (OpenFailedError, EngineDiedError) as error:
            projected.close()
            self._notices.show_sentence(f"The messages could not be updated: {error}", "severity.error")
            return None
        # Includes cancellation of the task.
        except BaseException:
            projected.close()
            raise
        return projected
