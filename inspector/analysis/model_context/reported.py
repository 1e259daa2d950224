"""What a participant itself reports of its context with `participant/status`; estimates never mix with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.model_context.reader import Reader


@dataclass(frozen=True, slots=True)
class Reported:
    """One report.

    Attributes:
        message: the status.
        tokens, max_tokens, messages: as it says; None where it does not.
    """

    message: int
    tokens: int | None
    max_tokens: int | None
    messages: int | None

    @property
    def words(self) -> str:
        """As a part of a sentence."""
        parts: list[str] = []
        if self.tokens is not None:
            parts.append(f"{self.tokens:,}{f' of {self.max_tokens:,}' if self.max_tokens else ''} tokens")
        if self.messages is not None:
            parts.append(f"{self.messages:,} messages in context")
        return ", ".join(parts) or "its status without figures"


def reported_at(analysis: Analysis, reader: Reader, message: int) -> Reported | None:
    """The last report of a reader up to a message; None when there is none among its last 1,000.

    What it reported before it left, or was started again, was about another process.
    """
    found = analysis.participants.all.get((reader.space, reader.name)) if reader.name is not None else None
    rows = found.status_rows if found is not None else []
    row = next((row for row in reversed(rows) if row <= message), None)
    if not rows:
        return _called_at(analysis, reader, message)
    if row is None or found is None or any(row < end <= message for end in found.ended):
        return None
    payload = analysis.capture.payload(row)
    return Reported(row, *(_figure(payload.get(key)) for key in ("tokens", "max_tokens", "messages_in_context")))


def _called_at(analysis: Analysis, reader: Reader, message: int) -> Reported | None:
    """What the last call of a reader's model reported: all it was given, whether from a cache or not."""
    calls = analysis.usage.reports()
    calls = calls[: int(np.searchsorted(calls, message, side="right"))]
    columns = analysis.capture.columns
    own = columns["sender"][calls] == (analysis.capture.strings.find(reader.name or "") or -1)
    own &= columns["space"][calls] == reader.space
    if not own.any():
        return None
    last = calls[own][-1:]
    return Reported(int(last[0]), sum(int(analysis.usage.at(name, last)[0]) for name in GIVEN), None, None)


GIVEN = ("input", "cache_read", "cache_write")
"""Of what a call reports: what the model was given."""


def _figure(value: object) -> int | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53:
        return int(value)
    return None
