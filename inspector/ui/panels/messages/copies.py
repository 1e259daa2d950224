"""What of the selected messages goes to the clipboard: one message as it always was, several one below the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from inspector.document import CaptureDocument
from inspector.export import Format, Manner, Redaction, writer_for
from inspector.ui import formats
from inspector.ui.panels.messages import copying
from inspector.ui.panels.messages.columns import Column
from inspector.ui.panels.messages.steady import SteadyTable

MOST = 10_000
"""Messages that are copied at once; it takes about a second."""
MOST_SECTIONS = 2_000
"""The same of what says more of each."""
MOST_BYTES = 32_000_000
"""Bytes of their records."""


class Copies(QObject):
    """Texts of what is selected. None where there is nothing, or where it is too much, which is said.

    Signals:
        refused(str): there is too much to copy, as a sentence.
    """

    refused = Signal(str)

    def __init__(self, document: CaptureDocument, table: SteadyTable) -> None:
        super().__init__(table)
        self._document = document
        self._table = table

    # One cell or row

    def row(self, row: int) -> str:
        """A row's texts as the table shows them, separated by tabs; of a line of an original, the line."""
        message, part = self._table.messages.at(row)
        return self._cell(row, Column.MESSAGE) if part else self._row_of(message)

    def value(self, row: int, column: int) -> str:
        """What a cell says; of a line of an original, the line."""
        return self._cell(row, Column.MESSAGE if self._table.messages.at(row)[1] else column)

    def _cell(self, row: int, column: int) -> str:
        return str(self._table.messages.data(self._table.messages.index(row, column)) or "")

    def _row_of(self, message: int) -> str:
        return "\t".join(self._table.messages.text(message, column) for column in self._table.shown_columns())

    def filter(self, row: int, column: int) -> str | None:
        """An expression that finds the value of a cell; None where there is none."""
        model = self._table.messages
        content, field = model.content(model.at(row)[0]), model.columns.field(column)
        return copying.cell_filter(self._document, content, column, field=field)

    # What is selected

    def rows(self) -> str | None:
        """The selected rows, a line each; of one row as `row`."""
        if self._table.selected.several:
            return self._joined(self._row_of)
        row = self._table.currentIndex().row()
        return self.row(row) if row >= 0 else None

    def values(self, column: int | None = None) -> str | None:
        """What the selected rows say in a column, that of the current cell by default; a line each."""
        index = self._table.currentIndex()
        wanted = index.column() if column is None else column
        wanted = wanted if wanted > Column.GUTTER else Column.MESSAGE
        if self._table.selected.several:
            return self._joined(lambda message: self._table.messages.text(message, wanted))
        return self.value(index.row(), wanted) if index.isValid() else None

    def json(self, message: int | None) -> str | None:
        """A message as indented JSON; several as JSON Lines, which can be pasted as a log. Secrets are masked."""
        if self._table.selected.several:
            return self._joined(lambda one: copying.json_line(self._document, one))
        return None if message is None else copying.json_text(self._document, message)

    def ids(self, message: int | None) -> str | None:
        """Ids, a line each; messages that have none are left out."""
        if self._table.selected.several:
            return self._joined(lambda one: copying.id_text(self._document, one), empty=False)
        return (copying.id_text(self._document, message) or None) if message is not None else None

    def markdown(self, message: int | None) -> str | None:
        """A section a message, as in an export. Secrets are masked."""
        writer = writer_for(self._document, Manner(Format.MARKDOWN), Redaction(masked=True))
        if self._table.selected.several:
            text = self._joined(lambda one: writer.message(one).decode(), most=min(MOST, MOST_SECTIONS))
        else:
            text = None if message is None else writer.message(message).decode()
        return text and text.strip("\n") + "\n"

    def numbers_filter(self) -> str | None:
        """An expression that finds the selected messages by their numbers; None where it would be too long."""
        expression = copying.numbers_filter(np.sort(self._table.selected_in_order()))
        if expression is None and self._table.selected.several:
            self.refused.emit("The messages selected lie too far apart for a filter of their numbers.")
        return expression

    def _joined(self, text_of: Callable[[int], str], *, empty: bool = True, most: int | None = None) -> str | None:
        most = MOST if most is None else most
        messages = self._table.selected_in_order()
        sizes = self._document.capture.columns["size"]
        if len(messages) > most:
            self.refused.emit(
                f"{formats.number(len(messages))} messages are too many to copy; {most:,} is the most. "
                "An export writes them to a file."
            )
            return None
        if int(sizes[messages].sum(dtype=np.int64)) > MOST_BYTES:
            self.refused.emit("The messages selected are too large to copy. An export writes them to a file.")
            return None
        return "\n".join(_lines(map(text_of, messages.tolist()), empty=empty)) or None


def _lines(texts: Iterator[str], *, empty: bool) -> Iterator[str]:
    return (text for text in texts if text or empty)


def put(text: str | None) -> None:
    """Put a text on the clipboard; nothing leaves what is there."""
    if text:
        QGuiApplication.clipboard().setText(text)
