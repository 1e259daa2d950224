"""The demo's story at a hundredth of its time, as the inspector's own source captures it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from inspector.base.async_tasks import start_task
from inspector.demo.agents import Agent
from inspector.demo.script import DECISIONS, Demo
from inspector.demo.story import MAX_TOKENS, StoryCast
from inspector.demo.tools import activities
from inspector.sources.connection import Connection
from inspector.sources.gateway import GatewaySource
from inspector.store.files.capture_writer import CaptureWriter

Envelope = dict[str, Any]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody runs out of patience because the machine is busy: only what stays unanswered is withdrawn."""
    propose = Agent.propose

    async def patiently(agent: Agent, server: str, tool: str, *args: Any, patience_s: float, **rest: Any) -> Any:
        longer = 1 if DECISIONS[tool] == "ignore" else 10_000
        return await propose(agent, server, tool, *args, patience_s=longer * patience_s, **rest)

    monkeypatch.setattr(Agent, "propose", patiently)


class WatchedDemo(Demo):
    """A demo whose first participant joins when somebody watches."""

    @override
    async def _join_all(self, cast: StoryCast) -> None:
        await until(lambda: "watcher" in self.participants)
        await super()._join_all(cast)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(200):
        while not condition():  # noqa: ASYNC110 - the demo has no event for it, and needs none but here
            await asyncio.sleep(0.01)


async def told(path: Path, *, pace: float = 0.01, rounds: int = 1) -> tuple[list[Envelope], list[str]]:
    """Play some rounds and return the envelopes and stream frames that arrived, in order."""
    demo = WatchedDemo()
    await demo.start(pace)
    connection = Connection(url=demo.url, space=demo.space, participant="watcher")
    writer = CaptureWriter(path, origin=connection.origin())
    source = GatewaySource(connection, writer, on_state=lambda _state, _sentence: None)
    running = start_task(source.run(), name="watching the demo")
    await until(lambda: demo.rounds_played == rounds)
    await source.close()
    await running
    writer.close()
    await demo.stop()
    received = [line for line in lines_of(path) if line.get("dir") == "in"]
    return [one["frame"] for one in received if "frame" in one], [one["text"] for one in received if "text" in one]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def of(envelopes: list[Envelope], kind: str, sender: str | None = None) -> list[Envelope]:
    return [one for one in envelopes if one["kind"] == kind and sender in (None, one["from"])]


def caused(envelopes: list[Envelope], cause: Envelope, kind: str) -> list[Envelope]:
    return [one for one in of(envelopes, kind) if cause["id"] in one.get("correlation_id", [])]


async def test_the_story_holds_something_of_everything(tmp_path: Path) -> None:
    envelopes, frames = await told(tmp_path / "demo.ctxcap")
    people_come_and_ask(envelopes)
    reasoning_nests(envelopes)
    proposals_end_in_three_ways(envelopes)
    pages_collapse(envelopes)
    a_stream_belongs_to_the_reasoning(envelopes, frames)
    a_context_fills_and_is_compacted(envelopes)
    the_violation_is_reacted_to(envelopes)
    a_reasoning_is_cancelled(envelopes)


def people_come_and_ask(envelopes: list[Envelope]) -> None:
    joins = [one["payload"] for one in of(envelopes, "system/presence") if one["payload"]["event"] == "join"]
    assert [one["participant"]["id"] for one in joins] == ["activities", "files", "analyst", "lead", "human"]
    (asked,) = of(envelopes, "chat", "human")[:1]
    assert caused(envelopes, asked, "chat/acknowledge")
    assert caused(envelopes, asked, "chat")
    listings = [one for one in of(envelopes, "mcp/request") if one["payload"]["method"] == "tools/list"]
    assert {"watcher", "activities", "files", "human"} <= {one["to"][0] for one in listings}
    assert all(caused(envelopes, one, "mcp/response") for one in listings)


def reasoning_nests(envelopes: list[Envelope]) -> None:
    starts = of(envelopes, "reasoning/start")
    outer, inner = starts[0], of(starts, "reasoning/start", "analyst")[0]
    assert "context" not in outer
    assert inner["context"] == outer["id"]
    contexts = {one.get("context") for one in envelopes}
    assert {f"{outer['id']}/files", f"{inner['id']}/fetch", f"{inner['id']}/store", inner["id"]} <= contexts
    for start in (outer, inner):
        assert [one["context"] for one in of(envelopes, "reasoning/conclusion")].count(start["id"]) == 1


def proposals_end_in_three_ways(envelopes: list[Envelope]) -> None:
    by_tool = {one["payload"]["params"]["name"]: one for one in of(envelopes, "mcp/proposal")}
    (request,) = caused(envelopes, by_tool["write_file"], "mcp/request")
    assert request["from"] == "human"
    assert caused(envelopes, request, "mcp/response")
    (reject,) = caused(envelopes, by_tool["delete_file"], "mcp/reject")
    assert reject["payload"] == {"reason": "unsafe"}
    (withdraw,) = caused(envelopes, by_tool["share_file"], "mcp/withdraw")
    assert (withdraw["from"], withdraw["payload"]) == ("lead", {"reason": "timeout"})


def pages_collapse(envelopes: list[Envelope]) -> None:
    """FIFO by hand, as docs/protocols.md 13: nine transient pages, each consumed before the next arrives."""
    results = [one["payload"].get("result", {}) for one in of(envelopes, "mcp/response", "activities")]
    hints = [hint for one in results for hint in one.get("_meta", {}).get("contextHints", [])]
    assert {(hint["tool"], hint["consumedBy"]) for hint in hints} == {("search_records", "analysis_store")}
    life = [one["_meta"]["context"] for one in results if "context" in one.get("_meta", {})]
    assert len(life) == 18
    assert all(page["lifecycle"] == "transient" for page in life[::2])
    assert life[0]["summary"] == "15 activity records (page 1/9, IDs: 1001, 1002, 1003...)"
    assert life[-2]["summary"] == "12 activity records (page 9/9, IDs: 1121, 1122, 1123...)"
    assert life[1::2] == [{"consumed": True}] * 9
    pages = [
        json.loads(one["content"][0]["text"])
        for one in results
        if "lifecycle" in json.dumps(one.get("_meta", {}).get("context", {}))
    ]
    records = [record for page in pages for record in page["records"]]
    assert [record["id"] for record in records] == list(range(1001, 1133))


def a_stream_belongs_to_the_reasoning(envelopes: list[Envelope], frames: list[str]) -> None:
    (request,) = of(envelopes, "stream/request")
    (opened,) = caused(envelopes, request, "stream/open")
    assert request["payload"]["description"] == f"reasoning:{of(envelopes, 'reasoning/start')[0]['id']}"
    assert envelopes.index(opened) < envelopes.index(request)
    stream_id = opened["payload"]["stream_id"]
    assert of(envelopes, "stream/close")[0]["payload"] == {"stream_id": stream_id, "reason": "complete"}
    assert len(frames) >= 20
    chunks = [json.loads(frame.removeprefix(f"#{stream_id}#")) for frame in frames]
    assert Counter(chunk["type"] for chunk in chunks)["token"] == len(frames) - 2


def a_context_fills_and_is_compacted(envelopes: list[Envelope]) -> None:
    reports = [one["payload"] for one in of(envelopes, "participant/status", "lead")]
    tokens = [one["tokens"] for one in reports if one["status"] == "active"]
    assert tokens[:4] == sorted(tokens[:4])
    assert 0.9 * MAX_TOKENS < tokens[3] < MAX_TOKENS
    assert tokens[4] < tokens[0]
    (compact,) = of(envelopes, "participant/compact")
    (done,) = caused(envelopes, compact, "participant/compact-done")
    assert done["payload"]["freed_tokens"] == tokens[3] - tokens[4]
    (asked,) = of(envelopes, "participant/request-status")
    assert caused(envelopes, asked, "participant/status")


def the_violation_is_reacted_to(envelopes: list[Envelope]) -> None:
    said = [one["payload"]["text"] for one in of(envelopes, "chat", "lead")]
    assert any(text.startswith("I may not write files myself") for text in said)
    # The refusal itself went to the lead alone, and the refused request to nobody.
    assert not of(envelopes, "system/error")
    tools = [one["payload"].get("params", {}).get("name") for one in of(envelopes, "mcp/request", "lead")]
    assert "write_file" not in tools


def a_reasoning_is_cancelled(envelopes: list[Envelope]) -> None:
    (cancel,) = of(envelopes, "reasoning/cancel")
    assert cancel["context"] in [one["id"] for one in of(envelopes, "reasoning/start", "lead")]
    (conclusion,) = [one for one in of(envelopes, "reasoning/conclusion") if one["context"] == cancel["context"]]
    assert conclusion["payload"]["cancelled"] is True


async def test_stopping_leaves_nothing_behind() -> None:
    demo = Demo()
    await demo.start(0.01)
    await until(lambda: len(demo.participants) > 3)
    await demo.stop()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_stranger_cannot_take_over_a_participant() -> None:
    demo = Demo()
    await demo.start(0.01)
    await until(lambda: "lead" in demo.participants)
    async with connect(demo.url, proxy=None) as thief:
        await thief.send('{"type":"join","participantId":"lead"}')
        with pytest.raises(ConnectionClosed, match="1008"):
            await thief.recv()
    await until(lambda: demo.rounds_played == 1)
    await demo.stop()


async def test_the_next_round_brings_the_human_back_with_fresh_ids(tmp_path: Path) -> None:
    envelopes, _ = await told(tmp_path / "demo.ctxcap", pace=0.003, rounds=2)
    starts = [one["id"] for one in of(envelopes, "reasoning/start")]
    assert len(starts) == len(set(starts)) == 6
    asked = [one["payload"]["text"] for one in of(envelopes, "chat", "human")]
    assert len(set(asked)) > 4
    events = [one["payload"] for one in of(envelopes, "system/presence")]
    humans = [one["event"] for one in events if one["participant"]["id"] == "human"]
    assert humans[:3] == ["join", "leave", "join"]


def test_the_records_are_the_same_every_time() -> None:
    assert len(activities()) == 132
    assert activities() == activities()
    assert len({one.title for one in activities()}) > 60
