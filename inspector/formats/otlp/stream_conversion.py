"""Converts an endless stream of traces to lines: at each pause, the spans received so far, in order of time.

Facts from related spans carry over between batches (`KnownSpans`). A child span ends before its parent, so a parent's
children are known when it arrives. A fact that only the parent has, such as the agent, is only found within the same
batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from inspector.formats.entry_builders import decoded_object
from inspector.formats.otlp.conventions import CALL_ID
from inspector.formats.otlp.conversion import Restate, SpanMemory, is_protobuf, lines_in_order, spans_of, timed_lines
from inspector.formats.otlp.histories import HistoryInterner
from inspector.formats.otlp.printed import as_otlp
from inspector.formats.otlp.repeated_spans import SpanIds
from inspector.formats.otlp.span_relations import (
    Resolved,
    SpanContents,
    SpanFacts,
    depths_of,
    place_orphans,
    resolve_from,
)
from inspector.formats.otlp.spans import Span

_BLANK = b" \t\r\n"
_MOST_HOLDING = 1 << 18
"""Limit of spans with children whose own span has not arrived."""
_MOST_EARLIER = 512
"""Number of earlier spans considered for a new batch."""


class KnownSpans:
    """Facts from all earlier spans.

    Attributes:
        histories: earlier inputs of models.
        ids: the spans by their ids.
    """

    def __init__(self) -> None:
        self.histories = HistoryInterner()
        self.ids = SpanIds()
        self._holding: dict[str, SpanContents] = {}  # by parent span id, facts about its children
        self._earlier: deque[SpanFacts] = deque(maxlen=_MOST_EARLIER)

    def resolve(self, spans: list[Span]) -> list[Resolved]:
        """Returns facts about new spans from each other and from earlier ones."""
        traces = {span.trace for span in spans}
        before = [one for one in self._earlier if one.span.trace in traces]
        tellings = list(map(SpanFacts, spans))
        if not self._earlier:
            place_orphans(tellings)
        known = resolve_from([*before, *tellings], len(before))
        depths = depths_of(tellings)
        # Inner spans first: their end is that of the outer one where times are rounded.
        for place in sorted(range(len(spans)), key=lambda one: (-depths[one], spans[one].end_ns, one)):
            span, told = spans[place], known[place]
            one = tellings[place]
            one.within = self._holding.pop(span.identifier, SpanContents())
            if one.within.spans:
                told.holds, told.around = True, told.around or one.within.models
                told.failed_within = told.failed_within or one.within.failed
            one.decide_counting()
            if span.parent and not span.is_log:
                self._holding.setdefault(span.parent, SpanContents()).add_span(one)
            if told.call:  # another call of the tool must not use this id
                named = {**span.attributes, CALL_ID: told.call}
                tellings[place] = SpanFacts(msgspec.structs.replace(span, attributes=named), told)
            self._earlier.append(tellings[place])
        while len(self._holding) > _MOST_HOLDING:
            del self._holding[next(iter(self._holding))]
        return known


def as_they_come(blocks: Iterable[bytes | None], restate: Restate = as_otlp) -> Iterator[bytes]:
    """Yields the lines for a stream of traces at each pause and at the end. Without pauses, same as for a file.

    Args:
        blocks: data cut anywhere; None for a pause. A list over several lines is read at the end.
        restate: returns documents as OTLP.

    Raises:
        NotConvertedError: it is unreadable protobuf, or the extra is not installed.
    """
    known = KnownSpans()
    waiting: list[bytes] = []  # data since the last pause after a complete record
    end = b""
    memory = SpanMemory()
    for block in blocks:
        if block is not None:
            memory.add(block)
            waiting.append(block)
            yield b""  # lets the caller cancel
            continue
        data = b"".join(waiting)
        end = end or record_end(data[: data.rfind(b"\n") + 1])
        whole, found, rest = data.rpartition(end) if end else (b"", b"", data)
        if found:
            yield from lines_of(whole + found, known, restate)
            waiting = [rest]
            memory.clear()
    data = b"".join(waiting)
    yield from lines_of(data, known, restate) if end else lines_in_order(data, restate)


def record_end(data: bytes) -> bytes:
    """Returns the bytes that end each record: a line end, or the last line of an indented object; b"" for others."""
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip(_BLANK)
    first, end, _ = text.partition(b"\n")
    if not end or is_protobuf(data):
        return b""
    if first.rstrip() == b"{":
        return b"\n}\n"
    return b"\n" if decoded_object(first) is not None else b""


def lines_of(data: bytes, known: KnownSpans, restate: Restate = as_otlp) -> Iterator[bytes]:
    """Yields lines for documents, one per line, with facts from known spans."""
    spans, others = spans_of(data.lstrip(_BLANK), restate, known.ids)
    yield from timed_lines(spans, known.resolve(spans), known.histories)
    yield from others
