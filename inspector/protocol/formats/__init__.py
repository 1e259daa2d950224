"""The log formats, and the one way a line becomes a record.

To add one: a module here with LABEL, LABELS and `read(header, line) -> Record | None`, one line in
FORMATS, and a sample in tests/data/formats/.
"""

from __future__ import annotations

from inspector.protocol.batch import batch_in
from inspector.protocol.formats import bare, capture_file, gateway_log, wrapped
from inspector.protocol.frames import read_frame
from inspector.protocol.header import NotAnObjectError, read_header
from inspector.protocol.record import Record, Shape, unreadable

# In the order tried. Gateway lines come before bare ones, because a line about a failure has `id` and
# `error` as a JSON-RPC answer has; captures come before wrapped lines, whose shape theirs is a case of.
FORMATS = (gateway_log, bare, capture_file, wrapped)

FRAME_LABEL = "stream-frames"
"""Lines `#id#data`: readable, but so is many a comment, so they do not make a file a log."""

_MAX_NESTING = 4
# Each but the last with its labels by shape, which is a number: a dict would call the enumeration's hash each time.
_READERS = tuple((f.read, tuple(f.LABELS.get(shape, f.LABEL) for shape in Shape)) for f in FORMATS[:-1])


def read_line(line: bytes) -> Record:
    """Read one line of any format. Never raises.

    Args:
        line: the line without its end; not blank.
    """
    return read_line_as(line)[0]


def read_line_as(line: bytes, nesting: int = 0) -> tuple[Record, str | None]:
    """Read one line, and name the format that knew it (None when none did)."""
    if line[:1] == b"#":
        record = read_frame(line)
        return record, None if record.shape is Shape.UNREADABLE else FRAME_LABEL
    try:
        header = read_header(line)
    except NotAnObjectError as error:
        return batch_in(line) or unreadable(line, str(error)), None
    for read, labels in _READERS:
        record = read(header, line)
        if record is not None:
            return record, labels[record.shape]
    if nesting < _MAX_NESTING:
        record = wrapped.read(header, line, lambda inner: read_line_as(inner, nesting + 1)[0])
        if record is not None:
            return record, wrapped.LABEL
    return read_frame(line), None
