"""Searches all records for secrets in plain text, in slices, after the other checks.

Reading all records again takes as long as all other checks together, so it runs in idle time (`go_on`). Kinds that
usually carry tokens are checked at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import WARNING, Check
from inspector.analysis.passes.changed_rows import Rows
from inspector.base.slices import SlicedWork
from inspector.protocol.secrets.masking import MASK, mask_secrets, mask_text
from inspector.protocol.secrets.rule_prefilter import rows_with_clues
from inspector.protocol.secrets.secret_placeholders import is_placeholder
from inspector.store.columns.extracts import SELF_PAYLOAD_FLAGS
from inspector.store.messages.adjacent_reads import read_line_ranges

SECRET_IN_CLEAR = Check(
    "secret-in-clear", WARNING, "Secret in plain text",
    "{subject} has a secret in plain text {place}.",
    "Every participant sees every message, and logs keep it. It is masked here, but not in the file.",
    "Do not share the log, and replace the secret. Pass secrets outside the conversation.",
    "MEW release v0.11.0, gateway log: tokens appear in join and invite-ack",
    on_transcripts=True,
)  # fmt: skip
CHECKS = (SECRET_IN_CLEAR,)

_CARRIERS = ("system/join", "system/register", "space/invite-ack")
_PLACEHOLDERS = frozenset({"redacted", "masked", "hidden", "none", "null", MASK})
_SCHEME = re.compile(r"(?:bearer|basic|token|negotiate|digest)\s+", re.IGNORECASE)
_DOTS = re.compile("•+")
_NON_SECRET_KEYS = frozenset({"www-authenticate", "requeststate"})
"""Fields that are no credentials: a challenge by the server, and state that the client carries for it."""
_MAX_RECORD_BYTES = 1 << 18
_MESSAGES_PER_STEP = 1_024
"""Messages searched in one piece."""


class SecretSearch:
    """Searches each record once for secrets."""

    def __init__(self) -> None:
        self._searched_count = 0
        self._candidates: list[int] = []

    def feed(self, batch: Batch) -> None:
        """Checks kinds that carry tokens; the rest is deferred."""
        for row in [row for kind in _CARRIERS for row in batch.rows(kind).tolist()]:
            payload = batch.capture.records.decoded_record(row).payload
            own = bool(int(batch.capture.columns["flags"][row]) & SELF_PAYLOAD_FLAGS)
            self._check_envelope(batch, row, payload if own else {"payload": payload})

    def deferred_checks(self, batch: Batch) -> SlicedWork[None]:
        """Searches further messages."""
        while self._candidates or self._searched_count < batch.stop:
            if self._candidates:
                row = self._candidates.pop(0)
                self._check_envelope(batch, row, batch.capture.records.envelope(row))
            else:
                rows = np.arange(self._searched_count, min(batch.stop, self._searched_count + _MESSAGES_PER_STEP))
                self._searched_count = int(rows[-1]) + 1
                rows = rows[batch.column_values("length", rows) <= _MAX_RECORD_BYTES]
                self._candidates = _candidate_rows(batch, rows)
            yield

    def _check_envelope(self, batch: Batch, row: int, envelope: Any) -> None:
        if int(batch.capture.columns["length"][row]) > _MAX_RECORD_BYTES:
            return
        one = np.array([row], np.int64)
        if not isinstance(envelope, dict) or batch.findings.has(SECRET_IN_CLEAR, one)[0]:
            return
        # Masking is the definition of a secret, so a path is reported exactly where the views show dots.
        masked = mask_secrets(envelope)
        where = first_secret_path(envelope, masked, "") if masked != envelope else ""
        if where:
            batch.findings.add(SECRET_IN_CLEAR, one, details=where)


def _candidate_rows(batch: Batch, rows: Rows) -> list[int]:
    """Returns messages that may contain a secret by the prefilter."""
    found: list[int] = []
    taken = 0
    for lines in read_line_ranges(batch.capture, rows):
        some = rows[taken : taken + len(lines.starts)]
        found += some[rows_with_clues(*lines)].tolist()
        taken += len(some)
    return found


def first_secret_path(value: Any, masked: Any, path: str) -> str:
    """Returns the path of the first secret that is no placeholder; "" without one."""
    if isinstance(value, Mapping) and isinstance(masked, Mapping):
        # Both are in the same order. A key that is itself a secret is masked, and so is its name here.
        for (key, inner), (shown, other) in zip(value.items(), masked.items(), strict=False):
            if str(key).lower() in _NON_SECRET_KEYS:
                continue
            where = f"{path}.{shown}" if path else str(shown)
            if shown != key or (where := first_secret_path(inner, other, where)):
                return where
        return ""
    if isinstance(value, list) and isinstance(masked, list):
        pairs = zip(value, masked, strict=False)
        return next(filter(None, (first_secret_path(item, other, path) for item, other in pairs)), "")
    if not isinstance(value, str | int | float):
        return ""  # nested too deeply to be searched
    secret = value != masked and not all(map(_is_placeholder, _masked_parts(str(value), str(masked))))
    return path if secret else ""


def _masked_parts(value: str, masked: str) -> list[str]:
    """Returns the masked parts of a text: pieces, or all of it."""
    dots = mask_text(value, keep_length=True)
    if masked == MASK or len(dots) != len(value):
        return [value]
    return [value[found.start() : found.end()] for found in _DOTS.finditer(dots)] or [value]


def _is_placeholder(secret: str) -> bool:
    """Returns True for a placeholder in the place of a secret."""
    plain = _SCHEME.sub("", secret)
    return plain.strip("*•x <>[]()").lower() in ("", *_PLACEHOLDERS) or is_placeholder(plain)
