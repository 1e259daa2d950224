"""Describes messages of two MCP extensions: apps (`ui/*`, `ui://`; revision 2026-01-26) and skills (SEP-2640)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_APP_TYPE = "profile=mcp-app"
_SKILL = re.compile(r"---\r?\n(.*?)\r?\n---", re.DOTALL)
_FACT = re.compile(r"^(name|description):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_HEAD = 4096
"""Characters that are searched for the facts of a skill."""
_FIXED = {
    "ui/initialize": "the app starts", "ui/notifications/initialized": "the app is ready",
    "ui/resource-teardown": "the host closes the app", "ui/notifications/request-teardown": "the app asks to be closed",
    "ui/notifications/tool-input-partial": "input of the tool so far",
    "ui/notifications/tool-cancelled": "the tool was cancelled",
    "ui/notifications/host-context-changed": "the host's surroundings changed",
    "ui/notifications/sandbox-proxy-ready": "the sandbox is ready",
    "ui/notifications/sandbox-resource-ready": "the page of the app is sent to the sandbox",
}  # fmt: skip


def app_words(payload: Mapping[str, Any]) -> str | None:
    """Returns words for a message between an app and its host; None for other messages."""
    method, given = payload.get("method"), payload.get("params")
    if not isinstance(method, str) or not method.startswith("ui/"):
        return None
    params: Mapping[str, Any] = given if isinstance(given, dict) else {}
    told = content_words(params.get("content"))
    if method == "ui/message":
        return f"the app writes: {told}" if told else "the app writes a message"
    if method == "ui/update-model-context":
        return f"the app tells the model: {told}" if told else "the app tells the model facts"
    if method == "ui/notifications/tool-result":
        return f"result of the tool: {told}" if told else "result of the tool"
    if method == "ui/open-link":
        return f"the app asks to open {params.get('url', 'a link')}"
    if method == "ui/request-display-mode":
        return f"the app asks for the mode {params.get('mode')}"
    if method == "ui/notifications/size-changed":
        return f"the app is {params.get('width', '?')} by {params.get('height', '?')} pixels"
    if method == "ui/initialize" and isinstance(info := params.get("appInfo"), dict) and info.get("name"):
        return f"the app {info['name']} starts"
    return _FIXED.get(method)


def content_words(content: object) -> str | None:
    """Returns the first text of content blocks, or of one block."""
    blocks = content if isinstance(content, list) else [content]
    return next((one["text"] for one in blocks if isinstance(one, dict) and isinstance(one.get("text"), str)), None)


def resource_words(resource: Mapping[str, Any]) -> str | None:
    """Returns words for the page of an app or for a skill; None for other resources.

    Args:
        resource: one of the `contents` of an answer to `resources/read`.
    """
    text, kind = resource.get("text"), resource.get("mimeType")
    if isinstance(kind, str) and _APP_TYPE in kind:
        return f"page of an app, {len(text):,} characters" if isinstance(text, str) else "page of an app"
    uri = resource.get("uri")
    if isinstance(uri, str) and uri.startswith("skill://") and isinstance(text, str):
        return skill_words(text)
    return None


def skill_words(text: str) -> str | None:
    """Returns the name and description of a skill; None for a text that does not begin with them."""
    found = _SKILL.match(text[:_HEAD])
    facts = dict(_FACT.findall(found[1])) if found else {}
    named = [facts[key].strip("\"'") for key in ("name", "description") if key in facts]
    return f"skill {': '.join(named)}" if "name" in facts else None
