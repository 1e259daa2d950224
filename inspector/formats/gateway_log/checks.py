"""Checks the gateway's log and errors: differing copies, denials, failures."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import ERROR, WARNING, Check
from inspector.analysis.findings.topic import DeclaredTopic
from inspector.base.slices import SlicedWork
from inspector.formats.line_reading import read_line
from inspector.protocol.capabilities import covers_by_kind
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.participants import capability_lines
from inspector.protocol.secrets.masking import masked_value_text
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

# Comparison of the copies of a message in a gateway's log.

# A broadcast has a copy for each participant, and each is read from the file.
_MAX_COPIES = 64
_MAX_RECORD_BYTES = 1 << 20


def differing_keys(capture: Capture, row: int) -> list[str]:
    """Returns the keys of the envelope that differ in a copy; [] for messages above 1 MB.

    A text in correlation_id equals a list of only this text: gateways convert one into the other (docs/protocols.md
    11).
    """
    if capture.records.is_big(row):
        return []
    first = capture.records.read_record(row).raw
    seen = {first}
    original = _normalized_envelope(first)
    keys: dict[str, None] = {}
    for place, delivery in enumerate(capture.deliveries.deliveries_of(row)):
        if place >= _MAX_COPIES:
            break
        if delivery.length > _MAX_RECORD_BYTES:
            continue
        # Copies are read again from the log, as only the first one is kept in columns.
        raw = read_line(capture.sources[delivery.source].read(delivery.offset, delivery.length)).raw
        # Most copies are identical bytes, so few of them are decoded.
        if raw not in seen:
            seen.add(raw)
            copy = _normalized_envelope(raw)
            keys.update(
                (key, None) for key in sorted(original.keys() | copy.keys()) if _key_differs(original, copy, key)
            )
    return list(keys)


_MISSING = object()


def _key_differs(original: dict[str, Any], copy: dict[str, Any], key: str) -> bool:
    return original.get(key, _MISSING) != copy.get(key, _MISSING)


def _normalized_envelope(raw: bytes) -> dict[str, Any]:
    try:
        envelope = decode_json(raw)
    except NotAnObjectError:
        return {}
    if not isinstance(envelope, dict):
        return {}
    named = envelope.get("correlation_id")
    if isinstance(named, str):
        envelope["correlation_id"] = [named]
    return envelope


ALTERED = Check(
    "context-altered", ERROR, "Context changed in transit",
    "A delivered copy has a different context from the one {who} sent.",
    "Receivers put the message into another context, or do not see it.",
    "Look for a bridge or proxy between the gateway and the receiver.",
    "p4m: gateways pass context on unchanged",
)  # fmt: skip
COPIES = Check(
    "copies-differ", WARNING, "Delivered copies differ",
    "Copies of this message from {who} differ in {detail}.",
    "Participants act on different messages with the same id.",
    "Look for a bridge or proxy between the gateway and the receiver.",
    "MEW v0.4: every participant gets the same envelope",
    example="payload",
)  # fmt: skip
DENIED = Check(
    "capability-denied", WARNING, "Refused: capability missing",
    "{detail}",
    "The action did not happen.",
    "Grant the capability with capability/grant, or propose the call instead.",
    "MEW v0.4, capabilities and system/error",
    example="coder may not send mcp/request.",
)  # fmt: skip
FAILED = Check(
    "system-error", WARNING, "Error from the gateway",
    "The gateway reports {detail}.",
    "A message was not forwarded, possibly without notice to its sender.",
    "Correct the message that the error names.",
    "MEW v0.4, system/error",
    example="validation_error: kind is missing",
)  # fmt: skip
CHECKS = (ALTERED, COPIES, DENIED, FAILED)

_MAX_NAME_CHARS, _MAX_SENTENCE_CHARS = 60, 90
"""Length of quoted gateway texts, in characters."""


class GatewayLog:
    """Checks errors, and copies of messages in a gateway's log."""

    def __init__(self) -> None:
        self._copies_queue: deque[int] = deque()

    def feed(self, batch: Batch) -> None:
        """Checks errors of a batch, and queues messages with differing copies for `deferred_checks`."""
        self._errors(batch)
        if len(batch.capture.deliveries):
            flags = batch.capture.columns["flags"]
            changed = batch.changed[flags[batch.changed] & Flag.COPIES_DIFFER.value != 0]
            self._copies_queue.extend((*changed.tolist(), *batch.flagged_rows(Flag.COPIES_DIFFER.value).tolist()))

    def deferred_checks(self, batch: Batch) -> SlicedWork[None]:
        """Compares copies."""
        while self._copies_queue:
            self._compare(batch, self._copies_queue.popleft())
            yield

    # Errors

    def _errors(self, batch: Batch) -> None:
        denied: dict[int, str] = {}
        failed: dict[int, str] = {}
        for row in batch.rows("system/error").tolist():
            if not batch.passes.trust.is_gateway_or_unsigned(row):
                continue
            payload = batch.capture.records.decoded_record(row).payload
            error, message = (
                masked_value_text(payload.get("error") or "an error", _MAX_NAME_CHARS),
                payload.get("message"),
            )
            if error in ("capability_violation", "capability_denied", "forbidden"):
                denied[row] = self._refusal(batch, row, payload)
            else:
                failed[row] = f"{error}: {masked_value_text(message, _MAX_SENTENCE_CHARS)}" if message else error
        for check, rows in ((DENIED, denied), (FAILED, failed)):
            batch.findings.add(check, list(rows), details=list(rows.values()))
        for row in batch.flagged_rows(Flag.LOG_ONLY.value).tolist():
            self._verdict(batch, row)
        flags = batch.capture.columns["flags"]
        rejected = [*batch.changed[flags[batch.changed] & Flag.REJECTED.value != 0].tolist()]
        rejected += batch.flagged_rows(Flag.REJECTED.value).tolist()
        rows = np.array(rejected, np.int64)
        said = (flags[rows] & Flag.LOG_ONLY.value != 0) | (
            batch.column_values("kind", rows) == batch.code("system/error")
        )
        rows = rows[~(said & batch.findings.has(DENIED, rows))]  # the call of the others may have become known only now
        names = [f"{_sender_name(batch, row)} may not send {_call_words(batch, row)}." for row in rows.tolist()]
        batch.findings.replace_findings(DENIED, rows, np.ones(len(rows), np.bool_), details=names)

    def _refusal(self, batch: Batch, row: int, payload: Mapping[str, Any]) -> str:
        """Describes a refusal. Gateways forward no refused message; their errors name its kind."""
        to = masked_value_text(", ".join(batch.capture.recipients(row)), _MAX_NAME_CHARS) or "A participant"
        before = np.array([row], np.int64)
        named = batch.capture.ids.text_hashes("correlation_hash", before)
        earlier = int(batch.capture.ids.latest_anywhere(named, before)[0])
        if earlier != NO_ROW and batch.string("kind", earlier) != "system/error":
            return f"{to} may not send {_call_words(batch, earlier)}."
        return _refused_kind(to, payload.get("attempted_kind"), payload.get("your_capabilities"))

    def _verdict(self, batch: Batch, row: int) -> None:
        payload = batch.capture.records.decoded_record(row).payload
        if payload.get("result") == "denied":
            who = masked_value_text(payload.get("participant") or "A participant", _MAX_NAME_CHARS)
            refused = _refused_kind(who, payload.get("required_capability"), payload.get("granted_capabilities"))
            batch.findings.add(DENIED, [row], details=refused)

    # Copies

    def _compare(self, batch: Batch, row: int) -> None:
        keys = differing_keys(batch.capture, row)
        one = np.array([row], np.int64)
        batch.findings.replace_findings(ALTERED, one, np.array(["context" in keys]))
        others = ", ".join(key for key in keys if key != "context")
        batch.findings.replace_findings(COPIES, one, np.array([bool(others)]), details=[others] if others else [])


TOPIC = DeclaredTopic("gateway", CHECKS, GatewayLog, before="deliveries")


def _sender_name(batch: Batch, row: int) -> str:
    return masked_value_text(batch.string("sender", row), _MAX_NAME_CHARS) or "A participant"


def _call_words(batch: Batch, row: int) -> str:
    """Returns kind, method and tool of a message."""
    links, strings = batch.links, batch.capture.strings
    parts = [batch.string("kind", row), *(strings[int(links[name][row])] for name in ("method", "target"))]
    return masked_value_text(" ".join(filter(None, parts)), _MAX_NAME_CHARS) or "it"


def _refused_kind(who: str, kind: object, held: object) -> str:
    """Describes a refusal if only the kind is known and its sender may send some messages of this kind."""
    named = masked_value_text(kind or "it", _MAX_NAME_CHARS)
    own = [one for one in held if isinstance(one, Mapping)] if isinstance(held, list) else []
    some = [one for one in own if isinstance(kind, str) and covers_by_kind([one], kind) is not False]
    if not some:
        return f"{who} may not send {named}."
    may = masked_value_text(", ".join(capability_lines(some)), _MAX_SENTENCE_CHARS)
    return f"{who} may not send this {named}, whose content is unknown; it may send {may}."
