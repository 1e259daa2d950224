"""Finds model calls that wrote a prompt cache again, since it had expired in a pause.

RULE: only reported usage counts. Two following outputs of one model in one context, without a compaction between, show
an expired cache if the pause exceeds its lifetime, the second reads less than half of the tokens that the first had in
the cache, and writes at least half of them. The lifetime is an hour once a call of the context reports such writes,
else five minutes. A context that has shrunk, lost results, or never reported a write, shows none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.tokens.reported_usage import CACHE_WRITE_1H, USAGE_KINDS
from inspector.analysis.views.steps.step_columns import StepKind, StepTable
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_ROW

_USUAL_NS, _LONG_NS = 300 * 10**9, 3_600 * 10**9
_LEAST_TOKENS = 1_024
"""Smallest prompt that a model API caches."""
_SHRUNK = 0.8
_CHANGING = (
    "participant/compact", "participant/compact-done", "participant/forget", "participant/clear", "participant/restart",
)  # fmt: skip
"""Kinds of messages about a changed context."""
_INPUT, _READ, _WRITE = (USAGE_KINDS.index(kind) for kind in ("input", "cache_read", "cache_write"))


class ExpiredCache(NamedTuple):
    """A cache that was written again.

    Attributes:
        step: the output whose call wrote it.
        message: first message of that output.
        pause_ns: nanoseconds since the output before.
        written: tokens written again.
    """

    step: int
    message: int
    pause_ns: int
    written: int


def expired_caches(analysis: Analysis, table: StepTable) -> list[ExpiredCache]:
    """Returns expired caches in the order of the log. O(outputs)."""
    outputs = np.flatnonzero((table.kinds == StepKind.MODEL) & (table.tokens[:, _INPUT] >= 0))
    outputs = outputs[np.lexsort((outputs, table.nodes[outputs], table.spaces[outputs]))]
    first, second = outputs[:-1], outputs[1:]
    same = (table.nodes[first] == table.nodes[second]) & (table.spaces[first] == table.spaces[second])
    stops, starts = table.stops_ns[first], table.starts_ns[second]
    same &= (stops != NO_TIME) & (starts != NO_TIME)
    first, second = first[same], second[same]
    tokens = np.maximum(table.tokens, 0)
    cached = tokens[first, _READ] + tokens[first, _WRITE]
    read, written = tokens[second, _READ], tokens[second, _WRITE]
    paused = table.starts_ns[second] - table.stops_ns[first] > _USUAL_NS
    again = (cached >= _LEAST_TOKENS) & (2 * read < cached) & (2 * written >= cached)
    whole = tokens[second, _INPUT] + read + written >= _SHRUNK * cached
    places = np.flatnonzero(paused & again & whole)
    if not len(places):
        return []
    reports = _Reports(analysis, table)
    found = [
        ExpiredCache(
            int(second[place]), int(table.rows[second[place]]),
            int(table.starts_ns[second[place]] - table.stops_ns[first[place]]),
            int(min(written[place], cached[place] - read[place])),
        )
        for place in places.tolist()
        if reports.are_expired(int(first[place]), int(second[place]))
    ]  # fmt: skip
    return sorted(found)


class _Reports:
    """Reports of model calls, to look up the model and the lifetime of caches."""

    def __init__(self, analysis: Analysis, table: StepTable) -> None:
        usage = analysis.usage
        self._table, self._columns, self._rows = table, analysis.capture.columns, usage.reports()
        self._changing = [code for name in _CHANGING if (code := analysis.capture.strings.find(name))]
        self._nodes = np.asarray(analysis.contexts.nodes_of(self._rows)).astype(np.int64)
        self._spaces = np.asarray(analysis.capture.columns["space"][self._rows]).astype(np.int64)
        self._models = usage.words("model", self._rows)
        self._hours = usage.numbers_at(CACHE_WRITE_1H, self._rows)
        self._writes = usage.numbers_at("cache_write", self._rows)

    def are_expired(self, first: int, second: int) -> bool:
        """Returns True if the pause between two outputs of one model exceeds the lifetime of its cache."""
        table = self._table
        models = self._models_of(first), self._models_of(second)
        if len(models[0]) != 1 or models[0] != models[1] or self._is_compacted(first, second):
            return False
        earlier = self._of_context(first) & (self._rows <= self._last_row(first))
        if not (self._writes[earlier] > 0).any():
            return False
        lifetime = _LONG_NS if (self._hours[earlier] > 0).any() else _USUAL_NS
        return int(table.starts_ns[second] - table.stops_ns[first]) > lifetime

    def _of_context(self, step: int) -> NDArray[np.bool_]:
        return (self._nodes == self._table.nodes[step]) & (self._spaces == self._table.spaces[step])

    def _last_row(self, step: int) -> int:
        end = int(self._table.ends[step])
        return int(self._table.rows[step]) if end == NO_ROW else max(end, int(self._table.rows[step]))

    def _models_of(self, step: int) -> set[int]:
        inside = (self._rows >= self._table.rows[step]) & (self._rows <= self._last_row(step))
        return set(self._models[inside & self._of_context(step)].tolist())

    def _is_compacted(self, first: int, second: int) -> bool:
        """Returns True if the program changed the context between two outputs."""
        table, columns = self._table, self._columns
        between = slice(int(table.rows[first]), int(table.rows[second]) + 1)
        same = columns["space"][between] == table.spaces[first]
        return bool((same & np.isin(columns["kind"][between], self._changing)).any())
