"""Requests and answers of A2A's HTTP+JSON binding in the form of JSON-RPC (docs/protocols.md 18)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from inspector.formats.agent_rpc import text_or_none
from inspector.formats.value_conversions import mapping_or_empty
from inspector.protocol.message_text import compact_json

_PATH = re.compile(
    r"(?P<base>.*)/(?:message:(?P<sends>send|stream)|(?P<card>extendedAgentCard|(?<=/v1/)card)"
    r"|tasks(?:/(?P<task>[^/]+?)(?::(?P<verb>cancel|subscribe)|(?P<configs>/pushNotificationConfigs)(?:/(?P<config>[^/]+))?)?)?)/?"
)
_MEDIA_TYPE = "application/a2a+json"
_HEADERS = ("a2a-version", "a2a-extensions", "x-a2a-extensions")
_TASK_METHODS = {
    ("GET", None): "GetTask",
    ("POST", "cancel"): "CancelTask",
    ("POST", "subscribe"): "SubscribeToTask",
    ("GET", "subscribe"): "SubscribeToTask",
}
_CONFIG_METHODS = {
    ("POST", False): "CreateTaskPushNotificationConfig",
    ("GET", False): "ListTaskPushNotificationConfigs",
    ("GET", True): "GetTaskPushNotificationConfig",
    ("DELETE", True): "DeleteTaskPushNotificationConfig",
}
_MESSAGE_HOLDERS = frozenset(
    ("message", "task", "statusUpdate", "artifactUpdate", "status", "history", "artifact", "artifacts", "parts",
     "content", "tasks", "file")
)  # fmt: skip
"""Members in which messages and parts lie."""
_MAX_DEPTH = 8
"""Levels of such members in any body of the protocol."""
_RENAMED_FILE_MEMBERS = {"fileWithUri": "uri", "fileWithBytes": "bytes"}


class RestRequest(NamedTuple):
    """A request of this binding.

    Attributes:
        method: as JSON-RPC names it.
        params: as JSON-RPC has them.
        base: host and path of the agent.
        is_certain: the request alone shows that its base is an A2A agent.
    """

    method: str
    params: dict[str, Any]
    base: str
    is_certain: bool


def request_in(line: Mapping[str, Any]) -> RestRequest | None:
    """Returns the request in a decoded line of a recording if its path and body have the form of one."""
    path, verb, body = line.get("path"), line.get("method"), line.get("message")
    if not isinstance(path, str) or not isinstance(verb, str) or (body is not None and not isinstance(body, Mapping)):
        return None
    body = mapping_or_empty(body)
    found = _PATH.fullmatch(unquote(path.partition("?")[0]))
    if found is None or "jsonrpc" in body or line.get("text") is not None:
        return None
    headers = lowered_headers(line)
    base = f"{line.get('host') or headers.get('host') or ''}{found['base']}"
    method = _method(found, verb.upper())
    if method is None:
        return None
    names = {"id": found["task"]} if not found["configs"] else {"taskId": found["task"], "id": found["config"]}
    params = {**_query(line), **normalize_messages(body), **{key: one for key, one in names.items() if one is not None}}
    if found["sends"]:
        return RestRequest(method, params, base, is_certain=True) if _is_message(body.get("message")) else None
    return RestRequest(method, params, base, is_certain=_names_a2a(headers))


def answer_of(body: object, status: int, text: object = None) -> dict[str, Any] | None:
    """Returns the result or error of an answer, or of an event of a stream; None if it has neither.

    Args:
        body: the decoded body, None without one.
        status: HTTP status.
        text: a body that is no JSON.
    """
    failed = status >= 400
    if isinstance(body, Mapping) and "jsonrpc" in body:
        return None
    if not failed and isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        failed = True
    if failed:
        return {"error": _error(body, status, text)}
    return {"result": normalize_messages(body)} if isinstance(body, Mapping) else None


def normalize_messages(value: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Returns a body with the members of messages and files named as in JSON-RPC.

    Version 0.3 names them as its gRPC definition does: `content` for `parts`.
    """
    return {
        _renamed(key, value): _normalized(one, depth + 1) if key in _MESSAGE_HOLDERS and depth < _MAX_DEPTH else one
        for key, one in value.items()
    }


def lowered_headers(line: Mapping[str, Any]) -> dict[str, str]:
    """Returns the headers of a decoded line by lower-case name."""
    headers = mapping_or_empty(line.get("headers"))
    return {name.lower(): one for name, one in headers.items() if isinstance(name, str) and isinstance(one, str)}


def _method(found: re.Match[str], verb: str) -> str | None:
    if found["sends"]:
        method = "SendMessage" if found["sends"] == "send" else "SendStreamingMessage"
        return method if verb == "POST" else None
    if found["configs"]:
        return _CONFIG_METHODS.get((verb, found["config"] is not None))
    if found["task"]:
        return _TASK_METHODS.get((verb, found["verb"]))
    return ("GetExtendedAgentCard" if found["card"] else "ListTasks") if verb == "GET" else None


def _query(line: Mapping[str, Any]) -> dict[str, Any]:
    query = line.get("query")
    return dict(parse_qsl(query.removeprefix("?"))) if isinstance(query, str) else dict(mapping_or_empty(query))


def _is_message(message: object) -> bool:
    said = mapping_or_empty(message)
    parts = said.get("parts", said.get("content"))
    return isinstance(parts, list) and ("messageId" in said or "role" in said)


def _names_a2a(headers: Mapping[str, str]) -> bool:
    types = (headers.get("content-type", ""), headers.get("accept", ""))
    return any(name in headers for name in _HEADERS) or any(_MEDIA_TYPE in one for one in types)


def _normalized(value: Any, depth: int) -> Any:
    if isinstance(value, list):
        return [normalize_messages(one, depth) if isinstance(one, Mapping) else one for one in value]
    return normalize_messages(value, depth) if isinstance(value, Mapping) else value


def _renamed(key: str, holder: Mapping[str, Any]) -> str:
    if key == "content" and "messageId" in holder and "parts" not in holder:
        return "parts"
    return _RENAMED_FILE_MEMBERS.get(key, key)


def _error(body: object, status: int, text: object) -> dict[str, Any]:
    """Returns the error in a body: of this binding, a problem (RFC 9457), or any other."""
    told = mapping_or_empty(body)
    inner = told.get("error")
    found = dict(inner) if isinstance(inner, Mapping) else dict(told)
    words = next((one for key in ("message", "detail", "title") if (one := text_or_none(found.get(key)))), None)
    words = words or text_or_none(inner) or text_or_none(text) or (compact_json(body) if body is not None else None)
    code = found.get("code")
    return {**found, "code": code if isinstance(code, int) else status, "message": words or f"HTTP status {status}"}
