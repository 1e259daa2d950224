"""Sessions of Claude Code, whatever order, cut or cycle their records come in."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.document.summary import context_nodes, summary
from tests.builders import GrowingLog, clean_up, document_at, log_file
from tests.pictures import picture

SESSION = "5f0c3a52-8d17-4a0e-9b3e-6f2f1f6f0a01"
ids = st.sampled_from(["u1", "u2", "u3", "u4", "u5", "u6"])
agents = st.sampled_from(["a1", "a2", None])
calls = st.sampled_from(["t1", "t2", "t3"])
PROMPTS = ["List them.", "Look."]


def record(type_: str, uuid: str, parent: str | None, second: int, **more: Any) -> dict[str, Any]:
    return {
        "type": type_, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION,
        "timestamp": f"2026-03-04T09:00:{second:02d}.000Z", **more,
    }  # fmt: skip


def of_agent(agent: str | None, *, chain: bool) -> dict[str, Any]:
    return {"isSidechain": True, **({"agentId": agent} if agent else {})} if agent or chain else {"isSidechain": False}


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    uuid, parent, second = draw(ids), draw(ids | st.none()), draw(st.integers(0, 59))
    place = of_agent(draw(agents), chain=draw(st.booleans()))
    sort = draw(st.sampled_from(["prompt", "said", "call", "result", "spawned", "tick", "cleared", "odd"]))
    if sort == "prompt":
        message: dict[str, Any] = {"role": "user", "content": draw(st.sampled_from(PROMPTS))}
        return record("user", uuid, parent, second, message=message, **place)
    if sort in ("said", "call"):
        written = draw(st.integers(0, 3))  # what is a copy reports the same
        block: dict[str, Any] = {"type": "text", "text": f"{written} words"}
        call = draw(calls)
        if sort == "call":
            asked = {"prompt": draw(st.sampled_from(PROMPTS)), "words": f"{written} {call}"}
            name = draw(st.sampled_from(["Task", "Bash"]))
            block = {"type": "tool_use", "id": draw(calls), "name": name, "input": asked}
        block |= {"text": f"{written} words for {call}"}
        usage = {"input_tokens": 1, "output_tokens": written}
        message = {"id": call, "model": "m", "content": [block] * draw(st.integers(1, 2)), "usage": usage}
        return record("assistant", uuid, parent, second, message=message, **place)
    if sort in ("result", "spawned"):
        message = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": draw(calls), "content": "ok"}]}
        told = {"toolUseResult": {"agentId": draw(agents), "status": "completed"}} if sort == "spawned" else {}
        return record("user", uuid, parent, second, message=message, **place, **told)
    if sort == "tick":
        data = {"type": draw(st.sampled_from(["bash_progress", "agent_progress"])), "agentId": draw(agents)}
        return record("progress", uuid, parent, second, data=data, parentToolUseID=draw(calls), **place)
    if sort == "cleared":
        data = {"compactedToolIds": [draw(calls)]}
        return record("system", uuid, parent, second, subtype="microcompact_boundary", microcompactMetadata=data)
    return {"type": draw(st.sampled_from(["odd", "summary", "mode"])), "sessionId": SESSION, "leafUuid": uuid}


sessions = st.lists(records(), min_size=1, max_size=24).map(
    lambda made: b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in made)
)


@given(sessions, st.lists(st.integers(0, 6_000), max_size=5))
def test_a_session_that_grows_at_any_byte_gives_what_opening_it_gives(data: bytes, cuts: list[int]) -> None:
    log = GrowingLog()
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, stop in pairwise(places):
        log.write_bytes(data[start:stop])
    grown = picture(log.end())
    whole = CaptureDocument()
    whole.load(log_file(data, "growing"))  # the name is told by a field
    assert grown == picture(whole)
    whole.close()
    clean_up()


@given(sessions)
def test_each_record_is_there_once_and_each_call_costs_once(data: bytes) -> None:
    document = CaptureDocument()
    document.load(log_file(data))
    lines = data.splitlines()
    found = summary(document, "")
    assert (found["records"], found["unreadable"], found["format"]) == (len(lines), 0, "claude-code")
    capture = document.capture
    told = {(int(capture.columns["offset"][row]), capture.records.read_line_of(row)) for row in range(len(capture))}
    folded = {
        (d.offset, capture.sources[0].read(d.offset, d.length))
        for r in range(len(capture))
        for d in capture.deliveries.deliveries_of(r)
    }
    assert {line for _, line in told | folded} == set(lines)
    best: dict[str, int] = {}
    for line in map(json.loads, lines):
        message = line.get("message", {})
        if "usage" in message:
            best[message["id"]] = max(best.get(message["id"], 0), message["usage"]["output_tokens"])
    assert found["models"] == ({"m": len(best)} if best else {})
    assert (found["usage"] or {"output": 0})["output"] == sum(best.values())
    list(context_nodes(document))
    document.close()
    clean_up()


def test_ids_of_a_megabyte_and_long_cycles() -> None:
    huge = "x" * (1 << 20)
    made = [record("user", huge, huge, 1, isSidechain=True, message={"role": "user", "content": "a"}, agentId=huge)]
    made += [
        record("user", f"c{n}", f"c{(n + 1) % 500}", 2, isSidechain=True, message={"role": "user", "content": "b"})
        for n in range(500)
    ]
    document = document_at(log_file(b"".join(json.dumps(one).encode() + b"\n" for one in made)))
    assert (len(document.capture), document.unreadable) == (501, 0)
    assert max(len(name) for name in document.analysis.contexts.tree.name) < 1 << 17


def test_sub_agents_by_the_thousand_each_started_by_the_one_before() -> None:
    made: list[dict[str, Any]] = []
    for n in range(3_000):
        own, asked = {"isSidechain": True, "agentId": f"a{n}"}, {"prompt": f"Part {n + 1}", "description": "Go on"}
        call = {"type": "tool_use", "id": f"t{n}", "name": "Task", "input": asked}
        made.append(record("user", f"p{n}", None, 1, message={"role": "user", "content": f"Part {n}"}, **own))
        made.append(record("assistant", f"c{n}", f"p{n}", 2, message={"role": "assistant", "content": [call]}, **own))
    document = document_at(log_file(b"".join(json.dumps(one).encode() + b"\n" for one in made)))
    tree = document.analysis.contexts.tree
    assert (len(document.capture), document.unreadable, len(tree)) == (6_000, 0, 3_000)
    assert [*tree.parent][1:] == [*range(2_999)]


def test_ticks_of_a_call_are_one_row() -> None:
    made = [
        record(
            "progress", f"p{n}", "u1", n, data={"type": "bash_progress", "elapsedTimeSeconds": n}, parentToolUseID="t1"
        )
        for n in range(9)
    ]
    document = document_at(log_file(b"".join(json.dumps(one).encode() + b"\n" for one in made)))
    assert (len(document.capture), document.capture.record_count) == (1, 9)
    assert len(list(document.capture.deliveries.deliveries_of(0))) == 9
