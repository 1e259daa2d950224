"""Forms and fields that no column tells: looked at in the first message of each sender and kind.

Who writes a field in an old way does so always.
"""

from __future__ import annotations

import numpy as np

from inspector.analysis.findings.batch import Array, Batch, Marks
from inspector.analysis.findings.check import NOTE, Check
from inspector.store.columns.flags import Flag

CORRELATION_FORM = Check(
    "correlation-wrong-type", NOTE, "Correlation in the form of another version",
    "{who} writes correlation_id as {detail}.",
    "Readers that follow the version strictly do not find what the message is about; gateways correct it on one of "
    "their two ways in.",
    "Write correlation_id as a list from v0.2 on, as one text before.",
    "MEW v0.2 to v0.4: array of strings; v0.0, v0.1: string",
    example="a text; mew/v0.4 has a list",
)  # fmt: skip
OTHERWISE = Check(
    "context-elsewhere", NOTE, "Context declared in another field",
    "{who} names a context in {detail} and none in the envelope.",
    "Readers take these messages for the main context's.",
    "Move it to the envelope's context field.",
    "p4m, MEW v0.2 to v0.4: context is a field of the envelope",
    example="thread_id",
)  # fmt: skip
TIME_FORM = Check(
    "time-malformed", NOTE, "Time that is none",
    "{who} writes ts as {detail}.",
    "Nobody can tell when it was sent, or how late it came.",
    "Write ts as RFC 3339 in UTC: 2026-01-05T09:00:00.000Z.",
    "MEW v0.4, envelope: ts is RFC 3339",
    example="12345",
)  # fmt: skip
CHECKS = (CORRELATION_FORM, OTHERWISE, TIME_FORM)

_MOST = 1 << 10  # senders, and kinds, whose pairs are told apart
_LONGEST_READ = 1 << 18


class Forms:
    """Follows who writes what in which form."""

    def __init__(self) -> None:
        self._senders, self._kinds = Marks(np.uint16), Marks(np.uint16)
        self._counts = [0, 0]
        self._pairs = np.zeros(_MOST * _MOST * 2, np.bool_)  # not touched, so not in memory, but where pairs are
        self._reported: set[tuple[int, Check]] = set()

    def feed(self, batch: Batch) -> None:
        """Look at the first messages of each pair in a batch."""
        for row in sorted(batch.start + place for place in self._first_of_pairs(batch)):
            odd = batch.capture.extracted.odd_form(row)
            if odd is None or int(batch.capture.columns["length"][row]) > _LONGEST_READ:
                continue
            for check, words in zip((CORRELATION_FORM, TIME_FORM, OTHERWISE), odd, strict=True):
                if words:
                    self._tell(batch, row, check, words)

    def _first_of_pairs(self, batch: Batch) -> list[int]:
        senders = self._numbers(self._senders, 0, batch.new("sender"))
        kinds = self._numbers(self._kinds, 1, batch.new("kind"))
        correlated = (batch.new("flags") & Flag.CORRELATED.value) != 0
        pairs = (kinds * _MOST + senders) * 2 + correlated  # kinds are few, so that what is touched lies together
        new = np.flatnonzero(~self._pairs[pairs] & (senders != 0) & (kinds != 0))
        if not len(new):
            return []
        found, first = np.unique(pairs[new], return_index=True)
        self._pairs[found] = True
        return new[first].tolist()

    def _numbers(self, marks: Marks, which: int, ids: Array) -> Array:
        """A small number for each string: 1 and up in the order seen, 0 for those beyond the limit."""
        for identifier, _ in marks.unseen(ids) if self._counts[which] < _MOST - 1 else ():
            if self._counts[which] < _MOST - 1:
                self._counts[which] += 1
                marks.put(identifier, self._counts[which])
        return marks.of(ids).astype(np.int64)

    def _tell(self, batch: Batch, row: int, check: Check, detail: str) -> None:
        """Once for each sender."""
        key = (int(batch.capture.columns["sender"][row]), check)
        if key not in self._reported:
            self._reported.add(key)
            batch.findings.add(check, [row], details=detail)
