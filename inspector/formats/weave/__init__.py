"""Format: calls of W&B Weave."""

from __future__ import annotations

from inspector.formats.format_families import span_export

FORMAT = span_export(__name__, title="Weave calls", reads="calls of W&B Weave")
