"""Awaitable dialogs: questions with buttons, and file dialogs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.ui.dialogs.message_dialog import MessageDialog
from inspector.ui.look.theme import ThemeController


class Asking:
    """Asks questions in one window and tracks the open one."""

    def __init__(self, parent: QWidget, theme_controller: ThemeController) -> None:
        self._parent, self._themes = parent, theme_controller
        self._dialog: MessageDialog | None = None

    def raise_unanswered(self) -> bool:
        """Raises the open question. Returns False if there is none."""
        if self._dialog is not None:
            self._dialog.raise_()
        return self._dialog is not None

    async def ask_question(self, title: str, text: str, answers: tuple[tuple[str, str], ...]) -> str:
        """Asks and returns the id of the answer. Arguments as for `MessageDialog`."""
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        # the window may be behind others, as when the program quits
        self._parent.activateWindow()
        self._dialog = MessageDialog.show_question(self._parent, self._themes, title, text, answers)

        def answered(chosen: str) -> None:
            self._dialog = None  # it deletes itself
            if not answer.done():
                answer.set_result(chosen)

        self._dialog.answered.connect(answered)
        return await answer


def open_once(dialog: QFileDialog) -> None:
    """Opens a file dialog and deletes it when it closes. A living one keeps watching its folder."""
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


async def chosen_file(dialog: QFileDialog) -> Path | None:
    """Opens a file dialog and returns the chosen path, or None if it was closed. Deletes the dialog."""
    answer: asyncio.Future[Path | None] = asyncio.get_running_loop().create_future()
    # A cancelled future refuses a result, and the dialog may still answer.
    dialog.fileSelected.connect(lambda path: answer.done() or answer.set_result(Path(path)))
    dialog.rejected.connect(lambda: answer.done() or answer.set_result(None))
    # `exec` inside a coroutine raises "Cannot enter into task".
    dialog.open()
    try:
        return await answer
    finally:
        dialog.deleteLater()
