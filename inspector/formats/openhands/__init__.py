"""Format: events and evaluations of OpenHands (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format_families import run_format
from inspector.formats.openhands.reader import READER, VOICE

FORMAT = run_format(
    __name__, READER, VOICE, title="OpenHands trajectory", reads="events and evaluations of OpenHands",
    bookkeeping=("event",),
)  # fmt: skip
