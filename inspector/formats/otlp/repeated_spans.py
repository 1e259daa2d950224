"""Joins repeated exports and updates of a span; keeps other spans with its id apart."""

from __future__ import annotations

from itertools import chain
from typing import Any

import msgspec

from inspector.formats.otlp.spans import Span, plain_attributes, spans_in

_MOST_SPANS = 1 << 18
"""Limit of spans that are remembered for later exports."""
_MOST_NAMESAKES = 64
"""Limit of different spans with one id that are remembered; the earliest is forgotten first."""


class _Export(msgspec.Struct):
    """The most complete export of a span so far.

    Attributes:
        span: the span; None after the batch with its end, as contents of ended spans would fill the memory.
        name: its name.
        start_ns: its start.
        rank: a larger one has more contents; True first if it has an end.
        number: number of other spans of the trace that had its id before.
        batch: number of the batch with this export.
        place: its place in the batch.
    """

    span: Span | None
    name: str
    start_ns: int
    rank: tuple[bool, int, int]
    number: int
    batch: int
    place: int

    @property
    def ended(self) -> bool:
        return self.rank[0]

    def is_same(self, other: Span) -> bool:
        """Returns True for another export of the span: equal, pending, or only the changes since its beginning."""
        if not self.name or not other.name:
            return True
        told = self.name == other.name, self.start_ns == other.start_ns
        return all(told) if self.ended and other.ended else any(told)

    def keep(self, span: Span, batch: int, place: int) -> None:
        """Takes the facts of a more complete export."""
        self.span, self.name, self.start_ns = span, span.name, span.start_ns
        self.rank, self.batch, self.place = _rank(span), batch, place


class SpanIds:
    """Remembers the spans of a file or stream by their ids."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], list[_Export]] = {}
        self._batch = 0
        self._whole: list[_Export] = []  # of the last batch

    def distinct(self, spans: list[Span]) -> list[Span]:
        """Returns a batch without repeated exports; further spans with one id get numbers."""
        self._batch += 1
        for one in self._whole:
            one.span = None if one.ended else one.span
        self._whole.clear()
        kept: list[Span | None] = list(spans)
        for place, span in enumerate(spans):
            if span.is_log or not span.identifier:
                continue
            exports = self._known.setdefault((span.trace, span.identifier), [])
            same = next((one for one in exports if one.is_same(span)), None)
            if same is None:
                number = exports[-1].number + 1 if exports else 0
                kept[place] = numbered(span, number)
                same = _Export(span, span.name, span.start_ns, _rank(span), number, self._batch, place)
                exports.append(same)
                del exports[:-_MOST_NAMESAKES]
            else:
                kept[place] = self._update(same, span, place, kept)
            self._whole.append(same)
        while len(self._known) > _MOST_SPANS:
            del self._known[next(iter(self._known))]
        return [span for span in kept if span is not None]

    def _update(self, earlier: _Export, span: Span, place: int, kept: list[Span | None]) -> Span | None:
        """Returns the span if this export adds to it, and removes an earlier one of the same batch."""
        before, is_here = earlier.span, earlier.batch == self._batch
        joined = span if before is None or _is_whole(before, span) else _joined(before, span)
        # A row of an earlier batch is complete if it has an end: a second one would count it twice.
        if _rank(joined) <= earlier.rank or (earlier.ended and not is_here):
            return None
        if is_here:
            kept[earlier.place] = None
        joined.has_begun = (before is not None and before.has_begun) or not is_here
        earlier.keep(joined, self._batch, place)
        return numbered(joined, earlier.number)


def numbered(span: Span, number: int) -> Span:
    """Returns a span under an id of its own if `number` other spans have its id."""
    return (
        msgspec.structs.replace(span, identifier=f"{span.identifier}#{number + 1}", number=number) if number else span
    )


def _rank(span: Span) -> tuple[bool, int, int]:
    return span.ended, span.end_ns, len(span.attributes)


def _is_whole(first: Span, then: Span) -> bool:
    """Returns True if a later export holds all of the first: it is an end beside an end or an announcement."""
    return bool(first.name and then.name) and (first.ended or "logfire.span_type" in first.attributes)


def _joined(first: Span, then: Span) -> Span:
    """Returns a span of two exports, one of them with the changes only."""
    held = first.given["resourceSpans"][0]
    parts = [one.given["resourceSpans"][0]["scopeSpans"][0]["spans"][0] for one in (first, then)]
    one: dict[str, Any] = {key: value for part in parts for key, value in part.items() if value not in (None, "", [])}
    written = [part["attributes"] for part in parts if part.get("attributes")]
    if all(isinstance(given, list) for given in written):
        pairs = {pair["key"]: pair for pair in chain(*written) if plain_attributes([pair])}
        one["attributes"] = list(pairs.values())
    else:  # of exporters that write an object
        one["attributes"] = {**first.attributes, **then.attributes}
    return spans_in({"resourceSpans": [{**held, "scopeSpans": [{"scope": {}, "spans": [one]}]}]})[0]
