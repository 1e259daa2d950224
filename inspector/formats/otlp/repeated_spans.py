"""Joins repeated exports and updates of a span; keeps other spans with its id apart."""

from __future__ import annotations

from itertools import chain
from typing import Any

import msgspec

from inspector.formats.otlp.spans import Span, spans_in

_MOST_SPANS = 1 << 18
"""Limit of spans that are remembered for later exports."""
_MOST_NAMESAKES = 64
"""Limit of different spans with one id; later ones count as updates of the last."""


class _Export(msgspec.Struct):
    """The most complete export of a span so far.

    Attributes:
        span: the span.
        batch: number of the batch with this export.
        place: its place in the batch.
    """

    span: Span
    batch: int
    place: int

    def is_same(self, other: Span) -> bool:
        """Returns True for another export of the span: equal, pending, or only the changes since its beginning."""
        own = self.span
        if not own.name or not other.name:
            return True
        told = own.name == other.name, own.start_ns == other.start_ns
        return all(told) if own.ended and other.ended else any(told)


class SpanIds:
    """Remembers the spans of a file or stream by their ids."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], list[_Export]] = {}
        self._batch = 0

    def distinct(self, spans: list[Span]) -> list[Span]:
        """Returns a batch without repeated exports; further spans with one id get numbers."""
        self._batch += 1
        kept: list[Span | None] = list(spans)
        for place, span in enumerate(spans):
            if span.is_log or not span.identifier:
                continue
            exports = self._known.setdefault((span.trace, span.identifier), [])
            earlier = next((one for one in exports if one.is_same(span)), None)
            if earlier is None and len(exports) < _MOST_NAMESAKES:
                kept[place] = numbered(span, len(exports))
                exports.append(_Export(span, self._batch, place))
            else:
                kept[place] = self._update(earlier or exports[-1], span, place, kept)
        while len(self._known) > _MOST_SPANS:
            del self._known[next(iter(self._known))]
        return [span for span in kept if span is not None]

    def _update(self, earlier: _Export, span: Span, place: int, kept: list[Span | None]) -> Span | None:
        """Returns the span if this export adds to it, and removes an earlier one of the same batch."""
        before = earlier.span
        joined = span if span.name and before.name else _joined(before, span)
        if _rank(joined) <= _rank(before):
            return None
        is_here = earlier.batch == self._batch
        if is_here:
            kept[earlier.place] = None
        joined.has_begun = before.has_begun or not is_here
        earlier.span, earlier.batch, earlier.place = joined, self._batch, place
        return numbered(joined, before.number)


def numbered(span: Span, number: int) -> Span:
    """Returns a span under an id of its own if `number` other spans have its id."""
    return (
        msgspec.structs.replace(span, identifier=f"{span.identifier}#{number + 1}", number=number) if number else span
    )


def _rank(span: Span) -> tuple[bool, int, int]:
    return span.ended, span.end_ns, len(span.attributes)


def _joined(first: Span, then: Span) -> Span:
    """Returns a span of two exports, one of them with the changes only."""
    held = first.given["resourceSpans"][0]
    parts = [one.given["resourceSpans"][0]["scopeSpans"][0]["spans"][0] for one in (first, then)]
    one: dict[str, Any] = {key: value for part in parts for key, value in part.items() if value not in (None, "", [])}
    attributes = {**first.attributes, **then.attributes}
    pairs = {pair["key"]: pair for pair in chain(*(part.get("attributes") or [] for part in parts))}
    one["attributes"] = [pairs[key] for key in attributes if key in pairs]
    return spans_in({"resourceSpans": [{**held, "scopeSpans": [{"scope": {}, "spans": [one]}]}]})[0]
