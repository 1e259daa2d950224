"""What of the selected messages goes to the clipboard: one message as it always was, several one below the other.

Many texts are put together a slice at a time, so that they hold nothing up.
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
"""Messages that are copied at once; it takes about a second, in slices."""
MOST_SECTIONS = 2_000
"""The same of what says more of each."""
MOST_BYTES = 32_000_000
"""Bytes of their records, where all of them are copied."""

What = Literal["rows", "values", "json", "markdown", "ids", "filter"]
"""As what messages are copied."""

_MEASURED = (Column.TIME, Column.LATENCY)
_BETWEEN = str.maketrans({"\t": " ", "\n": " ", "\r": " "})
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-"})


@dataclass(frozen=True, slots=True)
class Texts:
    """What is to be copied.

    Attributes:
        words: what that is: "3 rows".
        texts: one below the other; they can be gone through once.
        ending: behind the last one.
    """

    words: str
    texts: Iterator[str]
    ending: str = ""

    def whole(self) -> str:
        """All of it as one text."""
        return _joined(self, list(self.texts))


def one_text(words: str, text: str | None) -> Texts | None:
    """A single text; None where it is none."""
    return Texts(words, iter((text,))) if text else None


class Clipboard(QObject):
    """Puts texts on the clipboard; those that are still being put together are given up for the next ones.

    Signals:
        copied(str): they are there; what they are.
        working(str): they take a while; what they are.
        failed(str): they could not be read; a sentence.
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
        self._timer.setInterval(0)
        self._timer.timeout.connect(lambda: self._work(budgets.current.slice_s))

    @property
    def at_work(self) -> bool:
        """Whether something is on its way."""
        return self._texts is not None

    def put(self, texts: Texts | None) -> None:
        """Put texts on the clipboard, few of them at once; None leaves what is there."""
        if texts is None:
            return
        self._timer.stop()
        self._texts, self._parts = texts, []
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
                    self._timer.start()
                    return
        except OSError as error:  # of the log
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
    """Texts of what is selected. None where there is nothing, or where it is too much, which is said.

    Signals:
        refused(str): there is too much to copy, as a sentence.
        reported(str): something was copied, or is being copied, in words.

    Attributes:
        clipboard: where they go.
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

    def put(self, texts: Texts | None) -> None:
        """Put texts on the clipboard and say so; nothing leaves what is there."""
        self.clipboard.put(texts)

    def of(self, what: What, message: int | None) -> Texts | None:
        """What is selected, as something.

        Args:
            what: as what.
            message: the current one.
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
        """A row's texts, separated by tabs; of a line of an original, the line."""
        message, part = self._model.at(row)
        return one_text("the row", self._cell(row, Column.MESSAGE) if part else self._row_of(message))

    def value(self, row: int, column: int) -> Texts | None:
        """What a cell says; of a line of an original, the line."""
        message, part = self._model.at(row)
        return one_text("the value", self._cell(row, Column.MESSAGE) if part else self._text(message, column))

    def _cell(self, row: int, column: int) -> str:
        return str(self._model.data(self._model.index(row, column)) or "")

    def _text(self, message: int, column: int) -> str:
        """What a message's row says in a column, as other programs read it: kinds whole, a minus that is one."""
        text = self._model.text(message, column)
        if column == Column.KIND:
            kind = self._model.content(message).kind
            return wire_text.visible_controls(mask_text(kind)) if kind else text
        return text.translate(_MINUS) if column in _MEASURED else text

    def _row_of(self, message: int) -> str:
        cells = (self._text(message, column) for column in self._columns.shown_columns())
        return "\t".join(cell.translate(_BETWEEN) for cell in cells)

    def _heads(self) -> str:
        """The heads of the columns shown."""
        model, horizontal = self._model, Qt.Orientation.Horizontal
        return "\t".join(str(model.headerData(column, horizontal) or "") for column in self._columns.shown_columns())

    def _filter(self) -> Texts | None:
        """An expression that finds the messages selected, or the value of the current cell."""
        if self._selection.several:
            words = f"a filter for {formats.count_of(self._selection.count, 'message')}"
            return one_text(words, self.numbers_filter())
        index = self._table.currentIndex()
        column = index.column() if index.column() > Column.GUTTER else Column.MESSAGE
        return one_text("a filter", self.filter(index.row(), column)) if index.isValid() else None

    def filter(self, row: int, column: int) -> str | None:
        """An expression that finds the value of a cell; None where there is none."""
        model = self._model
        content, field = model.content(model.at(row)[0]), model.columns.field(column)
        return copied_text.cell_filter(self._document, content, column, field=field)

    # What is selected

    def rows(self) -> Texts | None:
        """The selected rows below the heads of their columns, a line each; of one row as `row`."""
        if self._selection.several:
            count = self._selection.count
            rows = self._several("row", self._row_of)
            return rows and Texts(rows.words, chain([self._heads()], rows.texts) if count > 1 else rows.texts)
        row = self._table.currentIndex().row()
        return self.row(row) if row >= 0 else None

    def values(self, column: int | None = None) -> Texts | None:
        """What the selected rows say in a column, that of the current cell by default; a line each."""
        index = self._table.currentIndex()
        wanted = index.column() if column is None else column
        wanted = wanted if wanted > Column.GUTTER else Column.MESSAGE
        if self._selection.several:
            return self._several("value", lambda message: self._text(message, wanted))
        return self.value(index.row(), wanted) if index.isValid() else None

    def json(self, message: int | None) -> Texts | None:
        """A message as indented JSON; several as JSON Lines, which can be pasted as a log. Secrets are masked."""
        if self._selection.several:
            texts = self._several("message", lambda one: copied_text.json_line(self._document, one), whole=True)
            return texts and Texts(f"{texts.words} as JSON Lines", texts.texts)
        if message is None or self._refuse_too_large([message]):
            return None
        return one_text(f"{formats.message_number(message)} as JSON", copied_text.json_text(self._document, message))

    def ids(self, message: int | None) -> Texts | None:
        """Ids, a line each; messages that have none are left out."""
        if self._selection.several:
            texts = self._several("id", lambda one: copied_text.id_text(self._document, one))
            return texts and Texts(texts.words, filter(None, texts.texts))
        return None if message is None else one_text("the id", copied_text.id_text(self._document, message))

    def markdown(self, message: int | None) -> Texts | None:
        """A section a message, as in an export. Secrets are masked."""
        writer = writer_for(self._document, ExportOptions(Format.MARKDOWN), Redaction(masked=True))
        if self._selection.several:
            most = min(MOST, MOST_SECTIONS)
            texts = self._several("message", lambda one: writer.message(one).decode(), whole=True, most=most)
            return texts and Texts(f"{texts.words} as Markdown", texts.texts, "\n")
        if message is None or self._refuse_too_large([message]):
            return None
        section = iter((writer.message(message).decode(),))
        return Texts(f"{formats.message_number(message)} as Markdown", section, "\n")

    def numbers_filter(self) -> str | None:
        """An expression that finds the selected messages by their numbers; None where it would be too long."""
        expression = copied_text.numbers_filter(np.sort(self._selection.shown_in_order()))
        if expression is None and self._selection.several:
            self.refused.emit("The messages selected lie too far apart for a filter of their numbers.")
        return expression

    def _several(
        self, what: str, text_of: Callable[[int], str], *, whole: bool = False, most: int | None = None
    ) -> Texts | None:
        """A text for each message selected.

        Args:
            what: one of them.
            text_of: the text of a message.
            whole: it holds all the message says, which can be too much.
            most: messages.
        """
        most = MOST if most is None else most
        messages = self._selection.shown_in_order()
        if len(messages) > most:
            self.refused.emit(
                f"{formats.number(len(messages))} messages are too many to copy; {most:,} is the most. "
                "An export writes them to a file."
            )
            return None
        if whole and self._refuse_too_large(messages):
            return None
        return Texts(formats.count_of(len(messages), what), _texts(text_of, messages))

    def _refuse_too_large(self, messages: NDArray[np.uint32] | list[int]) -> bool:
        """Whether messages cannot be copied whole, which is said: of a big one only the head is decoded."""
        capture = self._document.capture
        big = next((int(message) for message in messages if capture.records.is_big(int(message))), None)
        if big is not None:
            size = formats.size(int(capture.columns["size"][big]))
            number = formats.message_number(big)
            self.refused.emit(f"{number} is too large to copy ({size}). An export writes it to a file.")
        elif int(capture.columns["size"][messages].sum(dtype=np.int64)) > MOST_BYTES:
            self.refused.emit("The messages selected are too large to copy. An export writes them to a file.")
        else:
            return False
        return True


def _texts(text_of: Callable[[int], str], messages: NDArray[np.uint32]) -> Iterator[str]:
    for message in messages:
        yield text_of(int(message))
