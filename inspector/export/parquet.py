"""Writes messages as Parquet: one typed column per field, and optionally the logged bytes.

Columns follow the table `messages` (docs/tables.md), times as microseconds in UTC. `raw` has the bytes of the
log's line and of its copies for recipients, as `lines` writes them. The first row also has the head line of a capture,
which names its space. `formats.parquet.conversion` reads the file again.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.field_columns import Decoded
from inspector.document.document import CaptureDocument
from inspector.export.files import refuse_source_files
from inspector.export.lines import LinesWriter
from inspector.export.options import Exported, ExportOptions, Steps
from inspector.export.redaction import Redaction
from inspector.formats.parquet.conversion import RAW_COLUMN
from inspector.tables.columns import Content, SqlType, Table, TableColumn
from inspector.tables.messages import FIELD_OF_COLUMN, MESSAGES, column_name, column_of, messages_of
from inspector.tables.parquet import parquet_file
from inspector.tables.query_errors import QueryError
from inspector.tables.read_requests import ReadRequests

_RAW_COLUMN = TableColumn(
    RAW_COLUMN, SqlType.BYTES, "Bytes of its line and of its copies', as they were logged.", is_decoded=True
)


def parquet_steps(
    document: CaptureDocument, messages: Iterable[int] | None, target: Path, *, fields: tuple[str, ...] = (),
    raw: bool = False, masked: bool = True,
) -> Steps:  # fmt: skip
    """Writes messages to a Parquet file atomically, in steps; the last step is complete.

    DuckDB writes in a thread; the caller's thread reads the records. A generator closed early leaves the old file.

    Args:
        document: the document with the messages.
        messages: message indices in output order; None for all.
        target: the file.
        fields: field names of the columns; () for all.
        raw: adds the logged bytes.
        masked: replaces secrets by dots.

    Raises:
        OSError: the file cannot be written, is a file of the document, or memory runs out.
    """
    refuse_source_files(document, target)
    redaction = Redaction(masked=masked)
    rows = None if messages is None else np.fromiter(messages, np.int64)
    names = [column_name(name) for name in fields] or [*FIELD_OF_COLUMN]
    columns = [column_of(FIELD_OF_COLUMN[name]) for name in names]
    table = Table(MESSAGES.name, MESSAGES.help, (*columns, *([_RAW_COLUMN] if raw else ())), MESSAGES.read)
    content = messages_of(document, names, rows)
    if raw:
        lines = LinesWriter(document, ExportOptions(), redaction, exact=True)
        for _ in lines.prepare():
            yield Exported(0, 0, redaction.tally)
        of_lines = all(source.elements is None for source in document.capture.sources)
        logged = (
            _LogStretches(document, lines) if rows is None and of_lines else _ChosenLines(lines, rows, content.length)
        )
        content = Content(content.length, {**content.columns, RAW_COLUMN: Decoded(logged, content.length)})
    turns = ReadRequests()
    try:
        # Threads that wait for each other's decoding cost more than they gain, and lines are read in order.
        alone = any(column.is_decoded for column in table.columns)
        with parquet_file(target, tables=(table,), masked=masked, in_order=alone, read=turns) as (database, written):
            for _ in database.set_content_in_steps(table, content):
                yield Exported(0, 0, redaction.tally)
            sql, packing = f"SELECT * FROM {table.name}", "zstd" if raw else "snappy"
            for _ in turns.run_thread(partial(database.write, sql, written, packing), database.interrupt):
                yield Exported(database.decoded_rows(table), 0, redaction.tally)
    except QueryError as error:
        raise OSError(errno.ENOMEM, error.sentence, str(target)) from error
    yield Exported(content.length, target.stat().st_size, redaction.tally)


class _ChosenLines:
    """Logged bytes of chosen messages: their lines and their copies' lines, as `lines` writes them."""

    def __init__(self, lines: LinesWriter, rows: NDArray[np.int64] | None, count: int) -> None:
        self._lines = lines
        self._rows = np.arange(count) if rows is None else rows

    def __call__(self, row: int) -> bytes:
        head = self._lines.begin() if row == 0 else b""
        return head + self._lines.message(int(self._rows[row])).removesuffix(b"\n")


class _LogStretches:
    """Logged bytes of all messages: each has the bytes from its own line to the next one's.

    So lines without a message of their own, such as chunks, are included, and the log is complete byte for byte.
    """

    def __init__(self, document: CaptureDocument, lines: LinesWriter) -> None:
        self._capture, self._lines = document.capture, lines
        columns = self._capture.columns
        sources, offsets = columns["source"], columns["offset"].astype(np.int64)
        self._start, self._stop = np.zeros(len(columns), np.int64), np.zeros(len(columns), np.int64)
        for number in range(len(self._capture.sources)):
            rows = np.flatnonzero(sources == number)
            if not len(rows):
                continue
            starts, first = np.unique(offsets[rows], return_index=True)
            whole = self._begin_lines(number, starts)
            # The first message of a line has its bytes. If no message lies in the file itself, the first one has all.
            holders = rows[first[whole]] if whole.any() else rows[:1]
            starts = starts[whole] if whole.any() else np.zeros(1, np.int64)
            # Bytes before the first message, such as a capture's head, belong to it.
            starts[0] = 0
            self._start[holders] = starts
            self._stop[holders] = np.append(starts[1:], self._capture.sources[number].size)

    def _begin_lines(self, number: int, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns a mask of offsets at line starts; others lie inside a line, or belong to reassembled messages."""
        source = self._capture.sources[number]
        size = source.size
        return np.array(
            [start < size and (start == 0 or source.read(start - 1, 1) == b"\n") for start in starts.tolist()], np.bool_
        )

    def __call__(self, row: int) -> bytes:
        start, stop = int(self._start[row]), int(self._stop[row])
        if start == stop:
            return b""
        # Masking works line by line, since each line is JSON of its own.
        stretch = self._capture.sources[int(self._capture.columns["source"][row])].read(start, stop - start)
        return b"\n".join([self._lines.masked_log_line(line) for line in stretch.rstrip(b"\r\n").split(b"\n")])
