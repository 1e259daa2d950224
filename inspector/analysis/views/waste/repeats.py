"""Finds repeated calls: same client, server and tool, with equal arguments."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Collection
from typing import Any

import numpy as np

from inspector.analysis.passes.results.result_badges import Badge
from inspector.analysis.views.waste.losses import ContextLosses
from inspector.analysis.views.waste.results import Array, Results, Traffic
from inspector.analysis.views.waste.waste_records import Waste, WasteKind, limited_messages
from inspector.store.columns.flags import Flag

_READ_VERBS = frozenset((
    "browse", "check", "count", "describe", "download", "explain", "fetch", "find", "get", "grep", "head", "help",
    "list", "load", "look", "lookup", "ls", "open", "peek", "preview", "query", "read", "resolve", "retrieve", "scan",
    "search", "select", "show", "stat", "status", "suggest", "summarize", "tail", "tree", "view",
))  # fmt: skip
"""First words of names of read-only tools."""


class RepeatKind(enum.Enum):
    """Relation of an answer to the earlier one."""

    SAME = 0
    PERHAPS = 1
    """Equal, but not predictably."""
    CHANGED = 2


def is_read_only(tool: str, read_only: Collection[str]) -> bool:
    """Returns True if a tool is read-only, by its definition or its name.

    Args:
        tool: name of the tool.
        read_only: tools with a readOnlyHint.
    """
    # Clients prefix a tool with its server: `mcp__files__read_file`.
    name = tool.rpartition("__")[2] or tool
    return tool in read_only or name.replace("-", "_").split("_")[0].lower() in _READ_VERBS


def json_digest(value: Any) -> bytes:
    """Returns a hash that is equal for equal JSON, independent of key order."""
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Repeats:
    """Groups calls by tool and arguments, oldest first."""

    def __init__(self, traffic: Traffic, results: Results, read_only: Collection[str], losses: ContextLosses) -> None:
        self._traffic, self._results = traffic, results
        targets = traffic.analysis.correlation.columns["target"][results.rows].astype(np.int64)
        # The same tool name on two servers is two tools.
        keys = results.pairs << 32 | targets
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        consumes = traffic.analysis.transients.columns["badges"][results.rows] & Badge.CONSUMED.value != 0
        asked = traffic.analysis.capture.columns["flags"][results.calls] & Flag.UNRECORDED.value == 0
        first = np.zeros(len(keys), np.bool_)
        first[np.unique(results.calls, return_index=True)[1]] = True
        self.places: list[int] = np.flatnonzero((counts[inverse] > 1) & ~consumes & asked & first).tolist()
        """Indexes of results of tools with several calls.

        A call that consumes a result is excluded, as it fetches nothing and must be made for each. So are further
        answers to one call.
        """
        self._keys = keys
        self.listed: set[int] = set()
        """Repeated results, by row."""
        self._groups: dict[tuple[int, bytes], list[int]] = {}
        # Built once: it scans all calls, recorded or not.
        self._changes = _InterveningEvents(traffic, read_only, losses)

    def add_call(self, place: int) -> None:
        """Takes in the arguments of one call."""
        arguments = arguments_of(self._traffic, int(self._results.calls[place]))
        self._groups.setdefault((int(self._keys[place]), json_digest(arguments)), []).append(place)

    @property
    def groups(self) -> list[list[int]]:
        """Indexes of results of equal calls."""
        return [places for places in self._groups.values() if len(places) > 1]

    def find_wastes(self, places: list[int]) -> list[Waste]:
        """Returns the wastes of a group; each answer is compared with the previous one."""
        answers = [self._answer(place) for place in places]
        again: dict[RepeatKind, list[int]] = {}
        for before, here, old, new in zip(places, places[1:], answers, answers[1:], strict=False):
            again.setdefault(self._repeat_kind(before, here, same=old == new), []).append(here)
        return [self._waste(places, how, later) for how, later in again.items()]

    def _answer(self, place: int) -> bytes:
        """Returns a digest of the full content: answers with equal texts may differ in other content."""
        payload = self._traffic.analysis.capture.records.payload(int(self._results.rows[place]))
        return json_digest(_without_meta(payload.get("result")))

    def _repeat_kind(self, before: int, here: int, *, same: bool) -> RepeatKind:
        if not same:
            return RepeatKind.CHANGED
        results = self._results
        between = self._changes.between(results, before, here)
        return RepeatKind.PERHAPS if between else RepeatKind.SAME

    def _waste(self, places: list[int], how: RepeatKind, later: list[int]) -> Waste:
        results, traffic = self._results, self._traffic
        rows = [int(results.rows[place]) for place in later]
        self.listed.update(rows)
        call, first = int(results.calls[later[0]]), int(results.rows[places[0]])
        times = "again" if len(later) == 1 else f"{len(later):,} more times"
        outcome = _OUTCOMES[how].format(no=f"{first + 1:,}")
        sentence = f"{traffic.asker_words(call)} called {traffic.tool(rows[0])} {times} with equal arguments; {outcome}"
        messages = [first] + [int(results.calls[place]) for place in later] + rows
        return Waste(
            WasteKind.TWICE, rows[0], limited_messages(messages), sum(map(traffic.cost, rows)), sentence, _ADVICE[how],
            how is RepeatKind.SAME, traffic.sender(call), traffic.tool(rows[0]),
        )  # fmt: skip


_OUTCOMES = {
    RepeatKind.SAME: "No. {no} had answered the same.",
    RepeatKind.PERHAPS: "the answer was that of No. {no}, though it might have changed, or been lost, in between.",
    RepeatKind.CHANGED: "the answer had changed since the one before. No. {no} was the first.",
}
_ADVICE = {
    RepeatKind.SAME: "Use the first answer again.",
    RepeatKind.PERHAPS: "Request only changes, or let the server announce them.",
    RepeatKind.CHANGED: "Request only changes if the server supports it.",
}


def _without_meta(result: Any) -> Any:
    """Returns a result without its `_meta` and that of its content blocks."""
    if not isinstance(result, dict):
        return result
    blocks = result.get("content")
    bare_result = {key: value for key, value in result.items() if key != "_meta"}
    if isinstance(blocks, list):
        bare = [
            {key: value for key, value in block.items() if key != "_meta"} if isinstance(block, dict) else block
            for block in blocks
        ]
        bare_result["content"] = bare
    return bare_result


def arguments_of(traffic: Traffic, call: int) -> Any:
    """Returns the arguments of a call; {} if missing."""
    params = traffic.analysis.capture.records.payload(call).get("params")
    return (params.get("arguments") if isinstance(params, dict) else None) or {}


class _InterveningEvents:
    """Detects events between two answers that may have changed or lost the first."""

    def __init__(self, traffic: Traffic, read_only: Collection[str], losses: ContextLosses) -> None:
        self._traffic = traffic
        everything = traffic.answers("tools/call", unrecorded=True)
        targets = traffic.analysis.correlation.columns["target"][everything.rows].astype(np.int64)
        names = {code: traffic.analysis.capture.strings[code] for code in np.unique(targets).tolist()}
        changing = np.isin(targets, [code for code, name in names.items() if not is_read_only(name, read_only)])
        self._by_server = _grouped(traffic.speakers[everything.rows[changing]], everything.calls[changing])
        self._losses = losses

    def between(self, results: Results, before: int, here: int) -> bool:
        """Returns True if the server ran a changing tool in between, or if the asker may have lost its context.

        The first call counts: if it changes something, so does the second, and its effect is no answer.
        """
        since, until = int(results.rows[before]), int(results.calls[here])
        server = int(self._traffic.speakers[results.rows[here]])
        changed = self._by_server.get(server, _NO_ROWS)
        if _any_between(changed, int(results.calls[before]), until):
            return True
        return self._losses.since(since, self._traffic.sender(until), until) is not None


_NO_ROWS = np.empty(0, np.int64)


def _any_between(rows: Array, since: int, until: int) -> bool:
    """Returns True if a row lies in since..until (until excluded); rows ascending."""
    return bool(np.searchsorted(rows, until) > np.searchsorted(rows, since))


def _grouped(keys: Array, rows: Array) -> dict[int, Array]:
    """Returns rows by key, each ascending."""
    order = np.lexsort((rows, keys))
    keys, rows = keys[order], rows[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1)).tolist()
    stops = [*starts[1:], len(keys)][: len(starts)]
    return {int(keys[start]): rows[start:stop] for start, stop in zip(starts, stops, strict=True)}
