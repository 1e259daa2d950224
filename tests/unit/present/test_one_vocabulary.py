"""What the table, the details, filters and exports say of one message is said in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from inspector.present.message_row import row_content
from inspector.present.states import state_of
from inspector.present.subject import Subject
from tests.builders import document_at, document_of
from tests.findings import answer, ask, gateway, later, propose
from tests.unit.analysis.passes.calls.test_departed_waits import moved

DATA = Path(__file__).parents[2] / "data"
LOGS = (
    DATA / "captures" / "demo-round.ctxcap",
    DATA / "dialects" / "mew-v0.4.jsonl",
    DATA / "dialects" / "mcpx-v0.1.jsonl",
    DATA / "recordings" / "mew" / "coding-agent" / "envelope-history.jsonl",
    DATA / "recordings" / "mew" / "scenario-12-stream-controls" / "envelope-history.jsonl",
)  # fmt: skip


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.parent.name + "/" + path.stem)
def test_of_a_log(path: Path) -> None:
    document = document_at(path)
    agree_on_states(document)
    agree_on_words(document)


def test_of_what_came_to_nothing() -> None:
    refused = gateway("system/error", {"error": "capability_violation"}, correlation_id=["q1"])
    left, failed = moved("lead", ts=None), answer(payload={"error": {"code": 1, "message": "no"}})
    for more in ([refused], [later(16)], [left, later(16)], [failed], []):
        agree_on_states(document_of(ask(), *more))
    agree_on_states(document_of(propose()))


def agree_on_states(document: CaptureDocument) -> None:
    """The pill of the details is the field's word; the end of a row begins with it."""
    for message in range(len(document.capture)):
        word = FIELD_BY_NAME["state"].value(document.analysis, message)
        row, pill = row_content(document, message).state, state_of(Subject(document, message))
        assert (row is None) == (word is None)
        if row is not None:
            assert pill is not None
            assert pill.word == word
            assert row.word.startswith(str(word))


def agree_on_words(document: CaptureDocument) -> None:
    """Rows of streams, welcomes and capabilities say what the field `info` has."""
    for message in range(len(document.capture)):
        kind = document.capture.string("kind", message) or ""
        if kind.startswith(("stream/", "capability/", "space/")) or kind == "system/welcome":
            told = FIELD_BY_NAME["info"].value(document.analysis, message)
            assert " ".join(row_content(document, message).text.split()) == told, message + 1
