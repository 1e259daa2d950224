"""Streamed answers of every known form that carry a text in pieces, and texts that hold a secret."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

Event = dict[str, Any]
Events = Callable[[Sequence[str]], list[Event]]

PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 12 + "-----END PRIVATE KEY-----"
SECRETS: tuple[tuple[str, str], ...] = (
    ("sk-ant-api03-Hh7Gg6Ff5Ee4Dd3Cc2Bb1Aa0Zz9Yy8Xx7Ww6", "the key {} is mine"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "export it: {}\nthen go on"),
    ("AKIAIOSFODNN7EXAMPLQ", "id {}, region eu"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "jwt={};"),
    ("hunter2hunter2x9", 'first "password": "{}", then more'),
    ("s3cr3tValue4711", "DB_PASSWORD={}\nHOST=here"),
    ("opensesame99", "https://me:{}@host.example/path is where"),
    ("f00dfacef00dface42", "GET https://host.example/x?access_token={}&a=1"),
    ("dG9wc2VjcmV0Ojk5OTk", "Authorization: Bearer {}\r\nAccept: x"),
    (PEM.split("\n")[1], PEM.replace("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 12, "{}\n" * 12)),
)
"""A secret, and a text with a place for it."""


def anthropic_text(pieces: Sequence[str]) -> list[Event]:
    deltas = [_delta(0, {"type": "text_delta", "text": piece}) for piece in pieces]
    return [
        {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *deltas, {"type": "content_block_stop", "index": 0}, {"type": "message_stop"},
    ]  # fmt: skip


def anthropic_arguments(pieces: Sequence[str]) -> list[Event]:
    """Two blocks by turns, the second of which ends first."""
    both: list[Event] = []
    for piece in pieces:
        both += [_delta(1, {"type": "input_json_delta", "partial_json": piece}), {"type": "ping"}]
        both += [_delta(0, {"type": "thinking_delta", "thinking": "and "})]
    return [*both, {"type": "content_block_stop", "index": 0}, {"type": "content_block_stop", "index": 1}]


def chat_text(pieces: Sequence[str]) -> list[Event]:
    made = [{"index": 0, "delta": {"content": piece}, "finish_reason": None,
             "logprobs": {"content": [{"bytes": [*piece.encode()]}]}} for piece in pieces]  # fmt: skip
    return [{"id": "c", "choices": [one]} for one in made]


def chat_arguments(pieces: Sequence[str]) -> list[Event]:
    calls = [{"index": 1, "function": {"arguments": piece}} for piece in pieces]
    return [{"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls]


def responses_text(pieces: Sequence[str]) -> list[Event]:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    made = [{"type": "response.output_text.delta", **place, "delta": piece} for piece in pieces]
    return [*made, {"type": "response.output_text.done", **place, "text": "x"}, {"type": "response.completed"}]


def responses_arguments(pieces: Sequence[str]) -> list[Event]:
    place = {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1}
    return [{**place, "delta": piece} for piece in pieces]


def gemini_text(pieces: Sequence[str]) -> list[Event]:
    return [{"candidates": [{"index": 0, "content": {"parts": [{"text": piece}]}}]} for piece in pieces]


def acp_text(pieces: Sequence[str]) -> list[Event]:
    update = {"sessionUpdate": "agent_message_chunk"}
    return [
        {"jsonrpc": "2.0", "method": "session/update",
         "params": {"sessionId": "s1", "update": update | {"content": {"type": "text", "text": piece}}}}
        for piece in pieces
    ]  # fmt: skip


FORMS: tuple[Events, ...] = (
    anthropic_text, anthropic_arguments, chat_text, chat_arguments, responses_text, responses_arguments, gemini_text,
    acp_text,
)  # fmt: skip


def cut(text: str, places: Sequence[int]) -> list[str]:
    """A text cut at places, each within it."""
    ends = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(ends)]


def joined(events: Sequence[object]) -> str:
    """All strings of events, joined by where they are: what anybody could put together again."""
    found: dict[str, list[str]] = {}

    def walk(value: object, path: str) -> None:
        if isinstance(value, str):
            found.setdefault(path, []).append(value)
        elif isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, f"{path}.{key}")
        elif isinstance(value, list):
            for inner in value:
                walk(inner, f"{path}[]")

    for event in events:
        place = event.get("index", "") if isinstance(event, dict) else ""
        walk(event, f"{place}")
    return json.dumps(["".join(texts) for texts in found.values()], ensure_ascii=False)


def _delta(index: int, delta: Event) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": delta}
