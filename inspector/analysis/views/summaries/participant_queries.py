"""Queries about participants: messages by and to them, kinds, tools, open work, the pattern that allows a call.

Each query is O(messages) of cheap array work, so views run it at most once a second for the selected participant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.open_waits import are_waiting
from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

Found = NDArray[np.int64]

# A server could list pages without end.
_MAX_PAGES = 100
_MAX_TOOLS = 1_000


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a participant offers.

    Attributes:
        name, description: as the server wrote them; "" without a description.
        row: the `tools/list` result that names it.
    """

    name: str
    description: str
    row: int


def messages_from(analysis: Analysis, space: int, name: str) -> Found:
    """Returns the messages of a sender, ascending."""
    columns, stop = analysis.capture.columns, len(analysis)
    code = analysis.capture.strings.find(name)
    if not code:
        return np.empty(0, np.int64)
    return np.flatnonzero((columns["sender"][:stop] == code) & (columns["space"][:stop] == space))


def kinds_of(analysis: Analysis, rows: Found) -> dict[str, int]:
    """Returns the number of messages by canonical kind, most frequent first."""
    counts = np.bincount(analysis.capture.foreign_rpc.kind_codes(rows))
    codes = np.flatnonzero(counts)
    counts = counts[codes]
    order = np.lexsort((codes, -counts))
    return {analysis.capture.strings[int(codes[place])]: int(counts[place]) for place in order.tolist()}


def waiting_messages(analysis: Analysis, rows: Found) -> Found:
    """Returns the pending messages among some (`analysis.passes.calls.open_waits`)."""
    return rows[are_waiting(analysis.capture, analysis.correlation.columns, rows)]


def messages_to(analysis: Analysis, space: int, name: str) -> Found:
    """Returns the messages addressed to a participant by name, ascending, without broadcasts."""
    columns, stop = analysis.capture.columns, len(analysis)
    wanted = analysis.capture.to_sets.sets_with_name(name)
    return np.flatnonzero(wanted[columns["to_set"][:stop]] & (columns["space"][:stop] == space))


def tools_offered(analysis: Analysis, rows: Found) -> list[Tool] | None:
    """Returns the tools in the last `tools/list` result of a participant; None without one.

    A list in pages is read back to its first page.
    """
    columns, strings = analysis.capture.columns, analysis.capture.strings
    response, listing = strings.find(kinds.RESPONSE) or -1, strings.find("tools/list") or -1
    lists = rows[(columns["kind"][rows] == response) & (analysis.correlation.columns["method"][rows] == listing)]
    pages: list[list[Tool]] = []
    for row in lists[-_MAX_PAGES:][::-1].tolist():
        if analysis.capture.flags_of(row) & Flag.ERROR:
            continue
        pages.append(list(_tools_in(analysis, row)))
        if not _is_later_page(analysis, row):
            break
    return [tool for page in reversed(pages) for tool in page][:_MAX_TOOLS] if pages else None


def _tools_in(analysis: Analysis, row: int) -> Iterator[Tool]:
    result: Any = analysis.capture.records.payload(row).get("result")
    tools = result.get("tools") if isinstance(result, dict) else None
    for tool in tools[:_MAX_TOOLS] if isinstance(tools, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            description = tool.get("description")
            yield Tool(tool["name"], description if isinstance(description, str) else "", row)


def _is_later_page(analysis: Analysis, row: int) -> bool:
    asked = int(analysis.correlation.columns["cause"][row])
    if asked == NO_ROW:
        return False
    params: Any = analysis.capture.records.payload(asked).get("params")
    return isinstance(params, dict) and bool(params.get("cursor"))


def shown_numbers(analysis: Analysis) -> NDArray[np.int64]:
    """Returns the numbers of all displayed participants, ascending, thus in order of appearance.

    Each connection of this program has a different id; only the current one is displayed.
    """
    everyone, trust = analysis.participants.all, analysis.trust
    # Otherwise each reconnect would add a row for this program.
    former = [everyone.find(space, name) for space in trust.own for name in trust.former_ids(space)]
    return np.setdiff1d(np.arange(len(everyone)), former)


def shown_participants(analysis: Analysis) -> list[tuple[int, str]]:
    """Returns the same as (string id of the space, name)."""
    return [*map(analysis.participants.all.pair, shown_numbers(analysis).tolist())]


def participants_of(analysis: Analysis, space: int) -> list[Participant]:
    known = analysis.participants.all
    return [known[where, name] for where, name in shown_participants(analysis) if where == space]


def matching_pattern(participant: Participant, call: str) -> str | None:
    """Returns the pattern that allows a participant a `kind[:method[:target]]`, or None.

    A prediction from announced capabilities (docs/protocols.md 12): `*` matches everything, and a short form covers the
    long one. Payload conditions beyond method and name are ignored.
    """
    for pattern in participant.capabilities or ():
        if fnmatchcase(call, pattern) or fnmatchcase(call, f"{pattern}:*"):
            return pattern
    return None


def answering_pattern(participant: Participant, method: str | None, target: str | None) -> str | None:
    """Returns the pattern that allows a participant to answer a call, or None.

    MCPX v0.1 repeats the call in the kind of its answer, and its gateways match that; others send `mcp/response`.
    """
    call = kinds.RESPONSE
    found = matching_pattern(participant, call)
    for part in filter(None, (method, target)):
        call = f"{call}:{part}"
        found = found or matching_pattern(participant, call)
    return found
