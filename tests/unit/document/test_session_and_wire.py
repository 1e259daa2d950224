"""A session opened beside recordings of its model's wire: a call with one id is one call, wherever it is told."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from inspector.document.summary import summary
from inspector.filters import compile_filter
from tests.strategies import share_of_examples
from tests.unit.present.test_account import account

BEGAN = datetime(2026, 9, 1, 8, tzinfo=UTC)
SESSION = "11111111-1111-4111-8111-111111111111"


def at(seconds: float) -> str:
    return (BEGAN + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def record(seconds: float, number: int, role: str, content: Any, **message: Any) -> dict[str, Any]:
    return {
        "type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": SESSION,
        "timestamp": at(seconds), "isSidechain": False, "message": {"role": role, "content": content, **message},
    }  # fmt: skip


def made(call: str, path: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": path}}


def came(call: str, text: str, *, failed: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}


def usage(given: int, out: int) -> dict[str, int]:
    return {"input_tokens": given, "output_tokens": out, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}


def session(late: float = 0.0) -> list[dict[str, Any]]:
    """A prompt, two calls of which one fails, an answer; `late` seconds after the wire."""
    return [
        record(0, 0, "user", "Look at the notes"),
        record(2 + late, 1, "assistant", [made("call_1", "/w/notes")], id="msg_1", model="m-1", usage=usage(10, 5)),
        record(3, 2, "user", [came("call_1", "a kite")]),
        record(5 + late, 3, "assistant", [made("call_2", "/w/none")], id="msg_2", model="m-1", usage=usage(20, 6)),
        record(6, 4, "user", [came("call_2", "no such file", failed=True)]),
        record(8 + late, 5, "assistant", [{"type": "text", "text": "Done."}], id="msg_3", model="m-1",
               usage=usage(30, 7)),
    ]  # fmt: skip


def wire(calls: range = range(3), first: int = 1) -> list[dict[str, Any]]:
    """The same on the wire: three requests, each with all before it; the model wrote paths in its own way."""
    told: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Look at the notes"}]}]
    answers = [[made("call_1", "notes")], [made("call_2", "none")], [{"type": "text", "text": "Done."}]]
    sent_back = [[made("call_1", "/w/notes")], [made("call_2", "/w/none")]]
    results = [[came("call_1", "a kite")], [came("call_2", "no such file", failed=True)]]
    found: list[dict[str, Any]] = []
    for number, answer in enumerate(answers):
        body = {"id": f"msg_{number + 1}", "type": "message", "role": "assistant", "model": "m-1", "content": answer,
                "stop_reason": "end_turn", "usage": usage(10 * (number + 1), 5 + number)}  # fmt: skip
        ends = 2 + 3 * number + 0.001
        x = first + number
        if number in calls:
            asked = {"t": at(ends - 1), "dir": "client->server", "kind": "http-request", "x": x, "method": "POST",
                     "path": "/v1/messages", "headers": {}, "message": {"model": "m-1", "max_tokens": 9,
                                                                        "messages": [*told]}}  # fmt: skip
            answered = {"t": at(ends), "dir": "server->client", "kind": "http-response", "x": x, "status": 200,
                        "headers": {}, "message": body}  # fmt: skip
            found += [asked, answered, {"t": at(ends), "dir": "server->client", "kind": "http-end", "x": x,
                                        "how": "complete"}]  # fmt: skip
        if number < len(results):
            told += [{"role": "assistant", "content": sent_back[number]}, {"role": "user", "content": results[number]}]
    return found


def opened(folder: Path, *logs: list[dict[str, Any]], block_bytes: int = 1 << 20) -> CaptureDocument:
    document = CaptureDocument()
    choices: list[SourceChoice] = []
    for number, lines in enumerate(logs):
        path = folder / f"{number}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        choices.append(SourceChoice(path))
    for _ in document.open_together(choices, block_bytes=block_bytes):
        pass
    run_to_end(document.postponed_checks())
    return document


@pytest.mark.parametrize("late", [0.0, 0.5])
@pytest.mark.parametrize("block_bytes", [200, 1 << 20])
@pytest.mark.parametrize("order", [*permutations(range(3))], ids=str)
def test_a_call_with_one_id_is_one_call(tmp_path: Path, order: tuple[int, ...], block_bytes: int, late: float) -> None:
    logs = [session(late), wire(range(2)), wire(range(2, 3), first=7)]
    document = opened(tmp_path, *(logs[place] for place in order), block_bytes=block_bytes)
    found = summary(document, "")
    assert found["calls"]["tools"] == 2
    assert (found["calls"]["answered"], found["calls"]["failed"], found["calls"]["unanswered"]) == (2, 1, 0)
    assert found["usage"] == {"input": 60, "output": 18, "cache_read": 0, "cache_write": 0}
    assert found["findings"] == {}
    lines = {line.about: line.text for line in account(document).lines}
    assert "Left open" not in lines
    assert lines["Failed"].startswith("1 call failed")
    told = compile_filter("kind == mcp/request && tool == Read && state in {waiting, unanswered}")
    assert not told.mask(document.analysis, np.arange(len(document.capture))).any()
    document.close()


def test_calls_of_other_ids_and_of_other_days_are_others(tmp_path: Path) -> None:
    other = json.loads(json.dumps(session()).replace("call_", "toolu_").replace("msg_", "m_"))
    document = opened(tmp_path, other, wire())
    assert summary(document, "")["calls"]["tools"] == 4
    document.close()
    later = json.loads(json.dumps(session()).replace("2026-09-01", "2026-09-03").replace("msg_", "m_"))
    document = opened(tmp_path, later, wire())
    found = summary(document, "")
    assert (found["calls"]["tools"], found["usage"]["input"]) == (4, 120)
    document.close()


def of_another_tool() -> list[dict[str, Any]]:
    """A wire of another conversation, whose server counts ids from one too."""
    text = json.dumps(wire()).replace('"Read"', '"Bash"').replace("file_path", "command").replace("msg_", "m_")
    return json.loads(text.replace("Look at the notes", "Clean up").replace("a kite", "gone"))


def copied(document: CaptureDocument) -> list[tuple[int, int, int]]:
    """Messages that are copies: offset and source, and the row of the first."""
    capture = document.capture
    of, are_copies = capture.repeated_messages(np.arange(len(capture)))
    return [(row, int(capture.columns["source"][row]), int(of[row])) for row in np.flatnonzero(are_copies).tolist()]


@pytest.mark.parametrize("block_bytes", [200, 1 << 20])
@pytest.mark.parametrize("order", [*permutations(range(3))], ids=str)
def test_the_id_of_a_call_hides_none_of_another_tool(tmp_path: Path, order: tuple[int, ...], block_bytes: int) -> None:
    logs = [session(0.5), wire(), of_another_tool()]
    document = opened(tmp_path, *(logs[place] for place in order), block_bytes=block_bytes)
    found = summary(document, "")["calls"]
    assert (found["tools"], found["answered"], found["failed"], found["unanswered"]) == (4, 4, 2, 0)
    for tool in ("Read", "Bash"):
        counted = compile_filter(f"kind == mcp/request && tool == {tool} && !repeats")
        assert np.count_nonzero(counted.mask(document.analysis, np.arange(len(document.capture)))) == 2
    document.close()


@pytest.mark.parametrize("block_bytes", [200, 1 << 20])
def test_arguments_that_the_client_rewrote_make_no_other_call(tmp_path: Path, block_bytes: int) -> None:
    document = opened(tmp_path, wire(), block_bytes=block_bytes)
    found = summary(document, "")["calls"]
    assert (found["tools"], found["answered"], found["failed"], found["unanswered"]) == (2, 2, 1, 0)
    sent = [document.capture.records.payload(row).get("params") for row in range(len(document.capture))]
    assert {"name": "Read", "arguments": {"file_path": "/w/notes"}} in sent, "shown as sent"
    document.close()


def cleared() -> list[dict[str, Any]]:
    """One more request of the same conversation, in which the client replaced the first result."""
    *_, asked, answered, ended = wire()
    asked = json.loads(json.dumps(asked).replace("a kite", "[cleared]"))
    answered = json.loads(json.dumps(answered).replace("msg_3", "msg_4").replace("Done.", "Still done."))
    return [{**line, "t": at(20 + n), "x": 9} for n, line in enumerate((asked, answered, ended))]


@pytest.mark.parametrize("block_bytes", [200, 1 << 20])
@pytest.mark.parametrize(
    "logs", [[[*wire(), *cleared()]], [session(), [*wire(), *cleared()]], [wire(), cleared()]],
    ids=["one wire", "with its session", "two wires"],
)  # fmt: skip
def test_a_result_that_the_client_cleared_is_no_copy(
    tmp_path: Path, logs: list[list[dict[str, Any]]], block_bytes: int
) -> None:
    document = opened(tmp_path, *logs, block_bytes=block_bytes)
    found = compile_filter('text contains "[cleared]"').mask(document.analysis, np.arange(len(document.capture)))
    (row,) = np.flatnonzero(found).tolist()
    assert not document.capture.repeated_messages(np.array([row]))[1].any()
    run_to_end(document.analysis.tokens.count_in_process())
    assert document.analysis.tokens.columns["tokens"][row] > 0, "it is in the model's context"
    calls = summary(document, "")["calls"]
    assert (calls["tools"], calls["answered"], calls["failed"]) == (2, 2, 1)
    document.close()


def of_another_conversation(*, arguments: str, seconds: int = 20) -> list[dict[str, Any]]:
    """A wire of another conversation with the same tool, whose server counts ids from one too."""
    text = json.dumps(wire()).replace("msg_", "m_").replace("Look at the notes", "Clean up").replace("a kite", "gone")
    return json.loads(text.replace("notes", arguments).replace("T08:00:0", f"T08:00:{seconds // 10}"))


@pytest.mark.parametrize("block_bytes", [200, 1 << 20])
@pytest.mark.parametrize("arguments", ["plans", "notes"])
@pytest.mark.parametrize("is_one_wire", [True, False])
def test_counted_ids_of_other_conversations_are_others(
    tmp_path: Path, block_bytes: int, arguments: str, *, is_one_wire: bool
) -> None:
    other = of_another_conversation(arguments=arguments)
    if is_one_wire:
        other = [{**line, "x": line["x"] + 10} for line in other]
        logs = [[*wire(), *other]]
    else:
        logs = [wire(), other]
    document = opened(tmp_path, *logs, block_bytes=block_bytes)
    found = summary(document, "")["calls"]
    assert (found["tools"], found["answered"], found["failed"], found["unanswered"]) == (4, 4, 2, 0)
    document.close()
    document = opened(tmp_path, session(0.5), *logs, block_bytes=block_bytes)
    found = summary(document, "")["calls"]
    assert (found["tools"], found["answered"], found["failed"], found["unanswered"]) == (4, 4, 2, 0)
    document.close()


def test_drawn_ids_are_one_call_in_any_conversation(tmp_path: Path) -> None:
    drawn = (("call_1", "toolu_01Vd3fXk9"), ("call_2", "toolu_01Qm7cBt4"))
    resumed = json.loads(json.dumps(wire(range(2, 3), first=9)).replace("Look at the notes", "Resumed: look"))
    logs = [wire(range(2)), resumed]
    for old, new in drawn:
        logs = json.loads(json.dumps(logs).replace(old, new))
    document = opened(tmp_path, *logs)
    found = summary(document, "")["calls"]
    assert (found["tools"], found["answered"], found["unanswered"]) == (2, 2, 0)
    document.close()


def test_a_tool_may_be_named_with_its_server(tmp_path: Path) -> None:
    named = json.loads(json.dumps(wire()).replace('"Read"', '"mcp__files__read"'))
    document = opened(tmp_path, session(), named)
    assert summary(document, "")["calls"]["tools"] == 2
    document.close()


def test_copies_are_the_same_in_any_batches(tmp_path: Path) -> None:
    """Three wires: the second twenty minutes after the first, the third a minute after the second."""
    later, latest = (
        json.loads(json.dumps(wire()).replace("T08:00", at).replace("msg_", name))
        for at, name in (("T08:20", "m_"), ("T08:21", "n_"))
    )
    logs = [wire(), session(), later, latest, of_another_tool()]
    found: list[list[tuple[int, int, int]]] = []
    for block_bytes in (100, 3_000, 1 << 20):
        document = opened(tmp_path, *logs, block_bytes=block_bytes)
        found.append(copied(document))
        assert summary(document, "")["calls"]["tools"] == 8
        document.close()
    assert found[0] == found[1] == found[2]


def test_usage_that_is_named_otherwise_counts_once(tmp_path: Path) -> None:
    renamed = json.loads(json.dumps(session()).replace("msg_", "response_"))
    document = opened(tmp_path, renamed, wire())
    found = summary(document, "")
    assert found["usage"] == {"input": 60, "output": 18, "cache_read": 0, "cache_write": 0}
    assert sum(document.analysis.usage.calls_by_model().values()) == 3
    document.close()


def test_equal_reports_wait_in_bounded_number(tmp_path: Path) -> None:
    """Whoever reports the same numbers for each call is not compared with all calls before."""
    said = [{"type": "text", "text": "So it is."}]
    equal = [
        record(number / 100, number, "assistant", said, id=f"m_{number}", model="m-1", usage=usage(10, 5))
        for number in range(300)
    ]
    document = opened(tmp_path, equal, wire(range(1)))
    (waiting,) = vars(document.analysis.usage)["_told"].values()
    assert len(waiting) <= 64
    assert summary(document, "")["usage"]["input"] == 3_000
    document.close()


def test_words_told_in_both_ways_are_said_once(tmp_path: Path) -> None:
    document = opened(tmp_path, session(), wire())
    capture = document.capture
    texts = [
        capture.records.payload(row).get("text")
        for row in range(len(capture))
        if capture.string("kind", row) == "chat" and not capture.repeated_messages(np.array([row]))[1][0]
    ]
    assert texts == ["Look at the notes", "Done."]
    document.close()


Turn = tuple[list[bool], float]
"""Calls of an answer, each failed or not, and how late the session notes it in seconds."""
_turns = st.lists(
    st.tuples(st.lists(st.sampled_from((False, False, True)), max_size=3), st.sampled_from((0.0, 0.3))),
    min_size=1, max_size=5,
)  # fmt: skip


def told_twice(turns: list[Turn], captures: list[int]) -> tuple[list[list[dict[str, Any]]], dict[str, int]]:
    """A session and the captures of its wire, with the counts of both: each turn is an answer and its results.

    Args:
        turns: of the conversation.
        captures: by turn, the capture that holds its request.
    """
    prompt = [{"type": "text", "text": "Look at the notes"}]
    records = [record(0, 0, "user", "Look at the notes")]
    history: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    wires: dict[int, list[dict[str, Any]]] = {}
    counts = {"tools": 0, "failed": 0, "input": 0, "output": 0}
    for number, (calls, late) in enumerate(turns):
        begins = 10.0 * number + 1
        blocks = [made(f"call_{number}_{n}", f"/w/{number}/{n}") for n in range(len(calls))]
        answer = blocks or [{"type": "text", "text": f"Answer {number}."}]
        used = usage(10 * (number + 1), 5 + number)
        identifier = f"msg_{number}"
        asked = {"model": "m-1", "max_tokens": 9, "messages": [*history]}
        body = {"id": identifier, "type": "message", "role": "assistant", "model": "m-1", "content": answer,
                "stop_reason": "end_turn", "usage": used}  # fmt: skip
        head = {"x": number + 1, "headers": {}}
        wires.setdefault(captures[number % len(captures)], []).extend((
            {"t": at(begins), "dir": "client->server", "kind": "http-request", **head, "method": "POST",
             "path": "/v1/messages", "message": asked},
            {"t": at(begins + 1), "dir": "server->client", "kind": "http-response", **head, "status": 200,
             "message": body},
            {"t": at(begins + 1), "dir": "server->client", "kind": "http-end", "x": number + 1, "how": "complete"},
        ))  # fmt: skip
        for block in answer:
            records.append(
                record(begins + 1 + late, len(records), "assistant", [block], id=identifier, model="m-1", usage=used)
            )
        results = [
            came(block["id"], f"seen {number} {n}", failed=bool(failed))
            for n, (block, failed) in enumerate(zip(blocks, calls, strict=True))
        ]
        records += [record(begins + 3, len(records) + n, "user", [one]) for n, one in enumerate(results)]
        history.append({"role": "assistant", "content": answer})
        history.append({"role": "user", "content": results or [{"type": "text", "text": f"Go on {number}"}]})
        if not results:
            records.append(record(begins + 3, len(records), "user", f"Go on {number}"))
        counts["tools"] += len(calls)
        counts["failed"] += sum(map(bool, calls))
        counts["input"] += used["input_tokens"]
        counts["output"] += used["output_tokens"]
    return [records, *wires.values()], counts


@share_of_examples(2)
@given(
    _turns, st.lists(st.integers(0, 2), min_size=1, max_size=5), st.randoms(use_true_random=False),
    st.sampled_from((200, 2_000, 1 << 20)),
)  # fmt: skip
def test_a_session_and_its_wire_count_once(
    tmp_path_factory: pytest.TempPathFactory, turns: list[Turn], captures: list[int], order: Random, block_bytes: int
) -> None:
    logs, expected = told_twice(turns, captures)
    order.shuffle(logs)
    document = opened(tmp_path_factory.mktemp("both"), *logs, block_bytes=block_bytes)
    try:
        found = summary(document, "")
        calls, tokens = found["calls"], found["usage"]
        counted = {"tools": calls["tools"], "failed": calls["failed"], "input": tokens["input"],
                   "output": tokens["output"]}  # fmt: skip
        assert counted == expected
        assert (calls["answered"], calls["unanswered"]) == (expected["tools"], 0)
        assert found["findings"] == {}
    finally:
        document.close()
