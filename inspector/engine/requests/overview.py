"""The overview of a document: cards with figures, rows and links."""

from __future__ import annotations

import numpy as np

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.model_context import ModelContext, Moment, Reader, Role, readers
from inspector.analysis.views.model_context.reported import Reported, reports_of
from inspector.analysis.views.steps.call_facts import KeptCalls
from inspector.analysis.views.waste import WasteTotals
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.engine.requests.account import tallied
from inspector.engine.requests.turns import steps_of
from inspector.present.overview.cards import Overview
from inspector.present.overview.facts import ContextSize, OverviewFacts
from inspector.present.overview.overview import overview_of
from inspector.present.wire_text import safe_line

_MOST_RESULTS = 3


class ShowOverview(Request[Overview], frozen=True):
    """The overview; `waste` are sums of avoidable tokens, if known."""

    waste: WasteTotals | None = None


class _KeptContext:
    """The context of the busiest model, to which new messages are added.

    Attributes:
        context: the context, after the first request.
        reports: reports by message.
    """

    def __init__(self) -> None:
        self.context: ModelContext | None = None
        self.made_of: tuple[object, ...] | None = None
        self.reports: dict[int, Reported | None] = {}

    def note_changed(self, _changed: Rows) -> None:
        pass


def overview_steps(held: OpenDocument, waste: WasteTotals | None = None) -> Steps[Overview]:
    """Computes the overview; `waste` are sums of avoidable tokens, if known."""
    document = held.document
    tally = yield from tallied(held)
    calls = yield from held.kept(KeptCalls, lambda: KeptCalls(document.analysis)).facts()
    context = yield from _context_size(held)
    return overview_of(OverviewFacts(document, tally, steps_of(held), calls, context, waste))


def _context_size(held: OpenDocument) -> Steps[ContextSize | None]:
    """Returns the reported context of the busiest model, if any."""
    analysis, kept = held.document.analysis, held.kept(_KeptContext, _KeptContext)
    reader = next(iter(readers(analysis)), None)
    if reader is None:
        return None
    found = reports_of(analysis, reader, kept.reports)
    if not len(found.tokens):
        return None
    yield
    outside, largest = None, list[tuple[int, int]]()
    if analysis.tokens.done:
        context = yield from _context_of(held, kept, reader)
        moment = context.moment_at(len(analysis) - 1)
        outside, largest = moment.outside(), _largest_results(moment)
    messages = _own_messages(held, reader, found.messages)
    return ContextSize(
        safe_line(reader.title, 60), tuple(messages.tolist()), tuple(found.tokens.tolist()), found.limit,
        outside, tuple(largest), analysis.tokens.done,
    )  # fmt: skip


def _own_messages(held: OpenDocument, reader: Reader, reports: Rows) -> Rows:
    """Returns the reports; in place of one that a program wrote, the last message of the reader before it."""
    columns, stop = held.document.capture.columns, len(held.document.analysis)
    own = columns["sender"][:stop] == (held.document.capture.strings.find(reader.name or "") or -1)
    rows = np.flatnonzero(own & (columns["space"][:stop] == reader.space))
    if not len(rows):
        return reports
    before = np.searchsorted(rows, reports, side="right") - 1
    return np.where(own[reports] | (before < 0), reports, rows[np.maximum(before, 0)])


def _context_of(held: OpenDocument, kept: _KeptContext, reader: Reader) -> Steps[ModelContext]:
    analysis = held.document.analysis
    made_of = (
        reader, len(analysis), analysis.tokens.counted, analysis.contexts.tree.version, analysis.transients.aliases
    )  # fmt: skip
    if kept.context is None or kept.made_of != made_of:
        before = kept.context if kept.context is not None and kept.context.reader == reader else None
        kept.context = yield from ModelContext.in_steps(analysis, reader, before=before)
        kept.made_of = made_of
        yield from kept.context.count_summaries()
    return kept.context


def _largest_results(moment: Moment) -> list[tuple[int, int]]:
    """Returns the largest results in a context: message and estimated tokens."""
    roles = moment.context.roles[moment.places]
    places = np.flatnonzero((roles == Role.TOOL) & moment.included & (moment.tokens > 0))
    order = places[np.argsort(-moment.tokens[places], kind="stable")][:_MOST_RESULTS]
    return [(int(moment.context.rows[place]), int(moment.tokens[place])) for place in order.tolist()]


QUERIES = (Query(ShowOverview, Overview, lambda held, asked: overview_steps(held, asked.waste)),)
"""The first page about a document: what was asked, what came of it, time, context, changes, cost and problems."""
