"""Merged contexts that go after a document's edits are those worked out anew, whatever was edited in which order."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.msp import message_columns
from inspector.msp.document import CannotEditError, Edit, SessionDocument
from inspector.msp.merged import MergedContext, MergedContexts, Rules, merged_context
from inspector.msp.message_columns import MessageColumnCache, MessageColumns
from inspector.msp.objects import Session, Subsession
from inspector.protocol.timestamps import NO_TIME
from tests.merged import at, opened, said, session, snapshot, words

VISIBILITIES = st.sampled_from([None, "", "global", "main_only", "subsession_only", "secret"])
RULES = st.sampled_from(
    [
        Rules(), Rules(sibling_globals=False), Rules(ancestor_globals=False),
        Rules(before_opening=True, count_withheld=True),
        Rules(covered_again=False, include_main_only=True), Rules(recent_from_root=True, older_globals=False),
    ]
)  # fmt: skip


def desk() -> dict[str, Any]:
    """A session with a sub-session, one nested in it, and a closed one that can be merged."""

    def sub(name: str, parent: str, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"subsession_id": name, "parent_session_id": parent, "label": name, "status": "open",
                "created_at": at(4), "messages": list(messages), **more}  # fmt: skip

    main = session(
        said("a", "global", 1), said("b"), said("c", "main_only", 9), said("a", "global", 3), said("", second=5),
        said("e", ["odd"]), snapshots=(snapshot("sum", [0, 2]),), sub_context={"intent": "report"},
    )  # fmt: skip
    subs = [
        sub("s1", "m1", said("q", "global", 2), said("b")),
        sub("s2", "s1", said("r", "global"), context_policy={"recent_parent_messages": 1}),
        sub("s3", "m1", said("x", "global", 6), said("y"), status="closed", closed_at=at(8), summary="so it is"),
    ]
    return {"session": {**main.data, "subsessions": ["s1", "s3"]}, "subsessions": subs}


def edit(document: SessionDocument, data: st.DataObject) -> None:
    """Any edit, on anything."""
    subs = st.sampled_from(document.subsessions)
    owners: list[Session | Subsession] = [*document.sessions, *document.subsessions]
    owner = data.draw(st.sampled_from(owners))
    kinds = ["add", "add", "show", "show", "undo", "undo", "redo", "close", "merge", "open", "refer", "refer", "sum up"]
    match data.draw(st.sampled_from(kinds)):
        case "add":
            document.clock = lambda: (1_767_603_600 + data.draw(st.integers(0, 12))) * 1_000_000_000
            document.add_message(owner, "user", data.draw(st.sampled_from("xy")), data.draw(VISIBILITIES))
        case "show" if len(owner.messages):
            document.set_visibility(data.draw(st.sampled_from(list(owner.messages))), data.draw(VISIBILITIES))
        case "undo":
            document.undo()
        case "redo":
            document.redo()
        case "close":
            document.close_subsession(data.draw(subs), "done", append_to_parent=data.draw(st.booleans()))
        case "merge":
            document.merge_subsession(data.draw(subs))
        case "open":
            document.open_subsession(owner, "another", {"recent_parent_messages": 2})
        case "refer":
            document.refer_summary(data.draw(subs), data.draw(subs))
        case "sum up":
            document.add_snapshot(document.sessions[0], "so far", (1, data.draw(st.integers(1, 4))))
        case _:
            pass


def whole(context: MergedContext) -> tuple[object, ...]:
    return (
        context.layers,
        context.remarks,
        context.withheld,
        context.older_messages,
        context.main_only,
        context.recent.wanted,
    )


class _Telling:
    """Tells of what a session says of itself, which is not looked at again otherwise."""

    def __init__(self, contexts: MergedContexts) -> None:
        self._contexts = contexts

    def session_edited(self, edit: Edit) -> None:
        if edit.kind == "session":
            self._contexts.invalidate()


@given(RULES, st.data())
def test_after_any_edits_the_merged_contexts_are_those_worked_out_anew(rules: Rules, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "desk.json"
        path.write_text(json.dumps(desk()))
        document = SessionDocument.read([path])
    contexts = MergedContexts(rules, words, document.known)
    document.observers.append(_Telling(contexts))
    for _ in range(data.draw(st.integers(1, 12))):
        try:
            edit(document, data)
        except CannotEditError:
            continue
        if not data.draw(st.booleans()):  # several edits may come before somebody looks
            continue
        for sub in document.subsessions:
            context = contexts.compute(sub)
            assert whole(context) == whole(merged_context(sub, rules, count=words))


@given(st.lists(st.tuples(VISIBILITIES, st.none() | st.integers(0, 9) | st.just("odd")), max_size=12), st.data())
def test_columns_that_went_after_a_list_are_those_of_the_list(
    items: list[tuple[object, object]], data: st.DataObject
) -> None:
    """Taken in some at a time, whatever was taken away in between."""
    made = [
        {"id": f"m{n % 4}", "visibility": shown, "timestamp": at(time) if isinstance(time, int) else time}
        for n, (shown, time) in enumerate(items)
    ]
    owner = session()
    columns = MessageColumns(owner)
    for item in made:
        owner.items.append(item)
        if data.draw(st.booleans()):
            columns.update()
        if data.draw(st.integers(0, 3)) == 0:
            owner.items.pop()
    columns.update()
    fresh = MessageColumns(owner)
    fresh.update()
    assert columns.items == fresh.items == owner.items
    assert columns.codes == fresh.codes
    assert columns.times.tolist() == fresh.times.tolist()
    assert columns.ordered == fresh.ordered
    assert [list(columns.numbers_of(f"m{n}")) for n in range(4)] == [list(fresh.numbers_of(f"m{n}")) for n in range(4)]


def test_a_long_chat_is_looked_at_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_columns, "_BLOCK", 2)
    sub = opened(session(*(said(name, second=n) for n, name in enumerate("abcde"))))
    contexts = MergedContexts(count=words)
    assert len([*contexts.prepare(sub)]) == 3
    assert not [*contexts.prepare(opened(None))]
    assert contexts.compute(sub).layers == merged_context(sub, count=words).layers


def test_a_context_that_was_given_out_stays_as_it_was() -> None:
    parent = session(said("a"), said("b", "main_only"), said("c"))
    sub = opened(parent, policy={"recent_parent_messages": 1})
    contexts = MergedContexts(count=words)
    before = contexts.compute(sub)
    parent.items[1:] = [said("d"), said("e", "main_only")]
    assert [entry.id for entry in contexts.compute(sub).layer("recent").entries] == ["d"]
    assert ([kept.id for kept in before.withheld], [message.id for message in before.older_messages]) == (["b"], ["a"])
    assert before.main_only == 1


def test_an_edit_in_another_sub_session_leaves_the_parents_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = session(*(said(name, second=n) for n, name in enumerate("abc")))
    sub, other = opened(parent, name="s1"), opened(parent, name="s2")
    contexts = MergedContexts(Rules(sibling_globals=False), count=words)
    contexts.compute(sub)
    taken: list[int] = []
    take = MessageColumns._append_block
    monkeypatch.setattr(
        MessageColumns, "_append_block", lambda self, block: (taken.append(len(block)), take(self, block))[1]
    )
    other.items.append(said("x", "global"))
    assert contexts.compute(sub).notes == ("1 global message of other sub-sessions is not sent before a merge.",)
    parent.items.append(said("d"))
    assert [entry.id for entry in contexts.compute(sub).layer("recent").entries] == list("abcd")
    assert taken == [1]


def test_ids_are_found_with_columns_and_without() -> None:
    owner, known = session(said("a"), said(""), {"id": ["odd"]}, said("b"), said("a")), MessageColumnCache()
    plain = session(said("a"), said("b"))
    assert known.existing_ids(owner, {"a", "c"}) == known.existing_ids(plain, {"a", "c"}) == {"a"}
    known.parent_columns(owner)
    owner.items.append(said("c"))
    assert known.existing_ids(owner, {"a", "c", "d"}) == {"a", "c"}


def test_messages_without_any_time_stand_as_they_are_written() -> None:
    columns = MessageColumns(session(said("a"), said("b"), {"timestamp": ["odd"]}))
    columns.update()
    assert columns.times.tolist() == [NO_TIME] * 3
    assert columns.ordered


def test_texts_that_cost_something_else_by_now_are_counted_anew(tmp_path: Path) -> None:
    path = tmp_path / "desk.json"
    path.write_text(json.dumps(desk()))
    cost = 0
    document = SessionDocument.read([path])
    kept = MergedContexts(Rules(ancestor_globals=True), lambda text: cost * len(text), document.known)
    assert [kept.compute(sub).tokens for sub in document.subsessions] == [0, 0, 0]
    cost = 3
    kept.recount()
    for sub in document.subsessions:
        anew = merged_context(sub, kept.rules, count=lambda text: cost * len(text))
        assert [[entry.tokens for entry in layer.entries] for layer in kept.compute(sub).layers] == [
            [entry.tokens for entry in layer.entries] for layer in anew.layers
        ]
        assert kept.compute(sub).tokens == anew.tokens > 0
