"""Format: exports of ChatGPT (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.chatgpt.reader import READER, RECORDS, VOICE
from inspector.formats.format_families import chat_export

FORMAT = chat_export(
    __name__, READER, VOICE, title="ChatGPT export", reads="exports of ChatGPT", bookkeeping=RECORDS
)  # fmt: skip
