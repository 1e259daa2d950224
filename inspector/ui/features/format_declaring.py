"""Declares a format for a log: edits the declaration with a preview, saves it, and opens the log with it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget
from shiboken6 import isValid

from inspector.formats.declared.declaration import DeclarationError
from inspector.present.format_trials import first_declaration, preview_declaration, save_declaration
from inspector.ui.dialogs.declare_format import DeclareFormatDialog
from inspector.ui.dialogs.questions import open_once

if TYPE_CHECKING:
    from inspector.ui.services import Services


class FormatDeclaring(QObject):
    """Shows the dialog and tries its text in a thread, one text at a time.

    Signals:
        saved(Path, str): open this log in the format with this name.
    """

    saved = Signal(object, str)

    def __init__(self, parent: QWidget, services: Services) -> None:
        """Stores its collaborators.

        Args:
            parent: the window, parent of the dialog.
            services: the look and background tasks.
        """
        super().__init__(parent)
        self._parent, self._services = parent, services
        self._wanted: str | None = None
        """Text to try next; newer texts replace it."""
        self._trying = False

    def ask_for_log(self) -> None:
        """Asks for a log, and declares a format for it."""
        dialog = QFileDialog(self._parent, "Log to declare a format for")
        dialog.setObjectName("declareFormatLogDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.show_dialog(Path(path), None))
        open_once(dialog)

    def show_dialog(self, path: Path, name: str | None) -> DeclareFormatDialog:
        """Opens the dialog for a log.

        Args:
            path: the log.
            name: its format, if known; a declared one is edited.
        """
        dialog = DeclareFormatDialog(self._services.theme, path.name, self._parent)
        dialog.edited.connect(lambda text: self._request_preview(dialog, path, text))
        dialog.save_requested.connect(lambda text: self._save(dialog, path, text))
        dialog.open()
        self._services.spawn(self._fill(dialog, path, name), f"guess a declaration for {path.name}")
        return dialog

    async def _fill(self, dialog: DeclareFormatDialog, path: Path, name: str | None) -> None:
        try:
            text = await asyncio.to_thread(first_declaration, path, name)
        except OSError as error:
            text = ""
            if isValid(dialog):
                dialog.show_problem(f"{path.name} cannot be read: {error.strerror or error}.")
        if isValid(dialog) and text:
            dialog.set_text(text)

    def _request_preview(self, dialog: DeclareFormatDialog, path: Path, text: str) -> None:
        self._wanted = text
        if not self._trying:
            self._trying = True
            self._services.spawn(self._try_texts(dialog, path), f"try a declaration on {path.name}")

    async def _try_texts(self, dialog: DeclareFormatDialog, path: Path) -> None:
        try:
            while (text := self._wanted) is not None and isValid(dialog):
                self._wanted = None
                preview = await asyncio.to_thread(preview_declaration, path, text)
                if isValid(dialog):
                    dialog.show_preview(text, preview)
        finally:
            self._trying = False

    def _save(self, dialog: DeclareFormatDialog, path: Path, text: str) -> None:
        try:
            name = save_declaration(text)
        except DeclarationError as error:
            dialog.show_problem(f"{str(error.faults[0]).capitalize()}.")
        except OSError as error:
            dialog.show_problem(f"The declaration cannot be saved: {error.strerror or error}.")
        else:
            dialog.accept()
            self.saved.emit(path, name)
