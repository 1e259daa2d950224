"""Checks the context windows that participants report: nearly full (docs/protocols.md 4)."""

from __future__ import annotations

import math

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import WARNING, Check
from inspector.store.columns.hashes import NO_ROW

FULL_PERCENT = 90
"""Percent of the context window; a participant above it will soon lose information."""

WINDOW_FULL = Check(
    "context-window-full", WARNING, "Context window nearly full",
    "{who} reports {detail} of its context window in use.",
    "It will soon lose information, compact or fail.",
    "Send participant/compact or participant/forget, and look for large results that could collapse.",
    "MEW v0.4, participant/status", limit=FULL_PERCENT,
    example="96 %",
)  # fmt: skip
CHECKS = (WINDOW_FULL,)

_MAX_PERCENT = 9_900


class ContextWindows:
    """Checks reports of context window use."""

    def __init__(self) -> None:
        self._full: dict[tuple[int, int], int] = {}  # last report of each participant with a nearly full window

    def feed(self, batch: Batch) -> None:
        for row in batch.rows("participant/status").tolist():
            payload = batch.capture.records.decoded_record(row).payload
            used, most = _token_count(payload.get("tokens")), _token_count(payload.get("max_tokens"))
            if used is None or not most:
                continue
            key = (int(batch.capture.columns["space"][row]), int(batch.capture.columns["sender"][row]))
            percent = min(used / most * 100, _MAX_PERCENT)
            # Never round up to 100 % below the limit.
            shown = round(percent) if used >= most else min(round(percent), 99)
            full = percent >= FULL_PERCENT
            if full and not self._was_full(batch, key, row):
                batch.findings.add(WINDOW_FULL, [row], details=f"{shown} %")
            self._full[key] = row if full else NO_ROW

    def _was_full(self, batch: Batch, key: tuple[int, int], row: int) -> bool:
        """Returns True if the same process has already reported a full window."""
        last = self._full.get(key, NO_ROW)
        known = batch.passes.participants.all.get((key[0], batch.capture.strings[key[1]]))
        return last != NO_ROW and not (known is not None and known.has_ended_between(last, row))


def _token_count(value: object) -> float | None:
    """Returns a number of tokens; None for other values, such as true, NaN or an overflow."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        count = float(value)
    except OverflowError:
        return None
    return count if math.isfinite(count) and count >= 0 else None
