"""Checks messages against their MCP revision: removed features, capabilities, caching."""

from __future__ import annotations

from collections import OrderedDict
from itertools import chain, islice
from typing import Any

from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.formats.mcp.checks.conversations import Conversation, McpMessage, seconds_between
from inspector.protocol import mcp_messages
from inspector.protocol.mcp_notes import CAPABILITIES_KEY, CLIENT_KEY, LOG_LEVEL_KEY, SUBSCRIPTION_KEY, Params
from inspector.protocol.timestamps import NO_TIME

BY_SERVER = Check(
    "mcp-request-by-server", ERROR, "Server request in a revision without them",
    "The server requests {call} from the client; since 2026-07-28 it may ask only in its answers.",
    "Clients of that revision do not answer, and the server waits.",
    "Answer the client's request with resultType input_required and the questions.",
    "MCP 2026-07-28, Base protocol: servers must not send requests",
)  # fmt: skip
BY_CLIENT = Check(
    "mcp-answer-by-client", WARNING, "Client answer in a revision without them",
    "The client sends an answer; since 2026-07-28 servers send no requests.",
    "The server cannot assign the answer.",
    "Repeat the call with the answers in inputResponses.",
    "MCP 2026-07-28, Base protocol; Multi round-trip requests",
)  # fmt: skip
META = Check(
    "mcp-meta-missing", ERROR, "Request of 2026-07-28 without its revision",
    "{detail}.",
    "Servers must refuse it, as there is no handshake.",
    "Put protocolVersion and clientCapabilities into _meta of every request.",
    "MCP 2026-07-28, Base protocol, _meta",
    example="The header says 2026-07-28, `_meta` of `tools/call` lacks clientCapabilities",
)  # fmt: skip
NO_TYPE = Check(
    "mcp-result-type-missing", NOTE, "Result without a type",
    "The answer to {call} has no resultType.",
    "Clients must treat it as complete. A question or a task needs a resultType.",
    "Write resultType into every result.",
    "MCP 2026-07-28, Base protocol, results",
)  # fmt: skip
CANCELS = Check(
    "mcp-cancel-by-server", NOTE, "Server cancels a client request",
    "The server cancels a client request other than a subscription.",
    "Clients of 2026-07-28 keep waiting.",
    "Answer the request with an error.",
    "MCP 2026-07-28, Cancellation",
)  # fmt: skip
LOGS = Check(
    "mcp-log-unasked", NOTE, "Unrequested log message",
    "The server sends log messages, but no request has a logLevel.",
    "Clients do not expect them and may show them to users.",
    "Send log messages only for requests with logLevel in _meta.",
    "MCP 2026-07-28, Logging",
)  # fmt: skip
UNDECLARED = Check(
    "mcp-capability-missing", NOTE, "Undeclared capability used",
    "{detail}.",
    "The other side may ignore it.",
    "Declare the capability at the start of the session, or do not use it.",
    "MCP 2024-11-05 to 2025-11-25, Lifecycle, capability negotiation",
    example="The server reports changed tools, but has not declared listChanged",
)  # fmt: skip
ASKED_UNDECLARED = UNDECLARED.with_severity(WARNING, "it is a request")
MIXED = Check(
    "mcp-version-mixed", WARNING, "Two revisions in one request",
    "{detail}.",
    "The receiver may read the message by the wrong rules.",
    "Send the negotiated revision as MCP-Protocol-Version.",
    "MCP 2025-06-18, Transports, protocol version header",
    example="The header says 2025-03-26, but the negotiated revision is 2025-11-25",
)  # fmt: skip
DEPRECATED = Check(
    "mcp-deprecated", NOTE, "Deprecated feature",
    "{detail}.",
    "It works for at least another year, but new clients and servers may not support it.",
    "Use the replacement in the specification.",
    "MCP 2026-07-28, Deprecated features",
    example="`sampling/createMessage` is deprecated",
)  # fmt: skip
LISTEN = Check(
    "mcp-listen-frame", NOTE, "Notification outside its subscription",
    "{detail}.",
    "A client cannot assign it to a subscription and may drop it.",
    "Acknowledge the subscription first. Then send only granted notifications, with its id in _meta.",
    "MCP 2026-07-28, Subscriptions",
    example="`notifications/tools/list_changed` has no subscription id",
)  # fmt: skip
EARLY = Check(
    "mcp-cache-early", NOTE, "Repeated request with a valid cached answer",
    "{detail}.",
    "It costs a round trip, and tokens if the client passes the answer to its model again.",
    "Cache answers for ttlMs, or until a change notification.",
    "MCP 2026-07-28, Caching",
    example="`tools/list` was requested again after 3 s; its answer was valid for 300 s",
)  # fmt: skip
CHECKS = (
    BY_SERVER, META, BY_CLIENT, MIXED, NO_TYPE, CANCELS, LOGS, UNDECLARED, ASKED_UNDECLARED, DEPRECATED, LISTEN, EARLY,
)  # fmt: skip

_CHANGES = {
    "notifications/tools/list_changed": ("tools", "toolsListChanged"),
    "notifications/prompts/list_changed": ("prompts", "promptsListChanged"),
    "notifications/resources/list_changed": ("resources", "resourcesListChanged"),
}
_UPDATED, _ACKNOWLEDGED = "notifications/resources/updated", "notifications/subscriptions/acknowledged"
_SERVER_CAPABILITIES = {
    "completion/complete": ("completions", ""), "logging/setLevel": ("logging", ""),
    "resources/subscribe": ("resources", "subscribe"), "tools/call": ("tools", ""), "tools/list": ("tools", ""),
    "prompts/get": ("prompts", ""), "prompts/list": ("prompts", ""), "resources/read": ("resources", ""),
    "resources/list": ("resources", ""),
}  # fmt: skip
_CLIENT_CAPABILITIES = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
_COMPLETIONS_SINCE = "2025-03-26"
_DEPRECATED = frozenset({"roots/list", "sampling/createMessage", "logging/setLevel", "tasks/list", "tasks/result"})
_DEPRECATED_CODES = (-32002, -32042)
_CACHEABLE_METHODS = {
    "tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources",
    "resources/templates/list": "resources", "resources/read": "resources", "server/discover": "",
}  # fmt: skip
_MAX_CACHED = 1_000
_MAX_SEARCHED = 256
# 32 years; a larger number is no duration.
_MAX_TTL_MS = 1e12


class Revisions:
    """Checks messages against their revision."""

    def __init__(self) -> None:
        self._granted: dict[tuple[int, str], dict[str, Any]] = {}  # by conversation and subscription
        self._cached: dict[int, OrderedDict[tuple[str, str, str], tuple[int, int, float]]] = {}

    def accepts(self, method: str, *, answer: bool) -> bool:
        """Accepts every message, as removed features may occur in any."""
        return True

    def on_message(self, heard: McpMessage) -> None:
        note = heard.note
        if note is None:
            return
        if note.method is None:
            self._answer(heard)
        elif note.method.startswith("notifications/"):
            self._notification(heard, note.method)
        else:
            self._request(heard, note.method)

    def _request(self, heard: McpMessage, method: str) -> None:
        conversation = heard.conversation
        # Servers of older revisions may send requests; a conversation with both eras is not judged.
        if heard.by_server:
            if conversation.modern and not conversation.legacy:
                if conversation.report_once(BY_SERVER, method):
                    heard.report(BY_SERVER)
            elif conversation.legacy and conversation.client_capabilities is not None:
                can = _CLIENT_CAPABILITIES.get(method)
                if (
                    can is not None
                    and can not in conversation.client_capabilities
                    and conversation.report_once(UNDECLARED, method)
                ):
                    heard.report(
                        ASKED_UNDECLARED, f"The server requests `{method}`, but the client has not declared {can}"
                    )
            return
        if heard.modern:
            self._check_early_request(heard, method)
            if method in _DEPRECATED:
                _report_deprecated(heard, method)
        elif (
            conversation.legacy
            and conversation.server_capabilities is not None
            and (needs := _SERVER_CAPABILITIES.get(method))
        ):
            self._check_capability(heard, method, *needs)

    def _check_capability(self, heard: McpMessage, method: str, part: str, member: str) -> None:
        can = heard.conversation.server_capabilities or {}
        if part == "completions" and heard.conversation.version < _COMPLETIONS_SINCE:
            return
        declared = can.get(part)
        lacks = part not in can or (member and isinstance(declared, dict) and declared.get(member) is not True)
        if lacks and heard.conversation.report_once(UNDECLARED, method):
            what = f"{part}.{member}" if member else part
            heard.report(ASKED_UNDECLARED, f"The client requests `{method}`, but the server has not declared {what}")

    def _notification(self, heard: McpMessage, method: str) -> None:
        conversation, note = heard.conversation, heard.note
        if note is None or note.params is None or not heard.by_server:
            return
        self._invalidate_changed(conversation, method, note.params.uri)
        alone = conversation.modern and not conversation.legacy
        if (
            method in _CHANGES
            and conversation.legacy
            and not conversation.modern
            and conversation.server_capabilities is not None
        ):
            part = _CHANGES[method][0]
            declared = conversation.server_capabilities.get(part)
            if not (isinstance(declared, dict) and declared.get("listChanged") is True) and conversation.report_once(
                UNDECLARED, method
            ):
                heard.report(
                    UNDECLARED, f"The server reports that its {part} changed, but has not declared listChanged"
                )
        if not alone:
            return
        # Looked up before `report_once`, which would note a report that is not made.
        if (
            method == "notifications/message"
            and (LOGS.code, "") not in conversation.reported
            and not _log_was_asked(heard)
        ):
            conversation.report_once(LOGS)
            heard.report(LOGS)
        if (
            method == "notifications/cancelled"
            and (CANCELS.code, "") not in conversation.reported
            and not _is_listen(heard)
        ):
            conversation.report_once(CANCELS)
            heard.report(CANCELS)
        if method in _CHANGES or method in (_UPDATED, _ACKNOWLEDGED):
            self._check_subscription(heard, method)
        elif (
            note.params.meta_value(SUBSCRIPTION_KEY) is not None
            and method in _REQUEST_NOTIFICATIONS
            and conversation.report_once(LISTEN, method)
        ):
            heard.report(LISTEN, f"`{method}` belongs to a request, but came for a subscription")

    def _check_subscription(self, heard: McpMessage, method: str) -> None:
        note = heard.note
        if note is None or note.params is None:
            return
        identifier = note.params.meta_value(SUBSCRIPTION_KEY)
        key = heard.conversation.key, repr(identifier)
        wrong = ""
        if identifier is None:
            wrong = f"`{method}` has no subscription id"
        elif method == _ACKNOWLEDGED:
            self._granted[key] = note.params.granted if isinstance(note.params.granted, dict) else {}
            if len(self._granted) > _MAX_CACHED:
                del self._granted[next(iter(self._granted))]
        elif key not in self._granted:
            wrong = f"`{method}` came before its subscription was acknowledged" if heard.conversation.whole else ""
        elif method in _CHANGES and self._granted[key].get(_CHANGES[method][1]) is not True:
            wrong = f"`{method}` was not subscribed to"
        if wrong and heard.conversation.report_once(LISTEN, method):
            heard.report(LISTEN, wrong)

    def _answer(self, heard: McpMessage) -> None:
        conversation, note, asked = heard.conversation, heard.note, heard.asked
        if note is None:
            return
        if (
            not heard.by_server
            and conversation.modern
            and not conversation.legacy
            and conversation.report_once(BY_CLIENT)
        ):
            heard.report(BY_CLIENT)
        if asked is None or not heard.modern or not heard.by_server:
            return
        if note.result is not None:
            if note.result.type is None and conversation.report_once(NO_TYPE):
                heard.report(NO_TYPE)
            self._cache_answer(heard)
            wanted = note.result.inputs if isinstance(note.result.inputs, dict) else {}
            for one in wanted.values():
                method = one.get("method") if isinstance(one, dict) else None
                if isinstance(method, str) and method in _DEPRECATED:
                    _report_deprecated(heard, method)
        elif (
            note.error is not None
            and note.error.code in _DEPRECATED_CODES
            and conversation.report_once(DEPRECATED, str(note.error.code))
        ):
            heard.report(DEPRECATED, f"The error code {note.error.code} belongs to older revisions")

    # Cached answers

    def _cache_answer(self, heard: McpMessage) -> None:
        result, asked = heard.note.result if heard.note is not None else None, heard.asked
        if (
            result is None
            or asked is None
            or asked.method not in _CACHEABLE_METHODS
            or result.type not in (None, "complete")
        ):
            return
        ttl = result.ttl_ms
        if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 < ttl < _MAX_TTL_MS:
            return
        if heard.time_ns == NO_TIME:
            return
        kept = self._cached.setdefault(heard.conversation.key, OrderedDict())
        kept[_cache_key(asked.method, asked.note.params)] = heard.row, heard.time_ns, ttl / 1_000
        if len(kept) > _MAX_CACHED:
            kept.popitem(last=False)

    def _check_early_request(self, heard: McpMessage, method: str) -> None:
        if method not in _CACHEABLE_METHODS or heard.time_ns == NO_TIME or heard.note is None:
            return
        kept = self._cached.get(heard.conversation.key)
        found = kept.get(_cache_key(method, heard.note.params)) if kept is not None else None
        if found is None:
            return
        row, then_ns, good_s = found
        after = seconds_between(heard.time_ns, then_ns)
        if 0 <= after < good_s and heard.conversation.report_once(EARLY, method):
            gap, validity = _duration_text(after), _duration_text(good_s)
            words = f"`{method}` was requested again after {gap}; its answer was valid for {validity}"
            heard.report(EARLY, words, other=row)

    def _invalidate_changed(self, conversation: Conversation, method: str, uri: Any) -> None:
        kept = self._cached.get(conversation.key)
        if kept is None:
            return
        part = _CHANGES[method][0] if method in _CHANGES else None
        for key in [
            key for key in kept if _CACHEABLE_METHODS[key[0]] == part or (method == _UPDATED and key[1] == uri)
        ]:
            del kept[key]


_REQUEST_NOTIFICATIONS = ("notifications/progress", "notifications/message")


def _cache_key(method: str, params: Params | None) -> tuple[str, str, str]:
    """Returns the cache key: method, resource, page with client, as several clients may share a server."""
    if params is None:
        return method, "", ""
    return (
        method,
        params.uri if isinstance(params.uri, str) else "",
        repr((params.cursor, params.meta_value(CLIENT_KEY))),
    )


def _duration_text(value: float) -> str:
    return f"{value:.1f} s" if value < 10 else f"{value:,.0f} s"


def _report_deprecated(heard: McpMessage, method: str) -> None:
    if heard.conversation.report_once(DEPRECATED, method):
        gone = method in ("tasks/list", "tasks/result")
        heard.report(DEPRECATED, f"`{method}` is {'of an older revision' if gone else 'deprecated'}")


def _log_was_asked(heard: McpMessage) -> bool:
    """Returns True if an open request, of the same exchange if there is one, asked for log messages."""
    number = heard.exchange.number if heard.exchange is not None else 0
    latest = islice(reversed(heard.conversation.open.values()), _MAX_SEARCHED)
    asked = [one for one in latest if not number or one.exchange == number]
    # A log line may come just after the answer to its request.
    asked = asked or list(heard.conversation.settled.values())[-1:]
    return any(one.note.params is not None and one.note.params.meta_value(LOG_LEVEL_KEY) is not None for one in asked)


def _is_listen(heard: McpMessage) -> bool:
    wanted = repr(heard.note.params.request_id) if heard.note is not None and heard.note.params is not None else ""
    both = chain(heard.conversation.open.values(), heard.conversation.settled.values())
    return any(one.method == mcp_messages.LISTEN_METHOD and one.note.written_id == wanted for one in both)


def check_meta(heard: McpMessage, said: str) -> None:
    """Checks a request against the revision in the header of its exchange."""
    note = heard.note
    if note is None or note.params is None or note.method is None or not note.written_id:
        return
    version = note.params.meta_value(mcp_messages.VERSION_KEY)
    if said >= mcp_messages.FIRST_MODERN:
        lacks = [
            word
            for word, key in (("protocolVersion", mcp_messages.VERSION_KEY), ("clientCapabilities", CAPABILITIES_KEY))
            if note.params.meta_value(key) is None
        ]
        if lacks:
            heard.report(
                META, f"The header says {said[:20]}, `_meta` of `{note.method[:40]}` lacks {' and '.join(lacks)}"
            )
    elif (
        version is None
        and heard.conversation.version
        and said != heard.conversation.version
        and note.method != "initialize"
    ):
        heard.report(
            MIXED, f"The header says {said[:20]}, but the negotiated revision is {heard.conversation.version[:20]}"
        )
