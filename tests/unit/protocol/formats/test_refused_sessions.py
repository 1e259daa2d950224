"""Sessions of coding agents that are known and not read: refused by name, never taken for another agent's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at, log_file

QWEN = {
    "uuid": "u1", "parentUuid": None, "sessionId": "s", "timestamp": "2026-05-01T10:00:01.000Z", "cwd": "/w",
    "version": "0.6.0",
}  # fmt: skip
PI = {"type": "session", "version": 3, "id": "pi1", "timestamp": "2026-05-01T10:00:00.000Z", "cwd": "/w"}


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ({**QWEN, "type": "user", "message": {"role": "user", "parts": [{"text": "list the kites"}]}}, "Qwen Code"),
        ({**QWEN, "type": "system", "message": None, "systemPayload": {"a": 1}}, "Qwen Code"),
        (PI, "Pi"),
    ],
)
def test_a_session_that_is_not_read_is_refused_by_its_name(first: dict[str, Any], name: str) -> None:
    with pytest.raises(UnknownFormatError, match=f"of {name}, which is not read"):
        document_at(log_file(json.dumps(first).encode() + b"\n"))


def test_the_header_of_a_droid_is_bookkeeping_with_its_title() -> None:
    said = {"type": "message", "id": "d2", "timestamp": "2026-05-01T10:00:01Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "list the kites"}]}}  # fmt: skip
    lines = [{"type": "session_start", "id": "d1", "title": "Kites", "version": 2, "cwd": "/w"}, said]
    document = document_at(log_file(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
    assert (document.unreadable, document.capture.records.payload(0)["text"]) == (0, "Kites")


def test_messages_framed_by_content_length_are_refused_by_name() -> None:
    body = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'
    with pytest.raises(UnknownFormatError, match="framed by Content-Length"):
        document_at(log_file(b"Content-Length: %d\r\n\r\n%s" % (len(body), body)))
