"""Streams of the AI SDK in both of its protocols, and messages as programs store them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.filters.sentences import info
from tests.builders import document_at, log_file, opened_document

CALL = {"toolCallId": "c", "toolName": "oven"}
CHUNKS: list[dict[str, Any]] = [
    {"type": "start", "messageId": "m"}, {"type": "text-start", "id": "0"}, {"type": "text-start", "id": "1"},
    {"type": "text-delta", "id": "0", "delta": "Two "}, {"type": "text-delta", "id": "1", "delta": "Or "},
    {"type": "text-delta", "id": "0", "delta": "hours."}, {"type": "text-delta", "id": "1", "delta": "three."},
    {"type": "text-end", "id": "0"}, {"type": "text-end", "id": "1"},
    {"type": "tool-input-start", **CALL}, {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '{"ra'},
]  # fmt: skip
PART = {"type": "tool-oven", "toolCallId": "c", "state": "output-available", "input": {"rack": 2}, "output": "hot"}
MESSAGES = [
    {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Bake"}]},
    {"id": "a", "role": "assistant", "parts": [PART, {"type": "text", "text": "Done."}]},
]


def read(data: bytes, block_bytes: int = 1 << 20) -> CaptureDocument:
    return opened_document(log_file(data, "test.txt"), block_bytes=block_bytes)


def said(document: CaptureDocument) -> list[str | None]:
    return [info(document.analysis, row) for row in range(len(document.capture))]


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_chunks_of_texts_that_are_open_at_once(block_bytes: int) -> None:
    lines = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in CHUNKS)
    document = read(lines + b"data: [DONE]\n\n", block_bytes)
    assert said(document)[1:3] == ["Two hours.", "Or three."]
    # The input was cut off.
    assert document.capture.records.payload(3)["params"] == {"name": "oven", "arguments": {"input": '{"ra'}}
    assert (document.format, document.unreadable) == ("ai-sdk", 0)


def test_lines_of_the_earlier_stream() -> None:
    document = read(b'0:"Two "\n0:"hours."\n3:"lost"\nd:{"finishReason":"error"}\n')
    assert (document.format, said(document)[:2]) == ("ai-sdk", ["Two hours.", "lost"])


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("value", [MESSAGES, {"id": "chat-1", "title": "Bread", "messages": MESSAGES}])
def test_stored_messages(value: Any, indent: int | None) -> None:
    document = document_at(log_file(json.dumps(value, indent=indent).encode(), "test.json"))
    assert document.format == "ai-sdk"
    assert said(document)[-4:] == ["Bake", "oven rack=2", "oven: hot", "Done."]


def test_messages_of_other_programs_are_not_claimed() -> None:
    parts = {"id": "a", "role": "user", "parts": [{"text": "Bake"}]}
    assert document_at(log_file(json.dumps(parts).encode(), "test.json")).format == "messages"
