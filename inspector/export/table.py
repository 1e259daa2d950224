"""Messages as CSV: a head of field names, then a row a message (RFC 4180, UTF-8).

Text from the wire cannot act (`text_cell`).
"""

from __future__ import annotations

import csv
import io
import json

from inspector.document.document import CaptureDocument
from inspector.export.options import ExportOptions
from inspector.export.redaction import Redaction
from inspector.filters.field import Field
from inspector.filters.naming import field_named
from inspector.protocol.hostile_text import text_cell


class TableWriter:
    """Writes CSV."""

    def __init__(self, document: CaptureDocument, options: ExportOptions, redaction: Redaction) -> None:
        """Make the writer.

        Raises:
            FilterError: one of the fields is none.
        """
        self._analysis = document.analysis
        self._fields = [field_named(name) for name in options.fields]
        self._redaction = redaction

    def begin(self) -> bytes:
        """The names of the columns."""
        return _row([field.name for field in self._fields])

    def message(self, message: int) -> bytes:
        """A row."""
        return _row([self._cell(field, message) for field in self._fields])

    def end(self) -> bytes:
        """Nothing: each message is written whole."""
        return b""

    def _cell(self, field: Field, message: int) -> str:
        secret = field.secret_at(self._analysis, message)
        value = self._redaction.field(field, field.value(self._analysis, message), secret)
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return str(value)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            value = ", ".join(value)
        return text_cell(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _row(cells: list[str]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue().encode()
