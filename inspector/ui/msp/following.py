"""A window of sessions follows their edits: what was added and changed at once, what was taken away by reading anew.

What can be appended or written in its place comes through the document as any growth does. Else another projection is
read in slices beside the one shown, and takes its place when it is complete, with the view as it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from inspector.base.async_tasks import spawn
from inspector.document.document import CaptureDocument
from inspector.msp.projection import Place
from inspector.reading.files.source_reader import LIVE_BLOCK_BYTES
from inspector.ui.docview.replacement import read_beside

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.replacement import Places
    from inspector.ui.docview.shown import Shown
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack


class MspFollowing:
    """Keeps the capture a window shows up to the sessions it is a projection of."""

    def __init__(
        self, shown: Shown, services: Services, notices: NoticeStack, *,
        show_instead: Callable[[CaptureDocument, Places], Panes | None], shown_again: Callable[[], None],
    ) -> None:  # fmt: skip
        """Follow nothing yet.

        Args:
            shown: what the window shows.
            services: say which tool names mean the same.
            notices: where it is said what could not be read.
            show_instead: has the window show another projection of what it shows.
            shown_again: called when it does.
        """
        self._shown = shown
        self._services = services
        self._notices = notices
        self._show_instead = show_instead
        self._shown_again = shown_again
        self._tasks: set[asyncio.Task[Any]] = set()
        self._again = False

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
            projected = await self._projected()
            if projected is not None and not self._again:
                self._replace(projected)
                self.start(projected)
            elif projected is not None:
                projected.close()

    async def _projected(self) -> CaptureDocument | None:
        """The sessions as they are now, read in slices; None where they were edited again meanwhile."""
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
            projected.use_tool_aliases(self._services.tool_aliases)
            projected.use_idle_time(self._services.settings.contexts.idle_after_s)
        except OSError as error:
            projected.close()
            sentence = f"The messages cannot be shown as they are now: {error.strerror or error}."
            self._notices.say(sentence, "severity.error")
            return None
        except BaseException:
            projected.close()
            raise
        return projected

    def _replace(self, projected: CaptureDocument) -> None:
        """Show another projection in place of the one shown."""
        shown = self._shown.document
        projected.name, projected.path = shown.name, shown.path  # it may have been saved under another name meanwhile
        if self._show_instead(projected, _ProjectedPlaces()) is not None:
            self._shown_again()


class _ProjectedPlaces:
    """What of the sessions messages show."""

    def place_of(self, document: CaptureDocument, message: int) -> Place | None:
        """What of the sessions a message shows."""
        sessions = document.sessions
        return None if sessions is None else sessions.shown.projection.place_at(message)

    def message_at(self, document: CaptureDocument, place: Place) -> int | None:
        """The message that shows it."""
        sessions = document.sessions
        return None if sessions is None else sessions.shown.projection.row_at(place)
