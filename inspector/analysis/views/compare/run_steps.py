"""Reads the steps of a run that are compared, each with hashes of its content. Each message is read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.views.compare.ignored import Ignored
from inspector.analysis.views.compare.sequences import Features
from inspector.analysis.views.steps.step_columns import StepKind, StepTable
from inspector.analysis.views.steps.step_table import step_table
from inspector.analysis.views.steps.step_tree import outputs_of
from inspector.base.slices import SlicedWork
from inspector.formats.model_vocabulary import SYSTEM
from inspector.protocol import kinds
from inspector.protocol.mcp_definitions import definitions_of
from inspector.protocol.message_text import CARRIED_KEYS
from inspector.protocol.payloads.outline import nested_value
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW, hash_values
from inspector.store.messages.batch_decoding import read_in_batches
from inspector.tokens.counted_text import counted_text

Array = NDArray[np.int64]

_PER_STEP = 256
_SPOKEN = (StepKind.PROMPT, StepKind.ANSWER, StepKind.THOUGHT)
_COMPARED = (*_SPOKEN, StepKind.CALL, StepKind.SPAN, StepKind.COMPACTION)
_VERDICTS = ("mcp/reject", "mcp/withdraw")
_REASONING = "reasoning/"
_UNCOUNTED_METHODS = frozenset((
    "ping", "notifications/progress", "notifications/message", "notifications/initialized", "notifications/cancelled",
))  # fmt: skip
"""Methods whose messages depend on time, or on nothing."""
_FORGET = "participant/forget"
_LISTS = "tools/list"
_DECIDED = ("tools/call", "resources/read", "prompts/get")
"""Methods that a model decides on."""
_HANDSHAKES = ("initialize", "server/discover")
_MEMBERS = 4


@dataclass(slots=True)
class RunSteps:
    """Compared steps of a run, in reading order.

    Attributes:
        analysis, table: its passes and steps.
        steps: (n,) int64, steps of the table.
        kinds: (n,) uint8, `StepKind`.
        rows, ends: (n,) int64, first message, and the answer of a call; NO_ROW without one.
        acts: (n,) int64, hash of kind, tool and arguments, or of the text.
        groups: (n,) int64, hash of kind and tool.
        members: (n, 4) int64, hashes of the first arguments by name; 0 without one.
        results: (n,) int64, hash of the result; 0 without one.
        senders: (n,) int64, string id.
        models: (n,) int64, string id of the model that acted; 0 if unknown.
        outputs: (n,) int64, the MODEL step that contains it; -1 for others.
        is_system: (n,) bool, texts of a system prompt.
        lists: (n,) bool, calls that list tools.
        acting: (n,) bool, acts of agents: texts, thoughts, proposals, calls of tools; no prompts or program's requests.
    """

    analysis: Analysis
    table: StepTable
    steps: Array
    kinds: NDArray[np.uint8]
    rows: Array
    ends: Array
    acts: Array
    groups: Array
    members: Array
    results: Array
    senders: Array
    models: Array
    outputs: Array
    is_system: NDArray[np.bool_]
    lists: NDArray[np.bool_]
    acting: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def conversations(self) -> Array:
        """(n,) int64, equal for steps of one space and context."""
        return self.table.spaces[self.steps] << 32 | self.table.nodes[self.steps] + 1

    @property
    def ends_turn(self) -> NDArray[np.bool_]:
        """(n,) bool, answers after which the same participant neither calls nor thinks in its conversation."""
        found, conversations = self.kinds == StepKind.ANSWER, self.conversations
        order = np.argsort(conversations, kind="stable")
        before, after = order[:-1], order[1:]
        goes_on = (conversations[before] == conversations[after]) & (self.senders[before] == self.senders[after])
        found[before[goes_on & np.isin(self.kinds[after], (StepKind.CALL, StepKind.THOUGHT))]] = False
        return found

    @property
    def is_cut(self) -> bool:
        """True if the log ends in the middle of a turn, or in a line that is not readable."""
        stop = len(self.analysis)
        if not len(self):
            return False
        is_broken = int(self.analysis.capture.columns["flags"][stop - 1]) & Flag.UNREADABLE.value != 0
        return is_broken or not self.ends_turn[-1]

    @property
    def open_at_end(self) -> NDArray[np.bool_]:
        """(n,) bool, calls without an answer in the output with which the log ends."""
        found = np.zeros(len(self), np.bool_)
        if self.is_cut:
            outputs = self.outputs
            last = outputs == outputs[-1] if outputs[-1] >= 0 else np.arange(len(self)) == len(self) - 1
            found = last & (self.kinds == StepKind.CALL) & (self.ends == NO_ROW)
        return found

    @property
    def features(self) -> Features:
        """Values of the steps by which they are aligned."""
        return Features(self.acts, self.groups, self.members)

    @property
    def states(self) -> NDArray[np.uint8]:
        """(n,) uint8, `StepState`."""
        return self.table.states[self.steps]

    @property
    def opens(self) -> Array:
        """(n,) int64, context that each step started; NO_NODE."""
        return self.table.opens[self.steps]


def called(payload: Mapping[str, Any], ignored: Ignored) -> tuple[str, Any]:
    """Returns the tool of a call, "" for other requests, and its arguments or parameters without ignored fields."""
    params = payload.get("params")
    params = params if isinstance(params, Mapping) else {}
    name, values = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        name, values = "", params
    nested = nested_value(values)
    return name, ignored.pruned(values if nested is None else nested)


def of_one_format(one: Analysis, other: Analysis) -> bool:
    """Returns True if two logs share a format, so that each records the texts of programs that the other does."""
    names: list[set[str]] = []
    for analysis in (one, other):
        codes = np.unique(analysis.capture.columns["protocol"][: len(analysis)]).tolist()
        names.append({analysis.capture.strings[code] for code in codes if code})
    return bool(names[0] & names[1])


def read_run(
    analysis: Analysis, ignored: Ignored, *, programs: bool, table: StepTable | None = None, turn: int | None = None
) -> SlicedWork[RunSteps]:
    """Reads the compared steps. O(messages) in numpy, O(bytes) of their messages.

    Args:
        analysis: the run.
        ignored: what does not count.
        programs: compare system prompts and other texts of programs too.
        table: its steps, if they are known.
        turn: reads the steps of this turn alone.
    """
    table = step_table(analysis) if table is None else table
    yield
    steps = _compared(analysis, table, programs=programs)
    if turn is not None:
        steps = steps[table.turns[steps] == turn]
    outputs = outputs_of(table)[steps]
    reading = _Reading(analysis, ignored)
    rows, ends = table.rows[steps], table.ends[steps]
    sorts = _sorts(analysis, table.kinds[steps], rows)
    yield from reading.read(sorts, rows, ends)
    senders = analysis.capture.columns["sender"][rows].astype(np.int64)
    strings, methods = analysis.capture.strings, analysis.correlation.columns["method"][rows]
    is_system, calls = senders == (strings.find(SYSTEM) or -1), sorts == StepKind.CALL
    decided = np.isin(methods, [strings.find(name) or -1 for name in _DECIDED])
    acting = (np.isin(sorts, (StepKind.ANSWER, StepKind.THOUGHT)) & ~is_system) | calls & decided
    return RunSteps(
        analysis, table, steps, sorts, rows, ends, *reading.arrays(), senders,
        _models(analysis, table, rows, outputs), outputs, is_system,
        calls & (methods == (strings.find(_LISTS) or -1)), acting,
    )  # fmt: skip


def _compared(analysis: Analysis, table: StepTable, *, programs: bool) -> Array:
    """Returns the steps to compare: those whose content an agent or a person decided."""
    capture, columns = analysis.capture, analysis.capture.columns
    strings = capture.strings
    wanted = np.isin(table.kinds, _COMPARED)
    seen = np.flatnonzero(np.bincount(columns["kind"][: len(table.step_of)])).tolist()
    acts = [code for code in seen if strings[code].startswith(_REASONING) or strings[code] in _VERDICTS]
    wanted |= (table.kinds == StepKind.OTHER) & np.isin(columns["kind"][table.rows], acts)
    # Texts of programs, system prompts among them, reach the model as prompts do.
    sent = columns["kind"][table.rows]
    wanted |= (table.kinds == StepKind.RECORD) & (sent == (strings.find("chat") or -1)) & programs
    wanted |= sent == (strings.find(_FORGET) or -1)
    # An output without content of its own stands for itself.
    filled = np.unique(outputs_of(table)[wanted])
    wanted |= (table.kinds == StepKind.MODEL) & ~np.isin(np.arange(len(table)), filled)
    methods = analysis.correlation.columns["method"][table.rows]
    wanted &= ~(
        (table.kinds == StepKind.CALL) & np.isin(methods, [strings.find(one) or -1 for one in _UNCOUNTED_METHODS])
    )
    wanted &= columns["flags"][table.rows] & np.uint32(Flag.FRAME.value) == 0
    return np.flatnonzero(wanted)


def _sorts(analysis: Analysis, sorts: NDArray[np.uint8], rows: Array) -> NDArray[np.uint8]:
    """Returns `StepKind` by effect: a text of a program is a prompt, and a forgotten stretch a compaction."""
    forgets = analysis.capture.columns["kind"][rows] == (analysis.capture.strings.find(_FORGET) or -1)
    texts = np.where(sorts == StepKind.RECORD, np.uint8(StepKind.PROMPT), sorts)
    return np.where(forgets, np.uint8(StepKind.COMPACTION), texts).astype(np.uint8)


def _models(analysis: Analysis, table: StepTable, rows: Array, outputs: Array) -> Array:
    """Returns the model of each step: that reported within its output, or by its own message."""
    found = np.zeros(len(rows), np.int64)
    usage = analysis.usage.columns
    if not len(usage):
        return found
    named = usage["model"][:] != 0
    reports, models = usage["message"][:][named].astype(np.int64), usage["model"][:][named].astype(np.int64)
    order = np.argsort(reports, kind="stable")
    reports, models = reports[order], models[order]
    if not len(reports):
        return found
    inside = outputs >= 0
    first = np.where(inside, table.rows[np.maximum(outputs, 0)], rows)
    last = np.where(inside, table.ends[np.maximum(outputs, 0)], rows)
    # Some agents report usage after the output, before the next one.
    begins = np.append(np.unique(first[inside]), len(analysis))
    last = np.where(inside, begins[np.searchsorted(begins[:-1], first, side="right")] - 1, last)
    places = np.searchsorted(reports, first)
    near = np.minimum(places, len(reports) - 1)
    return np.where((places < len(reports)) & (reports[near] <= last), models[near], 0)


class _Reading:
    """Hashes contents of messages, step by step."""

    def __init__(self, analysis: Analysis, ignored: Ignored) -> None:
        self._capture, self._ignored = analysis.capture, ignored
        self._methods = analysis.correlation.columns["method"]
        self._acts: list[int] = []
        self._groups: list[int] = []
        self._members: list[tuple[int, ...]] = []
        self._results: list[int] = []

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """Returns acts, groups, members and results."""
        members = np.array(self._members, np.int64).reshape(-1, _MEMBERS)
        return (
            np.array(self._acts, np.int64),
            np.array(self._groups, np.int64),
            members,
            np.array(self._results, np.int64),
        )

    def read(self, sorts: NDArray[np.uint8], rows: Array, ends: Array) -> SlicedWork[None]:
        """Adds steps, as in `RunSteps`."""
        kinds_of, strings = self._capture.columns["kind"][rows], self._capture.strings
        asked = np.isin(kinds_of, [strings.find(kind) or -1 for kind in (kinds.REQUEST, kinds.PROPOSAL)])
        answered = asked & (ends != NO_ROW)
        # Each step's message, and the answer of a call after it.
        messages = np.stack((rows, ends), axis=1)[np.stack((np.ones(len(rows), np.bool_), answered), axis=1)]
        payloads = read_in_batches(self._capture, messages, self._payload)
        steps = zip(sorts.tolist(), kinds_of.tolist(), rows.tolist(), asked.tolist(), strict=True)
        for place, (sort, kind, row, is_call) in enumerate(steps):
            payload = next(payloads)
            if is_call:
                answer = (int(ends[place]), next(payloads)) if answered[place] else None
                self._add_call(sort, row, payload, answer)
            else:
                self._add(sort, strings[kind], row, payload)
            if place % _PER_STEP == 0:
                yield

    def _add(self, sort: int, kind: str, row: int, payload: Mapping[str, Any]) -> None:
        if sort in (StepKind.SPAN, StepKind.MODEL):
            name = payload.get("name")
            act = group = hash_values(sort, name if isinstance(name, str) else "")
        elif kind == _FORGET:
            act = group = hash_values(sort, kind)
        else:
            group = hash_values(sort, kind if kind.startswith(_REASONING) else "")
            act = hash_values(group, self._text(kind, payload, row))
        self._append(act, group, (), 0)

    def _add_call(
        self, sort: int, row: int, payload: Mapping[str, Any], answer: tuple[int, Mapping[str, Any]] | None
    ) -> None:  # fmt: skip
        members: list[int] = []
        group, act = self._call(sort, row, payload, members)
        handshake = self._capture.strings[int(self._methods[row])] in _HANDSHAKES
        self._append(act, group, members, 0 if answer is None else self._result(*answer, whole=handshake))

    def _append(self, act: int, group: int, members: Sequence[int], result: int) -> None:
        self._acts.append(act)
        self._groups.append(group)
        self._members.append((*members, 0, 0, 0, 0)[:_MEMBERS])
        self._results.append(result)

    def _payload(self, message: int) -> Mapping[str, Any]:
        records = self._capture.records
        return {} if records.is_big(message) else records.quick_payload(message)

    def _text(self, kind: str, payload: Mapping[str, Any], row: int) -> bytes:
        if self._capture.records.is_big(row):
            return b"%d" % int(self._capture.columns["length"][row])
        return self._ignored.text(counted_text(kind, payload))

    def _call(self, sort: int, row: int, payload: Mapping[str, Any], members: list[int]) -> tuple[int, int]:
        method = self._capture.strings[int(self._methods[row])]
        name, values = called(payload, self._ignored)
        group = hash_values(sort, method, name)
        if self._capture.records.is_big(row):
            return group, hash_values(group, int(self._capture.columns["length"][row]))
        if not isinstance(values, Mapping):
            return group, hash_values(group, self._ignored.value_text(values)) if values else group
        members += [hash_values(key, self._ignored.value_text(values[key])) for key in sorted(values)]
        return group, hash_values(group, *members) if members else group

    def _result(self, end: int, payload: Mapping[str, Any], *, whole: bool) -> int:
        if self._capture.records.is_big(end):
            return hash_values(int(self._capture.columns["length"][end]))
        result = payload.get("result")
        if isinstance(result, Mapping) and isinstance(result.get("tools"), list):
            return self._definitions(result["tools"])
        if whole:
            return hash_values(self._ignored.json_text(result, of_result=True))
        # Other versions of MCP have no such members in a complete result.
        if isinstance(result, Mapping) and result.get("resultType") == "complete":
            payload = {**payload, "result": {key: one for key, one in result.items() if key not in CARRIED_KEYS}}
        text = counted_text(kinds.RESPONSE, payload)
        return hash_values(self._ignored.result_text(text))

    def _definitions(self, tools: list[Any]) -> int:
        """Returns a hash of listed tools; their order does not count."""
        found = definitions_of([tool for tool in tools if isinstance(tool, dict)])
        return hash_values(repr(sorted((name, sorted(one.aspects.items())) for name, one in found.items())))
