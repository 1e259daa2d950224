"""Links between messages that name nothing: what is likely, and above all what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.views.causes.likely_links import (
    likely_causes,
    likely_chain,
    likely_effects,
)
from tests.builders import GrowingLog, document_at, document_of, envelope, tool_call, tool_result

RECORDINGS = Path(__file__).parents[4] / "data/recordings"


def said(text: str, sender: str, *to: str, at: float, **fields: Any) -> dict[str, Any]:
    return envelope("chat", {"text": text}, sender=sender, to=list(to) or None, ts=clock(at), **fields)


def clock(seconds: float) -> str:
    return f"2026-01-05T10:{int(seconds) // 60:02d}:{seconds % 60:06.3f}Z"


def presence(event: str, name: str, at: float) -> dict[str, Any]:
    payload = {"event": event, "participant": {"id": name}}
    return envelope("system/presence", payload, sender="system:gateway", ts=clock(at))


def links(*lines: dict[str, Any]) -> list[tuple[int, str, int]]:
    """Every likely link as (number, relation, number); told alike from both of its ends."""
    document = document_of(*lines)
    found = [link for row in range(len(document.capture)) for link in likely_causes(document.analysis, row)]
    back = [link for row in range(len(document.capture)) for link in likely_effects(document.analysis, row)]
    assert {(link.cause, link.effect) for link in found} <= {(link.cause, link.effect) for link in back}
    return [(link.effect + 1, link.relation.value, link.cause + 1) for link in found]


ASKED = said("Can you add 7 and 9?", "alice", "calc", at=0, id="q")
ANSWER = said("16", "calc", "alice", at=2.1, id="a")

ANSWERED = {
    "the next chat of the one who was asked": [ASKED, ANSWER],
    "said to all, where nobody else has spoken": [ASKED, said("16", "calc", at=2)],
    "asked of all, where there is nobody else": [said("What is 7 and 9?", "alice", at=0), said("16", "calc", at=2)],
    "no question, but it is worked on": [
        said("Add 7 and 9", "alice", "calc", at=0, id="q"),
        envelope("chat/acknowledge", {"status": "processing"}, sender="calc", correlation_id=["q"], ts=clock(1)),
        said("16", "calc", "alice", at=60),
    ],
    "by its words": [said("Rapid 1", "alice", at=0), said("Echo: Rapid 1", "calc", at=1)],
}  # fmt: skip


@pytest.mark.parametrize("lines", ANSWERED.values(), ids=ANSWERED)
def test_a_chat_answers_what_was_asked_of_its_sender(lines: list[Any]) -> None:
    assert links(*lines) == [(len(lines), "answers", 1)]


def busy(count: int) -> list[dict[str, Any]]:
    return [said(f"number {n} of many", "alice" if n % 2 else "calc", at=n / 10) for n in range(count)]


UNKNOWN = {
    "nothing was asked": [said("Lunch is at noon", "alice", "calc", at=0), ANSWER],
    "only received": [
        said("Lunch is at noon", "alice", "calc", at=0, id="q"),
        envelope("chat/acknowledge", {"status": "received"}, sender="calc", correlation_id=["q"], ts=clock(1)),
        ANSWER,
    ],
    "an address with a question mark": [said("See http://srv/?q=1 for it", "alice", "calc", at=0), ANSWER],
    "by somebody else": [ASKED, said("16", "bob", "alice", at=2)],
    "said to somebody else": [ASKED, said("16", "calc", "bob", at=2)],
    "said to several": [ASKED, said("16", "calc", "alice", "bob", at=2)],
    "asked of another": [said("Can you add 7 and 9?", "alice", "bob", at=0), ANSWER],
    "asked of all of several": [said("Who can add 7 and 9?", "alice", at=0), said("I", "bob", "alice", at=1), ANSWER],
    "two questions, one answer": [ASKED, said("Or 7 and 8?", "alice", "calc", at=1), ANSWER],
    "said to all after somebody else spoke": [ASKED, said("Good morning", "bob", at=1), said("16", "calc", at=2)],
    "minutes later": [ASKED, said("16", "calc", "alice", at=180)],
    "answered by its id": [ASKED, ANSWER, said("Sixteen", "calc", "alice", at=3, correlation_id=["q"])],
    "it names something itself": [ASKED, said("16", "calc", "alice", at=2, correlation_id=["other"])],
    "taken back": [ASKED, envelope("chat/cancel", {}, sender="alice", correlation_id=["q"], ts=clock(1)), ANSWER],
    "the one who was asked left": [ASKED, presence("leave", "calc", 1), presence("join", "calc", 1.5), ANSWER],
    "the one who asked left": [ASKED, presence("leave", "alice", 1), presence("join", "alice", 1.5), ANSWER],
    "in a storm": [*busy(40), said("Is it 7?", "alice", "calc", at=4), said("Yes", "calc", "alice", at=4.1)],
    "the same words, said by two": [said("All done here", "alice", at=0), said("All done here", "calc", at=1)],
    "words in words": [said("Rapid 1", "alice", at=0), said("Echo: Rapid 10", "calc", at=1)],
    "a short word by chance": [said("noted", "alice", at=0), said("That is all, and it is noted", "calc", at=1)],
    "a word in between": [
        ASKED,
        envelope("reasoning/start", {"message": "sums"}, sender="calc", id="r", ts=clock(1)),
        said("A moment, I propose it", "calc", "alice", at=2),
        envelope("reasoning/thought", {"message": "7 + 9"}, sender="calc", context="r", ts=clock(3)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("lines", UNKNOWN.values(), ids=UNKNOWN)
def test_where_it_is_not_sure_enough_no_chat_answers_another(lines: list[Any]) -> None:
    assert not [link for link in links(*lines) if link[1] == "answers"]


def test_each_question_has_one_answer_and_an_answer_that_asks_nothing_is_not_answered() -> None:
    talk = [ASKED, ANSWER, said("Thanks", "alice", "calc", at=4), said("Any time", "calc", "alice", at=5)]
    assert links(*talk) == [(2, "answers", 1)]


def test_of_several_echoes_each_answers_what_it_repeats() -> None:
    asked = [said(f"Rapid {n}", "alice", at=n / 10) for n in range(1, 4)]
    echoes = [said(f"Echo: Rapid {n}", "calc", at=1 + n / 10) for n in range(1, 4)]
    assert links(*asked, *echoes) == [(4, "answers", 1), (5, "answers", 2), (6, "answers", 3)]


def proposed(sender: str = "agent", arguments: Any = None, at: float = 0, **fields: Any) -> dict[str, Any]:
    call = {"method": "tools/call", "params": {"name": "write", "arguments": arguments or {"path": "a"}}}
    return envelope("mcp/proposal", call, sender=sender, ts=clock(at), **fields)


def same_call(sender: str = "human", at: float = 5, **fields: Any) -> dict[str, Any]:
    return tool_call("write", arguments=fields.pop("arguments", {"path": "a"}), sender=sender, ts=clock(at), **fields)


def test_a_proposal_is_carried_out_by_who_sends_the_same_request() -> None:
    request = same_call(id="w")
    assert links(proposed(id="p"), request, same_call(at=6)) == [(2, "carries out", 1)]
    found = likely_chain(document_of(proposed(), request, tool_result(request, ts=clock(6))).analysis, 2)
    assert [step.message for step in found.steps] == [0, 1, 2]
    assert [step.after for step in found.steps] == [None, 0, 1]


NOT_CARRIED_OUT = {
    "other arguments": [proposed(), same_call(arguments={"path": "b"})],
    "no arguments to tell it by": [proposed(arguments=None), same_call(arguments={})],
    "by the proposer": [proposed(), same_call("agent")],
    "to another than was proposed": [proposed(to=["disk"]), same_call()],
    "fulfilled by its id": [proposed(id="p"), same_call(), same_call(at=6, correlation_id=["p"])],
    "rejected": [
        proposed(id="p"), envelope("mcp/reject", {}, sender="human", correlation_id=["p"], ts=clock(1)), same_call()
    ],
    "withdrawn": [
        proposed(id="p"), envelope("mcp/withdraw", {}, sender="agent", correlation_id=["p"], ts=clock(1)), same_call()
    ],
    "two of the kind": [proposed(), proposed("other"), same_call()],
    "sent before": [same_call(at=0), proposed(at=1)],
}  # fmt: skip


@pytest.mark.parametrize("lines", NOT_CARRIED_OUT.values(), ids=NOT_CARRIED_OUT)
def test_no_other_request_carries_out_a_proposal(lines: list[Any]) -> None:
    assert links(*lines) == []


def test_a_chain_goes_from_the_chat_over_reasoning_and_thought_to_the_call_and_the_answer() -> None:
    document = document_at(RECORDINGS / "mew/coding-agent/envelope-history.jsonl")
    chain = likely_chain(document.analysis, 13)
    assert [(k.effect + 1, k.relation.value, k.cause + 1) for k in chain.links] == [
        (18, "starts on", 14), (20, "follows", 19), (24, "follows", 23), (28, "follows", 27), (31, "answers", 14),
    ]  # fmt: skip
    assert chain.links[-1].why == "the next chat from mew to human, 644 ms later"
    assert {25, 26}.issubset({step.message + 1 for step in chain.steps})  # the proposal, carried out and answered


def test_a_released_agent_that_fulfils_without_saying_so_is_found() -> None:
    document = document_at(RECORDINGS / "mew/scenario-3-proposals/envelope-history.jsonl")
    found = [link for row in range(len(document.capture)) for link in likely_causes(document.analysis, row)]
    assert [(k.effect + 1, k.cause + 1) for k in found] == [(9, 8), (13, 12)]


def test_a_loop_of_chats_has_no_likely_links() -> None:
    document = document_at(RECORDINGS / "live/rec-1-chat-loop-begins.ctxcap.gz")
    assert not any(
        likely_causes(document.analysis, row)
        for row in range(len(document.capture))
        if document.capture.string("kind", row) == "chat"
    )


def test_it_is_the_same_while_it_grows() -> None:
    lines = [ASKED, said("Hm", "bob", "alice", at=1), ANSWER]
    whole = document_of(*lines)
    growing = GrowingLog()
    for line in lines:
        growing.write(line)
    assert likely_chain(growing.document.analysis, 0) == likely_chain(whole.analysis, 0)
    assert likely_chain(whole.analysis, 0).links
