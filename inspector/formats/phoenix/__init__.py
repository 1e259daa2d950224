"""Format: spans of Phoenix."""

from __future__ import annotations

from inspector.formats.format_families import span_export

FORMAT = span_export(__name__, title="Phoenix spans", reads="spans of Phoenix")
