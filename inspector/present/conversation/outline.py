"""The outline of a conversation: its cards in display order, as columns, without any decoded payload.

RULE: a step is a card, in the order of the log. A card that opened a context (a sub-agent, a span, a reasoning) is
followed by the steps of that context, one deeper: for sub-agents once they are unfolded, for others unless they are
folded. A proposal that asks for the permission of a call is on the card of that call. Outputs of models are no cards,
since their texts and calls are; spans of model calls are. Frames of a stream are one card at the first.

RULE of folds: calls and commands that only read or search (`tool_sorts`, `reading_commands`) and went well are quiet.
In a run of at least `QUIET_RUN` quiet calls, thoughts between them included, of one context and turn, the first call
stays and the others become one card. Records that a program wrote for itself become one card a run, and so do at least
`PRESENCE_RUN` messages in a row about participants who join or leave.

RULE of sub-sessions of MSP: their end is a card with its summary. In the scope of one, the message that opened it is a
fold of the messages of the parent chat from before it, and its end is the last card.

Messages without a step belong to the card of the message that they repeat, else to the card before them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.streams.stream_pass import NO_RUN
from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind, StepState, StepTable, given_tokens
from inspector.filters.scope import Reach, ScopeNodes
from inspector.present.conversation.cards import CardKind, CardRef
from inspector.present.conversation.permissions import permissions_of
from inspector.present.conversation.tool_sorts import sort_of_tool
from inspector.protocol import msp
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag

Rows = NDArray[np.int64]

QUIET_RUN = 4
"""Quiet calls of the shortest run that folds."""
PRESENCE_RUN = 3
"""Messages of the shortest run about presence that folds."""
PRESENCE_KINDS = ("system/join", "system/welcome", "system/presence")
_RECORD, _QUIET, _THOUGHT, _PRESENT = 1, 2, 3, 4
_MAX_DEPTH = 64
_NO_STEPS = np.zeros(0, np.int64)
_PEOPLE = ("user", "client")

_CARD_OF_STEP = {
    StepKind.PROMPT: CardKind.PROMPT, StepKind.ANSWER: CardKind.ANSWER, StepKind.THOUGHT: CardKind.THOUGHT,
    StepKind.CALL: CardKind.CALL, StepKind.SPAN: CardKind.GROUP, StepKind.MODEL: CardKind.OTHER,
    StepKind.COMPACTION: CardKind.COMPACTION, StepKind.RECORD: CardKind.RECORDS, StepKind.OTHER: CardKind.OTHER,
}  # fmt: skip


class Outline(msgspec.Struct, frozen=True):
    """Cards of a conversation in display order.

    Attributes:
        kinds: (n,) uint8, `CardKind`.
        messages, lasts: (n,) int64, first and last message; -1 without a second one. With `kinds` the references.
        steps: (n,) int64, first step in `StepTable`.
        turns: (n,) int64, index of the turn; -1 before the first.
        depths: (n,) uint8, nesting.
        states: (n,) uint8, `StepState`; of a fold NONE.
        counts: (n,) int64, steps that it folds, or that are directly below it.
        is_open: (n,) bool, True for a fold, sub-agent or group whose steps follow.
        sizes: (n,) int64, bytes of its text, an estimate of its height.
        nodes: (n,) int64, context that contains it, MAIN (-1) for the main one.
        opens: (n,) int64, context that it opened; -1 without one.
        contexts: (n,) int64, tokens of the context that the last output before it reports, of the same context; -1 if
            unknown.
        failures: (f,) int64, messages of failed steps in display order, folded ones too.
        items: (m,) int32, card of each message, of a hidden one the fold that contains it; -1 for other scopes and
            for records that are not shown.
        records: records that are not shown.
        unfolded: `unfolded` of the request with the folds that hid its `reveals`.
        is_partial: commands far from the place that was asked for are not read yet, so that reading ones do not fold.
    """

    kinds: NDArray[np.uint8]
    messages: Rows
    lasts: Rows
    steps: Rows
    turns: Rows
    depths: NDArray[np.uint8]
    states: NDArray[np.uint8]
    counts: Rows
    is_open: NDArray[np.bool_]
    sizes: Rows
    nodes: Rows
    opens: Rows
    contexts: Rows
    failures: Rows
    items: NDArray[np.int32]
    records: int
    unfolded: tuple[int, ...]
    is_partial: bool = False

    def __len__(self) -> int:
        return len(self.kinds)

    def ref(self, item: int) -> CardRef:
        """Returns the reference of a card."""
        return CardRef(int(self.kinds[item]), int(self.messages[item]), int(self.lasts[item]))

    def refs(self, first: int, stop: int) -> tuple[CardRef, ...]:
        """Returns the references of cards in a range."""
        rows = zip(
            self.kinds[first:stop].tolist(), self.messages[first:stop].tolist(), self.lasts[first:stop].tolist(),
            strict=True,
        )  # fmt: skip
        return tuple(CardRef(*row) for row in rows)


class OutlineOptions(msgspec.Struct, frozen=True):
    """Options of an outline.

    Attributes:
        scope: a context whose steps are shown alone, MAIN for the main one; None for all.
        reach: extent from that context.
        space: string id of the space whose steps are shown alone; None for all.
        unfolded: first messages of folds and sub-agents whose steps are shown.
        folded: first messages of groups whose steps are not shown.
        shows_records: shows records that programs wrote for themselves.
        folds_quiet: folds runs of quiet calls.
        unfolds_all: shows the steps of all folds, sub-agents and groups.
        reveals: messages whose folds are unfolded.
    """

    scope: int | None = None
    reach: Reach = Reach.BELOW
    space: int | None = None
    unfolded: tuple[int, ...] = ()
    folded: tuple[int, ...] = ()
    shows_records: bool = True
    folds_quiet: bool = True
    unfolds_all: bool = False
    reveals: tuple[int, ...] = ()


class _Items:
    """Columns of cards: kind, step, depth, count and whether it is open."""

    def __init__(self) -> None:
        self._parts: list[Rows] = []
        self._rows: list[tuple[int, int, int, int, bool]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, kind: int, step: int, depth: int, count: int, is_open: bool) -> None:
        """Adds a card."""
        self._rows.append((kind, step, depth, count, is_open))
        self._count += 1

    def add_run(self, kinds: NDArray[np.uint8], steps: Rows, depth: int) -> None:
        """Adds cards without steps below them."""
        self._end_rows()
        part = np.zeros((len(steps), 5), np.int64)
        part[:, 0], part[:, 1], part[:, 2] = kinds, steps, depth
        self._parts.append(part)
        self._count += len(steps)

    def _end_rows(self) -> None:
        if self._rows:
            self._parts.append(np.array(self._rows, np.int64))
            self._rows = []

    def columns(self) -> Rows:
        """(n, 5) int64."""
        self._end_rows()
        return np.concatenate(self._parts) if self._parts else np.zeros((0, 5), np.int64)


def _runs(steps: Rows, is_plain: NDArray[np.bool_]) -> Iterator[Rows]:
    """Yields siblings in order: plain ones in runs, others alone."""
    start = 0
    for at in np.flatnonzero(~is_plain[steps]).tolist():
        if at > start:
            yield steps[start:at]
        yield steps[at : at + 1]
        start = at + 1
    if start < len(steps):
        yield steps[start:]


def outline_of(
    analysis: Analysis, table: StepTable, options: OutlineOptions, reading: Rows = _NO_STEPS
) -> Outline:  # fmt: skip
    """Returns the outline. O(messages) in numpy, O(folds and contexts) in Python.

    Args:
        analysis: passes of the document.
        table: its steps.
        options: options.
        reading: messages of calls with commands that only read or search.
    """
    return _Builder(analysis, table, options, reading).build()


def inherited_steps(table: StepTable, opening: int) -> Rows:
    """Returns the texts of the context of a step from before it; all of them if its time is unknown."""
    stop = len(table) if table.starts_ns[opening] == NO_TIME else opening
    texts = (table.kinds[:stop] == StepKind.PROMPT) | (table.kinds[:stop] == StepKind.ANSWER)
    same = (table.nodes[:stop] == table.nodes[opening]) & (table.spaces[:stop] == table.spaces[opening])
    return np.flatnonzero(texts & same)


class _Builder:
    def __init__(
        self, analysis: Analysis, table: StepTable, options: OutlineOptions, reading: Rows
    ) -> None:  # fmt: skip
        self._analysis, self._table, self._options, self._reading = analysis, table, options, reading
        self._count = len(table.step_of)
        self._columns = analysis.capture.columns

    def build(self) -> Outline:
        table, options = self._table, self._options
        self._kinds = np.array([_CARD_OF_STEP[StepKind(code)] for code in range(len(StepKind))], np.uint8)[table.kinds]
        # A span of a model call has a message of its own; other outputs are shown by their texts and calls.
        shown = (table.kinds != StepKind.MODEL) | (table.step_of[table.rows] == np.arange(len(table)))
        self._inherited = np.zeros(len(table), np.bool_)
        self._joined = self._join_frames(shown)
        self._join_announcements(shown)
        self._join_permissions(shown)
        self._parents = self._parents_of_steps(shown)
        self._kinds[(self._kinds == CardKind.CALL) & self._are_notices()] = CardKind.OTHER
        self._kinds[(self._kinds == CardKind.CALL) & (table.opens != NO_NODE)] = CardKind.AGENT
        self._has_below = np.zeros(len(table), np.bool_)
        self._has_below[self._parents[shown & (self._parents >= 0)]] = True
        self._kinds[self._has_below & np.isin(self._kinds, [CardKind.OTHER])] = CardKind.GROUP
        self._kinds[self._are_of(msp.SUBSESSION_CLOSED) & (self._kinds == CardKind.OTHER)] = CardKind.END
        self._kinds[self._inherited & self._has_below] = CardKind.INHERITED
        folds = self._folds(shown)
        unfolded = set(options.unfolded)
        if options.reveals:
            unfolded |= self._hiding(folds)
        return self._collect(shown, folds, unfolded)

    def _are_notices(self) -> NDArray[np.bool_]:
        """(n,) bool: True for requests that expect no answer, and call no tool."""
        table = self._table
        tool = self._analysis.capture.strings.find("tools/call") or -1
        methods = np.asarray(self._analysis.correlation.columns["method"][table.rows])
        return (table.states == StepState.NONE) & (methods != tool) & (table.ends < 0)

    # Structure

    def _join_frames(self, shown: NDArray[np.bool_]) -> Rows:
        """Removes frames after the first of their stream from `shown`; returns the step that stands for each step."""
        table = self._table
        joined = np.arange(len(table))
        flags = self._columns["flags"][: self._count]
        frames = np.flatnonzero(shown & (flags[table.rows] & np.uint32(Flag.FRAME.value) != 0))
        if not len(frames):
            return joined
        runs = np.asarray(self._analysis.streams.columns["run"][table.rows[frames]]).astype(np.int64)
        frames, runs = frames[runs != NO_RUN], runs[runs != NO_RUN]
        # A stream with a known speaker is a text, whatever becomes of it.
        speaks = self._columns["sender"][table.rows[frames]] != 0
        people = [code for name in _PEOPLE if (code := self._analysis.capture.strings.find(name))]
        of_person = np.isin(self._columns["sender"][table.rows[frames]], people)
        plain = speaks & (self._kinds[frames] == CardKind.OTHER)
        self._kinds[frames[plain]] = np.where(of_person[plain], CardKind.PROMPT, CardKind.ANSWER)
        _, firsts, places = np.unique(runs, return_index=True, return_inverse=True)
        joined[frames] = frames[firsts][places]
        shown[frames[joined[frames] != frames]] = False
        return joined

    def _join_announcements(self, shown: NDArray[np.bool_]) -> None:
        """Joins the record that announces a compaction to the compaction that follows it."""
        table = self._table
        code = self._analysis.capture.strings.find("participant/compact") or -1
        ends = np.flatnonzero(table.kinds == StepKind.COMPACTION)
        ends = ends[table.rows[ends] > 0]
        begins = table.step_of[table.rows[ends] - 1]
        is_announced = (begins >= 0) & (self._columns["kind"][: self._count][table.rows[ends] - 1] == code)
        shown[begins[is_announced]] = False
        self._joined[begins[is_announced]] = ends[is_announced]

    def _join_permissions(self, shown: NDArray[np.bool_]) -> None:
        """Joins proposals that ask for the permission of a call, and their answers, to the call."""
        found = permissions_of(self._analysis, self._table)
        for steps, calls in ((found.proposals, found.calls), (found.answers, found.answered)):
            shown[steps] = False
            self._joined[steps] = calls

    def _parents_of_steps(self, shown: NDArray[np.bool_]) -> Rows:
        """(n,) int64, the step that opened the context of each step; -1 at the top or outside of the scope."""
        table = self._table
        tree = as_numpy(self._analysis.contexts.tree.parent).astype(np.int64)
        opener = np.full(len(tree) + 1, -1, np.int64)
        opening = np.flatnonzero(table.opens != NO_NODE)
        opener[table.opens[opening]] = opening
        known: dict[int, int] = {MAIN: -1}
        for node in np.unique(table.nodes).tolist():
            way = list[int]()
            at = node
            while at not in known and opener[at] < 0 and len(way) < 256:
                way.append(at)
                at = int(tree[at])
            found = known[at] if at in known else int(opener[at])
            known.update(dict.fromkeys((*way, at), found))
        nodes, places = np.unique(table.nodes, return_inverse=True)
        parents = np.array([known[node] for node in nodes.tolist()], np.int64)[places]
        if self._options.scope is not None or self._options.space is not None:
            parents = self._within(parents, shown)
        # The step that opened a context may stand in it.
        parents[parents == np.arange(len(parents))] = -1
        return parents

    def _within(self, parents: Rows, shown: NDArray[np.bool_]) -> Rows:
        """Removes steps outside of the scope from `shown`, and makes its own steps the topmost."""
        table, options = self._table, self._options
        inside = np.ones(len(table), np.bool_)
        if options.space is not None:
            inside &= table.spaces == options.space
        if options.scope == MAIN:
            inside &= table.nodes == MAIN
        elif options.scope is not None:
            inside &= ScopeNodes(self._analysis.contexts).node_mask(options.scope, options.reach)[table.nodes]
        above = self._above_subsession() if options.scope not in (None, MAIN) else None
        if above is not None:
            opening, end, texts = above
            inside[end] = True
            inside[opening] = inside[texts] = len(texts) > 0
            self._inherited[opening] = True
        shown &= inside
        kept = (parents >= 0) & inside[np.maximum(parents, 0)] & ~self._inherited[np.maximum(parents, 0)]
        parents = np.where(kept, parents, -1)
        if above is not None:
            parents[above[2]] = above[0]
        return parents

    def _above_subsession(self) -> tuple[int, Rows, Rows] | None:
        """Returns the opening, the end, and the texts of the parent before them, if the scope is a sub-session."""
        table, node = self._table, self._options.scope
        assert node is not None
        opening = np.flatnonzero((table.opens == node) & self._are_of(msp.SUBSESSION_OPENED))
        if not len(opening):
            return None
        first, end = int(opening[0]), int(self._analysis.contexts.sequences.first_end[node])
        ended = table.step_of[end : end + 1] if 0 <= end < self._count else _NO_STEPS
        return first, ended[ended >= 0], inherited_steps(table, first)

    def _are_of(self, kind: str) -> NDArray[np.bool_]:
        """(n,) bool: True for steps of messages of a kind."""
        code = self._analysis.capture.strings.find(kind) or -1
        return self._columns["kind"][: self._count][self._table.rows] == code

    # Folds

    def _folds(self, shown: NDArray[np.bool_]) -> Rows:
        """(n,) int64, the first step of the fold that contains each step; -1 for most."""
        table, options = self._table, self._options
        folds = np.full(len(table), -1, np.int64)
        steps = np.flatnonzero(shown)
        # Siblings beside one another, in the order of the log.
        steps = steps[np.argsort(self._parents[steps], kind="stable")]
        if not len(steps):
            return folds
        sorts = np.zeros(len(steps), np.uint8)
        sorts[self._kinds[steps] == CardKind.RECORDS] = _RECORD
        sorts[self._are_presence(steps)] = _PRESENT
        if options.folds_quiet:
            sorts[self._are_quiet(steps)] = _QUIET
            sorts[(self._kinds[steps] == CardKind.THOUGHT)] = _THOUGHT
        groups = np.where(sorts == _THOUGHT, _QUIET, sorts)
        changes = (np.diff(self._parents[steps], prepend=-9) != 0) | (np.diff(table.nodes[steps], prepend=-9) != 0)
        changes |= (groups == 0) | (np.diff(groups.astype(np.int8), prepend=-9) != 0)
        changes |= (np.diff(table.turns[steps], prepend=-9) != 0) & (groups == _QUIET)
        begins = np.flatnonzero(changes)
        ends = np.append(begins[1:], len(steps))
        foldable = (groups[begins] == _RECORD) | ((groups[begins] > 0) & (ends - begins >= PRESENCE_RUN))
        for begin, end in zip(begins[foldable].tolist(), ends[foldable].tolist(), strict=True):
            if groups[begin] != _QUIET:
                folds[steps[begin:end]] = steps[begin]
            elif end - begin >= QUIET_RUN:
                quiet = np.flatnonzero(sorts[begin:end] == _QUIET) + begin
                if len(quiet) >= QUIET_RUN:
                    # The first call stays in view, thoughts at the ends too.
                    folds[steps[quiet[0] + 1 : quiet[-1] + 1]] = steps[quiet[0] + 1]
        return folds

    def _are_presence(self, steps: Rows) -> NDArray[np.bool_]:
        strings = self._analysis.capture.strings
        codes = [code for name in PRESENCE_KINDS if (code := strings.find(name))]
        kinds = self._columns["kind"][: self._count][self._table.rows[steps]]
        return np.isin(kinds, codes) & (self._kinds[steps] == CardKind.OTHER)

    def _are_quiet(self, steps: Rows) -> NDArray[np.bool_]:
        table = self._table
        targets = np.asarray(self._analysis.correlation.columns["target"][table.rows[steps]])
        strings = self._analysis.capture.strings
        names, places = np.unique(targets, return_inverse=True)
        named = np.array([bool(code) and sort_of_tool(strings[code]) != "" for code in names.tolist()], np.bool_)
        quiet = named[places] | np.isin(table.rows[steps], self._reading)
        return quiet & (self._kinds[steps] == CardKind.CALL) & (table.states[steps] == StepState.OK)

    def _hiding(self, folds: Rows) -> set[int]:
        """Returns the first messages of the folds and sub-agents around revealed messages."""
        table, found = self._table, set[int]()
        for message in self._options.reveals:
            step = int(table.step_of[message]) if 0 <= message < self._count else -1
            for _ in range(_MAX_DEPTH):
                if step < 0:
                    break
                step = int(self._joined[step])
                if folds[step] >= 0:
                    found.add(int(table.rows[folds[step]]))
                step = int(self._parents[step])
                if step >= 0:
                    found.add(int(table.rows[step]))
        return found

    # Order

    def _collect(self, shown: NDArray[np.bool_], folds: Rows, unfolded: Collection[int]) -> Outline:
        table, options = self._table, self._options
        steps = np.flatnonzero(shown)
        by_parent = steps[np.argsort(self._parents[steps], kind="stable")]
        heads, begins = np.unique(self._parents[by_parent], return_index=True)
        ends = np.append(begins, len(by_parent))[1:]
        bounds = zip(heads.tolist(), begins.tolist(), ends.tolist(), strict=True)
        below = {head: by_parent[begin:end] for head, begin, end in bounds}
        kinds, rows = self._kinds, table.rows
        folded = set(options.folded)
        out = _Items()
        item_of_step = np.full(len(table), -1, np.int64)
        sizes_of_folds = np.bincount(folds[folds >= 0], minlength=len(table) + 1)
        seen = np.zeros(len(table), np.bool_)
        # Runs of steps that fold nothing and have none below them are taken at once.
        is_plain = (folds < 0) & ~self._has_below
        fold_items: dict[int, tuple[int, bool]] = {}
        hidden_records = 0

        def is_unfolded(step: int, kind: int) -> bool:
            message = int(rows[step])
            if kind == CardKind.GROUP:
                return options.unfolds_all or message not in folded
            return options.unfolds_all or message in unfolded

        def walk(top: Rows) -> None:
            nonlocal hidden_records
            stack = [(_runs(top, is_plain), 0)]
            while stack:
                runs_here, depth = stack[-1]
                run = next(runs_here, None)
                if run is None:
                    stack.pop()
                    continue
                step = int(run[0])
                if seen[step]:
                    continue
                seen[run] = True
                if is_plain[step]:
                    item_of_step[run] = np.arange(len(out), len(out) + len(run))
                    out.add_run(kinds[run], run, depth)
                    continue
                kind, fold = int(kinds[step]), int(folds[step])
                inner = depth
                if fold >= 0:
                    is_record = kind == CardKind.RECORDS
                    if is_record and not options.shows_records:
                        hidden_records += 1
                        continue
                    if fold not in fold_items:
                        sort = CardKind.RECORDS if is_record else CardKind.FOLD
                        opened = is_unfolded(fold, sort)
                        fold_items[fold] = len(out), opened
                        out.add(sort, fold, depth, int(sizes_of_folds[fold]), opened)
                    item, opened = fold_items[fold]
                    if not opened:
                        item_of_step[step] = item
                        continue
                    inner, kind = depth + 1, CardKind.OTHER if is_record else kind
                item_of_step[step] = len(out)
                children = below.get(step, _NO_STEPS)
                opened = bool(len(children)) and len(stack) < _MAX_DEPTH and is_unfolded(step, kind)
                out.add(kind, step, inner, len(children), opened)
                if opened:
                    stack.append((_runs(children, is_plain), inner + 1))

        walk(below.get(-1, _NO_STEPS))
        # Contexts that opened one another in a circle have no top.
        reached = seen | self._below(seen, below)
        for step in steps[~reached[steps]].tolist():
            if not seen[step]:
                walk(np.array([step]))
        return self._columns_of(out.columns(), folds, item_of_step, hidden_records, tuple(sorted(unfolded)))

    @staticmethod
    def _below(seen: NDArray[np.bool_], below: dict[int, Rows]) -> NDArray[np.bool_]:
        """(n,) bool: True for steps below others, at any depth."""
        found, todo = np.zeros(len(seen), np.bool_), [head for head in below if head >= 0 and seen[head]]
        while todo:
            steps = below[todo.pop()]
            todo += [step for step in steps[~found[steps]].tolist() if step in below]
            found[steps] = True
        return found

    def _columns_of(
        self, columns: Rows, folds: Rows, item_of_step: Rows, records: int, unfolded: tuple[int, ...]
    ) -> Outline:  # fmt: skip
        table = self._table
        kinds, steps = columns[:, 0], columns[:, 1]
        is_fold = (kinds == CardKind.FOLD) | (kinds == CardKind.RECORDS)
        messages, lasts = table.rows[steps], table.ends[steps].copy()
        members = np.flatnonzero(folds >= 0)
        last_step = np.full(len(table) + 1, -1, np.int64)
        np.maximum.at(last_step, folds[members], members)
        lasts[is_fold] = table.rows[last_step[steps[is_fold]]]
        sizes = self._columns["size"][: self._count][messages].astype(np.int64)
        lasts = self._with_streams(messages, lasts, sizes)
        lasts[lasts == messages] = -1
        states = table.states[steps].copy()
        states[is_fold] = StepState.NONE
        opens = np.where(is_fold, NO_NODE, table.opens[steps])
        items = self._items(item_of_step)
        return Outline(
            kinds.astype(np.uint8), messages, lasts, steps, table.turns[steps], columns[:, 2].astype(np.uint8), states,
            columns[:, 3], columns[:, 4].astype(np.bool_), sizes,
            table.nodes[steps], opens,
            self._reported_contexts(steps), self._failures(items), items, records, unfolded,
        )  # fmt: skip

    def _reported_contexts(self, steps: Rows) -> Rows:
        """(n,) int64, the reported context of the last output before each step of a card; -1 if unknown."""
        table = self._table
        outputs = np.flatnonzero((table.kinds == StepKind.MODEL) & (table.tokens[:, 0] >= 0))
        if not len(outputs):
            return np.full(len(steps), -1, np.int64)
        contexts = table.spaces * (int(table.nodes.max()) + 2) + table.nodes + 1
        _, place = np.unique(contexts, return_inverse=True)
        # Steps of a context are numbered together, so that one search finds the last output of the same one.
        order = place.astype(np.int64) * len(table)
        known = np.sort(order[outputs] + outputs)
        found = np.searchsorted(known, order[steps] + steps, side="right") - 1
        last = known[np.maximum(found, 0)]
        same = (found >= 0) & (last // len(table) == place[steps])
        return np.where(same, given_tokens(table.tokens[last % len(table)]), -1)

    def _failures(self, items: NDArray[np.int32]) -> Rows:
        """Returns the messages of failed steps by card."""
        table = self._table
        failed = np.flatnonzero((table.states == StepState.FAILED) & (table.kinds != StepKind.MODEL))
        messages = table.rows[failed]
        messages = messages[items[messages] >= 0]
        return messages[np.lexsort((messages, items[messages]))]

    def _with_streams(self, messages: Rows, lasts: Rows, sizes: Rows) -> Rows:
        """Sets the last frames and the sizes of streams."""
        flags = self._columns["flags"][: self._count][messages]
        frames = np.flatnonzero(flags & np.uint32(Flag.FRAME.value) != 0)
        if len(frames):
            streams = self._analysis.streams
            runs = np.asarray(streams.columns["run"][messages[frames]]).astype(np.int64)
            lasts[frames] = np.asarray(streams.runs["last"])[runs]
            sizes[frames] = np.asarray(streams.runs["bytes"])[runs]
        return lasts

    def _items(self, item_of_step: Rows) -> NDArray[np.int32]:
        """(m,) int32, the card of each message."""
        table = self._table
        # Steps of folded contexts belong to the card that opened them.
        for _ in range(_MAX_DEPTH):
            missing = np.flatnonzero((item_of_step < 0) & (self._parents >= 0))
            found = item_of_step[self._parents[missing]]
            if not np.any(found >= 0):
                break
            item_of_step[missing[found >= 0]] = found[found >= 0]
        item_of_step = item_of_step[self._joined]
        items = np.full(self._count, -1, np.int64)
        has_step = table.step_of >= 0
        items[has_step] = item_of_step[table.step_of[has_step]]
        rest = np.flatnonzero(~has_step)
        if len(rest):
            of = self._analysis.capture.repeated_messages(rest)[0].astype(np.int64)
            repeats = (of >= 0) & (of < self._count)
            items[rest[repeats]] = items[of[repeats]]
            lone = rest[items[rest] < 0]
            before = np.maximum.accumulate(np.where(items >= 0, np.arange(self._count), -1))
            items[lone] = np.where(before[lone] >= 0, items[np.maximum(before[lone], 0)], -1)
            # Messages before the first card.
            items[lone[(items[lone] < 0)]] = 0 if item_of_step.max(initial=-1) >= 0 else -1
        return items.astype(np.int32)
