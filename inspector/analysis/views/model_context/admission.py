"""Decides which messages enter a participant's model context, with role and reason, by columns only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.model_context.context_owners import Options, Reader, codes_below
from inspector.analysis.views.model_context.reasons import Role, Why
from inspector.base.slices import SlicedWork
from inspector.formats import registry
from inspector.formats.model_vocabulary import SYSTEM
from inspector.formats.table import TRACE_NAMES
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW

Mask = NDArray[np.bool_]

"""Prefixes of kinds for notes of the program around a model in transcripts; the model never receives them."""
_NOTES = (Flag.GAP | Flag.LOG_ONLY).value


@dataclass(frozen=True, slots=True)
class SortedIn:
    """The messages of a reader's space.

    Attributes:
        rows: (k,) int64, message indices, ascending.
        roles, whys: (k,) uint8, `Role` and `Why`; a message with a role entered the context.
    """

    rows: NDArray[np.int64]
    roles: NDArray[np.uint8]
    whys: NDArray[np.uint8]


def sort_in(analysis: Analysis, reader: Reader, options: Options) -> SlicedWork[SortedIn]:
    """Decides for every message of the reader's space if it ever entered its context. O(messages), in numpy."""
    columns, stop = analysis.capture.columns, len(analysis)
    rows = np.flatnonzero(columns["space"][:stop] == reader.space)
    yield
    sorting = _Sorting(analysis, reader, rows, stop)
    yield
    sorting.find_asked()
    yield
    # In this order, as a later decision overrides an earlier one.
    for decide in _DECISIONS:
        decide(sorting, options)
        yield
    return SortedIn(rows, sorting.roles, sorting.whys)


class _Sorting:
    """Masks over the rows of one space, and the decisions so far; a later decision overrides an earlier one."""

    def __init__(self, analysis: Analysis, reader: Reader, rows: NDArray[np.int64], stop: int) -> None:
        capture, self.links = analysis.capture, analysis.correlation.columns
        self.analysis, self.rows, self._stop = analysis, rows, stop
        self.selection: slice | NDArray[np.int64] = (
            slice(0, stop) if len(rows) == stop else rows
        )  # a slice avoids a copy
        self.kind = capture.columns["kind"][self.selection]
        self.flags = capture.columns["flags"][self.selection]
        self.derived = self.flags & Flag.DERIVED.value != 0
        self._codes = codes_below(analysis, "")
        self.method = self.links["method"][self.selection]
        sender, to_set = capture.columns["sender"][self.selection], capture.columns["to_set"][self.selection]
        self.sender = sender
        named = capture.to_sets.sets_with_name(reader.name)
        self.to_all = to_set == 0
        if reader.name is None:  # no names: requests come from the client, responses from servers
            self.mine = (sender == 0) & (self.kind != self.code(kinds.RESPONSE))
            self.to_me = (sender == 0) & ~self.mine
        else:
            self.mine = sender == (capture.strings.find(reader.name) or -1)
            self.to_me = named[to_set]
        self.roles = np.zeros(len(rows), np.uint8)
        self.whys = np.zeros(len(rows), np.uint8)

    def find_asked(self) -> None:
        """Finds the messages that answer the reader's messages."""
        cause = self.cause = self.links["cause"][self.selection].astype(np.int64)
        cause[cause >= self._stop] = NO_ROW  # a request that came after its answer
        asked = self._asked = np.zeros(self._stop, np.bool_)
        asked[self.rows[self.mine]] = True
        of, copied = self.analysis.capture.repeated_messages(self.rows)
        again = np.flatnonzero(copied & (of != NO_ROW))
        asked[self.rows[again]] |= asked[of[again]]  # in a trace, the span of a tool repeats the call
        within = self.analysis.capture.repeated_within_representation(self.rows[again])[1]
        asked[of[again][~within & asked[self.rows[again]]]] = True  # another source reported the call first
        self.answers_me = (cause != NO_ROW) & asked[np.where(cause != NO_ROW, cause, 0)]

    def fulfils_mine(self) -> Mask:
        """Mask of answers to another sender's request that fulfils the reader's proposal."""
        links, kind = self.analysis.correlation.columns["cause"], self.analysis.capture.columns["kind"]
        known = np.flatnonzero((self.cause != NO_ROW) & ~self.answers_me)
        before = links[self.cause[known]].astype(np.int64)
        looked_at = (before != NO_ROW) & (before < self._stop)
        known, before = known[looked_at], before[looked_at]
        found = np.zeros(len(self.rows), np.bool_)
        found[known[self._asked[before] & (kind[before] == self.code(kinds.PROPOSAL))]] = True
        return found

    def repeated(self) -> Mask:
        """Mask of responses that repeat their call's first answer: same id and length."""
        columns, answers = self.analysis.capture.columns, self.analysis.correlation.columns["answer"]
        found = np.zeros(len(self.rows), np.bool_)
        known = np.flatnonzero((self.cause != NO_ROW) & (self.kind == self.code(kinds.RESPONSE)))
        first = answers[self.cause[known]].astype(np.int64)
        later = (first != NO_ROW) & (first < self.rows[known])
        known, first = known[later], first[later]
        rows = self.rows[known]
        same = columns["id_hash"][rows] == columns["id_hash"][first]
        same &= (columns["id_hash"][rows] != NO_HASH) & (columns["length"][rows] == columns["length"][first])
        found[known[same]] = True
        return found

    def code(self, text: str) -> int:
        """Returns the string id of a kind or method; -1 if it never occurs."""
        return self.analysis.capture.strings.find(text) or -1

    def are_of_kinds(self, *texts: str) -> Mask:
        """Mask of messages with one of these kinds."""
        return self._any_of([self.code(text) for text in texts])

    def have_prefix(self, prefix: str) -> Mask:
        """Mask of messages whose kind has a prefix."""
        return self._any_of([code for code in self._codes if self.analysis.capture.strings[code].startswith(prefix)])

    def _any_of(self, codes: list[int]) -> Mask:
        """Mask of messages with one of these kinds; comparisons are cheapest for few kinds."""
        found = np.zeros(len(self.kind), np.bool_)
        for code in codes:
            found |= self.kind == code
        return found

    def decide(self, where: Mask, role: Role, why: Why) -> None:
        """Sets role and reason of some messages."""
        np.copyto(self.roles, role.value, where=where)
        np.copyto(self.whys, why.value, where=where)


def _talk(at: _Sorting, _options: Options) -> None:
    """Decides on chat and unknown kinds: the reader's own, and those addressed to it or to all."""
    chat = at.are_of_kinds("chat")
    at.decide(at.mine & chat, Role.ASSISTANT, Why.SAID)
    at.decide(~at.mine & chat & (at.to_me | at.to_all), Role.USER, Why.TOLD)
    program = (
        at.have_prefix("system/")
        | at.have_prefix("participant/")
        | at.have_prefix("capability/")
        | at.have_prefix("space/")
    )
    program |= at.have_prefix("stream/") | at.are_of_kinds(
        "chat/acknowledge", "chat/cancel", "mcp/reject", "mcp/withdraw"
    )
    at.decide(program, Role.NONE, Why.PROGRAM)
    if at.derived.any():
        prompt = at.sender == at.code(SYSTEM)
        at.decide(at.derived & chat & at.to_me & prompt, Role.SYSTEM, Why.PROMPTED)
        at.decide(at.are_of_kinds("participant/compact-done") & at.mine & at.derived, Role.USER, Why.SUMMARY)
        for namespace in registry.groups().control:
            at.decide(at.derived & at.have_prefix(namespace), Role.NONE, Why.PROGRAM)
    verdict = at.are_of_kinds("mcp/reject", "mcp/withdraw") & ~at.mine & at.answers_me
    at.decide(verdict, Role.USER, Why.TOLD)


def _reasoning(at: _Sorting, options: Options) -> None:
    reasoning = at.have_prefix("reasoning/")
    own = Role.ASSISTANT if options.own_reasoning else Role.NONE
    others = Role.USER if options.others_reasoning else Role.NONE
    at.decide(reasoning & at.mine, own, Why.THOUGHT)
    at.decide(reasoning & ~at.mine, others, Why.OTHERS_THOUGHT)
    at.decide(at.are_of_kinds("reasoning/cancel") & at.derived & at.to_me, Role.USER, Why.TOLD)


def _calls(at: _Sorting, _options: Options) -> None:
    """Decides on calls and proposals."""
    request, response, proposal = (
        at.are_of_kinds(kinds.REQUEST),
        at.are_of_kinds(kinds.RESPONSE),
        at.are_of_kinds(kinds.PROPOSAL),
    )
    at.decide(request | response, Role.NONE, Why.PROGRAM)
    call = at.method == at.code("tools/call")
    at.decide(request & call & at.mine, Role.ASSISTANT, Why.CALLED)
    at.decide(proposal & at.mine, Role.ASSISTANT, Why.PROPOSED)
    at.decide(proposal & ~at.mine & (at.to_me | at.to_all), Role.USER, Why.ASKED)


def _answers(at: _Sorting, _options: Options) -> None:
    """Decides on results; of other MCP methods, only content that clients pass to their model."""
    response, proposal, call = (
        at.are_of_kinds(kinds.RESPONSE),
        at.are_of_kinds(kinds.PROPOSAL),
        at.method == at.code("tools/call"),
    )
    answer = response & ~at.mine & at.answers_me
    at.decide(answer & call, Role.TOOL, Why.ANSWERED)
    rounds = at.analysis.correlation.rounds
    ends = np.isin(at.rows, [row for row, first in rounds.begun.items() if _is_tool_call(at, first)])
    cancelled = [call.result for call in rounds.calls.values() if call.cancelled]
    at.decide(answer & ends & ~np.isin(at.rows, cancelled), Role.TOOL, Why.ANSWERED)
    if proposal.any():
        at.decide(response & ~at.mine & call & at.fulfils_mine(), Role.TOOL, Why.FULFILLED)
    given = np.isin(at.method, [at.code("resources/read"), at.code("prompts/get")])
    at.decide(answer & given, Role.USER, Why.GIVEN)
    listed = answer & (at.method == at.code("tools/list")) & (at.flags & Flag.ERROR.value == 0)
    at.decide(listed, Role.TOOLS, Why.DEFINED)
    _instructions(at, answer & (at.method == at.code("initialize")))
    at.decide(at.repeated(), Role.NONE, Why.REPEATED)
    interim = rounds.are_interim(at.rows)
    handles = at.analysis.capture.extracted.mcp_values("task", at.rows) != 0
    at.decide(interim & ~handles, Role.NONE, Why.ASKS_FOR_INPUT)
    at.decide(interim & handles, Role.NONE, Why.BECAME_TASK)
    at.decide(np.isin(at.rows, list(rounds.retries)), Role.NONE, Why.RETRIED)


def _is_tool_call(at: _Sorting, request: int) -> bool:
    return at.analysis.capture.strings[int(at.analysis.correlation.columns["method"][request])] == "tools/call"


def _instructions(at: _Sorting, answers: Mask) -> None:
    """Admits server instructions, which clients may add to the system prompt (MCP 2025-06-18, Lifecycle)."""
    for place in np.flatnonzero(answers).tolist():
        result = at.analysis.capture.records.payload(int(at.rows[place])).get("result")
        if isinstance(result, dict) and isinstance(result.get("instructions"), str):
            at.roles[place], at.whys[place] = Role.SYSTEM, Why.INSTRUCTED


def _others(at: _Sorting, options: Options) -> None:
    """Excludes messages addressed to others, and sub-contexts of others."""
    waited_for = at.answers_me | (at.whys == Why.FULFILLED)  # independent of its recipient
    heard = (at.roles != Role.NONE) & ~at.mine & ~waited_for & ~at.to_me
    nodes = at.analysis.contexts.nodes_of(at.selection)
    elsewhere = heard & (nodes != MAIN) & (at.rows < _taken_part_from(at, nodes))
    # The option about others' reasoning decides on these.
    elsewhere &= at.whys != Why.OTHERS_THOUGHT
    if not options.others_reasoning:
        at.decide(elsewhere, Role.NONE, Why.ELSEWHERE)
    foreign = ~at.mine & ~at.to_me & ~at.to_all & ~waited_for & (at.whys != Why.OTHERS_THOUGHT)
    at.decide(foreign, Role.NONE, Why.FOR_OTHERS)
    if at.derived.any():
        _of_transcripts(at, nodes)


def _of_transcripts(at: _Sorting, nodes: NDArray[np.int64]) -> None:
    """Keeps one context per agent in a transcript; another agent's messages arrive as the result of a call."""
    own = nodes[at.mine & at.derived]
    if len(own):
        found, counts = np.unique(own, return_counts=True)
        elsewhere = at.derived & (nodes != found[np.argmax(counts)]) & (at.roles != Role.NONE)
        traced = are_any_of(at.analysis.capture.columns["protocol"][at.selection], map(at.code, TRACE_NAMES))
        elsewhere &= ~(traced & (at.mine | at.to_me | at.answers_me))  # each model call is a separate span
        at.decide(elsewhere, Role.NONE, Why.ELSEWHERE)
    inherited = at.flags & Flag.INHERITED.value != 0
    at.decide(at.analysis.capture.repeated_within_representation(at.rows)[1] & ~inherited, Role.NONE, Why.COPIED)
    np.copyto(at.whys, Why.INHERITED.value, where=inherited & (at.roles != Role.NONE))


def _taken_part_from(at: _Sorting, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns, by message, the first one of its context by or for the reader.

    Earlier messages of the context are not repeated to the reader, and later ones do not change earlier moments.
    """
    never = np.iinfo(np.int64).max
    taking_part = (at.mine | at.to_me) & (nodes != MAIN)
    first = np.full(int(nodes.max(initial=0)) + 1, never)
    np.minimum.at(first, nodes[taking_part], at.rows[taking_part])
    return np.where(nodes == MAIN, -1, first[np.maximum(nodes, 0)])


def _unreadable(at: _Sorting, _options: Options) -> None:
    at.decide(at.are_of_kinds(kinds.FRAME) | (at.flags & Flag.FRAME.value != 0), Role.NONE, Why.FRAME)
    at.decide(at.flags & Flag.UNREADABLE.value != 0, Role.NONE, Why.UNREADABLE)
    at.decide(at.flags & _NOTES != 0, Role.NONE, Why.NOTE)


_DECISIONS: tuple[Callable[[_Sorting, Options], None], ...] = (
    _talk, _reasoning, _calls, _answers, _others, _unreadable,
)  # fmt: skip
