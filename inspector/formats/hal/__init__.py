"""Format: results of the Holistic Agent Leaderboard (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format_families import run_format
from inspector.formats.hal.reader import READER, VOICE

FORMAT = run_format(
    __name__, READER, VOICE, title="HAL results", reads="results of the Holistic Agent Leaderboard",
    bookkeeping=(),
)  # fmt: skip
