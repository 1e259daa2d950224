"""MCP traffic as such: revisions, and how many requests were made and answered."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.connections import connection_keys
from inspector.analysis.passes.changes import Rows
from inspector.protocol import kinds, mcp_messages
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW


class RpcTotals(NamedTuple):
    """JSON-RPC of clients.

    Attributes:
        requests: that want an answer; one that is made again under the id of an open one is counted once.
        answered: of these.
        errors: answers of either side with an error, also to nothing that was asked.
        versions: revisions of MCP that requests name, or that were agreed on, in the order seen.
    """

    requests: int
    answered: int
    errors: int
    versions: list[str]


def rpc_totals(analysis: Analysis) -> RpcTotals:
    """Count JSON-RPC requests. O(messages) in numpy, and a look at each failed answer."""
    capture, links = analysis.capture, analysis.correlation.columns
    columns, strings = capture.columns, capture.strings
    of_rpc = columns["flags"] & np.uint32(Flag.RPC.value) != 0
    request, response = (strings.find(name) or -1 for name in (kinds.REQUEST, kinds.RESPONSE))
    by_server = columns["sender"] == (strings.find("server") or -1)
    asked = of_rpc & (columns["kind"] == request) & (columns["rpc_hash"] != NO_HASH) & ~by_server
    servers = [code for name in mcp_messages.SERVER_METHODS if (code := strings.find(name))]
    rows = np.flatnonzero(asked & ~np.isin(links["method"][:], servers))
    rows = rows[~_made_again(analysis, rows)]
    failed = of_rpc & (columns["kind"] == response) & (columns["flags"] & np.uint32(Flag.ERROR.value) != 0)
    errors = sum("error" in capture.records.payload(row) for row in np.flatnonzero(failed).tolist())
    named = capture.extracted.mcp("version", capture.extracted.mcp_rows.astype(np.int64))
    versions = [strings[code] for code in dict.fromkeys(named.tolist()) if code]
    return RpcTotals(len(rows), int(np.count_nonzero(links["answer"][rows] != NO_ROW)), errors, versions)


def _made_again(analysis: Analysis, rows: Rows) -> NDArray[np.bool_]:
    """(n,) which of some requests, ascending, were made once more under the same id before they were answered."""
    columns, links = analysis.capture.columns, analysis.correlation.columns
    pipes, ids = connection_keys(analysis.capture, rows), columns["rpc_hash"][rows]
    order = np.lexsort((np.arange(len(rows)), links["method"][rows], ids, pipes))
    here, after = order[:-1], order[1:]
    same = (pipes[here] == pipes[after]) & (ids[here] == ids[after])
    same &= links["method"][rows[here]] == links["method"][rows[after]]
    found = np.zeros(len(rows), np.bool_)
    found[here[same & (links["answer"][rows[here]] == NO_ROW)]] = True
    return found


def versions(analysis: Analysis, rows: Rows) -> NDArray[Any]:
    """(n,) string ids of the revision of MCP that some messages speak, 0 where nothing says which.

    What a request names counts for its answer; else what was agreed on last in its conversation.
    """
    capture, links = analysis.capture, analysis.correlation.columns
    if not len(capture.extracted.mcp_rows):
        return np.zeros(len(rows), np.uint32)
    found = capture.extracted.mcp("version", rows).astype(np.uint32)
    of_rpc = capture.columns["flags"][rows] & np.uint32(Flag.RPC.value) != 0
    left = np.flatnonzero(of_rpc & (found == 0))
    causes = links["cause"][rows[left]].astype(np.int64)
    asked = left[causes != NO_ROW]
    found[asked] = capture.extracted.mcp("version", causes[causes != NO_ROW])
    left = np.flatnonzero(of_rpc & (found == 0))
    found[left] = _agreed(analysis, rows[left])
    return found


def _agreed(analysis: Analysis, rows: Rows) -> NDArray[Any]:
    """(n,) what answers to `initialize` had agreed on when some messages came."""
    capture = analysis.capture
    told = capture.extracted.mcp_rows.astype(np.int64)
    response = capture.strings.find(kinds.RESPONSE) or -1
    told = told[(capture.columns["kind"][told] == response) & (capture.extracted.mcp("version", told) != 0)]
    found = np.zeros(len(rows), np.uint32)
    if not len(told):
        return found
    pipes, said = connection_keys(capture, told), capture.extracted.mcp("version", told)
    ours = connection_keys(capture, rows)
    for pipe in np.unique(ours).tolist():
        of_pipe = np.flatnonzero(pipes == pipe)
        if not len(of_pipe):
            continue
        mine = np.flatnonzero(ours == pipe)
        places = np.searchsorted(told[of_pipe], rows[mine], side="right") - 1
        found[mine] = np.where(places >= 0, said[of_pipe[np.maximum(places, 0)]], 0)
    return found
