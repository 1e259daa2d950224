"""Checks MCP calls: ids, cancellation, progress, timeouts, lost servers, noise on standard output."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.findings.kinds_and_lines import UNREADABLE
from inspector.formats.mcp.checks.conversations import (
    Conversation,
    McpMessage,
    McpRequest,
    seconds_between,
    settle_request,
)
from inspector.formats.prefixed.reader import DISCONNECTED
from inspector.protocol import mcp_messages
from inspector.protocol.header import ABSENT
from inspector.protocol.mcp_notes import McpNote
from inspector.protocol.secrets.masking import masked_value_text
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag

IN_USE = Check(
    "mcp-id-in-use", WARNING, "Request with the id of an open request",
    "The request has the id of {other}, which has no answer yet.",
    "An answer cannot be assigned to one of the two.",
    "Give each request of a session a unique id.",
    "MCP 2025-06-18, Base protocol: ids must not be used again in a session",
)  # fmt: skip
LATE = Check(
    "mcp-late-result", NOTE, "Answer to a cancelled call",
    "{detail}.",
    "The work was useless, and a client may assign the answer to another request.",
    "Stop work on a cancelled request, and do not answer it.",
    "MCP 2025-06-18, Cancellation",
    example="Answered 4.0 s after the client had cancelled",
)  # fmt: skip
CONTINUES_AFTER_CANCEL = Check(
    "mcp-goes-on-after-cancel", NOTE, "Server continues a cancelled request",
    "{detail}.",
    "The server's work is useless.",
    "Make the tool check for a cancel between its steps.",
    "MCP 2025-06-18, Cancellation: receivers should stop",
    example="The server sent progress 2.0 s after the client had cancelled",
)  # fmt: skip
UNKNOWN = Check(
    "mcp-progress-unknown", NOTE, "Progress without a request",
    "{detail}.",
    "The client cannot assign it to a call.",
    "Send progress only for the token of an open request, and stop with its answer.",
    "MCP 2025-06-18, Progress",
    example="Progress for `nobody`, which is not the token of an open request",
)  # fmt: skip
BACKWARDS = Check(
    "mcp-progress-backwards", NOTE, "Progress does not increase",
    "{detail}.",
    "Users see a progress bar that stops or jumps back.",
    "Increase progress with each notification.",
    "MCP 2025-06-18, Progress: the value must increase",
    example="Progress went from 3 to 2",
)  # fmt: skip
NOISE = Check(
    "mcp-stdout-noise", WARNING, "Server prints on the protocol channel",
    "{detail}.",
    "Clients expect messages and may end the connection.",
    "Write logs to standard error, or send them as notifications/message.",
    "MCP 2025-06-18, Transports, stdio: nothing but messages on standard output",
    example="“debug: weighing 1” in place of a message (6 lines)",
)  # fmt: skip
TIMED_OUT = Check(
    "mcp-timed-out", WARNING, "MCP request timed out",
    "{detail}.",
    "The client continues without the answer. Without the tool list, its model sees no tools of the server.",
    "Check why the server does not answer: its log, and prompts at its start.",
    "MCP 2025-06-18, Lifecycle, timeouts",
    example="The client gave up tools/list after 60.0 s: “Request timed out”",
)  # fmt: skip
LOST = Check(
    "mcp-server-lost", WARNING, "Server disconnected",
    "The client lost its connection to the server {who}.",
    "Its tools are gone for the rest of the session, and its open requests have no answer.",
    "Check why its process ended: its log, its command, and its requirements.",
    "Claude Desktop: “Server disconnected”; VS Code: “Connection state: Error”", on_transcripts=True,
)  # fmt: skip
CHECKS = (NOISE, IN_USE, LATE, CONTINUES_AFTER_CANCEL, UNKNOWN, BACKWARDS, TIMED_OUT, LOST)

_RACE_S, _GRACE_S = 0.1, 1.0
_CANCELLED_CODE = -32800
"""Error code of the Python SDK 2.3 for a cancelled request."""
_MAX_TOKENS, _MAX_OPEN, _MAX_SEARCHED = 10_000, 10_000, 128
_TASKS = "tasks/"
_FAILED = 400


_Latest = OrderedDict[tuple[bool, int], McpRequest]


class CallTracker:
    """Tracks request ids and progress tokens."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[tuple[int, str], _Token] = OrderedDict()  # by conversation, and side with token
        self._latest: dict[int, _Latest] = {}  # by conversation: open request per side and id
        self._exchanges: dict[tuple[int, int], McpRequest] = {}  # by source and HTTP exchange: its last call

    def on_message(self, heard: McpMessage) -> None:
        note = heard.note
        if note is None:
            self._end_exchange(heard)
        elif note.method is None:
            self._answer(heard)
        elif note.method == "notifications/cancelled" and note.params is not None:
            self._cancel(heard, note.params.request_id, note.params.reason)
        elif note.method == "notifications/progress" and note.params is not None:
            self._progress(heard, note.params.token, note.params.progress)
        elif note.written_id:
            self._request(heard)

    def _request(self, heard: McpMessage) -> None:
        note, own = heard.note, heard.conversation.open.get(heard.row)
        if note is None or own is None:
            return
        latest = self._latest.get(heard.conversation.key)
        if latest is None:
            latest = self._latest[heard.conversation.key] = OrderedDict()
        key = own.by_server, own.rpc_hash
        before = latest.pop(key, None)
        if before is not None and before.row in heard.conversation.open and before.cancelled_ns is None:
            heard.report(IN_USE, other=before.row)
        # Ids are unique per side only: client and server may both use 1.
        latest[key] = own
        if len(latest) > _MAX_OPEN:
            latest.popitem(last=False)
        if own.exchange:
            self._exchanges[heard.conversation.source, own.exchange] = own
            if len(self._exchanges) > _MAX_TOKENS:
                del self._exchanges[next(iter(self._exchanges))]
        # A person may take minutes to answer, and the call that caused the question waits as well.
        if own.by_server and own.method in mcp_messages.SERVER_METHODS:
            _restart_waits(heard, _USER_INPUT_NS)
        token = note.params.meta_value("progressToken") if note.params is not None else None
        if token is not None:
            name = heard.conversation.key, _token_key(own.by_server, token)
            self._tokens.pop(name, None)  # keeps the latest token last
            self._tokens[name] = _Token(own)
            if len(self._tokens) > _MAX_TOKENS:
                self._tokens.popitem(last=False)

    def _cancel(self, heard: McpMessage, identifier: Any, reason: Any) -> None:
        """Notes that a request was cancelled; it stays open until it is answered."""
        written = repr(identifier)
        for asked in islice(reversed(heard.conversation.open.values()), _MAX_SEARCHED):
            if asked.note.written_id == written and asked.by_server == heard.by_server:
                if asked.cancelled_ns is None:
                    asked.cancelled_ns = heard.time_ns
                    _report_timeout(heard, asked, reason)
                return

    def _answer(self, heard: McpMessage) -> None:
        asked, note = heard.asked, heard.note
        if asked is None or note is None:
            return
        heard.batch.mcp.end(asked.row)
        if asked.by_server:
            _restart_waits(heard)
        latest, key = self._latest.get(heard.conversation.key), (asked.by_server, asked.rpc_hash)
        if latest is not None and latest.get(key) is asked:
            del latest[key]
        request = asked.note.params
        token = request.meta_value("progressToken") if request is not None else None
        found = (
            self._tokens.get((heard.conversation.key, _token_key(asked.by_server, token)))
            if token is not None
            else None
        )
        if found is not None:
            found.answered_ns = heard.time_ns
            found.asked = replace(asked, note=McpNote())  # drops the request's content, which is no longer needed
            result = note.result
            # A call that became a task reports progress after its answer.
            found.lives_on = result is not None and (result.task is not None or result.task_id is not None)
        if (
            asked.cancelled_ns is None
            or asked.method.startswith(_TASKS)
            or NO_TIME in (heard.time_ns, asked.cancelled_ns)
        ):
            return
        after = seconds_between(heard.time_ns, asked.cancelled_ns)
        # An answer may cross the cancel on the wire.
        if after >= _RACE_S and not (note.error is not None and note.error.code == _CANCELLED_CODE):
            heard.report(LATE, f"Answered {after:.1f} s after the client had cancelled", other=asked.row)

    def _end_exchange(self, heard: McpMessage) -> None:
        """Ends an exchange. Since 2026-07-28, a client that closes it cancels its request."""
        exchange = heard.exchange
        if exchange is None or not exchange.is_end:
            return
        asked = self._exchanges.pop((heard.conversation.source, exchange.number), None)
        if asked is None or asked.row not in heard.conversation.open:
            return
        if exchange.status >= _FAILED:  # refused; the client may retry with the same id
            settle_request(heard.conversation, asked)
        elif exchange.hung_up and asked.modern:
            asked.cancelled_ns = heard.time_ns

    def _progress(self, heard: McpMessage, token: Any, value: Any) -> None:
        name = _token_key(not heard.by_server, token)
        found = self._tokens.get((heard.conversation.key, name)) if token is not ABSENT else None
        if found is None:
            if heard.conversation.whole and heard.conversation.report_once(UNKNOWN, name):
                heard.report(UNKNOWN, f"Progress for `{str(token)[:40]}`, which is not the token of an open request")
            return
        self._check_progress_time(heard, found)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return
        if found.last is not None and not value > found.last and not found.told:
            found.told = True
            heard.report(BACKWARDS, f"Progress went from {found.last:g} to {value:g}", other=found.asked.row)
        found.last = value

    def _check_progress_time(self, heard: McpMessage, found: _Token) -> None:
        """Reports progress after an answer or a cancel."""
        asked, now = found.asked, heard.time_ns
        if now == NO_TIME:
            return
        if asked.row in heard.conversation.open:
            heard.batch.mcp.note_progress(asked.row, now)
        cancelled = asked.cancelled_ns
        if cancelled is not None and cancelled != NO_TIME and seconds_between(now, cancelled) > _GRACE_S:
            if heard.conversation.report_once(CONTINUES_AFTER_CANCEL, str(asked.row)):
                after = seconds_between(now, cancelled)
                words = f"The server sent progress {after:.1f} s after the client had cancelled"
                heard.report(CONTINUES_AFTER_CANCEL, words, other=asked.row)
            return
        answered = found.answered_ns
        over = answered not in (None, NO_TIME) and not found.lives_on and seconds_between(now, answered or 0) > _GRACE_S
        if over and heard.conversation.report_once(UNKNOWN, f"answered {asked.row}"):
            heard.report(UNKNOWN, "Progress of a request that already has an answer", other=asked.row)


_TIMED_OUT = re.compile(r"(?:request|call) timed out|timeout", re.IGNORECASE)
_MAX_REASON_CHARS = 200


def _report_timeout(heard: McpMessage, asked: McpRequest, reason: Any) -> None:
    """Reports a request that was cancelled because of a timeout."""
    found = _TIMED_OUT.search(reason[:_MAX_REASON_CHARS]) if isinstance(reason, str) else None
    if found is None:
        return
    who = "server" if asked.by_server else "client"
    known = NO_TIME not in (heard.time_ns, asked.time_ns) and heard.time_ns >= asked.time_ns
    after = f" after {seconds_between(heard.time_ns, asked.time_ns):.1f} s" if known else ""
    words = f"The {who} gave up {masked_value_text(asked.method, _MAX_METHOD_CHARS)}{after}: “{found[0]}”"
    heard.report(TIMED_OUT, words, row=asked.row, other=heard.row)


_MAX_METHOD_CHARS = 60
_USER_INPUT_NS = 240_000_000_000
"""Extra waiting time in ns for a call whose server asks the user a question."""


def _restart_waits(heard: McpMessage, more_ns: int = 0) -> None:
    """Restarts the wait of open calls: a question of the server may belong to any of them."""
    if heard.time_ns == NO_TIME:
        return
    # A message of the server does not name the call that it belongs to, so the latest ones wait longer.
    for one in islice(reversed(heard.conversation.open.values()), _MAX_RESTARTED):
        if not one.by_server:
            heard.batch.mcp.note_progress(one.row, heard.time_ns + more_ns)


_MAX_RESTARTED = 16


class _Token:
    """A progress token: its request, and the last progress."""

    __slots__ = ("answered_ns", "asked", "last", "lives_on", "told")

    def __init__(self, asked: McpRequest) -> None:
        self.asked = asked
        self.last: float | None = None
        self.answered_ns: int | None = None
        self.lives_on = False
        self.told = False


def _token_key(by_server: bool, token: Any) -> str:
    return f"{'s' if by_server else 'c'}{token!r}"


def report_lost_servers(batch: Batch) -> None:
    """Reports lines of clients that lost a server. O(such lines)."""
    rows = batch.rows(DISCONNECTED)
    batch.findings.add(LOST, rows[batch.column_values("flags", rows) & Flag.DERIVED.value != 0])


def merge_noise_findings(batch: Batch, conversation: Conversation) -> None:
    """Replaces a server's noise lines by one finding."""
    rows = [row for row, _ in conversation.noise]
    words = next((" ".join(text.split()) for _, text in conversation.noise if text.strip()), "")
    first = next((row for row, text in conversation.noise if text.strip()), rows[0])
    count = f"{len(rows):,} line{'s' * (len(rows) != 1)}"
    no_rpc = words.startswith(("{", "["))
    what = "JSON other than JSON-RPC" if no_rpc else f"“{words[:60]}”"
    at = np.array([first], np.int64)
    if batch.findings.has(NOISE, at)[0]:
        batch.findings.withdraw(NOISE, at)
    batch.mcp.noise.update(rows)
    noise = np.array(rows, np.int64)
    batch.findings.withdraw(UNREADABLE, noise[batch.findings.has(UNREADABLE, noise)])
    batch.findings.add(NOISE, at, details=f"{what} in place of a message ({count})")
