"""Records are read again from their lines."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.formats.line_reading import read_line
from inspector.protocol.record import Record
from inspector.store.messages import records as records_module
from tests.builders import document_of


def test_a_line_of_many_messages_is_read_once_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    line = {"messages": [{"role": "user", "content": f"Question {n}"} for n in range(50)]}
    document = document_of(line)
    reads: list[bytes] = []

    def counted(line: bytes, *given: Any) -> Record:
        reads.append(line)
        return read_line(line, *given)

    monkeypatch.setattr(records_module, "read_line", counted)
    texts = [document.capture.records.payload(message)["text"] for message in range(50)]
    assert texts == [f"Question {n}" for n in range(50)]
    assert len(reads) == 1
