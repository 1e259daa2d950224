"""Compares the surroundings of steps: models, their settings, offered tools, deliveries, collapsed results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.views.compare.difference_classes import DifferenceClass, Input
from inspector.analysis.views.compare.ignored import Ignored
from inspector.analysis.views.compare.run_steps import RunSteps
from inspector.analysis.views.model_context.context_owners import model_requests
from inspector.analysis.views.steps.step_columns import StepKind
from inspector.formats.model_vocabulary import tool_name
from inspector.protocol.derived_messages import MODEL_CALL_KEY
from inspector.store.columns.hashes import NO_ROW

Array = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Change(NamedTuple):
    """Another model, setting or definition from a row on.

    Attributes:
        row: the first row that it concerns.
        found, given: class of the difference, and of the model's input.
        subject: "model", the name of the setting or of the tool.
        one, other: its values; None where absent.
        messages: message of each run that tells it.
    """

    row: int
    found: DifferenceClass
    given: Input
    subject: str
    one: Any
    other: Any
    messages: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Request:
    """A recorded request to a model.

    Attributes:
        message: the request.
        settings: its parameters by name.
        tools: its tool definitions by name, as text.
    """

    message: int
    settings: Mapping[str, Any]
    tools: Mapping[str, str]


class _Requests:
    """The recorded requests to models of a run, read once each."""

    def __init__(self, analysis: Analysis, ignored: Ignored) -> None:
        self._analysis, self._ignored = analysis, ignored
        rows = np.arange(len(analysis))
        self._rows = rows[model_requests(analysis, rows)]
        spaces = analysis.capture.columns["space"]
        self._keys = spaces[self._rows].astype(np.int64) << 32 | self._rows
        self._order = np.argsort(self._keys, kind="stable")
        self._read: dict[int, _Request] = {}

    def before(self, rows: Array) -> Array:
        """(n,) the last request in the space of each message up to it; NO_ROW without one."""
        if not len(self._rows):
            return np.full(len(rows), NO_ROW, np.int64)
        spaces = self._analysis.capture.columns["space"][rows].astype(np.int64)
        keys = self._keys[self._order]
        places = np.searchsorted(keys, spaces << 32 | rows, side="right") - 1
        near = self._order[np.maximum(places, 0)]
        return np.where((places >= 0) & (self._keys[near] >> 32 == spaces), self._rows[near], NO_ROW)

    def read_request(self, message: int) -> _Request:
        """Returns a request."""
        found = self._read.get(message)
        if found is None:
            told = self._analysis.capture.records.payload(message).get(MODEL_CALL_KEY)
            told = told if isinstance(told, dict) else {}
            tools, settings = told.get("tools"), told.get("parameters")
            by_name = {
                tool_name(tool): self._ignored.json_text(tool).decode("utf-8", "replace")
                for tool in (tools if isinstance(tools, list) else ())
            }
            found = _Request(message, self._ignored.pruned(settings) if isinstance(settings, dict) else {}, by_name)
            self._read[message] = found
        return found


class Surroundings:
    """Surroundings of the steps of two runs."""

    def __init__(self, one: RunSteps, other: RunSteps, ignored: Ignored) -> None:
        self._runs = one, other
        self._requests = _Requests(one.analysis, ignored), _Requests(other.analysis, ignored)

    def settings_at(self, side: int, row: int) -> Mapping[str, Any] | None:
        """Returns the parameters of the request before a message; None without a recorded request.

        Args:
            side: 0 for the first run, 1 for the second.
            row: a message.
        """
        found = int(self._requests[side].before(np.array([row], np.int64))[0])
        return None if found == NO_ROW else self._requests[side].read_request(found).settings

    def changes(self, one: Array, other: Array) -> list[Change]:
        """Returns changes of the rows of two runs, in order; each once, where it first occurs."""
        mine = self._runs[0]
        rows = np.flatnonzero((one >= 0) & (other >= 0))
        kinds = mine.kinds[one[rows]]
        acts = np.isin(kinds, (StepKind.ANSWER, StepKind.THOUGHT, StepKind.CALL, StepKind.MODEL))
        rows = rows[acts & ~mine.lists[one[rows]] & ~mine.is_system[one[rows]]]
        if not len(rows):
            return []
        a, b = one[rows], other[rows]
        found = self._other_models(rows, a, b)
        found += self._other_requests(rows, a, b)
        return sorted(found, key=lambda change: change.row)

    def _other_models(self, rows: Array, a: Array, b: Array) -> list[Change]:
        mine, theirs = self._runs
        names = mine.analysis.capture.strings, theirs.analysis.capture.strings
        pairs = np.stack((mine.models[a], theirs.models[b]), axis=1)
        known, firsts = np.unique(pairs, axis=0, return_index=True)
        found: list[Change] = []
        for (x, y), place in zip(known.tolist(), firsts.tolist(), strict=True):
            if x and y and names[0][x] != names[1][y]:
                messages = int(mine.rows[a[place]]), int(theirs.rows[b[place]])
                found.append(Change(
                    int(rows[place]), DifferenceClass.MODEL, Input.MODEL, "model", names[0][x], names[1][y], messages,
                ))  # fmt: skip
        return found

    def _other_requests(self, rows: Array, a: Array, b: Array) -> list[Change]:
        """Returns changes of settings and of offered tools, by recorded requests to models."""
        mine, theirs = self._runs
        left, right = self._requests[0].before(mine.rows[a]), self._requests[1].before(theirs.rows[b])
        both = (left != NO_ROW) & (right != NO_ROW)
        if not both.any():
            return []
        _, firsts = np.unique(np.stack((left[both], right[both]), axis=1), axis=0, return_index=True)
        seen: set[tuple[str, str]] = set()
        found: list[Change] = []
        for place in np.sort(firsts).tolist():
            row = int(rows[both][place])
            x = self._requests[0].read_request(int(left[both][place]))
            y = self._requests[1].read_request(int(right[both][place]))
            messages = x.message, y.message
            for sort, given, one, other in (
                (DifferenceClass.DEFINITION, Input.DEFINITION, x.tools, y.tools),
                (DifferenceClass.MODEL, Input.SETTINGS, x.settings, y.settings),
            ):
                for name in sorted(one.keys() | other.keys()):
                    values = one.get(name), other.get(name)
                    if values[0] != values[1] and (key := (name, repr(values))) not in seen:
                        seen.add(key)
                        found.append(Change(row, sort, given, name, *values, messages))
        return found

    def other_deliveries(self, one: Array, other: Array) -> Flags:
        """(n,) bool, pairs with a message that reached somebody in one run alone who takes part in both."""
        found = np.zeros(len(one), np.bool_)
        told = [run.analysis.capture.deliveries for run in self._runs]
        if not all(len(some) for some in told):
            return found
        reached = [_recipients(run.analysis) for run in self._runs]
        known = frozenset[str]().union(*reached[0].values()) & frozenset[str]().union(*reached[1].values())
        nobody = frozenset[str]()
        mine, theirs = self._runs
        for row in np.flatnonzero((one >= 0) & (other >= 0)).tolist():
            a, b = one[row], other[row]
            for x, y in ((mine.rows[a], theirs.rows[b]), (mine.ends[a], theirs.ends[b])):
                sets = reached[0].get(int(x), nobody), reached[1].get(int(y), nobody)
                found[row] |= bool((sets[0] ^ sets[1]) & known)
        return found

    def other_collapses(self, one: Array, other: Array) -> Flags:
        """(n,) bool, pairs of calls whose result was collapsed in one run alone, or by another step."""
        found = np.zeros(len(one), np.bool_)
        rows = np.flatnonzero((one >= 0) & (other >= 0))
        if not len(rows):
            return found
        mine, theirs = (
            _collapsing(run, places) for run, places in zip(self._runs, (one[rows], other[rows]), strict=True)
        )
        partner = np.full(len(self._runs[0]) + 1, NO_ROW, np.int64)
        partner[one[rows]] = other[rows]
        both = (mine >= 0) & (theirs >= 0)
        found[rows] = np.where(both, partner[np.maximum(mine, 0)] != theirs, (mine >= 0) != (theirs >= 0))
        return found


def _collapsing(run: RunSteps, places: Array) -> Array:
    """(n,) the step that collapsed the result of each; -1 without one."""
    ends = run.ends[places]
    links = run.analysis.transients.signals.links("collapsed_by", np.where(ends == NO_ROW, 0, ends)).astype(np.int64)
    known = (links != NO_ROW) & (ends != NO_ROW)
    steps = np.where(known, run.table.step_of[np.where(known, links, 0)], -1)
    near = np.minimum(np.searchsorted(run.steps, steps), max(0, len(run) - 1))
    return np.where(known, near, -1)


def _recipients(analysis: Analysis) -> dict[int, frozenset[str]]:
    """Returns the participants that received each message."""
    told, strings = analysis.capture.deliveries, analysis.capture.strings
    arrived = np.flatnonzero(told["event"][:] == (strings.find("delivered") or -1))
    found: dict[int, set[str]] = {}
    for message, code in zip(told["message"][arrived].tolist(), told["participant"][arrived].tolist(), strict=True):
        found.setdefault(message, set()).add(strings[code])
    return {message: frozenset(names) for message, names in found.items()}
