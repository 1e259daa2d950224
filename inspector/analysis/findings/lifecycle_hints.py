"""Checks lifecycle hints of tool results: tools, signals, consumption, summaries (docs/protocols.md 13)."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np

from inspector.analysis.findings.batch import Array, Batch, StringNumbers
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.findings.deadlines import DeadlineQueue
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.results.signal_table import CONSUMED, FAILED, HINTS, NO_CALL, ODD, SUMMARY, TRANSIENT
from inspector.analysis.passes.results.transient_results import Badge
from inspector.protocol import kinds
from inspector.protocol.tool_aliases import ToolAliases, alias_for
from inspector.store.columns.extracts import ToolList
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

PENDING_AFTER_S = 300
"""Seconds after which an unconsumed transient result gets a finding."""
MANY_RECORDS = 5
"""Records from which a page of results should be transient."""

UNKNOWN_TOOL = Check(
    "hint-unknown-tool", WARNING, "Hint names an unknown tool",
    "The hints name {detail}, but the tools/list of {who} does not contain it.",
    "No call will consume these results, so they stay in the context window.",
    "Use the name in tools/list; store_analysis_memory is called analysis_store since mcp-rune 0.3.0. If a "
    "proxy prefixes the names, set a tool alias: Settings, Tool names.",
    "mcp-rune 0.105.1, transient context: consumedBy",
    example="store_analysis_memory",
)  # fmt: skip
MISSPELLED = Check(
    "hint-misspelled", WARNING, "contextHint in the singular",
    "{who} wrote _meta.contextHint; clients read only contextHints.",
    "Clients ignore the hint, so no result collapses.",
    "Write contextHints, a list.",
    "mcp-rune 0.105.1, transient context: _meta.contextHints",
)  # fmt: skip
NO_SIGNAL = Check(
    "signal-malformed", WARNING, "Malformed context signal",
    "{detail}",
    "The result that it should collapse stays in the context window.",
    "Write \"consumed\": true, context as an object, and contextHints as a list of objects whose tool and consumedBy "
    "are texts.",
    "mcp-rune 0.105.1, transient context: _meta.context and _meta.contextHints",
    example="`consumed` is 'true', not true, so it signals nothing.",
)  # fmt: skip
NOTHING_CONSUMED = Check(
    "consumed-nothing", NOTE, "Consumed signal without a result",
    "{who} reports that {call} consumed a result: {detail}.",
    "Often harmless, as a last page with few records is never marked. Otherwise a hint is missing.",
    "Check that a hint pairs the two tools, and that the result is marked transient.",
    "mcp-rune 0.105.1, transient context: collapse, step 2",
    example="no result was pending",
)  # fmt: skip
CONSUMED_IN_VAIN = Check(
    "consumed-failed", NOTE, "Consumed signal of a failed call",
    "{call} failed, so the result that it consumed stays.",
    "A retry consumes the result. Without one it stays in the context window.",
    "Send consumed only with successful results.",
    "mcp-rune 0.105.1, transient context: edge cases",
)  # fmt: skip
NEVER_CONSUMED = Check(
    "transient-not-consumed", NOTE, "Transient result not consumed",
    "The result of {call} has not been consumed for more than {limit} s.",
    "It fills the context window, although its server allows to collapse it.",
    "Call the consumer named in its hint, or find out why the hint is missing.",
    "mcp-rune 0.105.1, transient context", limit=PENDING_AFTER_S,
)  # fmt: skip
NO_SUMMARY = Check(
    "transient-no-summary", NOTE, "Transient result without a summary",
    "{who} marked the result of {call} transient without a summary.",
    "After collapsing, only a generated line describes it.",
    "Add a summary of one line: content, count, page.",
    "mcp-rune 0.105.1, transient context: summary",
)  # fmt: skip
NOT_MARKED = Check(
    "records-not-transient", NOTE, "Page of records not marked transient",
    "The result of {call} has {detail} records and is not marked transient.",
    "Long lists fill the context window and cannot collapse.",
    "Mark pages of {limit} or more records with lifecycle \"transient\" and a summary.",
    "mcp-rune 0.105.1: search_records, find_records", limit=MANY_RECORDS,
    example="12",
)  # fmt: skip
CHECKS = (
    UNKNOWN_TOOL, MISSPELLED, NO_SIGNAL, NOTHING_CONSUMED, CONSUMED_IN_VAIN, NEVER_CONSUMED, NO_SUMMARY, NOT_MARKED,
)  # fmt: skip

_LISTING = frozenset({"search_records", "find_records"})
_MAX_RECORD_BYTES = 1 << 20
_MAX_ALIAS_TRIES, _MAX_ALIAS_TOOLS, _MAX_ALIAS_SEARCHES = 8, 2_000, 1_000  # bounds of the search for prefixed names

_Server = tuple[int, int, int]


class LifecycleHints:
    """Tracks results with `_meta`, and lists of tools."""

    def __init__(self) -> None:
        self._tools: dict[_Server, set[str]] = {}
        self._complete_servers: set[_Server] = set()  # servers with a complete list
        self._alias_names: dict[_Server, set[str]] = {}  # the same tools by their alias names
        self._tools_by_place: dict[int, set[str]] = {}  # by space or source: tools of all servers
        # messages with hints, and indexes into `_hinted_names`
        self._hint_rows: dict[_Server, tuple[array[int], array[int]]] = {}
        self._hinted_names: list[tuple[str, ...]] = []
        self._named_ids: dict[tuple[str, ...], int] = {}
        self._searched = 0
        self._unasked_lists: dict[int, ToolList] = {}  # tool lists in answers whose request was not seen
        self._waiting = DeadlineQueue(PENDING_AFTER_S)
        self._targets = StringNumbers()
        self._aliases = ToolAliases()

    def feed(self, batch: Batch) -> None:
        rows = batch.new_and_changed_rows(kinds.RESPONSE)
        renamed = batch.passes.transients.aliases is not self._aliases
        if not len(rows) and not self._waiting.any and not renamed:
            return
        marked = rows[batch.column_values("flags", rows) & Flag.HAS_META.value != 0]
        for row in marked[marked >= batch.start].tolist():
            self._read(batch, row)
        # A new tool alias changes the meaning of every hint, also of earlier ones.
        if renamed:
            self._aliases = batch.passes.transients.aliases
            self._alias_names.clear()
            for server in self._hint_rows:
                self._judge(batch, server)
        self._badges(batch, marked)
        self._lists(batch, rows)
        self._records(batch, rows)

    def _read(self, batch: Batch, row: int) -> None:
        transients = batch.passes.transients
        said = transients.signal_bits(row)
        if _is_misspelled(batch.capture.records.decoded_record(row).payload):
            batch.findings.add(MISSPELLED, [row])
        if said & NO_CALL:
            return
        if said & ODD:
            signal = transients.signal(row)
            batch.findings.add(NO_SIGNAL, [row], details=signal.problem or "" if signal is not None else "")
        if said & CONSUMED and said & FAILED:
            batch.findings.add(CONSUMED_IN_VAIN, [row])
        if said & TRANSIENT and not said & (FAILED | SUMMARY):
            batch.findings.add(NO_SUMMARY, [row])
        if said & HINTS:
            server = _server_key(batch, row)
            named = tuple(dict.fromkeys(tool for pair in transients.hints(row) for tool in pair))
            place = self._named_ids.setdefault(named, len(self._hinted_names))
            if place == len(self._hinted_names):
                self._hinted_names.append(named)
            rows, places = self._hint_rows.setdefault(server, (array("i"), array("i")))
            rows.append(row)
            places.append(place)
            self._judge(batch, server, len(rows) - 1)

    def _badges(self, batch: Batch, marked: Rows) -> None:
        story, signals = batch.passes.transients.columns, batch.passes.transients.signals
        badges = story["badges"][marked]
        consumed = (badges & Badge.CONSUMED.value != 0) & (signals.links("consumes", marked) == NO_ROW)
        consumed[consumed] = ~self._may_predate_capture(batch, marked[consumed])
        about = marked[consumed]
        waiting = signals.links("unpaired", about)
        others = np.full(len(marked), NO_ROW)
        others[consumed] = waiting
        why = [_no_collapse_reason(batch, row) for row in about.tolist()]
        batch.findings.replace_findings(NOTHING_CONSUMED, marked, consumed, others=others, details=why)
        known = marked[batch.findings.has(NEVER_CONSUMED, marked)] if len(marked) else marked
        pending = _are_pending(story["badges"][known])
        batch.findings.withdraw(NEVER_CONSUMED, known[~pending])
        new = marked[_are_pending(story["badges"][marked])]
        self._waiting.add(batch.column_values("time_ns", new), new, lambda rows: _are_pending(story["badges"][rows]))
        late = np.unique(self._waiting.take_due(batch.now_ns))
        late = late[_are_pending(story["badges"][late]) & ~batch.findings.has(NEVER_CONSUMED, late)]
        batch.findings.add(NEVER_CONSUMED, late)

    def _may_predate_capture(self, batch: Batch, rows: Rows) -> Array:
        """(n,) bool: True for consumptions that may refer to hints before the capture began.

        Their server was present by then, and no hint of it was seen before them.
        """
        found = batch.beginnings.senders_were_present(rows)
        for place in np.flatnonzero(found).tolist():
            conversation = batch.passes.transients.conversation_of(int(rows[place]))
            hinted = next(iter(conversation.hinted_tools.values()), None) if conversation is not None else None
            found[place] = hinted is None or hinted > rows[place]
        return found

    # Tools of a server

    def _lists(self, batch: Batch, rows: Rows) -> None:
        self._unasked_lists.update(batch.capture.extracted.tool_lists())
        listing = batch.code("tools/list")
        if listing < 0 or not self._unasked_lists:
            return
        for row in rows[batch.links["method"][rows] == listing].tolist():
            listed = self._unasked_lists.pop(row, None)
            if listed is None:
                continue
            server = _server_key(batch, row)
            known, was_whole = self._tools.setdefault(server, set()), server in self._complete_servers
            if listed.is_last:
                self._complete_servers.add(server)
            if known.issuperset(listed.names) and was_whole == (server in self._complete_servers):
                continue  # a repeated list without news; clients poll it
            anywhere = self._tools_by_place.setdefault(_server_place(server), set())
            grew = not anywhere.issuperset(listed.names)
            anywhere.update(listed.names)
            known.update(listed.names)
            self._alias_names.pop(server, None)
            # A hint may pair tools of other servers of the client.
            for one in [one for one in self._hint_rows if grew and _server_place(one) == _server_place(server)] or [
                server
            ]:
                self._judge(batch, one)

    def _judge(self, batch: Batch, server: _Server, first: int = 0) -> None:
        """Checks the hints of a server, from its `first` message with hints on. O(these hints and their names)."""
        if server not in self._complete_servers or server not in self._hint_rows:
            return
        rows, places = (np.array(values[first:], np.int64) for values in self._hint_rows[server])
        missing_of = {
            place: self._unknown_tools(server, self._hinted_names[place]) for place in np.unique(places).tolist()
        }
        missing = [missing_of[place] for place in places.tolist()]
        wrong = np.array([bool(names) for names in missing], np.bool_)
        batch.findings.replace_findings(UNKNOWN_TOOL, rows, wrong, details=[names for names in missing if names])

    def _unknown_tools(self, server: _Server, named: tuple[str, ...]) -> str:
        """Returns unknown tool names, with a tool alias that would pair one with a prefixed tool."""
        meant, tools = self._aliases.resolve, self._tools[server]
        if server not in self._alias_names:
            self._alias_names[server] = {meant(tool) for tool in tools}
        missing = [tool for tool in named if meant(tool) not in self._alias_names[server]]
        if missing and len(elsewhere := self._tools_by_place[_server_place(server)]) > len(tools):
            others = {meant(tool) for tool in elsewhere}
            missing = [tool for tool in missing if meant(tool) not in others]
        listed = ", ".join(missing)
        if not missing or len(tools) > _MAX_ALIAS_TOOLS or self._searched >= _MAX_ALIAS_SEARCHES:
            return listed
        # The search for aliases compares names pairwise, so hostile lists need a bound.
        self._searched += 1
        rule = next(filter(None, (alias_for(name, sorted(tools)) for name in missing[:_MAX_ALIAS_TRIES])), None)
        return f"{listed} (the tool alias {rule.text} would pair it)" if rule is not None else listed

    # Records in results

    def _records(self, batch: Batch, rows: Rows) -> None:
        calling = batch.code("tools/call")
        if calling < 0:
            return
        flags = batch.column_values("flags", rows)
        results = (batch.links["method"][rows] == calling) & (flags & Flag.ERROR.value == 0)
        results &= batch.passes.transients.columns["badges"][rows] & Badge.TRANSIENT.value == 0
        results &= batch.column_values("length", rows) < _MAX_RECORD_BYTES
        rows = rows[results]
        targets = batch.links["target"][rows]
        for target, _ in self._targets.unnumbered_ids(targets):
            self._targets.set_number(target, 2 if target and batch.capture.strings[target] in _LISTING else 1)
        records, of_anything = batch.capture.extracted.listed_record_counts(rows)
        counts = np.where(self._targets.numbers_of(targets) == 2, of_anything, records)
        many = counts >= MANY_RECORDS
        details = [str(count) for count in counts[many].tolist()]
        batch.findings.replace_findings(NOT_MARKED, rows, many, details=details)


def _is_misspelled(payload: Mapping[str, Any]) -> bool:
    """Returns True if `_meta` has only the singular `contextHint`, which clients ignore."""
    result = payload.get("result")
    meta = result.get("_meta") if isinstance(result, Mapping) else None
    return isinstance(meta, Mapping) and "contextHint" in meta and "contextHints" not in meta


def _no_collapse_reason(batch: Batch, row: int) -> str:
    """Returns the reason for which a consumption collapsed nothing."""
    transients = batch.passes.transients
    if not int(batch.links["target"][row]):
        return "its request is missing, so its tool is unknown"
    return transients.unpaired_reason(row) or "no result was pending"


def _are_pending(badges: Any) -> Any:
    return (badges & Badge.TRANSIENT.value != 0) & (badges & Badge.COLLAPSED.value == 0)


def _server_place(server: _Server) -> int:
    """Returns the space of a server; for MCP without an envelope, -1 minus its source."""
    return server[0] if server[0] >= 0 else -1 - (-1 - server[0] >> 32)


def _server_key(batch: Batch, row: int) -> _Server:
    """Returns space and sender of the answer; for a line of MCP stdio its connection and direction."""
    columns = batch.capture.columns
    space, sender = int(columns["space"][row]), int(columns["sender"][row])
    if int(columns["flags"][row]) & Flag.RPC.value:
        connection = -1 - (int(columns["source"][row]) << 32 | int(columns["connection"][row]))
        return connection, sender, int(columns["direction"][row])
    return space, sender, 0
