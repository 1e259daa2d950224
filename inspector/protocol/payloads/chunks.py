"""What the frames of a stream say, one by one and joined: plain text as it flows, JSON chunks by their words.

Agents stream a reasoning as JSON chunks, `{"type":"token","context":...,"value":"The "}`, with `status`, `progress`
and `thought` between them (docs/protocols.md 8); others write text, or bytes that are no text at all. Frames may be cut
inside of a character, so that bytes are joined before they are read as UTF-8.

A source of pieces in another shape (an agent's chunks in ACP, a model's deltas over SSE) is read here once `chunk_in`
knows where its words stand: joining, folding, search and details ask nothing else.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from inspector.protocol.context_forms import is_name
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.json_values import decode_one
from inspector.protocol.text import TEXT_KEYS, compact

MAX_JOINED = 1 << 18
"""Bytes that are joined; a stream may hold far more."""
_LONGEST = 1 << 20
"""Bytes of a frame that is looked into; what is longer is no chunk."""
_FLOWING = frozenset({"token", "text", "delta", "content", "chunk"})
"""Types whose values continue each other, as those do that end in `_delta`; any other stands on a line of its own."""
_LINE = 10_000
"""Tokens of a line that may be said once more as a whole."""
_NOTES = frozenset({"status", "progress"})
_VALUES = ("value", "text", "delta", "content", "token", "message", "thought", "data")
_BESIDE = ("type", "context", "ts", "timestamp", "id")


class _Context(msgspec.Struct, gc=False):
    context: Any = None


_decode_context = msgspec.json.Decoder(_Context).decode


def context_in(data: bytes) -> str | None:
    """The context that a frame's chunk names; None where it names none. Never raises."""
    if b'"context"' not in data[:_LONGEST] or len(data) > _LONGEST or data.lstrip()[:1] != b"{":
        return None
    found = decode_one(_decode_context, data)
    return found.context if found is not None and is_name(found.context) else None


def chunk_in(data: bytes) -> tuple[str, str] | None:
    """(type, words) of a frame that is a JSON chunk; None for any other."""
    if data.lstrip()[:1] != b"{" or len(data) > _LONGEST:
        return None
    try:
        chunk = decode_json(data)
    except NotAnObjectError:
        return None
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if not isinstance(chunk, dict) or not isinstance(kind, str):
        return None
    words = next((found for key in _VALUES if (found := _words(chunk.get(key))) is not None), None)
    if words is None and "context" in chunk:  # a chunk of a kind nobody knows still says something
        rest = {key: value for key, value in chunk.items() if key not in _BESIDE}
        words = next(filter(None, map(_words, (rest.get(key) for key in TEXT_KEYS))), None) or (
            compact(rest) if rest else ""
        )
    return None if words is None else (kind, words)


def _words(value: object) -> str | None:
    """A text, or that of an object such as a thought or a block of content; None for what is neither."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return None
    return next((value[key] for key in TEXT_KEYS if isinstance(value.get(key), str)), None)


def frame_text(data: bytes) -> str:
    """What one frame says: the words of its chunk, else its bytes as far as they are text."""
    chunk = chunk_in(data)
    return data.decode("utf-8", "replace") if chunk is None else chunk[1]


@dataclass(frozen=True, slots=True)
class Joined:
    """What the frames of a stream say together.

    Attributes:
        text: text of the chunks, or the bytes as text; "" where they are no text.
        notes: chunks that say something about the stream (status, progress), in order, the same ones once.
        chunks: whether the frames were JSON chunks.
        data: the bytes, where they are no text.
        left_out: frames beyond MAX_JOINED.
    """

    text: str
    notes: tuple[str, ...] = ()
    chunks: bool = False
    data: bytes = b""
    left_out: int = 0


class Flow:
    """What each frame adds to the text of its stream, one after the other.

    Attributes:
        notes: chunks that say something about the stream, in order, the same ones once.
        plain: whether something was no chunk.
        binary: whether something was no text.
    """

    def __init__(self, *, strict: bool = False) -> None:
        """Begin.

        Args:
            strict: what is no text ends it; else it is replaced, as where one begins in the middle of a stream.
        """
        self.notes: dict[str, None] = {}
        self.plain = self.binary = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict" if strict else "replace")
        self._line: list[str] = []
        self._flowing = self._begun = False

    def add(self, data: bytes) -> str:
        """The text that the next frame adds; "" for none."""
        chunk = None if self._decoder.getstate()[0] else chunk_in(data)
        return self._bytes(data) if chunk is None else self._chunk(*chunk)

    def _chunk(self, kind: str, words: str) -> str:
        if kind in _NOTES:
            self.notes[words] = None
            return ""
        flows = kind in _FLOWING or kind.endswith("_delta")
        if self._flowing and not flows and "".join(self._line).strip() == words.strip():
            self._flowing = False  # what was said token by token is said once more as a whole
            return ""
        goes_on = flows and self._flowing
        if not goes_on or len(self._line) >= _LINE:
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
            self.binary = True
            return ""
        self.plain = self.plain or bool(data.strip())
        if text:
            self._line = [text]
            self._flowing = self._begun = True
        return text


class Joiner:
    """Joins frames as they come: each is looked at once.

    Attributes:
        frames: how many were added.
        left_out: frames beyond MAX_JOINED.
        size: bytes joined.
    """

    def __init__(self) -> None:
        self.frames = self.left_out = self.size = 0
        self._flow = Flow(strict=True)
        self._data: list[bytes] = []
        self._parts: list[str] = []

    def add(self, data: bytes) -> None:
        """Take in the data of the next frame."""
        self.frames += 1
        if self.size + len(data) > MAX_JOINED:
            self.left_out += 1
            return
        self.size += len(data)
        self._data.append(data)
        self._parts.append(self._flow.add(data))

    @property
    def is_binary(self) -> bool:
        """Whether they are no text."""
        return self._flow.binary

    @property
    def text(self) -> str:
        """What they say so far; "" where they are no text."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts and not self._flow.binary else ""

    @property
    def joined(self) -> Joined:
        """All of it."""
        flow = self._flow
        data = b"".join(self._data) if flow.binary else b""
        chunks = bool(self.frames) and not flow.plain and not flow.binary
        return Joined(self.text, tuple(flow.notes), chunks, data, self.left_out)


def join_frames(frames: Iterable[bytes]) -> Joined:
    """Read the data of a stream's frames, in order. Never raises."""
    joiner = Joiner()
    for data in frames:
        joiner.add(data)
    return joiner.joined
