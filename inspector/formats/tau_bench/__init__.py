"""Format: results of tau-bench and tau2-bench (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format_families import run_format
from inspector.formats.tau_bench.reader import READER, VOICE

FORMAT = run_format(
    __name__, READER, VOICE, title="tau-bench results", reads="results of tau-bench",
    bookkeeping=("run",),
)  # fmt: skip
