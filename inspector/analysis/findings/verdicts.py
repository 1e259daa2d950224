"""What the gateway decided, held against what the capabilities say as they are specified (docs/protocols.md 12).

A verdict names the capabilities that were held when it was made, so that it is judged by these and not by what was
seen announced. Released gateways read some patterns otherwise than is specified; the verdict stands all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import WARNING, Check
from inspector.analysis.passes.changes import NO_ROWS, Rows
from inspector.protocol.capabilities import covers_by_kind, first_covering
from inspector.protocol.message_text import compact
from inspector.protocol.secrets.masking import masked_words
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW, hash_text

LENIENT = Check(
    "allowed-without-capability", WARNING, "Allowed, though no capability covers it",
    "The gateway allowed {detail}, though as specified no capability of the sender covers it.",
    "Something can be done that nobody meant to allow: released gateways compare a pattern such as \"!delete_*\" "
    "letter by letter, and do not look at numbers.",
    "Allow what is meant by plain patterns, which all implementations read alike.",
    "MEW v0.4, capability patterns; release v0.11.0, gateway",
    example="mcp/request from coder by {\"kind\":\"mcp/request\",\"payload\":{\"method\":\"!tools/call\"}}",
)  # fmt: skip
STRICT = Check(
    "denied-despite-capability", WARNING, "Refused, though a capability covers it",
    "The gateway refused {detail} covers it as specified.",
    "What was to be done was not done. Released gateways understand no list of values, no pattern that begins with *, "
    "and no regular expression.",
    "Write the capability in plain patterns, one for each value.",
    "MEW v0.4, capability patterns; release v0.11.0, gateway",
    example="mcp/request from coder, though {\"kind\":\"mcp/*\"}",
)  # fmt: skip
CHECKS = (LENIENT, STRICT)

_MOST_JUDGED = 200
"""Messages judged one by one of those whose verdicts say the same: where payloads decide."""
_MOST_WAITING = 10_000
"""Verdicts that are kept for messages to come; of some only the verdict is ever seen."""
_LONGEST = 72
_OWN = frozenset({"timestamp", "event", "envelope_id", "metadata"})
"""What each verdict has of its own."""


@dataclass(slots=True)
class _Case:
    """Verdicts that agree in all but time and envelope.

    Attributes:
        expected: what its kind alone says; None when that depends on the message.
        judged: messages that were looked at one by one.
    """

    allowed: bool
    sender: str
    kind: str
    held: list[Any]
    matched: object
    expected: bool | None
    judged: int = 0

    @property
    def check(self) -> Check:
        """What it is a finding of, when the verdict is not what is expected."""
        return LENIENT if self.allowed else STRICT

    def words(self, covering: object) -> str:
        """Who sent what, and by which capability it was allowed, or is covered."""
        about = f"{self.kind[:40]} from {self.sender[:40]}"
        if not self.allowed:
            return f"{about}, though {_short(covering)}"
        return about if self.matched is None else f"{about} by {_short(self.matched)}"


class Verdicts:
    """Looks at the verdicts beside a log, once the messages they are about are there, and at those that are a log."""

    def __init__(self) -> None:
        self._taken = 0
        self._waiting: Rows = NO_ROWS  # lines of the file about messages that have not come
        self._cases: dict[int, _Case | None] = {}
        self._alike: dict[int, _Case | None] = {}  # of verdicts that are messages
        self._errors: dict[int, int] = {}  # by the hash of what they name: rows of the gateway's errors

    def feed(self, batch: Batch) -> None:
        """Look at the verdicts that are new, and at those whose messages have come."""
        self._alone(batch)
        for row in filter(batch.passes.trust.is_gateway_or_nobody, batch.rows("system/error").tolist()):
            self._errors.setdefault(int(batch.capture.ids.text_hashes("correlation_hash", [row])[0]), row)
        decisions = batch.decisions
        if decisions is None or (len(decisions) == self._taken and batch.stop == batch.start):
            return
        lines = np.concatenate((self._waiting, np.arange(self._taken, len(decisions))))
        self._taken = len(decisions)
        envelopes = decisions.envelopes[lines]
        lines, envelopes = lines[envelopes != NO_HASH], envelopes[envelopes != NO_HASH]
        rows = batch.capture.ids.latest_anywhere(envelopes)
        for place in np.flatnonzero(rows == NO_ROW).tolist():
            rows[place] = self._errors.get(int(envelopes[place]), NO_ROW)
        known = rows != NO_ROW
        self._waiting = lines[~known][-_MOST_WAITING:]
        lines, rows = lines[known], rows[known]
        says = decisions.says[lines]
        for value, first in zip(*(found.tolist() for found in np.unique(says, return_index=True)), strict=True):
            if value not in self._cases:
                self._cases[value] = _read(decisions.decision(int(lines[first])))
            case = self._cases[value]
            if case is not None and case.expected != case.allowed:
                _judge(batch, case, np.unique(rows[says == value]))

    def _alone(self, batch: Batch) -> None:
        """Verdicts that are messages themselves, as their file was opened: their kind is all that is known."""
        for row in batch.flagged(Flag.LOG_ONLY.value).tolist():
            payload = batch.capture.records.decoded(row).payload
            value = hash_text(compact({key: item for key, item in payload.items() if key not in _OWN}))
            if value not in self._alike:
                self._alike[value] = _read(payload)
            case = self._alike[value]
            if case is not None and case.expected == (not case.allowed):
                batch.findings.add(case.check, [row], details=case.words(_covering(case)))


def _read(verdict: Mapping[str, Any] | None) -> _Case | None:
    """What a verdict says; None where it cannot be judged."""
    if verdict is None or verdict.get("result") not in ("allowed", "denied"):
        return None
    sender, kind = verdict.get("participant"), verdict.get("required_capability")
    held = verdict.get("granted_capabilities")
    if not isinstance(held, list) or not isinstance(sender, str) or not isinstance(kind, str):
        return None
    if verdict.get("matched_source") == "implicit":
        return None
    matched = verdict.get("matched_capability")
    return _Case(verdict["result"] == "allowed", sender, kind, held, matched, covers_by_kind(held, kind))


def _judge(batch: Batch, case: _Case, rows: Rows) -> None:
    """Look at the messages that verdicts of a case are about."""
    capture, found = batch.capture, batch.findings
    wrong: list[int] = []
    words: list[str] = []
    for row in rows[~found.has(case.check, rows)].tolist():
        expected, capability = case.expected, _covering(case)
        seen = capture.string("sender", row) == case.sender and capture.string("kind_raw", row) == case.kind
        if not seen and (case.allowed or capture.string("kind", row) != "system/error"):
            continue  # an id used twice: the verdict is about another message
        if expected is None:
            if not seen or case.judged >= _MOST_JUDGED or capture.records.is_big(row):
                continue  # what a gateway refuses over a socket is lost but for its kind
            case.judged += 1
            asked = batch.passes.capabilities.asked_by(case.held, row, case.kind)
            expected, capability = first_covering(case.held, asked)
        if expected is not None and expected != case.allowed:
            wrong.append(row)
            words.append(case.words(capability))
    found.add(case.check, wrong, details=words)


def _covering(case: _Case) -> object:
    """The first capability that covers every message of the kind; None when there is none."""
    return next((one for one in case.held if covers_by_kind([one], case.kind)), None)


def _short(capability: object) -> str:
    text = capability if isinstance(capability, str) else compact(capability)
    return masked_words(text, _LONGEST)
