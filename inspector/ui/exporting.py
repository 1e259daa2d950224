"""Exporting what the table shows as self-contained JSON Lines, while the window stays responsive."""

from __future__ import annotations

import asyncio
import contextlib
import errno
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from inspector.export import Exported, export_file, rows_of
from inspector.ui import formats

if TYPE_CHECKING:
    from inspector.ui.main_window import MainWindow

_SLICE_S = 0.008
_QUIET_S = 0.3
"""Shorter work shows no progress (look.md 9)."""
_TOLD_S = 0.25
_KINDS = "JSON Lines (*.jsonl);;All files (*)"


class Exporting(QObject):
    """Exports the messages one window shows."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._task: asyncio.Task[None] | None = None

    def ask(self) -> None:
        """Ask for a file, then export there what the table shows."""
        window = self._window
        if window.panes is None:
            return
        stem = Path(window.document.name).name.partition(".")[0] or "messages"
        dialog = QFileDialog(window, "Export self-contained", f"{stem}-self-contained.jsonl", _KINDS)
        dialog.setObjectName("exportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("jsonl")
        dialog.fileSelected.connect(lambda path: self.export(Path(path)))
        dialog.open()

    def export(self, target: Path) -> None:
        """Export to a file, and say what became of it; an export at work is given up for it."""
        self.stop()
        self._task = self._window.application.spawn(self._export(target), "export messages")

    def stop(self) -> None:
        """Give up what is at work; what was at the target before is still there."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
            self._window.notices.dismiss("export")

    async def _export(self, target: Path) -> None:
        window, panes = self._window, self._window.panes
        if panes is None:
            return
        rows, chosen = panes.rows.visible, panes.rows.chooses
        done = Exported(0, 0)
        loop = asyncio.get_running_loop()
        begun = told = loop.time()
        until = begun + _SLICE_S
        try:
            with contextlib.closing(export_file(window.document, rows_of(rows), target)) as steps:
                for done in steps:
                    now = loop.time()
                    if now - begun > _QUIET_S and now - told > _TOLD_S:
                        told = now
                        self._tell(done.messages, len(rows), target)
                    if now > until:
                        await asyncio.sleep(0)
                        until = loop.time() + _SLICE_S
        except OSError as error:
            window.notices.dismiss("export")
            what = error.strerror or str(error)
            advice = "choose another name" if error.errno == errno.EEXIST else "choose another folder or name"
            window.say(f"{target.name} could not be written: {what.rstrip('.')}; {advice}.", "severity.error",
                       ("Export...", self.ask))  # fmt: skip
            return
        self._window.notices.dismiss("export")
        view = "the messages of this view" if chosen else "all messages"
        window.say(
            f"Exported {formats.count_of(done.messages, 'message')}, {view}, as {target}, "
            f"{formats.size(done.size_bytes)}. Secrets are masked."
        )

    def _tell(self, done: int, total: int, target: Path) -> None:
        words = f"Exporting to {target.name}: {formats.number(done)} of {formats.count_of(total, 'message')}."
        self._window.notices.show_notice("export", "note", words, [("Cancel", self._cancel)])

    def _cancel(self) -> None:
        self.stop()
        self._window.say("The export was cancelled; nothing was written.")
