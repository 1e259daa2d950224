"""Format: traces of MLflow."""

from __future__ import annotations

from inspector.formats.format_families import span_export

FORMAT = span_export(__name__, title="MLflow traces", reads="traces of MLflow")
