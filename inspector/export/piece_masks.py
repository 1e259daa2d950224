"""Masks secrets split over several lines: finds the lines and their masked text."""

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
"""Each event with a piece of text contains one of these, except stream frames."""
_FRAME = Flag.FRAME.value
_LONGEST = 1 << 20
_READ_AT_ONCE = 500
_Change = list[tuple[bytes, bytes]]
"""A line, or the message in it, and its replacement; empty if unchanged."""


def mask_frames(capture: Capture) -> None:
    """Masks split secrets in stream frames: each frame is a row of its own in every format."""
    frames = np.flatnonzero(capture.columns["flags"] & _FRAME)
    if len(frames):
        found: dict[bytes, bytes] = {}
        for _ in find_masked_pieces(capture, found, frames.tolist()):
            pass
        capture.records.read_as(found)


def find_masked_pieces(
    capture: Capture, found: dict[bytes, bytes], messages: Iterable[int] | None = None
) -> Iterator[None]:
    """Finds replacements for lines, and for messages in them, that contain parts of split secrets.

    Args:
        capture: the capture; reads every message that may have a part.
        found: receives the replacements.
        messages: messages to check; None for all.

    Yields:
        None after some lines each, as a pause for other tasks.
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
    """Returns the replacement of the message inside a line."""
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
    """Adds a frame, `#stream#data`, with a chunk or text as data."""
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
    """Returns the number of the HTTP exchange in a line of a recording, if any."""
    if b'"x":' not in line:
        return None
    try:
        value = decode_json(line)
    except NotAnObjectError:
        return None
    number = value.get("x") if isinstance(value, dict) else None
    return number if isinstance(number, int) else None


def _wrapped(line: bytes, inner: bytes, new: bytes) -> bytes:
    """Returns a line with the replaced message as a string in it."""
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
