"""Masks secrets in texts split over several lines: finds the lines to show in place of the logged ones."""

from __future__ import annotations

import base64
import json
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from inspector.formats.line_reading import read_line
from inspector.protocol.header import NotAnObjectError, decode_json, json_or_none
from inspector.protocol.secrets.rule_prefilter import may_hold_secrets
from inspector.protocol.secrets.streamed_event_queue import StreamedEventQueue, mask_lines
from inspector.protocol.secrets.streamed_pieces import (
    ALL_TEXTS,
    PAUSE,
    ended_texts,
    events_in,
    may_hold_pieces,
    pieces_in,
)
from inspector.store.columns.flags import Flag
from inspector.store.files.source_files import DERIVED_OFFSET
from inspector.store.messages.batch_decoding import read_in_batches
from inspector.store.messages.capture import Capture
from inspector.store.messages.original_lines import LoggedLines

_FRAME = Flag.FRAME.value
# Pieces of a streamed text are short; a longer line is masked on its own.
_MAX_LINE = 1 << 20
_READ_AT_ONCE = 500
_Change = list[tuple[bytes, bytes]]
"""Pairs of a line, or the message within it, and its replacement; empty if the line stays."""
_OF_FRAMES = ("source", "connection", "space", "stream")
_OF_OTHERS = ("source", "connection", "kind", "sender", "context")
"""Columns that are equal for the pieces of one text."""
_SEARCH_RADIUS = 1 << 15
"""Messages on either side of a piece that are searched for other pieces of its text."""
_PIECES_AROUND, _CONTEXT_PIECES = 768, 512
"""Pieces read on either side of a piece, and their share that is the context of others."""
_MASKED_SHARE = 3
"""One in so many of the pieces on a side is masked together with the piece; the rest is their context."""
# Bounds the time of the first row: pieces may be long, and a view waits for its lines.
_MAX_BYTES = 1 << 22
# Scrolling through a stream asks for each line once; masking again takes 768 neighbours each time.
_MAX_CACHED_LINES = 1 << 16


class PieceMasks:
    """Finds the line to show for a message when a view requests it; caches the result.

    Reads only the pieces around the message, so that a stream of any length takes the same time.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._lines: OrderedDict[int, tuple[bytes | None, int]] = OrderedDict()

    def find_line(self, message: int) -> bytes | None:
        """Returns the line to show in place of a message's own, if that holds a piece of a secret."""
        kept = self._lines.get(message)
        if kept is None or kept[1] not in (_SETTLED, len(self._capture)):
            self._find_around(message)
            kept = self._lines[message]
        return kept[0]

    def invalidate(self, message: int) -> None:
        """Invalidates the cache of a message with a rewritten line."""
        self._lines.pop(message, None)

    def _find_around(self, message: int) -> None:
        rows, begins, ends = self._neighbors(message)
        at = int(rows.searchsorted(message))
        found: dict[bytes, bytes] = {}
        if self._may_hold_secrets(rows):
            for _ in find_masked_pieces(self._capture, found, rows.tolist()):
                pass
        # Rows near a cut are masked again later, with more pieces on that side.
        low = 0 if begins else at - at // _MASKED_SHARE
        high = len(rows) if ends else at + max(1, (len(rows) - at) // _MASKED_SHARE)
        for place in range(low, high):
            row = int(rows[place])
            line = found.get(self._capture.records.read_line_of(row).strip()) if found else None
            # A result near the end of the capture changes when later pieces arrive.
            may_change = ends and len(rows) - place <= _CONTEXT_PIECES
            self._lines[row] = line, len(self._capture) if may_change else _SETTLED
            self._lines.move_to_end(row)
        while len(self._lines) > _MAX_CACHED_LINES:
            self._lines.popitem(last=False)

    def _may_hold_secrets(self, rows: NDArray[np.int64]) -> bool:
        """Returns False if the joined texts certainly contain no secret. Saves the slow search."""
        texts: dict[tuple[Hashable, Hashable], list[str]] = {}
        # Without this, reading would ask for these very masks.
        with self._capture.records.unmasked():
            for exchange, data in self._data_of(rows):
                events = events_in(data) if data[:1] in (b"{", b"[") else []
                if not events:
                    texts.setdefault((exchange, None), []).append(data.decode("utf-8", "replace"))
                for piece in pieces_in(events):
                    texts.setdefault((exchange, piece.key), []).append(piece.text)
                for ended in filter(None, map(ended_texts, events)):
                    over = (
                        [] if ended is PAUSE else [key for key in texts if key[0] == exchange and _ends(ended, key[1])]
                    )
                    if any(may_hold_secrets("".join(texts.pop(key))) for key in over):
                        return True
        return any(may_hold_secrets("".join(text)) for text in texts.values())

    def _data_of(self, rows: NDArray[np.int64]) -> Iterator[tuple[Hashable, bytes]]:
        """Yields what the search reads of messages, with the number of the exchange."""
        if int(self._capture.columns["flags"][rows[0]]) & _FRAME:
            yield from ((None, data) for data in read_in_batches(self._capture, rows, self._capture.records.frame_data))
            return
        for row in rows.tolist():
            for line in _lines_of(self._capture, row):
                if len(line) <= _MAX_LINE and may_hold_pieces(line):
                    yield _exchange_number(line), line

    def _neighbors(self, message: int) -> tuple[NDArray[np.int64], bool, bool]:
        """Returns the messages with possible pieces of the same text, ascending, at most _PIECES_AROUND on each side.

        The second value is True if no earlier message may have a piece, the third if no later one has arrived.
        """
        columns = self._capture.columns
        is_frame = bool(int(columns["flags"][message]) & _FRAME)
        low, high = max(0, message - _SEARCH_RADIUS), min(len(self._capture), message + _SEARCH_RADIUS)
        same = np.ones(high - low, np.bool_)
        for name in _OF_FRAMES if is_frame else _OF_OTHERS:
            same &= columns[name][low:high] == columns[name][message]
        rows = np.flatnonzero(same).astype(np.int64) + low
        at = int(rows.searchsorted(message))
        start, stop = max(0, at - _PIECES_AROUND), min(len(rows), at + 1 + _PIECES_AROUND)
        sizes = columns["length"][rows[start:stop]].astype(np.int64)
        own = at - start
        start = at - int(np.searchsorted(sizes[:own][::-1].cumsum(), _MAX_BYTES))
        stop = min(stop, at + int(np.searchsorted(sizes[own:].cumsum(), _MAX_BYTES)) + 1)
        return rows[start:stop], not (start or low), stop == len(rows) and high == len(self._capture)


_SETTLED = -1


def _ends(ended: Hashable, key: Hashable) -> bool:
    """Tells if a result of `ended_texts` ends the text of a key."""
    return ended is ALL_TEXTS or (isinstance(key, tuple) and key[:2] == ended)


def find_masked_pieces(
    capture: Capture, found: dict[bytes, bytes], messages: Iterable[int] | None = None
) -> Iterator[None]:
    """Finds replacements for lines with pieces of secrets, and for the messages within them.

    Args:
        capture: contains the messages.
        found: receives the replacements.
        messages: ascending numbers of the messages to read; None for all.

    Yields:
        None after some lines, so that the window stays responsive.
    """
    holds: dict[Hashable, StreamedEventQueue[_Change]] = {}
    columns = capture.columns
    read, last = 0, (-1, -1)
    for message in range(len(capture)) if messages is None else messages:
        place = int(columns["source"][message]), int(columns["offset"][message])
        if place == last:
            continue  # several messages of one line
        last = place
        is_frame = bool(int(columns["flags"][message]) & _FRAME)
        for line in _lines_of(capture, message):
            read += 1
            if not read % _READ_AT_ONCE:
                yield
            if len(line) > _MAX_LINE or not (is_frame or may_hold_pieces(line)):
                continue
            for change in _add_line(holds, capture, message, line, is_frame=is_frame):
                found.update(change)
    for hold in holds.values():
        for change in hold.drain():
            found.update(change)


def shown_line(capture: Capture, message: int) -> bytes:
    """Returns the line of a message, or its joined lines, without pieces of secrets."""
    if capture.columns["offset"][message] < DERIVED_OFFSET:
        own, masks = capture.records.read_line_of(message), capture.records.masks
        carries = may_hold_pieces(own) or int(capture.columns["flags"][message]) & _FRAME
        return (masks.find_line(message) if masks is not None and carries and len(own) <= _MAX_LINE else None) or own
    return b"\n".join(mask_lines([*LoggedLines(capture, message)]))


def _lines_of(capture: Capture, message: int) -> Iterator[bytes]:
    if capture.columns["offset"][message] < DERIVED_OFFSET:
        if capture.columns["length"][message] <= _MAX_LINE:
            yield capture.records.read_line_of(message).strip()
        return
    yield from (line.strip().removeprefix(b"data:").strip() for line in LoggedLines(capture, message))


def _add_line(
    holds: dict[Hashable, StreamedEventQueue[_Change]], capture: Capture, message: int, line: bytes, *, is_frame: bool
) -> Iterator[_Change]:
    columns = capture.columns
    place = int(columns["source"][message]), int(columns["connection"][message])
    if is_frame:
        return _add_frame(holds, place, line)

    def make(text: str | None) -> _Change:
        if text is None:
            return []
        new = text.encode("utf-8", "surrogatepass")
        inner = line
        if columns["offset"][message] < DERIVED_OFFSET:
            with capture.records.unmasked():
                inner = capture.records.envelope_bytes(message).strip()
        return [(line, new)] if inner == line else [(line, new), *_message_replacement(inner, line, new)]

    return holds.setdefault((*place, _exchange_number(line)), StreamedEventQueue()).add_event(make, line)


def _message_replacement(inner: bytes, line: bytes, new: bytes) -> _Change:
    """Returns the replacement for the message within a line."""
    before, found, after = line.partition(inner)
    if found and new.startswith(before) and new.endswith(after):
        return [(inner, new[len(before) : len(new) - len(after)])]
    members = json.loads(new).values()
    return [
        (inner, json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        for one in members
        if isinstance(one, dict)
    ][-1:]


def _add_frame(
    holds: dict[Hashable, StreamedEventQueue[_Change]], place: tuple[int, int], line: bytes
) -> Iterator[_Change]:
    """Adds a frame, `#stream#data`, whose data are a chunk or text."""
    inner = read_line(line).raw.strip()
    end = inner.find(b"#", 1) + 1
    stream, said = inner[:end], inner[end:]
    is_text = said[:1] != b"{"
    data = json.dumps({"type": "text", "text": said.decode("utf-8", "replace")}).encode() if is_text else said

    def make(text: str | None) -> _Change:
        if text is None:
            return []
        new = stream + (json.loads(text)["text"] if is_text else text).encode("utf-8", "surrogatepass")
        return [(inner, new), (line, new if line == inner else _replace_string(line, inner, new))]

    return holds.setdefault((*place, stream), StreamedEventQueue()).add_event(make, data)


def _exchange_number(line: bytes) -> Hashable:
    """Returns the number of the HTTP exchange in a line of a recording."""
    # Spares decoding, as only recordings of HTTP number their exchanges.
    if b'"x":' not in line:
        return None
    value = json_or_none(line)
    number = value.get("x") if isinstance(value, dict) else None
    return number if isinstance(number, int) else None


def _replace_string(line: bytes, inner: bytes, new: bytes) -> bytes:
    """Returns a line that contains its message as a string, with that string replaced."""
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
