"""Lines that only look like those of formats that are not read."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from inspector.analysis.views.account.bookkeeping_rows import are_bookkeeping
from inspector.document.summary import summary
from tests.builders import document_at, log_file


def test_the_header_of_a_droid_is_bookkeeping_with_its_title() -> None:
    said = {"type": "message", "id": "d2", "timestamp": "2026-05-01T10:00:01Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "list the kites"}]}}  # fmt: skip
    lines = [{"type": "session_start", "id": "d1", "title": "Kites", "version": 2, "cwd": "/w"}, said]
    document = document_at(log_file(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
    assert (document.unreadable, document.capture.records.payload(0)["text"]) == (0, "Kites")
    # No model receives the header.
    assert summary(document, "x")["participants"] == ["droid-cli", "user"]
    assert are_bookkeeping(document.capture, np.arange(2)).tolist() == [True, False]
    document.count_tokens()
    assert document.analysis.tokens.count_now(np.arange(2)).tolist()[0] == 0


def test_a_result_of_a_droid_that_begins_as_an_error_failed() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": "Error: Command failed (exit code: 1)"}
    line = {"type": "message", "id": "d2", "timestamp": "2026-05-01T10:00:01Z",
            "message": {"role": "user", "content": [result]}}  # fmt: skip
    start = {"type": "session_start", "id": "d1", "title": "Kites", "cwd": "/w"}
    document = document_at(log_file(b"".join(json.dumps(one).encode() + b"\n" for one in (start, line))))
    assert document.capture.records.payload(1)["result"]["isError"]


TASK = [{"type": "text", "text": "<task>\nlist the kites\n</task>"}]
SAID = [{"type": "text", "text": "list the kites"}]


@pytest.mark.parametrize(
    "lines",
    [
        [{"role": "user", "content": SAID}, {"role": "assistant", "content": "One."}],
        [{"role": "user", "content": TASK}, {"role": "assistant", "content": "One."}],
    ],
)
def test_messages_that_only_look_alike_are_read(lines: list[Any]) -> None:
    assert document_at(log_file(json.dumps(lines).encode())).unreadable == 0


def test_a_heading_before_lines_that_are_known_is_one_line_that_is_not() -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    document = document_at(log_file(b"# started at 10:00\n" + line + b"\n"))
    assert (document.unreadable, len(document.capture)) == (1, 2)
