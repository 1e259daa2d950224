"""Contents of results: output of tools is plain text, the answer of a sub-agent is Markdown."""

from __future__ import annotations

from typing import Any

from inspector.present.pages.calls import content_section
from inspector.present.pages.parts import ContentPart
from inspector.present.subject import Subject
from tests.builders import document_at
from tests.samples import sample


def _views(subject: Subject, result: Any) -> list[str]:
    """Returns the views of a result's content; empty for a file with code."""
    part = content_section(subject, result)
    return next((one.views for one in getattr(part, "body", ()) if isinstance(one, ContentPart)), [])


def test_the_answer_of_a_sub_agent_is_formatted_and_output_of_a_tool_is_not() -> None:
    document = document_at(sample("transcripts/orders/3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10.jsonl"))
    answer = Subject(document, 11)
    assert answer.text.startswith("Three places round:\n\n- `src/orders.py:11` rounds the **sum**")
    result = {"content": [{"type": "text", "text": answer.text}]}
    assert _views(answer, result) == ["Formatted", "Text"]
    outputs = [
        _views(one, result) for one in (Subject(document, message) for message in range(12, 20))
        if one.method == "tools/call" and one.kind == "mcp/response"
    ]  # fmt: skip
    assert ["Text", "Formatted"] in outputs
    assert ["Formatted", "Text"] not in outputs
