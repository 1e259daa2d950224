"""What a file is, told by its first bytes: lines or a JSON array, a log at all or none (docs/design.md 4, Formats)."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import pairwise

from inspector.protocol.cut import completed
from inspector.protocol.formats import FRAME_LABEL, codex, messages, read_chosen, read_line_as
from inspector.protocol.formats.refused import refusal, text_words
from inspector.protocol.record import Record
from inspector.protocol.times import NO_TIME, parse_time
from inspector.reading.decoder.batches import messages_of
from inspector.store.files.elements import ElementScanner, Span, layout_of, trimmed
from inspector.store.files.source_files import SourceFile

SNIFFED_LINES = 1_000
"""One of so many first records must be known."""

HEAD_BYTES = 1 << 16
"""Enough to tell lines from an array."""

_LONGEST = 1 << 24
"""Bytes of a line that is read whole to know it; of a longer one the head tells."""
_STEP = 1 << 22
_BOM = b"\xef\xbb\xbf"
_BLANK = b"\r\n \t"
_VALUES = b'{["-0123456789tfn]'
"""How a value of a JSON array begins, or the array ends."""
_TIME_IN_BRACKETS = re.compile(rb"\[\d+[-:/]")
"""How a line begins that says in brackets when it was written."""


def scanner_for(source: SourceFile) -> ElementScanner | None:
    """A scanner when the file holds one JSON array, or objects of several lines each; None when it holds lines.

    Lines may begin with a bracket too: a log's own `[INFO]`, a JSON-RPC batch a line.

    Raises:
        OSError: the file cannot be read.
    """
    head = source.read(0, HEAD_BYTES)
    history = _HISTORY.match(head)
    if history is not None:
        return ElementScanner(begin=history.end())
    spread = _SPREAD.match(head)
    if spread is not None:
        return ElementScanner(b"", begin=spread.end(), bracketed=False)
    return ElementScanner(layout_of(head.removeprefix(_BOM))) if is_array(head) else None


_HISTORY = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"history"\s*:\s*\[')
"""How the answer of a v0.0 or v0.1 gateway about its history begins (docs/protocols.md 10)."""
_SPREAD = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?=\{[ \t\r]*\n[ \t]+")')
"""How objects begin that are indented for people, as `jq` prints the lines of a log."""
_MOST_TURNED = 1 << 26
"""Bytes of an array that is turned round; a gateway gives 1,000 messages at most."""
_ENOUGH_TIMES = 3


def is_newest_first(source: SourceFile) -> bool | None:
    """Whether the elements of an array lie in the order of v0.0 histories, newest first, by the times of its head.

    What a gateway calls history is so unless its times say otherwise; of any other array they must say so. None when
    more of a file that is being filled has to come before that can be said.

    Raises:
        OSError: the file cannot be read.
    """
    if source.size > _MOST_TURNED:
        return False
    head = source.read(0, HEAD_BYTES)
    scanner = scanner_for(source)
    spans = scanner.scan(head) if scanner is not None else []
    times = [time for start, stop in spans if (time := _time_of(head[start:stop])) != NO_TIME]
    falling = all(time >= later for time, later in pairwise(times))
    history = _HISTORY.match(head) is not None
    if source.growing and source.size < HEAD_BYTES and (history or (falling and times)):
        return None
    if history:
        return len(times) < 2 or times[0] >= times[-1]
    return len(times) >= _ENOUGH_TIMES and falling and times[0] > times[-1]


def _time_of(element: bytes) -> int:
    """The time an element bears, else its sender's; NO_TIME."""
    record, _ = read_line_as(element.strip(_BLANK))
    if record.time_ns != NO_TIME or record.header is None:
        return record.time_ns
    return parse_time(record.header.ts)


def reading_of(source: SourceFile) -> str | None:
    """The format to read a file as where its lines alone do not tell: an array of what two formats write.

    Items of the Responses API are what a thread of Codex holds, one a line; in an array they are a model's messages.

    Raises:
        OSError: the file cannot be read.
    """
    head = source.read(0, HEAD_BYTES)
    if source.growing or not is_array(head):
        return None
    scanner = ElementScanner(layout_of(head.removeprefix(_BOM)))
    first = next((head[start:stop].strip(_BLANK) for start, stop in scanner.scan(head)), b"")
    known_as = read_line_as(first)[1] if first else None
    is_both = known_as in (codex.LABEL, messages.LABEL) and messages.read(first, unknown=True) is not None
    return messages.LABEL if is_both and refusal(first) is None else None


def is_array(head: bytes) -> bool:
    """Whether a file that begins with these bytes holds one JSON array, and not lines."""
    bare = head.removeprefix(_BOM).lstrip(_BLANK)
    inner = bare[1:].lstrip(_BLANK)
    if bare[:1] != b"[" or (inner and inner[0] not in _VALUES) or _TIME_IN_BRACKETS.match(bare):
        return False
    scanner = ElementScanner()
    scanner.scan(bare)
    if scanner.closed_at is None:  # goes on behind the head
        return True
    first, rest = bare[: scanner.closed_at], bare[scanner.closed_at :]
    if b"\n" in first:
        return True
    same_line, _, more = rest.partition(b"\n")
    if same_line.strip(_BLANK):
        return inner[:1] in (b"{", b"[")
    if messages_of(first):  # a JSON-RPC batch: read as a line it is the same messages, and more such lines may come
        return False
    return more.lstrip(_BLANK)[:1] not in (b"[", b"{")


def archive_words(source: SourceFile) -> str | None:
    """What kind of archive it is, that is not unpacked here; None when it is none.

    RULE: nothing is unpacked twice, so that a small file cannot become any number of large ones.
    """
    head = source.read(0, 8)
    return next((words for magic, words in _ARCHIVES if head.startswith(magic)), None)


_ARCHIVES = (
    (b"\x1f\x8b", "a gzip archive within an archive"), (b"\x28\xb5\x2f\xfd", "a Zstandard archive within an archive"),
    (b"PK\x03\x04", "a zip archive"), (b"BZh", "a bzip2 archive"), (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
)  # fmt: skip


def can_tell(source: SourceFile) -> bool:
    """Whether enough of a file that is being filled has come to say what it is: a whole line, or a good piece."""
    if not source.growing or source.size >= HEAD_BYTES:
        return True
    head = source.read(0, HEAD_BYTES).removeprefix(_BOM).lstrip(_BLANK)
    return b"\n" in head and head.rstrip(_BLANK) != b"{"  # a brace alone may begin an object of several lines


def why_unknown(source: SourceFile) -> str | None:
    """What the first record is, when not one of the first 1,000 is known; None when one is, or there are none.

    Reads no further than the first record that is known, which is nearly always the first.

    Raises:
        OSError: the file cannot be read.
    """
    steps = sniff(source)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value[0]


def sniff(source: SourceFile) -> Generator[None, None, tuple[str | None, int]]:
    """What `why_unknown` says, and how many records it looked at; in steps, as one record may be very long."""
    reason: str | None = None
    scanner = scanner_for(source)
    number = 0
    for line in _lines(source) if scanner is None else _elements(source, scanner):
        if line is None:
            yield
            continue
        number += 1
        if number == 1 and source.reading is None and (refused := refusal(line)) is not None:
            return refused, SNIFFED_LINES
        record, known_as = _read(next((message for _, message in messages_of(line)), line), source.reading)
        if known_as not in (None, FRAME_LABEL):
            return None, number
        reason = reason or text_words(line) or record.reason or "a stream frame"
        if number == SNIFFED_LINES:
            break
    return reason, number


def _read(line: bytes, reading: str | None) -> tuple[Record, str | None]:
    return read_line_as(line) if reading is None else read_chosen(line, reading)


def _lines(source: SourceFile) -> Iterator[bytes | None]:
    """Lines from the start, blank ones and a byte order mark left out; None after each step."""
    offset, rest = 0, b""
    while chunk := source.read(offset, max(HEAD_BYTES, len(rest))):
        new = chunk if offset else chunk.removeprefix(_BOM)
        offset += len(chunk)
        *whole, rest = (rest + new).split(b"\n")
        if len(rest) > _LONGEST:
            whole.append(completed(rest[:HEAD_BYTES]) or rest[:HEAD_BYTES])
            rest = b""
            while (piece := source.read(offset, _STEP)) and b"\n" not in piece:
                offset += len(piece)
                yield None
            offset += piece.find(b"\n") + 1
        yield from (line.strip(b"\r \t") for line in whole if line.strip())
        yield None
    if rest.strip():
        yield rest.strip(b"\r \t")


def _elements(source: SourceFile, scanner: ElementScanner) -> Iterator[bytes | None]:
    """Elements from the start; None after each step."""
    judged = -1  # where an element begins that was told by its head before its end was found
    while data := source.read(scanner.position, HEAD_BYTES):
        yield from _pieces(source, scanner.scan(data), judged)
        if scanner.position - scanner.begun_at > _LONGEST and scanner.begun_at != judged:
            judged = scanner.begun_at
            yield from _pieces(source, [(judged, scanner.position)], -1)
        yield None
    yield from _pieces(source, scanner.finish(), judged)


def _pieces(source: SourceFile, spans: list[Span], judged: int) -> Iterator[bytes]:
    for start, stop in spans:
        if start == judged:
            continue
        data = source.read(start, min(stop - start, HEAD_BYTES if stop - start > _LONGEST else _LONGEST))
        if stop - start > _LONGEST:
            data = data.lstrip(_BLANK)
            data = completed(data) or data
        span = trimmed(data, (0, len(data)))
        if span is not None:
            yield data[span[0] : span[1]]
