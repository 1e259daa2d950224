"""A window's opened log that grows: read on as it does, and said in the status bar."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from inspector.base.aio import spawn
from inspector.capture.block import RUNNING
from inspector.capture.reading import LIVE_BLOCK_BYTES, POLL_S
from inspector.document.document import CaptureDocument

if TYPE_CHECKING:
    from inspector.ui.window.main_window import MainWindow


class Following:
    """Keeps the window's document up to its log until the window closes."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, document: CaptureDocument) -> None:
        """Follow from now on, if the document was opened so."""
        if document.followed is not None and not self._tasks:
            self._show(document)
            spawn(self._run(document), name=f"follow {document.name}", owner=self._tasks)

    def stop(self) -> None:
        """Follow no more."""
        for task in list(self._tasks):
            task.cancel()

    async def _run(self, document: CaptureDocument) -> None:
        loop = asyncio.get_running_loop()
        behind, shown, said = False, (0, False, RUNNING), loop.time()
        while document.followed is not None and document.followed.trouble is None:
            # Catching up, it only lets others have their turn between two blocks.
            await asyncio.sleep(0 if behind else POLL_S)
            behind = document.poll() and document.behind > LIVE_BLOCK_BYTES
            if loop.time() - said > 1 and document.followed.active:
                self._window.status.set_log_size(document.capture.sources[0].size)
                said = loop.time()
            now = document.followed.rotations, document.followed.missing, document.capture.sources[0].ended
            if shown != now:
                shown = now
                self._show(document)
        while document.poll():  # noqa: ASYNC110  each round reads a block
            await asyncio.sleep(0)
        self._show(document)

    def _show(self, document: CaptureDocument) -> None:
        followed = document.followed
        if followed is None:
            return
        watched = followed.rotations if followed.trouble is None else None
        ended, badly = document.capture.sources[0].ended
        self._window.status.set_watched(watched, missing=followed.missing, ended=ended, badly=badly)
        if followed.trouble is not None:
            self._window.say(followed.trouble, "severity.warning")
