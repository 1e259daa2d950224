"""Delays recorded events of a streamed answer until their texts are complete, so that no part of a secret is written.

Only the recording waits, never a client. A text ends with its block or its answer. Of a long text the older half is
released at a position outside any secret.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Generic, TypeVar

from inspector.protocol.header import decode_lossless
from inspector.protocol.secrets.streamed_pieces import (
    ALL_TEXTS,
    PAUSE,
    TextPiece,
    decode_event,
    ended_texts,
    events_in,
    is_progress,
    mask_in_place,
    mask_pieces,
    may_hold_pieces,
    pieces_in,
    rewrite_event,
)

MAX_PENDING_TEXT = 1 << 16
"""Limit of pending characters in one text; detected secrets have up to half as many."""
MAX_PENDING_EVENTS = 1 << 13
MAX_PENDING_BYTES = 1 << 22
"""Limits of pending events in one answer, and of their bytes."""
_CONTEXT = 1 << 11
"""Characters of context before a piece, for a key such as `"password": "`."""

PLAIN = "plain"
"""Key of the text of events that are no JSON."""
_LONGEST_PLAIN = 1 << 10

T = TypeVar("T")
Make = Callable[[str | None], T]
"""Makes the line of an event, with replaced data or None."""


class _PendingEvent(Generic[T]):
    """One event, and its number of unresolved pieces."""

    def __init__(self, make: Make[T], size: int) -> None:
        self.make = make
        self.size = size
        self.text = ""
        self.event: object = None
        self.open = 0
        self.changes: list[tuple[TextPiece, str]] = []

    def line(self) -> T:
        if not self.changes or self.event is None:
            return self.make(None)
        if self.event is PLAIN:
            return self.make(self.changes[-1][1])
        return self.make(rewrite_event(self.text, self.event, self.changes))


def _plain_text(data: bytes) -> str:
    """Returns a short event that is no JSON as text; "" for others."""
    if len(data) > _LONGEST_PLAIN or data.lstrip()[:1] in (b"{", b"["):
        return ""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


class StreamedEventQueue(Generic[T]):
    """The pending events of one answer, in order."""

    def __init__(self, mask: Callable[[str], str] = mask_in_place, *, is_live: bool = False) -> None:
        """Creates an empty queue.

        Args:
            mask: replaces each character of a secret by a dot.
            is_live: writes pending events as soon as the stream pauses.
        """
        self._mask = mask
        self._is_live = is_live
        self._events: deque[_PendingEvent[T]] = deque()
        self._texts: dict[Hashable, list[tuple[_PendingEvent[T], TextPiece]]] = {}
        self._before: dict[Hashable, str] = {}
        self._sizes: dict[Hashable, int] = {}
        self._bytes = 0

    def add_event(self, make: Make[T], data: bytes | None) -> Iterator[T]:
        """Adds an event; yields the lines that are ready.

        Args:
            make: makes its line.
            data: its data, if any.
        """
        events = events_in(data or b"")
        pieces = [one for one in pieces_in(events) if not (self._is_live and is_progress(one))]
        if events and PLAIN in self._texts and self._is_live:
            self._settle(PLAIN)
        waiting = _PendingEvent(make, len(data or b""))
        if data is not None and pieces:
            waiting.text, waiting.event = decode_lossless(data)[0], events[0]
        if data is not None and not events and (text := _plain_text(data)):
            waiting.text, waiting.event = text, PLAIN
            pieces = [TextPiece(PLAIN, {PLAIN: text}, PLAIN)]
        self._events.append(waiting)
        waiting.open = len(pieces)
        self._bytes += waiting.size
        for piece in pieces:
            self._texts.setdefault(piece.key, []).append((waiting, piece))
            size = self._sizes[piece.key] = self._sizes.get(piece.key, 0) + len(piece.text)
            # Long texts are released by halves, since a secret may cross any border of pieces.
            if size > MAX_PENDING_TEXT:
                self._release_half(piece.key)
        for ended in filter(None, map(ended_texts, events)):
            if ended is PAUSE and not self._is_live:
                continue
            ended = ALL_TEXTS if ended is PAUSE else ended
            for key in [*self._texts]:
                if ended is ALL_TEXTS or (isinstance(key, tuple) and key[:2] == ended):
                    self._settle(key)
            if ended is ALL_TEXTS:
                self._before.clear()
        # A stream that never ends must not fill the memory.
        while len(self._events) > MAX_PENDING_EVENTS or self._bytes > MAX_PENDING_BYTES:
            for key in [*self._texts]:
                self._release_half(key)
            yield from self._ready()
        yield from self._ready()

    def drain(self) -> Iterator[T]:
        """Yields all pending lines at the end."""
        for key in [*self._texts]:
            self._settle(key)
        yield from self._ready()

    def _ready(self) -> Iterator[T]:
        while self._events and not self._events[0].open:
            waiting = self._events.popleft()
            self._bytes -= waiting.size
            yield waiting.line()

    def _settle(self, key: Hashable) -> None:
        """Masks a complete text."""
        held = self._texts.pop(key)
        self._sizes.pop(key, None)
        texts = [self._before.pop(key, ""), *(piece.text for _, piece in held)]
        self._set(held, mask_pieces(texts, self._mask)[1:])

    def _release_half(self, key: Hashable) -> None:
        """Masks the older half of a long text, up to a piece that begins outside a secret."""
        held = self._texts[key]
        before = self._before.get(key, "")
        text = before + "".join(piece.text for _, piece in held)
        masked = self._mask(text)
        middle = len(before) + (len(text) - len(before)) // 2
        start, count = len(before), 0
        for number, (_, piece) in enumerate(held, 1):
            start += len(piece.text)
            if start > middle and count:
                break
            # A border inside of a secret would show its rest.
            if start >= len(text) or masked[start - 1] == text[start - 1] or masked[start] == text[start]:
                count = number
        some = held[:count]
        texts = [before, *(piece.text for _, piece in held)]
        self._set(some, mask_pieces(texts, self._mask)[1 : count + 1])
        # The context is kept, so that a name before the border still counts.
        released = before + "".join(piece.text for _, piece in some)
        self._before[key] = released[-_CONTEXT:]
        self._texts[key] = held[count:]
        self._sizes[key] = sum(len(piece.text) for _, piece in held[count:])
        if not self._texts[key]:
            del self._texts[key], self._sizes[key]
        while len(self._before) > MAX_PENDING_EVENTS:
            del self._before[next(iter(self._before))]

    def _set(self, held: list[tuple[_PendingEvent[T], TextPiece]], shown: list[str]) -> None:
        for (waiting, piece), new in zip(held, shown, strict=True):
            waiting.open -= 1
            if new != piece.text:
                waiting.changes.append((piece, new))


_LONGEST_LINE = 1 << 20
_LONGEST_BODY = 8 << 20


def mask_lines(lines: Sequence[bytes], mask: Callable[[str], str] = mask_in_place) -> list[bytes]:
    """Masks pieces of secrets in consecutive lines of one answer, over the joined text."""
    hold: StreamedEventQueue[bytes] = StreamedEventQueue(mask)
    shown: list[bytes] = []
    for line in lines:
        bare = line.strip()
        event = bare.removeprefix(b"data:").strip()
        is_event = event[:1] in (b"{", b"[") or bare[:5] == b"data:"
        before, _, after = line.partition(event) if event else (line, b"", b"")

        def make(text: str | None, line: bytes = line, before: bytes = before, after: bytes = after) -> bytes:
            return line if text is None else before + text.encode("utf-8", "surrogatepass") + after

        shown += hold.add_event(make, event if is_event and len(event) <= _LONGEST_LINE else None)
    return [*shown, *hold.drain()]


def mask_body(data: bytes, mask: Callable[[str], str] = mask_in_place) -> bytes:
    """Masks pieces of secrets in a whole body: an event stream, JSON Lines, or an array of events."""
    bare = data.strip()
    if len(data) > _LONGEST_BODY or not (may_hold_pieces(data) or bare.startswith((b"data:", b"event:"))):
        return data
    if bare[:1] == b"[":
        hold: StreamedEventQueue[bytes] = StreamedEventQueue(mask)
        made = hold.add_event(lambda text: data if text is None else text.encode("utf-8", "surrogatepass"), data)
        return b"".join([*made, *hold.drain()])
    lines = data.split(b"\n")
    if bare[:1] == b"{" and (len(lines) < 2 or decode_event(lines[0]) is None):
        return data
    return b"\n".join(mask_lines(lines, mask))
