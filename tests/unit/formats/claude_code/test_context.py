"""A session that keeps its requests tells exactly what its model was sent."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from inspector.analysis.views.model_context import ModelContext, Moment, find_reader
from inspector.analysis.views.model_context.chat_messages import content_of_entry
from inspector.analysis.views.model_context.context_owners import reader_in, readers
from inspector.analysis.views.model_context.request_change import request_at
from inspector.document.document import CaptureDocument
from tests.builders import document_of

SESSION = "5f0c3a52-8d17-4a0e-9b3e-6f2f1f6f0a01"
TOOLS = [{"name": "Bash", "input_schema": {}}, {"name": "Read", "input_schema": {}}]


def digest(message: dict[str, Any]) -> str:
    written = json.dumps(message, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()


class Session:
    """The records of a session, each with the time after the last."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self._last: str | None = None

    def add(self, sort: str, **more: Any) -> None:
        at = f"2026-11-28T11:43:{len(self.lines):02}.000Z"
        self.lines.append({"type": sort, "sessionId": SESSION, "timestamp": at, **more})

    def say(self, role: str, content: Any, **more: Any) -> str:
        """Adds a message, and returns its hash."""
        message = {"role": role, "content": content}
        name = f"r{len(self.lines)}"
        self.add(role, uuid=name, parentUuid=self._last, isSidechain=False, message={**message, **more})
        self._last = name
        return digest(message)

    def blob(self, role: str, *texts: str) -> str:
        message = {"role": role, "content": [{"type": "text", "text": text} for text in texts]}
        self.add("api-request-blob", hash=digest(message), message=message)
        return digest(message)

    def shape(self, *system: str) -> None:
        prompt = [{"type": "text", "text": text} for text in system]
        self.add("api-request-shape", shapeHash="s-1", shape={"system": prompt, "tools": TOOLS})

    def request(self, name: str, *tail: str, base: str | None = None, keep: int = 0, **more: Any) -> None:
        self.add("api-request", id=name, shapeHash="s-1", params={"model": "m-1"}, base=base, keep=keep,
                 tail=list(tail), **more)  # fmt: skip


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "ls"}}


def result(name: str, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": text}


def told() -> CaptureDocument:
    session = Session()
    session.say("user", "count the files")
    session.shape("You are an agent", "Be brief")
    first = session.blob("user", "<system-reminder>by hand</system-reminder>", "count the files")
    second = session.blob("system", "# Environment")
    marks = [{"path": ["messages", 1, "content", 0], "value": {"type": "ephemeral"}}]
    session.request("q1", first, second, cacheControl=marks)
    usage = {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 5}
    answer = [{"type": "text", "text": "I look."}, call("t1")]
    session.say("assistant", answer[:1], id="m1", model="m-1")
    session.say("assistant", answer[1:], id="m1", model="m-1", usage=usage)
    done = session.say("user", [result("t1", "a b c")])
    session.request("q2", digest({"role": "assistant", "content": answer}), done, base="q1", keep=2)
    session.say("assistant", [{"type": "text", "text": "Three."}], id="m2", model="m-1", usage=usage)
    return document_of(*session.lines)


def at_request(document: CaptureDocument, number: int) -> Moment:
    rows = [row for row in range(len(document.capture)) if document.capture.string("kind", row) == "claude/api-request"]
    reader = find_reader(document.analysis, None, None)
    assert reader is not None
    return ModelContext(document.analysis, reader).moment_at(rows[number])


def entries(moment: Moment) -> list[tuple[str, str, bool]]:
    return [(one.role.word, content_of_entry(moment, one), one.assumed) for one in moment.entries()]


def test_requests_are_exact_in_their_order() -> None:
    first, second = (at_request(told(), number) for number in (0, 1))
    begins = [
        ("tools", json.dumps(TOOLS, separators=(",", ":")), False), ("system", "You are an agent", False),
        ("system", "Be brief", False), ("user", "<system-reminder>by hand</system-reminder>", False),
        ("user", "count the files", False), ("system", "# Environment", False),
    ]  # fmt: skip
    assert entries(first) == begins
    assert entries(second) == [
        *begins, ("assistant", "I look.", False), ("assistant", 'Bash {"command":"ls"}', False),
        ("tool", "a b c", False),
    ]  # fmt: skip
    assert next(one.cache for one in first.entries() if one.role.word == "system" and one.cache) == "5m"
    change = request_at(second)
    assert change is not None
    assert (len(change.added), len(change.dropped)) == (3, 0)
    reported = first.reported()
    assert reported is not None
    assert reported.tokens == 42


def test_what_was_sent_is_nobodys_chat_and_counts_once() -> None:
    document = told()
    document.count_tokens()
    capture, analysis = document.capture, document.analysis
    assert {capture.string("sender", row) for row in range(len(capture))} == {"user", "claude", "tools", "claude-code"}
    chats = [row for row in range(len(capture)) if capture.string("kind", row) == "chat"]
    assert [capture.records.payload(row)["text"] for row in chats] == ["count the files", "I look.", "Three."]
    sent = [row for row in range(len(capture)) if (capture.string("kind", row) or "").startswith("claude/")]
    assert not analysis.tokens.columns["tokens"][sent].any()


def test_a_request_that_is_not_whole_changes_nothing() -> None:
    session = Session()
    session.say("user", "count the files")
    session.shape("You are an agent")
    session.request("q1", "0" * 64, "1" * 64)
    session.say("assistant", [{"type": "text", "text": "Three."}], id="m1", model="m-1")
    moment = at_request(document_of(*session.lines), 0)
    assert moment.request is None
    assert [(role, text) for role, text, _ in entries(moment)] == [("user", "count the files")]


def test_a_sub_agents_prompt_is_looked_at_in_its_own_context() -> None:
    session = Session()
    session.say("user", "count the files")
    session.say("assistant", [call("t1")], id="m1", model="m-1")
    for number, (role, content) in enumerate((("user", "count them"), ("assistant", [{"type": "text", "text": "3"}]))):
        message = {"role": role, "content": content, "id": "m2", "usage": {"input_tokens": 5}}
        session.add(role, uuid=f"s{number}", parentUuid=f"s{number - 1}" if number else None, isSidechain=True,
                    agentId="a1", message=message)  # fmt: skip
    session.say("user", [result("t1", "3")])
    document = document_of(*session.lines)
    prompt = next(row for row in range(len(document.capture)) if document.capture.records.payload(row).get("text") ==
                  "count them")  # fmt: skip
    found = [find_reader(document.analysis, None, row) for row in (prompt, prompt + 1, prompt - 1)]
    assert [one.name if one else None for one in found] == ["agent#a1", "agent#a1", "claude"]
    node = document.analysis.contexts.node_of(prompt)
    inside = reader_in(document.analysis, int(document.capture.columns["space"][prompt]), node)
    assert inside is not None
    assert inside.name == "agent#a1"


def test_a_conversation_without_calls_has_a_reader_too() -> None:
    said = [{"role": "user", "content": "How long does rye rest?"}, {"role": "assistant", "content": "Two hours."}]
    call = {"id": "c", "type": "function", "function": {"name": "oven", "arguments": "{}"}}
    called = [{"role": "user", "content": "Is the oven on?"}, {"role": "assistant", "tool_calls": [call]}]
    document = document_of({"messages": said}, {"messages": called})
    assert len({one.space for one in readers(document.analysis)}) == 2
