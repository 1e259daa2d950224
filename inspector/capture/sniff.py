"""Whether a file is a log at all: one of its first 1,000 lines must be known (design.md 4, Formats)."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.capture.sources import SourceFile
from inspector.protocol.formats import FRAME_LABEL, read_line_as

SNIFFED_LINES = 1_000
_CHUNK_BYTES = 1 << 16
_BOM = b"\xef\xbb\xbf"


def why_unknown(source: SourceFile) -> str | None:
    """What the first line is, when not one of the first 1,000 is known; None when one is, or there are none.

    Reads no further than the first line that is known, which is nearly always the first.

    Raises:
        OSError: the file cannot be read.
    """
    reason: str | None = None
    for number, line in enumerate(_lines(source)):
        if number >= SNIFFED_LINES:
            break
        record, known_as = read_line_as(line)
        if known_as not in (None, FRAME_LABEL):
            return None
        reason = reason or record.reason or "a stream frame"
    return reason


def _lines(source: SourceFile) -> Iterator[bytes]:
    """Lines from the start, blank ones and a byte order mark left out."""
    offset, rest = 0, b""
    while chunk := source.read(offset, max(_CHUNK_BYTES, len(rest))):
        fresh = chunk if offset else chunk.removeprefix(_BOM)
        offset += len(chunk)
        *whole, rest = (rest + fresh).split(b"\n")
        yield from (line.strip(b"\r \t") for line in whole if line.strip())
    if rest.strip():
        yield rest.strip(b"\r \t")
