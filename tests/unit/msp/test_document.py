"""Every edit with its way back, what it writes, and what it refuses."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.msp.document import CannotEditError, ChangedOnDiskError, Edit, SessionDocument
from inspector.msp.problems import OwnerChecks, Problem
from inspector.protocol.timestamps import parse_time
from tests.strategies import share_of_examples

DATA = Path(__file__).parents[2] / "data" / "msp"
NOW = parse_time("2026-02-03T04:05:06.789123Z")
SHAPES = ["one-file.json", "nested.json", "lines.jsonl", "array.json", "lone-subsession.json", "folder", "odd.json",
          "unknown-fields.json"]  # fmt: skip


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[str], SessionDocument]:
    def opens(name: str) -> SessionDocument:
        target = tmp_path / name
        if not target.exists():
            (shutil.copytree if (DATA / name).is_dir() else shutil.copyfile)(DATA / name, target)
        document = SessionDocument.read([target])
        document.clock = lambda: NOW
        return document

    return opens


class Seen:
    def __init__(self, document: SessionDocument) -> None:
        self.edits: list[Edit] = []
        document.observers.append(self)

    def session_edited(self, edit: Edit) -> None:
        self.edits.append(edit)


def _bytes(document: SessionDocument) -> dict[Path, bytes]:
    folder = document.files[0].path.parent
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _shape(document: SessionDocument) -> Any:
    owners = (*document.sessions, *document.subsessions)
    return [
        (owner.key, owner.data, [child.key for child in owner.children], [message.data for message in owner.messages])
        for owner in owners
    ]


def _by_key(document: SessionDocument) -> dict[str, Any]:
    """Files of a folder come back in another order than they were made in."""
    return {item[0]: (item[1], sorted(item[2]), item[3]) for item in _shape(document)}


def test_a_message_is_added_as_the_file_writes_its_own(opened):
    document = opened("one-file.json")
    seen = Seen(document)
    sub = document.subsession("s1")
    message = document.add_message(sub, "user", "and °R?", "subsession_only")
    assert sub.messages[-1] == message
    assert document.is_dirty
    assert document.undo_words == "Add message to units"
    assert seen.edits == [Edit("Add message to units", "append", "s1", message, (message,))]
    before = document.files[0].path.read_bytes()
    document.save()
    line = rb',\n {8}{"id": "m-\w+", "role": "user", "content": "and \xc2\xb0R\?", "visibility": "subsession_only", '
    line += rb'"timestamp": "2026-02-03T04:05:06Z"}'
    after = document.files[0].path.read_bytes()
    assert re.sub(line, b"", after) == before
    assert after != before
    assert not document.is_dirty


def test_a_subsession_is_opened_beside_the_others_and_listed(opened):
    document = opened("one-file.json")
    sub = document.open_subsession(document.sessions[0], "tests", {"recent_parent_messages": 3})
    assert (sub.label, sub.is_open, sub.path, sub.parent) == ("tests", True, sub.key, document.sessions[0])
    assert document.subsession(sub.key) is sub
    document.save()
    written = json.loads(document.files[0].path.read_text())
    assert written["session"]["subsessions"] == ["s1", "s2", sub.id]
    assert written["subsessions"][2] == sub.data
    text = document.files[0].path.read_text()
    policy = '{"include_sub_context": true, "include_snapshots": true, "recent_parent_messages": 3}'
    assert f'\n      "context_policy": {policy},\n      "messages": []\n    }}\n  ]\n}}\n' in text
    again = SessionDocument.read(document.paths)
    assert again.problems == []
    assert _shape(again) == _shape(document)


@pytest.mark.parametrize("name", SHAPES)
def test_below_everything_a_subsession_can_be_opened_and_is_read_again(opened, name: str):
    document = opened(name)
    codes = sorted(problem.code for problem in document.problems)
    for owner in (*document.sessions, *document.subsessions):
        if document.why_not_open(owner) is None and owner.id and "~" not in owner.key:
            sub = document.open_subsession(owner, f"below {owner.key}")
            document.add_message(sub, "user", "one")
            document.save()
    again = SessionDocument.read(document.paths)
    assert _by_key(again) == _by_key(document)
    assert sorted(problem.code for problem in again.problems) == codes


def test_closing_writes_status_time_and_summary(opened):
    document = opened("one-file.json")
    seen = Seen(document)
    sub = document.subsession("s1")
    document.close_subsession(sub, "A kelvin is a kelvin.", append_to_parent=True)
    assert (sub.status, sub.data["closed_at"], sub.summary) == (
        "closed",
        "2026-02-03T04:05:06Z",
        "A kelvin is a kelvin.",
    )
    entry = document.sessions[0].messages[-1]
    assert entry.content == "Summary of the sub-session “units”:\n\nA kelvin is a kelvin."
    assert seen.edits[0].added == (sub, entry)
    assert not sub.is_open
    assert not sub.merged
    with pytest.raises(CannotEditError, match="closed"):
        document.close_subsession(sub, None, append_to_parent=False)
    with pytest.raises(CannotEditError, match="closed"):
        document.add_message(sub, "user", "late")


def test_closing_without_a_summary_writes_none(opened):
    document = opened("one-file.json")
    document.close_subsession(document.subsession("s1"), "", append_to_parent=True)
    assert "summary" not in document.subsession("s1").data
    assert len(document.sessions[0].messages) == 3


def test_discarding_keeps_the_messages_and_crosses_nothing(opened):
    document = opened("one-file.json")
    sub = document.subsession("s1")
    document.discard_subsession(sub)
    assert (sub.status, sub.discarded, sub.is_open, len(sub.messages)) == ("discarded", True, False, 2)
    assert len(document.sessions[0].messages) == 3
    with pytest.raises(CannotEditError, match="discarded"):
        document.merge_subsession(sub)


def test_merging_writes_the_summary_and_the_global_messages_once(opened):
    document = opened("one-file.json")
    sub = document.subsession("s1")
    with pytest.raises(CannotEditError, match="open"):
        document.merge_subsession(sub)
    document.close_subsession(sub, "Done.", append_to_parent=False)
    document.merge_subsession(sub)
    added = document.sessions[0].messages[3:]
    assert [message.id for message in added][1:] == ["a1"]
    assert "units" in added[0].content
    assert sub.merged
    with pytest.raises(CannotEditError, match="already merged"):
        document.merge_subsession(sub)
    document.save()
    again = SessionDocument.read(document.paths)
    assert [(sub.merged, sub.summarized) for sub in again.subsessions] == [(True, True), (False, False)]


def test_a_summary_that_was_appended_is_not_merged_again(opened):
    document = opened("one-file.json")
    sub = document.subsession("s1")
    document.close_subsession(sub, "Done.", append_to_parent=True)
    document.merge_subsession(sub)
    assert [message.id for message in document.sessions[0].messages][4:] == ["a1"]


def test_nothing_to_merge_is_refused_with_a_reason(opened):
    document = opened("lines.jsonl")
    sub = document.subsession("s1")
    document.close_subsession(sub, None, append_to_parent=False)
    assert "no global message" in (document.why_not_merge(sub) or "")
    document = opened("lone-subsession.json")
    assert "no object" in (document.why_not_add(document.sessions[0]) or "")
    with pytest.raises(CannotEditError, match="no object"):
        document.close_subsession(document.subsessions[0], "Done.", append_to_parent=True)
    assert document.subsessions[0].is_open


def test_a_nested_one_merges_into_the_one_around_it(opened):
    document = opened("nested.json")
    sub = document.subsession("s2")
    document.close_subsession(sub, "In.", append_to_parent=False)
    document.merge_subsession(sub)
    assert len(document.subsession("s1").messages) == 2
    assert len(document.sessions[0].messages) == 0


def test_visibility_is_set_and_taken_away(opened):
    document = opened("one-file.json")
    seen = Seen(document)
    message = document.subsession("s1").messages[0]
    document.set_visibility(message, "global")
    document.set_visibility(message, "global")
    document.set_visibility(message, None)
    assert "visibility" not in message.data
    assert [(edit.kind, edit.message) for edit in seen.edits] == [("visibility", message)] * 2
    document.undo()
    assert message.visibility == "global"
    document.undo()
    assert message.visibility == "subsession_only"
    assert not document.is_dirty


def test_a_policy_is_changed_member_by_member(opened):
    document = opened("nested.json")
    sub = document.subsession("s1")
    document.set_policy(sub, include_snapshots=False, recent_parent_messages=300)
    document.set_policy(sub, include_snapshots=False, recent_parent_messages=300)
    document.set_policy(sub, include_snapshots=None, include_sub_context=None)
    assert sub.data["context_policy"] == {"recent_parent_messages": 300}
    assert (document.undo(), document.undo(), document.undo()) == ("Change the policy of outer",) * 2 + (None,)
    assert "context_policy" not in sub.data


def test_what_was_taken_back_can_be_made_again_until_something_else_is(opened):
    document = opened("one-file.json")
    seen = Seen(document)
    first = document.add_message(document.sessions[0], "user", "1")
    document.add_message(document.sessions[0], "user", "2")
    assert document.undo() == "Add message to m1"
    assert seen.edits[-1] == Edit("Add message to m1", "restructure", "m1", seen.edits[-1].message, ())
    assert document.redo() == "Add message to m1"
    assert seen.edits[-1].kind == "append"
    document.undo()
    document.undo()
    assert document.redo_words is not None
    document.add_message(document.sessions[0], "user", "3")
    assert document.redo() is None
    assert first not in document.sessions[0].messages
    assert document.revision == len(seen.edits)


def test_what_is_opened_below_one_without_an_id_stays_there(tmp_path: Path) -> None:
    target = tmp_path / "odd.json"
    shutil.copyfile(DATA / "odd.json", target)
    document = SessionDocument.read([target])
    nameless = next(sub for sub in document.subsessions if not sub.id)
    inner = document.open_subsession(nameless, "below")
    document.save()
    again = SessionDocument.read([target]).subsession(inner.key)
    assert again is not None
    assert again.parent is not None
    assert again.parent.key == nameless.key


_Edits = list[tuple[int, int]]
_STEPS = st.lists(st.tuples(st.integers(0, 13), st.integers(0, 5)), min_size=1, max_size=10)


@pytest.mark.parametrize("name", SHAPES)
@share_of_examples(2)
@given(steps=_STEPS, save_at=st.integers(0, 8))
def test_undoing_everything_gives_the_same_bytes(tmp_path_factory, name: str, steps: _Edits, save_at: int):
    target = tmp_path_factory.mktemp("undo") / name
    (shutil.copytree if (DATA / name).is_dir() else shutil.copyfile)(DATA / name, target)
    document = SessionDocument.read([target])
    before, shape = _bytes(document), json.dumps(_shape(document))
    made = 0
    for number, step in enumerate(steps):
        made += _edit(document, *step)
        if number == save_at:
            document.save()
            assert not document.is_dirty
            assert _by_key(SessionDocument.read(document.paths)) == _by_key(document)
    after = json.dumps(_shape(document))
    for _ in range(made):
        assert document.undo() is not None
    assert document.undo() is None
    assert json.dumps(_shape(document)) == shape
    document.save()
    assert _bytes(document) == before
    for _ in range(made):
        document.redo()
    assert json.dumps(_shape(document)) == after


def _edit(document: SessionDocument, kind: int, at: int) -> int:
    """One edit; 0 when it is refused."""
    revision = document.revision
    sub = document.subsessions[at % len(document.subsessions)]
    owner = document.sessions[0] if at % 2 else sub
    try:
        if kind == 0:
            document.open_subsession(owner, "new")
        elif kind == 1:
            document.add_message(owner, "user", "hello", "global")
        elif kind == 2:
            document.close_subsession(sub, "Done", append_to_parent=bool(at % 2))
        elif kind == 3:
            document.discard_subsession(sub)
        elif kind == 4:
            document.merge_subsession(sub)
        elif kind == 5 and len(sub.messages):
            document.set_visibility(sub.messages[0], (None, "global", "main_only")[at % 3])
        elif kind == 6:
            document.set_policy(sub, include_snapshots=bool(at % 2), recent_parent_messages=at or None)
        elif kind == 7:
            document.open_subsession(sub, "below")
        elif kind > 7:
            _edit_session(document, kind, at)
    except CannotEditError:
        assert document.revision == revision
    return document.revision - revision


def _edit_session(document: SessionDocument, kind: int, at: int) -> None:
    """One edit of what a session agreed on, of its snapshots, or of what a sub-session refers to."""
    session = document.sessions[at % len(document.sessions)]
    snapshots, subs = session.snapshots, document.subsessions
    if kind == 8:
        document.set_sub_context(session, intent=("", "Write a page", "Talk")[at % 3], facts=["one", "two"][: at % 3])
    elif kind == 9:
        document.set_sub_context(session, constraints=[*session.constraints, "short"][at % 2 :])
    elif kind == 10:
        document.add_snapshot(session, "What was said", (0, at) if at else None)
    elif kind == 11 and snapshots:
        document.change_snapshot(
            session, snapshots[at % len(snapshots)], f"Less {at}", (at, at + 1) if at % 2 else None
        )
    elif kind == 12 and snapshots:
        document.delete_snapshot(session, snapshots[at % len(snapshots)])
    elif kind == 13 and at % 2:
        document.refer_summary(subs[at % len(subs)], subs[0])
    elif kind == 13:
        document.withdraw_summary(subs[0], (*subs[0].policy.include_summaries, "s1")[0])


def test_after_saving_undone_edits_are_something_to_save(opened):
    document = opened("one-file.json")
    document.add_message(document.sessions[0], "user", "1")
    document.save()
    document.undo()
    assert document.is_dirty
    document.add_message(document.sessions[0], "user", "2")
    assert document.is_dirty
    document.undo()
    assert document.is_dirty
    document.save()
    assert not document.is_dirty


def test_reading_again_forgets_what_was_edited(opened):
    document = opened("one-file.json")
    seen = Seen(document)
    document.add_message(document.sessions[0], "user", "1")
    document.reload()
    assert (document.is_dirty, document.undo_words, len(document.sessions[0].messages)) == (False, None, 3)
    assert seen.edits[-1].kind == "restructure"
    document.paths[0].write_text("{")
    with pytest.raises(ValueError, match="not JSON"):
        document.reload()
    assert len(document.sessions) == 1


@pytest.mark.parametrize("name", SHAPES)
@share_of_examples(2)
@given(steps=_STEPS, undone=st.integers(0, 4))
def test_what_is_odd_after_edits_is_what_would_be_found_anew(tmp_path_factory, name: str, steps: _Edits, undone: int):
    target = tmp_path_factory.mktemp("odd") / name
    (shutil.copytree if (DATA / name).is_dir() else shutil.copyfile)(DATA / name, target)
    document = SessionDocument.read([target])
    about_files = len(document.problems) - len(_odd_anew(document))
    edits = [lambda step=step: _edit(document, *step) for step in steps]
    for edit in [*edits, *[document.undo] * undone, *[document.redo] * undone, *edits]:
        edit()
        assert document.problems[about_files:] == _odd_anew(document)


def _odd_anew(document: SessionDocument) -> list[Problem]:
    owners = (*document.sessions, *document.subsessions)
    return [problem for owner in owners for problem in OwnerChecks(owner).problems()]


def test_a_message_said_twice_is_odd_until_one_of_them_goes(opened):
    document = opened("one-file.json")
    items = document.sessions[0].items
    items += [{"id": "same", "role": "user", "content": "a"}, {"id": "same", "role": "user", "content": "b"}]
    assert [problem.message for problem in document.problems] == ["same"]
    twin = document.sessions[0].messages[-1]
    document.set_visibility(twin, "subsession_only")
    assert [problem.code for problem in document.problems] == ["msp-visibility", "msp-duplicate-id"]
    document.undo()
    assert [problem.code for problem in document.problems] == ["msp-duplicate-id"]


@pytest.mark.parametrize("name", SHAPES)
@share_of_examples(2)
@given(before=_STEPS, meanwhile=_STEPS, undone=st.integers(0, 4), elsewhere=st.booleans())
def test_what_is_edited_while_it_is_saved_is_kept_and_not_saved(
    tmp_path_factory, name: str, before: _Edits, meanwhile: _Edits, undone: int, elsewhere: bool
):
    target = tmp_path_factory.mktemp("while") / name
    (shutil.copytree if (DATA / name).is_dir() else shutil.copyfile)(DATA / name, target)
    document = SessionDocument.read([target])
    for step in before:
        _edit(document, *step)
    there = target.with_name("other" + target.suffix)
    then = copy.deepcopy(_by_key(document))
    with document.saving_as(there) if elsewhere else document.saving() as write:
        for _ in range(undone):
            document.undo()
        for step in meanwhile:
            _edit(document, *step)
        write()
    shape = json.dumps(_shape(document))
    assert _by_key(SessionDocument.read([there] if elsewhere else [target])) == then
    assert json.dumps(_shape(document)) == shape
    document.save()
    assert not document.is_dirty
    assert _by_key(SessionDocument.read(document.paths)) == _by_key(document)


def test_what_is_edited_while_it_is_saved_is_something_to_save(opened):
    document = opened("one-file.json")
    document.add_message(document.sessions[0], "user", "1")
    with document.saving() as write:
        write()
        document.add_message(document.sessions[0], "user", "2")
    assert document.is_dirty
    document.undo()
    assert not document.is_dirty
    with document.saving() as write:
        document.undo()
        document.add_message(document.sessions[0], "user", "3")
        write()
    assert document.is_dirty


def test_what_could_not_be_saved_is_unsaved_and_can_be_edited(opened, monkeypatch: pytest.MonkeyPatch):
    document = opened("one-file.json")
    document.add_message(document.sessions[0], "user", "1")

    def fails(*_args: object, **_more: object) -> None:
        document.undo()
        raise ChangedOnDiskError(document.paths)

    monkeypatch.setattr("inspector.msp.document.save_files", fails)
    with pytest.raises(ChangedOnDiskError):
        document.save()
    assert not document.is_dirty
    document.redo()
    assert document.is_dirty


@pytest.mark.parametrize(("content", "crossed"), [("DECISION", True), ("parents", False)])
def test_a_message_crosses_although_the_parent_gave_its_id_to_another_one(tmp_path: Path, content: str, crossed: bool):
    path = tmp_path / "x.json"
    said = {"id": "q1", "role": "user", "content": content, "visibility": "global"}
    sub = {"subsession_id": "s1", "parent_session_id": "m1", "status": "closed", "summary": "S", "messages": [said]}
    path.write_text(json.dumps([{"session_id": "m1", "messages": [{**said, "content": "parents"}]}, sub]))
    document = SessionDocument.read([path])
    document.merge_subsession(document.subsessions[0])
    contents = [message.content for message in document.sessions[0].messages]
    assert contents[0] == "parents"
    assert contents[2:] == ([content] if crossed else [])
    assert len({message.id for message in document.sessions[0].messages}) == len(contents)


CLOSED_SUB = {"parent_session_id": "m1", "status": "closed", "closed_at": "2026-01-05T10:00:00Z", "summary": "S"}
TWINS = {
    "sessions": [{"session_id": "m1", "messages": []}, {"session_id": "m1", "label": "two", "messages": []}],
    "sub-sessions": [
        {"session_id": "m1", "messages": []},
        {"subsession_id": "s1", "parent_session_id": "m1", "status": "open"},
        {"subsession_id": "s1", "parent_session_id": "m1", "status": "open", "label": "two"},
    ],
    "both": [
        {"session_id": "m1", "messages": []},
        {"subsession_id": "m1", "parent_session_id": "m1", "status": "open", "label": "two"},
    ],
}


@pytest.mark.parametrize("name", TWINS)
def test_below_one_whose_id_is_another_s_too_it_stays_below_it(tmp_path: Path, name: str):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(TWINS[name]))
    document = SessionDocument.read([path])
    parent = [*document.sessions, *document.subsessions][-1]
    assert parent.label == "two"
    document.open_subsession(parent, "new")
    document.save()
    again = SessionDocument.read([path])
    new = next(sub for sub in again.subsessions if sub.label == "new")
    assert new.parent is not None
    assert (new.parent.key, new.parent.label) == (parent.key, "two")
    assert _by_key(again) == _by_key(document)


@pytest.mark.parametrize("ids", [("s1", "s1"), ("s1", 7), ("s1", None)])
def test_what_has_no_id_of_its_own_is_not_merged_and_marks_nothing(tmp_path: Path, ids: tuple[Any, Any]):
    path = tmp_path / "x.json"
    subs = [{"subsession_id": name, **CLOSED_SUB} for name in ids]
    subs[1] |= {"status": "open", "closed_at": None}
    path.write_text(json.dumps([{"session_id": "m1", "messages": []}, *subs]))
    document = SessionDocument.read([path])
    document.close_subsession(document.subsessions[1], "T", append_to_parent=True)
    assert len(document.sessions[0].messages) == 1
    with pytest.raises(CannotEditError, match="has no id, so"):
        document.merge_subsession(document.subsessions[1])
    document.save()
    again = SessionDocument.read([path])
    assert [(sub.merged, sub.summarized) for sub in again.subsessions] == [(False, False)] * 2


def test_what_was_held_while_the_files_were_read_again_is_not_edited(opened):
    document = opened("one-file.json")
    session, sub = document.sessions[0], document.subsession("s1")
    message = sub.messages[0]
    document.reload()
    for edit in (
        lambda: document.set_visibility(message, "main_only"), lambda: document.add_message(session, "user", "x"),
        lambda: document.open_subsession(session, "x"), lambda: document.set_policy(sub, include_snapshots=False),
        lambda: document.discard_subsession(sub), lambda: document.close_subsession(sub, "x", append_to_parent=False),
        lambda: document.merge_subsession(sub),
    ):  # fmt: skip
        with pytest.raises(CannotEditError):
            edit()
    assert not document.is_dirty


def test_what_lies_too_deep_is_told(tmp_path: Path):
    path = tmp_path / "x.json"
    value: dict[str, Any] = {"subsession_id": "s300", "status": "open"}
    for number in range(299, 0, -1):
        value = {"subsession_id": f"s{number}", "status": "open", "subsessions": [value]}
    path.write_text(json.dumps({"session_id": "m1", "subsessions": [value]}))
    document = SessionDocument.read([path])
    assert 50 < len(document.subsessions) < 300
    assert [problem.code for problem in document.problems if "deeper than" in problem.text] == ["msp-skipped"]
