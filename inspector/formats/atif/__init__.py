"""Format: trajectories in ATIF, as Harbor and Terminal-Bench write them (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.atif.reader import READER, VOICE
from inspector.formats.format_families import run_format

FORMAT = run_format(
    __name__, READER, VOICE, title="ATIF trajectory", reads="trajectories in ATIF (Harbor, Terminal-Bench)",
    bookkeeping=("trajectory",),
)  # fmt: skip
