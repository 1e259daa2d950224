"""Copies selected messages to the clipboard: rows, values, JSON, Markdown, ids or a filter.

Long copies are built in slices, so that the window stays responsive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTableView

from inspector.document.document import CaptureDocument
from inspector.export import ExportOptions, Format, Redaction, writer_for
from inspector.present import copied_text, formats, wire_text
from inspector.present.message_columns import Column
from inspector.protocol.secrets.masking import mask_text
from inspector.ui import budgets
from inspector.ui.panels.messages.column_layout import ColumnLayout
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.selection import Selection

MOST = 10_000
"""Most messages of one copy; about a second in slices."""
MOST_SECTIONS = 2_000
"""Most messages of a copy with sections."""
MOST_BYTES = 32_000_000
"""Most bytes of records in a complete copy."""

What = Literal["rows", "values", "json", "markdown", "ids", "filter"]
"""Formats of a copy."""

_MEASURED = (Column.TIME, Column.LATENCY)
# Tabs and line ends would break the rows of a pasted table.
_BETWEEN = str.maketrans({"\t": " ", "\n": " ", "\r": " "})
# Spreadsheets read only the ASCII sign as part of a number.
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-"})


@dataclass(frozen=True, slots=True)
class Texts:
    """Content of a copy.

    Attributes:
        words: description, as in "3 rows".
        texts: parts, one below the other; a single pass.
        ending: appended at the end.
    """

    words: str
    texts: Iterator[str]
    ending: str = ""

    def whole(self) -> str:
        """Returns all parts as one text."""
        return _joined(self, list(self.texts))


def one_text(words: str, text: str | None) -> Texts | None:
    """Returns a single text; None if it is empty."""
    return Texts(words, iter((text,))) if text else None


class Clipboard(QObject):
    """Writes texts to the clipboard; a new copy cancels one in progress.

    Signals:
        copied(str): the copy is complete; carries its description.
        working(str): the copy takes longer; carries its description.
        failed(str): reading failed; carries a sentence.
    """

    copied = Signal(str)
    working = Signal(str)
    failed = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._texts: Texts | None = None
        self._parts: list[str] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(lambda: self._work(budgets.current.slice_s))

    @property
    def at_work(self) -> bool:
        """True while a copy is in progress."""
        return self._texts is not None

    def copy_texts(self, texts: Texts | None) -> None:
        """Starts a copy; short ones finish at once. None keeps the clipboard."""
        if texts is None:
            return
        self._timer.stop()
        self._texts, self._parts = texts, []
        # Small copies finish here, without a notice about progress.
        self._work(budgets.current.copied_s)
        if self.at_work:
            self.working.emit(texts.words)

    def _work(self, for_s: float) -> None:
        texts = self._texts
        if texts is None:
            return
        until = time.perf_counter() + for_s
        try:
            for text in texts.texts:
                self._parts.append(text)
                if time.perf_counter() > until:
                    self._timer.start(budgets.current.awaited_ms)
                    return
        # From reading the log.
        except OSError as error:
            self._texts, self._parts = None, []
            self.failed.emit(f"The log cannot be read: {(error.strerror or str(error)).rstrip('.')}.")
            return
        whole = _joined(texts, self._parts)
        self._texts, self._parts = None, []
        if whole:
            QGuiApplication.clipboard().setText(whole)
            self.copied.emit(texts.words)


def _joined(texts: Texts, parts: list[str]) -> str:
    whole = "\n".join(parts)
    return whole.strip("\n") + texts.ending if whole and texts.ending else whole


class Copies(QObject):
    """Builds texts of the selection; None for an empty one, or for one too large, with a signal.

    Signals:
        refused(str): the selection is too large; carries a sentence.
        reported(str): a copy is complete or in progress; carries a sentence.

    Attributes:
        clipboard: receives the texts.
    """

    refused = Signal(str)
    reported = Signal(str)

    def __init__(
        self,
        document: CaptureDocument,
        model: MessageTableModel,
        table: QTableView,
        selection: Selection,
        columns: ColumnLayout,
    ) -> None:
        super().__init__(table)
        self._document = document
        self._model = model
        self._table = table
        self._selection = selection
        self._columns = columns
        self.clipboard = Clipboard(self)
        self.clipboard.copied.connect(lambda words: self.reported.emit(f"Copied {words}"))
        self.clipboard.working.connect(lambda words: self.reported.emit(f"Copying {words}"))
        self.clipboard.failed.connect(self.refused)

    def copy_texts(self, texts: Texts | None) -> None:
        """Starts a copy; None keeps the clipboard."""
        self.clipboard.copy_texts(texts)

    def texts_in_format(self, what: What, message: int | None) -> Texts | None:
        """Returns the selection in a format.

        Args:
            what: the format.
            message: the current message.
        """
        if what == "json":
            return self.json(message)
        if what == "markdown":
            return self.markdown(message)
        if what == "ids":
            return self.ids(message)
        if message is None and not self._selection.several:
            return None
        return self.rows() if what == "rows" else self.values() if what == "values" else self._filter()

    # One cell or row

    def row(self, row: int) -> Texts | None:
        """Returns a row's cells, separated by tabs; for a line of an original, the line."""
        message, part = self._model.message_at_row(row)
        return one_text("the row", self._cell(row, Column.MESSAGE) if part else self._row_of(message))

    def value(self, row: int, column: int) -> Texts | None:
        """Returns a cell's text; for a line of an original, the line."""
        message, part = self._model.message_at_row(row)
        return one_text("the value", self._cell(row, Column.MESSAGE) if part else self._text(message, column))

    def _cell(self, row: int, column: int) -> str:
        return str(self._model.data(self._model.index(row, column)) or "")

    def _text(self, message: int, column: int) -> str:
        """Returns a cell's text for other programs: full kinds and ASCII minus signs."""
        text = self._model.text(message, column)
        if column == Column.KIND:
            kind = self._model.content(message).kind
            return wire_text.visible_controls(mask_text(kind)) if kind else text
        return text.translate(_MINUS) if column in _MEASURED else text

    def _row_of(self, message: int) -> str:
        cells = (self._text(message, column) for column in self._columns.shown_columns())
        return "\t".join(cell.translate(_BETWEEN) for cell in cells)

    def _heads(self) -> str:
        """Returns the titles of the visible columns."""
        model, horizontal = self._model, Qt.Orientation.Horizontal
        return "\t".join(str(model.headerData(column, horizontal) or "") for column in self._columns.shown_columns())

    def _filter(self) -> Texts | None:
        """Returns a filter for the selected messages, or for the current cell."""
        if self._selection.several:
            words = f"a filter for {formats.count_of(self._selection.count, 'message')}"
            return one_text(words, self.numbers_filter())
        index = self._table.currentIndex()
        column = index.column() if index.column() > Column.GUTTER else Column.MESSAGE
        return one_text("a filter", self.filter(index.row(), column)) if index.isValid() else None

    def filter(self, row: int, column: int) -> str | None:
        """Returns a filter for a cell's value, or None."""
        model = self._model
        content, field = model.content(model.message_at_row(row)[0]), model.columns.field(column)
        return copied_text.cell_filter(self._document, content, column, field=field)

    # The selection

    def rows(self) -> Texts | None:
        """Returns the selected rows below their column titles, one a line; a single row as `row`."""
        if self._selection.several:
            count = self._selection.count
            rows = self._texts_of_selected("row", self._row_of)
            return rows and Texts(rows.words, chain([self._heads()], rows.texts) if count > 1 else rows.texts)
        row = self._table.currentIndex().row()
        return self.row(row) if row >= 0 else None

    def values(self, column: int | None = None) -> Texts | None:
        """Returns the selected rows' texts in a column, by default of the current cell; one a line."""
        index = self._table.currentIndex()
        wanted = index.column() if column is None else column
        wanted = wanted if wanted > Column.GUTTER else Column.MESSAGE
        if self._selection.several:
            return self._texts_of_selected("value", lambda message: self._text(message, wanted))
        return self.value(index.row(), wanted) if index.isValid() else None

    def json(self, message: int | None) -> Texts | None:
        """Returns one message as indented JSON, several as JSON Lines; secrets are masked."""
        if self._selection.several:
            texts = self._texts_of_selected(
                "message", lambda one: copied_text.json_line(self._document, one), whole=True
            )
            return texts and Texts(f"{texts.words} as JSON Lines", texts.texts)
        if message is None or self._refuse_too_large([message]):
            return None
        return one_text(f"{formats.message_number(message)} as JSON", copied_text.json_text(self._document, message))

    def ids(self, message: int | None) -> Texts | None:
        """Returns ids, one a line; messages without an id are skipped."""
        if self._selection.several:
            texts = self._texts_of_selected("id", lambda one: copied_text.id_text(self._document, one))
            return texts and Texts(texts.words, filter(None, texts.texts))
        return None if message is None else one_text("the id", copied_text.id_text(self._document, message))

    def markdown(self, message: int | None) -> Texts | None:
        """Returns one section a message, as in an export. Secrets are masked."""
        writer = writer_for(self._document, ExportOptions(Format.MARKDOWN), Redaction(masked=True))
        if self._selection.several:
            # A section costs several times as much as a row.
            most = min(MOST, MOST_SECTIONS)
            texts = self._texts_of_selected("message", lambda one: writer.message(one).decode(), whole=True, most=most)
            return texts and Texts(f"{texts.words} as Markdown", texts.texts, "\n")
        if message is None or self._refuse_too_large([message]):
            return None
        section = iter((writer.message(message).decode(),))
        return Texts(f"{formats.message_number(message)} as Markdown", section, "\n")

    def numbers_filter(self) -> str | None:
        """Returns a filter by numbers for the selected messages; None if it would be too long."""
        expression = copied_text.numbers_filter(np.sort(self._selection.shown_in_order()))
        if expression is None and self._selection.several:
            self.refused.emit("The selected messages are too scattered for a filter by number.")
        return expression

    def _texts_of_selected(
        self, what: str, text_of: Callable[[int], str], *, whole: bool = False, most: int | None = None
    ) -> Texts | None:
        """Returns one text for each selected message.

        Args:
            what: singular noun of an item.
            text_of: returns a message's text.
            whole: texts contain whole messages, so check their size.
            most: limit of messages.
        """
        most = MOST if most is None else most
        messages = self._selection.shown_in_order()
        if len(messages) > most:
            self.refused.emit(
                f"{formats.number(len(messages))} messages are too many to copy (limit {most:,}). "
                "Export them to a file instead."
            )
            return None
        if whole and self._refuse_too_large(messages):
            return None
        return Texts(formats.count_of(len(messages), what), _texts(text_of, messages))

    def _refuse_too_large(self, messages: NDArray[np.uint32] | list[int]) -> bool:
        """Returns True, with a signal, if messages are too large to copy: only the heads of large ones are decoded."""
        capture = self._document.capture
        big = next((int(message) for message in messages if capture.records.is_big(int(message))), None)
        if big is not None:
            size = formats.size(int(capture.columns["size"][big]))
            number = formats.message_number(big)
            self.refused.emit(f"{number} is too large to copy ({size}). Export it to a file instead.")
        elif int(capture.columns["size"][messages].sum(dtype=np.int64)) > MOST_BYTES:
            self.refused.emit("The selected messages are too large to copy. Export them to a file instead.")
        else:
            return False
        return True


def _texts(text_of: Callable[[int], str], messages: NDArray[np.uint32]) -> Iterator[str]:
    for message in messages:
        yield text_of(int(message))
