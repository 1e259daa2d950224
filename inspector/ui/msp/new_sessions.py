"""Creates a new session document: asks for label, intent and file, writes it and has it opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.base.file_names import file_stem
from inspector.engine.requests.msp_files import create_sessions
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.dialogs.questions import open_once
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.notice import NoticeStack

_FAILED = "session-not-made"


class MspCreating(QObject):
    """Creates session documents.

    Signals:
        made(Path): a document was written.
    """

    made = Signal(object)

    def __init__(
        self, window: QWidget, themes: ThemeController, notices: NoticeStack, usual_folder: Callable[[], Path]
    ) -> None:
        """Creates the feature.

        Args:
            window: parent of modal dialogs.
            themes: give the look.
            notices: shows errors.
            usual_folder: initial folder of the file dialog.
        """
        super().__init__(window)
        self._window = window
        self._themes = themes
        self._notices = notices
        self._usual_folder = usual_folder

    def ask_for_session(self) -> None:
        """Asks for label and intent, then for a file."""
        from inspector.ui.msp.agreement_dialogs import NewSessionDialog

        dialog = NewSessionDialog(self._themes, self._window)
        dialog.chosen.connect(self._ask_for_place)
        dialog.open()

    def _ask_for_place(self, label: str, intent: str) -> None:
        dialog = QFileDialog(self._window, "Save the new session as", "", "Sessions (*.json);;All files (*)")
        dialog.setObjectName("saveDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.setDirectory(str(self._usual_folder()))
        dialog.selectFile(f"{file_stem(mask_text(label), 'session')}.json")
        dialog.fileSelected.connect(lambda path: self._make(Path(path), label, intent))
        open_once(dialog)

    def _make(self, path: Path, label: str, intent: str) -> None:
        try:
            create_sessions(path, label, intent)  # the file dialog has confirmed a replacement
        except OSError as error:
            reason = str(error.strerror or error).rstrip(".")
            self._notices.show_notice(
                _FAILED, "error", safe_line(f"The session could not be written: {reason}."), token="severity.error",
                closable=True,
            )  # fmt: skip
            return
        self._notices.dismiss(_FAILED)
        self.made.emit(path)
