"""Cards of a conversation: every message has one, and they tell calls and answers together."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.steps.call_facts import KeptCalls
from inspector.analysis.views.steps.step_table import step_table
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.filters.scope import Reach
from inspector.present.conversation.cards import AgentCard, CallCard, Card, CardKind, CompactionCard, FoldCard, TextCard
from inspector.present.conversation.describe import describe_card
from inspector.present.conversation.outline import QUIET_RUN, Outline, OutlineOptions, outline_of
from inspector.present.conversation.texts import picture_bytes
from tests.builders import clean_up, document_at, document_of, envelope, lines_of, log_file, tool_call, tool_result
from tests.findings import at
from tests.samples import DATA, FORMAT_SAMPLES, sample
from tests.strategies import gateway_logs, traffic
from tests.transcribed import ClaudeSession


def opened(path: Path) -> CaptureDocument:
    """Opens a log."""
    document = CaptureDocument()
    for _ in document.open_log(path, together=True):
        pass
    return document


def outlined(document: CaptureDocument, **options: object) -> Outline:
    """Returns an outline with some options."""
    made = OutlineOptions(**options)  # pyright: ignore[reportArgumentType]
    reading, _is_partial = run_to_end(KeptCalls(document.analysis).reading_rows())
    return outline_of(document.analysis, step_table(document.analysis), made, reading)


def cards_of(document: CaptureDocument, outline: Outline) -> list[Card]:
    """Returns all cards of an outline."""
    table = step_table(document.analysis)
    return [describe_card(document, table, ref) for ref in outline.refs(0, len(outline))]


@pytest.mark.parametrize("path", FORMAT_SAMPLES.values(), ids=list(FORMAT_SAMPLES))
def test_each_message_is_on_one_card(path: Path) -> None:
    document = opened(path)
    for unfolds in (False, True):
        outline = outlined(document, unfolds_all=unfolds)
        assert len(outline.items) == len(document.analysis)
        assert not len(outline) or (outline.items.min() >= 0 and outline.items.max() < len(outline))
        # The first message of a card is on it, except for a fold that is open.
        own = np.flatnonzero(~(outline.is_open & np.isin(outline.kinds, (CardKind.FOLD, CardKind.RECORDS))))
        assert np.array_equal(outline.items[outline.messages[own]], own)
        keys = list(zip(outline.kinds.tolist(), outline.messages.tolist(), strict=True))
        assert len(set(keys)) == len(keys)
        assert len(cards_of(document, outline)) == len(outline)
    document.close()


@given(st.one_of(gateway_logs(), traffic()))
def test_each_message_of_any_traffic_is_on_one_card(envelopes: list[dict[str, Any]]) -> None:
    document = opened(log_file(lines_of(*envelopes)))
    try:
        outline = outlined(document)
        assert len(outline.items) == len(document.analysis)
        assert not len(outline) or 0 <= outline.items.min() <= outline.items.max() < len(outline)
        assert len(cards_of(document, outline)) == len(outline)
    finally:
        document.close()
        clean_up()


@pytest.mark.parametrize(
    ("output", "word"), [("--- FAIL: TestRound (0.01s)\nFAIL", "tests failed"), ("ok\tapp\t0.2s", "ok")]
)
def test_a_run_whose_output_states_failed_tests_is_not_ok(output: str, word: str) -> None:
    run = tool_call("Bash", arguments={"command": "go test ./... 2>&1 | tail -30"})
    document = document_of(run, tool_result(run, output))
    card = next(card for card in cards_of(document, outlined(document)) if isinstance(card, CallCard))
    assert card.pill is not None
    assert card.pill.word == word


def test_usage_records_of_codex_are_no_cards(tmp_path: Path) -> None:
    def line(sort: str, **payload: object) -> str:
        return json.dumps({"timestamp": "2026-09-20T10:00:00.000Z", "type": sort, "payload": payload}) + "\n"

    said = [{"type": "output_text", "text": "Done."}]
    activity = {"type": "SubAgentActivity", "id": "a", "agent_path": "/root/judge", "kind": "started"}
    path = tmp_path / "rollout.jsonl"
    path.write_text(
        line("session_meta", id="01900000-0000-7000-8000-000000000001", cwd="/w")
        + line("response_item", type="message", role="assistant", content=said)
        + line("token_usage_record", usage={"input_tokens": 9, "output_tokens": 1})
        + line("event_msg", type="item_completed", item=activity)
    )
    outline = outlined(document_at(path))
    assert "OTHER" not in [CardKind(kind).name for kind in outline.kinds.tolist()]


@pytest.fixture
def session() -> Iterator[CaptureDocument]:
    document = opened(sample("formats/claude-code.jsonl"))
    yield document
    document.close()


def test_a_session_reads_as_a_conversation(session: CaptureDocument) -> None:
    outline = outlined(session)
    cards = cards_of(session, outline)
    kinds = [CardKind(kind).name for kind in outline.kinds.tolist()]
    assert kinds[:9] == ["RECORDS", "PROMPT", "THOUGHT", "CALL", "RECORDS", "ANSWER", "AGENT", "CALL", "OTHER"]
    found = next(card for card in cards if isinstance(card, CallCard))
    assert (found.verb, found.subject, found.is_quiet, found.answer) == ("Grep", "total in src", True, 6)
    failed = next(card for card in cards if isinstance(card, CallCard) and card.state == 2)
    assert failed.pill is not None
    assert failed.pill.word == "failed"
    assert failed.output is not None
    assert failed.output.lines[0].text == "Unknown project"
    agent = next(card for card in cards if isinstance(card, AgentCard))
    assert (agent.task, agent.calls, agent.steps, agent.model) == (
        "Find roundings", 1, 3, "claude-haiku-4-5-20251001",
    )  # fmt: skip
    folded = next(card for card in cards if isinstance(card, FoldCard))
    assert folded.words == "2 records of claude-code"


def test_a_sub_agent_opens_in_place(session: CaptureDocument) -> None:
    outline = outlined(session)
    agent = int(np.flatnonzero(outline.kinds == CardKind.AGENT)[0])
    message = int(outline.messages[agent])
    inside = np.flatnonzero(outline.items == agent)
    assert len(inside) > 2
    opened_up = outlined(session, unfolded=(message,))
    assert len(opened_up) == len(outline) + 3
    assert opened_up.depths[agent : agent + 5].tolist() == [0, 1, 1, 1, 0]
    assert opened_up.is_open[agent]
    revealing = outlined(session, reveals=(int(inside[-2]),))
    assert revealing.unfolded == (message,)
    alone = outlined(session, scope=int(outline.opens[agent]))
    assert alone.depths.tolist() == [0, 0, 0]


def test_a_compaction_tells_tokens_and_joins_its_announcement(session: CaptureDocument) -> None:
    outline = outlined(session)
    cut = next(card for card in cards_of(session, outline) if isinstance(card, CompactionCard))
    assert (cut.before, cut.after > 0, bool(cut.blocks)) == (155_250, True, True)
    assert outline.items[cut.ref.message - 1] == outline.items[cut.ref.message]


def test_records_can_be_left_out(session: CaptureDocument) -> None:
    outline = outlined(session, shows_records=False)
    assert CardKind.RECORDS not in outline.kinds
    assert outline.records == np.count_nonzero(outline.items < 0) == 6


def test_runs_of_quiet_calls_fold(tmp_path: Path) -> None:
    lines = [envelope("chat", {"text": "Look around."}, id="ask", **{"from": "user"})]
    for place in range(QUIET_RUN + 2):
        tool = "search" if place == 3 else "read_file"
        asked = envelope(
            "mcp/request", {"method": "tools/call", "params": {"name": tool, "arguments": {"path": f"/a/{place}.py"}}},
            id=f"c{place}", to=["files"],
        )  # fmt: skip
        lines += [asked, tool_result(asked, id=f"r{place}")]
    path = tmp_path / "quiet.jsonl"
    path.write_bytes(lines_of(*lines))
    document = opened(path)
    outline = outlined(document)
    assert outline.kinds.tolist() == [CardKind.PROMPT, CardKind.CALL, CardKind.FOLD]
    fold = cards_of(document, outline)[2]
    assert isinstance(fold, FoldCard)
    assert fold.words == "5 more steps: 4 reads, 1 search"
    assert outline.counts[2] == QUIET_RUN + 1
    assert len(outlined(document, unfolded=(fold.ref.message,))) == QUIET_RUN + 4
    assert len(outlined(document, folds_quiet=False)) == QUIET_RUN + 3
    document.close()


def test_messages_about_presence_fold_and_proposals_are_named(tmp_path: Path) -> None:
    joined = [envelope("system/join", {}, id=f"j{name}", **{"from": name}) for name in ("ann", "bot")]
    here = envelope("system/presence", {"event": "join", "participant": {"id": "bot"}}, id="p")
    call = {"method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}}
    path = tmp_path / "joins.jsonl"
    path.write_bytes(lines_of(*joined, here, envelope("mcp/proposal", call, id="ask", to=["bot"])))
    document = opened(path)
    outline = outlined(document)
    fold, proposal = cards_of(document, outline)
    assert isinstance(fold, FoldCard)
    assert fold.words == "3 messages about presence: ann, bot"
    assert isinstance(proposal, CallCard)
    assert proposal.aside == "proposal"
    assert len(outlined(document, unfolded=(0,))) == 5
    document.close()


def test_a_decision_is_that_of_the_proposals_state() -> None:
    call = {"method": "tools/call", "params": {"name": "run", "arguments": {"cmd": "make"}}}

    def proposal(name: str, second: int) -> dict[str, Any]:
        return envelope("mcp/proposal", call, id=name, sender="planner", ts=at(second))

    def decision(kind: str, of: str, second: int, sender: str, payload: Any = None) -> dict[str, Any]:
        payload = payload or {"reason": "busy"}
        return envelope(kind, payload, id=f"d{second}", correlation_id=[of], sender=sender, ts=at(second))

    document = document_of(
        proposal("withdrawn", 1), decision("mcp/withdraw", "withdrawn", 3, "planner"),
        proposal("waiting", 4), decision("mcp/withdraw", "waiting", 5, "ann"),
        proposal("fulfilled", 6), decision("mcp/reject", "fulfilled", 7, "reviewer"),
        decision("mcp/request", "fulfilled", 9, "lead", call), proposal("rejected", 10),
        decision("mcp/reject", "rejected", 12, "ann"),
    )  # fmt: skip
    cards = {
        card.ref.message + 1: card for card in cards_of(document, outlined(document)) if isinstance(card, CallCard)
    }
    decided = {number: card.decision for number, card in cards.items()}
    assert decided == {
        1: "withdrawn after 2.0 s", 3: "", 5: "allowed after 3.0 s", 7: "", 8: "rejected after 2.0 s"
    }  # fmt: skip
    # The words of a rejection are no result of a call that another participant fulfilled.
    assert cards[5].output is None


def test_lines_of_an_edit_have_the_numbers_of_the_reading_before_it(tmp_path: Path) -> None:
    def called(number: int, name: str, **arguments: Any) -> dict[str, Any]:
        payload = {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
        return envelope("mcp/request", payload, id=f"c{number}", to=["files"])

    read = called(0, "read_file", path="/a.py")
    others = called(3, "read_files", path=["/b.py", "/c.py"])
    edit = called(1, "edit_file", path="/a.py", old_string="b = 1", new_string="b = 2")
    again = called(2, "edit_file", path="/a.py", old_string="b = 2", new_string="b = 3")
    path = tmp_path / "edits.jsonl"
    path.write_bytes(lines_of(
        read, tool_result(read, "   6\ta = 0\n   7\tb = 1", id="r0"), others, edit, tool_result(edit, id="r1"), again,
        tool_result(again, id="r2"),
    ))  # fmt: skip
    document = opened(path)
    diffs = [
        card.diffs[0] for card in cards_of(document, outlined(document)) if isinstance(card, CallCard) and card.diffs
    ]
    assert [[(line.old, line.new) for line in diff.lines] for diff in diffs] == [[(7, 0), (0, 7)], [(0, 0), (0, 0)]]
    document.close()


def test_messages_of_sessions_show_their_visibility() -> None:
    document = document_at(DATA / "msp/weekly-report.json")
    asides = {card.aside for card in cards_of(document, outlined(document)) if isinstance(card, TextCard)}
    assert asides == {"", "global: also in the parent chat", "main_only: in no sub-session"}
    document.close()


def test_a_scope_has_the_reach_and_the_space_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "contexts.jsonl"
    path.write_bytes(lines_of(*(
        envelope("chat", {"text": f"message {place}"}, id=f"m{place}", **fields)
        for place, fields in enumerate(({}, {"context": "a"}, {"context": "a/b"}, {"context": "c"}))
    )))  # fmt: skip
    document = opened(path)
    tree, space = document.analysis.contexts.tree, int(document.capture.columns["space"][0])
    node = tree.find(space, "a")

    def shown(**options: object) -> list[int]:
        return outlined(document, space=space, **options).messages.tolist()

    assert shown() == [0, 1, 2, 3]
    assert shown(scope=node) == [1, 2]
    assert shown(scope=node, reach=Reach.ONLY) == [1]
    assert shown(scope=node, reach=Reach.CHILDREN) == [2]
    assert shown(scope=MAIN) == [0]
    assert not len(outlined(document, space=space + 1_000))
    document.close()


def test_the_bytes_of_a_picture_are_found_behind_padding(tmp_path: Path) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"12345").decode()}
    line = {
        "type": "user", "uuid": "u-0", "parentUuid": None, "sessionId": "5b1c7c1e-2f53-4f4b-9f2a-0d6b5f6c1a11",
        "timestamp": "2026-11-20T10:00:00.000Z", "version": "2.1.0", "cwd": "/home/user/shop",
        "message": {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image", "source": source}]},
    }  # fmt: skip
    path = tmp_path / "session.jsonl"
    path.write_bytes(json.dumps(line).encode() + b"\n")
    document = opened(path)
    assert picture_bytes(document.capture, 1, 0) == b"12345"
    document.close()


def test_commands_that_only_read_fold(tmp_path: Path) -> None:
    lines = [envelope("chat", {"text": "Look around."}, id="ask", **{"from": "user"})]
    commands = ("ls -la", "cat a.py | head -5", "grep -rn total .", "git status", "sed -n '1,9p' a.py", "make lint")
    for place, command in enumerate(commands):
        asked = envelope(
            "mcp/request",
            {"method": "tools/call", "params": {"name": "shell", "arguments": {"command": ["bash", "-lc", command]}}},
            id=f"c{place}", to=["files"],
        )  # fmt: skip
        lines += [asked, tool_result(asked, id=f"r{place}")]
    path = tmp_path / "commands.jsonl"
    path.write_bytes(lines_of(*lines))
    document = opened(path)
    outline = outlined(document)
    assert outline.kinds.tolist() == [CardKind.PROMPT, CardKind.CALL, CardKind.FOLD, CardKind.CALL]
    first, fold, last = cards_of(document, outline)[1:]
    assert isinstance(first, CallCard)
    assert isinstance(fold, FoldCard)
    assert isinstance(last, CallCard)
    assert (first.is_quiet, first.subject, last.is_quiet, last.subject) == (True, "ls -la", False, "make lint")
    assert fold.words == "4 more steps: 3 reads, 1 search"
    document.close()


def test_a_permission_is_on_the_card_of_its_call() -> None:
    document = opened(FORMAT_SAMPLES["acp.jsonl"])
    outline = outlined(document)
    cards = [card for card in cards_of(document, outline) if isinstance(card, CallCard)]
    assert not [card for card in cards if card.verb == "session/request_permission"]
    asked = [card.decision for card in cards if card.decision]
    assert asked
    assert all(decision.startswith(("allowed by the user", "rejected by the user")) for decision in asked)
    document.close()


def test_the_reported_context_drops_at_a_compaction(session: CaptureDocument) -> None:
    outline = outlined(session)
    cut = int(np.flatnonzero(outline.kinds == CardKind.COMPACTION)[0])
    later = outline.contexts[cut + 1 :]
    assert outline.contexts[cut] > later[later >= 0].max() > 0
    assert outline.contexts[0] == -1


def test_an_output_of_one_line_stands_once() -> None:
    session = ClaudeSession()
    session.prompt("run it")
    session.runs("Bash", {"command": "make app"}, "built")
    document = document_of(*session.records)
    (card,) = [one for one in cards_of(document, outlined(document)) if isinstance(one, CallCard)]
    assert card.output is not None
    assert [line.text for line in card.output.lines] == ["built"]
    assert card.said == ""


def test_texts_that_a_program_records_twice_have_no_remark() -> None:
    document = opened(sample("codex.jsonl"))
    found = cards_of(document, outlined(document))
    document.close()
    assert any(isinstance(one, TextCard) for one in found)
    assert not [one.aside for one in found if one.aside.startswith("appears")]
