"""The overview of a document: cards with figures, rows and links."""

from __future__ import annotations

from collections import Counter

import msgspec
import numpy as np

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.many_runs.run_tree import way_count
from inspector.analysis.views.model_context import ModelContext, Moment, Reader, Role, readers
from inspector.analysis.views.model_context.reported import Reported, reports_of
from inspector.analysis.views.steps.call_facts import KeptCalls
from inspector.analysis.views.waste import WasteTotals
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.engine.requests.account import tallied
from inspector.engine.requests.turns import steps_of
from inspector.filters.run_fields import outcomes_by_space
from inspector.present.many_runs import by_task, grow_tree
from inspector.present.overview.cards import Overview
from inspector.present.overview.facts import ContextSize, OverviewFacts, TaskTree, TaskTrees
from inspector.present.overview.overview import overview_of
from inspector.present.run_chains import ChainQuestion, read_chains
from inspector.present.wire_text import safe_line

_MOST_RESULTS = 3
_LEAST_RUNS, _MOST_TREES = 2, 3
_MOST_MESSAGES = 20_000
"""Messages of an evaluation whose runs are compared for its overview; `diff --many` has no limit."""


class ShowOverview(Request[Overview], frozen=True):
    """The overview.

    Attributes:
        waste: sums of avoidable tokens, if known.
        trees: also compares the runs of an evaluation of moderate size, which takes seconds.
    """

    waste: WasteTotals | None = None
    trees: bool = False


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


class _KeptTrees:
    """Trees of the runs.

    Attributes:
        found: the trees, of the first `count` messages.
    """

    def __init__(self) -> None:
        self.found: TaskTrees | None = None
        self.count = 0

    def note_changed(self, _changed: Rows) -> None:
        self.found = None


def overview_steps(held: OpenDocument, asked: ShowOverview) -> Steps[Overview]:
    """Computes the overview."""
    document = held.document
    tally = yield from tallied(held)
    calls = yield from held.kept(KeptCalls, lambda: KeptCalls(document.analysis)).facts()
    context = yield from _context_size(held)
    is_comparable = _is_comparable(held)
    trees = (yield from _trees(held)) if asked.trees and is_comparable else None
    found = overview_of(OverviewFacts(document, tally, steps_of(held), calls, context, asked.waste, trees))
    return msgspec.structs.replace(found, is_comparable=is_comparable)


def _is_comparable(held: OpenDocument) -> bool:
    """Returns True if a task of an evaluation has several runs, and they are not too large."""
    if len(held.document.analysis) > _MOST_MESSAGES:
        return False
    outcomes = outcomes_by_space(held.document.analysis).values()
    return max(Counter(str(one.get("task")) for one in outcomes).values(), default=0) >= _LEAST_RUNS


def _trees(held: OpenDocument) -> Steps[TaskTrees]:
    """Returns the trees of tasks whose runs differ in their outcome, then of others with most runs."""
    analysis, kept = held.document.analysis, held.kept(_KeptTrees, _KeptTrees)
    if kept.found is None or kept.count != len(analysis):
        count = len(analysis)
        chains = yield from read_chains(held.document, ChainQuestion())
        tasks = [(task, runs) for task, runs in by_task(chains) if len(runs) >= _LEAST_RUNS]
        tasks.sort(key=lambda one: (len({run.group for run in one[1]}) < _LEAST_RUNS, -len(one[1])))
        trees: list[TaskTree] = []
        for task, runs in tasks[:_MOST_TREES]:
            tree = yield from grow_tree(runs)
            trees.append(TaskTree(task or "", tree.groups, way_count(tree.keys.chains), tree.rows))
        kept.found, kept.count = TaskTrees(trees, len(tasks) - len(trees)), count
    return kept.found


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


QUERIES = (Query(ShowOverview, Overview, overview_steps),)
"""The first page about a document: what was asked, what came of it, time, context, changes, cost and problems."""
