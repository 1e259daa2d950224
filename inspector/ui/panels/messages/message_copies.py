"""Copies selected messages to the clipboard: rows, values, JSON, Markdown, ids or a filter, made by the engine."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTableView

from inspector.engine.request import Request
from inspector.engine.requests.copies import CopyCellFilter, CopyMessages, CopyRows, Style
from inspector.present import copied_text, formats
from inspector.present.message_columns import Column
from inspector.ui.panels.messages.column_layout import ColumnLayout
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.selection import Selection
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.widgets.latest_answer import Client, Pending

MOST = 10_000
"""Most messages of one copy; about a second of the engine."""
MOST_SECTIONS = 2_000
"""Most messages of a copy with sections, which cost several times as much as rows."""

What = Literal["rows", "values", "json", "markdown", "ids", "filter"]
"""Formats of a copy."""


class Clipboard(QObject):
    """Writes texts to the clipboard; a new copy cancels one in progress.

    Signals:
        copied(str): the copy is complete; carries its description.
        working(str): the copy takes longer; carries its description.
        failed(str): the copy is refused, or reading failed; carries a sentence.
    """

    copied = Signal(str)
    working = Signal(str)
    failed = Signal(str)

    def __init__(self, client: Client, parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self._words: str | None = None
        self._pending: Pending | None = None

    @property
    def at_work(self) -> bool:
        """True while a copy is in progress."""
        return self._words is not None

    def copy_text(self, words: str, text: str | None) -> None:
        """Copies a text; an empty one keeps the clipboard."""
        self._stop()
        if text:
            QGuiApplication.clipboard().setText(text)
            self.copied.emit(words)

    def copy_answer(self, words: str, request: Request[str] | Request[str | None]) -> None:
        """Copies the text that the engine answers.

        Args:
            words: description, as in "3 rows".
            request: asks for the text.
        """
        self._stop()
        self._words = words
        pending = self._client.send_request(request, lambda text: self.copy_text(words, text), self._on_failed)
        if self.at_work:
            self._pending = pending
            self.working.emit(words)

    def _on_failed(self, sentence: str) -> None:
        self._stop()
        self.failed.emit(sentence)

    def _stop(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
        self._words = self._pending = None


class Copies(QObject):
    """Copies the selection, or the current message; without either the clipboard stays.

    Signals:
        refused(str): the selection is too large; carries a sentence.
        reported(str): a copy is complete or in progress; carries a sentence.

    Attributes:
        clipboard: receives the texts.
    """

    refused = Signal(str)
    reported = Signal(str)

    def __init__(
        self, client: Client, model: MessageTableModel, table: QTableView, selection: Selection, columns: ColumnLayout
    ) -> None:
        super().__init__(table)
        self._model = model
        self._table = table
        self._selection = selection
        self._columns = columns
        self.clipboard = Clipboard(client, self)
        self.clipboard.copied.connect(lambda words: self.reported.emit(f"Copied {words}"))
        self.clipboard.working.connect(lambda words: self.reported.emit(f"Copying {words}"))
        self.clipboard.failed.connect(self.refused)

    def copy(self, what: What, message: int | None) -> None:
        """Copies the selection in a format.

        Args:
            what: the format.
            message: the current message.
        """
        match what:
            case "json":
                self._copy_messages("json", "json lines", message)
            case "markdown":
                self._copy_messages("markdown", "markdown", message)
            case "ids":
                self._copy_messages("ids", "ids", message)
            case _ if message is None and not self._selection.several:
                return
            case "rows":
                self.copy_rows()
            case "values":
                self.copy_values()
            case "filter":
                self._copy_filter()

    # One cell or row

    def copy_row(self, row: int) -> None:
        """Copies a row's cells, separated by tabs; of a line of an original, the line."""
        message, part = self._model.message_at_row(row)
        if part:
            self.clipboard.copy_text("the row", self._line(row))
        else:
            self.copy_cells(message)

    def copy_cells(self, message: int, column: int | None = None) -> None:
        """Copies the cells of a message, or one of them."""
        if column is None:
            self._copy_cells("the row", [message], self._columns.shown_columns(), is_row=True)
        else:
            self._copy_cells("the value", [message], [column])

    def copy_value(self, row: int, column: int) -> None:
        """Copies a cell's text; of a line of an original, the line."""
        message, part = self._model.message_at_row(row)
        if part:
            self.clipboard.copy_text("the value", self._line(row))
        else:
            self.copy_cells(message, column)

    def _line(self, row: int) -> str:
        return str(self._model.data(self._model.index(row, Column.MESSAGE)) or "")

    def _copy_cells(
        self, words: str, messages: list[int] | NDArray[np.uint32], columns: list[int], *, is_row: bool = False,
        heads: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        names, times = tuple(map(self._model.columns.requested, columns)), self._model.times
        asked = np.asarray(messages, np.uint32)
        question = CopyRows(VIEW, asked, names, heads, times.mode, times.reference, is_row)
        self.clipboard.copy_answer(words, question)

    def _copy_filter(self) -> None:
        """Copies a filter for the selected messages, or for the current cell."""
        if self._selection.several:
            words = f"a filter for {formats.count_of(self._selection.count, 'message')}"
            self.clipboard.copy_text(words, self.numbers_filter())
            return
        index = self._table.currentIndex()
        if index.isValid():
            column = index.column() if index.column() > Column.GUTTER else Column.MESSAGE
            message, name = self._model.message_at_row(index.row())[0], self._model.columns.requested(column)
            question = CopyCellFilter(message, name, folded=self._model.rows.is_folded)
            self.clipboard.copy_answer("a filter", question)

    # The selection

    def copy_rows(self) -> None:
        """Copies the selected rows below their column titles, one a line; a single row as `copy_row`."""
        if not self._selection.several:
            if (row := self._table.currentIndex().row()) >= 0:
                self.copy_row(row)
            return
        messages, columns = self._selected(MOST), self._columns.shown_columns()
        if messages is not None:
            heads = tuple(self._head(column) for column in columns) if len(messages) > 1 else ()
            self._copy_cells(formats.count_of(len(messages), "row"), messages, columns, is_row=True, heads=heads)

    def _head(self, column: int) -> str:
        return str(self._model.headerData(column, Qt.Orientation.Horizontal) or "")

    def copy_values(self, column: int | None = None) -> None:
        """Copies the selected rows' texts in a column, by default of the current cell; one a line."""
        index = self._table.currentIndex()
        wanted = index.column() if column is None else column
        wanted = wanted if wanted > Column.GUTTER else Column.MESSAGE
        if not self._selection.several:
            if index.isValid():
                self.copy_value(index.row(), wanted)
            return
        messages = self._selected(MOST)
        if messages is not None:
            self._copy_cells(formats.count_of(len(messages), "value"), messages, [wanted])

    def _copy_messages(self, one: Style, several: Style, message: int | None) -> None:
        """Copies whole messages, with secrets masked: the selected ones, or else the current one."""
        if not self._selection.several:
            if message is not None:
                self.copy_message(one, message)
            return
        messages = self._selected(min(MOST, MOST_SECTIONS) if several == "markdown" else MOST)
        if messages is not None:
            noun = "id" if several == "ids" else "message"
            style = "" if several == "ids" else f" as {_STYLES[several]}"
            words = f"{formats.count_of(len(messages), noun)}{style}"
            self.clipboard.copy_answer(words, CopyMessages(several, messages))

    def copy_message(self, style: Style, message: int) -> None:
        """Copies one message with its secrets masked, whatever is selected."""
        words = "the id" if style == "ids" else f"{formats.message_number(message)} as {_STYLES[style]}"
        self.clipboard.copy_answer(words, CopyMessages(style, np.array([message], np.uint32)))

    def numbers_filter(self) -> str | None:
        """Returns a filter by numbers for the selected messages; None if it would be too long."""
        expression = copied_text.numbers_filter(np.sort(self._selection.shown_in_order()))
        if expression is None and self._selection.several:
            self.refused.emit("The selected messages are too scattered for a filter by number.")
        return expression

    def _selected(self, most: int) -> NDArray[np.uint32] | None:
        """Returns the selected messages in displayed order; None, with a signal, if there are too many."""
        messages = self._selection.shown_in_order()
        if len(messages) <= most:
            return messages
        self.refused.emit(
            f"{formats.number(len(messages))} messages are too many to copy (limit {most:,}). "
            "Export them to a file instead."
        )
        return None


_STYLES: dict[Style, str] = {"json": "JSON", "json lines": "JSON Lines", "markdown": "Markdown"}
