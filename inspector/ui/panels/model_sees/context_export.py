"""Copies a model context, or exports it to a file in slices."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.analysis.views.model_context import Moment
from inspector.analysis.views.model_context.json_export import conversation_json, write_conversation
from inspector.base.file_names import file_stem
from inspector.export.files import write_error_words
from inspector.present import formats
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.dialogs.questions import open_once
from inspector.ui.sliced_work import SlicedWork
from inspector.ui.widgets.notice import NoticeStack

COPIED_MOST = 2_000
"""Most entries of a copy; more would block the window."""
_NOTICE = "model-sees"


class ContextExport(QObject):
    """Copies and exports a model context."""

    def __init__(self, notices: NoticeStack, parent: QWidget) -> None:
        super().__init__(parent)
        self._widget = parent
        self._notices = notices
        self._writing = SlicedWork(self)

    @property
    def working(self) -> bool:
        """True while a file is written."""
        return self._writing.working

    def copy(self, moment: Moment) -> None:
        """Copies the messages as JSON, with secrets masked."""
        count = int(moment.included.sum())
        # The export runs in slices; the clipboard needs the whole text at once.
        if count > COPIED_MOST:
            self._show_notice(f"{count:,} entries are too many to copy. Export them to a file instead.", warns=True)
            return
        QGuiApplication.clipboard().setText(conversation_json(moment))
        self._show_notice(f"Copied {formats.count_of(count, 'entry', 'entries')} as messages JSON. Secrets are masked.")

    def ask_for_file(self, moment: Moment, *, secrets: bool) -> None:
        """Asks for a file and exports the messages.

        Args:
            moment: the context at a message.
            secrets: write secrets unmasked.
        """
        who = file_stem(mask_text(moment.context.reader.title), "model")
        name = f"{who}-at-{moment.message + 1}{'-unmasked' if secrets else ''}.json"
        dialog = QFileDialog(self._widget, "Export model context", name, "JSON (*.json);;All files (*)")
        dialog.setObjectName("modelSeesExportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self.export(moment, Path(path), secrets=secrets))
        open_once(dialog)

    def export(self, moment: Moment, target: Path, *, secrets: bool) -> None:
        """Writes the messages to a file in slices; cancels a running export."""
        count = formats.count_of(int(moment.included.sum()), "entry", "entries")
        masked = "Secrets are not masked." if secrets else "Secrets are masked."
        name = safe_line(target.name)
        self._writing.start(
            write_conversation(moment, target, secrets=secrets),
            progressed=lambda size: self._show_progress(name, size),
            finished=lambda size: self._show_notice(
                f"Exported {count} as {safe_line(str(target))}, {formats.size(size)}. {masked}"
            ),
            failed=lambda error: self._show_notice(
                f"{name} could not be written: {write_error_words(error)}", warns=True
            ),
        )

    def stop(self) -> None:
        """Cancels a running export; an older target file stays."""
        self._writing.stop()

    def _show_progress(self, name: str, size: int) -> None:
        words = f"Exporting to {name}: {formats.size(size)} so far."
        self._notices.show_notice(_NOTICE, "note", words, [("Cancel", self._cancel)])

    def _cancel(self) -> None:
        self.stop()
        self._show_notice("Export cancelled. No file was written.")

    def _show_notice(self, sentence: str, *, warns: bool = False) -> None:
        token = "severity.warning" if warns else "severity.note"
        self._notices.show_notice(_NOTICE, "warning" if warns else "note", sentence, token=token, closable=True)
