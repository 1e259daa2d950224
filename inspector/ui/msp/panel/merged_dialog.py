"""Dialog with a whole merged context: reading, copying and export."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.base.file_names import file_stem
from inspector.engine.request import RequestError
from inspector.engine.requests.msp_contexts import (
    CopyMerged,
    DescribeMerged,
    EntryRow,
    EntryText,
    ExportMergedContext,
    MergedFigures,
    ReadMergedEntry,
    WantedContext,
)
from inspector.present import formats
from inspector.present.rows import AUTO, EMPTY, TERTIARY, Column, Layout, Row, Tag, Text
from inspector.present.wire_text import safe_line, visible_controls
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.dialogs.questions import open_once
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.sessions_client import SessionsClient
from inspector.ui.widgets.asked_rows import AskedRows
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.form import CheckField
from inspector.ui.widgets.labels import HairLine, TextLabel
from inspector.ui.widgets.latest_answer import Pending
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

LAYOUT = Layout(((Column(gap=8), Column(width=AUTO, right=True)),))
"""Layer and beginning of the text, and tokens."""


class MergedRows:
    """One row per entry of a merged context, fixed while the dialog is open."""

    layout = LAYOUT

    def __init__(
        self, client: SessionsClient, context: WantedContext, entries: int, changed: Callable[[int, int], object], *,
        counted: bool = True,
    ) -> None:  # fmt: skip
        """Starts without descriptions.

        Args:
            client: asks the engine.
            context: the merged context.
            entries: number of its entries.
            changed: called with start and stop of rows that arrived later than they were asked for.
            counted: True if all its tokens are counted; else it shows none.
        """
        self._entries, self._counted = entries, counted
        self._rows = AskedRows[EntryRow](
            client, lambda start, stop: DescribeMerged(context, start, min(stop, entries)), changed
        )

    def __len__(self) -> int:
        return self._entries

    def key_at(self, row: int) -> Hashable:
        return row

    def row_of(self, key: Hashable) -> int:
        return key if isinstance(key, int) and key < self._entries else -1

    def line(self, row: int) -> EntryRow:
        """Returns a row as texts; an empty one until it has arrived."""
        return self._rows.row(row) or EntryRow(0, "", "", "", "", 0, None)

    def spec(self, row: int) -> Row:
        line = self.line(row)
        shown = f"{line.tokens:,}" if self._counted else ""
        cells = (
            (Tag(str(line.layer or ""), side=15), Text(line.text)),
            (Text(shown, "count", TERTIARY, "never"),) if shown else EMPTY,
        )
        tokens = f", {shown} tokens" if shown else ""
        return Row(
            row, (cells,), line.text, tip=f"{line.text}\n\n{line.reason}",
            spoken=f"Layer {line.layer}, {line.title}: {line.text}{tokens}. {line.reason}",
        )  # fmt: skip


_UNMASKED_HELP = "For this export only. Whoever gets the file can read and use them."
NOTHING = "The merged context is empty."


class MergedDialog(QDialog):
    """A list of entries at the left and the selected one at the right, as of the time it was opened.

    Signals:
        message_requested(object): go to this `MessageRef`.

    Attributes:
        rows, model, view, text: its parts.
    """

    message_requested = Signal(object)

    def __init__(
        self, client: SessionsClient, themes: ThemeController, merged: MergedFigures, context: WantedContext,
        parent: QWidget | None = None, *, counted: bool = True,
    ) -> None:  # fmt: skip
        """Creates the dialog.

        Args:
            client: asks the engine.
            themes: gives the look.
            merged: figures of the merged context.
            context: names it, in these edits alone.
            parent: owner.
            counted: True if all its tokens are counted; else it shows none.
        """
        super().__init__(parent)
        self._client, self._themes, self._merged, self._context = client, themes, merged, context
        self._counted = counted
        self._masked = True
        self._shown_row = -1
        self._writing: Pending | None = None
        self.setObjectName("mergedContext")
        self.setWindowTitle(f"Merged context of {merged.label}")
        self.setAccessibleName(self.windowTitle())
        self._build(merged.label)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.select(0)
        self.view.setFocus()

    # Building

    def _build(self, label: str) -> None:
        self._column = QVBoxLayout(self)
        self._column.addWidget(
            TextLabel(f"Merged context of {label}", variant="title", name="mergedTitle", parent=self)
        )
        self._column.addWidget(TextLabel(self._sum_words(), variant="hint", name="mergedSum", wrap=True, parent=self))
        self.rows = MergedRows(
            self._client, self._context, self._merged.entries, self._on_rows_arrived, counted=self._counted
        )
        self.model = RowsModel(self.rows, self)
        self.view = RowsView(self.model, self._themes, name="mergedEntries", title="Entries", parent=self)
        self.view.set_empty_text(NOTHING)
        self.view.picked.connect(lambda row, _clicked: self._show_row(row))
        self.view.entered.connect(self._on_entered)
        self.view.left.connect(self.reject)
        self.view.copy_asked.connect(self._copy_entry)
        self._splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self._splitter.setObjectName("mergedSplitter")
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.view)
        self._splitter.addWidget(self._build_reading())
        self._splitter.setStretchFactor(1, 1)
        self._column.addWidget(HairLine("mergedLineAbove", self))
        self._column.addWidget(self._splitter, 1)
        self._column.addWidget(HairLine("mergedLine", self))
        self._unmasked = CheckField("Write secrets as they are", _UNMASKED_HELP, name="mergedUnmasked", parent=self)
        self._unmasked.toggled.connect(self._on_unmasked_toggled)
        self.outcome = TextLabel("", variant="small", name="mergedSaid", wrap=True, parent=self)
        self._column.addWidget(self._unmasked)
        self._column.addLayout(self._build_buttons())

    def _build_reading(self) -> QWidget:
        page = QWidget(self)
        page.setObjectName("mergedReading")
        page.setProperty("variant", "base")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._page = QVBoxLayout(page)
        row = QHBoxLayout()
        self._head = TextLabel("", variant="strong", name="mergedHead", parent=page)
        self._go = LinkButton("Go to message", name="mergedGo", parent=page)
        self._go.setToolTip("Show this message in its chat (Enter)")
        self._go.clicked.connect(lambda: self._on_entered(self.view.currentIndex().row()))
        row.addWidget(self._head, 1)
        row.addWidget(self._go)
        self._page.addLayout(row)
        self._reason = TextLabel("", variant="hint", name="mergedReason", wrap=True, parent=page)
        self._page.addWidget(self._reason)
        self.text = QPlainTextEdit(page)
        self.text.setObjectName("mergedText")
        self.text.setAccessibleName("Text of the entry")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._page.addWidget(self.text, 1)
        return page

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.outcome, 1)
        self.copy_button = _button("Copy as messages JSON", "mergedCopy", self)
        self.copy_button.clicked.connect(self.copy)
        self.export_button = _button("Export...", "mergedExport", self)
        self.export_button.clicked.connect(self.ask_for_file)
        close = _button("Close", "mergedClose", self)
        close.setDefault(True)
        close.clicked.connect(self.accept)
        for button in (self.copy_button, self.export_button, close):
            row.addWidget(button)
        return row

    def _sum_words(self) -> str:
        merged = self._merged
        entries = formats.count_of(merged.entries, "entry", "entries")
        tokens = f"{merged.tokens:,} tokens, estimate ({merged.tokenizer}), in " if self._counted else ""
        return f"{tokens}{entries}, in the order they are sent. Secrets are masked here and in copies."

    # Reading

    def select(self, place: int) -> None:
        """Selects and displays the entry with an index."""
        if 0 <= place < len(self.rows):
            self.view.select(place)
            self._show_row(place)

    def _on_rows_arrived(self, start: int, stop: int) -> None:
        self.model.renew(start, stop - 1)
        if start <= self._shown_row < stop:
            self._show_head(self._shown_row)

    def _show_row(self, row: int) -> None:
        self._shown_row = row
        self._show_head(row)
        self._client.send_request(ReadMergedEntry(self._context, row), lambda text: self._show_text(row, text))

    def _show_head(self, row: int) -> None:
        line = self.rows.line(row)
        tokens = f", {formats.count_of(line.tokens, 'token')}" if self._counted else ""
        self._head.setText(f"{line.layer}  {line.title}, {line.role}{tokens}" if line.layer else "")
        self._reason.setText(line.reason)
        self._go.setVisible(line.source is not None)

    def _show_text(self, row: int, text: EntryText) -> None:
        if row == self._shown_row:
            more = f"\n\n… {text.more:,} more characters. Export to read them all." if text.more else ""
            self.text.setPlainText(f"{visible_controls(text.text)}{more}")

    def _on_entered(self, row: int) -> None:
        source = self.rows.line(row).source if 0 <= row < len(self.rows) else None
        if source is not None:
            self.accept()
            self.message_requested.emit(source)

    # Copying and exporting

    def _copy_entry(self, row: int) -> None:
        if row >= 0:
            self._copy(CopyMerged(self._context, row), "Copied this entry. Secrets are masked.")

    def copy(self) -> None:
        """Copies all entries as messages JSON with secrets masked."""
        entries = formats.count_of(len(self.rows), "entry", "entries")
        self._copy(CopyMerged(self._context), f"Copied {entries} as messages JSON. Secrets are masked.")

    def _copy(self, wanted: CopyMerged, outcome: str) -> None:
        try:
            QGuiApplication.clipboard().setText(self._client.answer_now(wanted))
        except RequestError as error:
            outcome = str(error)
        self.outcome.setText(outcome)

    def ask_for_file(self) -> None:
        """Asks for a file, then exports all entries."""
        label = file_stem(mask_text(self._merged.label), "sub-session")
        name = f"{label}-context{'' if self._masked else '-unmasked'}.json"
        dialog = QFileDialog(self, "Export merged context", name, "JSON (*.json);;All files (*)")
        dialog.setObjectName("mergedExportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self.export(Path(path)))
        open_once(dialog)

    def export(self, target: Path) -> None:
        """Writes all entries, and aborts a running export."""
        self._stop_writing()
        self._writing = self._client.request_parts(
            ExportMergedContext(self._context, target, self._masked),
            lambda size: self.outcome.setText(f"Exporting: {formats.size(size)} so far."),
            lambda size: self._on_written(target, size), self.outcome.setText,
        )  # fmt: skip

    def _stop_writing(self) -> None:
        if self._writing is not None:
            self._writing.cancel()

    def _on_written(self, target: Path, size: int) -> None:
        entries = formats.count_of(len(self.rows), "entry", "entries")
        secrets = "Secrets are masked." if self._masked else "Secrets are not masked."
        where = f"{safe_line(str(target))}, {formats.size(size)}"
        self.outcome.setText(f"Exported {entries} as {where}. {secrets}")

    def _on_unmasked_toggled(self, unmasked: bool) -> None:
        self._masked = not unmasked
        words = "Export unmasked..." if unmasked else "Export..."
        self.export_button.setText(words)
        self.export_button.setAccessibleName(words)

    # Qt

    @override
    def done(self, result: int) -> None:
        # A closed dialog must not go on with its export.
        self._stop_writing()
        super().done(result)
        self.deleteLater()

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        zoom, side = theme.zoom, round(20 * theme.zoom)
        self._column.setContentsMargins(side, round(16 * zoom), side, round(14 * zoom))
        self._column.setSpacing(round(8 * zoom))
        pad = theme.metrics.pane_padding
        self._page.setContentsMargins(pad, round(8 * zoom), pad, 0)
        self._page.setSpacing(round(4 * zoom))
        self.text.document().setDocumentMargin(0)
        self.text.setFont(theme.font("body"))
        available = self.screen().availableSize()
        self.resize(min(round(860 * zoom), available.width()), min(round(560 * zoom), available.height()))
        self._splitter.setSizes([round(320 * zoom), round(500 * zoom)])


def _button(text: str, name: str, parent: QWidget) -> QPushButton:
    button = QPushButton(text, parent)
    button.setObjectName(name)
    button.setAccessibleName(text)
    button.setAutoDefault(False)
    return button
