"""Counts MCP requests and answers, and finds the revisions in use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.client_runs import connection_keys
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol import kinds, mcp_messages
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW


class RpcTotals(NamedTuple):
    """JSON-RPC traffic of clients.

    Attributes:
        requests: requests that need an answer; a repeat with the id of an open one is not counted.
        answered: number of these with an answer.
        errors: error answers of both sides, including ones without a request.
        versions: MCP revisions named in requests or negotiated, in order of appearance.
    """

    requests: int
    answered: int
    errors: int
    versions: list[str]


def rpc_totals(analysis: Analysis) -> RpcTotals:
    """Counts JSON-RPC requests. O(messages) in numpy, plus a read of each failed answer."""
    capture, links = analysis.capture, analysis.correlation.columns
    columns, strings = capture.columns, capture.strings
    of_rpc = columns["flags"] & np.uint32(Flag.RPC.value) != 0
    request, response = (strings.find(name) or -1 for name in (kinds.REQUEST, kinds.RESPONSE))
    by_server = columns["sender"] == (strings.find("server") or -1)
    asked = of_rpc & (columns["kind"] == request) & (columns["rpc_hash"] != NO_HASH) & ~by_server
    servers = [code for name in mcp_messages.SERVER_METHODS if (code := strings.find(name))]
    rows = np.flatnonzero(asked & ~np.isin(links["method"][:], servers))
    rows = rows[~_are_repeated(analysis, rows)]
    failed = of_rpc & (columns["kind"] == response) & (columns["flags"] & np.uint32(Flag.ERROR.value) != 0)
    errors = sum("error" in capture.records.payload(row) for row in np.flatnonzero(failed).tolist())
    named = capture.extracted.mcp_values("version", capture.extracted.mcp_rows.astype(np.int64))
    versions = [strings[code] for code in dict.fromkeys(named.tolist()) if code]
    return RpcTotals(len(rows), int(np.count_nonzero(links["answer"][rows] != NO_ROW)), errors, versions)


def _are_repeated(analysis: Analysis, rows: Rows) -> NDArray[np.bool_]:
    """(n,) bool: True for requests, ascending, repeated with the same id before their answer."""
    columns, links = analysis.capture.columns, analysis.correlation.columns
    pipes, ids = connection_keys(analysis.capture, rows), columns["rpc_hash"][rows]
    # Repeats of one request are adjacent in this order.
    order = np.lexsort((np.arange(len(rows)), links["method"][rows], ids, pipes))
    here, after = order[:-1], order[1:]
    same = (pipes[here] == pipes[after]) & (ids[here] == ids[after])
    same &= links["method"][rows[here]] == links["method"][rows[after]]
    found = np.zeros(len(rows), np.bool_)
    found[here[same & (links["answer"][rows[here]] == NO_ROW)]] = True
    return found


def mcp_revisions(analysis: Analysis, rows: Rows) -> NDArray[Any]:
    """(n,) string ids of the MCP revision of each message, 0 if unknown.

    The revision of a request also applies to its answer; otherwise the last one negotiated in the conversation counts.
    """
    capture, links = analysis.capture, analysis.correlation.columns
    if not len(capture.extracted.mcp_rows):
        return np.zeros(len(rows), np.uint32)
    found = capture.extracted.mcp_values("version", rows).astype(np.uint32)
    of_rpc = capture.columns["flags"][rows] & np.uint32(Flag.RPC.value) != 0
    left = np.flatnonzero(of_rpc & (found == 0))
    causes = links["cause"][rows[left]].astype(np.int64)
    asked = left[causes != NO_ROW]
    found[asked] = capture.extracted.mcp_values("version", causes[causes != NO_ROW])
    left = np.flatnonzero(of_rpc & (found == 0))
    found[left] = _negotiated_revisions(analysis, rows[left])
    return found


def _negotiated_revisions(analysis: Analysis, rows: Rows) -> NDArray[Any]:
    """(n,) the revision negotiated by `initialize` at the time of each message."""
    capture = analysis.capture
    told = capture.extracted.mcp_rows.astype(np.int64)
    response = capture.strings.find(kinds.RESPONSE) or -1
    told = told[(capture.columns["kind"][told] == response) & (capture.extracted.mcp_values("version", told) != 0)]
    found = np.zeros(len(rows), np.uint32)
    if not len(told):
        return found
    pipes, said = connection_keys(capture, told), capture.extracted.mcp_values("version", told)
    ours = connection_keys(capture, rows)
    for pipe in np.unique(ours).tolist():
        of_pipe = np.flatnonzero(pipes == pipe)
        if not len(of_pipe):
            continue
        mine = np.flatnonzero(ours == pipe)
        places = np.searchsorted(told[of_pipe], rows[mine], side="right") - 1
        found[mine] = np.where(places >= 0, said[of_pipe[np.maximum(places, 0)]], 0)
    return found
