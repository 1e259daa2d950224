"""A session from nothing, what was agreed in it, its snapshots, and references to a summary beside."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from inspector.base.paths import resource
from inspector.msp.document import CannotEditError, Edit, SessionDocument, WouldReplaceError
from inspector.msp.merged import merged_context
from inspector.msp.objects import Subsession
from inspector.msp.problems import MISSING
from inspector.protocol.timestamps import parse_time
from tests.merged import words
from tests.msp_samples import desk, session, subsession, written
from tests.strategies import share_of_examples

NOW = parse_time("2026-02-03T04:05:06.789123Z")
SUMMARY = "Said in kelvin."
_AGREED = {"intent": "Write a page", "constraints": ["short"], "decisions": [], "facts": []}


def opened(folder: Path, value: Any) -> SessionDocument:
    document = SessionDocument.read([written(folder, value)])
    document.clock = lambda: NOW
    return document


def new(path: Path, **agreed: Any) -> SessionDocument:
    document = SessionDocument.create(path, "m1", "", agreed, clock=lambda: NOW)
    document.save_as(path)
    return document


def pair(folder: Path, **more: Any) -> tuple[SessionDocument, Subsession, Subsession]:
    """Two sub-sessions beside each other, the first closed with a summary."""
    closed: dict[str, Any] = {"status": "closed", "closed_at": "2026-01-05T09:30:00Z", "summary": SUMMARY, **more}
    subs = [subsession("s1", "m1", **closed), subsession("s2", "m1")]
    document = opened(folder, {"session": session("m1", lists=("s1", "s2")), "subsessions": subs})
    return document, document.subsessions[0], document.subsessions[1]


def sent(sub: Subsession, name: Any = "snapshots", **rules: Any) -> list[str]:
    return [entry.content for entry in merged_context(sub, count=words).layer(name).entries]


class Seen:
    def __init__(self) -> None:
        self.edits: list[Edit] = []

    def session_edited(self, edit: Edit) -> None:
        self.edits.append(edit)


# From nothing


def test_a_session_from_nothing_is_one_the_protocol_knows(tmp_path: Path):
    path = tmp_path / "desk.json"
    new(path, intent="Write a page", constraints=["short"])
    assert json.loads(path.read_text()) == {
        "session": {
            "session_id": "m1", "created_at": "2026-02-03T04:05:06.789Z", "sub_context": _AGREED,
            "summary_snapshots": [], "subsessions": [], "messages": [],
        },
        "subsessions": [],
    }  # fmt: skip
    again = SessionDocument.read([path])
    assert (again.problems, again.is_dirty, again.sessions[0].intent) == ([], False, "Write a page")


@pytest.mark.parametrize("name", ["desk.json", "desk.jsonl", "desk"])
def test_whatever_it_is_called_it_is_read_again_and_can_be_worked_on(tmp_path: Path, name: str):
    path = tmp_path / name
    document = new(path)
    document.open_subsession(document.sessions[0], "units")
    document.save()
    again = SessionDocument.read([path])
    again.add_message(again.subsessions[0], "user", "what is a kelvin?")
    again.save()
    found = SessionDocument.read([path])
    assert ([sub.label for sub in found.subsessions], len(found.subsessions[0].messages)) == (["units"], 1)
    assert found.problems == []


def test_it_is_something_to_save_and_takes_nobody_s_place(tmp_path: Path):
    path = tmp_path / "desk.json"
    path.write_text("mine")
    document = SessionDocument.create(path)
    assert document.is_dirty
    with pytest.raises(WouldReplaceError):
        document.save_as(path)
    assert path.read_text() == "mine"


# The sub-context


def test_what_was_agreed_is_edited_and_taken_back(tmp_path: Path):
    document = opened(tmp_path, desk())
    main, before = document.sessions[0], document.files[0].path.read_bytes()
    seen = Seen()
    document.observers.append(seen)
    document.set_sub_context(main, intent="Explain", decisions=["kelvin", " ", "celsius"], facts=None)
    assert (main.intent, main.constraints, main.decisions) == ("Explain", ["short"], ["kelvin", "celsius"])
    assert seen.edits == [Edit("Change the sub-context of m1", "session", "m1")]
    document.save()
    assert SessionDocument.read([document.files[0].path]).sessions[0].decisions == ["kelvin", "celsius"]
    document.undo()
    document.save()
    assert document.files[0].path.read_bytes() == before


def test_what_is_as_it_was_is_no_edit(tmp_path: Path):
    document = opened(tmp_path, desk())
    document.set_sub_context(document.sessions[0], **_AGREED)
    assert (document.revision, document.is_dirty) == (0, False)


def test_entries_that_are_no_texts_stay_as_they_are_written(tmp_path: Path):
    odd = [{"rule": 1.0}, "short", "short"]
    agreed = {"constraints": odd, "mood": "calm"}
    document = opened(tmp_path, {"session": session("m1", sub_context=agreed)})
    main = document.sessions[0]
    document.set_sub_context(main, constraints=["new", *main.constraints[:2]])
    assert main.data["sub_context"] == {"constraints": ["new", {"rule": 1.0}, "short"], "mood": "calm"}


def test_what_is_not_what_the_protocol_says_is_refused(tmp_path: Path):
    document = opened(tmp_path, {"session": session("m1", sub_context="none", summary_snapshots={})})
    with pytest.raises(CannotEditError, match=r"^The sub-context of m1 is not an object\.$"):
        document.set_sub_context(document.sessions[0], intent="x")
    with pytest.raises(CannotEditError, match=r"^The snapshots of m1 are not a list\.$"):
        document.add_snapshot(document.sessions[0], "x")


def test_a_session_that_is_only_named_has_nothing_to_edit(tmp_path: Path):
    document = opened(tmp_path, subsession("s1", "m1"))
    with pytest.raises(CannotEditError, match=r"m1 has no object in these files\."):
        document.set_sub_context(document.sessions[0], intent="x")
    with pytest.raises(CannotEditError, match=r"m1 has no object in these files\."):
        document.add_snapshot(document.sessions[0], "x")


# Snapshots


def test_snapshots_are_added_changed_and_deleted(tmp_path: Path):
    document = opened(tmp_path, desk())
    main, before = document.sessions[0], document.files[0].path.read_bytes()
    added = document.add_snapshot(main, "More.", (2, 4))
    assert (added.covers, added.content, added.created_ns) == ((2, 4), "More.", parse_time("2026-02-03T04:05:06Z"))
    document.change_snapshot(main, main.snapshots[0], "Greetings!", (0, 1))
    document.change_snapshot(main, added, "More.", None)
    assert [(one.content, one.covers) for one in main.snapshots] == [("Greetings!", (0, 1)), ("More.", None)]
    document.delete_snapshot(main, main.snapshots[0])
    document.save()
    assert [one.content for one in SessionDocument.read([document.files[0].path]).sessions[0].snapshots] == ["More."]
    while document.undo():
        pass
    document.save()
    assert document.files[0].path.read_bytes() == before


def test_what_is_deleted_leaves_every_other_byte(tmp_path: Path):
    snapshots = [{"id": f"n{n}", "content": f"Part {n}", "x-own": 1.50} for n in range(3)]
    text = json.dumps({"session": session("m1", summary_snapshots=snapshots)}, indent="\t").replace("1.5", "1.50")
    path = tmp_path / "desk.json"
    path.write_text(text)
    document = SessionDocument.read([path])
    document.delete_snapshot(document.sessions[0], document.sessions[0].snapshots[1])
    document.save()
    start = text.index("\n\t\t\t{", text.index("Part 0"))
    stop = text.index("\n\t\t\t{", start + 1)
    assert path.read_text() == text[:start] + text[stop:]


@pytest.mark.parametrize(("content", "covers"), [(" ", None), ("x", (-1, 2)), ("x", (3, 2))])
def test_a_snapshot_that_says_nothing_or_covers_nothing_is_refused(tmp_path: Path, content: str, covers: Any):
    document = opened(tmp_path, desk())
    with pytest.raises(CannotEditError):
        document.add_snapshot(document.sessions[0], content, covers)
    assert document.revision == 0


def test_a_snapshot_that_is_gone_is_not_edited(tmp_path: Path):
    document = opened(tmp_path, desk())
    main = document.sessions[0]
    gone = main.snapshots[0]
    document.delete_snapshot(main, gone)
    with pytest.raises(CannotEditError, match="m1 no longer has this snapshot"):
        document.change_snapshot(main, gone, "x", None)


# References


def test_a_summary_referred_to_is_sent_with_where_it_comes_from(tmp_path: Path):
    document, closed, other = pair(tmp_path)
    before = document.files[0].path.read_bytes()
    document.refer_summary(other, closed)
    entry = merged_context(other, count=words).layer("snapshots").entries[-1]
    assert (entry.id, entry.role, entry.source) == ("s1", "system", closed)
    assert entry.content == f"Summary of the sub-session “about s1”:\n\n{SUMMARY}"
    assert entry.reason == 'Summary of "about s1", referenced by the policy; not merged.'
    assert not closed.merged
    assert document.problems == []
    document.save()
    again = SessionDocument.read([document.files[0].path])
    assert sent(again.subsessions[1]) == [entry.content]
    document.undo()
    document.save()
    assert (sent(other), document.files[0].path.read_bytes()) == ([], before)


def test_it_is_sent_though_the_policy_leaves_the_snapshots_out(tmp_path: Path):
    document, closed, other = pair(tmp_path)
    document.add_snapshot(document.sessions[0], "Main so far.")
    document.refer_summary(other, closed)
    document.set_policy(other, include_snapshots=False)
    layer = merged_context(other, count=words).layer("snapshots")
    assert [entry.id for entry in layer.entries] == ["s1"]
    assert (layer.included, layer.left_out, layer.tokens) == (True, 3, words(layer.entries[0].content))


def test_it_is_sent_once_when_it_was_merged_as_well(tmp_path: Path):
    document, closed, other = pair(tmp_path)
    document.refer_summary(other, closed)
    document.merge_subsession(closed)
    context = merged_context(other, count=words)
    assert (sent(other), len(sent(other, "recent"))) == ([], 1)
    assert any("is sent once" in note for note in context.notes)


def test_the_summary_is_the_one_it_has_now(tmp_path: Path):
    document, closed, other = pair(tmp_path)
    document.refer_summary(other, closed)
    closed.data["summary"] = "Other."
    assert sent(other)[0].endswith("Other.")


def test_a_reference_is_withdrawn(tmp_path: Path):
    document, closed, other = pair(tmp_path)
    document.refer_summary(other, closed)
    document.withdraw_summary(other, "s1")
    assert (sent(other), other.data["context_policy"]) == ([], {"recent_parent_messages": 2})
    with pytest.raises(CannotEditError, match="does not refer"):
        document.withdraw_summary(other, "s1")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"summary": None}, "about s1 has no summary yet: close it with one first."),
        ({"status": "discarded"}, "about s1 was discarded."),
        ({"parent_session_id": "s2"}, "about s2 cannot refer to about s1: they have different parents."),
        ({"subsession_id": "s2"}, "about s1 has no id to refer to."),
    ],
)
def test_what_cannot_be_referred_to_is_refused(tmp_path: Path, more: dict[str, Any], why: str):
    document, closed, other = pair(tmp_path, **more)
    assert document.why_not_refer(other, closed) == why
    with pytest.raises(CannotEditError, match=re.escape(why)):
        document.refer_summary(other, closed)


def test_one_refers_neither_to_itself_nor_twice_nor_when_closed(tmp_path: Path):
    document, closed, other = pair(tmp_path)
    document.refer_summary(other, closed)
    assert document.why_not_refer(other, closed) == "about s2 refers to about s1 already."
    assert document.why_not_refer(other, other) == "about s2 cannot refer to itself."
    assert document.why_not_refer(closed, other) == "about s1 is closed."


def test_a_reference_to_nobody_is_a_finding_and_a_note(tmp_path: Path):
    policy = {"include_summaries": ["gone", "s1", 7, "gone"]}
    document, _, other = pair(tmp_path)
    other.data["context_policy"] = policy
    found = [problem for problem in document.problems if problem.code == MISSING]
    assert [problem.text for problem in found] == [
        "about s2 refers to the summary of gone, which is not a sibling sub-session."
    ]
    assert merged_context(other, count=words).notes[-1] == 'It refers to the summary of "gone", which is not a sibling.'
    assert len(sent(other)) == 1


def test_very_many_references_are_told_in_a_few_sentences(tmp_path: Path):
    document, _, other = pair(tmp_path)
    other.data["context_policy"] = {"include_summaries": [f"gone{n}" for n in range(100_000)]}
    assert len([problem for problem in document.problems if problem.code == MISSING]) == 5
    notes = merged_context(other, count=words).notes
    assert (len(notes), notes[0]) == (6, "It refers to 99,995 more summaries that are not sent.")


def test_what_is_no_list_refers_to_none_and_is_told(tmp_path: Path):
    document, _, other = pair(tmp_path)
    other.data["context_policy"] = {"include_summaries": "s1"}
    assert sent(other) == []
    assert merged_context(other, count=words).notes == (
        'include_summaries is "s1", which is not a list; no summary is included.',
    )
    assert [problem.text.split("$")[1] for problem in document.problems] == [
        ".subsessions[1].context_policy.include_summaries is not a list."
    ]


# Everything


@share_of_examples(4)
@given(steps=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), max_size=14))
def test_what_is_made_from_nothing_is_valid_and_without_findings(tmp_path_factory, steps: list[tuple[int, int]]):
    path = tmp_path_factory.mktemp("new") / "desk.json"
    document = new(path, intent="Write a page")
    first, made = path.read_bytes(), 0
    for kind, at in steps:
        revision = document.revision
        _work(document, kind, at)
        made += document.revision - revision
    document.save()
    schema = json.loads(resource("schema", "msp-document.schema.json").read_text(encoding="utf-8"))
    assert list(Draft7Validator(schema).iter_errors(json.loads(path.read_text("utf-8")))) == []
    again = SessionDocument.read([path])
    assert again.problems == document.problems == []
    assert [sub.data for sub in again.subsessions] == [sub.data for sub in document.subsessions]
    for _ in range(made):
        document.undo()
    document.save()
    assert path.read_bytes() == first


def _work(document: SessionDocument, kind: int, at: int) -> None:
    main, subs = document.sessions[0], document.subsessions
    sub = subs[at % len(subs)] if subs else None
    try:
        if kind == 0 or sub is None:
            document.open_subsession(main, f"about {at}", {"recent_parent_messages": at})
        elif kind == 1:
            document.add_message(sub if at % 2 else main, "user", "hello", "global" if at > 3 else None)
        elif kind == 2:
            document.close_subsession(sub, SUMMARY if at % 3 else None, append_to_parent=bool(at % 2))
        elif kind == 3:
            document.merge_subsession(sub)
        elif kind == 4:
            document.set_sub_context(main, decisions=["kelvin", "celsius"][: at % 3], intent=f"Talk {at}")
        elif kind == 5:
            document.add_snapshot(main, "So far.", (at, at + 1))
        elif kind == 6 and main.snapshots:
            document.change_snapshot(main, main.snapshots[0], f"Then {at}.", None)
        elif kind == 7 and main.snapshots:
            document.delete_snapshot(main, main.snapshots[-1])
        elif kind == 8:
            document.refer_summary(subs[-1], sub)
    except CannotEditError:
        pass
