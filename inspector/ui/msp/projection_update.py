"""Updates the capture of a window after edits of its sessions.

Appended and changed messages arrive through the document as any growth. After other edits a new projection is read in
slices, and replaces the displayed one with the same view state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from inspector.base.async_tasks import start_task
from inspector.document.document import CaptureDocument
from inspector.msp.projection import Place
from inspector.reading.files.source_reader import LIVE_BLOCK_BYTES
from inspector.ui.docview.document_replacement import read_beside

if TYPE_CHECKING:
    from inspector.ui.docview.document_replacement import Places
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack


class MspFollowing:
    """Keeps the displayed capture, a projection of the sessions, up to date."""

    def __init__(
        self, shown: Shown, services: Services, notices: NoticeStack, *,
        show_instead: Callable[[CaptureDocument, Places], Panes | None], shown_again: Callable[[], None],
    ) -> None:  # fmt: skip
        """Creates the feature.

        Args:
            shown: the displayed document.
            services: contain aliases of tool names.
            notices: shows read errors.
            show_instead: replaces the window's document by another projection.
            shown_again: called after the replacement.
        """
        self._shown = shown
        self._services = services
        self._notices = notices
        self._show_instead = show_instead
        self._shown_again = shown_again
        self._tasks: set[asyncio.Task[Any]] = set()
        self._again = False

    def start(self, document: CaptureDocument) -> None:
        """Follows a document if it shows sessions."""
        if document.sessions is None:
            return
        document.sessions.start(self._schedule_read)
        if document.sessions.missed_any:
            self._schedule_read()

    def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()

    @property
    def active(self) -> bool:
        """True while another projection is being read."""
        # the done callback of a task runs one iteration after its end
        return any(not task.done() for task in self._tasks)

    def _schedule_read(self) -> None:
        self._again = True
        if not self.active:
            start_task(self._read_anew(), name="read sessions anew", owner=self._tasks)

    async def _read_anew(self) -> None:
        while self._again and self._shown.panes is not None:
            self._again = False
            projected = await self._read_projection()
            if projected is not None and not self._again:
                self._replace(projected)
                self.start(projected)
            elif projected is not None:
                projected.close()

    async def _read_projection(self) -> CaptureDocument | None:
        """Reads the present sessions in slices. Returns None if they were edited meanwhile."""
        shown = self._shown.document
        sessions = shown.msp
        if sessions is None:
            return None
        projected = CaptureDocument(shown.name)
        revision = sessions.revision
        try:
            paths = sessions.paths
            steps = projected.open_sessions(paths, block_bytes=LIVE_BLOCK_BYTES, wait=False, sessions=sessions)
            self._again = not await read_beside(steps, lambda _progress: sessions.revision == revision)
            projected.set_tool_aliases(self._services.tool_aliases)
            projected.set_idle_time(self._services.settings.contexts.idle_after_s)
        except OSError as error:
            projected.close()
            sentence = f"The messages could not be updated: {error.strerror or error}."
            self._notices.show_sentence(sentence, "severity.error")
            return None
        # Includes cancellation of the task.
        except BaseException:
            projected.close()
            raise
        return projected

    def _replace(self, projected: CaptureDocument) -> None:
        """Shows another projection in place of the displayed one."""
        shown = self._shown.document
        projected.name, projected.path = shown.name, shown.path  # it may have been saved under another name meanwhile
        if self._show_instead(projected, _ProjectedPlaces()) is not None:
            self._shown_again()


class _ProjectedPlaces:
    """Maps messages of the capture to places in the sessions and back."""

    def place_of(self, document: CaptureDocument, message: int) -> Place | None:
        """Returns the place in the sessions of a message."""
        sessions = document.sessions
        return None if sessions is None else sessions.shown.projection.place_at(message)

    def message_at(self, document: CaptureDocument, place: Place) -> int | None:
        """Returns the message of a place in the sessions."""
        sessions = document.sessions
        return None if sessions is None else sessions.shown.projection.row_at(place)
