"""Messages as Parquet: a column a field, typed; with `raw`, what each was logged as, so that the file opens again.

Columns are those of the table `messages` (docs/tables.md), times as microseconds in UTC. `raw` holds the bytes of the
line that the log had, followed by those of the copies for those it was delivered to, as `lines` writes them; a
capture's first line, which names its space, stands before the first. It is read again by `sources.parquet_conversion`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from inspector.analysis.columns import Decoded
from inspector.document.document import CaptureDocument
from inspector.export.files import refuse_what_is_read
from inspector.export.lines import LinesWriter
from inspector.export.options import Exported, ExportOptions
from inspector.export.redaction import Redaction
from inspector.filters.fields import FIELDS
from inspector.sources.parquet_conversion import RAW
from inspector.tables.columns import Content, SqlType, Table, TableColumn
from inspector.tables.messages import FIELD_OF_COLUMN, MESSAGES, column_name, column_of, messages_of
from inspector.tables.parquet import parquet_file

_RAW = TableColumn(RAW, SqlType.BYTES, "Bytes of its line and of its copies', as they were logged.", decoded=True)


def export_parquet(
    document: CaptureDocument, messages: Iterable[int] | None, target: Path, *, fields: tuple[str, ...] = (),
    raw: bool = False, masked: bool = True,
) -> Exported:  # fmt: skip
    """Write messages to a Parquet file, in place of what is there.

    Args:
        document: holds them.
        messages: which ones, in the order they are written; None for all.
        target: the file.
        fields: names of its columns' fields; () for all there are.
        raw: what they were logged as is written, too.
        masked: secrets are replaced by dots.

    Raises:
        OSError: the file cannot be written, or is the log itself or lies beside it.
        QueryError: the memory does not suffice.
    """
    refuse_what_is_read(document, target)
    redaction = Redaction(masked=masked)
    rows = None if messages is None else np.fromiter(messages, np.int64)
    names = [column_name(name) for name in fields or [field.name for field in FIELDS]]
    columns = [column_of(FIELD_OF_COLUMN[name]) for name in names]
    table = Table(MESSAGES.name, MESSAGES.help, (*columns, *([_RAW] if raw else ())), MESSAGES.read)
    content = messages_of(document, names, rows)
    if raw:
        lines = LinesWriter(document, ExportOptions(), redaction, exact=True)
        which = range(content.length) if rows is None else rows

        def logged(row: int) -> bytes:
            return (lines.begin() if row == 0 else b"") + lines.message(int(which[row])).removesuffix(b"\n")

        content = Content(content.length, {**content.columns, RAW: Decoded(logged, content.length)})
    with parquet_file(target, tables=(table,), masked=masked, in_order=raw) as (database, written):
        database.define(table, content)
        database.write(f"SELECT * FROM {table.name}", written, "zstd" if raw else "snappy")
    return Exported(content.length, target.stat().st_size, redaction.tally)
