"""Names of sub-agents: shown by type and task, filtered by id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from inspector.document.document import CaptureDocument
from inspector.engine.engine import Engine
from inspector.engine.requests.participants import DescribeParticipants, OrderParticipants
from inspector.filters import compile_filter
from inspector.filters.completion import Completer
from inspector.present.message_row import row_content
from inspector.present.subject import text_of
from inspector.startup.program import app
from inspector.store.messages.shown_names import shown_names
from inspector.store.messages.transcripts import SubAgent
from tests.builders import opened_document

SESSION = "00000000-0000-4000-8000-0000000000aa"
AGENTS = ("a91c2f7000000000b", "a11c2f7000000000c", "a21c2f7000000000d")
TASKS = ("find the config", "", "")


def _line(number: int, side: str | None, message: dict[str, Any], **more: Any) -> str:
    kind = "assistant" if message["role"] == "assistant" else "user"
    record = {
        "type": kind, "uuid": f"u{number}", "parentUuid": None, "sessionId": SESSION, "version": "2.1.300",
        "timestamp": f"2026-05-01T10:00:{number:02}.000Z", "isSidechain": side is not None, "message": message, **more,
    }  # fmt: skip
    return json.dumps(record | ({"agentId": side} if side else {})) + "\n"


def _opened(folder: Path) -> CaptureDocument:
    calls = [
        {"type": "tool_use", "id": f"toolu_{n}", "name": "Agent",
         "input": {"prompt": f"p{n}", "subagent_type": "Explore", **({"description": task} if task else {})}}
        for n, task in enumerate(TASKS)
    ]  # fmt: skip
    main = [_line(1, None, {"role": "user", "content": "Go."})]
    main.append(_line(2, None, {"role": "assistant", "id": "m1", "model": "m", "content": calls}))
    (folder / f"{SESSION}.jsonl").write_text("".join(main), encoding="utf-8")
    below = folder / SESSION / "subagents"
    below.mkdir(parents=True)
    for n, agent in enumerate(AGENTS):
        # The second of the equal agents has the lower id.
        lines = [_line(10 + 2 * n, agent, {"role": "user", "content": f"p{n}"})]
        said = {"role": "assistant", "id": f"s{n}", "model": "m", "content": [{"type": "text", "text": f"Done {n}."}]}
        lines.append(_line(11 + 2 * n, agent, said))
        (below / f"agent-{agent}.jsonl").write_text("".join(lines), encoding="utf-8")
        facts = {"agentType": "Explore", "toolUseId": f"toolu_{n}", **({"description": TASKS[n]} if TASKS[n] else {})}
        (below / f"agent-{agent}.meta.json").write_text(json.dumps(facts), encoding="utf-8")
    return opened_document(folder / SESSION)


def test_a_sub_agent_is_shown_by_type_and_task_and_filtered_by_its_id(tmp_path: Path) -> None:
    document = _opened(tmp_path)
    engine = Engine()
    number = engine.adopt(document)
    keys = engine.answer_request(number, OrderParticipants()).keys
    rows = engine.answer_request(number, DescribeParticipants(tuple(keys)))
    found = {row.name: row for row in rows if "Explore" in row.name}
    assert sorted(found) == ["Explore 1", "Explore 2", "Explore: find the config"]
    assert found["Explore 1"].sent == 'from == "Explore#a11c2f7000000000c"'
    assert found["Explore 1"].tip.splitlines()[:2] == ["Explore 1", "Its id in filters: Explore#a11c2f7000000000c"]
    sent = compile_filter(found["Explore 2"].sent).mask(document.analysis, np.arange(len(document.capture)))
    assert [text_of(document.capture, row) for row in sent.nonzero()[0].tolist()] == ["Done 2."]


def test_the_same_name_is_in_steps_messages_contexts_and_the_conversation(tmp_path: Path) -> None:
    document = _opened(tmp_path)
    contents = [row_content(document, row) for row in range(len(document.capture))]
    senders = {content.text: content.sender for content in contents if content.text.startswith("Done")}
    assert senders == {"Done 0.": "Explore: find the config", "Done 1.": "Explore 1", "Done 2.": "Explore 2"}
    contexts = document.analysis.contexts
    assert [contexts.label(node) for node in contexts.tree.alive()] == ["find the config", "Explore 1", "Explore 2"]


def test_a_secret_in_a_long_task_is_masked_before_it_is_cut() -> None:
    task = "Run the migrations against staging at postgres://admin:Hunter2SecretPass99Hunter2@db.example.org/x " * 9
    shown = shown_names([SubAgent("c", label=task, type="Explore", name="Explore#1")])["Explore#1"]
    assert "Hunter2" not in shown
    assert shown.startswith("Explore: Run the migrations")
    assert shown.endswith("…")


def test_each_shown_name_is_of_one_participant() -> None:
    told = [("user", None), ("claude", None), ("Explore", "x (2)"), ("Explore", "x"), ("Explore", "x"), (None, None)]
    agents = [
        SubAgent(f"c{place}", label=task, type=type_, name=f"{type_}#{place}")
        for place, (type_, task) in enumerate(told)
    ]
    found = list(shown_names(agents).values())
    assert found == [
        "user sub-agent",
        "claude sub-agent",
        "Explore: x (2)",
        "Explore: x",
        "Explore: x (3)",
        "sub-agent",
    ]


def test_a_filter_is_completed_from_the_shown_name(tmp_path: Path) -> None:
    text = 'from == "Explore: f'
    found = Completer(_opened(tmp_path).analysis).complete(text, len(text))
    assert [one.text for one in found.candidates] == [f'"Explore#{AGENTS[0]}"']
    assert found.candidates[0].label == f"Explore: find the config (Explore#{AGENTS[0]})"


def test_steps_name_agents_and_show_the_prompt_of_one_without_a_task(tmp_path: Path) -> None:
    _opened(tmp_path)
    told = CliRunner().invoke(app, ["steps", str(tmp_path / SESSION)]).output
    for words in ("Explore find the config", "Explore 1 prompt=p1", "Explore 2 prompt=p2"):
        assert words in told
