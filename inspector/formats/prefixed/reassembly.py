"""Joins the data of an event that lies in several lines of an event stream, as indented JSON does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from inspector.formats.entry_builders import decoded_object
from inspector.formats.prefixed.reader import SPREAD_DATA
from inspector.protocol.tolerant_encoder import to_json
from inspector.reading.reassembly.derived_lines import OrderedLine
from inspector.reading.reassembly.streamed_pieces import Piece, StreamedPieces

_FIRST = re.compile(rb"data: ?\{\s*")
_DATA, _LAST = b"data:", b"}"
_KEY, _TEXT = "data", "text"


class EventDataLines(StreamedPieces):
    """Processes the lines of one source."""

    marks = SPREAD_DATA

    def _may_matter(self, line: bytes) -> bool:
        return bool(self._open) or _FIRST.fullmatch(line) is not None

    def event_in(self, line: bytes) -> Mapping[str, Any] | None:
        return {_TEXT: line}

    def piece_of(self, event: Mapping[str, Any]) -> Piece | None:
        line: bytes = event[_TEXT]
        starts = _FIRST.fullmatch(line) is not None
        data = line[len(_DATA) :].removeprefix(b" ").rstrip()
        # Lines of the same event are indented; a brace without an indent begins another event.
        if not line.startswith(_DATA) or not (starts or (self._open and data[:1] != b"{")):
            return None
        text = data.decode("utf-8", "replace") + "\n"
        return Piece(_KEY, text, starts=starts, ends=data == _LAST, has_no_end=True)

    def join(self, first: Mapping[str, Any], last: Mapping[str, Any], text: str) -> Mapping[str, Any]:
        del first, last
        value = decoded_object(text.encode("utf-8", "surrogatepass"))
        return value if value is not None else {_KEY: text}

    def _derived_line(self, event: Mapping[str, Any], places: Sequence[int]) -> OrderedLine:
        # Without facts, so that the stages of other formats read it as any line.
        line = to_json(dict(event))
        return OrderedLine(line, self._joined.store_line(line, {}, places), len(line))
