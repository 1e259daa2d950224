"""Facts that lines of ACP need from earlier ones: sessions, replayed histories, titles of tools, pieces of texts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from inspector.base.limited_dicts import set_limited
from inspector.formats.acp import reader as acp
from inspector.formats.agent_rpc import (
    AGENT,
    CLIENT,
    AgentRequest,
    IdScope,
    OrderedLines,
    text_or_none,
)
from inspector.formats.value_conversions import mapping_or_empty

_RESULT_FIELDS = {
    acp.PROMPT: ("stopReason",), "session/new": ("sessionId",), acp.PERMISSION: ("outcome",),
    acp.ELICITATION: ("action",), "fs/read_text_file": ("content",), "initialize": ("protocolVersion",),
    "terminal/create": ("terminalId",), "terminal/output": ("output",), "terminal/wait_for_exit": ("exitCode",),
}  # fmt: skip
"""Typical fields of results, by method."""


class AcpLines(OrderedLines):
    """Follows the lines of one source."""

    def __init__(self) -> None:
        self._tools: OrderedDict[tuple[IdScope, str, str], str] = OrderedDict()  # titles of tools
        self._replaying: dict[tuple[IdScope, str | None], int] = {}

    def accepts_request(self, method: str, *, in_exchange: bool) -> bool:
        """Returns True for plain JSON-RPC outside of HTTP exchanges."""
        del method
        return not in_exchange

    def side_of(self, method: str, sender: str | None) -> str:
        """Returns the sender of a request: by its line, else by its method."""
        if sender in ("client", "server"):
            return CLIENT if sender == "client" else AGENT
        return acp.sender_of_method(method)

    def request_facts(self, scope: IdScope, method: str, params: Mapping[str, Any], side: str) -> dict[str, Any]:
        """Returns known facts of a request or update: its side if unusual, a replay, and its tool's title."""
        beside: dict[str, Any] = {} if side == acp.sender_of_method(method) else {"side": side}
        session = text_or_none(params.get("sessionId"))
        if method == acp.PERMISSION:
            called = text_or_none(mapping_or_empty(params.get("toolCall")).get("toolCallId"))
            title = self._tools.get((scope, session or "", called or ""))
            return {**beside, "title": title} if title else beside
        if method != acp.UPDATE:
            return beside
        update = mapping_or_empty(params.get("update"))
        if self._replaying.get((scope, session)):
            beside["replay"] = True
        called, sort = text_or_none(update.get("toolCallId")), update.get("sessionUpdate")
        if called is not None and sort in ("tool_call", "tool_call_update"):
            key = scope, session or "", called
            title = text_or_none(update.get("title")) or text_or_none(update.get("kind"))
            # An update before any call: the beginning was not recorded.
            if sort == "tool_call_update" and key not in self._tools:
                beside["first"] = True
            elif title is None and (before := self._tools.get(key)):
                beside["title"] = before
            set_limited(self._tools, key, title or self._tools.get(key, ""))
        return beside

    def note_request(self, scope: IdScope, request: AgentRequest, params: Mapping[str, Any]) -> None:
        """Notes a request that expects an answer."""
        # The answer comes after the replayed history, so all updates until then are old.
        if request.method == "session/load" or (request.method in acp.REPLAYING and "replayFrom" in params):
            where = (scope, request.session)
            self._replaying[where] = self._replaying.get(where, 0) + 1

    def answer_facts(self, scope: IdScope, request: AgentRequest, message: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the facts known from an answer's request."""
        beside: dict[str, Any] = {}
        if request.session is not None:
            beside["session"] = request.session
        elif (session := text_or_none(mapping_or_empty(message.get("result")).get("sessionId"))) is not None:
            beside["session"] = session
        if request.options:
            beside["options"] = request.options
        if request.side == AGENT:
            beside["side"] = CLIENT
        if request.method in acp.REPLAYING:
            self._replaying.pop((scope, request.session), None)
        return beside

    def fits_method(self, method: str, message: Mapping[str, Any]) -> bool:
        """Returns True if an answer has the typical fields of the method's result."""
        result = message.get("result")
        return isinstance(result, Mapping) and any(key in result for key in _RESULT_FIELDS.get(method, ()))

    def piece_key(self, message: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Returns the key shared by the pieces of a text if a message is such a piece."""
        params = mapping_or_empty(message.get("params"))
        update = mapping_or_empty(params.get("update"))
        sort = update.get("sessionUpdate")
        if message.get("method") != acp.UPDATE or not isinstance(sort, str) or sort not in acp.CHUNKS:
            return None
        # A piece with an image stays alone.
        if not isinstance(mapping_or_empty(update.get("content")).get("text"), str):
            return None
        return str(params.get("sessionId")), sort, str(update.get("messageId"))

    def text_in(self, message: Mapping[str, Any]) -> str:
        """Returns the text of a piece."""
        return str(_content(message).get("text"))

    def set_text(self, message: dict[str, Any], whole: str) -> None:
        """Replaces the text of a piece by the whole one."""
        _content(message)["text"] = whole  # type: ignore[index] - decoded JSON objects are dicts


def _content(message: Mapping[str, Any]) -> Mapping[str, Any]:
    update = mapping_or_empty(mapping_or_empty(message.get("params")).get("update"))
    return mapping_or_empty(update.get("content"))
