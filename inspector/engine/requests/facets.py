"""Facets of a table: values of a few fields with counts of messages."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from inspector.engine.kept_tally import KeptTally
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.filters.facets import FACETS, FacetTally, FacetValue, label_of
from inspector.filters.stacked_conditions import FilterStack
from inspector.filters.strings import quote
from inspector.filters.visible import Scope
from inspector.present.log_topics import spoken_kinds
from inspector.protocol.kinds import short_kind

_MOST, _MOST_OPENED = 8, 200
"""Limits of values of a facet, besides those that the filter names."""


class ShownValue(msgspec.Struct, frozen=True):
    """A value of a facet.

    Attributes:
        value: the value.
        label: the table's word for it; "" for the value itself.
        count: number of messages with the value.
        chosen, excluded: the filter requires or excludes it.
        filter: display filter for its messages.
    """

    value: str
    label: str
    count: int
    chosen: bool
    excluded: bool
    filter: str


class Facet(msgspec.Struct, frozen=True):
    """A field and its values.

    Attributes:
        field, label: the field and its name.
        values: the most frequent ones, and all that the filter names.
        more: number of further values.
    """

    field: str
    label: str
    values: list[ShownValue]
    more: int


class FacetCounts(msgspec.Struct, frozen=True):
    """Facets of a table.

    Attributes:
        facets: those with values, in display order.
        follows_clock: counts change without traffic.
    """

    facets: list[Facet]
    follows_clock: bool


class CountFacets(Request[FacetCounts], frozen=True):
    """Counts values of the messages that a table shows. A facet ignores conditions on its own field.

    Attributes:
        view: number of the view.
        stack, scope: the filter and the scope of the table.
        selected_context: the path of `$context`.
        opened: facets with more values.
    """

    view: int
    stack: FilterStack
    scope: Scope | None
    selected_context: str | None
    opened: tuple[str, ...] = ()


def _count(held: OpenDocument, asked: CountFacets) -> Steps[FacetCounts]:
    counting = held.kept(
        (FacetTally, asked.view), lambda: KeptTally(held, FacetTally(held.view(asked.view).rows))
    )  # fmt: skip
    counting.follow_document()
    tally = counting.tally
    tally.set_filter(asked.stack, asked.scope, lambda text: counting.compiled(text, asked.selected_context))
    while not tally.step():
        yield
    facets: list[Facet] = []
    for field in FACETS:
        values, more = tally.facet_values(field, _MOST_OPENED if field in asked.opened else _MOST)
        labels = spoken_kinds(held.document) if field == "kind" else {}
        if values:
            facets.append(Facet(field, label_of(field), [_shown(field, one, labels) for one in values], more))
    return FacetCounts(facets, tally.follows_clock)


def _shown(field: str, one: FacetValue, labels: Mapping[str, str]) -> ShownValue:
    # In a log whose kinds are displayed themselves there are no labels.
    label = labels.get(one.value) or (short_kind(one.value) if labels else "")
    return ShownValue(one.value, label, one.count, one.chosen, one.excluded, f"{field} == {quote(one.value)}")


QUERIES = (Query(CountFacets, FacetCounts, _count),)
