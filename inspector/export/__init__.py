"""Export: messages as lines, tables, documents or traces (`options.Format`), to a file or into an open one; no Qt.

One module a format: `lines`, `table`, `markdown`, `page`, and `parquet` and `otlp`, which need all messages at once
(`steps`); `msp` writes a context. What all share is in `options` (what is asked for),
`redaction` (the one way values come out, masked or not), `files` (writing step by step, whole or not at all) and
`compression` (of what a name ends in).
`preview` counts beforehand what would be masked. To add a format: see `docs/architecture.md`.
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
