"""Detects formats of files from their first bytes (lines, JSON array, no log), or explains unknown ones."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import pairwise

from inspector.formats import registry
from inspector.formats.format import Format
from inspector.formats.line_reading import FRAME_LABEL, read_added, read_chosen, read_line_as
from inspector.formats.refused_formats import Refusal, known_refusal
from inspector.formats.table import FORMATS, format_named
from inspector.protocol.array_elements import ElementScanner, Span, element_indent, trim_span
from inspector.protocol.array_search import MAX_SEARCHED_BYTES, find_array
from inspector.protocol.record import Record
from inspector.protocol.timestamps import NO_TIME, parse_time
from inspector.protocol.truncated_json import complete_json
from inspector.reading.decoder.batches import split_batch
from inspector.reading.files.refusals import (
    TextBlock,
    chosen_refusal,
    empty_refusal,
    is_weak_evidence,
    refusal_of_records,
)
from inspector.store.files.source_files import SourceFile

SNIFFED_LINES = 1_000
"""At least one of so many first records must be known."""

HEAD_BYTES = 1 << 16
"""Bytes that suffice to distinguish lines from an array."""

_MAX_PROBED_LINE = 1 << 24
"""Bytes of a line that is read whole for detection; longer ones are read by their head."""
_STEP = 1 << 22
_BOM = b"\xef\xbb\xbf"
_BLANK = b"\r\n \t"
_VALUE_STARTS = b'{["-0123456789tfn]'
"""First characters of a JSON array's value, or of its end."""
_TIME_IN_BRACKETS = re.compile(rb"\[\d+[-:/]")
"""Beginning of a line with its time in brackets."""
_RECORDING = "A tap records them: context-inspector tap."
_NO_MESSAGES = "that has no messages in it: it names their methods and ids, and no content"
"""Reason for refusing a log, after the name of its client."""
_DECIDING_LINES = 20
"""First lines of a file, one of which may decide the format of all."""
_NAMING = tuple(one for one in FORMATS if one.names_file)
_LOG_LINES = {one.name: one.log_lines for one in FORMATS if one.log_lines is not None}


def scanner_for(source: SourceFile, array_path: tuple[str, ...] | None = None) -> ElementScanner | None:
    """Returns a scanner for a JSON array, or for objects over several lines; None for lines.

    A line may begin with a bracket too: a log's own `[INFO]`, or a JSON-RPC batch.

    Args:
        source: the file.
        array_path: place of the array in the document; by default that of the chosen format.

    Raises:
        OSError: if the file cannot be read.
    """
    array_path = array_path or _array_path(source.chosen_format)
    if array_path is not None:
        begin = find_array(source.read, array_path)
        return ElementScanner(begin=begin, lines_follow=False) if begin is not None else None
    head = source.read(0, HEAD_BYTES)
    history = _HISTORY_START.match(head)
    if history is not None:
        return ElementScanner(begin=history.end())
    spread = _INDENTED_OBJECT_START.match(head)
    if spread is not None:
        return ElementScanner(b"", begin=spread.end(), bracketed=False)
    return ElementScanner(element_indent(head.removeprefix(_BOM))) if is_array(head) else None


def _array_path(name: str | None) -> tuple[str, ...] | None:
    """Returns the path of the array with a format's records; None for a format of lines."""
    chosen = registry.format_named(name) if name is not None else None
    return chosen.array_path if chosen is not None else None


def missing_array(source: SourceFile, array_path: tuple[str, ...] | None = None) -> str | None:
    """Returns a description of the array that a format needs and the file lacks; else None.

    Args:
        source: the file.
        array_path: place of the array; by default that of the chosen format.

    Raises:
        OSError: if the file cannot be read.
    """
    array_path = array_path or _array_path(source.chosen_format)
    if array_path is None or find_array(source.read, array_path) is not None:
        return None
    return f"no array at {'.'.join(array_path)} in its first {MAX_SEARCHED_BYTES >> 20} MB"


_HISTORY_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"history"\s*:\s*\[')
"""Beginning of a v0.0 or v0.1 gateway's history answer (docs/protocols.md 10)."""
_INDENTED_OBJECT_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?=\{[ \t\r]*\n[ \t]+")')
"""Beginning of indented objects, as `jq` prints the lines of a log."""
_MAX_REVERSED_BYTES = 1 << 26
"""Largest array in bytes that is reversed; a gateway returns 1,000 messages at most."""
_MIN_TIMES = 3


def is_newest_first(source: SourceFile) -> bool | None:
    """Returns True if an array is newest first, as v0.0 histories are, judged by the times in its head.

    A gateway's history is newest first unless its times contradict; another array needs times as evidence. Returns None
    while a growing file has too few bytes.

    Raises:
        OSError: if the file cannot be read.
    """
    # Reversing needs the whole file in memory.
    if source.size > _MAX_REVERSED_BYTES:
        return False
    head = source.read(0, HEAD_BYTES)
    scanner = scanner_for(source)
    spans = scanner.scan(head) if scanner is not None else []
    times = [time for start, stop in spans if (time := _time_of(head[start:stop])) != NO_TIME]
    falling = all(time >= later for time, later in pairwise(times))
    history = _HISTORY_START.match(head) is not None
    # Too early to decide: the next bytes may change the order.
    if source.is_growing and source.size < HEAD_BYTES and (history or (falling and times)):
        return None
    if history:
        return len(times) < 2 or times[0] >= times[-1]
    # Many times are needed, since two records may be swapped by chance.
    return len(times) >= _MIN_TIMES and falling and times[0] > times[-1]


def _time_of(element: bytes) -> int:
    """Returns an element's time, else its sender's; NO_TIME."""
    record, _ = read_line_as(element.strip(_BLANK))
    if record.time_ns != NO_TIME or record.header is None:
        return record.time_ns
    return parse_time(record.header.ts)


def forced_format(source: SourceFile) -> str | None:
    """Returns the format of a file that its records alone do not tell.

    Elements of an array may be of two formats, as `Format.array_format` declares, and so may lines, as
    `Format.names_file` does. Records of a declared format may lie in an array inside of a document.

    Raises:
        OSError: if the file cannot be read.
    """
    head = source.read(0, HEAD_BYTES)
    if (decided := format_of_lines(source)) is not None:
        return decided
    if source.is_growing:
        return None
    if not is_array(head):
        return _format_of_document(source)
    scanner = ElementScanner(element_indent(head.removeprefix(_BOM)))
    first = next((head[start:stop].strip(_BLANK) for start, stop in scanner.scan(head)), b"")
    known_as = read_line_as(first)[1] if first else None
    known = format_named(known_as) if known_as is not None else None
    whole = format_named(known.array_format) if known is not None else None
    is_both = whole is not None and whole.read(first, unknown=True) is not None
    return whole.name if whole is not None and is_both and known_refusal(first) is None else None


def format_of_lines(source: SourceFile) -> str | None:
    """Returns the format that one of a file's first lines decides for all of them.

    A line that only another format can read prevents it: a log may quote such a record, or be forged with one.

    Raises:
        OSError: if the file cannot be read.
    """
    head = source.read(0, HEAD_BYTES)
    if is_array(head):
        return None
    split = head.removeprefix(_BOM).split(b"\n", _DECIDING_LINES)[:_DECIDING_LINES]
    lines = [line for one in split if (line := one.strip(_BLANK))]
    naming = (one for one in _NAMING if any(one.read(line) is not None for line in lines))
    return next((one.name for one in naming if not any(_is_of_another(line, one) for line in lines)), None)


def _is_of_another(line: bytes, naming: Format) -> bool:
    """Returns True for a line that the format cannot read, and another one can."""
    return naming.read(line, unknown=True) is None and read_line_as(line)[1] not in (None, FRAME_LABEL)


def _format_of_document(source: SourceFile) -> str | None:
    """Returns the first added format whose array the document has, with a record of that format."""
    for added in registry.registered():
        begin = find_array(source.read, added.array_path) if added.array_path is not None else None
        if begin is None:
            continue
        head = source.read(begin, HEAD_BYTES)
        scanner = ElementScanner(begin=0, lines_follow=False)
        first = next(iter(scanner.scan(head)), None)
        if first is not None and added.read(head[slice(*first)].strip(_BLANK)) is not None:
            return added.name
    return None


def is_array(head: bytes) -> bool:
    """Returns True if a file with these first bytes is one JSON array instead of lines."""
    bare = head.removeprefix(_BOM).lstrip(_BLANK)
    inner = bare[1:].lstrip(_BLANK)
    # A log line such as [12:30:01] begins with a bracket too.
    if bare[:1] != b"[" or (inner and inner[0] not in _VALUE_STARTS) or _TIME_IN_BRACKETS.match(bare):
        return False
    scanner = ElementScanner()
    scanner.scan(bare)
    if scanner.closed_at is None:  # continues after the head
        return True
    first, rest = bare[: scanner.closed_at], bare[scanner.closed_at :]
    if b"\n" in first:
        # Lines are never indented, so this is a pretty-printed array.
        return True
    same_line, _, more = rest.partition(b"\n")
    if same_line.strip(_BLANK):
        return inner[:1] in (b"{", b"[")
    if split_batch(first):  # a JSON-RPC batch: as a line it gives the same messages, and more such lines may follow
        return False
    return more.lstrip(_BLANK)[:1] not in (b"[", b"{")


def archive_description(source: SourceFile) -> str | None:
    """Returns the kind of a nested or unsupported archive.

    RULE: an archive within an archive is not unpacked, so that a small file cannot expand without limit.
    """
    head = source.read(0, 8)
    return next((words for magic, words in _ARCHIVES if head.startswith(magic)), None)


_ARCHIVES = (
    (b"\x1f\x8b", "a gzip archive within an archive"), (b"\x28\xb5\x2f\xfd", "a Zstandard archive within an archive"),
    (b"PK\x03\x04", "a zip archive"), (b"BZh", "a bzip2 archive"), (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
)  # fmt: skip


def has_enough_bytes(source: SourceFile) -> bool:
    """Returns True if enough of a growing file is there to detect its kind: a whole line, or HEAD_BYTES."""
    if not source.is_growing:
        return True
    if _array_path(source.chosen_format) is not None:
        return source.size >= MAX_SEARCHED_BYTES or missing_array(source) is None
    if source.size >= HEAD_BYTES:
        return True
    head = source.read(0, HEAD_BYTES).removeprefix(_BOM).lstrip(_BLANK)
    return b"\n" in head and head.rstrip(_BLANK) != b"{"  # a single brace may begin an object over several lines


def detect_unknown(source: SourceFile) -> Generator[None, None, tuple[Refusal | None, int]]:
    """Returns the refusal of a file without a known record among its first 1,000, and the number of examined records.

    Stops at the first known record, which is nearly always the first. A generator, as a record may be very long.

    Raises:
        OSError: if the file cannot be read.
    """
    first, number = b"", 0
    scanner = scanner_for(source)
    logged, failed = False, False
    named: str | None = None  # the client that names messages without their content
    block = TextBlock()
    forced = source.chosen_format is not None
    for line in records_in(source, scanner):
        if line is None:
            yield
            continue
        number += 1
        if number == 1 and not forced and (refused := known_refusal(line)) is not None:
            return (refused if read_added(line) is None else None), SNIFFED_LINES
        # The first message of a batch stands for its line.
        record, known_as = _read(next((message for _, message in split_batch(line)), line), source.chosen_format)
        if forced and known_as != source.chosen_format:  # a line of another format is no evidence of the chosen one
            known_as = None
        log = _LOG_LINES.get(known_as or "")
        if log is not None and log.is_log_line(line):
            logged, named = True, named or log.names_message(line)
            failed |= record.derived_messages[0].failed
        elif known_as not in (None, FRAME_LABEL) and (forced or not is_weak_evidence(record)):
            if forced or not block.words:
                return None, number
            return block.refusal(first), SNIFFED_LINES
        else:
            block.add(line)
        # The first record is described: later ones often fail only as a consequence.
        first = first or line
        if number == SNIFFED_LINES:
            break
    if logged:
        return (Refusal(f"is a log of {named} {_NO_MESSAGES}", _RECORDING) if named and not failed else None), number
    if not first:
        is_empty = not source.is_growing and is_array(source.read(0, HEAD_BYTES))
        return (empty_refusal("an empty array") if is_empty else None), number
    if source.chosen_format is not None:
        return chosen_refusal(first, registry.selectable_formats().get(source.chosen_format, "")), number
    head = source.read(0, _MAX_PROBED_LINE).removeprefix(_BOM)
    return refusal_of_records(first, number, scanner, head), number


def _read(line: bytes, reading: str | None) -> tuple[Record, str | None]:
    return read_line_as(line) if reading is None else read_chosen(line, reading)


def records_in(source: SourceFile, scanner: ElementScanner | None) -> Iterator[bytes | None]:
    """Yields the records from the start, each as far as detection needs it; None after each step.

    Args:
        source: the file.
        scanner: result of `scanner_for`; it moves on.
    """
    return _with_whole_data(_lines(source)) if scanner is None else _elements(source, scanner)


_DATA = b"data:"
_DATA_BEGIN = re.compile(rb"data: ?\{\s*")
_DATA_REST = re.compile(rb"data:(?! ?\{)")
_MOST_DATA_LINES = 10_000


def _with_whole_data(lines: Iterator[bytes | None]) -> Iterator[bytes | None]:
    """Yields lines; data of an event that lies in several lines of an event stream as one."""
    held: list[bytes] = []
    for line in lines:
        if line is not None and held and _DATA_REST.match(line) is not None and len(held) < _MOST_DATA_LINES:
            held.append(line[len(_DATA) :])
            continue
        if line is not None and held:
            yield b" ".join(held)
            held.clear()
        if line is not None and _DATA_BEGIN.fullmatch(line) is not None:
            held.append(line)
        else:
            yield line
    if held:
        yield b" ".join(held)


def _lines(source: SourceFile) -> Iterator[bytes | None]:
    """Yields the non-blank lines from the start, without a byte order mark; None after each step."""
    offset, rest = 0, b""
    while chunk := source.read(offset, max(HEAD_BYTES, len(rest))):
        new = chunk if offset else chunk.removeprefix(_BOM)
        offset += len(chunk)
        *whole, rest = (rest + new).split(b"\n")
        # A line of gigabytes is judged by its beginning, and skipped in steps.
        if len(rest) > _MAX_PROBED_LINE:
            whole.append(complete_json(rest[:HEAD_BYTES]) or rest[:HEAD_BYTES])
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
    """Yields the elements from the start; None after each step."""
    judged = -1  # start of an element that was judged by its head before its end was found
    while data := source.read(scanner.position, HEAD_BYTES):
        yield from _pieces(source, scanner.scan(data), judged)
        if scanner.position - scanner.unfinished_start > _MAX_PROBED_LINE and scanner.unfinished_start != judged:
            judged = scanner.unfinished_start
            yield from _pieces(source, [(judged, scanner.position)], -1)
        yield None
    yield from _pieces(source, scanner.finish(), judged)


def _pieces(source: SourceFile, spans: list[Span], judged: int) -> Iterator[bytes]:
    for start, stop in spans:
        if start == judged:
            continue
        data = source.read(
            start, min(stop - start, HEAD_BYTES if stop - start > _MAX_PROBED_LINE else _MAX_PROBED_LINE)
        )
        if stop - start > _MAX_PROBED_LINE:
            data = data.lstrip(_BLANK)
            data = complete_json(data) or data
        span = trim_span(data, (0, len(data)))
        if span is not None:
            yield data[span[0] : span[1]]
