"""Joins the pieces of texts and thoughts, as printed and as stored by versions that store each piece."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.entry_builders import decoded_object
from inspector.formats.grok_build.reader import CHUNK_MARKS, PIECE_BEGINNINGS, is_piece
from inspector.formats.grok_build.updates import is_update
from inspector.formats.value_conversions import mapping_or_empty, text_or_none
from inspector.reading.reassembly.streamed_pieces import Piece, StreamedPieces

_CHUNKS = ("agent_message_chunk", "agent_thought_chunk")


class GrokPieces(StreamedPieces):
    """Processes the lines of one source."""

    marks = CHUNK_MARKS
    beginnings = PIECE_BEGINNINGS  # else all lines of other programs would be read one after the other

    def event_in(self, line: bytes) -> Mapping[str, Any] | None:
        return decoded_object(line)  # of any kind: another line ends the text before it

    def piece_of(self, event: Mapping[str, Any]) -> Piece | None:
        if is_piece(event):
            return Piece((event["type"],), str(event["data"]), has_no_end=True)
        update = _update_in(event)
        text = text_or_none(mapping_or_empty(update.get("content")).get("text"))
        if update.get("sessionUpdate") not in _CHUNKS or text is None:
            return None
        params = mapping_or_empty(event.get("params"))
        prompt = mapping_or_empty(params.get("_meta")).get("streamStartMs")
        key = (str(update["sessionUpdate"]), str(params.get("sessionId")), str(prompt))
        return Piece(key, text, has_no_end=True)

    def join(self, first: Mapping[str, Any], last: Mapping[str, Any], text: str) -> Mapping[str, Any]:
        del last
        if is_piece(first):
            return {"type": first["type"], "data": text}
        params = mapping_or_empty(first.get("params"))
        update = _update_in(first)
        whole = {**update, "content": {**mapping_or_empty(update.get("content")), "text": text}}
        return {**first, "params": {**params, "update": whole}}


def _update_in(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping_or_empty(mapping_or_empty(event.get("params")).get("update")) if is_update(event) else {}
