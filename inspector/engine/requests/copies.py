"""Texts of messages for the clipboard, facts for the menu of a row, and totals of a selection. Secrets are masked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.document.document import CaptureDocument
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps
from inspector.engine.requests.columns import start_time
from inspector.engine.requests.fields import known_field
from inspector.engine.requests.rows import check_messages, field_texts
from inspector.engine.threads import in_thread_if_large
from inspector.export import ExportOptions, Format, Redaction
from inspector.export.markdown import MarkdownWriter
from inspector.present import copied_text, formats
from inspector.present.message_columns import COLUMN_TEXTS, Column, TimeColumn
from inspector.present.message_row import RowContent, row_content, row_contents
from inspector.present.wire_text import visible_controls
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.store.messages.capture import Capture

MOST_BYTES = 32_000_000
"""Most bytes of records in a complete copy."""
_BLOCK_BYTES = 1 << 16
"""Bytes of messages read in one step."""

Style = Literal["json", "json lines", "markdown", "ids"]
"""Styles of whole messages: indented JSON, one line each, sections as in an export, and ids alone."""


class CopyRows(Request[str], frozen=True):
    """Cells of rows, one row a line, separated by tabs.

    Attributes:
        view: number of the view; its order matters for times since the message above.
        messages: in displayed order, (n,) uint32.
        columns: built-in columns by number, others by the name of their field.
        heads: titles for the first line; none without titles.
        time_mode, reference: content of the column Time, as of `TimeColumn`.
        is_row: cells are even; else the text of the only column is copied as it is.
    """

    view: int
    messages: NDArray[np.uint32]
    columns: tuple[int | str, ...]
    heads: tuple[str, ...] = ()
    time_mode: str = "start"
    reference: int | None = None
    is_row: bool = True


class CopyMessages(Request[str], frozen=True):
    """Whole messages as text, one below the other; an error if they are too large.

    Attributes:
        style: of each message.
        messages: in displayed order, (n,) uint32.
    """

    style: Style
    messages: NDArray[np.uint32]


class CopyCellFilter(Request[str | None], frozen=True):
    """The filter for the value of a cell, or None.

    Attributes:
        message: of the row.
        column: a built-in column by number, another by the name of its field.
        second: the receivers in From -> To.
        folded: a frame's row stands for its stream.
    """

    message: int
    column: int | str
    second: bool = False
    folded: bool = False


class RowFacts(msgspec.Struct, frozen=True):
    """Facts for the menu of a row.

    Attributes:
        filter: for the value under the pointer, if any.
        copied_filter: for the value of the whole cell, if any.
        id: of the envelope, with secrets masked; "" without one.
        is_big: the message is too large for a copy.
        is_expandable: its row can be expanded.
        is_marked, is_commented: the user has marked it, or has written a comment.
    """

    filter: str | None
    copied_filter: str | None
    id: str
    is_big: bool
    is_expandable: bool
    is_marked: bool
    is_commented: bool


class DescribeRow(Request[RowFacts], frozen=True):
    """Facts for the menu of a cell; attributes as of `CopyCellFilter`."""

    message: int
    column: int | str
    second: bool = False
    folded: bool = False


class SelectionTotals(msgspec.Struct, frozen=True):
    """Totals of a selection.

    Attributes:
        count, size_bytes: number of messages, and their bytes.
        span_ns: nanoseconds from the first to the last one, if known.
    """

    count: int
    size_bytes: int
    span_ns: int | None


class TotalsOfMessages(Request[SelectionTotals], frozen=True):
    """Totals of messages.

    Attributes:
        view: number of the view.
        messages: (n,) uint32; None for all rows of the view.
    """

    view: int
    messages: NDArray[np.uint32] | None = None


# Spreadsheets read only the ASCII sign as part of a number.
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-"})
# Tabs and line ends would break the rows of a pasted table.
_BETWEEN = str.maketrans({"\t": " ", "\n": " ", "\r": " "})


def _copied_rows(held: OpenDocument, asked: CopyRows) -> Steps[str]:
    check_messages(held, asked.messages.tolist())
    rows, contents = held.view(asked.view).rows, dict[int, RowContent]()

    def content(message: int) -> RowContent:
        return contents.get(message) or row_content(held.document, message, folded=rows.is_folded)

    times = TimeColumn(lambda message: content(message).time_ns, lambda message: rows.neighbour_of(message, -1))
    times.start_ns = start_time(held)
    times.set_mode(asked.time_mode, asked.reference)
    lines = ["\t".join(asked.heads)] if asked.heads else []
    for block in _blocks(held.document.capture, asked.messages.tolist()):
        # Together: alone, each row takes four times as long.
        contents = {row.message: row for row in row_contents(held.document, block, folded=rows.is_folded)}
        for message in block:
            cells = [_cell(held, content(message), column, times) for column in asked.columns]
            lines.append("\t".join(cell.translate(_BETWEEN) for cell in cells) if asked.is_row else "".join(cells))
        yield
    return "\n".join(lines)


def _cell(held: OpenDocument, content: RowContent, column: int | str, times: TimeColumn) -> str:
    """Returns a cell's text for other programs: full kinds and ASCII minus signs."""
    if isinstance(column, str):
        return field_texts(held, column, [content.message])[0]
    if column == Column.KIND and content.kind:
        return visible_controls(mask_text(content.kind))
    text = times.text(content.message) if column == Column.TIME else COLUMN_TEXTS[column](content)
    return text.translate(_MINUS) if column in (Column.TIME, Column.LATENCY) else text


def _copied_messages(held: OpenDocument, asked: CopyMessages) -> Steps[str]:
    document, messages = held.document, asked.messages.tolist()
    check_messages(held, messages)
    if asked.style != "ids":
        _refuse_too_large(document.capture, asked.messages)
    (read, write), texts = _reader_and_writer(document, asked.style), list[str]()
    for block in _blocks(document.capture, messages):
        try:
            values = [read(message) for message in block]
        except OSError as error:
            sentence = f"The log cannot be read: {(error.strerror or str(error)).rstrip('.')}."
            raise RequestError(sentence) from None
        size = int(document.capture.columns["size"][block].sum())
        texts += yield from in_thread_if_large(partial(list, map(write, values)), size)
        yield
    if asked.style == "markdown":
        return "\n".join(texts).strip("\n") + "\n" if texts else ""
    return "\n".join(filter(None, texts))


def _blocks(capture: Capture, messages: list[int]) -> Iterator[list[int]]:
    """Yields messages of some kB together; large ones alone."""
    block, size = list[int](), 0
    for message, own in zip(messages, capture.columns["size"][messages].tolist(), strict=True):
        if block and size + own > _BLOCK_BYTES:
            yield block
            block, size = [], 0
        block.append(message)
        size += own
    if block:
        yield block


def _reader_and_writer(document: CaptureDocument, style: Style) -> tuple[Callable[[int], object], Callable[[Any], str]]:
    """Returns a function that reads a message, and one that writes what was read; a thread may run it."""
    match style:
        case "json":
            return lambda message: copied_text.envelope_or_text(document, message), copied_text.json_text
        case "json lines":
            return lambda message: copied_text.envelope_or_text(document, message), copied_text.json_line
        case "ids":
            return lambda message: copied_text.id_text(document, message), str
        case "markdown":
            writer = MarkdownWriter(document, ExportOptions(Format.MARKDOWN), Redaction(masked=True))
            return writer.prepare, lambda write: write().decode()


def _refuse_too_large(capture: Capture, messages: NDArray[np.uint32]) -> None:
    """Raises RequestError if messages are too large to copy: only the heads of large ones are decoded."""
    sizes = capture.columns["size"][messages]
    for message, size in zip(messages.tolist(), sizes.tolist(), strict=True):
        if capture.records.is_big(message):
            number = formats.message_number(message)
            raise RequestError(f"{number} is too large to copy ({formats.size(size)}). Export it to a file instead.")
    if int(sizes.sum(dtype=np.int64)) > MOST_BYTES:
        raise RequestError("The selected messages are too large to copy. Export them to a file instead.")


def _cell_filter(held: OpenDocument, asked: CopyCellFilter | DescribeRow, *, second: bool) -> str | None:
    content = row_content(held.document, asked.message, folded=asked.folded)
    if isinstance(asked.column, str):
        return copied_text.field_filter(held.document, known_field(asked.column), asked.message)
    return copied_text.cell_filter(held.document, content, asked.column, second=second)


def _copied_filter(held: OpenDocument, asked: CopyCellFilter) -> str | None:
    check_messages(held, (asked.message,))
    return _cell_filter(held, asked, second=asked.second)


def _describe(held: OpenDocument, asked: DescribeRow) -> RowFacts:
    check_messages(held, (asked.message,))
    document, message = held.document, asked.message
    whole = _cell_filter(held, asked, second=False)
    note = document.analysis.marks.note(message)
    return RowFacts(
        _cell_filter(held, asked, second=True) if asked.second else whole, whole,
        copied_text.id_text(document, message), document.capture.records.is_big(message),
        row_content(document, message, folded=asked.folded).expandable, note.marked, bool(note.comment),
    )  # fmt: skip


def _totals(held: OpenDocument, asked: TotalsOfMessages) -> SelectionTotals:
    messages = held.view(asked.view).rows.visible if asked.messages is None else asked.messages
    columns = held.document.capture.columns
    messages = messages[messages < len(columns["size"])]
    times = columns["time_ns"][messages]
    times = times[times != NO_TIME]
    span = int(times.max()) - int(times.min()) if len(times) > 1 else None
    return SelectionTotals(len(messages), int(columns["size"][messages].sum(dtype=np.int64)), span)


QUERIES = (
    Query(CopyRows, str, _copied_rows),
    Query(CopyMessages, str, _copied_messages),
    Query(CopyCellFilter, str | None, _copied_filter),
    Query(DescribeRow, RowFacts, _describe),
    Query(TotalsOfMessages, SelectionTotals, _totals),
)
