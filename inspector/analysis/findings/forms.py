"""Forms and fields that no column tells: looked at in the first message of each sender and kind.

Who writes a field in an old way does so always, and reading every record again would cost more than all checks
together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from inspector.analysis.findings.batch import Array, Batch, Marks
from inspector.analysis.findings.check import NOTE, Check
from inspector.capture.flags import Flag
from inspector.protocol import msp
from inspector.protocol.context_forms import names
from inspector.protocol.header import ABSENT
from inspector.protocol.times import NO_TIME

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
_LONGEST_TIME = 40  # letters of what stands in the place of a time
_FIELDS = ("thread_id", "threadId")


class Forms:
    """Reads a few records again."""

    def __init__(self) -> None:
        self._senders, self._kinds = Marks(np.uint16), Marks(np.uint16)
        self._counts = [0, 0]
        self._pairs = np.zeros(_MOST * _MOST * 2, np.bool_)  # not touched, so not in memory, but where pairs are
        self._told: set[tuple[int, Check]] = set()

    def feed(self, batch: Batch) -> None:
        """Look at the first messages of each pair in a batch."""
        for row in sorted(batch.start + place for place in self._first_of_pairs(batch)):
            if int(batch.capture.columns["length"][row]) <= _LONGEST_READ:
                envelope = batch.capture.envelope(row)
                if isinstance(envelope, dict):
                    self._look_at(batch, row, envelope)

    def _first_of_pairs(self, batch: Batch) -> list[int]:
        senders = self._numbers(self._senders, 0, batch.new("sender"))
        kinds = self._numbers(self._kinds, 1, batch.new("kind"))
        correlated = (batch.new("flags") & Flag.CORRELATED.value) != 0
        pairs = (senders * _MOST + kinds) * 2 + correlated
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

    def _look_at(self, batch: Batch, row: int, envelope: dict[str, Any]) -> None:
        header = batch.capture.record(row).header
        if header is None or header.kind is ABSENT:
            return
        written = envelope.get("correlation_id")
        protocol = batch.string("protocol", row)
        lists = protocol.startswith(("mew/", "meup/"))
        if "correlationId" in envelope:
            self._tell(batch, row, CORRELATION_FORM, "correlationId, the name one draft had")
        elif isinstance(written, str) and lists:
            self._tell(batch, row, CORRELATION_FORM, f"a text; {protocol} has a list")
        elif isinstance(written, list) and protocol in ("mcp-x/v0", "mcpx/v0.1"):
            self._tell(batch, row, CORRELATION_FORM, f"a list; {protocol} has one text")
        elif not isinstance(written, str | list | None):
            self._tell(batch, row, CORRELATION_FORM, "something that is neither a list nor a text")
        if (
            envelope.get("ts") is not None
            and protocol != msp.PROTOCOL
            and int(batch.capture.columns["ts_ns"][row]) == NO_TIME
        ):
            self._tell(batch, row, TIME_FORM, _shown(envelope["ts"]))
        if envelope.get("context") is None:
            payload = envelope.get("payload")
            held = payload if isinstance(payload, Mapping) else {}
            named = next((name for name in _FIELDS if envelope.get(name)), "")
            named = named or next((f"payload.{name}" for name in (*_FIELDS, "context") if names(held.get(name))), "")
            if named:
                self._tell(batch, row, OTHERWISE, named)

    def _tell(self, batch: Batch, row: int, check: Check, detail: str) -> None:
        """Once for each sender."""
        key = (int(batch.capture.columns["sender"][row]), check)
        if key not in self._told:
            self._told.add(key)
            batch.findings.add(check, [row], details=detail)


def _shown(value: Any) -> str:
    """A value that should have been a text, in a few words."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_TIME else f"{text[:_LONGEST_TIME]}…"
