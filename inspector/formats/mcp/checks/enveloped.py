"""Checks MCP tool lists and calls inside envelopes.

Each participant that answers `tools/list` counts as a server. Records are read again in idle time, and calls only of
participants that have listed tools.
"""

from __future__ import annotations

from array import array
from typing import Any

import msgspec
import numpy as np

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.findings.batch import Batch
from inspector.base.slices import SlicedWork
from inspector.formats.mcp.checks.conversations import Conversation, McpMessage, McpRequest
from inspector.formats.mcp.checks.schemas import SchemaValidation
from inspector.formats.mcp.checks.tools import ToolLists
from inspector.protocol import kinds
from inspector.protocol.header import NotAnObjectError, read_header
from inspector.protocol.mcp_notes import McpNote, note_of
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW

_LIST, _CALL = "tools/list", "tools/call"
_EXCLUDED_FLAGS = np.uint32((Flag.RPC | Flag.DERIVED | Flag.LOG_ONLY).value)
_REVISION = "2025-06-18"
"""Envelopes name no revision. This is the first with output schemas, so only these depend on it."""
# A record is decoded and encoded again in one piece.
_MAX_RECORD_BYTES = 1 << 20


class EnvelopedMcp:
    """Tracks lists and calls in envelopes."""

    def __init__(self) -> None:
        self._tools = ToolLists(needs_schemas=False)
        self._schemas = SchemaValidation(self._tools)
        self._conversations: dict[tuple[int, int], Conversation] = {}  # by space and participant
        self._rows = array("q")
        self._read_count = 0

    def feed(self, batch: Batch) -> None:
        """Queues lists and calls. O(messages in the batch) in numpy."""
        methods = [code for name in (_LIST, _CALL) if (code := batch.code(name)) >= 0]
        if methods:
            rows = np.sort(np.concatenate([batch.rows(kind) for kind in (kinds.REQUEST, kinds.RESPONSE)]))
            rows = rows[
                are_any_of(batch.links["method"][rows], methods)
                & (batch.column_values("flags", rows) & _EXCLUDED_FLAGS == 0)
            ]
            self._rows.extend(rows.tolist())

    def deferred_checks(self, batch: Batch) -> SlicedWork[None]:
        """Reads queued records."""
        if not self._conversations:
            # Before the first list no call is read.
            queued = as_numpy(self._rows)[self._read_count :]
            lists = np.flatnonzero(batch.links["method"][queued] == batch.code(_LIST))
            self._read_count += int(lists[0]) if len(lists) else len(queued)
        while self._read_count < len(self._rows):
            row = self._rows[self._read_count]
            self._read_count += 1
            self._read(batch, row)
            yield
        self._rows, self._read_count = array("q"), 0  # frees the records read
        yield from self._schemas.deferred_checks(batch)

    def _read(self, batch: Batch, row: int) -> None:
        method = batch.capture.strings[int(batch.links["method"][row])]
        asks = batch.string("kind", row) == kinds.REQUEST
        asked = row if asks else int(batch.links["cause"][row])
        if asked == NO_ROW or (asks and method == _LIST):
            return
        server = self._server(batch, row, asks=asks)
        conversation = self._conversations.get(server)
        # Calls are read only after a list, since records are expensive to read.
        if conversation is None:
            if method != _LIST:
                return  # its tools are unknown
            # Negative, so that no connection has the same key.
            conversation = self._conversations[server] = Conversation(-1 - len(self._conversations), version=_REVISION)
        note = _payload_note(batch, row)
        if note is None:
            return
        heard = McpMessage(
            batch, row, conversation, note, int(batch.column_values("time_ns", np.array([row]))[0]), not asks, False
        )
        if not asks:
            heard.asked = _request_of(batch, asked, method, with_note=method == _LIST)
        self._tools.on_message(heard)
        self._schemas.on_message(heard)

    @staticmethod
    def _server(batch: Batch, row: int, *, asks: bool) -> tuple[int, int]:
        """Returns space and server: the single recipient of a request, or the sender of an answer."""
        columns = batch.capture.columns
        to = batch.capture.recipients(row) if asks else ()
        who = (batch.capture.strings.find(to[0]) or -1) if len(to) == 1 else -1
        return int(columns["space"][row]), who if asks else int(columns["sender"][row])


def _request_of(batch: Batch, row: int, method: str, *, with_note: bool) -> McpRequest:
    target = int(batch.links["target"][row])
    note = (_payload_note(batch, row) if with_note else None) or McpNote(method)
    return McpRequest(row, method, batch.capture.strings[target] if target else "", note, 0, False, False, NO_HASH, 0)


def _payload_note(batch: Batch, row: int) -> McpNote | None:
    """Extracts an envelope's payload; None if it is too large or has no message."""
    if int(batch.capture.columns["length"][row]) > _MAX_RECORD_BYTES:
        return None
    payload: Any = batch.capture.records.payload(row)
    try:
        return note_of(read_header(msgspec.json.encode(payload)))
    # Participants may send any payload, also one too deep to encode.
    except (NotAnObjectError, msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return None
