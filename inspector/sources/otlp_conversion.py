"""Traces that a file holds, as lines: one a span, in the order of time, with what others tell of it.

A span is written when it ends, those within others first, and the file of a collector mixes traces and services. So all
spans are read before the first is given on. A line is OTLP as JSON with one span, and beside it what is known by the
others (`protocol.formats.otlp.resolving`); a call of a model or a tool, and what holds others, has a line for its start
and one for its end. OTLP as protobuf needs the extra `otel`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inspector.base.memory import free_bytes
from inspector.protocol.formats.entries import decoded_object
from inspector.protocol.formats.otlp.conventions import Role, role_of
from inspector.protocol.formats.otlp.logged import with_content
from inspector.protocol.formats.otlp.resolving import KEY, Resolved, resolve
from inspector.protocol.formats.otlp.spans import Span, spans_in
from inspector.protocol.json_size import MOST_DECODED, TOO_MUCH, decoded_bytes
from inspector.protocol.json_values import REFUSALS
from inspector.protocol.written_json import to_json
from inspector.sources.converting import NotConvertedError
from inspector.sources.otlp_protobuf import ProtobufError, traces_of

HEAD_BYTES = 1 << 12
"""So many first bytes tell what a file is."""
_BEGINS = re.compile(
    rb'\s*\[?\s*\{\s*"(?:resourceSpans|resource_spans|batches|resourceLogs|resourceMetrics|trace|data)"\s*:\s*[\[{]'
)
_JAEGER = re.compile(rb'"traceID"\s*:')
_ONE_OF_JAEGER = re.compile(rb'\s*\[?\s*\{\s*"(?:traceID|spans|processes)"\s*:(?=.*"spanID"\s*:)', re.DOTALL)
_BLANK = b" \t\r\n"
_PROTOBUF = b"\x0a"
"""The tag of the first field, a message, of what holds spans; as a text, an empty line."""
_CONTINUES = 0x80
_USUALLY_FREE = 4 << 30
_MESSAGE = 100
_DENSEST = 16
"""Bytes of memory for each of a file. Traces take six; what takes more is made of brackets."""
_FIELDS = (b"\x0a", b"\x12", b"\x1a")
_TEXT = (b" ", b"\t", b"\r", b"\n", b"{", b"[")


def holds_traces(head: bytes) -> bool:
    """Whether a file that begins with these bytes holds traces that are not put in order yet."""
    if is_protobuf(head):
        return True
    text = head.removeprefix(b"\xef\xbb\xbf")
    found = _BEGINS.match(text)
    if found is None and _ONE_OF_JAEGER.match(text):
        return True
    if found is None or (b'"data"' in found[0] and not _JAEGER.search(head)):
        return False
    if b'"trace"' in found[0] and b'"resourceSpans"' not in head and b'"batches"' not in head:
        return False
    return f'"{KEY}":'.encode() not in head.partition(b"\n")[0]


def is_protobuf(head: bytes) -> bool:
    """Whether bytes begin as OTLP does in protobuf: a message of a length, in which another one begins."""
    if head[:1] != _PROTOBUF or head[1:2] in (b"", *_TEXT):
        return False
    length = next((place for place in range(1, min(6, len(head))) if head[place] < _CONTINUES), None)
    return length is not None and head[length + 1 : length + 2] in _FIELDS


def may_be_protobuf(head: bytes) -> bool:
    """Whether a stream is that by its first bytes, or can become so by those that follow."""
    return any(is_protobuf(head + more) for more in (b"", _PROTOBUF, b"\x01" + _PROTOBUF))


def in_order(data: bytes) -> Iterator[bytes]:
    """The lines for a file of traces, some at a time. Raises NotConvertedError."""
    spans, others = spans_of(data)
    yield from timed_lines(spans, resolve(spans))
    yield from others


class SpanMemory:
    """What the spans of some bytes would take, beside what they may: half of the memory that is free."""

    def __init__(self) -> None:
        free = free_bytes()
        self._most = (free if free is not None else _USUALLY_FREE) // 2
        self._given = self._needed = 0

    def add(self, data: bytes) -> None:
        """Hold some more.

        Raises:
            NotConvertedError: they would fill memory.
        """
        self._given += len(data)
        # Each value of protobuf is given once more; what begins its messages ends lines of JSON, which are some, too.
        self._needed += len(data) + decoded_bytes(data) + _MESSAGE * data.count(b"\n")
        if self._needed > MOST_DECODED and self._needed > _DENSEST * self._given:
            raise NotConvertedError(TOO_MUCH)
        if self._needed > self._most:
            raise NotConvertedError(
                "its spans, all of which are read before the first is shown, may take more than the "
                f"{self._most >> 20:,} MB of memory that there are for them"
            )

    def clear(self) -> None:
        """Hold nothing."""
        self._given = self._needed = 0


def spans_of(data: bytes) -> tuple[list[Span], list[bytes]]:
    """The spans that some documents hold, and the lines of those that hold none: metrics, spoilt lines.

    Raises:
        NotConvertedError: it is protobuf that cannot be read, or the extra is not installed.
    """
    spans: list[Span] = []
    others: list[bytes] = []
    for value, line in _documents(data):
        found = spans_in(value) if value is not None else []
        spans += found
        if not found:
            others.append(line + b"\n")
    return with_content(spans), others


def timed_lines(spans: list[Span], known: list[Resolved]) -> Iterator[bytes]:
    """The lines of spans in the order of time, some at a time; what takes time has one for each end.

    Args:
        spans: some.
        known: what is known of each by others.
    """
    lines: list[tuple[int, int, int, Resolved, Span]] = []
    for place, (span, told) in enumerate(zip(spans, known, strict=True)):
        if not span.is_log and (told.holds or role_of(span) in (Role.MODEL, Role.TOOL)):
            lines.append((span.start_ns, 0, place, msgspec.structs.replace(told, phase="start"), span))
            lines.append((span.end_ns, 1, -place, msgspec.structs.replace(told, phase="end"), span))
        else:
            lines.append((span.start_ns, 0, place, told, span))
    lines.sort(key=lambda line: line[:3])
    for start in range(0, len(lines), 256):
        some = lines[start : start + 256]
        yield b"".join(written(span, told) + b"\n" for _, _, _, told, span in some)


def written(span: Span, known: Resolved) -> bytes:
    """The line of a span: OTLP, and first what is known of it by others, by which a file of these is told from OTLP."""
    return to_json({KEY: msgspec.to_builtins(known), **span.given})


def _documents(data: bytes) -> Iterator[tuple[Mapping[str, Any] | None, bytes]]:
    """What a file holds: one document, a list of some, or one a line; None with the bytes of what is none."""
    if is_protobuf(data[:HEAD_BYTES]):
        try:
            yield traces_of(data), b""
        except ProtobufError as error:
            raise NotConvertedError(str(error).removesuffix(".")) from None
        return
    text = data.removeprefix(b"\xef\xbb\xbf").strip(_BLANK)
    whole = _decoded(text) if text[:1] == b"[" or b"\n" not in text or text[1:2] in b"\r\n \t" else None
    if whole is not None:
        for one in whole if isinstance(whole, list) else [whole]:
            yield (one, b"") if isinstance(one, dict) else (None, msgspec.json.encode(one))
        return
    for line in text.split(b"\n"):
        if line.strip(_BLANK):
            yield decoded_object(line), line


def _decoded(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except REFUSALS:
        return None
