"""Finds the lines of a document that carry a piece of a secret, and what is written in place of each."""

from __future__ import annotations

import base64
import json
from collections.abc import Hashable, Iterable, Iterator

import numpy as np

from inspector.protocol.formats import read_line
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.secrets.piece_hold import PieceHold
from inspector.store.columns.flags import Flag
from inspector.store.files.source_files import JOINED_FROM
from inspector.store.messages.capture import Capture
from inspector.store.messages.original_lines import LoggedLines

_CLUES = (b"delta", b"_chunk", b'"choices"', b'"candidates"')
"""One of these is in each event that carries a piece, but for frames of streams."""
_FRAME = Flag.FRAME.value
_LONGEST = 1 << 20
_READ_AT_ONCE = 500
_Change = list[tuple[bytes, bytes]]
"""A line, or the message within it, and what stands in its place; empty where it stays."""


def mask_frames(capture: Capture) -> None:
    """Has the frames of streams read without pieces of secrets: each is a row of its own, in every format."""
    frames = np.flatnonzero(capture.columns["flags"] & _FRAME)
    if len(frames):
        found: dict[bytes, bytes] = {}
        for _ in find_masked_pieces(capture, found, frames.tolist()):
            pass
        capture.records.read_as(found)


def find_masked_pieces(
    capture: Capture, found: dict[bytes, bytes], messages: Iterable[int] | None = None
) -> Iterator[None]:
    """Finds what is written in place of lines, and of messages within them, whose texts hold pieces of secrets.

    Args:
        capture: all of its messages are read that may carry a piece.
        found: takes that in.
        messages: those that are looked at; None for all.

    Yields:
        Nothing, after some lines each: others may have their turn.
    """
    holds: dict[Hashable, PieceHold[_Change]] = {}
    read = 0
    for message in range(len(capture)) if messages is None else messages:
        is_frame = bool(int(capture.columns["flags"][message]) & _FRAME)
        for line in _lines_of(capture, message):
            read += 1
            if not read % _READ_AT_ONCE:
                yield
            if len(line) > _LONGEST or not (is_frame or any(clue in line for clue in _CLUES)):
                continue
            for change in _add(holds, capture, message, line, is_frame=is_frame):
                found.update(change)
    for hold in holds.values():
        for change in hold.end():
            found.update(change)


def _lines_of(capture: Capture, message: int) -> Iterator[bytes]:
    if capture.columns["offset"][message] < JOINED_FROM:
        if capture.columns["length"][message] <= _LONGEST:
            yield capture.records.line(message).strip()
        return
    yield from (line.strip().removeprefix(b"data:").strip() for line in LoggedLines(capture, message))


def _add(
    holds: dict[Hashable, PieceHold[_Change]], capture: Capture, message: int, line: bytes, *, is_frame: bool
) -> Iterator[_Change]:
    columns = capture.columns
    place = int(columns["source"][message]), int(columns["connection"][message])
    if is_frame:
        return _add_frame(holds, place, line)

    def make(text: str | None) -> _Change:
        if text is None:
            return []
        new = text.encode("utf-8", "surrogatepass")
        inner = capture.records.envelope_bytes(message).strip() if columns["offset"][message] < JOINED_FROM else line
        return [(line, new)] if inner == line else [(line, new), *_inner(inner, line, new)]

    return holds.setdefault((*place, _exchange(line)), PieceHold()).add(make, line)


def _inner(inner: bytes, line: bytes, new: bytes) -> _Change:
    """What stands in place of the message within a line."""
    before, found, after = line.partition(inner)
    if found and new.startswith(before) and new.endswith(after):
        return [(inner, new[len(before) : len(new) - len(after)])]
    members = json.loads(new).values()
    return [
        (inner, json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        for one in members
        if isinstance(one, dict)
    ][-1:]


def _add_frame(holds: dict[Hashable, PieceHold[_Change]], place: tuple[int, int], line: bytes) -> Iterator[_Change]:
    """Takes in a frame, `#stream#data`: its data are a chunk, or text."""
    inner = read_line(line).raw.strip()
    end = inner.find(b"#", 1) + 1
    stream, said = inner[:end], inner[end:]
    is_text = said[:1] != b"{"
    data = json.dumps({"type": "text", "text": said.decode("utf-8", "replace")}).encode() if is_text else said

    def make(text: str | None) -> _Change:
        if text is None:
            return []
        new = stream + (json.loads(text)["text"] if is_text else text).encode("utf-8", "surrogatepass")
        return [(inner, new), (line, new if line == inner else _wrapped(line, inner, new))]

    return holds.setdefault((*place, stream), PieceHold()).add(make, data)


def _exchange(line: bytes) -> Hashable:
    """The number of the HTTP exchange that a line of a recording names."""
    if b'"x":' not in line:
        return None
    try:
        value = decode_json(line)
    except NotAnObjectError:
        return None
    number = value.get("x") if isinstance(value, dict) else None
    return number if isinstance(number, int) else None


def _wrapped(line: bytes, inner: bytes, new: bytes) -> bytes:
    """A line that holds what it says as a string, with that replaced."""
    try:
        value = decode_json(line)
    except NotAnObjectError:
        return new
    for name, one in value.items() if isinstance(value, dict) else ():
        if isinstance(one, str) and one.encode("utf-8", "surrogatepass") == inner:
            value[name] = new.decode("utf-8", "surrogatepass")
        elif name == "b64":
            value[name] = base64.b64encode(new).decode()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
