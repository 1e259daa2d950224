"""Copying a context, and writing it to a file while the window stays responsive."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.export.files import trouble_of
from inspector.model_context import Moment
from inspector.model_context.file import conversation_json, write_conversation
from inspector.ui import formats
from inspector.ui.widgets.notice import NoticeStack
from inspector.ui.wire_text import plain

COPIED_MOST = 2_000
"""Entries that are copied; more would stall the window, and are for a file."""
_SLICE_S = 0.01
_EVERY_MS = 5
_QUIET_S = 0.3
"""Shorter work shows no progress (look.md 9)."""
_NOTICE = "model-sees"


class HandingOut(QObject):
    """Copies and exports what a model sees.

    Attributes:
        working: a file is being written.
    """

    def __init__(self, notices: NoticeStack, parent: QWidget) -> None:
        super().__init__(parent)
        self._widget = parent
        self._notices = notices
        self._steps: Iterator[int] | None = None
        self._done = ""
        self._size = 0
        self._target = Path()
        self._tell_at = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY_MS)
        self._timer.timeout.connect(self._go_on)

    @property
    def working(self) -> bool:
        """Whether a file is being written."""
        return self._steps is not None

    def copy(self, moment: Moment) -> None:
        """Copy the messages as JSON, secrets masked."""
        count = int(moment.included.sum())
        if count > COPIED_MOST:
            self._say(f"{count:,} entries are too many to copy. Export them to a file instead.", warns=True)
            return
        QGuiApplication.clipboard().setText(conversation_json(moment))
        self._say(f"Copied {formats.count_of(count, 'entry', 'entries')} as messages JSON. Secrets are masked.")

    def ask(self, moment: Moment, *, secrets: bool) -> None:
        """Ask for a file, then write the messages there.

        Args:
            moment: what stands in the context.
            secrets: write them as they are.
        """
        who = "".join(c if c.isalnum() or c in "-_" else "-" for c in moment.context.reader.title)[:40]
        name = f"{who}-at-{moment.message + 1}{'-unmasked' if secrets else ''}.json"
        dialog = QFileDialog(self._widget, "Export what the model sees", name, "JSON (*.json);;All files (*)")
        dialog.setObjectName("modelSeesExportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self.export(moment, Path(path), secrets=secrets))
        dialog.open()

    def export(self, moment: Moment, target: Path, *, secrets: bool) -> None:
        """Write the messages to a file in slices; one at work is given up for it."""
        self.stop()
        self._target = target
        count = formats.count_of(int(moment.included.sum()), "entry", "entries")
        masked = "Secrets are written as they are." if secrets else "Secrets are masked."
        self._done = f"Exported {count} as {plain(str(target))}, {{size}}. {masked}"
        self._steps = write_conversation(moment, target, secrets=secrets)
        self._tell_at = time.perf_counter() + _QUIET_S
        self._timer.start()
        self._go_on()

    def stop(self) -> None:
        """Give up what is at work; what was at the target before is still there."""
        self._timer.stop()
        steps, self._steps = self._steps, None
        if isinstance(steps, Iterator) and hasattr(steps, "close"):
            with contextlib.suppress(OSError):
                steps.close()  # pyright: ignore[reportAttributeAccessIssue]

    def _go_on(self) -> None:
        steps, until = self._steps, time.perf_counter() + _SLICE_S
        if steps is None:
            return
        try:
            for size in steps:
                self._size = size
                if time.perf_counter() >= until:
                    self._tell()
                    return
        except OSError as error:
            self.stop()
            self._say(f"{plain(self._target.name)} could not be written: {trouble_of(error)}", warns=True)
            return
        self.stop()
        self._say(self._done.replace("{size}", formats.size(self._size)))

    def _tell(self) -> None:
        """Say how far it is, a few times a second."""
        if time.perf_counter() >= self._tell_at:
            self._tell_at = time.perf_counter() + _QUIET_S
            words = f"Exporting to {plain(self._target.name)}: {formats.size(self._size)} so far."
            self._notices.show_notice(_NOTICE, "note", words, [("Cancel", self._cancel)])

    def _cancel(self) -> None:
        self.stop()
        self._say("The export was cancelled; nothing was written.")

    def _say(self, sentence: str, *, warns: bool = False) -> None:
        token = "severity.warning" if warns else "severity.note"
        self._notices.show_notice(_NOTICE, "warning" if warns else "note", sentence, token=token, closable=True)
