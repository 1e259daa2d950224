"""Exports messages as lines, tables, documents or traces (`options.Format`), to a path or an open file; no Qt.

One module per format: `lines`, `table`, `markdown` and `page` write message by message. `parquet` and `otlp` need all
messages at once (`steps`). `msp` writes a context as a session. Shared by all: `options` (the request), `redaction`
(masks every value), `files` (atomic writing in steps) and `compression` (by file extension). `preview` counts the
secrets in advance. To add a format, see `docs/where-to-add.md`.
"""

from __future__ import annotations

from inspector.export.files import export_file, export_stream, export_to, matching, rows_of, writer_for
from inspector.export.options import DEFAULT_FIELDS, Exported, ExportOptions, Format
from inspector.export.preview import Preview, preview
from inspector.export.redaction import Redaction, shown_value

__all__ = [
    "DEFAULT_FIELDS",
    "ExportOptions",
    "Exported",
    "Format",
    "Preview",
    "Redaction",
    "export_file",
    "export_stream",
    "export_to",
    "matching",
    "preview",
    "rows_of",
    "shown_value",
    "writer_for",
]  # fmt: skip
