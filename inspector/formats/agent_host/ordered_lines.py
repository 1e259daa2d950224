"""Facts that lines of the Agent Host Protocol need from earlier ones: names of tools, sessions, pieces of texts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from inspector.base.limited_dicts import set_limited
from inspector.formats.agent_host import reader as host
from inspector.formats.agent_rpc import AGENT, CLIENT, AgentRequest, IdScope, OrderedLines, text_or_none
from inspector.formats.value_conversions import mapping_or_empty


class AgentHostLines(OrderedLines):
    """Follows the lines of one source."""

    only_clients_ask = True

    def __init__(self) -> None:
        self._tools: OrderedDict[str, tuple[str, bool]] = OrderedDict()  # name by call, and if its call has a row

    def accepts_request(self, method: str, *, in_exchange: bool) -> bool:
        """Returns True for methods that other protocols have as well, outside of HTTP exchanges."""
        return method in host.OTHER_METHODS and not in_exchange

    def side_of(self, method: str, sender: str | None) -> str:
        """Returns the sender of a message by its method."""
        del sender
        return AGENT if method in (host.ACTION, "notification") else CLIENT

    def request_facts(self, scope: IdScope, method: str, params: Mapping[str, Any], side: str) -> dict[str, Any]:
        """Returns known facts of an action: the name of its tool, and a call that is confirmed again."""
        del scope, side
        action = mapping_or_empty(params.get("action"))
        call = text_or_none(action.get("toolCallId"))
        if call is None or method != host.ACTION:
            return {}
        tool, has_row = self._tools.get(call, ("", False))
        tool = text_or_none(action.get("toolName")) or tool
        is_ready = host.action_name(action) == "toolCallReady"
        set_limited(self._tools, call, (tool, has_row or is_ready))
        beside: dict[str, Any] = {"tool": tool} if tool and "toolName" not in action else {}
        return {**beside, "again": True} if is_ready and has_row else beside

    def answer_facts(self, scope: IdScope, request: AgentRequest, message: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the facts known from an answer's request."""
        del scope, message
        return {"session": request.session.rpartition("/")[2]} if request.session is not None else {}

    def piece_key(self, message: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Returns the key shared by the pieces of a text if a message is such a piece."""
        action = host.action_in(message)
        if host.action_name(action) not in host.PIECES or not isinstance(action.get("content"), str):
            return None
        return (
            str(host.channel_of(message)),
            str(action.get("turnId")),
            str(action.get("partId")),
            str(action.get("type")),
        )

    def text_in(self, message: Mapping[str, Any]) -> str:
        """Returns the text of a piece."""
        return str(host.action_in(message).get("content"))

    def set_text(self, message: dict[str, Any], whole: str) -> None:
        """Replaces the text of a piece by the whole one."""
        message["params"]["action"]["content"] = whole
