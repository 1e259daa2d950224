"""Compares the gateway's verdicts with the specified meaning of capabilities (docs/protocols.md 12).

A verdict lists the capabilities held at the time, so these are used and not the announced ones. Released gateways
interpret some patterns differently; their verdict takes effect anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import WARNING, Check
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.protocol.capabilities import covers_by_kind, first_covering
from inspector.protocol.message_text import compact_json
from inspector.protocol.secrets.masking import masked_value_text
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW, hash_text

LENIENT = Check(
    "allowed-without-capability", WARNING, "Allowed without a matching capability",
    "The gateway allowed {detail}, but by the specification no capability of the sender covers it.",
    "Unintended actions are possible. Released gateways compare a pattern such as \"!delete_*\" "
    "literally, and ignore numbers.",
    "Use plain patterns, which all implementations interpret alike.",
    "MEW v0.4, capability patterns; release v0.11.0, gateway",
    example="mcp/request from coder by {\"kind\":\"mcp/request\",\"payload\":{\"method\":\"!tools/call\"}}",
)  # fmt: skip
STRICT = Check(
    "denied-despite-capability", WARNING, "Refused despite a matching capability",
    "The gateway refused {detail} covers it by the specification.",
    "The action did not happen. Released gateways do not support lists of values, patterns that start with *, "
    "or regular expressions.",
    "Write one plain pattern for each value.",
    "MEW v0.4, capability patterns; release v0.11.0, gateway",
    example="mcp/request from coder, though {\"kind\":\"mcp/*\"}",
)  # fmt: skip
CHECKS = (LENIENT, STRICT)

_MAX_JUDGED = 200
"""Messages judged one by one among equal verdicts, if payloads decide."""
_MAX_QUEUED = 10_000
"""Verdicts kept for messages to come; some messages never come."""
_MAX_CAPABILITY_CHARS = 72
_VARYING_KEYS = frozenset({"timestamp", "event", "envelope_id", "metadata"})
"""Fields that differ in every verdict."""


@dataclass(slots=True)
class _Case:
    """Verdicts that agree except in time and envelope.

    Attributes:
        expected: verdict by the kind alone; None if it depends on the message.
        judged: number of messages checked one by one.
    """

    allowed: bool
    sender: str
    kind: str
    capabilities: list[Any]
    matched: object
    expected: bool | None
    judged: int = 0

    @property
    def check(self) -> Check:
        """The check to report if the verdict is not the expected one."""
        return LENIENT if self.allowed else STRICT

    def words(self, covering: object) -> str:
        """Describes the message and the capability that allowed or covers it."""
        about = f"{self.kind[:40]} from {self.sender[:40]}"
        if not self.allowed:
            return f"{about}, though {_shortened(covering)}"
        return about if self.matched is None else f"{about} by {_shortened(self.matched)}"


class Verdicts:
    """Checks verdicts beside a log once their messages are there, and logs that consist of verdicts."""

    def __init__(self) -> None:
        self._taken = 0
        self._waiting: Rows = NO_ROWS  # verdict lines whose messages have not come
        self._cases: dict[int, _Case | None] = {}
        self._logged_cases: dict[int, _Case | None] = {}  # for verdicts that are messages
        self._errors: dict[int, int] = {}  # by hash of the id they name: rows of the gateway's errors

    def feed(self, batch: Batch) -> None:
        """Checks new verdicts, and earlier ones whose messages have come."""
        self._check_logged_verdicts(batch)
        for row in filter(batch.passes.trust.is_gateway_or_unsigned, batch.rows("system/error").tolist()):
            self._errors.setdefault(int(batch.capture.ids.text_hashes("correlation_hash", [row])[0]), row)
        decisions = batch.decisions
        if decisions is None or (len(decisions) == self._taken and batch.stop == batch.start):
            return
        lines = np.concatenate((self._waiting, np.arange(self._taken, len(decisions))))
        self._taken = len(decisions)
        envelopes = decisions.envelope_hashes[lines]
        lines, envelopes = lines[envelopes != NO_HASH], envelopes[envelopes != NO_HASH]
        rows = batch.capture.ids.latest_anywhere(envelopes)
        for place in np.flatnonzero(rows == NO_ROW).tolist():
            # A message refused over a socket is in no log; the gateway's error stands in for it.
            rows[place] = self._errors.get(int(envelopes[place]), NO_ROW)
        known = rows != NO_ROW
        self._waiting = lines[~known][-_MAX_QUEUED:]
        lines, rows = lines[known], rows[known]
        # Equal verdicts share a hash, so each distinct one is parsed once.
        says = decisions.decision_hashes[lines]
        for value, first in zip(*(found.tolist() for found in np.unique(says, return_index=True)), strict=True):
            if value not in self._cases:
                self._cases[value] = _parse_verdict(decisions.decision(int(lines[first])))
            case = self._cases[value]
            if case is not None and case.expected != case.allowed:
                _check_case(batch, case, np.unique(rows[says == value]))

    def _check_logged_verdicts(self, batch: Batch) -> None:
        """Checks verdicts that are messages, after their file was opened as a log; only the kind is known."""
        for row in batch.flagged_rows(Flag.LOG_ONLY.value).tolist():
            payload = batch.capture.records.decoded_record(row).payload
            value = hash_text(compact_json({key: item for key, item in payload.items() if key not in _VARYING_KEYS}))
            if value not in self._logged_cases:
                self._logged_cases[value] = _parse_verdict(payload)
            case = self._logged_cases[value]
            # None, if the payload decides, equals neither: a verdict alone has no payload.
            if case is not None and case.expected == (not case.allowed):
                batch.findings.add(case.check, [row], details=case.words(_covering_capability(case)))


def _parse_verdict(verdict: Mapping[str, Any] | None) -> _Case | None:
    """Parses a verdict; None if it cannot be judged."""
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


def _check_case(batch: Batch, case: _Case, rows: Rows) -> None:
    """Checks the messages of a case's verdicts."""
    capture, found = batch.capture, batch.findings
    wrong: list[int] = []
    words: list[str] = []
    for row in rows[~found.has(case.check, rows)].tolist():
        expected, capability = case.expected, _covering_capability(case)
        seen = capture.string("sender", row) == case.sender and capture.string("kind_raw", row) == case.kind
        if not seen and (case.allowed or capture.string("kind", row) != "system/error"):
            continue  # an id used twice: the verdict is about another message
        if expected is None:
            if not seen or case.judged >= _MAX_JUDGED or capture.records.is_big(row):
                continue  # of a message refused over a socket, only the kind is kept
            case.judged += 1
            asked = batch.passes.capabilities.asked_by(case.capabilities, row, case.kind)
            expected, capability = first_covering(case.capabilities, asked)
        if expected is not None and expected != case.allowed:
            wrong.append(row)
            words.append(case.words(capability))
    found.add(case.check, wrong, details=words)


def _covering_capability(case: _Case) -> object:
    """Returns the first capability that covers every message of the kind, or None."""
    return next((one for one in case.capabilities if covers_by_kind([one], case.kind)), None)


def _shortened(capability: object) -> str:
    text = capability if isinstance(capability, str) else compact_json(capability)
    return masked_value_text(text, _MAX_CAPABILITY_CHARS)
