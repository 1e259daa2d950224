"""Exports messages or a context: asks for options and a file, and writes in slices; also marks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.analysis.passes.user_marks import ContextTarget
from inspector.base.file_names import file_stem
from inspector.document.marks_file import ExportedNotes, notes_of, write_beside
from inspector.export import DEFAULT_FIELDS, Exported, ExportOptions, Format, preview, rows_of
from inspector.export.files import write_error_words
from inspector.export.msp import export_subsession
from inspector.export.options import MARKED_FIELDS
from inspector.export.steps import export_steps
from inspector.filters import compile_filter
from inspector.present import formats
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.dialogs.export import ExportChoice, ExportDialog, Which
from inspector.ui.dialogs.questions import open_once
from inspector.ui.sliced_work import SlicedWork

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import TaskOwner
    from inspector.ui.widgets.notice import NoticeStack


class Exporting(QObject):
    """Exports messages of one window.

    Signals:
        open_requested(Path): open the written file.
    """

    open_requested = Signal(object)

    def __init__(
        self, theme: ThemeController, shown: Shown, tasks: TaskOwner, notices: NoticeStack, parent: QWidget
    ) -> None:
        """Stores its collaborators.

        Args:
            theme: gives the look of the dialog.
            shown: the document and its panes.
            tasks: runs the task that writes marks.
            notices: shows progress and results.
            parent: parent of modal dialogs.
        """
        super().__init__(parent)
        self._theme = theme
        self._shown = shown
        self._tasks = tasks
        self._notices = notices
        self._parent = parent
        self._writing, self._counting = SlicedWork(self), SlicedWork(self)
        self._writing_marks: asyncio.Task[None] | None = None
        self._dialog: ExportDialog | None = None
        self._last_choice = ExportChoice(Which.SHOWN, ExportOptions())

    def attach(self, panes: Panes) -> None:
        """Connects the export requests of these panes."""
        panes.messages.copy_refused.connect(self._report_not_copied)
        panes.messages.export_requested.connect(self.show_dialog)
        panes.contexts.export_requested.connect(self.ask_context)

    def _report_not_copied(self, sentence: str) -> None:
        self._notices.show_sentence(sentence, link=("Export...", self.show_dialog))

    # Dialogs

    def show_dialog(self) -> None:
        """Asks for messages and format, then for a file."""
        document, panes = self._shown.document, self._shown.panes
        if panes is None or self._dialog is not None or not len(document.analysis):
            return
        counts = {
            Which.SELECTED: len(panes.rows.members(panes.messages.selected_messages())),
            Which.MARKED: len(self._marked_messages()),
            Which.SHOWN: len(panes.rows.chosen),
            Which.ALL: len(document.analysis),
        }
        several = counts[Which.SELECTED] > 1  # a selection of several messages is the likely choice
        before = replace(self._last_choice, which=Which.SELECTED) if several else self._last_choice
        if len(document.analysis.marks) and before.options.fields == DEFAULT_FIELDS:
            before = replace(before, options=replace(before.options, fields=MARKED_FIELDS))
        dialog = self._dialog = ExportDialog(self._theme, counts, before, self._parent)
        dialog.set_has_marks(len(document.analysis.marks) > 0)
        dialog.which_chosen.connect(self._count)
        dialog.accepted_choice.connect(self._on_chosen)
        dialog.finished.connect(self._on_dialog_finished)
        dialog.open()
        self._count()

    def _messages(self, which: Which) -> tuple[Iterable[int], int]:
        """Returns the current messages of a choice, and their count."""
        panes = self._shown.panes
        if panes is None:
            return (), 0
        if which is Which.SELECTED:
            selected = panes.rows.members(panes.messages.selected_messages())
            return rows_of(selected), len(selected)
        if which is not Which.ALL:
            rows = self._marked_messages() if which is Which.MARKED else panes.rows.chosen
            return rows_of(rows), len(rows)
        total = len(self._shown.document.analysis)
        return range(total), total

    def _marked_messages(self) -> NDArray[np.int64]:
        analysis = self._shown.document.analysis
        rows = np.arange(len(analysis))
        return rows[compile_filter("mark").mask(analysis, rows)]

    def _count(self, *_which: object) -> None:
        """Counts the secrets of the chosen messages and shows them in the dialog."""
        self._counting.stop()
        dialog = self._dialog
        if dialog is not None:
            dialog.show_preview(None)
            self._counting.start(
                preview(self._shown.document, self._messages(dialog.which)[0]),
                progressed=dialog.show_preview, finished=dialog.show_preview,
                failed=lambda error: dialog.secrets.say_trouble(
                    f"The log cannot be read: {error.strerror or error}."
                ),
                at_once=False,
            )  # fmt: skip

    def _on_dialog_finished(self, _result: int) -> None:
        self._counting.stop()
        self._dialog = None

    def _on_chosen(self, choice: ExportChoice) -> None:
        self._last_choice = choice
        self._ask_for_file(choice)

    def _ask_for_file(self, choice: ExportChoice) -> None:
        format_ = choice.options.format
        stem = file_stem(mask_text(Path(self._shown.document.name).name.partition(".")[0]), "messages")
        alone = "-self-contained" if choice.options.self_contained and format_ == "jsonl" else "-export"
        unmasked = "" if choice.options.masked else "-unmasked"
        ending = Format.JSONL if format_ is Format.OTLP else format_
        name = "-traces" if format_ is Format.OTLP else alone
        kinds = f"{format_.display_name} (*.{ending});;All files (*)"
        dialog = QFileDialog(self._parent, "Export messages", f"{stem}{name}{unmasked}.{ending}", kinds)
        dialog.setObjectName("exportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(ending)
        dialog.fileSelected.connect(lambda path: self.export(Path(path), choice))
        open_once(dialog)

    # Export of a context

    def ask_context(self, target: ContextTarget) -> None:
        """Asks for a file to export a context as a sub-session of its session."""
        label = self._shown.document.analysis.contexts.label(target.node)
        stem = file_stem(mask_text(label), "context")
        kinds = "MSP session (*.json);;All files (*)"
        dialog = QFileDialog(self._parent, "Export as MSP sub-session", f"{stem}.json", kinds)
        dialog.setObjectName("exportContextDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self.export_context(Path(path), target))
        open_once(dialog)

    def export_context(self, target: Path, context: ContextTarget) -> None:
        """Writes a context to a file with masked secrets, and reports the result."""
        self.stop()
        document = self._shown.document
        node = document.analysis.contexts.tree.resolve(context.node)
        self._writing.start(
            export_subsession(document, context.space, node, target),
            finished=lambda done: self._report_context_written(target, done),
            failed=lambda error: self._report_not_written(target, error, lambda: self.ask_context(context)),
            at_once=False,
        )

    def _report_context_written(self, target: Path, done: Exported) -> None:
        self._notices.show_sentence(
            f"Exported {formats.count_of(done.messages, 'message')} as an MSP session with this sub-session, "
            f"{safe_line(str(target))}, {formats.size(done.size_bytes)}. Secrets are masked.",
            link=("Open", lambda: self.open_requested.emit(target)),
        )

    # Writing

    def export(self, target: Path, choice: ExportChoice | None = None) -> None:
        """Exports to a file and reports the result. Cancels a running export."""
        self.stop()
        choice = choice or self._last_choice
        messages, total = self._messages(choice.which)
        view = self._choice_words(choice.which, total)
        beside = choice.marks and choice.options.format is Format.JSONL
        # A second iterator, since writing exhausts the first.
        marked = self._messages(choice.which)[0]
        notes = notes_of(self._shown.document, marked, masked=choice.options.masked) if beside else None
        options = replace(choice.options, view=self._heading(view))
        self._writing.start(
            export_steps(self._shown.document, messages, target, options),
            progressed=lambda done: self._show_progress(done.messages, total, target),
            finished=lambda done: self._on_written(target, choice, view, done, notes),
            failed=lambda error: self._report_not_written(target, error, lambda: self._ask_for_file(choice)),
            at_once=False,
        )

    def _on_written(
        self, target: Path, choice: ExportChoice, view: str, done: Exported, notes: ExportedNotes | None
    ) -> None:
        masked = choice.options.masked
        if notes:
            writing = self._write_marks(target, choice, view, done, notes)
            self._writing_marks = self._tasks.spawn(writing, "write the marks of an export")
        else:
            self._report_written(target, view, done, None, masked=masked)

    async def _write_marks(
        self, target: Path, choice: ExportChoice, view: str, done: Exported, notes: ExportedNotes
    ) -> None:
        """Writes the marks beside the exported file, which is reread for it."""
        try:
            # In a thread, since a large file takes long, and the notes do not change.
            marks = await asyncio.to_thread(write_beside, notes, target)
        except (OSError, ValueError) as error:
            failure = error if isinstance(error, OSError) else OSError(str(error))
            self._report_not_written(target, failure, lambda: self._ask_for_file(choice))
        else:
            self._report_written(target, view, done, marks, masked=choice.options.masked)

    def stop(self) -> None:
        """Cancels the running export. The previous target file stays intact."""
        self._counting.stop()
        self._writing.stop()
        if self._writing_marks is not None:
            self._writing_marks.cancel()
            self._writing_marks = None
        self._notices.dismiss("export")

    def _report_written(self, target: Path, view: str, done: Exported, marks: Path | None, *, masked: bool) -> None:
        """Reports a finished export.

        Args:
            target: the file.
            view: the exported messages in words.
            done: the result.
            marks: the written file of marks; None without one.
            masked: True if secrets are masked.
        """
        self._notices.dismiss("export")
        beside_it = "Its marks are beside it. " if marks is not None and marks.parent == target.parent else ""
        if marks is not None and not beside_it:
            beside_it = "Another file's marks are beside it, so the program's data folder has its own. "
        secrets = "Secrets are masked." if masked else "Secrets are not masked."
        self._notices.show_sentence(
            f"Exported {formats.count_of(done.messages, 'message')}, {view}, as {safe_line(str(target))}, "
            f"{formats.size(done.size_bytes)}. {beside_it}{secrets}",
            "severity.note" if masked else "severity.warning",
        )

    def _report_not_written(self, target: Path, error: OSError, again: Callable[[], object]) -> None:
        self._notices.dismiss("export")
        sentence = f"{safe_line(target.name)} could not be written: {write_error_words(error)}"
        self._notices.show_sentence(sentence, "severity.error", ("Export...", again))

    def _choice_words(self, which: Which, total: int) -> str:
        panes = self._shown.panes
        if which is Which.SELECTED:
            return "the selected message" if total == 1 else "the selected messages"
        if which is Which.MARKED:
            return "the marked messages"
        if which is Which.ALL or panes is None or not panes.rows.is_filtered:
            return "all messages"
        return "the messages of this view"

    def _heading(self, view: str) -> str:
        """Returns the heading of an exported document."""
        panes = self._shown.panes
        text = panes.filter_state.filter.text.strip() if panes is not None else ""
        return f"Messages that match the filter {text}" if text and "view" in view else view[:1].upper() + view[1:]

    def _show_progress(self, done: int, total: int, target: Path) -> None:
        words = (
            f"Exporting to {safe_line(target.name)}: {formats.number(done)} of {formats.count_of(total, 'message')}."
        )
        self._notices.show_notice("export", "note", words, [("Cancel", self._cancel)])

    def _cancel(self) -> None:
        self.stop()
        self._notices.show_sentence("Export cancelled. No file was written.")
