"""Traces of a stream that has no end yet, as lines: the spans of each while in the order of time, as far as they came.

What spans tell of each other goes across whiles (`KnownSpans`). A span within another ends before it, so that what
holds others is known when it comes; whose a span is, where only the one around it says so, is known within a while
alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from inspector.protocol.formats.entries import decoded_object
from inspector.protocol.formats.otlp.conventions import CALL_ID
from inspector.protocol.formats.otlp.histories import Histories
from inspector.protocol.formats.otlp.resolving import Resolved, Telling, Within, resolve_from
from inspector.protocol.formats.otlp.spans import Span
from inspector.sources.otlp_conversion import SpanMemory, in_order, is_protobuf, spans_of, timed_lines

_BLANK = b" \t\r\n"
_MOST_HOLDING = 1 << 18
"""Spans within others whose own span is still waited for."""
_MOST_EARLIER = 512
"""Spans of whiles before that are asked about those of a new one."""


class KnownSpans:
    """What is known of spans by all that came before them.

    Attributes:
        histories: what models were given before.
    """

    def __init__(self) -> None:
        self.histories = Histories()
        self._holding: dict[str, Within] = {}  # by span that holds others, what lies in it
        self._earlier: deque[Telling] = deque(maxlen=_MOST_EARLIER)

    def resolve(self, spans: list[Span]) -> list[Resolved]:
        """What is known of some more spans, by each other and by those before."""
        traces = {span.trace for span in spans}
        before = [one for one in self._earlier if one.span.trace in traces]
        tellings = list(map(Telling, spans))
        known = resolve_from([*before, *tellings], len(before))
        for place in sorted(range(len(spans)), key=lambda one: (spans[one].end_ns, one)):
            span, told = spans[place], known[place]
            one = tellings[place]
            one.within = self._holding.pop(span.identifier, Within())
            if one.within.spans:
                told.holds, told.around = True, told.around or one.within.models
                told.failed_within = told.failed_within or one.within.failed
            one.judge()
            if span.parent and not span.is_log:
                self._holding.setdefault(span.parent, Within()).take(one)
            if told.call:  # another call of the tool does not go by this id
                named = {**span.attributes, CALL_ID: told.call}
                tellings[place] = Telling(msgspec.structs.replace(span, attributes=named), told)
            self._earlier.append(tellings[place])
        while len(self._holding) > _MOST_HOLDING:
            del self._holding[next(iter(self._holding))]
        return known


def as_they_come(blocks: Iterable[bytes | None]) -> Iterator[bytes]:
    """The lines for a stream of traces, given on at each pause and at the end. One without a pause is as a file is.

    Args:
        blocks: what comes, cut anywhere; None for a pause. Documents that are no lines are read at the end.

    Raises:
        NotConvertedError: it is protobuf that cannot be read, or the extra is not installed.
    """
    known = KnownSpans()
    waiting: list[bytes] = []  # for a pause behind the end of a line
    by_lines = False
    memory = SpanMemory()
    for block in blocks:
        if block is not None:
            memory.add(block)
            waiting.append(block)
            yield b""  # whoever has had enough says so
            continue
        data, end, rest = b"".join(waiting).rpartition(b"\n")
        by_lines = by_lines or begins_with_line(data + end)
        if end and by_lines:
            yield from lines_of(data, known)
            waiting = [rest]
            memory.clear()
    data = b"".join(waiting)
    yield from lines_of(data, known) if by_lines else in_order(data)


def begins_with_line(data: bytes) -> bool:
    """Whether the first line is a document by itself: it is not one in protobuf or over several lines."""
    first, end, _ = data.removeprefix(b"\xef\xbb\xbf").lstrip(_BLANK).partition(b"\n")
    return end != b"" and not is_protobuf(data) and decoded_object(first) is not None


def lines_of(data: bytes, known: KnownSpans) -> Iterator[bytes]:
    """The lines for some documents, one a line, by what is known of their spans."""
    spans, others = spans_of(data.lstrip(_BLANK))
    yield from timed_lines(spans, known.resolve(spans), known.histories)
    yield from others
