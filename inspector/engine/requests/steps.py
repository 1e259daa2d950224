"""Steps of a document as rows with durations, tokens and costs, and the figures above them."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.account.compactions import compaction_rows
from inspector.analysis.views.account.tool_calls import calls_of
from inspector.analysis.views.model_context import readers
from inspector.analysis.views.model_context.context_owners import (
    Reader,
    ReaderChoice,
    displayed_reader,
    main_reader,
    named_reader,
)
from inspector.analysis.views.model_context.reported import NO_REPORTS, Reported, reports_of
from inspector.analysis.views.steps.critical_path import CriticalPath, critical_path
from inspector.analysis.views.steps.intervals import idle_gaps
from inspector.analysis.views.steps.step_columns import StepKind, StepState, StepTable
from inspector.analysis.views.steps.step_tree import Bar as Bar
from inspector.analysis.views.steps.step_tree import Grouping as Grouping
from inspector.analysis.views.steps.step_tree import RowKind as RowKind
from inspector.analysis.views.steps.step_tree import SortBy as SortBy
from inspector.analysis.views.steps.step_tree import StepTree, TreeFacts, step_tree
from inspector.analysis.views.steps.time_split import clipped, split_time
from inspector.analysis.views.timeline.scale import Break
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps, check_row_count
from inspector.engine.requests.turns import steps_of
from inspector.present.step_texts import PathShare, RangeFigures, StepText, StepTexts, path_sentence, range_sentence
from inspector.present.time_ranges import range_bounds
from inspector.present.wire_text import safe_line
from inspector.protocol.timestamps import NO_TIME

State = StepState

IDLE_S = 60
"""Default of the shortest idle time that the axis leaves out, in seconds."""
_LONGEST_WAIT = 10
"""A wait for a person is left out from this multiple of it on."""
_MAX_BREAKS = 200
_MOST_SHARES = 5
_BREAK_SHARE = 60
"""A break takes this fraction of the axis."""
_NONE: NDArray[np.int64] = np.zeros(0, np.int64)
_NO_BYTES: NDArray[np.uint8] = np.zeros(0, np.uint8)


class StepQuestion(msgspec.Struct, frozen=True):
    """Chooses and orders the rows.

    Attributes:
        view: the view whose filter and scope are respected; None for all messages.
        grouping: rows at the top. Turns sorted by anything else than their start are a list of all steps.
        sort_by: sort key of rows with the same row above them; largest first, but earliest first by start.
        reverse: the other order.
        idle_s: seconds of idle time from which on the axis leaves it out; 0 leaves nothing out.
    """

    view: int | None = None
    grouping: Grouping = "turn"
    sort_by: SortBy = "started"
    reverse: bool = False
    idle_s: int = IDLE_S


class Compaction(msgspec.Struct, frozen=True):
    """A compacted context.

    Attributes:
        message: its message.
        time_ns: when.
        before, after: reported tokens before and after it; None if unknown.
    """

    message: int
    time_ns: int
    before: int | None
    after: int | None


class StepHead(msgspec.Struct, frozen=True):
    """Figures of the shown steps.

    Attributes:
        steps: number of rows without groups.
        model_ns, tools_ns, person_ns, allowed_ns: nanoseconds, as in `TimeSplit`.
        calls, failed: tool calls, and those that failed.
        rejected: calls that a person did not allow, and rejected proposals of calls.
        model_calls, models: reported calls of models, and the number of different models.
        cached: tokens read from a cache.
        dollars: cost; None if unknown.
        first_ns, last_ns: range of the axis.
        breaks: idle times that the axis leaves out.
        curve_ns, curve_tokens: (r,) int64, times and reported tokens of the context of `reader`.
        reader: name of the participant whose context the curve shows; "" without reports.
        limit: reported limit of that context.
        compactions: of that context.
        failed_ns: (f,) int64, times of failed calls.
        path_ns: duration of the longest trace.
        path: steps with the most time on its critical path, most first.
        path_words: the same in a sentence.
        whole: the figures of all messages, if a filter or scope is in force.
        curve_ends_ns: time of the last message of `reader`, where the curve ends.
    """

    steps: int = 0
    model_ns: int = 0
    tools_ns: int = 0
    person_ns: int = 0
    allowed_ns: int = 0
    calls: int = 0
    failed: int = 0
    rejected: int = 0
    model_calls: int = 0
    models: int = 0
    cached: int = 0
    dollars: float | None = None
    first_ns: int = 0
    last_ns: int = 0
    breaks: tuple[Break, ...] = ()
    curve_ns: NDArray[np.int64] = _NONE
    curve_tokens: NDArray[np.int64] = _NONE
    reader: str = ""
    limit: int | None = None
    compactions: list[Compaction] = []
    failed_ns: NDArray[np.int64] = _NONE
    path_ns: int = 0
    path: list[PathShare] = []
    path_words: str = ""
    whole: StepHead | None = None
    curve_ends_ns: int = 0


class StepRows(msgspec.Struct, frozen=True):
    """Rows in display order, each followed by the rows below it. Arrays have the meaning of `StepTree`.

    Attributes:
        revision: names these rows in `DescribeSteps`.
        messages, last_messages: (n,) int64, first and last message of the row's step.
        path_rows, path_starts_ns, path_stops_ns: (s,) int64, sections of critical paths by row, ascending.
        wait_rows, wait_starts_ns, wait_stops_ns: (w,) int64, waits of calls for a permission by row, ascending.
    """

    revision: int = 0
    kinds: NDArray[np.uint8] = _NO_BYTES
    depths: NDArray[np.uint8] = _NO_BYTES
    ends: NDArray[np.int64] = _NONE
    counts: NDArray[np.int64] = _NONE
    states: NDArray[np.uint8] = _NO_BYTES
    bars: NDArray[np.uint8] = _NO_BYTES
    starts_ns: NDArray[np.int64] = _NONE
    stops_ns: NDArray[np.int64] = _NONE
    took_ns: NDArray[np.int64] = _NONE
    tokens: NDArray[np.int64] = _NONE
    dollars: NDArray[np.float64] = np.zeros(0)
    failed: NDArray[np.int64] = _NONE
    at_once: NDArray[np.int64] = _NONE
    messages: NDArray[np.int64] = _NONE
    last_messages: NDArray[np.int64] = _NONE
    path_rows: NDArray[np.int64] = _NONE
    path_starts_ns: NDArray[np.int64] = _NONE
    path_stops_ns: NDArray[np.int64] = _NONE
    wait_rows: NDArray[np.int64] = _NONE
    wait_starts_ns: NDArray[np.int64] = _NONE
    wait_stops_ns: NDArray[np.int64] = _NONE
    head: StepHead = StepHead()


class ListSteps(Request[StepRows], frozen=True):
    """All rows, and the figures above them."""

    is_urgent = True

    question: StepQuestion = StepQuestion()
    choice: ReaderChoice = ReaderChoice()


class DescribeSteps(Request[list[StepText]], frozen=True):
    """Texts of some rows; empty if the rows have changed since.

    Attributes:
        question: the question of the rows.
        revision: revision of the rows.
        rows: at most 1,000.
    """

    is_urgent = True

    question: StepQuestion
    revision: int
    rows: list[int]


class DescribeRange(Request[str], frozen=True):
    """A chosen range and the steps in it, in a sentence.

    Attributes:
        view: the view that shows its messages.
        condition: the condition of the range in the filter of the view.
    """

    view: int
    condition: str


_revisions = itertools.count(1)


class _KeptTree:
    """The rows of one question, made anew after each change."""

    def __init__(self) -> None:
        self.made_of: object = None
        self.revision = 0
        self.tree: StepTree | None = None
        self.texts: StepTexts | None = None

    def note_changed(self, _changed: Rows) -> None:
        self.made_of = None


class _KeptPath:
    """The critical paths of one step table."""

    def __init__(self) -> None:
        self.made_of: object = None
        self.path: CriticalPath | None = None

    def note_changed(self, _changed: Rows) -> None:
        self.made_of = None


def _path_of(held: OpenDocument, table: StepTable) -> CriticalPath:
    kept = held.kept(_KeptPath, _KeptPath)
    if kept.path is None or kept.made_of is not table:
        parents = as_numpy(held.document.analysis.contexts.tree.parent).astype(np.int64)
        kept.path, kept.made_of = critical_path(table, parents), table
    return kept.path


class _ReportsRead:
    """Statuses that were read for the context curve, by message."""

    def __init__(self) -> None:
        self.read: dict[int, Reported | None] = {}

    def note_changed(self, _changed: Rows) -> None:
        pass


def _kept_tree(held: OpenDocument, question: StepQuestion) -> tuple[_KeptTree, StepTree, StepTable]:
    kept, table = held.kept((_KeptTree, question), _KeptTree), steps_of(held)
    analysis, stop = held.document.analysis, len(table.step_of)
    shown, viewed = _shown(held, question, stop)
    made_of = id(table), stop, analysis.tokens.counted, viewed
    if kept.tree is None or kept.made_of != made_of:
        targets, methods = (analysis.correlation.columns[name][:stop].astype(np.int64) for name in ("target", "method"))
        facts = TreeFacts(
            np.where(targets != 0, targets, methods << 32),
            analysis.tokens.columns["tokens"][:stop].astype(np.int64),
            as_numpy(analysis.contexts.tree.parent).astype(np.int64), shown,
        )  # fmt: skip
        kept.tree = step_tree(table, facts, question.grouping, question.sort_by, reverse=question.reverse)
        kept.made_of, kept.revision = made_of, next(_revisions)
        kept.texts = StepTexts(held.document, table, kept.tree)
    return kept, kept.tree, table


def _shown(held: OpenDocument, question: StepQuestion, stop: int) -> tuple[NDArray[np.bool_] | None, object]:
    """Returns a mask of the messages that the view shows, None for all, and a value that changes with it."""
    if question.view is None:
        return None, None
    view = held.view(question.view)
    if not view.rows.is_filtered:
        return None, None
    mask, chosen = np.zeros(stop, np.bool_), view.rows.chosen
    mask[chosen[chosen < stop]] = True
    return mask, (view.revision, len(chosen))


def _list(held: OpenDocument, asked: ListSteps) -> Steps[StepRows]:
    steps_of(held)
    yield
    kept, tree, table = _kept_tree(held, asked.question)
    yield
    head, path = _head(held, asked, tree, table), _path_of(held, table)
    everything = msgspec.structs.replace(asked.question, view=None, grouping="step", sort_by="started", reverse=False)
    if _shown(held, asked.question, len(table.step_of))[0] is not None:
        yield
        whole = _head(held, ListSteps(everything, asked.choice), _kept_tree(held, everything)[1], table)
        head = msgspec.structs.replace(head, whole=whole)
    place_of = _places(tree, table)
    sections, waits = (_by_row(place_of, *one[:3]) for one in (path, table.approvals))
    if len(path.roots):
        # In words, a path is the whole one, whatever is shown.
        all_kept, all_rows, _ = _kept_tree(held, everything)
        words = _path_words(path, table, _places(all_rows, table), all_kept.texts)
        whole = None if head.whole is None else msgspec.structs.replace(head.whole, **words)
        head = msgspec.structs.replace(head, whole=whole, **words)
    return StepRows(
        kept.revision, tree.kinds, np.minimum(tree.depths, 255).astype(np.uint8), tree.ends, tree.counts, tree.states,
        tree.bars, tree.starts_ns, tree.stops_ns, tree.took_ns, tree.tokens, tree.dollars, tree.failed, tree.at_once,
        table.rows[tree.steps], table.ends[tree.steps],
        *sections, *waits, head,
    )  # fmt: skip


def _places(tree: StepTree, table: StepTable) -> NDArray[np.int64]:
    """(n,) int64, the row of each step; -1 for a hidden one."""
    place_of = np.full(len(table), -1, np.int64)
    own = np.flatnonzero(tree.kinds == RowKind.STEP)
    place_of[tree.steps[own]] = own
    return place_of


def _by_row(
    place_of: NDArray[np.int64], steps: NDArray[np.int64], starts_ns: NDArray[np.int64], stops_ns: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns the shown ones of some times of steps, and their rows, ascending."""
    places = place_of[steps]
    shown = np.flatnonzero(places >= 0)
    shown = shown[np.argsort(places[shown], kind="stable")]
    return places[shown], starts_ns[shown], stops_ns[shown]


def _path_words(
    path: CriticalPath, table: StepTable, place_of: NDArray[np.int64], texts: StepTexts | None
) -> dict[str, Any]:  # fmt: skip
    """Returns the figures of the longest trace for the head."""
    roots = np.unique(path.roots)
    root = int(roots[np.argmax(table.took_ns[roots])])
    inside = path.roots == root
    steps, which = np.unique(path.steps[inside], return_inverse=True)
    times = np.zeros(len(steps), np.int64)
    np.add.at(times, which.reshape(-1), (path.stops_ns - path.starts_ns)[inside])
    most = np.argsort(-times, kind="stable")[:_MOST_SHARES]
    shares: list[PathShare] = []
    for step, took in zip(steps[most].tolist(), times[most].tolist(), strict=True):
        place = int(place_of[step])
        name = texts.text_of(place).words if texts is not None and place >= 0 else ""
        shares.append(PathShare(int(table.rows[step]), name, took))
    whole = int(table.took_ns[root])
    words = path_sentence(shares, len(steps), whole, len(roots))
    return {"path_ns": whole, "path": shares, "path_words": words}


def _describe(held: OpenDocument, asked: DescribeSteps) -> list[StepText]:
    check_row_count(len(asked.rows))
    kept, tree, _ = _kept_tree(held, asked.question)
    if kept.revision != asked.revision or kept.texts is None:
        return []
    return [kept.texts.text_of(row) for row in asked.rows if 0 <= row < len(tree)]


def _describe_range(held: OpenDocument, asked: DescribeRange) -> Steps[str]:
    steps_of(held)
    yield
    _, tree, table = _kept_tree(held, StepQuestion(asked.view, "step"))
    yield
    steps, bounds = sorted_unique(tree.steps[tree.kinds == RowKind.STEP]), range_bounds(asked.condition)
    dollars = table.dollars[steps]
    figures = RangeFigures(
        None if bounds is None else bounds[1] - bounds[0], len(held.view(asked.view).rows.chosen), len(steps),
        split_time(table if bounds is None else clipped(table, *bounds), steps),
        int(np.maximum(table.tokens[steps, 1], 0).sum()),
        float(np.nansum(dollars)) if np.isfinite(dollars).any() else None, not table.calls_tools,
    )  # fmt: skip
    return range_sentence(figures)


# Figures above the rows


def _head(held: OpenDocument, asked: ListSteps, tree: StepTree, table: StepTable) -> StepHead:
    analysis, question = held.document.analysis, asked.question
    steps = sorted_unique(tree.steps[tree.kinds == RowKind.STEP])
    split = split_time(table, steps)
    called = calls_of(analysis)
    own = np.isin(called.rows, table.rows[steps[table.kinds[steps] == StepKind.CALL]])
    everything = _shown(held, question, len(table.step_of))[0] is None
    if everything:
        own[:] = True
    usage = analysis.usage
    models, reported = usage.calls_by_model(), usage.total()
    dollars = table.dollars[steps]
    cached = int(np.maximum(table.tokens[steps, 2], 0).sum())
    model_calls = int(np.count_nonzero(table.tokens[steps, 0] >= 0))
    first_ns, last_ns, breaks = _axis(tree, question.idle_s)
    curve = _curve(held, asked.choice)
    # A question for a permission is counted with its call.
    proposed = table.rows[steps[table.states[steps] == StepState.REJECTED]]
    proposed = proposed[~np.isin(proposed, called.rows)]
    is_call = analysis.correlation.columns["method"][proposed] == analysis.capture.strings.find("tools/call")
    rejected = int(np.count_nonzero(called.declined[own]) + np.count_nonzero(is_call))
    failing = np.flatnonzero((tree.states == StepState.FAILED) & (tree.kinds == RowKind.STEP))
    stops = np.where(tree.stops_ns[failing] == NO_TIME, tree.starts_ns[failing], tree.stops_ns[failing])
    return StepHead(
        len(steps), *split, int(np.count_nonzero(own)),
        int(np.count_nonzero(called.failed[own] & ~called.declined[own])), rejected,
        usage.call_count if everything else model_calls, len(models),
        (reported.cache_read if reported else 0) if everything else cached,
        float(np.nansum(dollars)) if np.isfinite(dollars).any() else None,
        first_ns, last_ns, breaks, curve.times, curve.tokens, curve.reader, curve.limit, curve.compactions,
        stops[stops != NO_TIME], curve_ends_ns=curve.ends_ns,
    )  # fmt: skip


def _axis(tree: StepTree, idle_s: int) -> tuple[int, int, tuple[Break, ...]]:
    """Returns first and last time of the rows, and the idle times between them."""
    starts = tree.starts_ns
    known = (starts != NO_TIME) & (tree.kinds != RowKind.JOINED) & (tree.kinds != RowKind.AGENT)
    known &= tree.kinds != RowKind.TOOL
    starts, stops = starts[known], np.maximum(tree.stops_ns[known], starts[known])
    stops = np.where(tree.kinds[known] == RowKind.TURN, starts, stops)
    if not len(starts):
        return 0, 0, ()
    first_ns, last_ns = int(starts.min()), int(stops.max())
    if not idle_s:
        return first_ns, last_ns, ()
    least = idle_s * 1_000_000_000
    waits = tree.bars[known] == Bar.PERSON
    long_wait = waits & (stops - starts >= least * _LONGEST_WAIT)
    stops = np.where(long_wait, starts, stops)
    starts, stops = np.append(starts, last_ns), np.append(stops, last_ns)
    gaps = idle_gaps(starts, stops, least)
    lengths = gaps[:, 1] - gaps[:, 0]
    if len(gaps) > _MAX_BREAKS:
        gaps = gaps[np.sort(np.argsort(-lengths, kind="stable")[:_MAX_BREAKS])]
        lengths = gaps[:, 1] - gaps[:, 0]
    rest = max(1, last_ns - first_ns - int(lengths.sum()))
    width = max(1, rest // max(_BREAK_SHARE, 4 * len(gaps)))
    return first_ns, last_ns, tuple(Break(begin, end, min(width, end - begin)) for begin, end in gaps.tolist())


def statuses_read(held: OpenDocument) -> dict[int, Reported | None]:
    """Returns the statuses of a document that were read before, by message."""
    return held.kept(_ReportsRead, _ReportsRead).read


class _Curve(NamedTuple):
    """Times and tokens of a reader's reports, its name and limit, its last time and its compactions."""

    times: NDArray[np.int64]
    tokens: NDArray[np.int64]
    reader: str
    limit: int | None
    ends_ns: int
    compactions: list[Compaction]


def _curve(
    held: OpenDocument, choice: ReaderChoice
) -> _Curve:  # fmt: skip
    """Returns the curve of the chosen reader, else of the main agent."""
    analysis = held.document.analysis
    known = readers(analysis)
    # A selected message moves no curve: an agent rather than its sub-agents, unless another one is chosen.
    chosen = displayed_reader(analysis, known, ReaderChoice(choice.chosen))
    reader = chosen if choice.chosen is not None else main_reader(known) or chosen
    found = reports_of(analysis, reader, statuses_read(held)) if reader is not None else NO_REPORTS
    times = analysis.capture.columns["time_ns"][found.messages].astype(np.int64)
    timed = times != NO_TIME
    order = np.argsort(times[timed], kind="stable")
    times, tokens = times[timed][order], np.asarray(found.tokens, np.int64)[timed][order]
    if reader is None or not len(order):
        return _Curve(times, tokens, "", found.limit, 0, [])
    ends_ns = max(_last_ns(analysis, reader), int(times[-1]))
    return _Curve(
        times, tokens, safe_line(reader.title), found.limit, ends_ns, _compactions(analysis, reader, times, tokens)
    )


def _last_ns(analysis: Analysis, reader: Reader) -> int:
    """Returns the time of the last message of a reader; 0 without one."""
    columns, stop = analysis.capture.columns, len(analysis)
    own = columns["sender"][:stop] == (analysis.capture.strings.find(reader.name or "") or 0)
    times = columns["time_ns"][:stop][own & (columns["space"][:stop] == reader.space)]
    return int(times[times != NO_TIME].max(initial=0))


def _compactions(
    analysis: Analysis, reader: Reader, times: NDArray[np.int64], tokens: NDArray[np.int64]
) -> list[Compaction]:  # fmt: skip
    """Returns the compactions of a reader's context."""
    capture, known = analysis.capture, readers(analysis)
    found: list[Compaction] = []
    for row in compaction_rows(capture, len(analysis)).tolist():
        time_ns = int(capture.columns["time_ns"][row])
        owner = named_reader(analysis, row, known)
        if owner is None:  # told by the program of the agent
            owner = main_reader(known, int(capture.columns["space"][row]))
        if time_ns == NO_TIME or owner != reader:
            continue
        place = int(np.searchsorted(times, time_ns, side="right"))
        before, after = (int(tokens[at]) if 0 <= at < len(tokens) else None for at in (place - 1, place))
        found.append(Compaction(row, time_ns, before, after))
    return found


QUERIES = (
    Query(ListSteps, StepRows, _list),
    Query(DescribeSteps, list[StepText], _describe),
    Query(DescribeRange, str, _describe_range),
)
