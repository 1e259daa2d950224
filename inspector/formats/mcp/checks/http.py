"""Checks MCP over HTTP: headers against bodies, lost sessions, sign-in, error statuses."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import numpy as np

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.formats.mcp.checks.conversations import McpMessage, seconds_between
from inspector.formats.mcp.checks.revisions import check_meta
from inspector.formats.mcp.checks.tools import ToolLists
from inspector.formats.wire_recording.reader import PARAMETER_PREFIX
from inspector.protocol import mcp_messages
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.record import HttpExchange
from inspector.protocol.timestamps import NO_TIME

MISMATCH = Check(
    "mcp-header-mismatch", WARNING, "Headers differ from the body",
    "{detail}.",
    "Proxies that route or authorize by headers see a different call from the one the server runs.",
    "Create the headers from the body, and let no proxy change one of them alone.",
    "MCP 2026-07-28, Streamable HTTP, standard headers; SEP-2243",
    example="The header says `scuttle`, the body `tide`",
)  # fmt: skip
LOST = Check(
    "mcp-session-lost", NOTE, "Session unknown to the server",
    "{detail}.",
    "Its open requests are never answered; the client must start a new session.",
    "Start a new session on status 404, and check how long the server keeps sessions.",
    "MCP 2025-11-25, Transports, session management",
    example="The server no longer knows the session",
)  # fmt: skip
LOST_FOR_GOOD = LOST.with_severity(WARNING, "the client starts no new session within a minute")
AUTH = Check(
    "mcp-auth-refused", WARNING, "Not signed in or not allowed",
    "{detail}.",
    "The client cannot use the server until it has signed in.",
    "Sign in again in the client, with the scope that the server names.",
    "MCP 2025-06-18, Authorization; RFC 9110, 11.6.1",
    example="Status 401: the server requires a sign-in by “Bearer”, with scope “berths:read”",
)  # fmt: skip
SIGNED_IN = AUTH.with_severity(NOTE, "access works more than a minute later, after a sign-in")
STATUS = Check(
    "mcp-http-status", WARNING, "HTTP error without an MCP answer",
    "{detail}.",
    "The client gets only the status, and its request has no answer.",
    "Check the server and the way to it: a proxy, a limit, a wrong address.",
    "MCP 2025-11-25, Transports; RFC 9110, 15",
    example="Status 429 (Too Many Requests) without a message; try again after 30 s",
)  # fmt: skip
CHECKS = (MISMATCH, LOST, LOST_FOR_GOOD, AUTH, SIGNED_IN, STATUS)

_NAMED_BY = {
    "tools/call": "name", "prompts/get": "name", "resources/read": "uri", "tasks/get": "task_id",
    "tasks/update": "task_id", "tasks/cancel": "task_id",
}  # fmt: skip
_REFUSED = -32020
_OF_HTTP = (406, 415, 421, 429)
_SOON_S = 60
_BASE64 = re.compile(r"=\?base64\?([A-Za-z0-9+/=_-]*)\?=", re.IGNORECASE)
_PARAMETERS = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))')
_MAX_TRACKED = 10_000


@dataclass(slots=True)
class _Exchange:
    """An open HTTP exchange."""

    row: int
    method: str
    session: str | None
    path: str | None
    asked: list[int] = field(default_factory=list)
    mismatch: bool = False
    initializes: bool = False


class HttpExchanges:
    """Tracks HTTP exchanges.

    Args:
        tools: listed tools; some of their arguments are mirrored in headers.
    """

    def __init__(self, tools: ToolLists) -> None:
        self._tools = tools
        self._open: dict[tuple[int, int], _Exchange] = {}  # by source and number
        self._answered_sessions: set[tuple[int, str]] = (
            set()
        )  # (source, session) of sessions that a server has answered
        self._ended_sessions: set[tuple[int, str]] = set()  # (source, session) of sessions that their client ended
        self._refused: dict[tuple[int, str], tuple[int, int]] = {}  # by source and path: row and time of a refusal
        self._lost_sessions: dict[
            tuple[int, str], tuple[int, int]
        ] = {}  # by source and path: row and time of a lost session

    def on_message(self, heard: McpMessage) -> None:
        exchange = heard.exchange
        if exchange is None:
            return
        key = heard.conversation.source, exchange.number
        if exchange.is_request:
            known = self._open.get(key)
            if known is None or known.row != heard.row:
                known = self._open[key] = _Exchange(
                    heard.row, (exchange.method or "").upper(), exchange.session, exchange.path,
                    initializes=exchange.initializes,
                )  # fmt: skip
                if len(self._open) > _MAX_TRACKED:
                    del self._open[next(iter(self._open))]
            if known.initializes:
                self._note_new_session(heard, known)
            if heard.note is not None and exchange.headers is not None:
                self._request(heard, exchange.headers, known)
            return
        known = self._open.get(key)
        if known is None:
            return
        if exchange.headers is not None and exchange.status:
            self._response(heard, exchange, known)
        error = heard.note.error if heard.note is not None else None
        if error is not None and error.code == _REFUSED and not known.mismatch:
            heard.report(MISMATCH, "The server reports that headers and body differ", other=known.row)
        if exchange.is_end:
            del self._open[key]

    # Requests

    def _request(self, heard: McpMessage, headers: dict[str, str], known: _Exchange) -> None:
        note = heard.note
        if note is None or note.params is None or note.method is None:
            return
        said = headers.get("mcp-protocol-version")
        if said is not None:
            check_meta(heard, said)
        version = note.params.meta_value(mcp_messages.VERSION_KEY)
        spoken = version if isinstance(version, str) else said or ""
        if spoken < mcp_messages.FIRST_MODERN or not note.written_id:
            return
        wrong = self._first_difference(heard, headers, version)
        if wrong:
            known.mismatch = True
            heard.report(MISMATCH, wrong)

    def _first_difference(self, heard: McpMessage, headers: dict[str, str], version: Any) -> str:
        note = heard.note
        if note is None or note.params is None or note.method is None:
            return ""
        pairs: list[tuple[str, Any]] = [("mcp-method", note.method)]
        if isinstance(version, str):
            pairs.insert(0, ("mcp-protocol-version", version))
        if (member := _NAMED_BY.get(note.method)) is not None:
            pairs.append(("mcp-name", getattr(note.params, member)))
        for name, meant in pairs:
            if not isinstance(meant, str):
                continue
            if name not in headers:
                return f"The header {_title(name)} is missing; the body says `{meant[:48]}`"
            if (given := _decoded(headers[name])) != meant:
                return f"The header says `{given[:48]}`, the body `{meant[:48]}`"
        return self._parameter_difference(heard, headers)

    def _parameter_difference(self, heard: McpMessage, headers: dict[str, str]) -> str:
        """Checks arguments that headers mirror by the tool's schema (`x-mcp-header`)."""
        note, tool_list = heard.note, self._tools.lists.get((heard.conversation.key, True))
        if note is None or note.params is None or note.method != "tools/call" or tool_list is None:
            return ""
        tool = tool_list.definition(note.params.name) if isinstance(note.params.name, str) else None
        schema = tool.input_schema if tool is not None else None
        properties = schema.get("properties") if isinstance(schema, dict) else None
        mirrored = {
            name: inner["x-mcp-header"].lower()
            for name, inner in (properties.items() if isinstance(properties, dict) else ())
            if isinstance(inner, dict) and isinstance(inner.get("x-mcp-header"), str)
        }
        if not mirrored:
            return ""
        try:
            arguments = decode_json(bytes(note.params.arguments) or b"{}")
        except NotAnObjectError:
            return ""
        for name, header in mirrored.items():
            meant, given = arguments.get(name), headers.get(PARAMETER_PREFIX + header)
            # Objects and lists have no form in a header.
            if meant is None or isinstance(meant, dict | list):
                continue
            if given is None:
                return f"The header Mcp-Param-{header.title()} for `{name[:40]}` is missing"
            if not _is_same(_decoded(given), meant):
                return f"The header Mcp-Param-{header.title()} differs from `{name[:40]}` in the body"
        return ""

    # Answers

    def _response(self, heard: McpMessage, exchange: HttpExchange, known: _Exchange) -> None:
        status, source = exchange.status, heard.conversation.source
        headers = exchange.headers or {}
        session = exchange.session or known.session
        if status < 400:
            # Only a session that worked can be lost; a client may also send an invented one.
            if session is not None and len(self._answered_sessions) < _MAX_TRACKED:
                self._answered_sessions.add((source, session))
            self._note_success(heard, known)
            if known.method == "DELETE" and known.session is not None:
                self._answered_sessions.discard((source, known.session))
                self._ended_sessions.add((source, known.session))
            return
        # The common start of a sign-in; `_note_success` removes the finding if access works soon after.
        if status in (401, 403):
            heard.report(
                AUTH, f"Status {status}: {_describe_challenge(headers.get('www-authenticate', ''))}", other=known.row
            )
            self._refused[source, known.path or ""] = heard.row, heard.time_ns
        elif status == 404 and known.session is not None:
            self._report_lost_session(heard, known, exchange.number)
        # The specification allows servers to refuse GET and DELETE.
        elif status == 405 and known.method != "POST":
            return
        elif heard.note is None or status in _OF_HTTP:
            again = headers.get("retry-after", "").strip()
            wait = f"; try again after {again[:30]}{' s' if again.isdigit() else ''}" if again else ""
            what = "" if heard.note is not None else " without a message"
            heard.report(STATUS, f"Status {_status(status)}{what}{wait}", other=known.row)

    def _report_lost_session(self, heard: McpMessage, known: _Exchange, exchange: int) -> None:
        key = heard.conversation.source, known.session or ""
        if key in self._answered_sessions:
            left = sum(not one.by_server and one.exchange != exchange for one in heard.conversation.open.values())
            calls = (
                f"; {left:,} more call{'s' * (left > 1)} in it ha{'ve' if left > 1 else 's'} no answer" if left else ""
            )
            words = f"The server no longer knows the session{calls}"
            heard.report(LOST_FOR_GOOD, words, other=known.row)
            self._lost_sessions[heard.conversation.source, known.path or ""] = heard.row, heard.time_ns
            self._answered_sessions.discard(key)
        elif key in self._ended_sessions:
            heard.report(LOST, "The client continues a session that it has ended", other=known.row)
        elif heard.note is None:
            heard.report(STATUS, "Status 404 (Not Found) without a message", other=known.row)

    def _note_new_session(self, heard: McpMessage, known: _Exchange) -> None:
        """Lowers the finding about a lost session if its client starts a new one soon."""
        lost = self._lost_sessions.pop((heard.conversation.source, known.path or ""), None)
        if lost is not None and _is_soon(heard, lost[1]):
            _replace_finding(heard.batch, lost[0], LOST_FOR_GOOD, LOST)

    def _note_success(self, heard: McpMessage, known: _Exchange) -> None:
        """Lowers or withdraws the finding about a refusal that was followed by success."""
        refused = self._refused.pop((heard.conversation.source, known.path or ""), None)
        if refused is not None:
            _replace_finding(heard.batch, refused[0], AUTH, None if _is_soon(heard, refused[1]) else SIGNED_IN)


def _is_soon(heard: McpMessage, then_ns: int) -> bool:
    return NO_TIME not in (then_ns, heard.time_ns) and 0 <= seconds_between(heard.time_ns, then_ns) <= _SOON_S


def _replace_finding(batch: Batch, row: int, told: Check, now: Check | None) -> None:
    """Replaces a finding by one of another severity, or removes it."""
    found = next((one for one in batch.findings.findings_about(row) if one.check is told), None)
    if found is not None:
        rows = np.array([row], np.int64)
        batch.findings.withdraw(told, rows)
        if now is not None:
            batch.findings.add(now, rows, others=found.other, details=found.detail)


def _status(status: int) -> str:
    """Formats a status with its phrase."""
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


def _title(name: str) -> str:
    return "MCP-Protocol-Version" if name == "mcp-protocol-version" else name.title()


def _decoded(value: str) -> str:
    """Decodes a header value; non-ASCII values are in Base64 (MCP 2026-07-28, Streamable HTTP)."""
    found = _BASE64.fullmatch(value.strip())
    if found is None:
        return value.strip()
    try:
        return base64.b64decode(found[1] + "=" * (-len(found[1]) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return value


def _is_same(given: str, meant: Any) -> bool:
    if isinstance(meant, bool):
        return given.lower() == str(meant).lower()
    if isinstance(meant, int | float):
        try:
            return float(given) == float(meant)
        except (ValueError, OverflowError):
            return False
    return given in (str(meant), str(meant).strip())  # headers lose surrounding blanks


def _describe_challenge(header: str) -> str:
    """Describes a WWW-Authenticate challenge."""
    if not header:
        return "the server does not name a sign-in method"
    scheme = header.split(None, 1)[0].strip(",")[:20]
    named = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETERS.findall(header)}
    scope = f", with scope “{named['scope'][:60]}”" if named.get("scope") else ""
    error = f", as of {named['error'][:40]}" if named.get("error") else ""
    return f"the server requires a sign-in by “{scheme}”{scope}{error}"
