"""Reads the answered call in a response of a self-contained export (written by `inspector.export.lines`)."""

from __future__ import annotations

from typing import Any

import msgspec

from inspector.protocol.header import ABSENT
from inspector.protocol.json_values import NO_RAW, decode_one

CONTEXT_KEY = "response_context"
"""Key of the answered call in a self-contained response."""


class AnsweredCall(msgspec.Struct, gc=False):
    """The call that a response answers.

    Attributes:
        method, target: of the call; of any type before validation.
        rule: the export's rule of matching, as in the field `tool.rule`.
        request: the request as written; null if unknown.
    """

    method: Any = ABSENT
    target: Any = ABSENT
    rule: Any = ABSENT
    request: msgspec.Raw = NO_RAW

    @property
    def request_id(self) -> str | None:
        """The id of the request's envelope; None if it is unknown."""
        found = decode_one(_decode_request, self.request)
        return found.id if found is not None else None


class _Request(msgspec.Struct, gc=False):
    id: str | None = None


_decode_request = msgspec.json.Decoder(_Request).decode
_decode = msgspec.json.Decoder(AnsweredCall).decode


def read_answered_call(raw: msgspec.Raw) -> AnsweredCall | None:
    """Returns the call; None unless the value is an object with a method."""
    try:
        found = _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(found.target, str):
        found.target = None
    return found if isinstance(found.method, str) and found.method else None
