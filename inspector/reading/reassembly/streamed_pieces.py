"""Joins the events of one streamed text or call into one line, for protocols that send a JSON object per event.

Several texts may be open at once: each event names the text that it continues. The line of the whole text comes where
its last event was; the lines of other events stay where they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from inspector.protocol.tolerant_encoder import to_json
from inspector.reading.reassembly.derived_lines import DerivedLineSpool, OrderedLine

_MAX_OPEN = 1 << 10
"""Limit of texts that are open at once."""
_MAX_JOINED = 1 << 26
"""Limit of characters in one text; the rest is dropped."""


class Piece(NamedTuple):
    """One event of a streamed text or call.

    Attributes:
        key: equal for all events of the text while it is open.
        text: its part of the text.
        starts: it starts the text.
        ends: it ends the text.
        needs_text: an end without any text before it is not the last: the whole text may follow.
        has_no_end: no event ends such a text, so the next one of anything else does.
    """

    key: Hashable
    text: str = ""
    starts: bool = False
    ends: bool = False
    needs_text: bool = False
    has_no_end: bool = False


class _OpenText:
    """A text that has not ended: its first and last events, its parts, and the places of their lines."""

    __slots__ = ("first", "has_no_end", "last", "line", "parts", "places", "size")

    def __init__(self, event: Mapping[str, Any], line: OrderedLine) -> None:
        self.first = self.last = event
        self.line = line
        self.parts: list[str] = []
        self.places = array("q")
        self.size = 0
        self.has_no_end = False

    def append_piece(self, piece: Piece, event: Mapping[str, Any], line: OrderedLine) -> None:
        if piece.text and self.size + len(piece.text) <= _MAX_JOINED:
            self.parts.append(piece.text)
            self.size += len(piece.text)
        self.last, self.line, self.has_no_end = event, line, piece.has_no_end
        self.places.extend((line.offset, line.length))


class StreamedPieces(ABC):
    """Processes the lines of one source, each once, in order; a `ReassemblyStage`.

    Attributes:
        marks: byte strings; each event that matters contains one of them, or begins with one of `beginnings`.
        beginnings: of lines.
    """

    marks: tuple[bytes, ...]
    beginnings: tuple[bytes, ...] = ()

    def __init__(self, joined: DerivedLineSpool) -> None:
        self._joined = joined
        self._open: OrderedDict[Hashable, _OpenText] = OrderedDict()

    @abstractmethod
    def event_in(self, line: bytes) -> Mapping[str, Any] | None:
        """Returns the event of this protocol in a line; None for other lines. Never raises."""

    @abstractmethod
    def piece_of(self, event: Mapping[str, Any]) -> Piece | None:
        """Returns the piece that an event is; None for other events."""

    @abstractmethod
    def join(self, first: Mapping[str, Any], last: Mapping[str, Any], text: str) -> Mapping[str, Any]:
        """Returns the event of a whole text, by its first and last events."""

    def keys_ended_by(self, event: Mapping[str, Any], keys: Sequence[Hashable]) -> Iterable[Hashable]:
        """Returns the keys of open texts that an event ends without being a piece of them.

        Args:
            event: of this protocol, and no piece.
            keys: of all open texts.
        """
        del event, keys
        return ()

    def note_whole(self, event: Mapping[str, Any]) -> None:  # noqa: B027 - not every protocol needs it
        """Notes the event of a whole text."""

    def restate(self, event: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Returns an event with facts from earlier ones in its place; None if it stays as it is."""
        del event
        return None

    def is_relevant(self, data: bytes) -> bool:
        """Returns True if any of the lines may be relevant."""
        if self._open or any(mark in data for mark in self.marks):
            return True
        return data.startswith(self.beginnings) or any(b"\n" + one in data for one in self.beginnings)

    def process_lines(self, lines: Sequence[OrderedLine]) -> list[OrderedLine]:
        """Returns the lines to read instead. Raises OSError if there is no room for one."""
        return [found for line in lines for found in self._process_line(line)]

    def finish(self) -> list[OrderedLine]:
        """Returns the unfinished texts at the end of the source. Raises OSError."""
        return [self._close(key) for key in list(self._open)]

    def _process_line(self, line: OrderedLine) -> Iterator[OrderedLine]:
        event = self.event_in(line.data) if line.known_facts is None and self._may_matter(line.data) else None
        if event is None:
            yield line
            return
        piece = self.piece_of(event)
        ended = () if piece is not None else self.keys_ended_by(event, tuple(self._open))
        for key in [key for key, one in self._open.items() if one.has_no_end or key in ended]:
            if piece is None or key != piece.key:
                yield self._close(key)
        if piece is not None:
            yield from self._add_piece(piece, event, line)
        elif (other := self.restate(event)) is not None:
            yield self._derived_line(other, (line.offset, line.length))
        else:
            yield line

    def _may_matter(self, line: bytes) -> bool:
        # While a text is open, any event may end it.
        return bool(self._open) or any(mark in line for mark in self.marks) or line.startswith(self.beginnings)

    def _add_piece(self, piece: Piece, event: Mapping[str, Any], line: OrderedLine) -> Iterator[OrderedLine]:
        if piece.starts and piece.key in self._open:
            yield self._close(piece.key)
        if piece.key not in self._open and len(self._open) >= _MAX_OPEN:
            yield self._close(next(iter(self._open)))
        if piece.key not in self._open:
            self._open[piece.key] = _OpenText(event, line)
        self._open[piece.key].append_piece(piece, event, line)
        if piece.ends and (self._open[piece.key].parts or not piece.needs_text):
            yield self._close(piece.key)

    def _close(self, key: Hashable) -> OrderedLine:
        """Returns the line of a text."""
        one = self._open.pop(key)
        whole = self.join(one.first, one.last, "".join(one.parts))
        self.note_whole(whole)
        # An event of its own needs no other line.
        return one.line if len(one.places) == 2 else self._derived_line(whole, one.places)

    def _derived_line(self, event: Mapping[str, Any], places: Sequence[int]) -> OrderedLine:
        line, known = to_json(dict(event)), {"pieces": len(places) // 2}
        return OrderedLine(line, self._joined.store_line(line, known, places), len(line), known)
