"""Streams of further protocols that carry a text in pieces, and pieces behind what may hide them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.streamed_secrets import Event, Events


def _rpc(method: str, **params: Any) -> Event:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def app_server(pieces: Sequence[str]) -> list[Event]:
    """Deltas of Codex's app server."""
    return [_rpc("item/agentMessage/delta", itemId="i", delta=piece) for piece in pieces]


def codex_events(pieces: Sequence[str]) -> list[Event]:
    return [_rpc("codex/event", id="1", msg={"type": "agent_message_delta", "delta": piece}) for piece in pieces]


def artifacts(pieces: Sequence[str]) -> list[Event]:
    """Parts of an artifact of Agent2Agent."""
    made = [{"artifactId": "a", "parts": [{"kind": "text", "text": piece}]} for piece in pieces]
    results = [{"kind": "artifact-update", "taskId": "t", "append": True, "artifact": one} for one in made]
    return [{"jsonrpc": "2.0", "id": 1, "result": one} for one in results]


def agui_text(pieces: Sequence[str]) -> list[Event]:
    return [{"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": piece} for piece in pieces]


def agui_arguments(pieces: Sequence[str]) -> list[Event]:
    return [{"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": piece} for piece in pieces]


def ai_sdk_text(pieces: Sequence[str]) -> list[Event]:
    return [{"type": "text-delta", "id": "0", "delta": piece} for piece in pieces]


def ai_sdk_arguments(pieces: Sequence[str]) -> list[Event]:
    return [{"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": piece} for piece in pieces]


def cohere(pieces: Sequence[str]) -> list[Event]:
    return [
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": piece}}}} for piece in pieces
    ]


def ollama(pieces: Sequence[str]) -> list[Event]:
    return [{"model": "m", "message": {"role": "assistant", "content": piece}, "done": False} for piece in pieces]


def ollama_generated(pieces: Sequence[str]) -> list[Event]:
    return [{"model": "m", "response": piece, "done": False} for piece in pieces]


def nested(pieces: Sequence[str]) -> list[Event]:
    """Deltas below other members."""
    return [{"event": {"data": {"payload": {"delta": {"content": piece}}}}} for piece in pieces]


def escaped(pieces: Sequence[str]) -> list[Event]:
    """Arguments as JSON in a text, where cuts may lie within an escape."""
    text = json.dumps(json.dumps({"command": "".join(pieces)}))[1:-1]
    size = max(1, len(text) // max(1, len(pieces)))
    return agui_arguments([text[start : start + size] for start in range(0, len(text), size)])


VARIANTS: tuple[Events, ...] = (
    app_server, codex_events, artifacts, agui_text, agui_arguments, ai_sdk_text, ai_sdk_arguments, cohere, ollama,
    ollama_generated, nested, escaped,
)  # fmt: skip


def progress(pieces: Sequence[str]) -> list[Event]:
    """Messages of progress notifications of MCP."""
    return [_rpc("notifications/progress", progressToken=1, progress=n, message=one) for n, one in enumerate(pieces)]
