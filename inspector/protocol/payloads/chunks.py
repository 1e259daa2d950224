"""The frames of a stream joined and readable: plain text as it flows, JSON chunks by what they say.

Agents stream a reasoning as JSON chunks, `{"type":"token","context":...,"value":"The "}`, with `status`, `progress`
and `thought` between them (docs/protocols.md 8); others write text, or bytes that are no text at all. Frames may be cut
inside of a character, so that bytes are joined before they are read as UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inspector.protocol.header import NotAnObjectError, decode_json

MAX_JOINED = 1 << 18
"""Bytes that are joined; a stream may hold far more."""
_FLOWING = frozenset({"token", "text", "delta", "content", "chunk"})
"""Types whose values continue each other; any other type stands on a line of its own."""
_VALUES = ("value", "text", "delta", "content", "token", "message", "thought", "data")


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


def join_frames(frames: Iterable[bytes]) -> Joined:
    """Read the data of a stream's frames, in order. Never raises."""
    kept: list[bytes] = []
    size = left_out = 0
    for data in frames:
        if size + len(data) > MAX_JOINED:
            left_out += 1
            continue
        kept.append(data)
        size += len(data)
    chunks = [chunk for data in kept if (chunk := chunk_in(data)) is not None]
    if kept and len(chunks) == len([data for data in kept if data.strip()]):
        text, notes = _of_chunks(chunks)
        return Joined(text, notes, chunks=True, left_out=left_out)
    whole = b"".join(kept)
    try:
        return Joined(whole.decode("utf-8"), left_out=left_out)
    except UnicodeDecodeError as error:
        # The last character may go on in a frame that is not here yet.
        if error.start >= len(whole) - 3 and error.reason == "unexpected end of data":
            return Joined(whole[: error.start].decode("utf-8"), left_out=left_out)
        return Joined("", data=whole, left_out=left_out)


def chunk_in(data: bytes) -> tuple[str, str] | None:
    """(type, text) of a frame that is a JSON chunk; None for any other."""
    if data.lstrip()[:1] != b"{":
        return None
    try:
        chunk = decode_json(data)
    except NotAnObjectError:
        return None
    if not isinstance(chunk, dict):
        return None
    kind = chunk.get("type")
    value = next((chunk[key] for key in _VALUES if isinstance(chunk.get(key), str)), None)
    if not isinstance(kind, str) or value is None:
        return None
    return kind, value


def _of_chunks(chunks: list[tuple[str, str]]) -> tuple[str, tuple[str, ...]]:
    parts: list[str] = []
    notes: dict[str, None] = {}
    flowing = False
    for kind, value in chunks:
        if kind in ("status", "progress"):
            notes[value] = None
        elif kind in _FLOWING:
            if not flowing and parts:
                parts.append("\n")
            parts.append(value)
            flowing = True
        else:
            if parts:
                parts.append("\n")
            parts.append(value)
            flowing = False
    return "".join(parts), tuple(notes)
