"""Checks malformed fields that no column shows, in the first message of each sender and kind.

A sender that writes a field in an old form always does so.
"""

from __future__ import annotations

import numpy as np

from inspector.analysis.findings.batch import Array, Batch, StringNumbers
from inspector.analysis.findings.check import NOTE, Check
from inspector.store.columns.flags import Flag

CORRELATION_FORM = Check(
    "correlation-wrong-type", NOTE, "correlation_id in the form of another version",
    "{who} writes correlation_id as {detail}.",
    "Strict readers cannot link the message to its request; gateways correct the form on only one of "
    "their two inputs.",
    "Write correlation_id as a list from v0.2 on, and as a text in earlier versions.",
    "MEW v0.2 to v0.4: array of strings; v0.0, v0.1: string",
    example="a text; mew/v0.4 has a list",
)  # fmt: skip
CONTEXT_FIELD = Check(
    "context-elsewhere", NOTE, "Context declared in another field",
    "{who} names a context in {detail} and has none in the envelope.",
    "Readers put these messages into the main context.",
    "Move it to the envelope's context field.",
    "p4m, MEW v0.2 to v0.4: context is a field of the envelope",
    example="thread_id",
)  # fmt: skip
TIME_FORM = Check(
    "time-malformed", NOTE, "Invalid time",
    "{who} writes ts as {detail}.",
    "The time of sending and the delay are unknown.",
    "Write ts as RFC 3339 in UTC: 2026-01-05T09:00:00.000Z.",
    "MEW v0.4, envelope: ts is RFC 3339",
    example="12345",
)  # fmt: skip
CHECKS = (CORRELATION_FORM, CONTEXT_FIELD, TIME_FORM)

_MAX_PAIR_NAMES = 1 << 10  # senders, and kinds, tracked as pairs
_MAX_RECORD_BYTES = 1 << 18


class FieldForms:
    """Tracks forms of fields per sender and kind."""

    def __init__(self) -> None:
        self._senders, self._kinds = StringNumbers(np.uint16), StringNumbers(np.uint16)
        self._counts = [0, 0]
        # virtual memory only: pages are allocated where pairs occur
        self._pairs = np.zeros(_MAX_PAIR_NAMES * _MAX_PAIR_NAMES * 2, np.bool_)
        self._reported: set[tuple[int, Check]] = set()

    def feed(self, batch: Batch) -> None:
        for row in sorted(batch.start + place for place in self._first_of_pairs(batch)):
            odd = batch.capture.extracted.irregular_form(row)
            # Reading one huge record again would block the window.
            if odd is None or int(batch.capture.columns["length"][row]) > _MAX_RECORD_BYTES:
                continue
            for check, words in zip((CORRELATION_FORM, TIME_FORM, CONTEXT_FIELD), odd, strict=True):
                if words:
                    self._report_once(batch, row, check, words)

    def _first_of_pairs(self, batch: Batch) -> list[int]:
        senders = self._numbers(self._senders, 0, batch.new("sender"))
        kinds = self._numbers(self._kinds, 1, batch.new("kind"))
        correlated = (batch.new("flags") & Flag.CORRELATED.value) != 0
        pairs = (
            kinds * _MAX_PAIR_NAMES + senders
        ) * 2 + correlated  # kinds are few: this order keeps the touched pages together
        new = np.flatnonzero(~self._pairs[pairs] & (senders != 0) & (kinds != 0))
        if not len(new):
            return []
        found, first = np.unique(pairs[new], return_index=True)
        self._pairs[found] = True
        return new[first].tolist()

    def _numbers(self, marks: StringNumbers, which: int, ids: Array) -> Array:
        """Returns a small number per string: 1 and up in order of appearance, 0 for strings beyond the limit."""
        for identifier, _ in marks.unnumbered_ids(ids) if self._counts[which] < _MAX_PAIR_NAMES - 1 else ():
            if self._counts[which] < _MAX_PAIR_NAMES - 1:
                self._counts[which] += 1
                marks.set_number(identifier, self._counts[which])
        return marks.numbers_of(ids).astype(np.int64)

    def _report_once(self, batch: Batch, row: int, check: Check, detail: str) -> None:
        """Reports a check once per sender."""
        # A sender that writes one field in an old form does so in every message.
        key = (int(batch.capture.columns["sender"][row]), check)
        if key not in self._reported:
            self._reported.add(key)
            batch.findings.add(check, [row], details=detail)
