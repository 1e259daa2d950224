"""Exporting messages: asks how and where to, and writes while the window stays responsive."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.analysis.marks import ContextTarget
from inspector.document.marks_file import notes_of, write_beside
from inspector.export import DEFAULT_FIELDS, Exported, Format, Manner, export_file, preview, rows_of
from inspector.export.files import trouble_of
from inspector.export.msp import export_subsession
from inspector.export.options import MARKED_FIELDS
from inspector.filters import compile_filter
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol.secrets.masking import mask_text
from inspector.ui import budgets
from inspector.ui.dialogs.asking import open_once
from inspector.ui.dialogs.export import ExportChoice, ExportDialog, Which

if TYPE_CHECKING:
    from inspector.ui.docview.shown import Shown
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import TaskOwner
    from inspector.ui.widgets.notice import NoticeStack


class Exporting(QObject):
    """Exports messages of one window.

    Signals:
        open_requested(Path): open a file that was written.
    """

    open_requested = Signal(object)

    def __init__(
        self, theme: ThemeController, shown: Shown, tasks: TaskOwner, notices: NoticeStack, parent: QWidget
    ) -> None:
        """Export nothing yet.

        Args:
            theme: gives the look of the dialog.
            shown: whose messages are exported.
            tasks: runs the writing.
            notices: where it is said how far it is, and what became of it.
            parent: dialogs are modal to it.
        """
        super().__init__(parent)
        self._theme = theme
        self._shown = shown
        self._tasks = tasks
        self._notices = notices
        self._parent = parent
        self._task: asyncio.Task[None] | None = None
        self._counting: asyncio.Task[None] | None = None
        self._dialog: ExportDialog | None = None
        self._last = ExportChoice(Which.SHOWN, Manner())

    # Asking

    def ask(self) -> None:
        """Ask which messages and how, then for a file."""
        document, panes = self._shown.document, self._shown.panes
        if panes is None or self._dialog is not None or not len(document.analysis):
            return
        counts = {
            Which.SELECTED: len(panes.messages.selected_messages()),
            Which.MARKED: len(self._marked()),
            Which.SHOWN: len(panes.rows.visible),
            Which.ALL: len(document.analysis),
        }
        several = counts[Which.SELECTED] > 1  # whoever has selected some means them
        before = replace(self._last, which=Which.SELECTED) if several else self._last
        if len(document.analysis.marks) and before.manner.fields == DEFAULT_FIELDS:
            before = replace(before, manner=replace(before.manner, fields=MARKED_FIELDS))
        dialog = self._dialog = ExportDialog(self._theme, counts, before, self._parent)
        dialog.set_has_marks(len(document.analysis.marks) > 0)
        dialog.which_chosen.connect(self._count)
        dialog.accepted_choice.connect(self._on_chosen)
        dialog.finished.connect(self._on_dialog_finished)
        dialog.open()
        self._count()

    def _messages(self, which: Which) -> tuple[Iterable[int], int]:
        """Messages as they are now, and how many."""
        panes = self._shown.panes
        if panes is None:
            return (), 0
        if which is Which.SELECTED:
            selected = panes.messages.selected_messages()
            return rows_of(selected), len(selected)
        if which is not Which.ALL:
            rows = self._marked() if which is Which.MARKED else panes.rows.visible
            return rows_of(rows), len(rows)
        total = len(self._shown.document.analysis)
        return range(total), total

    def _marked(self) -> NDArray[np.int64]:
        """The messages the user marked."""
        analysis = self._shown.document.analysis
        rows = np.arange(len(analysis))
        return rows[compile_filter("mark").mask(analysis, rows)]

    def _count(self, *_which: object) -> None:
        """Count the secrets of the messages chosen, and show them in the dialog."""
        self._stop_counting()
        dialog = self._dialog
        if dialog is not None:
            dialog.show_preview(None)
            self._counting = self._tasks.spawn(self._look(dialog), "look for secrets")

    async def _look(self, dialog: ExportDialog) -> None:
        loop = asyncio.get_running_loop()
        until, told = loop.time() + budgets.current.slice_s, loop.time()
        messages, _ = self._messages(dialog.which)
        try:
            with contextlib.closing(preview(self._shown.document, messages)) as steps:
                for found in steps:
                    now = loop.time()
                    if found.complete or now - told > budgets.current.progress_s:
                        told = now
                        dialog.show_preview(found)
                    if now > until:
                        await asyncio.sleep(0)
                        until = loop.time() + budgets.current.slice_s
        except OSError as error:
            dialog.secrets.say_trouble(f"The log cannot be read: {error.strerror or error}.")

    def _stop_counting(self) -> None:
        if self._counting is not None:
            self._counting.cancel()
            self._counting = None

    def _on_dialog_finished(self, _result: int) -> None:
        self._stop_counting()
        self._dialog = None

    def _on_chosen(self, choice: ExportChoice) -> None:
        self._last = choice
        self._ask_for_file(choice)

    def _ask_for_file(self, choice: ExportChoice) -> None:
        format_ = choice.manner.format
        stem = Path(self._shown.document.name).name.partition(".")[0] or "messages"
        alone = "-self-contained" if choice.manner.self_contained and format_ == "jsonl" else "-export"
        unmasked = "" if choice.manner.masked else "-unmasked"
        kinds = f"{format_.words} (*.{format_});;All files (*)"
        dialog = QFileDialog(self._parent, "Export messages", f"{stem}{alone}{unmasked}.{format_}", kinds)
        dialog.setObjectName("exportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(format_)
        dialog.fileSelected.connect(lambda path: self.export(Path(path), choice))
        open_once(dialog)

    # A context as a sub-session

    def ask_context(self, target: ContextTarget) -> None:
        """Ask for a file to write a context to, as a sub-session of its session."""
        label = self._shown.document.analysis.contexts.label(target.node)
        stem = "-".join("".join(c if c.isalnum() else " " for c in plain(mask_text(label), 40)).split()) or "context"
        kinds = "MSP session (*.json);;All files (*)"
        dialog = QFileDialog(self._parent, "Export as MSP sub-session", f"{stem}.json", kinds)
        dialog.setObjectName("exportContextDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self.export_context(Path(path), target))
        open_once(dialog)

    def export_context(self, target: Path, context: ContextTarget) -> None:
        """Write a context to a file, secrets masked, and say what became of it."""
        self.stop()
        self._task = self._tasks.spawn(self._export_context(target, context), "export a sub-session")

    async def _export_context(self, target: Path, context: ContextTarget) -> None:
        document, loop = self._shown.document, asyncio.get_running_loop()
        until, done = loop.time() + budgets.current.slice_s, Exported(0, 0, Counter())
        node = document.analysis.contexts.tree.resolve(context.node)
        try:
            for done in export_subsession(document, context.space, node, target):  # noqa: B007 - the last counts
                if loop.time() > until:
                    await asyncio.sleep(0)
                    until = loop.time() + budgets.current.slice_s
        except OSError as error:
            self._notices.say(f"{plain(target.name)} could not be written: {trouble_of(error)}", "severity.error",
                       ("Export...", lambda: self.ask_context(context)))  # fmt: skip
            return
        what = formats.count_of(done.messages, "message")
        self._notices.say(
            f"Exported {what} as an MSP session with this sub-session, {plain(str(target))}, "
            f"{formats.size(done.size_bytes)}. Secrets are masked.",
            link=("Open it", lambda: self.open_requested.emit(target)),
        )

    # Writing

    def export(self, target: Path, choice: ExportChoice | None = None) -> None:
        """Export to a file, and say what became of it; an export at work is given up for it."""
        self.stop()
        self._task = self._tasks.spawn(self._export(target, choice or self._last), "export messages")

    def stop(self) -> None:
        """Give up what is at work; what was at the target before is still there."""
        self._stop_counting()
        if self._task is not None:
            self._task.cancel()
            self._task = None
            self._notices.dismiss("export")

    async def _export(self, target: Path, choice: ExportChoice) -> None:
        messages, total = self._messages(choice.which)
        beside = choice.marks and choice.manner.format is Format.JSONL
        exported = self._messages(choice.which)[0]
        notes = notes_of(self._shown.document, exported, masked=choice.manner.masked) if beside else None
        view = self._view(choice.which, total)
        manner = replace(choice.manner, view=self._heading(view))
        try:
            done = await self._write(messages, total, target, manner)
            kept = await asyncio.to_thread(write_beside, notes, target) if notes else None
        except (OSError, ValueError) as error:
            error = error if isinstance(error, OSError) else OSError(str(error))
            self._notices.dismiss("export")
            self._notices.say(f"{plain(target.name)} could not be written: {trouble_of(error)}", "severity.error",
                       ("Export...", lambda: self._ask_for_file(choice)))  # fmt: skip
            return
        self._notices.dismiss("export")
        beside_it = "Its marks lie beside it. " if kept is not None and kept.parent == target.parent else ""
        if kept is not None and not beside_it:
            beside_it = "Beside it lie marks of another file: its own are kept by this program. "
        secrets = "Secrets are masked." if manner.masked else "Secrets are written as they are."
        self._notices.say(
            f"Exported {formats.count_of(done.messages, 'message')}, {view}, as {plain(str(target))}, "
            f"{formats.size(done.size_bytes)}. {beside_it}{secrets}",
            "severity.note" if manner.masked else "severity.warning",
        )

    def _view(self, which: Which, total: int) -> str:
        panes = self._shown.panes
        if which is Which.SELECTED:
            return "the selected message" if total == 1 else "the selected messages"
        if which is Which.MARKED:
            return "the marked messages"
        if which is Which.ALL or panes is None or not panes.rows.chooses:
            return "all messages"
        return "the messages of this view"

    def _heading(self, view: str) -> str:
        """What the messages are, as a document says it."""
        panes = self._shown.panes
        text = panes.filter.text.strip() if panes is not None else ""
        return f"Messages that match the filter {text}" if text and "view" in view else view[:1].upper() + view[1:]

    async def _write(self, messages: Iterable[int], total: int, target: Path, manner: Manner) -> Exported:
        done = Exported(0, 0, Counter())
        loop = asyncio.get_running_loop()
        begun = told = loop.time()
        until = begun + budgets.current.slice_s
        with contextlib.closing(export_file(self._shown.document, messages, target, manner)) as steps:
            for done in steps:
                now = loop.time()
                if now - begun > budgets.current.quiet_s and now - told > budgets.current.progress_s:
                    told = now
                    self._tell(done.messages, total, target)
                if now > until:
                    await asyncio.sleep(0)
                    until = loop.time() + budgets.current.slice_s
        return done

    def _tell(self, done: int, total: int, target: Path) -> None:
        words = f"Exporting to {plain(target.name)}: {formats.number(done)} of {formats.count_of(total, 'message')}."
        self._notices.show_notice("export", "note", words, [("Cancel", self._cancel)])

    def _cancel(self) -> None:
        self.stop()
        self._notices.say("The export was cancelled; nothing was written.")
