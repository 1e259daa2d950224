"""Derives the steps of a document from columns: prompts, outputs of models, calls with their answers, compactions.

A turn begins with a prompt in a conversation that no agent started, and lasts until the next one there. Steps of a
sub-agent belong to the turn of the call that started it. No payload is read.

RULE: a compaction between an output and its last input lasts from the input to its message; the output begins there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.tokens.reported_usage import USAGE_KINDS
from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.bookkeeping_rows import are_bookkeeping
from inspector.analysis.views.account.compactions import compaction_rows
from inspector.analysis.views.account.tool_calls import calls_of
from inspector.analysis.views.latency.latency import latency_ms, model_times
from inspector.analysis.views.model_outputs import ASKERS, model_outputs
from inspector.analysis.views.steps.approvals import (
    NO_APPROVALS,
    Approvals,
    approvals_within,
    are_allowed,
    decision_times,
    proposal_answers,
)
from inspector.analysis.views.steps.notices import notice_rows
from inspector.analysis.views.steps.step_columns import NO_NODE, Rows, StepKind, StepState, StepTable
from inspector.formats import registry
from inspector.formats.table import AGENT_TOOLS, MODEL_OPERATIONS, REQUEST_KINDS, SPAN_KINDS, TRACE_NAMES
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW


def step_table(analysis: Analysis) -> StepTable:
    """Returns the steps of a document as it is now. O(messages) in numpy, O(steps) in Python."""
    return _Builder(analysis).build()


class _Outputs(NamedTuple):
    """Outputs of models: (n,) first and last message of each, its times, NO_TIME if unknown, and its requests."""

    firsts: Rows
    lasts: Rows
    starts_ns: Rows
    stops_ns: Rows
    attempts: Rows


class _Builder:
    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._capture = analysis.capture
        self._columns = analysis.capture.columns
        self._stop = len(analysis)
        self._node = np.asarray(analysis.contexts.nodes_of(slice(0, self._stop))).astype(np.int64)

    def _codes(self, *names: str) -> list[int]:
        return [code for name in names if (code := self._capture.strings.find(name))]

    def build(self) -> StepTable:
        stop, columns = self._stop, self._columns
        kind, sender = columns["kind"][:stop], columns["sender"][:stop]
        every = np.arange(stop)
        steps = np.full(stop, StepKind.OTHER.value, np.int16)
        people = self._people()
        said = np.isin(kind, self._codes("chat"))
        steps[said] = np.where(np.isin(sender[said], people), StepKind.PROMPT, StepKind.ANSWER)
        programs = self._codes(*registry.groups().programs)
        by_program = columns["flags"][:stop] & np.uint32(Flag.BY_PROGRAM.value) != 0
        steps[said & (np.isin(sender, programs) | by_program)] = StepKind.RECORD
        steps[np.isin(kind, self._codes("reasoning/thought"))] = StepKind.THOUGHT
        steps[np.isin(kind, self._codes(*SPAN_KINDS))] = StepKind.SPAN
        steps[are_bookkeeping(self._capture, every)] = StepKind.RECORD
        steps[np.isin(kind, self._codes("participant/compact-done"))] = -1
        steps[compaction_rows(self._capture, stop)] = StepKind.COMPACTION
        calls = calls_of(self._analysis)
        requests = np.isin(kind, self._codes(kinds.REQUEST, kinds.PROPOSAL))
        steps[requests] = StepKind.CALL
        steps[notice_rows(self._capture, np.flatnonzero(requests))] = StepKind.OTHER
        # A retry belongs to the step of its call.
        retries = np.array([row for row in self._analysis.correlation.rounds.retries if row < stop], np.int64)
        steps[retries] = StepKind.OTHER
        answered = np.zeros(stop, np.bool_)
        ends = np.full(stop, NO_ROW, np.int64)
        links = self._analysis.correlation.columns
        asked = np.flatnonzero(requests)
        ends[asked] = links["answer"][asked]
        ends[calls.rows] = calls.answers
        answered_proposals, answers = proposal_answers(
            self._capture, links["cause"][:stop], links["proposal_state"][:stop]
        )
        ends[answered_proposals] = answers
        ends[ends >= stop] = NO_ROW
        answered[ends[ends != NO_ROW]] = True
        steps[answered & np.isin(kind, self._codes(kinds.RESPONSE))] = -1
        # Repeated messages are shown where they stood first.
        self._copies = self._capture.repeated_messages(every)[1]
        steps[self._copies] = -1
        reported = self._reported_outputs(steps, links["cause"][:stop])
        self._mark_requests_of_models(steps, ends)
        rows = np.flatnonzero(steps >= 0)
        self._calls = calls
        return self._with_outputs(rows, steps[rows].astype(np.uint8), ends[rows], reported)

    def _questions(
        self, rows: Rows, sorts: NDArray[np.uint8], ends: Rows, starts: Rows, stops: Rows
    ) -> tuple[Rows, Rows]:  # fmt: skip
        """Returns answered proposals that name a call, and the calls. Sets the times of their answers in `stops`."""
        none = np.zeros(0, np.int64)
        is_proposal = self._columns["kind"][rows] == (self._capture.strings.find(kinds.PROPOSAL) or -1)
        asked = np.flatnonzero((sorts == StepKind.CALL) & is_proposal & (starts != NO_TIME) & (ends != NO_ROW))
        if not len(asked):
            return none, none
        stops[asked] = decision_times(self._capture, ends[asked])
        asked = asked[stops[asked] != NO_TIME]
        called = self._analysis.correlation.columns["cause"][rows[asked]].astype(np.int64)
        asked, called = asked[called != NO_ROW], called[called != NO_ROW]
        calls = self._own_steps(rows, sorts)[np.minimum(called, self._stop - 1)]
        fits = (calls >= 0) & (sorts[calls] == StepKind.CALL) & (ends[calls] != NO_ROW)
        fits &= (starts[calls] != NO_TIME) & (stops[calls] != NO_TIME)
        return asked[fits], calls[fits]

    @staticmethod
    def _set_declined_times(
        asked: Rows, calls: Rows, starts: Rows, stops: Rows, of_person: NDArray[np.bool_]
    ) -> None:  # fmt: skip
        """Limits declined calls to the time from their first question to the last decision."""
        asked, calls = asked[of_person[calls]], calls[of_person[calls]]
        starts[calls], stops[calls] = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        np.minimum.at(starts, calls, starts[asked])
        np.maximum.at(stops, calls, stops[asked])

    def _set_times_after_decision(
        self, asked: Rows, calls: Rows, ends: Rows, starts: Rows, stops: Rows, of_person: NDArray[np.bool_]
    ) -> None:  # fmt: skip
        """Moves calls with a tool's own duration behind their last decision, at most to their answer."""
        own = (self._capture.extracted.tool_durations_ns(ends[calls]) >= 0) & ~of_person[calls]
        asked, calls = asked[own], calls[own]
        decided = starts.copy()
        np.maximum.at(decided, calls, stops[asked])
        calls = np.unique(calls)
        answered = self._columns["time_ns"][ends[calls]].astype(np.int64)
        later = np.maximum(np.minimum(decided[calls] - starts[calls], answered - stops[calls]), 0)
        starts[calls] += later
        stops[calls] += later

    def _approvals(
        self, asked: Rows, calls: Rows, ends: Rows, starts: Rows, stops: Rows, of_person: NDArray[np.bool_]
    ) -> Approvals:  # fmt: skip
        """Returns the waits of calls that were allowed. A tool's own duration has no wait in it."""
        asked, calls = asked[~of_person[calls]], calls[~of_person[calls]]
        if not len(asked):
            return NO_APPROVALS
        own = self._capture.extracted.tool_durations_ns(ends[calls]) < 0
        asked, calls = asked[own], calls[own]
        return approvals_within(calls, starts[asked], stops[asked], starts[calls], stops[calls])

    def _allowed(
        self, rows: Rows, sorts: NDArray[np.uint8], ends: Rows, starts: Rows, stops: Rows
    ) -> NDArray[np.bool_]:  # fmt: skip
        found = np.zeros(len(rows), np.bool_)
        calls = np.flatnonzero((sorts == StepKind.CALL) & (starts != NO_TIME) & (stops != NO_TIME))
        targets = self._analysis.correlation.columns["target"][rows[calls]]
        sessions = self._codes(*registry.groups().agents)
        found[calls] = are_allowed(self._capture, targets, ends[calls], stops[calls] - starts[calls], sessions)
        return found

    def _people(self) -> list[int]:
        return self._codes(*ASKERS)

    def _with_outputs(self, rows: Rows, sorts: NDArray[np.uint8], ends: Rows, reported: _Outputs) -> StepTable:
        spoken = self._outputs(rows)
        firsts, lasts, begun, ended, tries = (
            np.append(one, other) for one, other in zip(spoken, reported, strict=True)
        )
        order = np.argsort(firsts, kind="stable")
        firsts, lasts = firsts[order], lasts[order]
        where = np.searchsorted(rows, firsts)
        # An output stands before its first message.
        all_rows = np.insert(rows, where, firsts)
        all_sorts = np.insert(sorts, where, StepKind.MODEL)
        all_ends = np.insert(ends, where, lasts)
        places = where + np.arange(len(where))
        times = self._columns["time_ns"][: self._stop]
        starts = times[all_rows].astype(np.int64)
        stops = np.where(all_ends == NO_ROW, NO_TIME, times[np.maximum(all_ends, 0)]).astype(np.int64)
        starts[places], stops[places] = begun[order], ended[order]
        compacted = np.flatnonzero((all_sorts == StepKind.COMPACTION) & np.isin(all_rows, [*self._compacted]))
        stops[compacted] = starts[compacted]
        starts[compacted] = [self._compacted[row] for row in all_rows[compacted].tolist()]
        is_output = np.zeros(len(all_rows), np.bool_)
        is_output[places] = True
        attempts = np.where(all_sorts == StepKind.MODEL, self._attempts(all_rows), 1)
        attempts[places] = tries[order]
        of_person = self._of_person(all_rows, all_sorts, all_ends)
        stops = self._tool_times(all_rows, all_sorts, all_ends, starts, stops, of_person)
        self._set_span_times(all_rows, np.flatnonzero(~is_output), all_sorts, starts, stops)
        asked, called = self._questions(all_rows, all_sorts, all_ends, starts, stops)
        self._set_declined_times(asked, called, starts, stops, of_person)
        self._set_times_after_decision(asked, called, all_ends, starts, stops, of_person)
        approvals = self._approvals(asked, called, all_ends, starts, stops, of_person)
        allowed = self._allowed(all_rows, all_sorts, all_ends, starts, stops) & ~of_person
        allowed[approvals.steps] = False
        nodes, spaces = self._node[all_rows], self._columns["space"][all_rows].astype(np.int64)
        opens = self._opened(all_rows, is_output, all_sorts, nodes)
        all_sorts[self._tasks(all_rows, all_sorts, nodes, opens)] = StepKind.PROMPT
        turns, prompts = self._turns(all_rows, all_sorts, nodes, spaces, opens)
        step_of = np.full(self._stop, -1, np.int64)
        own = np.flatnonzero(~is_output)
        ended = own[(all_ends[own] != NO_ROW)]
        step_of[all_ends[ended]] = ended
        step_of[all_rows[own]] = own  # an answer that asks again is a step too
        tokens, dollars = self._usage(all_rows, all_sorts, all_ends)
        return StepTable(
            all_sorts, self._states(all_rows, all_sorts), all_rows, all_ends, turns, nodes,
            spaces, opens, starts, stops, self._are_requests(all_rows, all_sorts), of_person, approvals, allowed,
            attempts, tokens, dollars, prompts, step_of,
        )  # fmt: skip

    # Outputs of models

    def _outputs(self, rows: Rows) -> _Outputs:
        """Returns the outputs in sessions of agents. Each begins with its last input, a prompt or a result."""
        before, firsts, lasts = model_outputs(self._capture, ~self._copies)
        shown = np.isin(firsts, rows)
        firsts, lasts, before = firsts[shown], lasts[shown], before[shown]
        times = self._columns["time_ns"]
        once = np.ones(len(firsts), np.int64)
        starts = times[before].astype(np.int64)
        self._compacted = self._compactions(before, firsts, starts)
        requested = np.isin(self._columns["kind"][: self._stop], self._codes(*REQUEST_KINDS))
        places, last = self._rows_between(before, firsts, np.flatnonzero(requested))
        starts[places] = np.maximum(starts[places], times[last])
        return _Outputs(firsts, lasts, starts, times[lasts].astype(np.int64), once)

    def _compactions(self, before: Rows, firsts: Rows, starts: Rows) -> dict[int, int]:
        """Returns the starts of compactions before outputs, by their message, and moves the outputs behind them."""
        found = dict[int, int]()
        places, last = self._rows_between(before, firsts, compaction_rows(self._capture, self._stop))
        for place, row in zip(places.tolist(), last.tolist(), strict=True):
            ended = int(self._columns["time_ns"][row])
            if NO_TIME != starts[place] < ended:
                found[row], starts[place] = int(starts[place]), ended
        return found

    def _rows_between(self, before: Rows, firsts: Rows, rows: Rows) -> tuple[Rows, Rows]:
        """Returns the outputs with such rows between them and their last input, and the last such row of each."""
        if not len(rows) or not len(firsts):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        last = rows[np.maximum(np.searchsorted(rows, firsts) - 1, 0)]
        inside = (last > before) & (last < firsts) & (self._columns["time_ns"][last] != NO_TIME)
        for name in ("space", "context"):
            inside &= self._columns[name][last] == self._columns[name][firsts]
        places = np.flatnonzero(inside)
        return places, last[places]

    def _reported_outputs(self, steps: NDArray[np.int16], causes: Rows) -> _Outputs:
        """Returns the outputs of model calls that traces and recorded APIs report, with their own durations.

        Their requests are no calls then. A span of a model call without content is an output itself.
        """
        stop, columns = self._stop, self._columns
        none = np.zeros(0, np.int64)
        self._counted = np.zeros(stop, np.bool_)
        if not len(self._analysis.usage.columns):
            return _Outputs(none, none, none, none, none)
        took, _ = model_times(self._analysis, slice(0, stop))
        counted = np.flatnonzero(self._analysis.usage.are_counted(np.arange(stop)))
        protocols = columns["protocol"][:stop]
        counted = counted[~np.isin(protocols[counted], self._codes(*registry.groups().agents))]
        traced = np.isin(protocols[counted], self._codes(*TRACE_NAMES))
        counted = counted[(traced | self._capture.are_on_wire(counted)) & ~self._copies[counted]]
        spans = steps[counted] == StepKind.SPAN
        steps[counted[spans & np.isfinite(took[counted])]] = StepKind.MODEL
        counted = counted[~spans]
        if not len(counted):
            return _Outputs(none, none, none, none, none)
        asked = causes[counted]
        asked = asked[(asked != NO_ROW) & (steps[np.maximum(asked, 0)] == StepKind.CALL)]
        steps[asked[self._capture.are_on_wire(asked)]] = -1
        self._counted[counted] = True
        firsts, lasts = self._said_together(counted, steps)
        times = columns["time_ns"][counted].astype(np.int64)
        lengths = np.where(np.isfinite(took[counted]), took[counted] * 1e6, -1)
        timed = (times != NO_TIME) & (lengths >= 0)
        starts = np.where(timed, times - np.where(timed, lengths, 0).astype(np.int64), NO_TIME)
        begun = self._analysis.correlation.rounds.begun_by(counted, counted)
        return _Outputs(firsts, lasts, starts, np.where(timed, times, NO_TIME), self._attempts(begun))

    def _attempts(self, rows: Rows) -> Rows:
        """(n,) number of requests of the calls that begin with these messages; 1 for others."""
        found, calls = np.ones(len(rows), np.int64), self._analysis.correlation.rounds.calls
        for place in np.flatnonzero(np.isin(rows, list(calls))).tolist() if calls else ():
            found[place] += len(calls[int(rows[place])].requests)
        return found

    def _mark_requests_of_models(self, steps: NDArray[np.int16], ends: Rows) -> None:
        """Marks requests to the API of a model as outputs if their answers report no tokens.

        Several attempts at one call are one output: it begins with the first and ends as the last one does.
        """
        rounds, methods = self._analysis.correlation.rounds, self._analysis.correlation.columns["method"]
        asked = np.flatnonzero(steps == StepKind.CALL)
        asked = asked[np.isin(methods[asked], self._codes(*MODEL_OPERATIONS)) & self._capture.are_on_wire(asked)]
        steps[asked] = StepKind.MODEL
        for first, call in rounds.calls.items():
            attempts = [row for row in call.requests if row < self._stop]
            if first < self._stop and attempts and steps[first] == StepKind.MODEL:
                steps[attempts] = -1
                ends[first] = ends[attempts[-1]]
                # The last attempt has an output with reported tokens.
                if call.result != NO_ROW and self._counted[call.result]:
                    steps[first] = -1

    def _said_together(self, reported: Rows, steps: NDArray[np.int16]) -> tuple[Rows, Rows]:
        """Returns the first and last message of each output: those of one sender in a context at one time."""
        columns = self._columns
        said = np.flatnonzero(np.isin(steps, (StepKind.ANSWER, StepKind.THOUGHT, StepKind.CALL)))
        rows = np.unique(np.append(said, reported))
        keys = np.stack((
            columns["space"][rows].astype(np.int64), self._node[rows], columns["sender"][rows].astype(np.int64),
            columns["time_ns"][rows].astype(np.int64),
        ))  # fmt: skip
        order = np.lexsort(keys)
        begins = np.append(True, (np.diff(keys[:, order], axis=1) != 0).any(axis=0))
        group = np.empty(len(rows), np.int64)
        group[order] = np.cumsum(begins) - 1
        first, last = np.full(len(rows), np.iinfo(np.int64).max), np.zeros(len(rows), np.int64)
        np.minimum.at(first, group, rows)
        np.maximum.at(last, group, rows)
        own = group[np.searchsorted(rows, reported)]
        return first[own], last[own]

    # Values

    def _are_requests(self, rows: Rows, sorts: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """(n,) bool: True for requests of a protocol that call no tool."""
        methods = self._analysis.correlation.columns["method"][rows]
        found = (sorts == StepKind.CALL) & np.isin(self._columns["kind"][rows], self._codes(kinds.REQUEST))
        return found & (methods != 0) & ~np.isin(methods, self._codes("tools/call"))

    def _of_person(self, rows: Rows, sorts: NDArray[np.uint8], ends: Rows) -> NDArray[np.bool_]:
        targets = self._codes(*AGENT_TOOLS.person_tools)
        flags = self._columns["flags"][np.maximum(ends, 0)]
        declined = (ends != NO_ROW) & (flags & np.uint32(Flag.DECLINED.value) != 0)
        asked = np.isin(self._analysis.correlation.columns["target"][rows], targets)
        asked |= (self._columns["kind"][rows] == (self._capture.strings.find(kinds.PROPOSAL) or -1)) & (ends != NO_ROW)
        return (sorts == StepKind.CALL) & (declined | asked)

    def _tool_times(
        self, rows: Rows, sorts: NDArray[np.uint8], ends: Rows, starts: Rows, stops: Rows, of_person: NDArray[np.bool_]
    ) -> Rows:  # fmt: skip
        """Replaces the ends of calls whose tool told its own duration."""
        told = np.flatnonzero((sorts == StepKind.CALL) & (ends != NO_ROW) & ~of_person & (starts != NO_TIME))
        took = latency_ms(self._analysis, ends[told]) if len(told) else np.zeros(0)
        # The answer to a poll of a task may end the task's call, and tells the time of that.
        polls = np.isin(rows[told], list(self._analysis.correlation.rounds.first))
        told, took = told[~polls], took[~polls]
        known = np.isfinite(took) & (took >= 0)
        stops[told[~known]] = NO_TIME
        stops[told[known]] = starts[told[known]] + (took[known] * 1e6).astype(np.int64)
        return stops

    def _set_span_times(self, rows: Rows, own: Rows, sorts: NDArray[np.uint8], starts: Rows, stops: Rows) -> None:
        """Sets the ends of spans, and of model calls without content, by their own durations."""
        spans = own[np.isin(sorts[own], (StepKind.SPAN, StepKind.MODEL)) & (starts[own] != NO_TIME)]
        if len(spans):
            took = self._capture.extracted.tool_durations_ns(rows[spans])
            # A request to the API of a model ends with its answer.
            stops[spans] = np.where(took >= 0, starts[spans] + took, stops[spans])

    def _opened(self, rows: Rows, is_output: NDArray[np.bool_], sorts: NDArray[np.uint8], nodes: Rows) -> Rows:
        """Returns the node that each step started: that of a call's sub-agent, or of a span with steps below it."""
        opens = np.full(len(rows), NO_NODE, np.int64)
        contexts = self._analysis.contexts
        own = np.flatnonzero(~is_output)
        own_rows = rows[own]

        def step_at(row: int) -> int | None:
            place = int(np.searchsorted(own_rows, row))
            return int(own[place]) if place < len(own) and own_rows[place] == row else None

        started = as_numpy(contexts.started_by).astype(np.int64)
        begun = np.flatnonzero(started >= 0)
        # A repeated message began the context where it stood first.
        of = self._capture.repeated_messages(started[begun])[0]
        by_node = dict(zip(begun.tolist(), np.where(of >= 0, of, started[begun]).tolist(), strict=True))
        for agent in self._capture.transcripts.agents.values():
            for row in self._capture.ids.rows_anywhere(agent.call) if agent.call is not None else ():
                node = contexts.tree.find(int(self._columns["space"][row]), agent.context)
                place = step_at(row)
                if node != MAIN and place is not None and sorts[place] == StepKind.CALL:
                    by_node[node] = row
                    break
        for node, row in by_node.items():
            place = step_at(row)
            if place is not None and nodes[place] != node:
                opens[place] = node
        return opens

    def _tasks(self, rows: Rows, sorts: NDArray[np.uint8], nodes: Rows, opens: Rows) -> Rows:
        """Returns the first text in each context of a sub-agent, which is its task."""
        called = set(opens[(sorts == StepKind.CALL) & (opens != NO_NODE)].tolist())
        first = dict[int, int]()
        for place in np.flatnonzero(np.isin(nodes, list(called)) & (sorts != StepKind.MODEL)).tolist():
            first.setdefault(int(nodes[place]), place)
        tasks = np.array([place for place in first.values() if sorts[place] == StepKind.ANSWER], np.int64)
        # Without a record of its task, the first text is the sub-agent's own.
        own = self._codes(*(agent.name for agent in self._capture.transcripts.agents.values() if agent.name))
        is_own = self._analysis.usage.are_counted(rows[tasks]) | np.isin(self._columns["sender"][rows[tasks]], own)
        return tasks[~is_own]

    def _turns(
        self, rows: Rows, sorts: NDArray[np.uint8], nodes: Rows, spaces: Rows, opens: Rows
    ) -> tuple[Rows, Rows]:  # fmt: skip
        """Returns the turn of each step, and the step of each turn's prompt."""
        parent = as_numpy(self._analysis.contexts.tree.parent).astype(np.int64)
        opening = np.flatnonzero(opens != NO_NODE)
        opener = dict(zip(opens[opening].tolist(), opening.tolist(), strict=True))
        roots = self._trace_roots(
            nodes, opens, parent, np.isin(self._columns["protocol"][rows], self._codes(*TRACE_NAMES))
        )
        begun = self._begun_by(nodes, parent, opener)
        begun[(roots != MAIN) | (begun >= np.arange(len(rows)))] = -1
        # Agents in a trace are asked in its own words again: only its first prompt begins a turn.
        opening = (sorts == StepKind.PROMPT) & (begun < 0) & self._are_top(nodes, parent, opener, roots)
        opening &= ~self._are_further_parts(rows, sorts, spaces << 32 | nodes + 1)
        traced = np.flatnonzero(opening & (roots != MAIN))
        opening[traced] = False
        opening[traced[np.unique(roots[traced], return_index=True)[1]]] = True
        prompts = np.flatnonzero(opening)
        turns = self._last_in_space(np.where(opening, np.cumsum(opening) - 1, -1), spaces)
        of_root = np.full(len(parent) + 1, -1, np.int64)
        first = prompts[roots[prompts] != MAIN]
        of_root[roots[first]] = turns[first]
        turns[roots != MAIN] = of_root[roots[roots != MAIN]]
        waiting = np.flatnonzero(begun >= 0)
        for _ in range(256):
            if not len(waiting):
                break
            ready = ~np.isin(begun[waiting], waiting)
            turns[waiting[ready]] = turns[begun[waiting[ready]]]
            waiting = waiting[~ready]
        return turns, prompts

    def _are_further_parts(self, rows: Rows, sorts: NDArray[np.uint8], conversations: Rows) -> NDArray[np.bool_]:
        """(n,) bool: True for prompts that follow another one in the same record: an image, a file, more text."""
        speaking = np.flatnonzero(~np.isin(sorts, (StepKind.RECORD, StepKind.OTHER)))
        order = speaking[np.argsort(conversations[speaking], kind="stable")]
        before, after = order[:-1], order[1:]
        same = (sorts[before] == StepKind.PROMPT) & (sorts[after] == StepKind.PROMPT)
        same &= conversations[before] == conversations[after]
        for name in ("source", "offset"):
            column = self._columns[name]
            same &= column[rows[before]] == column[rows[after]]
        found = np.zeros(len(rows), np.bool_)
        found[after[same]] = True
        return found

    def _begun_by(self, nodes: Rows, parent: Rows, opener: dict[int, int]) -> Rows:
        """(n,) the step that began the context around each step, or a context around that; -1 without one."""
        known, place = np.unique(nodes, return_inverse=True)
        found = [self._opener_of(node, parent, opener) for node in known.tolist()]
        return np.array([-1 if one is None else one for one in found], np.int64)[place.reshape(-1)]

    def _are_top(self, nodes: Rows, parent: Rows, opener: dict[int, int], roots: Rows) -> NDArray[np.bool_]:
        """(n,) bool: True outside of sub-agents, and anywhere in a trace."""
        return (self._begun_by(nodes, parent, opener) < 0) | (roots != MAIN)

    @staticmethod
    def _last_in_space(turns: Rows, spaces: Rows) -> Rows:
        """(n,) the last turn of the same space up to each step; -1 before the first."""
        order = np.argsort(spaces, kind="stable")
        ranks = np.cumsum(np.diff(spaces[order], prepend=spaces[order][:1]) != 0)
        width = len(turns) + 2
        latest = np.maximum.accumulate(ranks * width + turns[order] + 1)
        found = np.empty(len(turns), np.int64)
        found[order] = latest % width - 1
        return found

    @staticmethod
    def _trace_roots(nodes: Rows, opens: Rows, parent: Rows, traced: NDArray[np.bool_]) -> Rows:
        """(n,) the outermost context of each step of a trace, that of the step that opened it included; else MAIN."""
        roots = np.where(traced, np.where(nodes != MAIN, nodes, opens), MAIN)
        for _ in range(256):
            inside = np.flatnonzero(roots != MAIN)
            above = parent[roots[inside]]
            moving = above != MAIN
            if not moving.any():
                break
            roots[inside[moving]] = above[moving]
        return roots

    @staticmethod
    def _opener_of(node: int, parent: Rows, opener: dict[int, int]) -> int | None:
        for _ in range(256):
            if node == MAIN or node < 0:
                return None
            if node in opener:
                return opener[node]
            node = int(parent[node])
        return None

    def _states(self, rows: Rows, sorts: NDArray[np.uint8]) -> NDArray[np.uint8]:
        states = np.zeros(len(rows), np.uint8)
        failed = self._columns["flags"][rows] & np.uint32(Flag.ERROR.value) != 0
        states[failed] = StepState.FAILED
        methods = self._analysis.correlation.columns["method"][rows]
        of_models = (sorts == StepKind.MODEL) & np.isin(methods, self._codes(*MODEL_OPERATIONS))
        of_models &= self._columns["kind"][rows] == (self._capture.strings.find(kinds.REQUEST) or -1)
        asked = np.flatnonzero((sorts == StepKind.CALL) | of_models)
        found = self._analysis.states.states_at(rows[asked]) if len(asked) else np.zeros(0, np.uint8)
        of = np.zeros(len(MessageState), np.uint8)
        of[MessageState.ANSWERED] = of[MessageState.FULFILLED] = StepState.OK
        of[MessageState.FAILED] = StepState.FAILED
        of[MessageState.REJECTED] = StepState.REJECTED
        of[MessageState.WAITING] = StepState.WAITING
        of[MessageState.UNANSWERED] = StepState.UNANSWERED
        of[MessageState.CANCELLED] = of[MessageState.WITHDRAWN] = StepState.CANCELLED
        states[asked] = of[found]
        # As everywhere where calls are counted: a status over HTTP is no answer of the server.
        calls = self._calls
        counted = np.isin(rows[asked], calls.rows)
        states[asked[counted & (states[asked] == StepState.FAILED)]] = StepState.UNANSWERED
        states[asked[np.isin(rows[asked], calls.rows[calls.failed])]] = StepState.FAILED
        states[asked[np.isin(rows[asked], calls.rows[calls.declined])]] = StepState.REJECTED
        return states

    def _usage(self, rows: Rows, sorts: NDArray[np.uint8], ends: Rows) -> tuple[Rows, NDArray[np.float64]]:
        """Returns reported tokens and dollars of each step: those of its own message, and of an output's messages."""
        tokens = np.full((len(rows), len(USAGE_KINDS)), -1, np.int64)
        dollars = np.full(len(rows), np.nan)
        usage = self._analysis.usage.columns
        if not len(usage):
            return tokens, dollars
        counted = usage["counts"][:] != 0
        reported = usage["message"][:][counted].astype(np.int64)
        values = np.stack([usage[name][:][counted].astype(np.int64) for name in USAGE_KINDS], axis=1)
        costs = self._analysis.costs.dollars_at(reported)
        return self._share_usage(rows, sorts, reported, values, costs, tokens, dollars)

    def _share_usage(
        self, rows: Rows, sorts: NDArray[np.uint8], reported: Rows, values: Rows, costs: NDArray[np.float64],
        tokens: Rows, dollars: NDArray[np.float64],
    ) -> tuple[Rows, NDArray[np.float64]]:  # fmt: skip
        steps = self._steps_of_reports(rows, sorts, reported)
        found = steps >= 0
        steps, values, costs = steps[found], values[found], costs[found]
        tokens[steps] = np.maximum(tokens[steps], 0)
        np.add.at(tokens, steps, values)
        priced = np.isfinite(costs)
        dollars[steps[priced]] = np.nan_to_num(dollars[steps[priced]])
        np.add.at(dollars, steps[priced], costs[priced])
        return tokens, dollars

    def _steps_of_reports(self, rows: Rows, sorts: NDArray[np.uint8], reported: Rows) -> Rows:
        """Returns the step of each report: its span, else the last output before it, its own step, the next output."""
        own = self._own_steps(rows, sorts)[reported]
        outputs = np.flatnonzero(sorts == StepKind.MODEL)
        if not len(outputs):
            return own
        both = np.append(rows[outputs], reported)
        conversation = self._columns["space"][both].astype(np.int64) << 32 | self._node[both] + 1
        ranks = np.unique(conversation, return_inverse=True)[1].reshape(-1).astype(np.int64)
        keys = ranks * (self._stop + 1) + both
        order = np.argsort(keys[: len(outputs)], kind="stable")
        next_place = np.searchsorted(keys[order], keys[len(outputs) :], side="right")
        asked = ranks[len(outputs) :]

        def output_at(places: Rows) -> Rows:
            near = order[np.clip(places, 0, len(order) - 1)]
            inside = (places >= 0) & (places < len(order)) & (ranks[near] == asked)
            return np.where(inside, outputs[near], -1)

        found = output_at(next_place - 1)
        found = np.where(found >= 0, found, own)
        found = np.where(found >= 0, found, output_at(next_place))
        return np.where((own >= 0) & (sorts[own] == StepKind.SPAN), own, found)

    def _own_steps(self, rows: Rows, sorts: NDArray[np.uint8]) -> Rows:
        """(m,) the step of each message that is no output; -1 without one."""
        found = np.full(self._stop, -1, np.int64)
        own = np.flatnonzero(sorts != StepKind.MODEL)
        found[rows[own]] = own
        return found
