"""Format: exports of claude.ai (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.claude_ai.reader import READER, RECORDS, VOICE
from inspector.formats.format_families import chat_export

FORMAT = chat_export(
    __name__, READER, VOICE, title="claude.ai export", reads="exports of claude.ai", bookkeeping=RECORDS
)  # fmt: skip
