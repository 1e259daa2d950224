"""Rows of messages: those that pass a filter, their contents, remarks, originals and highlights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column
from inspector.analysis.passes.changed_rows import Rows
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps, check_row_count
from inspector.engine.requests.fields import known_field
from inspector.filters import DisplayFilter, FilterError, compile_filter
from inspector.filters.field import Depends, Field
from inspector.filters.highlight import Highlighter
from inspector.filters.highlight import Look as Look
from inspector.filters.highlight import LookRule as LookRule
from inspector.present.folded_stream import stream_lines
from inspector.present.message_columns import cell_text
from inspector.present.message_row import RowContent as RowContent
from inspector.present.message_row import row_content, row_contents
from inspector.present.original_result import Original as Original
from inspector.present.original_result import original_of
from inspector.present.row_remarks import RowRemarks as RowRemarks
from inspector.present.row_remarks import row_remarks
from inspector.store.columns.large_headers import HEAD_BYTES, MAX_WHOLE_BYTES
from inspector.store.messages.capture import Capture

_FIRST_BLOCK = 1_000
_BLOCK = 1 << 16
"""Messages filtered in one step: some milliseconds for filters that decode nothing."""
_DECODED_BLOCK = 1_000
"""Messages filtered in one step by filters that decode records."""
_MAX_ROWS = 2_000
"""Limit of rows in one request: some screens, and 50 ms."""
_MAX_DECODED_BYTES = 1 << 17
"""Bytes decoded for one answer: about 200 usual rows in 30 ms. A screen of 1 MB messages would take 500 ms."""


class NoteOnFilter(Request[str | None], frozen=True):
    """Advice about a valid filter that probably means something else; None without any."""

    filter: str


class MessageRows(Request[list[RowContent]], frozen=True):
    """Contents of the rows of messages: of all, or of the first ones if they are long. At least one row is answered.

    Attributes:
        messages: their indices, at most 2,000.
        folded: a frame's row stands for its stream.
        fields: names of fields whose texts are included.
    """

    is_urgent: ClassVar[bool] = True
    messages: tuple[int, ...]
    folded: bool = False
    fields: tuple[str, ...] = ()


class RemarksOfRow(Request[RowRemarks], frozen=True):
    """Remarks about one row, for tooltips."""

    is_urgent: ClassVar[bool] = True
    message: int


class OriginalLines(Request[Original], frozen=True):
    """Lines below an expanded row: of a collapsed result, or of a folded stream.

    Attributes:
        message: the message of the row.
        folded: a frame's row stands for its stream.
    """

    is_urgent: ClassVar[bool] = True
    message: int
    folded: bool = False


class Looks(msgspec.Struct, frozen=True):
    """Highlights of messages.

    Attributes:
        looks: one per message.
        on_tree, on_clock: they change with the tree of contexts, or with time.
    """

    looks: list[Look]
    on_tree: bool
    on_clock: bool


class MessageLooks(Request[Looks], frozen=True):
    """Highlights of messages by rules; the first matching rule of each paint gives the colour.

    Attributes:
        messages: their indices.
        rules: the active rules; those with an invalid filter have no effect.
        selected_context: the path of `$context`.
    """

    is_urgent: ClassVar[bool] = True
    messages: tuple[int, ...]
    rules: tuple[LookRule, ...]
    selected_context: str | None = None


def compiled_filter(text: str) -> DisplayFilter:
    """Compiles a filter. Raises RequestError with its error."""
    try:
        return compile_filter(text)
    except FilterError as error:
        raise RequestError(f"{error} (at character {error.position + 1})") from None


def matching_messages(analysis: Analysis, filter_: DisplayFilter) -> Iterator[NDArray[np.uint32]]:
    """Yields the messages that pass a filter, in capture order; each block takes some milliseconds."""
    most = _BLOCK if filter_.is_cheap(analysis) else _DECODED_BLOCK
    start, step = 0, min(_FIRST_BLOCK, most)
    while start < len(analysis):
        rows = np.arange(start, min(start + step, len(analysis)))
        yield rows[filter_.mask(analysis, rows)].astype(np.uint32)
        # The first matches come at once; later blocks are large for speed.
        start, step = start + step, min(step * 2, most)


def _note(_held: OpenDocument, asked: NoteOnFilter) -> str | None:
    note = compiled_filter(asked.filter).note
    return None if note is None else str(note)


class _FieldColumns:
    """Columns of fields, kept until a change; creation may cost as much as many reads."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._columns: dict[str, Column] = {}

    def note_changed(self, changed: Rows, /) -> None:
        self._columns.clear()

    def texts(self, field: Field, messages: Sequence[int]) -> list[str]:
        """Returns the masked cell texts of a field."""
        column = self._columns.get(field.name)
        if column is None or len(column) < len(self._analysis):
            column = field.column(self._analysis)
            # Time passes without a change.
            if field.depends is not Depends.CLOCK:
                self._columns[field.name] = column
        return [cell_text(field, column.value(one), field.secret_at(self._analysis, one)) for one in messages]


def field_texts(held: OpenDocument, name: str, messages: Sequence[int]) -> list[str]:
    """Returns the masked cell texts of a field. Raises RequestError if there is no such field."""
    analysis = held.document.analysis
    return held.kept(_FieldColumns, lambda: _FieldColumns(analysis)).texts(known_field(name), messages)


def _check(held: OpenDocument, messages: Sequence[int]) -> None:
    check_row_count(len(messages), _MAX_ROWS)
    check_messages(held, messages)


def check_messages(held: OpenDocument, messages: Sequence[int]) -> None:
    """Raises RequestError if there is no message of one of these numbers."""
    count = len(held.document.capture)
    if messages and not 0 <= min(messages) <= max(messages) < count:
        raise RequestError(f"There are {count:,} messages.")


def _rows(held: OpenDocument, asked: MessageRows) -> list[RowContent]:
    _check(held, asked.messages)
    messages = _first_messages(held.document.capture, asked.messages)
    contents = row_contents(held.document, messages, folded=asked.folded)
    for name in asked.fields:
        for content, text in zip(contents, field_texts(held, name, messages), strict=True):
            content.fields[name] = text
    return contents


def _first_messages(capture: Capture, messages: tuple[int, ...]) -> Sequence[int]:
    """Returns the first messages, up to `_MAX_DECODED_BYTES` of their records."""
    lengths = capture.columns["length"][list(messages)].astype(np.int64)
    lengths[lengths > MAX_WHOLE_BYTES] = HEAD_BYTES
    # The limit is checked between messages, so at least one is decoded.
    before = lengths.cumsum() - lengths
    return messages[: int(np.count_nonzero(before < _MAX_DECODED_BYTES))]


def _remarks(held: OpenDocument, asked: RemarksOfRow) -> RowRemarks:
    _check(held, (asked.message,))
    return row_remarks(held.document, asked.message)


def _original(held: OpenDocument, asked: OriginalLines) -> Original:
    _check(held, (asked.message,))
    content = row_content(held.document, asked.message, folded=asked.folded)
    return (stream_lines if content.stream is not None else original_of)(held.document, asked.message)


def _looks(held: OpenDocument, asked: MessageLooks) -> Steps[Looks]:
    _check(held, asked.messages)
    analysis = held.document.analysis
    key = Highlighter, asked.rules, asked.selected_context
    highlighter = held.kept(key, lambda: Highlighter(analysis, asked.rules, asked.selected_context))
    looks: list[Look] = []
    for some in highlighter.batches(asked.messages):
        looks += highlighter.looks(some)
        yield
    return Looks(looks, highlighter.depends_on(Depends.TREE), highlighter.depends_on(Depends.CLOCK))


QUERIES = (
    Query(NoteOnFilter, str | None, _note),
    Query(MessageRows, list[RowContent], _rows),
    Query(RemarksOfRow, RowRemarks, _remarks),
    Query(OriginalLines, Original, _original),
    Query(MessageLooks, Looks, _looks),
)
