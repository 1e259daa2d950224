"""What the chat of a session sends itself."""

from __future__ import annotations

from typing import Any

from inspector.msp.merged_chat import ChatContext, chat_context
from inspector.msp.rules import Rules
from tests.merged import opened, said, session, snapshot, words

AGREED = {"intent": "weekly report"}


def chat(main: Any, **rules: Any) -> ChatContext:
    return chat_context(main, Rules(**rules), count=words)


def own(context: ChatContext) -> list[str | None]:
    return [entry.id for entry in context.layer("own").entries]


def test_it_sends_what_the_session_says_of_itself_its_snapshots_and_all_messages():
    main = session(
        said("a", "main_only", 1), said("b", None, 2), snapshots=(snapshot("n1", [0, 1]),), sub_context=AGREED
    )
    context = chat(main)
    assert [layer.name for layer in context.layers] == ["sub_context", "snapshots", "recent", "own"]
    assert [layer.included for layer in context.layers] == [True, True, False, True]
    assert own(context) == ["a", "b"]
    assert context.notes == ("1 message is sent twice: in a snapshot and as messages.",)
    assert context.tokens == sum(entry.tokens for entry in context.entries)


def test_what_a_snapshot_covers_is_left_out_by_the_rule():
    main = session(said("a", None, 1), said("b", None, 2), snapshots=(snapshot("n1", [0, 1]),))
    context = chat(main, covered_again=False)
    assert own(context) == ["b"]
    assert [held.reason for held in context.withheld] == ["Covered by the snapshot of message 1, which is sent."]
    assert own(chat(main, covered_again=False, half_open=False)) == []


def test_global_messages_of_sub_sessions_stand_where_they_were_said():
    main = session(said("a", None, 1), said("b", None, 5))
    opened(main, said("q", "global", 3), said("r", "subsession_only", 3), name="s1")
    assert own(chat(main)) == ["a", "q", "b"]
    assert chat(main).layer("own").entries[1].reason == 'Global, from "s1".'
    assert own(chat(main, sibling_globals=False)) == ["a", "b"]


def test_those_merged_or_discarded_are_not_sent_again():
    main = session(said("q", "global", 3))
    opened(main, said("q", "global", 3), name="s1").merged = True
    opened(main, said("z", "global", 4), name="s2", status="discarded")
    opened(main, said("q", "global", 3), name="s3")  # the same message without a mark of a merge
    assert own(chat(main)) == ["q"]


def test_messages_stay_in_the_order_they_are_written_in():
    main = session(said("late", None, 9), said("early", None, 2), said("timeless"))
    opened(main, said("q", "global", 5), name="s1")
    assert own(chat(main)) == ["q", "late", "early", "timeless"]


def test_json_names_the_session():
    found = chat(session(said("a", None, 1))).as_json()
    assert (found["session"], list(found)) == ("m1", ["session", "layers", "withheld", "tokens"])


def test_of_a_session_that_is_only_named_nothing_is_known():
    main = session()
    main.implied = True
    assert chat(main).notes == ("Only the id of the session is known: its chat is not in the document.",)
