"""Format: traces of the OpenAI Agents SDK."""

from __future__ import annotations

from inspector.formats.format_families import span_export

FORMAT = span_export(__name__, title="Agents SDK trace", reads="traces of the OpenAI Agents SDK")
