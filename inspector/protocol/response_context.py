"""Reads the call that a response of a self-contained export says it answers (`inspector.export.lines` writes it)."""

from __future__ import annotations

from typing import Any

import msgspec

from inspector.protocol.header import ABSENT
from inspector.protocol.json_values import NO_RAW

CONTEXT_KEY = "response_context"
"""Where a self-contained response says what it answers."""


class ToldCall(msgspec.Struct, gc=False):
    """The call that a response answers.

    Attributes:
        method, target: of the call; anything as long as they are not checked.
        rule: how the export found them, as the field `tool.rule` says it.
        request: the request as it was written; null where it was never seen.
    """

    method: Any = ABSENT
    target: Any = ABSENT
    rule: Any = ABSENT
    request: msgspec.Raw = NO_RAW

    @property
    def is_asked(self) -> bool:
        """Tells whether the request was seen."""
        return bytes(memoryview(self.request)[:1]) == b"{"


_decode = msgspec.json.Decoder(ToldCall).decode


def read_told_call(raw: msgspec.Raw) -> ToldCall | None:
    """The call; None where the value is no object with a method."""
    try:
        found = _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(found.target, str):
        found.target = None
    return found if isinstance(found.method, str) and found.method else None
