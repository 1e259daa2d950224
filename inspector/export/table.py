"""Writes messages as CSV: a head of field names, then one row per message (RFC 4180, UTF-8).

`csv_cell` prevents text from the wire from acting as a formula.
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
from inspector.protocol.escaped_text import escape_formula


class TableWriter:
    """Writes CSV."""

    def __init__(self, document: CaptureDocument, options: ExportOptions, redaction: Redaction) -> None:
        """Prepares the writer.

        Raises:
            FilterError: a column is not a field.
        """
        self._analysis = document.analysis
        self._fields = [field_named(name) for name in options.fields]
        self._redaction = redaction

    def begin(self) -> bytes:
        return _row([field.name for field in self._fields])

    def message(self, message: int) -> bytes:
        return _row([self._cell(field, message) for field in self._fields])

    def end(self) -> bytes:
        return b""

    def _cell(self, field: Field, message: int) -> str:
        secret = field.secret_at(self._analysis, message)
        value = self._redaction.field_value(field, field.value(self._analysis, message), secret)
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return str(value)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            value = ", ".join(value)
        return escape_formula(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _row(cells: list[str]) -> bytes:
    out = io.StringIO()
    # One writer per row, since exports yield bytes row by row.
    csv.writer(out).writerow(cells)
    return out.getvalue().encode()
