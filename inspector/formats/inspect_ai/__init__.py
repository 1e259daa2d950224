"""Format: evaluation logs of Inspect (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format_families import run_format
from inspector.formats.inspect_ai.reader import READER, VOICE

FORMAT = run_format(
    __name__, READER, VOICE, title="Inspect log", reads="evaluation logs of Inspect",
    bookkeeping=("sample", "score", "info"), suffixes=(".eval",),
)  # fmt: skip
