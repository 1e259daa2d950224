"""Splits a JSON-RPC batch line into the records of its messages (`protocol.rpc_batch`).

Also splits objects that share a line (`protocol.shared_lines`). A message takes the time and direction of its line; its
bytes are those of its element.
"""

from __future__ import annotations

from inspector.formats.line_reading import read_line
from inspector.protocol.array_elements import ElementScanner, Span, trim_span
from inspector.protocol.record import Record
from inspector.protocol.shared_lines import object_spans


def element_spans(batch: Record, line: bytes) -> list[Span]:
    """Returns the span of each batch element in its line; empty unless the batch is there literally.

    Args:
        batch: the record of the line, with a batch in it.
    """
    if batch.raw[:1] == b"{":
        return object_spans(batch.raw) if batch.raw == line else []
    begin = line.find(batch.raw)
    if begin < 0:  # JSON within a string has escaped quotes
        return []
    found = [trim_span(batch.raw, span) for span in ElementScanner().scan(batch.raw)]
    spans = [(span[0] + begin, span[1] + begin) for span in found if span is not None]
    return spans if len(spans) == batch.batch else []


def split_batch(line: bytes) -> list[tuple[int, bytes]]:
    """Returns the messages of a batch with their offsets in the line; empty without a batch."""
    record = read_line(line)
    return [(start, line[start:stop]) for start, stop in element_spans(record, line)] if record.batch else []
