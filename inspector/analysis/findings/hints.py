"""The life of tool results: hints that lead nowhere, signals that are none (protocols.md 13)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from inspector.analysis.changes import NO_ROWS, Rows
from inspector.analysis.findings.batch import Batch, Marks
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.findings.requests import overdue
from inspector.analysis.transients import Badge
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_ROW
from inspector.protocol import kinds

PENDING_AFTER_S = 300
"""A transient result nobody has consumed for longer has a finding."""
MANY_RECORDS = 5
"""From so many records on a page of results is marked transient."""

UNKNOWN_TOOL = Check(
    "hint-unknown-tool", WARNING, "Hint names a tool the server does not have",
    "The hints name {detail}, which is not in {who}'s tools/list.",
    "Nothing will ever consume those results: they stay in the context window for good.",
    "Name the tool as tools/list does; store_analysis_memory is called analysis_store since mcp-rune 0.3.0.",
    "mcp-rune 0.105.1, transient context: consumedBy",
    example="store_analysis_memory",
)  # fmt: skip
MISSPELLED = Check(
    "hint-misspelled", WARNING, "contextHint written in the singular",
    "{who} wrote _meta.contextHint; clients read contextHints.",
    "The hint is not seen, so nothing collapses.",
    "Write contextHints, a list.",
    "mcp-rune 0.105.1, transient context: _meta.contextHints",
)  # fmt: skip
NO_SIGNAL = Check(
    "signal-malformed", WARNING, "Context signal that signals nothing",
    "{detail}",
    "The result it was to collapse stays in the context window.",
    "Write \"consumed\": true, and context as an object.",
    "mcp-rune 0.105.1, transient context: _meta.context",
    example="`consumed` is 'true', not true, so it signals nothing.",
)  # fmt: skip
NOTHING_CONSUMED = Check(
    "consumed-nothing", NOTE, "Consumed, and nothing to collapse",
    "{who} says that {call} consumed a result, and none was waiting for it.",
    "Mostly harmless: a last page with few records is never marked. Else a hint is missing.",
    "Look whether a hint pairs the two tools, and whether the result was marked transient.",
    "mcp-rune 0.105.1, transient context: collapse, step 2",
)  # fmt: skip
CONSUMED_IN_VAIN = Check(
    "consumed-failed", NOTE, "Consumed signalled by a call that failed",
    "{call} failed, so what it says it consumed stays.",
    "Right so: the retry consumes it. Without a retry the result stays in the context window.",
    "Send consumed only with results that succeeded.",
    "mcp-rune 0.105.1, transient context: edge cases",
)  # fmt: skip
NEVER_CONSUMED = Check(
    "transient-not-consumed", NOTE, "Transient result nobody consumed",
    "The result of {call} has waited for more than {limit} s to be consumed.",
    "It takes up the context window although its server says that it need not.",
    "Call the consumer its hint names, or look why the hint is missing.",
    "mcp-rune 0.105.1, transient context", limit=PENDING_AFTER_S,
)  # fmt: skip
NO_SUMMARY = Check(
    "transient-no-summary", NOTE, "Transient result without a summary",
    "{who} marked the result of {call} transient and gave no summary.",
    "Once collapsed, nothing says what it was about but a generated line.",
    "Give a summary of a line: what was found, how many, which page.",
    "mcp-rune 0.105.1, transient context: summary",
)  # fmt: skip
NOT_MARKED = Check(
    "records-not-transient", NOTE, "Page of records not marked transient",
    "The result of {call} has {detail} records and is not marked transient.",
    "Long lists fill the context window and cannot be collapsed.",
    "Mark pages of {limit} records and more with lifecycle \"transient\" and a summary.",
    "mcp-rune 0.105.1: search_records, find_records", limit=MANY_RECORDS,
    example="12",
)  # fmt: skip
CHECKS = (
    UNKNOWN_TOOL, MISSPELLED, NO_SIGNAL, NOTHING_CONSUMED, CONSUMED_IN_VAIN, NEVER_CONSUMED, NO_SUMMARY, NOT_MARKED,
)  # fmt: skip

_LISTING = frozenset({"search_records", "find_records"})
_RECORDS = ("records", "results", "items", "data", "rows")
_LONGEST_READ = 1 << 20

_Server = tuple[int, int, int]


class Hints:
    """Follows results with `_meta`, and lists of tools."""

    def __init__(self) -> None:
        self._tools: dict[_Server, set[str]] = {}
        self._whole: set[_Server] = set()  # servers whose list has been seen to its end
        self._hinted: dict[_Server, list[tuple[int, tuple[str, ...]]]] = {}
        self._listed: set[int] = set()
        self._waiting: Rows = NO_ROWS
        self._targets = Marks()

    def feed(self, batch: Batch) -> None:
        """Look at the results of a batch."""
        rows = batch.both(kinds.RESPONSE)
        if not len(rows) and not len(self._waiting):
            return
        marked = rows[batch.of("flags", rows) & Flag.HAS_META.value != 0]
        for row in marked[marked >= batch.start].tolist():
            self._read(batch, row)
        self._badges(batch, marked)
        self._lists(batch, rows)
        self._records(batch, rows)

    def _read(self, batch: Batch, row: int) -> None:
        signal = batch.passes.transients.signal(row)
        if signal is None:
            result = batch.capture.told(row).payload.get("result")
            meta = result.get("_meta") if isinstance(result, Mapping) else None
            if isinstance(meta, Mapping) and "contextHint" in meta:
                batch.findings.add(MISSPELLED, [row])
            return
        if signal.odd:
            batch.findings.add(NO_SIGNAL, [row], details=signal.odd)
        if signal.consumed and signal.failed:
            batch.findings.add(CONSUMED_IN_VAIN, [row])
        if signal.transient and not signal.failed and not signal.summary:
            batch.findings.add(NO_SUMMARY, [row])
        if signal.hints:
            server = _server(batch, row)
            named = tuple(dict.fromkeys(tool for pair in signal.hints for tool in pair))
            self._hinted.setdefault(server, []).append((row, named))
            self._judge(batch, server, [(row, named)])

    def _badges(self, batch: Batch, marked: Rows) -> None:
        story = batch.passes.transients.columns
        badges = story["badges"][marked]
        consumed = (badges & Badge.CONSUMED.value != 0) & (story["consumes"][marked] == NO_ROW)
        batch.findings.settle(NOTHING_CONSUMED, marked, consumed)
        known = marked[batch.findings.has(NEVER_CONSUMED, marked)] if len(marked) else marked
        pending = _pending(story["badges"][known])
        batch.findings.withdraw(NEVER_CONSUMED, known[~pending])
        waiting = np.union1d(self._waiting, marked)
        waiting = waiting[_pending(story["badges"][waiting])]
        due = overdue(batch.of("time_ns", waiting), batch.now_ns, PENDING_AFTER_S)
        late = waiting[due]
        batch.findings.add(NEVER_CONSUMED, late[~batch.findings.has(NEVER_CONSUMED, late)])
        self._waiting = waiting[~due]

    # Which tools a server has

    def _lists(self, batch: Batch, rows: Rows) -> None:
        listing = batch.code("tools/list")
        if listing < 0:
            return
        for row in rows[batch.links["method"][rows] == listing].tolist():
            if row in self._listed or batch.capture.is_big(row):
                continue
            self._listed.add(row)
            result = batch.capture.payload(row).get("result")
            tools = result.get("tools") if isinstance(result, Mapping) else None
            if not isinstance(tools, list) or not isinstance(result, Mapping):
                continue
            server = _server(batch, row)
            names = {tool.get("name") for tool in tools if isinstance(tool, Mapping)}
            self._tools.setdefault(server, set()).update(name for name in names if isinstance(name, str))
            if not result.get("nextCursor"):
                self._whole.add(server)
            self._judge(batch, server, self._hinted.get(server, []))

    def _judge(self, batch: Batch, server: _Server, hints: list[tuple[int, tuple[str, ...]]]) -> None:
        if server not in self._whole or not hints:
            return
        tools = self._tools[server]
        missing = [", ".join(tool for tool in named if tool not in tools) for _, named in hints]
        wrong = np.array([bool(names) for names in missing], np.bool_)
        rows = np.array([row for row, _ in hints], np.int64)
        batch.findings.settle(UNKNOWN_TOOL, rows, wrong, details=[names for names in missing if names])

    # Records in results

    def _records(self, batch: Batch, rows: Rows) -> None:
        targets = batch.links["target"][rows]
        for target, _ in self._targets.unseen(targets):
            self._targets.put(target, 2 if target and batch.capture.strings[target] in _LISTING else 1)
        listing = rows[self._targets.of(targets) == 2]
        if not len(listing):
            return
        listing = listing[batch.of("flags", listing) & Flag.ERROR.value == 0]
        transient = batch.passes.transients.columns["badges"][listing] & Badge.TRANSIENT.value != 0
        short = listing[~transient & (batch.of("length", listing) < _LONGEST_READ)]
        counts = [_count_records(batch.capture.payload(row).get("result")) for row in short.tolist()]
        many = np.array([count >= MANY_RECORDS for count in counts], np.bool_)
        details = [str(count) for count in counts if count >= MANY_RECORDS]
        batch.findings.settle(NOT_MARKED, short, many, details=details)


def _pending(badges: Any) -> Any:
    return (badges & Badge.TRANSIENT.value != 0) & (badges & Badge.COLLAPSED.value == 0)


def _server(batch: Batch, row: int) -> _Server:
    """Who answered: space and sender; of a line of MCP stdio its source and direction."""
    columns = batch.capture.columns
    space, sender = int(columns["space"][row]), int(columns["sender"][row])
    if int(columns["flags"][row]) & Flag.RPC.value:
        return -1 - int(columns["source"][row]), sender, int(columns["direction"][row])
    return space, sender, 0


def _count_records(result: Any) -> int:
    """Records in a result: of its structured content, else of the JSON that its first text is; 0 when it is none."""
    if not isinstance(result, Mapping):
        return 0
    content = result.get("structuredContent")
    if content is None:
        blocks = result.get("content")
        text = blocks[0].get("text") if isinstance(blocks, list) and blocks and isinstance(blocks[0], Mapping) else None
        if not isinstance(text, str) or text[:1] not in "[{":
            return 0
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            return 0
    if isinstance(content, list):
        return len(content)
    held = [content.get(name) for name in _RECORDS] if isinstance(content, Mapping) else []
    return max((len(value) for value in held if isinstance(value, list)), default=0)
