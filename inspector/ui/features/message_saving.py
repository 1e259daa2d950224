"""Saves one message with its exact bytes to a file that the user chooses."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.present import formats
from inspector.store.columns.flags import Flag
from inspector.store.messages.exact_bytes import ExactMessage
from inspector.ui.dialogs.questions import open_once

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.services import TaskOwner
    from inspector.ui.widgets.notice import NoticeStack


class MessageSaving(QObject):
    """Saves messages of one window."""

    def __init__(self, shown: Shown, tasks: TaskOwner, notices: NoticeStack, parent: QWidget) -> None:
        """Stores its collaborators.

        Args:
            shown: the document and its panes.
            tasks: runs the writing task.
            notices: shows the result.
            parent: parent of modal dialogs.
        """
        super().__init__(parent)
        self._shown = shown
        self._tasks = tasks
        self._notices = notices
        self._parent = parent

    def attach(self, panes: Panes) -> None:
        panes.messages.save_requested.connect(self.ask_for_file)
        panes.details.links.save_requested.connect(self.ask_for_file)

    def ask_for_file(self, message: int) -> None:
        """Asks for a file and writes the message there."""
        dialog = QFileDialog(self._parent, "Save message as", self._name(message))
        dialog.setObjectName("saveMessageDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.fileSelected.connect(lambda path: self.save(message, Path(path)))
        open_once(dialog)

    def _name(self, message: int) -> str:
        flags = self._shown.document.capture.flags_of(message)
        ending = "bin" if flags & (Flag.UNREADABLE | Flag.FRAME) else "json"
        return f"message {message + 1}.{ending}"

    def save(self, message: int, path: Path) -> None:
        """Writes the message to a file and reports the result."""
        self._tasks.spawn(self._save(message, path), "save a message")

    async def _save(self, message: int, path: Path) -> None:
        number = formats.message_number(message)
        try:
            # Located here because a thread must not read columns or files that the event loop changes.
            exact = ExactMessage(self._shown.document.capture, message)
            written = await asyncio.to_thread(exact.save, path)
        except OSError as error:
            self._notices.show_sentence(
                f"{number} could not be saved as {path}: {error.strerror or error}.", "severity.error"
            )
            return
        self._notices.show_sentence(f"Saved {number} as {path}, {formats.size(written)}.")
