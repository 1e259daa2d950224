"""Finds wasted tool definitions: listed again unchanged, or of tools never called.

A definition's tokens are its share of its list's tokens, so that no tokenizer is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from inspector.analysis.views.waste.repeats import json_digest
from inspector.analysis.views.waste.results import Results, Traffic
from inspector.analysis.views.waste.waste_records import Waste, WasteKind, limited_messages
from inspector.protocol.message_text import compact_json

MAX_LISTS = 5_000
"""Lists checked at most."""
MIN_UNUSED_TOKENS = 100
"""Tokens of unused definitions from which they are reported."""
_MAX_NAMED = 5


@dataclass(slots=True)
class _Lists:
    """Lists of tools that one server sent to one client, page by page."""

    standing: dict[bytes, int] = field(default_factory=dict)  # digest of the cursor -> position of its first list
    content: dict[bytes, bytes] = field(default_factory=dict)
    again: list[int] = field(default_factory=list)


class Definitions:
    """Checks lists of tools, oldest first.

    Attributes:
        results: the lists.
        read_only: tools with a readOnlyHint.
        offered: names of all listed tools.
        unread: number of lists beyond the limit.
    """

    def __init__(self, traffic: Traffic, *, ongoing: bool = False) -> None:
        found = traffic.answers("tools/list")
        talking = np.unique(traffic.speakers[traffic.sayings()])
        # A client without model messages hands its lists to no model.
        found = found.those(np.flatnonzero(np.isin(found.speakers, talking)))
        self.unread = max(0, len(found) - MAX_LISTS)
        self.results: Results = found.those(np.arange(min(len(found), MAX_LISTS)))
        self.read_only: set[str] = set()
        self.offered: set[str] = set()
        self._whole: set[int] = set()  # pairs with a complete list
        self._traffic = traffic
        self._ongoing = ongoing
        self._lists: dict[int, _Lists] = {}

    def check_list(self, place: int) -> None:
        capture, results = self._traffic.analysis.capture, self.results
        row = int(results.rows[place])
        payload = capture.records.payload(row)
        tools = _tools(payload)
        self.offered.update(tool["name"] for tool in tools if isinstance(tool.get("name"), str))
        if tools and not payload["result"].get("nextCursor") and not capture.records.is_big(row):
            self._whole.add(int(results.pairs[place]))
        for tool in tools:
            hints = tool.get("annotations")
            if isinstance(hints, dict) and hints.get("readOnlyHint") is True:
                self.read_only.add(str(tool.get("name")))
        params = capture.records.payload(int(results.calls[place])).get("params")
        page = json_digest(params.get("cursor") if isinstance(params, dict) else None)
        lists = self._lists.setdefault(int(results.pairs[place]), _Lists())
        content = json_digest(tools)
        # Compared with the last list of the page only, as a list may change and change back.
        if lists.content.get(page) == content and tools:
            lists.again.append(place)
        else:
            lists.standing[page], lists.content[page] = place, content

    def lacks(self, pair: int, tool: str, called: str) -> bool:
        """Returns True if a server has no such tool and no other server lists it either.

        Args:
            pair: asker and server (`Results.pairs`).
            tool: name of the tool.
            called: a tool that the server has; a list without it is not the relevant one.
        """
        meant = self._traffic.analysis.transients.aliases.resolve
        offered = {meant(one) for one in self.offered}
        return pair in self._whole and meant(called) in offered and meant(tool) not in offered

    def find_wastes(self) -> list[Waste]:
        """Returns wastes: lists without a change, and tools without a call."""
        called = self._called_tools()
        found: list[Waste] = []
        for lists in self._lists.values():
            found += filter(None, (self._again(lists), self._uncalled_waste(lists, called)))
        return found

    def _called_tools(self) -> set[tuple[int, int]]:
        calls = self._traffic.calls()
        targets = self._traffic.analysis.correlation.columns["target"][calls]
        pairs = np.unique(self._traffic.speakers[calls] << 32 | targets.astype(np.int64))
        return {(int(pair) >> 32, int(pair) & 0xFFFFFFFF) for pair in pairs.tolist()}

    def _again(self, lists: _Lists) -> Waste | None:
        rows = [int(self.results.rows[place]) for place in lists.again]
        tokens = sum(map(self._traffic.cost, rows))
        if not rows or not tokens:
            return None
        traffic, call = self._traffic, int(self.results.calls[lists.again[0]])
        times = "again" if len(rows) == 1 else f"{len(rows):,} more times"
        who, server = traffic.asker_words(call), traffic.answerer_words(rows[0])
        sentence = f"{who} had the tools of {server} listed {times}, unchanged. Clients that keep one list pay once."
        advice = "List tools again when the server says that they changed (notifications/tools/list_changed)."
        messages = [int(self.results.calls[place]) for place in lists.again] + rows
        return Waste(
            WasteKind.LISTED, rows[0], limited_messages(messages), tokens, sentence, advice, False,
            traffic.sender(call), None
        )  # fmt: skip

    def _uncalled_waste(self, lists: _Lists, called: set[tuple[int, int]]) -> Waste | None:
        traffic, results = self._traffic, self.results
        tokens, uncalled, known = 0.0, list[str](), 0
        for place in lists.standing.values():
            row, speaker = int(results.rows[place]), int(results.speakers[place])
            tools = _tools(traffic.analysis.capture.records.payload(row))
            sizes = [len(compact_json(tool)) for tool in tools]
            known += len(tools)
            for tool, size in zip(tools, sizes, strict=True):
                name = tool.get("name")
                code = traffic.analysis.capture.strings.find(name) if isinstance(name, str) else None
                if code is None or (speaker, code) not in called:
                    uncalled.append(str(name))
                    tokens += traffic.cost(row) * size / max(1, sum(sizes))
        if round(tokens) < MIN_UNUSED_TOKENS:
            return None
        row = int(results.rows[next(iter(lists.standing.values()))])
        call = int(results.calls[next(iter(lists.standing.values()))])
        who, server = traffic.asker_words(call), traffic.answerer_words(row)
        more = len(uncalled) - _MAX_NAMED
        # A single further name takes no more room than a number.
        names = f"{', '.join(uncalled[:_MAX_NAMED])} and {more:,} more" if more > 1 else ", ".join(uncalled)
        of = f"{len(uncalled):,} of the {known:,} tools" if len(uncalled) < known else f"none of the {known:,} tools"
        verb = "did not call" if len(uncalled) < known else "called"
        subject = f"So far {traffic.asker_words(call, 'the MCP client')}" if self._ongoing else who
        sentence = f"{subject} {verb} {of} that {server} listed: {names}."
        advice = "Pass the model only the definitions it needs, or shorten descriptions of rare tools."
        messages = [int(results.rows[place]) for place in lists.standing.values()]
        return Waste(
            WasteKind.UNCALLED, row, limited_messages(messages), round(tokens), sentence, advice, False,
            traffic.sender(call), None
        )  # fmt: skip


def _tools(payload: dict[str, Any]) -> list[dict[str, Any]]:
    result = payload.get("result")
    tools = result.get("tools") if isinstance(result, dict) else None
    return [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
