"""What stands in a model's context, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.views.model_context import ModelContext, Options, Reader, Role, reader_of, readers
from inspector.analysis.views.model_context.chat_messages import messages_of, tools_of
from inspector.analysis.views.model_context.difference import difference
from inspector.analysis.views.model_context.growth import changing, growth_of
from inspector.base.slices import run_step, run_to_end
from inspector.document.document import CaptureDocument
from inspector.tokens.counter import count_tokens
from tests.builders import GrowingLog, document_at, document_of, envelope, tool_call, tool_result
from tests.findings import captured as line_of

CODING_AGENT = Path(__file__).parents[4] / "data/recordings/mew/coding-agent/envelope-history.jsonl"
HINT = {"contextHints": [{"step": 1, "tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
TRANSIENT = {"context": {"lifecycle": "transient", "summary": "15 visits"}}
CONSUMED = {"context": {"consumed": True}}
PAGE = "visit " * 200
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "x"}}
RESULT = {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "y"}]}}


def counted(*lines: dict[str, Any]) -> CaptureDocument:
    """A document whose tokens are counted."""
    document = document_of(*lines)
    document.analysis.tokens.count_now(np.arange(len(document.analysis)))
    return document


def lead(document: CaptureDocument) -> Reader:
    return next(reader for reader in readers(document.analysis) if reader.name == "lead")


def standing(document: CaptureDocument, at: int | None = None, options: Options | None = None) -> list[tuple[int, str]]:
    """Number and role of each entry of lead's context once message No. `at` has arrived."""
    moment = ModelContext(document.analysis, lead(document), options).moment_at((at or len(document.analysis)) - 1)
    return [(entry.message + 1, entry.role.word) for entry in moment.entries()]


def loop() -> list[dict[str, object]]:
    """Hint, page, store: the page is collapsed by the last message."""
    step, search, store = tool_call("get_step"), tool_call("search"), tool_call("store")
    return [
        step, tool_result(step, meta=HINT), search, tool_result(search, PAGE, meta=TRANSIENT),
        store, tool_result(store, meta=CONSUMED),
    ]  # fmt: skip


def test_own_calls_and_their_results_stand_in_the_context() -> None:
    document = counted(*loop())

    assert standing(document) == [
        (1, "assistant"), (2, "tool"), (3, "assistant"), (4, "tool"), (5, "assistant"), (6, "tool"),
    ]  # fmt: skip


def test_a_collapsed_result_costs_its_summary_from_its_consumption_on() -> None:
    document = counted(*loop())
    context = ModelContext(document.analysis, lead(document))

    before, after = context.moment_at(4), context.moment_at(5)

    assert before.total == before.uncollapsed_total
    assert after.uncollapsed_total - after.total == context.whole_tokens[3] - context.summary_tokens[3] > 150
    page = after.entry(3)
    assert (page.collapsed, page.because, page.tokens) == (True, 5, int(context.summary_tokens[3]))
    assert "No. 6 consumed it" in page.reason


def test_without_collapsing_everything_stays_whole() -> None:
    document = counted(*loop())

    moment = ModelContext(document.analysis, lead(document), Options(collapsing=False)).moment_at(5)

    assert moment.total == moment.uncollapsed_total


@pytest.mark.parametrize(
    ("fields", "role"),
    [
        pytest.param({}, "user", id="to everyone"),
        pytest.param({"to": ["lead"]}, "user", id="to it"),
        pytest.param({"to": ["writer"]}, None, id="to others"),
        pytest.param({"context": "elsewhere"}, None, id="in a sub-context of others"),
        pytest.param({"context": "elsewhere", "to": ["lead"]}, "user", id="to it in a sub-context of others"),
        pytest.param({"kind": "reasoning/thought"}, None, id="reasoning of others"),
        pytest.param({"kind": "chat/acknowledge"}, None, id="an acknowledgement"),
        pytest.param({"kind": "system/presence"}, None, id="presence"),
    ],
)
def test_what_others_say(fields: dict[str, object], role: str | None) -> None:
    kind = fields.pop("kind", "chat")
    document = counted(tool_call("search"), envelope(kind, {"text": "Hello"}, sender="human", **fields))

    assert standing(document)[1:] == ([(2, role)] if role else [])


def test_reasoning_of_others_comes_in_when_it_is_asked_for() -> None:
    document = counted(tool_call("search"), envelope("reasoning/thought", {"message": "Hm"}, sender="other"))

    assert standing(document, options=Options(others_reasoning=True))[1:] == [(2, "user")]


def test_results_of_calls_of_others_stay_out() -> None:
    call = tool_call("search", sender="other")
    document = counted(tool_call("search"), call, tool_result(call))

    assert standing(document) == [(1, "assistant")]


@pytest.mark.parametrize(
    ("payload", "kept"),
    [
        ({"direction": "oldest", "entries": 2}, [3, 4]),
        ({"direction": "newest", "entries": 1}, [1, 2, 3]),
        ({"direction": "oldest"}, [2, 3, 4]),
        ({"direction": "oldest", "entries": 99}, []),
        ({"direction": "oldest", "entries": True}, [2, 3, 4]),
    ],
)
def test_forgetting_takes_entries_out(payload: dict[str, object], kept: list[int]) -> None:
    said = [tool_call("search"), *(envelope("chat", {"text": "word"}) for _ in range(3))]
    document = counted(*said, envelope("participant/forget", payload, sender="human", to=["lead"]))

    assert [number for number, _ in standing(document)] == kept


def test_to_clear_takes_everything_out_and_what_comes_later_stays() -> None:
    document = counted(
        tool_call("search"), envelope("participant/clear", {}, sender="human", to=["lead"]), envelope("chat")
    )

    assert standing(document) == [(3, "assistant")]
    assert standing(document, at=1) == [(1, "assistant")]


def test_what_somebody_else_is_told_to_forget_stays() -> None:
    document = counted(tool_call("search"), envelope("participant/clear", {}, sender="human", to=["other"]))

    assert standing(document) == [(1, "assistant")]


@pytest.mark.parametrize(
    ("payload", "kept"),
    [
        ({"freed_messages": 2}, [3]),
        ({"freed_tokens": 1}, [2, 3]),
        ({"freed_messages": 2, "skipped": True}, [1, 2, 3]),
        ({"freed_messages": 2, "status": "skipped"}, [1, 2, 3]),
        ({}, [1, 2, 3]),
        ({"freed_messages": "two"}, [1, 2, 3]),
    ],
)
def test_compacting_goes_by_what_is_reported(payload: dict[str, object], kept: list[int]) -> None:
    said = [tool_call("search"), envelope("chat"), envelope("chat")]
    asked = envelope("participant/compact", {"target_tokens": 1}, sender="human", to=["lead"])
    document = counted(*said, asked, envelope("participant/compact-done", payload))

    assert [number for number, _ in standing(document)] == kept


def test_of_messages_we_know_the_same_share_goes_as_of_those_it_reported() -> None:
    said = [tool_call("search"), envelope("chat"), envelope("chat"), envelope("chat")]
    status = envelope("participant/status", {"messages_in_context": 40, "tokens": 10})
    document = counted(*said, status, envelope("participant/compact-done", {"freed_messages": 20}))

    assert [number for number, _ in standing(document)] == [3, 4]


def test_what_came_since_it_reported_is_not_part_of_the_share() -> None:
    """Twice as many of ours went as it had freed, and more the more had come since."""
    status = envelope("participant/status", {"messages_in_context": 10})
    before, later = [tool_call("search"), envelope("chat")], [envelope("chat") for _ in range(100)]
    done = envelope("participant/compact-done", {"freed_messages": 5})
    document = counted(*before, status, *later, done)

    assert [number for number, _ in standing(document)][:2] == [2, 4]

    first = counted(status, *before, *later, done)
    assert len(standing(first)) == 102 - 5


def test_the_result_of_its_own_proposal_reaches_the_proposer_whoever_it_is_sent_to() -> None:
    proposal = envelope("mcp/proposal", {"method": "tools/call", "params": {"name": "write"}}, to=["human"])
    call = tool_call("write", sender="human", correlation_id=[proposal["id"]])
    both = tool_result(call, "Written.", to=["human", "lead"])
    document = counted(proposal, call, both)

    assert standing(document) == [(1, "assistant"), (3, "tool")]
    moment = ModelContext(document.analysis, lead(document)).moment_at(2)
    assert moment.entry(2).assumed
    asked, answer = messages_of(moment)
    assert asked["tool_calls"][0]["id"] == answer["tool_call_id"] == proposal["id"]
    for_human = counted(proposal, call, tool_result(call, "Written."), envelope(sender="human", to=["human"]))
    assert standing(for_human) == [(1, "assistant"), (3, "tool")]


def test_the_released_agent_knows_what_came_of_the_write_it_proposed() -> None:
    """It went on to read the file back as soon as the bridge had told the human that it was written."""
    document = document_at(CODING_AGENT)
    mew = next(reader for reader in readers(document.analysis) if reader.name == "mew")
    entries = ModelContext(document.analysis, mew).moment_at(26).entries()

    assert [(entry.message + 1, entry.role.word) for entry in entries][-3:] == [
        (24, "assistant"), (26, "tool"), (27, "assistant"),
    ]  # fmt: skip


def test_of_an_initialize_result_the_model_is_given_the_instructions_alone() -> None:
    opening = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "instructions": "Be brief."}
    _, context = captured(
        piped(0, "client->server", {"id": 0, "method": "initialize", "params": {}}),
        piped(0, "server->client", {"id": 0, "result": opening}), *session(0, "a")[1:],
    )  # fmt: skip
    moment = context.moment_at(5)

    assert next(iter(messages_of(moment))) == {"role": "system", "content": "Be brief."}
    assert moment.entry(1).tokens == count_tokens("Be brief.")


def test_messages_json_has_no_result_without_its_call_and_no_call_without_its_result() -> None:
    first, second, third = (tool_call(name) for name in ("a", "b", "c"))
    document = counted(
        first, tool_result(first), second, tool_result(second), third,
        envelope("participant/forget", {"entries": 1}, sender="human", to=["lead"]),
    )  # fmt: skip

    made = list(messages_of(ModelContext(document.analysis, lead(document)).moment_at(5)))

    assert [one["role"] for one in made] == ["assistant", "tool"]
    assert made[1]["tool_call_id"] == second["id"]


def test_an_answer_that_is_there_twice_stands_in_the_context_once() -> None:
    call = tool_call("search")
    answer = tool_result(call, PAGE)

    assert standing(counted(call, answer, answer)) == [(1, "assistant"), (2, "tool")]
    other = {**tool_result(call, PAGE), "id": "another"}
    assert standing(counted(call, answer, other)) == [(1, "assistant"), (2, "tool"), (3, "tool")]


def test_a_later_list_of_tools_replaces_the_one_before_and_a_page_adds_to_it() -> None:
    def asked(cursor: str | None = None) -> list[dict[str, object]]:
        params = {"cursor": cursor} if cursor else {}
        request = envelope("mcp/request", {"method": "tools/list", "params": params}, to=["files"])
        tools = [{"name": f"tool{cursor or 0}"}]
        fields = {"sender": "files", "to": ["lead"], "correlation_id": [request["id"]]}
        return [request, envelope("mcp/response", {"result": {"tools": tools}}, **fields)]

    document = counted(tool_call("search"), *asked(), *asked(), *asked("2"))

    assert standing(document) == [(1, "assistant"), (5, "tools"), (7, "tools")]
    moment = ModelContext(document.analysis, lead(document)).moment_at(len(document.analysis) - 1)
    assert [tool["name"] for tool in tools_of(moment)] == ["tool0", "tool2"]
    assert moment.entry(2).reason == "No. 5 lists the tools again."


def test_in_mcp_stdio_traffic_the_client_reads() -> None:
    document = counted(
        {"dir": "client->server", "message": {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}},
        {"dir": "server->client", "message": {"jsonrpc": "2.0", "id": 1, "result": {"instructions": "Be brief."}}},
        {"dir": "client->server", "message": CALL},
        {"dir": "server->client", "message": RESULT},
    )
    reader = readers(document.analysis)[0]

    moment = ModelContext(document.analysis, reader).moment_at(3)

    assert reader.name == "client"
    assert [(entry.message, entry.role) for entry in moment.entries()] == [
        (1, Role.SYSTEM), (2, Role.ASSISTANT), (3, Role.TOOL),
    ]  # fmt: skip


def test_in_traffic_that_names_nobody_who_asks_is_the_client() -> None:
    document = counted(
        CALL,
        RESULT,
    )
    reader = readers(document.analysis)[0]

    moment = ModelContext(document.analysis, reader).moment_at(1)

    assert reader.title == "the MCP client"
    assert [entry.role for entry in moment.entries()] == [Role.ASSISTANT, Role.TOOL]


def test_a_message_is_looked_at_in_its_senders_context_else_in_its_recipients() -> None:
    call = tool_call("search")
    document = counted(call, tool_result(call), envelope("chat", sender="human"))

    found = [reader_of(document.analysis, message) for message in range(3)]

    assert [reader.name if reader else None for reader in found] == ["lead", "lead", "lead"]


def test_a_capture_without_messages_has_no_readers() -> None:
    assert readers(CaptureDocument().analysis) == []


def test_growth_ends_at_what_the_last_moment_says() -> None:
    document = counted(*loop(), envelope("participant/clear", {}, sender="human", to=["lead"]), envelope("chat"))
    context = ModelContext(document.analysis, lead(document))

    growth = growth_of(context)

    totals = [
        (context.moment_at(message).total, context.moment_at(message).uncollapsed_total)
        for message in growth.messages.tolist()
    ]
    assert list(zip(growth.seen.tolist(), growth.uncollapsed.tolist(), strict=True)) == totals
    assert changing(context).tolist() == growth.messages.tolist()


def test_the_difference_of_two_moments() -> None:
    document = counted(*loop(), envelope("participant/forget", {"entries": 1}, sender="human", to=["lead"]))
    context = ModelContext(document.analysis, lead(document))

    found = difference(context.moment_at(3), context.moment_at(6))

    assert (found.came.tolist(), found.went.tolist(), found.collapsed.tolist()) == ([4, 5], [0], [3])
    assert found.tokens == context.moment_at(6).total - context.moment_at(3).total
    with pytest.raises(ValueError, match="the earlier one first"):
        difference(context.moment_at(6), context.moment_at(3))


def test_as_messages_json() -> None:
    document = counted(*loop(), envelope("chat", {"text": "Key sk-abcdefghijkl0123456789MNOPQRSTuv"}, sender="human"))
    moment = ModelContext(document.analysis, lead(document)).moment_at(6)

    made = list(messages_of(moment))

    call, result = made[2], made[3]
    assert call["tool_calls"][0]["function"] == {"name": "search", "arguments": "{}"}
    assert result == {"role": "tool", "tool_call_id": call["tool_calls"][0]["id"], "content": "15 visits"}
    assert made[-1]["name"] == "human"
    assert "abcdefghijkl" not in made[-1]["content"]
    assert "abcdefghijkl" in list(messages_of(moment, secrets=True))[-1]["content"]


def piped(src: int, way: str, frame: dict[str, object]) -> dict[str, object]:
    """A line of a tapped MCP server in a capture."""
    return {"t": 1767603600000000000, "dir": way, "src": src, "frame": {"jsonrpc": "2.0", **frame}}


def session(src: int, tool: str) -> list[dict[str, object]]:
    """A server that is started, lists one tool and is called once."""
    out, back = "client->server", "server->client"
    return [
        {"t": 1767603600000000000, "src": src, "mark": "opened", "source": "tap"},
        piped(src, out, {"id": 1, "method": "tools/list"}),
        piped(src, back, {"id": 1, "result": {"tools": [{"name": tool}]}}),
        piped(src, out, {"id": 2, "method": "tools/call", "params": {"name": tool}}),
        piped(src, back, {"id": 2, "result": {"content": [{"type": "text", "text": tool}]}}),
    ]


def captured(*lines: dict[str, object]) -> tuple[CaptureDocument, ModelContext]:
    document = counted({"ctxcap": 1}, *lines)
    return document, ModelContext(document.analysis, readers(document.analysis)[0])


def test_servers_side_by_side_are_one_context() -> None:
    _, context = captured(*session(0, "a"), *session(1, "b"))
    moment = context.moment_at(7)

    assert [entry.message + 1 for entry in moment.entries()] == [2, 3, 4, 6, 7, 8]
    assert [tool["name"] for tool in tools_of(moment)] == ["a", "b"]
    made = list(messages_of(moment))
    assert made[0]["tool_calls"][0]["id"] == made[1]["tool_call_id"] != made[3]["tool_call_id"]


def test_a_connection_opened_anew_begins_a_new_conversation() -> None:
    _, context = captured(*session(0, "a"), *session(1, "b"), *session(0, "c"))

    assert [entry.message + 1 for entry in context.moment_at(7).entries()] == [2, 3, 4, 6, 7, 8]
    assert [entry.message + 1 for entry in context.moment_at(11).entries()] == [6, 7, 8, 10, 11, 12]
    gone = context.moment_at(11).entry(1)
    assert (gone.reason, gone.assumed) == (
        "No. 9 started another run over the connection. Clients then start a new conversation.", True,
    )  # fmt: skip


def test_many_that_forget_cost_no_more_than_few() -> None:
    """Each walk of `leaving` once looked at every entry for every message that takes some out."""
    said = [tool_call("search"), *(envelope("chat", {"text": "word"}) for _ in range(600))]
    forgets = [envelope("participant/forget", {"entries": 2}, sender="human", to=["lead"]) for _ in range(200)]
    newest = [envelope("participant/forget", {"entries": 1, "direction": "newest"}, sender="human", to=["lead"])]
    document = counted(*said, *forgets, *newest)

    assert [number for number, _ in standing(document)] == list(range(401, 601))


def test_taking_part_in_a_sub_context_later_does_not_tell_what_was_said_before() -> None:
    before = envelope("chat", {"text": "Hello"}, sender="human", context="elsewhere")
    joined = envelope("chat", {"text": "Here I am"}, context="elsewhere")
    after = envelope("chat", {"text": "Good"}, sender="human", context="elsewhere")
    document = counted(tool_call("search"), before, joined, after)

    assert standing(document) == [(1, "assistant"), (3, "assistant"), (4, "user")]


def test_summaries_are_counted_in_parts_and_taken_over() -> None:
    document = counted(*loop())
    whole = ModelContext(document.analysis, lead(document))

    parts = ModelContext(document.analysis, lead(document))
    assert parts.counting
    assert not run_step(parts.count_summaries())
    again = ModelContext(document.analysis, lead(document), before=parts)

    assert not again.counting
    assert parts.summary_tokens.tolist() == again.summary_tokens.tolist() == whole.summary_tokens.tolist()


def test_the_summary_of_a_result_that_is_not_counted_yet_is_not_counted_here() -> None:
    """The window leaves counting to another process."""
    document = document_of(*loop())
    context = ModelContext(document.analysis, lead(document))

    assert not context.counting
    assert context.moment_at(5).entry(3).tokens is None
    assert context.moment_at(5).uncounted == 6


@pytest.mark.parametrize("steps", range(8))
def test_a_request_that_comes_after_its_answer_while_the_context_is_worked_out(steps: int) -> None:
    search = tool_call("search")
    log = GrowingLog()
    log.write({"ctxcap": 1}, line_of("in", tool_result(search, PAGE)), line_of("in", tool_call("store")))
    working = ModelContext.in_steps(log.document.analysis, lead(log.document))
    for _ in range(steps):
        next(working)
    log.write(line_of("in", search))

    assert len(run_to_end(working).rows) == (3 if steps == 0 else 2)
