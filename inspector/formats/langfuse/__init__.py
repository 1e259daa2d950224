"""Format: exports of Langfuse."""

from __future__ import annotations

from inspector.formats.format_families import span_export

FORMAT = span_export(__name__, title="Langfuse export", reads="exports of Langfuse")
