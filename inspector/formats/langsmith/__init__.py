"""Format: runs of LangSmith."""

from __future__ import annotations

from inspector.formats.format_families import span_export

FORMAT = span_export(__name__, title="LangSmith runs", reads="runs of LangSmith")
