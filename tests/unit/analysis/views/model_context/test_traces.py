"""What traces tell of a model's context: each call of it is a span of its own, and so is each call of a tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.analysis.views.model_context import ModelContext, readers
from inspector.analysis.views.model_context.chat_messages import content_of_entry
from tests.builders import document_at

TRACES = Path(__file__).parents[4] / "data" / "otlp"


@pytest.mark.parametrize(
    ("name", "who", "texts"),
    [
        ("langgraph-openinference-0.1.80.jsonl", "agent", [
            "You add numbers.", "2+3?", 'add {"a":2,"b":3}', "fail {}", "5", "ValueError: disk is full",
            "The sum is 5.",
        ]),
        ("pydantic-ai-1.0.18-v1-events-attribute.jsonl", "planner", [
            "Be brief.", "You plan.", "How warm is Oslo?", "Two lookups are needed.", 'ask_weather {"city":"Oslo"}',
            'flaky {"x":3}', "pydantic_ai.exceptions.ToolRetryError", "It is 21 degrees in Oslo.",
            "Oslo: 21 degrees.",
        ]),
    ],
)  # fmt: skip
def test_what_was_said_and_called_stands_in_it_with_its_results(name: str, who: str, texts: list[str]) -> None:
    document = document_at(TRACES / name)
    document.count_tokens()
    (reader,) = [one for one in readers(document.analysis) if one.name == who]
    moment = ModelContext(document.analysis, reader).moment_at(len(document.capture) - 1)
    assert [content_of_entry(moment, entry) for entry in moment.entries()] == texts
