"""Joins the pieces of a thought in output of Cursor's agent, which prints each piece as a line of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from inspector.formats.cursor_agent.reader import READER
from inspector.formats.entry_builders import decoded_object
from inspector.formats.file_conversion import FileConverter
from inspector.formats.file_records import HEAD_BYTES
from inspector.protocol.tolerant_encoder import to_json

_STEP = 1 << 20
_PIECE, _SUBTYPE = b'"thinking"', b'"delta"'
_MOST = 1 << 24
"""Limit of a thought in characters."""


def begins_output(head: bytes) -> bool:
    """Returns True for the first bytes of an agent's output."""
    first = head.lstrip().partition(b"\n")[0]
    return b'"init"' in first and b'"session_id"' in first and READER.read(first) is not None


class _Pieces:
    """Joins consecutive pieces; other lines stay as they are."""

    def __init__(self) -> None:
        self._rest = b""  # an unfinished line
        self._thought: dict[str, Any] | None = None
        self._texts: list[str] = []

    def lines_of(self, data: bytes) -> bytes:
        """Returns the lines for further data."""
        whole, end, self._rest = (self._rest + data).rpartition(b"\n")
        return b"".join(self._line(line) for line in whole.split(b"\n")) if end else b""

    def _line(self, line: bytes) -> bytes:
        value = decoded_object(line) if _PIECE in line and _SUBTYPE in line else None
        text = value.get("text") if value is not None and value.get("subtype") == "delta" else None
        if value is None or value.get("type") != "thinking" or not isinstance(text, str):
            return self.end_thought() + line + b"\n"
        known = self._thought
        before = b""
        if known is not None and (value.get("session_id") != known.get("session_id") or self._length() > _MOST):
            before, known = self.end_thought(), None
        self._thought = known if known is not None else value
        self._texts.append(text)
        return before

    def _length(self) -> int:
        return sum(map(len, self._texts))

    def end_thought(self) -> bytes:
        """Returns the line of the thought so far, if there is one."""
        known, texts, self._thought, self._texts = self._thought, self._texts, None, []
        return to_json({**known, "text": "".join(texts)}) + b"\n" if known is not None else b""

    def end(self) -> bytes:
        """Returns the last lines."""
        rest, self._rest = self._rest, b""
        return (self._line(rest) if rest else b"") + self.end_thought()


class _Output:
    """Lines of a file with output (a `GrowingConversion`).

    Attributes:
        progress: bytes read, and the file's size.
        can_grow: it was read to its end.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._pieces = path, _Pieces()
        self.progress = (0, path.stat().st_size)
        self.can_grow = False

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError."""
        with self._path.open("rb") as file:
            while data := file.read(_STEP):
                self.progress = (self.progress[0] + len(data), self.progress[1])
                yield self._pieces.lines_of(data)
        yield self._pieces.end()
        self.can_grow = True

    def convert_more(self, data: bytes) -> bytes:
        """Returns the lines for appended data; the pieces that arrive together are one thought."""
        return self._pieces.lines_of(data) + self._pieces.end_thought()

    def finish(self) -> bytes:
        """Returns the rest of this file when another file replaces it."""
        return self._pieces.end()


def _as_they_come(blocks: Iterable[bytes | None]) -> Iterator[bytes]:
    """Yields the lines of a stream; a thought ends at a pause."""
    pieces = _Pieces()
    for block in blocks:
        yield pieces.lines_of(block) if block is not None else pieces.end_thought()
    yield pieces.end()


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES, begins_file=begins_output, convert=_Output, container=None, convert_stream=_as_they_come,
)  # fmt: skip
