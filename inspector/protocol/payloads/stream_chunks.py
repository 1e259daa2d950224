"""Reads frames of a stream, one by one or joined, as text or JSON chunks; finds the context in a chunk.

Agents stream a reasoning as JSON chunks, `{"type":"token","context":...,"value":"The "}`, with `status`, `progress` and
`thought` between them (docs/protocols.md 8). Others write text or binary data. A frame may end inside a character, so
bytes are joined before they are decoded as UTF-8.

A source of pieces in another shape (chunks of ACP, deltas of a model over SSE) only needs its case in `chunk_in`:
joining, folding, search and details use that.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from inspector.protocol.context_places import looks_like_id
from inspector.protocol.header import json_or_none
from inspector.protocol.json_values import decode_one
from inspector.protocol.message_text import TEXT_KEYS, compact_json

MAX_JOINED = 1 << 18
"""Limit of joined bytes; a stream may have far more."""
_MAX_CHUNK_BYTES = 1 << 20
"""Limit of examined bytes in a frame; longer ones are no chunks."""
_FLOWING = frozenset({"token", "text", "delta", "content", "chunk"})
"""Types with values that continue each other, besides types that end in `_delta`; others have lines of their own."""
_MAX_LINE_TOKENS = 10_000
"""Tokens of a line that may be repeated as a whole."""
_NOTES = frozenset({"status", "progress"})
_VALUES = ("value", "text", "delta", "content", "token", "message", "thought", "data")
_METADATA_KEYS = ("type", "context", "ts", "timestamp", "id")


# Decoded for each frame and never in a cycle, so the garbage collector need not track it.
class _Context(msgspec.Struct, gc=False):
    context: Any = None


_decode_context = msgspec.json.Decoder(_Context).decode


def context_in(data: bytes) -> str | None:
    """Returns the context in a frame's chunk. Never raises."""
    # A search is far cheaper than decoding, and most frames have no context.
    if b'"context"' not in data[:_MAX_CHUNK_BYTES] or len(data) > _MAX_CHUNK_BYTES or data.lstrip()[:1] != b"{":
        return None
    found = decode_one(_decode_context, data)
    return found.context if found is not None and looks_like_id(found.context) else None


def chunk_in(data: bytes) -> tuple[str, str] | None:
    """Returns (type, text) of a frame if it is a JSON chunk."""
    # Plain text is the usual case, and is never decoded.
    if data.lstrip()[:1] != b"{" or len(data) > _MAX_CHUNK_BYTES:
        return None
    chunk = json_or_none(data)
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if not isinstance(chunk, dict) or not isinstance(kind, str):
        return None
    words = next((found for key in _VALUES if (found := _words(chunk.get(key))) is not None), None)
    if words is None and "context" in chunk:  # a chunk of an unknown type has some content, too
        rest = {key: value for key, value in chunk.items() if key not in _METADATA_KEYS}
        words = next(filter(None, map(_words, (rest.get(key) for key in TEXT_KEYS))), None) or (
            compact_json(rest) if rest else ""
        )
    return None if words is None else (kind, words)


def _words(value: object) -> str | None:
    """Returns a text, or that of an object such as a thought or a content block; else None."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return None
    return next((value[key] for key in TEXT_KEYS if isinstance(value.get(key), str)), None)


def frame_text(data: bytes) -> str:
    """Returns a frame's text: that of its chunk, else its decoded bytes."""
    chunk = chunk_in(data)
    return data.decode("utf-8", "replace") if chunk is None else chunk[1]


@dataclass(frozen=True, slots=True)
class JoinedFrames:
    """The joined frames of a stream.

    Attributes:
        text: text of the chunks, or the decoded bytes; "" for binary data.
        notes: distinct chunks about the stream (status, progress), in order.
        chunks: the frames were JSON chunks.
        data: binary data.
        left_out: frames beyond MAX_JOINED.
    """

    text: str
    notes: tuple[str, ...] = ()
    chunks: bool = False
    data: bytes = b""
    left_out: int = 0


class TextFlow:
    """Text that each frame adds to its stream, in order.

    Attributes:
        notes: distinct chunks about the stream, in order.
        plain: a frame was no chunk.
        binary: a frame was no text.
    """

    def __init__(self, *, strict: bool = False) -> None:
        """Starts empty.

        Args:
            strict: binary data ends the text; else it is replaced, for a start in the middle of a stream.
        """
        self.notes: dict[str, None] = {}
        self.plain = self.binary = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict" if strict else "replace")
        self._line: list[str] = []
        self._flowing = self._begun = False

    def add_frame(self, data: bytes) -> str:
        """Returns the text that the next frame adds, or ""."""
        # After part of a character, a frame can only continue the text.
        chunk = None if self._decoder.getstate()[0] else chunk_in(data)
        return self._bytes(data) if chunk is None else self._chunk(*chunk)

    def _chunk(self, kind: str, words: str) -> str:
        if kind in _NOTES:
            self.notes[words] = None
            return ""
        flows = kind in _FLOWING or kind.endswith("_delta")
        # Some writers send the whole text after its tokens.
        if self._flowing and not flows and "".join(self._line).strip() == words.strip():
            self._flowing = False  # the whole text repeats its tokens
            return ""
        goes_on = flows and self._flowing
        # A long line is begun anew, so that comparing stays cheap.
        if not goes_on or len(self._line) >= _MAX_LINE_TOKENS:
            self._line = []
        self._line.append(words)
        text = words if goes_on or not self._begun else f"\n{words}"
        self._flowing, self._begun = flows, True
        return text

    def _bytes(self, data: bytes) -> str:
        if self.binary:
            return ""
        try:
            text = self._decoder.decode(data)
        except UnicodeDecodeError:
            # From here on the stream counts as binary.
            self.binary = True
            return ""
        self.plain = self.plain or bool(data.strip())
        if text:
            self._line = [text]
            self._flowing = self._begun = True
        return text


class FrameJoiner:
    """Joins frames incrementally, each processed once.

    Attributes:
        frames: number of added frames.
        left_out: frames beyond MAX_JOINED.
        size: bytes joined.
    """

    def __init__(self) -> None:
        self.frames = self.left_out = self.size = 0
        self._flow = TextFlow(strict=True)
        self._data: list[bytes] = []
        self._parts: list[str] = []

    def add_frame(self, data: bytes) -> None:
        """Adds the data of the next frame."""
        self.frames += 1
        # The limit keeps a long stream from filling the memory.
        if self.size + len(data) > MAX_JOINED:
            self.left_out += 1
            return
        self.size += len(data)
        self._data.append(data)
        self._parts.append(self._flow.add_frame(data))

    @property
    def is_binary(self) -> bool:
        """True for binary data."""
        return self._flow.binary

    @property
    def text(self) -> str:
        """The text so far; "" for binary data."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts and not self._flow.binary else ""

    @property
    def joined(self) -> JoinedFrames:
        """The complete result."""
        flow = self._flow
        data = b"".join(self._data) if flow.binary else b""
        chunks = bool(self.frames) and not flow.plain and not flow.binary
        return JoinedFrames(self.text, tuple(flow.notes), chunks, data, self.left_out)


def join_frames(frames: Iterable[bytes]) -> JoinedFrames:
    """Joins the data of a stream's frames, in order. Never raises."""
    joiner = FrameJoiner()
    for data in frames:
        joiner.add_frame(data)
    return joiner.joined
