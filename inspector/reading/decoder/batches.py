"""Where the messages of a JSON-RPC batch lie in its line (protocol.batch): each of them is a record of its own.

So it is with objects that share a line (protocol.joined).

A message keeps the time and the direction of the line around the batch, and its bytes are those of its element.
"""

from __future__ import annotations

from inspector.protocol.formats import read_line
from inspector.protocol.joined import pieces_of
from inspector.protocol.record import Record
from inspector.store.files.elements import ElementScanner, Span, trimmed


def spans_of(batch: Record, line: bytes) -> list[Span]:
    """Where in its line each element of a batch lies; none where it is not there as it was written.

    Args:
        batch: the record of the line, with a batch in it.
    """
    if batch.raw[:1] == b"{":
        return pieces_of(batch.raw) if batch.raw == line else []
    begin = line.find(batch.raw)
    if begin < 0:  # JSON in a string: its quotes are escaped
        return []
    found = [trimmed(batch.raw, span) for span in ElementScanner().scan(batch.raw)]
    spans = [(span[0] + begin, span[1] + begin) for span in found if span is not None]
    return spans if len(spans) == batch.batch else []


def messages_of(line: bytes) -> list[tuple[int, bytes]]:
    """The messages of a batch, each with its place in the line; none where the line holds no batch."""
    record = read_line(line)
    return [(start, line[start:stop]) for start, stop in spans_of(record, line)] if record.batch else []
