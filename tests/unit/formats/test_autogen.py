"""Runs of AutoGen: results repeat messages, and states of teams have them once."""

from __future__ import annotations

import json
from typing import Any

from inspector.document.document import CaptureDocument
from inspector.filters.sentences import info
from tests.builders import document_at, lines_of, log_file

USED = {"prompt_tokens": 9, "completion_tokens": 3}


def message(source: str, content: Any, sort: str = "TextMessage", **members: Any) -> dict[str, Any]:
    return {"source": source, "models_usage": None, "metadata": {}, "content": content, "type": sort, **members}


ANSWER = message("baker", "Two hours.", models_usage=USED)
RUN = [message("user", "bake"), ANSWER]


def tokens(document: CaptureDocument) -> tuple[int, int]:
    reported = document.analysis.usage.total()
    assert reported is not None
    return reported.input, reported.output


def test_a_result_repeats_messages_without_ids() -> None:
    document = document_at(log_file(lines_of(*RUN, {"messages": RUN, "stop_reason": "done"}), "run.jsonl"))
    assert (document.format, tokens(document)) == ("autogen", (9, 3))


def test_the_state_of_a_team_has_each_message_once() -> None:
    context = {"messages": [{"content": "bake", "source": "user", "type": "UserMessage"}]}
    agent = {"type": "ChatAgentContainerState", "version": "1.0.0", "agent_state": {"llm_context": context}}
    manager = {"type": "RoundRobinManagerState", "version": "1.0.0", "message_thread": RUN}
    state = {"type": "TeamState", "version": "1.0.0", "agent_states": {"baker": agent, "Manager": manager}}
    document = document_at(log_file(json.dumps(state, indent=2).encode(), "team.json"))
    rows = [info(document.analysis, row) for row in range(len(document.capture))]
    assert rows == ["baker: its messages are in those of the team", "bake", "Two hours."]
    assert tokens(document) == (9, 3)
