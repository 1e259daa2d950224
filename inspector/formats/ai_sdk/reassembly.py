"""Joins the pieces of texts, thoughts and inputs of tools."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from inspector.formats.ai_sdk.chunks import chunk_in
from inspector.formats.value_conversions import text_or_none
from inspector.reading.reassembly.streamed_pieces import Piece, StreamedPieces

_TEXTS = ("text-", "reasoning-")
_INPUT = "tool-input-"
_LAST = ("finish", "finish-step", "abort", "error")


class AiSdkPieces(StreamedPieces):
    """Processes the lines of one source."""

    marks = (
        b'"text-start"', b'"text-delta"', b'"text-end"', b'"reasoning-start"', b'"reasoning-delta"', b'"reasoning-end"',
        b'"tool-input-',
    )  # fmt: skip
    beginnings = (b'0:"', b'g:"', b'9:{"', b'b:{"', b'c:{"')

    def event_in(self, line: bytes) -> Mapping[str, Any] | None:
        return chunk_in(line)

    def piece_of(self, event: Mapping[str, Any]) -> Piece | None:
        sort = str(event.get("type"))
        if sort.startswith(_INPUT):
            called, text = text_or_none(event.get("toolCallId")), text_or_none(event.get("inputTextDelta")) or ""
            return Piece((_INPUT, called), text, starts=sort.endswith("start"), ends=sort.endswith(("able", "error")))
        family = next((one for one in _TEXTS if sort.startswith(one) and not sort.endswith("-file")), None)
        if family is None:
            return None
        text = text_or_none(event.get("delta", event.get("textDelta"))) or ""
        # Texts of the earlier stream have no id and no end.
        starts, ends, has_no_end = sort.endswith("start"), sort.endswith("end"), "id" not in event
        return Piece((family, text_or_none(event.get("id"))), text, starts=starts, ends=ends, has_no_end=has_no_end)

    def join(self, first: Mapping[str, Any], last: Mapping[str, Any], text: str) -> Mapping[str, Any]:
        sort = str(first.get("type"))
        if sort.startswith(_INPUT):
            if "input" in last:
                return {**first, **last}
            return {**first, **last, "type": _INPUT + ("error" if "errorText" in last else "available"), "input": text}
        family = next(one for one in _TEXTS if sort.startswith(one))
        told = {key: one for key, one in first.items() if key not in ("type", "delta", "textDelta")}
        return {**told, "type": family + "delta", "delta": text}

    def keys_ended_by(self, event: Mapping[str, Any], keys: Sequence[Hashable]) -> Iterable[Hashable]:
        sort = event.get("type")
        if isinstance(sort, str) and sort.startswith("tool-output-"):
            return ((_INPUT, text_or_none(event.get("toolCallId"))),)
        return keys if sort in _LAST else ()
