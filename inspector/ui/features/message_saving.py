"""Saves one message with its exact bytes to a file that the user chooses."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.engine.request import RequestError
from inspector.engine.requests.stories import MessageFileName, SaveMessage
from inspector.present import formats
from inspector.ui.dialogs.questions import open_once

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.widgets.notice import NoticeStack


class MessageSaving(QObject):
    """Saves messages of one window."""

    def __init__(self, shown: Shown, notices: NoticeStack, parent: QWidget) -> None:
        """Stores its collaborators.

        Args:
            shown: the document and its panes.
            notices: shows the result.
            parent: parent of modal dialogs.
        """
        super().__init__(parent)
        self._shown = shown
        self._notices = notices
        self._parent = parent

    def attach(self, panes: Panes) -> None:
        panes.messages.save_requested.connect(self.ask_for_file)
        panes.details.links.save_requested.connect(self.ask_for_file)

    def ask_for_file(self, message: int) -> None:
        """Asks for a file and writes the message there."""
        panes = self._shown.panes
        if panes is None:
            return
        name = f"message {message + 1}"
        with contextlib.suppress(RequestError):  # the file has no ending
            name = panes.client.answer_now(MessageFileName(message))
        dialog = QFileDialog(self._parent, "Save message as", name)
        dialog.setObjectName("saveMessageDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.fileSelected.connect(lambda path: self.save(message, Path(path)))
        open_once(dialog)

    def save(self, message: int, path: Path) -> None:
        """Writes the message to a file and reports the result."""
        number, panes = formats.message_number(message), self._shown.panes
        if panes is None:
            return

        def report(written: int) -> None:
            self._notices.show_sentence(f"Saved {number} as {path}, {formats.size(written)}.")

        def report_failure(reason: str) -> None:
            self._notices.show_sentence(
                f"{number} could not be saved as {path}: {reason.rstrip('.')}.", "severity.error"
            )

        panes.client.send_request(SaveMessage(message, path), report, report_failure)
