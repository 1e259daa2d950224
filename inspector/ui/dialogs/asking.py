"""Waiting for what the user answers in a dialog: which button, or which file."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.ui.dialogs.message import MessageDialog
from inspector.ui.look.theme import ThemeController


class Asking:
    """Asks questions in one window, and knows whether one stands there unanswered."""

    def __init__(self, parent: QWidget, theme_controller: ThemeController) -> None:
        self._parent, self._themes = parent, theme_controller
        self._dialog: MessageDialog | None = None

    def raise_unanswered(self) -> bool:
        """Bring the question that is not answered yet to the front; whether there is one."""
        if self._dialog is not None:
            self._dialog.raise_()
        return self._dialog is not None

    async def ask(self, title: str, text: str, answers: tuple[tuple[str, str], ...]) -> str:
        """Ask, and wait for the id of the answer; arguments as those of `MessageDialog`."""
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._parent.activateWindow()
        self._dialog = MessageDialog.ask(self._parent, self._themes, title, text, answers)

        def answered(chosen: str) -> None:
            self._dialog = None  # it deletes itself
            if not answer.done():
                answer.set_result(chosen)

        self._dialog.answered.connect(answered)
        return await answer


def open_once(dialog: QFileDialog) -> None:
    """Open a file dialog, which goes when it is closed: as long as it lives it watches the folder it showed."""
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


async def chosen_file(dialog: QFileDialog) -> Path | None:
    """Open a file dialog, and wait for what is chosen; None when it is closed. It is deleted then."""
    answer: asyncio.Future[Path | None] = asyncio.get_running_loop().create_future()
    dialog.fileSelected.connect(lambda path: answer.done() or answer.set_result(Path(path)))
    dialog.rejected.connect(lambda: answer.done() or answer.set_result(None))
    dialog.open()
    try:
        return await answer
    finally:
        dialog.deleteLater()
