"""Exports messages or a context: asks for options and a file, and shows the progress of the engine."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.base.file_names import file_stem
from inspector.engine.log_files import TemporaryFolder
from inspector.engine.request import RequestError
from inspector.engine.requests.exports import (
    DEFAULT_FIELDS,
    MARKED_FIELDS,
    ContextFileName,
    ContextTarget,
    CountExportable,
    ExportContext,
    ExportMessages,
    ExportOptions,
    ExportProgress,
    Format,
    MessagesOfView,
    PreviewExport,
)
from inspector.present import formats
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.dialogs.export import ExportChoice, ExportDialog, Which
from inspector.ui.dialogs.questions import open_once
from inspector.ui.docview.panel import CONVERSATION
from inspector.ui.panels.messages.view_rows import VIEW

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.panels.conversation.panel import ConversationPanel
    from inspector.ui.widgets.latest_answer import Pending
    from inspector.ui.widgets.notice import NoticeStack


class Exporting(QObject):
    """Exports messages of one window.

    Signals:
        open_requested(Path): open the written file.

    Attributes:
        reads_conversation: returns True while the window shows the conversation.
    """

    open_requested = Signal(object)

    def __init__(self, theme: ThemeController, shown: Shown, notices: NoticeStack, parent: QWidget) -> None:
        """Stores its collaborators.

        Args:
            theme: gives the look of the dialog.
            shown: the document and its panes.
            notices: shows progress and results.
            parent: parent of modal dialogs.
        """
        super().__init__(parent)
        self._theme = theme
        self._shown = shown
        self._notices = notices
        self._parent = parent
        self._writing: Pending | None = None
        self._counting: Pending | None = None
        self._dialog: ExportDialog | None = None
        self._last_choice = ExportChoice(Which.SHOWN, ExportOptions())
        self.reads_conversation: Callable[[], bool] = lambda: False
        self._pages: TemporaryFolder | None = None  # pages to print

    def attach(self, panes: Panes) -> None:
        """Connects the export requests of these panes."""
        panes.messages.copy_refused.connect(self._report_not_copied)
        panes.messages.export_requested.connect(self.show_dialog)
        panes.contexts.export_requested.connect(self.ask_context)
        panes.when_made(CONVERSATION, self._attach_conversation)

    def _attach_conversation(self, panel: ConversationPanel) -> None:
        panel.export_requested.connect(self.export_conversation)
        panel.export.show()

    def _report_not_copied(self, sentence: str) -> None:
        self._notices.show_sentence(sentence, link=("Export...", self.show_dialog))

    # Dialogs

    def show_dialog(self) -> None:
        """Asks for messages and format, then for a file."""
        panes = self._shown.panes
        if panes is None or self._dialog is not None or not panes.client.state.messages:
            return
        counts = self._counts(panes)
        if counts is None:
            return
        several = counts[Which.SELECTED] > 1  # a selection of several messages is the likely choice
        before = replace(self._last_choice, which=Which.SELECTED) if several else self._last_choice
        if self.reads_conversation():
            before = self._conversation_choice(panes)
        has_marks = panes.client.state.marks > 0
        if has_marks and before.options.fields == DEFAULT_FIELDS:
            before = replace(before, options=replace(before.options, fields=MARKED_FIELDS))
        dialog = self._dialog = ExportDialog(self._theme, panes.client, counts, before, self._parent)
        dialog.set_has_marks(has_marks)
        dialog.which_chosen.connect(self._count)
        dialog.accepted_choice.connect(self._on_chosen)
        dialog.finished.connect(self._on_dialog_finished)
        dialog.open()
        self._count()

    @staticmethod
    def _conversation_choice(panes: Panes) -> ExportChoice:
        """Returns the choice of the whole conversation as a page, or of the scope that it shows."""
        which = Which.ALL if panes.filter_state.scope is None else Which.SHOWN
        return ExportChoice(which, ExportOptions(format=Format.CONVERSATION))

    def export_conversation(self) -> None:
        """Asks for the file of a page with the conversation."""
        panes = self._shown.panes
        if panes is not None and panes.client.state.messages:
            self._ask_for_file(self._conversation_choice(panes))

    def _counts(self, panes: Panes) -> dict[Which, int] | None:
        """Returns the number of messages of each choice; None after reporting that they cannot be counted."""
        try:
            found = panes.client.answer_now(CountExportable(VIEW, panes.messages.selected_messages()))
        except RequestError as error:
            self._notices.show_sentence(str(error), "severity.error")
            return None
        return {
            Which.SELECTED: found.selected, Which.MARKED: found.marked, Which.SHOWN: found.shown, Which.ALL: found.all,
        }  # fmt: skip

    @staticmethod
    def _among(panes: Panes, which: Which) -> MessagesOfView | None:
        """Returns the messages of a choice that depends on the table."""
        if which is Which.SELECTED:
            return MessagesOfView(VIEW, panes.messages.selected_messages())
        return MessagesOfView(VIEW) if which is Which.SHOWN else None

    def _count(self, *_which: object) -> None:
        """Counts the secrets of the chosen messages and shows them in the dialog."""
        self._stop_counting()
        dialog, panes = self._dialog, self._shown.panes
        if dialog is None or panes is None:
            return
        dialog.show_preview(None)
        question = PreviewExport(_filter_of(dialog.which), self._among(panes, dialog.which))
        self._counting = panes.client.request_parts(
            question, dialog.show_preview, dialog.show_preview,
            lambda sentence: dialog.secrets.say_trouble(f"The log cannot be read: {sentence.rstrip('.')}."),
        )  # fmt: skip

    def _stop_counting(self) -> None:
        if self._counting is not None:
            self._counting.cancel()
            self._counting = None

    def _on_dialog_finished(self, _result: int) -> None:
        self._stop_counting()
        self._dialog = None

    def _on_chosen(self, choice: ExportChoice) -> None:
        self._last_choice = choice
        self._ask_for_file(choice)

    def _ask_for_file(self, choice: ExportChoice) -> None:
        format_, panes = choice.options.format, self._shown.panes
        if panes is None:
            return
        stem = self._stem(panes)
        alone = "-self-contained" if choice.options.self_contained and format_ == "jsonl" else "-export"
        unmasked = "" if choice.options.masked else "-unmasked"
        ending = Format.JSONL if format_ is Format.OTLP else format_.ending
        name = {Format.OTLP: "-traces", Format.CONVERSATION: "-conversation"}.get(format_, alone)
        kinds = f"{format_.display_name} (*.{ending});;All files (*)"
        if format_ is Format.CONVERSATION:
            kinds = "Web page (*.html);;Markdown (*.md);;All files (*)"
        dialog = QFileDialog(self._parent, "Export messages", f"{stem}{name}{unmasked}.{ending}", kinds)
        dialog.setObjectName("exportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(ending)
        dialog.fileSelected.connect(lambda path: self.export(Path(path), choice))
        open_once(dialog)

    @staticmethod
    def _stem(panes: Panes) -> str:
        name = Path(panes.client.state.name)
        stem = Path(name.stem).stem if name.suffix in (".gz", ".zst", ".bz2", ".xz", ".br", ".lz4") else name.stem
        return file_stem(mask_text(stem), "messages")

    # Print

    def print_conversation(self) -> None:
        """Writes the conversation of the shown messages as a page, and opens it in the browser to be printed."""
        panes = self._shown.panes
        if panes is None or not panes.client.state.messages:
            return
        self.stop()
        name = f"{self._stem(panes)}-conversation.html"
        try:
            self._pages = self._pages or TemporaryFolder()
        except OSError as error:
            self._notices.show_sentence(f"{name} cannot be written: {error.strerror or error}.")
            return
        target = self._pages.path / name
        counts = self._counts(panes)
        if counts is None:
            return
        among = MessagesOfView(VIEW) if panes.rows.is_filtered else None
        total = counts[Which.ALL if among is None else Which.SHOWN]
        self._writing = panes.client.request_parts(
            ExportMessages(target, Format.CONVERSATION, among=among),
            lambda done: self._show_progress(done.messages, total, target), lambda _done: self._open_page(target),
            lambda reason: self._report_not_written(target, reason, self.print_conversation),
        )  # fmt: skip

    def _open_page(self, page: Path) -> None:
        self._notices.dismiss("export")
        if QDesktopServices.openUrl(QUrl.fromLocalFile(str(page))):
            self._notices.show_sentence("The conversation is open in the browser, which can print it.")
        else:
            self._notices.show_sentence(
                "There is no browser to open the page. Export the conversation, and print that file.",
                "severity.error", ("Export...", self.show_dialog),
            )  # fmt: skip

    # Export of a context

    def ask_context(self, target: ContextTarget) -> None:
        """Asks for a file to export a context as a sub-session of its session."""
        panes = self._shown.panes
        if panes is None:
            return
        label = ""
        with contextlib.suppress(RequestError):  # the file has a general name
            label = panes.client.answer_now(ContextFileName(target))
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
        panes = self._shown.panes
        if panes is None:
            return
        self._writing = panes.client.request_parts(
            ExportContext("", target, node=context), lambda _done: None,
            lambda done: self._report_context_written(target, done),
            lambda reason: self._report_not_written(target, reason, lambda: self.ask_context(context)),
        )  # fmt: skip

    def _report_context_written(self, target: Path, done: ExportProgress) -> None:
        self._notices.show_sentence(
            f"Exported {formats.count_of(done.messages, 'message')} as an MSP session with this sub-session, "
            f"{safe_line(str(target))}, {formats.size(done.size_bytes)}. Secrets are masked.",
            link=("Open", lambda: self.open_requested.emit(target)),
        )

    # Writing

    def export(self, target: Path, choice: ExportChoice | None = None) -> None:
        """Exports to a file and reports the result. Cancels a running export."""
        self.stop()
        panes, choice = self._shown.panes, choice or self._last_choice
        if panes is None:
            return
        options, counts = choice.options, self._counts(panes)
        if counts is None:
            return
        total = counts[choice.which]
        view = self._choice_words(choice.which, total)
        request = ExportMessages(
            target, options.format, _filter_of(choice.which), options.fields if options.format is Format.CSV else (),
            options.self_contained, options.masked, self._heading(view), options.raw, options.content,
            choice.marks and options.format is Format.JSONL, self._among(panes, choice.which),
        )  # fmt: skip
        self._writing = panes.client.request_parts(
            request, lambda done: self._show_progress(done.messages, total, target),
            lambda done: self._report_written(target, view, done, masked=options.masked),
            lambda reason: self._report_not_written(target, reason, lambda: self._ask_for_file(choice)),
        )  # fmt: skip

    def stop(self) -> None:
        """Cancels the running export. The previous target file stays intact."""
        self._stop_counting()
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        self._notices.dismiss("export")

    def _report_written(self, target: Path, view: str, done: ExportProgress, *, masked: bool) -> None:
        """Reports a finished export.

        Args:
            target: the file.
            view: the exported messages in words.
            done: the result.
            masked: True if secrets are masked.
        """
        self._notices.dismiss("export")
        marks = done.marks
        beside_it = "Its marks are beside it. " if marks is not None and marks.parent == target.parent else ""
        if marks is not None and not beside_it:
            beside_it = "Another file's marks are beside it, so the program's data folder has its own. "
        secrets = "Secrets are masked." if masked else "Secrets are not masked."
        self._notices.show_sentence(
            f"Exported {formats.count_of(done.messages, 'message')}, {view}, as {safe_line(str(target))}, "
            f"{formats.size(done.size_bytes)}. {beside_it}{secrets}",
            "severity.note" if masked else "severity.warning",
        )

    def _report_not_written(self, target: Path, reason: str, again: Callable[[], object]) -> None:
        self._notices.dismiss("export")
        sentence = f"{safe_line(target.name)} could not be written: {reason}"
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


def _filter_of(which: Which) -> str:
    return "mark" if which is Which.MARKED else ""
