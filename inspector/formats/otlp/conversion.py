"""Converts a file of traces to lines: one per span, in order of time, with facts from related spans.

A span is written at its end, children first, and a collector's file mixes traces and services. So all spans are read
before the first is output. A line is OTLP as JSON with one span, plus facts from the others
(`formats.otlp.span_relations`). Calls of models and tools, and spans with children, have a line for start and
end each. OTLP as protobuf needs the extra `otel`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from inspector.base.memory_budget import available_bytes
from inspector.formats.entry_builders import decoded_object
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.file_records import complete_records, first_record
from inspector.formats.otlp.content import without_input
from inspector.formats.otlp.conventions import (
    SpanRole,
    arguments_of,
    call_id_of,
    result_of,
    role_of,
    service_of,
)
from inspector.formats.otlp.histories import HistoryInterner
from inspector.formats.otlp.javascript_objects import as_json, begins_with_object
from inspector.formats.otlp.log_content import with_content
from inspector.formats.otlp.message_marks import call_mark, result_mark
from inspector.formats.otlp.printed import as_otlp, is_printed
from inspector.formats.otlp.protobuf import ProtobufError, traces_of
from inspector.formats.otlp.repeated_spans import SpanIds
from inspector.formats.otlp.span_relations import FACTS_KEY, Resolved, SpanEnd, resolve_spans
from inspector.formats.otlp.spans import Span, spans_in
from inspector.protocol.json_size import MAX_DECODED_BYTES, TOO_LARGE, estimate_decoded_bytes
from inspector.protocol.json_values import REFUSALS
from inspector.protocol.tolerant_encoder import to_json

HEAD_BYTES = 1 << 14
"""Number of first bytes needed for detection."""
_BEGINS = re.compile(
    rb'\s*\[?\s*\{\s*"(?:resourceSpans|resource_spans|batches|resourceLogs|resourceMetrics|trace|data)"\s*:\s*[\[{]'
)
_JAEGER = re.compile(rb'"traceID"\s*:')
_ONE_OF_JAEGER = re.compile(rb'\s*\[?\s*\{\s*"(?:_comment|traceID|spans|processes)"\s*:(?=.*"spanID"\s*:)', re.DOTALL)
_PRINTED = re.compile(rb'"(?:span_id|hrTime|traceId|startTime)"\s*:')
_BLANK = b" \t\r\n"
_PROTOBUF = b"\x0a"
"""Tag of the first field, a message; as text, an empty line."""
_CONTINUES = 0x80
_USUALLY_FREE = 4 << 30
_MESSAGE = 100
_MAX_EXPANSION = 16
"""Bytes of memory per byte of file. Traces take six; anything above 16 is mostly brackets."""
_FIELDS = (b"\x0a", b"\x12", b"\x1a")
_TEXT = (b" ", b"\t", b"\r", b"\n", b"{", b"[")


def holds_traces(head: bytes) -> bool:
    """Returns True for the first bytes of a file with unsorted traces."""
    if is_protobuf(head):
        return True
    text = head.removeprefix(b"\xef\xbb\xbf")
    if begins_with_object(text):
        return True
    found = _BEGINS.match(text)
    if found is None and (_ONE_OF_JAEGER.match(text) or (_PRINTED.search(text) and is_printed(first_record(text)))):
        return True
    if found is None or (b'"data"' in found[0] and not _JAEGER.search(head)):
        return False
    if b'"trace"' in found[0] and b'"resourceSpans"' not in head and b'"batches"' not in head:
        return False
    return f'"{FACTS_KEY}":'.encode() not in head.partition(b"\n")[0]


def is_protobuf(head: bytes) -> bool:
    """Returns True for OTLP as protobuf: a length-prefixed message that begins with another one."""
    if head[:1] != _PROTOBUF or head[1:2] in (b"", *_TEXT):
        return False
    length = next((place for place in range(1, min(6, len(head))) if head[place] < _CONTINUES), None)
    return length is not None and head[length + 1 : length + 2] in _FIELDS


def may_be_protobuf(head: bytes) -> bool:
    """Returns True if the first bytes are protobuf, or can become so with the next ones."""
    return any(is_protobuf(head + more) for more in (b"", _PROTOBUF, b"\x01" + _PROTOBUF))


Restate = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Returns a document of another program as OTLP; others unchanged."""


def lines_in_order(data: bytes, restate: Restate = as_otlp) -> Iterator[bytes]:
    """Yields the lines for a file of traces. Raises NotConvertedError."""
    spans, others = spans_of(data, restate, SpanIds())
    yield from timed_lines(spans, resolve_spans(spans, whole=True), HistoryInterner(), are_all=True)
    yield from others


class SpanMemory:
    """Estimates the memory for decoded spans, and limits it to half of the free memory."""

    def __init__(self) -> None:
        free = available_bytes()
        self._most = (free if free is not None else _USUALLY_FREE) // 2
        self._given = self._needed = 0

    def add(self, data: bytes) -> None:
        """Adds input data.

        Raises:
            NotConvertedError: the spans would fill memory.
        """
        self._given += len(data)
        # Protobuf values are copied once more. The tag byte of its messages is also the line end in JSON, so both
        # count.
        self._needed += len(data) + estimate_decoded_bytes(data) + _MESSAGE * data.count(b"\n")
        if self._needed > MAX_DECODED_BYTES and self._needed > _MAX_EXPANSION * self._given:
            raise NotConvertedError(TOO_LARGE)
        if self._needed > self._most:
            raise NotConvertedError(
                "its spans, all of which are read before the first is shown, may take more than the "
                f"{self._most >> 20:,} MB of memory that there are for them"
            )

    def clear(self) -> None:
        """Resets the estimate."""
        self._given = self._needed = 0


def spans_of(data: bytes, restate: Restate, ids: SpanIds) -> tuple[list[Span], list[bytes]]:
    """Returns the spans of documents, and the lines of documents without spans: metrics, invalid lines.

    Args:
        data: the documents.
        restate: returns one as OTLP.
        ids: the spans before; updated.

    Raises:
        NotConvertedError: it is unreadable protobuf, or the extra is not installed.
    """
    spans: list[Span] = []
    others: list[bytes] = []
    for value, line in _documents(data):
        told = restate(value) if value is not None else None
        found = spans_in(told) if told is not None else []
        spans += found
        if not found:
            others.append((line if line and told is value else to_json(told)) + b"\n")
    return with_content(ids.distinct(spans)), others


def timed_lines(
    spans: list[Span], known: list[Resolved], histories: HistoryInterner, *, are_all: bool = False
) -> Iterator[bytes]:
    """Yields the lines of spans in order of time; calls of models and tools have one for each end.

    Args:
        spans: the spans.
        known: facts about each from other spans.
        histories: earlier inputs of models; updated.
        are_all: True if no later export can end a span.
    """
    times: list[tuple[int, int, int, int]] = []  # at equal times, ends come before starts, and outer spans first
    for place, (span, told) in enumerate(zip(spans, known, strict=True)):
        times.append((span.start_ns, _BEGIN, -span.end_ns, place))
        if not span.is_log and (told.holds or _is_call(span)):
            order = _END if span.end_ns > span.start_ns else _END_AT_ONCE
            times.append((span.end_ns, order, -span.start_ns, place))
    times.sort()
    lines = _Lines(spans, known, histories, are_all=are_all)
    for start in range(0, len(times), _AT_ONCE):
        for _, order, _, place in times[start : start + _AT_ONCE]:
            lines.begin_span(place) if order == _BEGIN else lines.end_span(place)
        last = start + _AT_ONCE >= len(times)
        yield lines.take_lines(whole=last)


_AT_ONCE = 256
_END, _BEGIN, _END_AT_ONCE = 0, 1, 2


class _Lines:
    """Writes lines of spans, given in order of time."""

    def __init__(self, spans: list[Span], known: list[Resolved], histories: HistoryInterner, *, are_all: bool) -> None:
        self._spans, self._known, self._histories, self._are_all = spans, known, histories, are_all
        self._seen: dict[int, Counter[str]] = {}  # by index of a running model call
        self._written: list[tuple[Resolved, dict[str, Any]]] = []

    def take_lines(self, *, whole: bool) -> bytes:
        """Returns the lines so far; keeps the last one back unless `whole`, since later span ends are added to it."""
        kept = 0 if whole else 1
        given, self._written = self._written[: len(self._written) - kept], self._written[-1:] if kept else []
        return b"".join(_line(told, span) + b"\n" for told, span in given)

    def begin_span(self, place: int) -> None:
        span, told = self._spans[place], self._known[place]
        role = SpanRole.OTHER if span.is_log else role_of(span)
        if role is SpanRole.MODEL and not told.around:
            new, repeated, self._seen[place] = self._histories.take_new_input(span, _speaker(span, told))
            # A call without recorded input is told at its end, which a file may lack.
            if not new and (span.ended or not self._are_all):
                return
            if repeated:
                told = msgspec.structs.replace(told, given=new, repeated=repeated)
                span.given = without_input(span)  # shorter for the line of its end too
            self._append_line(span, told, "start", span.given)
        elif role is SpanRole.TOOL and not told.within_call:
            if span.has_begun:
                return
            if arguments_of(span) is not None:
                self._histories.add_mark(call_mark(span.trace, told.call or call_id_of(span)))
            self._append_line(span, told, "start", span.given)
        else:
            phase = "start" if not span.ended else "whole" if told.holds else ""
            self._append_line(span, told, phase, span.given)

    def end_span(self, place: int) -> None:
        span, told = self._spans[place], self._known[place]
        if not span.ended:
            return
        role = role_of(span)
        if role is SpanRole.MODEL and not told.around:
            again = self._histories.add_output(span, _speaker(span, told), self._seen.pop(place, Counter()))
            told = msgspec.structs.replace(told, given=[], seen=again)
            self._append_line(span, told, "end", without_input(span))
        elif role is SpanRole.TOOL and not told.within_call:
            if result_of(span) is not None:
                self._histories.add_mark(result_mark(span.trace, told.call or call_id_of(span)))
            self._append_line(span, told, "end", span.given)
        elif told.holds and span.identifier and self._written:
            last, _ = self._written[-1]
            last.ends = [*last.ends, SpanEnd(span.identifier, span.failed)]

    def _append_line(self, span: Span, told: Resolved, phase: str, given: dict[str, Any]) -> None:
        self._written.append((msgspec.structs.replace(told, phase=phase, number=span.number), given))


def _is_call(span: Span) -> bool:
    return role_of(span) in (SpanRole.MODEL, SpanRole.TOOL)


def _speaker(span: Span, told: Resolved) -> str:
    return told.agent or service_of(span)


def _line(known: Resolved, given: Mapping[str, Any]) -> bytes:
    """Encodes a span: facts from other spans first, to tell such files from plain OTLP, then OTLP."""
    return to_json({FACTS_KEY: msgspec.to_builtins(known), **given})


def _documents(data: bytes) -> Iterator[tuple[Mapping[str, Any] | None, bytes]]:
    """Yields the documents of a file: one, a list, or one per line; None with the bytes of an invalid one."""
    if is_protobuf(data[:HEAD_BYTES]):
        try:
            yield traces_of(data), b""
        except ProtobufError as error:
            raise NotConvertedError(str(error).removesuffix(".")) from None
        return
    text = data.removeprefix(b"\xef\xbb\xbf").strip(_BLANK)
    if begins_with_object(text):
        text = as_json(text)
    first = text.partition(b"\n")[0]
    whole = _decoded(text) if first == text or decoded_object(first) is None else None
    if whole is not None:
        for one in whole if isinstance(whole, list) else [whole]:
            yield (one, b"") if isinstance(one, dict) else (None, to_json(one))
    elif first.rstrip(_BLANK) in (b"{", b"["):  # objects one after another, or a list without an end
        for part in filter(None, complete_records(text, rest=True)):
            value = decoded_object(part)
            yield value, part.replace(b"\n", b" ") if value is None else b""  # a torn object is one line
    else:
        for line in text.split(b"\n"):
            if line.strip(_BLANK):
                yield decoded_object(line), line


def _decoded(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except REFUSALS:
        return None
