"""Dialog with a whole merged context: reading, copying and export."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPen
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

from inspector.analysis.views.model_context.json_export import parts_of, write_parts
from inspector.base.file_names import file_stem
from inspector.export.files import write_error_words
from inspector.msp.objects import Message
from inspector.present import formats
from inspector.present.wire_text import safe_line, tool_tip, visible_controls
from inspector.protocol.secrets.masking import mask_text, masked_beginning
from inspector.ui.dialogs.questions import open_once
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.layers import order_words
from inspector.ui.panels.list_delegate import ListDelegate
from inspector.ui.panels.list_view import Key, ListModel, ListView
from inspector.ui.sliced_work import SlicedWork
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.form import CheckField
from inspector.ui.widgets.labels import HairLine, TextLabel

if TYPE_CHECKING:
    from inspector.msp.merged import Entry, MergedContext


def messages_json(merged: MergedContext, *, secrets: bool = False) -> str:
    """Returns a JSON object with `messages` in the format of chat completion APIs.

    Args:
        merged: the merged context.
        secrets: True for secrets in plain text; else they are masked.
    """
    return "".join(_parts(merged, secrets=secrets))


def write_messages(
    merged: MergedContext, target: Path, *, secrets: bool = False, spared: Iterable[Path] = ()
) -> Generator[int]:
    """Writes it to a file atomically, one message per step, and yields the bytes written so far.

    Closing the generator early keeps the previous file.

    Args:
        merged: the merged context.
        target: the file.
        secrets: True for secrets in plain text; else they are masked.
        spared: files that are never overwritten.

    Raises:
        OSError: the file cannot be written, or is the document itself.
    """
    target = Path(os.path.realpath(target))
    # samefile() also detects links and other spellings of the path.
    if target.exists() and any(path.exists() and target.samefile(path) for path in spared):
        raise OSError(errno.EEXIST, "that is the document itself", str(target))
    yield from write_parts(_parts(merged, secrets=secrets), target)


def _parts(merged: MergedContext, *, secrets: bool) -> Iterator[str]:
    messages = merged.as_messages()
    masked = ({key: mask_text(value) for key, value in message.items()} for message in messages)
    return parts_of(iter(messages) if secrets else masked)


_KEY = ""


@dataclass(frozen=True, slots=True)
class EntryLine:
    """An entry as texts; safe to show.

    Attributes:
        layer: its number, from 1.
        title: of the layer.
        text: its beginning.
    """

    layer: int
    title: str
    text: str
    role: str
    reason: str
    tokens: str


class EntryRows:
    """Rows of the entries, fixed while the dialog is open."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def key_at(self, row: int) -> Key:
        return _KEY, row

    def row_of(self, key: Key) -> int:
        return key[1] if key[1] < self._count else -1


class EntriesModel(ListModel):
    """One row per entry of a merged context.

    Attributes:
        entries: pairs of layer number and entry.
    """

    def __init__(self, merged: MergedContext, parent: QObject | None = None, *, counted: bool = True) -> None:
        super().__init__(parent)
        self._merged = merged
        self._counted = counted
        self._lines: dict[int, EntryLine] = {}
        self.entries: list[tuple[int, Entry]] = [
            (number, entry) for number, layer in enumerate(merged.layers, 1) for entry in layer.entries
        ]
        self._rows = EntryRows(len(self.entries))

    @property
    @override
    def listed(self) -> EntryRows:
        return self._rows

    def line(self, row: int) -> EntryLine:
        """Returns a row as texts, cached."""
        found = self._lines.get(row)
        if found is None:
            number, entry = self.entries[row]
            tokens = f"{entry.tokens:,}" if self._counted else ""
            found = self._lines[row] = EntryLine(
                number, self._merged.layers[number - 1].title, order_words(entry, self._merged.rules),
                safe_line(entry.role, 60) or "no role", safe_line(entry.reason, 300), tokens,
            )  # fmt: skip
        return found

    # Texts of a row

    @override
    def text(self, row: int) -> str:
        return self.line(row).text

    @override
    def accessible_text(self, row: int) -> str:
        line = self.line(row)
        tokens = f", {line.tokens} tokens" if line.tokens else ""
        return f"Layer {line.layer}, {line.title}: {line.text}{tokens}. {line.reason}"

    @override
    def tip(self, row: int) -> str:
        line = self.line(row)
        return tool_tip(f"{line.text}\n\n{line.reason}")


class EntriesDelegate(ListDelegate):
    """Paints an entry: layer number, beginning of its text and tokens."""

    def __init__(self, model: EntriesModel, themes: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(themes, parent)
        self._model = model

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        theme, line = self._themes.theme, self._model.line(row)
        side = round(15 * self._zoom)
        left = cell.left() + theme.metrics.pane_padding
        box = QRect(left, cell.top() + (cell.height() - side) // 2, side, side)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line.strong"), 1))
        painter.drawRoundedRect(box, theme.metrics.radius_mark, theme.metrics.radius_mark)
        painter.setFont(theme.font("badge"))
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(line.layer))
        left += side + round(8 * self._zoom)
        right = cell.right() + 1 - theme.metrics.pane_padding
        wide = self._metrics["small"].horizontalAdvance(line.tokens) + 2
        self._draw(painter, "small", "ink.tertiary", right - wide, cell, line.tokens, wide + 2)
        room = right - wide - theme.metrics.cell_padding - left
        self._draw(painter, "body", "ink.primary", left, cell, line.text, room)


COPIED_MOST = 2_000
"""Maximum of copied entries; more would stall the window and need a file."""
SHOWN_MOST = 200_000
"""Maximum of displayed characters of an entry."""
_UNMASKED_HELP = "For this export only. Whoever gets the file can read and use them."
NOTHING = "The merged context is empty."


class MergedDialog(QDialog):
    """A list of entries at the left and the selected one at the right, as of the time it was opened.

    Signals:
        message_requested(object): go to this `Message`.

    Attributes:
        model, view, text: its parts.
    """

    message_requested = Signal(object)

    def __init__(
        self,
        themes: ThemeController,
        merged: MergedContext,
        parent: QWidget | None = None,
        *,
        spared: Sequence[Path] = (),
        counted: bool = True,
    ) -> None:
        """Creates the dialog.

        Args:
            themes: gives the look.
            merged: the merged context.
            parent: owner.
            spared: files an export never overwrites.
            counted: True if all its tokens are counted; else it shows none.
        """
        super().__init__(parent)
        self._themes = themes
        self._merged = merged
        self._spared = tuple(spared)
        self._counted = counted
        self._masked = True
        self.setObjectName("mergedContext")
        label = safe_line(merged.subsession.label, 60)
        self.setWindowTitle(f"Merged context of {label}")
        self.setAccessibleName(self.windowTitle())
        self._build(label)
        self._writing = SlicedWork(self)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        if self.model.entries:
            self._show_row(0)
            self.view.select(self.model.listed.key_at(0))
        self.view.setFocus()

    # Building

    def _build(self, label: str) -> None:
        self._column = QVBoxLayout(self)
        self._column.addWidget(
            TextLabel(f"Merged context of {label}", variant="title", name="mergedTitle", parent=self)
        )
        self._column.addWidget(TextLabel(self._sum_words(), variant="hint", name="mergedSum", wrap=True, parent=self))
        self.model = EntriesModel(self._merged, self, counted=self._counted)
        self.view = ListView(self.model, self._themes, name="mergedEntries", title="Entries", parent=self)
        self.view.setItemDelegate(EntriesDelegate(self.model, self._themes, self.view))
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
        entries = formats.count_of(len(merged.entries), "entry", "entries")
        tokens = f"{merged.tokens:,} tokens, estimate ({merged.tokenizer}), in " if self._counted else ""
        return f"{tokens}{entries}, in the order they are sent. Secrets are masked here and in copies."

    # Reading

    def select(self, entry: Entry) -> None:
        """Selects and displays an entry."""
        for row, (_, known) in enumerate(self.model.entries):
            if known is entry:
                self.view.select(self.model.listed.key_at(row))
                self._show_row(row)
                return

    def _show_row(self, row: int) -> None:
        line, entry = self.model.line(row), self.model.entries[row][1]
        tokens = f", {formats.count_of(entry.tokens, 'token')}" if self._counted else ""
        self._head.setText(f"{line.layer}  {line.title}, {line.role}{tokens}")
        self._reason.setText(line.reason)
        content = entry.content
        shown = visible_controls(masked_beginning(content, SHOWN_MOST))
        if len(content) > SHOWN_MOST:
            shown += f"\n\n… {len(content) - SHOWN_MOST:,} more characters. Export to read them all."
        self.text.setPlainText(shown)
        self._go.setVisible(isinstance(entry.source, Message))

    def _on_entered(self, row: int) -> None:
        if 0 <= row < len(self.model.entries):
            source = self.model.entries[row][1].source
            if isinstance(source, Message):
                self.accept()
                self.message_requested.emit(source)

    # Copying and exporting

    def _copy_entry(self, row: int) -> None:
        if row >= 0:
            QGuiApplication.clipboard().setText(mask_text(self.model.entries[row][1].content))
            self.outcome.setText("Copied this entry. Secrets are masked.")

    def copy(self) -> None:
        """Copies all entries as messages JSON with secrets masked."""
        count = len(self.model.entries)
        if count > COPIED_MOST:
            self.outcome.setText(f"{count:,} entries are too many to copy. Export them to a file instead.")
            return
        QGuiApplication.clipboard().setText(messages_json(self._merged))
        entries = formats.count_of(count, "entry", "entries")
        self.outcome.setText(f"Copied {entries} as messages JSON. Secrets are masked.")

    def ask_for_file(self) -> None:
        """Asks for a file, then exports all entries."""
        label = file_stem(mask_text(self._merged.subsession.label), "sub-session")
        name = f"{label}-context{'' if self._masked else '-unmasked'}.json"
        dialog = QFileDialog(self, "Export merged context", name, "JSON (*.json);;All files (*)")
        dialog.setObjectName("mergedExportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self.export(Path(path)))
        open_once(dialog)

    def export(self, target: Path) -> None:
        """Writes all entries in slices, and aborts a running export."""
        steps = write_messages(self._merged, target, secrets=not self._masked, spared=self._spared)
        name = safe_line(target.name)
        self._writing.start(
            steps,
            progressed=lambda size: self.outcome.setText(f"Exporting: {formats.size(size)} so far."),
            finished=lambda size: self._on_written(target, size),
            failed=lambda error: self.outcome.setText(f"{name} could not be written: {write_error_words(error)}"),
        )

    def _on_written(self, target: Path, size: int) -> None:
        entries = formats.count_of(len(self.model.entries), "entry", "entries")
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
        self._writing.stop()
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
