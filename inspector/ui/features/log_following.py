"""Follows the growing log of a window's document in a task, and shows rotations, losses and ends in the status bar."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from inspector.base.async_tasks import start_task
from inspector.document.document import CaptureDocument
from inspector.reading.files.source_reader import POLL_S
from inspector.sources.follow import POLL_S as FOLLOW_S
from inspector.store.columns.block import RUNNING
from inspector.ui import budgets
from inspector.ui.loop_budget import others_first

if TYPE_CHECKING:
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar


class LogFollowing:
    """Follows the log of a document until its window closes, and shows the state in the status bar."""

    def __init__(self, status: StatusBar, notices: NoticeStack) -> None:
        self._status, self._notices = status, notices
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, document: CaptureDocument) -> None:
        """Starts to follow a document that was opened for it."""
        if document.sources.followed is not None and not self._tasks:
            self._show(document)
            start_task(self._run(document), name=f"follow {document.name}", owner=self._tasks)

    def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        self._tasks = set()  # a new set for the next document; cancelled tasks remove themselves from the old one

    async def _run(self, document: CaptureDocument) -> None:
        loop = asyncio.get_running_loop()
        behind, shown, size_shown_s = False, (0, False, RUNNING), loop.time()
        source = document.capture.sources[0]
        while (followed := document.sources.followed) is not None and document.sources.is_following:
            # While catching up it only yields to other tasks between two blocks.
            await asyncio.sleep(0 if behind else POLL_S if followed.is_active else FOLLOW_S)
            await others_first()
            until = time.perf_counter() + budgets.current.slice_s
            behind = document.poll(until=until) and document.has_backlog
            if loop.time() - size_shown_s > 1 and followed.is_active:
                self._status.set_log_size(source.size)
                size_shown_s = loop.time()
            now = followed.rotations, followed.missing, source.server_end
            if shown != now:
                shown = now
                self._show(document)
        # What was written before the end of following is still read.
        while document.poll():  # noqa: ASYNC110 - each round reads a block
            await asyncio.sleep(0)
        self._show(document)

    def _show(self, document: CaptureDocument) -> None:
        followed = document.sources.followed
        if followed is None:
            return
        watched = followed.rotations if followed.trouble is None else None
        ended, badly = document.capture.sources[0].server_end
        self._status.set_watched(watched, missing=followed.missing, ended=ended, badly=badly)
        if followed.trouble is not None:
            self._notices.show_sentence(followed.trouble, "severity.warning")
