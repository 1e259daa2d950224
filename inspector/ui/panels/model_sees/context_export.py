"""Copies a model context, or has the engine export it to a file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.base.file_names import file_stem
from inspector.engine.requests.seen_contexts import ContextAt, CopyContext, WriteContext
from inspector.present import formats
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text
from inspector.ui import intervals
from inspector.ui.dialogs.questions import open_once
from inspector.ui.widgets.latest_answer import Client, Pending
from inspector.ui.widgets.notice import NoticeStack

COPIED_MOST = 2_000
"""Most entries of a copy; more would block the window."""
_NOTICE = "model-sees"


class ContextExport(QObject):
    """Copies and exports a model context."""

    def __init__(self, client: Client, notices: NoticeStack, parent: QWidget) -> None:
        super().__init__(parent)
        self._client = client
        self._widget = parent
        self._notices = notices
        self._writing: Pending | None = None

    @property
    def working(self) -> bool:
        """True while a file is written."""
        return self._writing is not None

    def copy(self, context: ContextAt, count: int) -> None:
        """Copies the messages as JSON, with secrets masked.

        Args:
            context: the context.
            count: number of its entries.
        """
        # The clipboard needs the whole text at once.
        if count > COPIED_MOST:
            self._show_notice(f"{count:,} entries are too many to copy. Export them to a file instead.", warns=True)
            return

        def take(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            entries = formats.count_of(count, "entry", "entries")
            self._show_notice(f"Copied {entries} as messages JSON. Secrets are masked.")

        self._client.send_request(CopyContext(context), take)

    def ask_for_file(self, context: ContextAt, count: int, *, secrets: bool) -> None:
        """Asks for a file and exports the messages.

        Args:
            context: the context.
            count: number of its entries.
            secrets: write secrets unmasked.
        """
        who = file_stem(mask_text(context.reader.title), "model")
        name = f"{who}-at-{context.message + 1}{'-unmasked' if secrets else ''}.json"
        dialog = QFileDialog(self._widget, "Export model context", name, "JSON (*.json);;All files (*)")
        dialog.setObjectName("modelSeesExportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self.export(context, Path(path), count, secrets=secrets))
        open_once(dialog)

    def export(self, context: ContextAt, target: Path, count: int, *, secrets: bool) -> None:
        """Writes the messages to a file; cancels a running export."""
        self.stop()
        entries = formats.count_of(count, "entry", "entries")
        masked = "Secrets are not masked." if secrets else "Secrets are masked."
        name, reports = safe_line(target.name), intervals.Reports()
        ended = False

        def end(sentence: str, *, warns: bool = False) -> None:
            nonlocal ended
            ended, self._writing = True, None
            self._show_notice(sentence, warns=warns)

        pending = self._client.request_parts(
            WriteContext(context, target, secrets),
            lambda size: self._show_progress(name, size) if reports.due() else None,
            lambda size: end(f"Exported {entries} as {safe_line(str(target))}, {formats.size(size)}. {masked}"),
            lambda reason: end(f"{name} could not be written: {reason}", warns=True),
        )
        # A short export has ended already.
        self._writing = None if ended else pending

    def stop(self) -> None:
        """Cancels a running export; an older target file stays."""
        if self._writing is not None:
            self._writing.cancel()
        self._writing = None

    def _show_progress(self, name: str, size: int) -> None:
        words = f"Exporting to {name}: {formats.size(size)} so far."
        self._notices.show_notice(_NOTICE, "note", words, [("Cancel", self._cancel)])

    def _cancel(self) -> None:
        self.stop()
        self._show_notice("Export cancelled. No file was written.")

    def _show_notice(self, sentence: str, *, warns: bool = False) -> None:
        token = "severity.warning" if warns else "severity.note"
        self._notices.show_notice(_NOTICE, "warning" if warns else "note", sentence, token=token, closable=True)
