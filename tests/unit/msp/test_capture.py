"""Sessions and sub-sessions as a capture: what is opened, how it follows edits, and what is saved of it."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.document import CaptureDocument
from inspector.document.saving import save_copy
from inspector.document.summary import context_nodes, finding_entries, summary
from inspector.export.msp import export_subsession, node_at
from inspector.msp.capture import SessionFollowing
from inspector.msp.document import SessionDocument
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at, document_of, envelope, log_file, tool_call, tool_result
from tests.msp_samples import at, desk, said, session, subsession, written


def opened(value: Any, name: str = "desk.json") -> CaptureDocument:
    return document_at(log_file(json.dumps(value).encode(), name))


def rows(document: CaptureDocument) -> list[tuple[str, str, str | None, str | None]]:
    """Kind, context path, sender and visibility of each row."""
    contexts, capture, analysis = document.analysis.contexts, document.capture, document.analysis
    values = analysis.visibility
    return [
        (
            capture.string("kind", row) or "", contexts.tree.path(contexts.node_of(row)),
            capture.string("sender", row), values.values[int(values.columns["visibility"][row])] or None,
        )
        for row in range(len(capture))
    ]  # fmt: skip


def tree(document: CaptureDocument) -> dict[str, tuple[str, str, int, str]]:
    """Label, state, own count and status of each context, by path."""
    return {
        node["path"]: (node["label"], node["state"], node["messages"], node["status"])
        for node in context_nodes(document)
        if node["depth"]
    }


def sessions_of(document: CaptureDocument) -> SessionDocument:
    assert document.msp is not None
    return document.msp


def followed(document: CaptureDocument) -> SessionFollowing:
    assert document.sessions is not None
    return document.sessions


def test_rows_stand_in_the_order_of_time_where_they_were_said() -> None:
    document = opened(desk())
    assert document.format == "msp-session"
    assert rows(document) == [
        ("msp/session", "", None, None),
        ("chat", "", "user", "main_only"),
        ("chat", "", "assistant", "global"),
        ("msp/snapshot", "", None, None),
        ("msp/subsession", "", None, None),
        ("chat", "s1", "user", "subsession_only"),
        ("msp/subsession", "s1", None, None),
        ("chat", "s1/s2", "user", None),
        ("chat", "s1/s2", "assistant", None),
        ("msp/closed", "s1", None, None),
    ]
    assert not list(document.analysis.findings.all())


def test_the_tree_counts_messages_and_nothing_that_only_tells_of_them() -> None:
    document = opened(desk())
    root, first, second = context_nodes(document)
    assert (root["path"], root["parent"], root["depth"], root["type"]) == ("m1", None, 0, "session")
    assert (root["messages"], root["subtree_messages"]) == (2, 5)
    assert (first["parent"], first["depth"], first["type"], first["status"]) == ("m1", 1, "subsession", "open")
    assert (first["messages"], first["subtree_messages"]) == (1, 3)
    assert (second["path"], second["parent"], second["status"], second["state"]) == (
        "s1/s2", "s1", "closed", "concluded",
    )  # fmt: skip


def test_the_summary_counts_messages_and_nothing_that_only_tells_of_them() -> None:
    document = opened(desk())
    found = summary(document, "desk.json")
    assert (found["messages"], found["records"], found["main"]) == (5, 10, 2)
    (demo,) = [node for node in context_nodes(document) if not node["depth"]]
    assert (demo["subtree_messages"], demo["messages"]) == (5, 2)
    document.count_tokens()
    assert [one["participant"] for one in summary(document, "")["context"]] == ["user", "assistant"]


def test_what_a_message_holds_besides_is_kept_and_its_blocks_are_text() -> None:
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    odd = said("a1", blocks, visibility="global", model="m-1", text="shadowed", role="tool")
    document = opened(session("m1", odd))
    payload = document.capture.records.payload(1)
    assert payload["text"] == "one\n\ntwo"
    assert (payload["content"], payload["model"], payload["fields"]) == (blocks, "m-1", {"text": "shadowed"})
    assert document.capture.string("sender", 1) == "tool"


def test_an_archive_a_folder_and_lines_are_opened_alike(tmp_path: Path) -> None:
    value = desk()
    packed = log_file(gzip.compress(json.dumps(value).encode()), "desk.json.gz")
    lines = [value["session"], *value["subsessions"]]
    folder = tmp_path / "desk"
    folder.mkdir()
    for number, part in enumerate(lines):
        written(folder, part, f"{number}.json")
    expected = rows(opened(value))
    assert rows(document_at(packed)) == expected
    assert rows(document_at(folder)) == expected
    assert rows(document_of(*lines)) == expected


def test_a_folder_without_sessions_is_no_document_of_them(tmp_path: Path) -> None:
    document = CaptureDocument()
    with pytest.raises(IsADirectoryError):
        document.load(tmp_path)
    written(tmp_path, {"note": 1})
    with pytest.raises(UnknownFormatError, match="an object with the key `note`"):
        document.load(tmp_path)
    document.close()


def test_what_cannot_be_read_is_a_row() -> None:
    document = document_of(session("m1", said("a1")), "{torn")
    assert document.unreadable == 1
    assert [entry["no"] for entry in finding_entries(document) if entry["code"] == "msp-unreadable"] == [3]


def test_an_envelope_of_a_session_names_its_space_and_others_do_not() -> None:
    own = envelope(protocol="msp", space="m1", id="a")
    other = envelope(protocol="mew/v0.4", space="m1", id="b")
    for lines in ([own, other], [{"t": 1_767_603_600_000_000_000, "dir": "in", "frame": one} for one in (own, other)]):
        document = document_of(*lines)
        assert [document.capture.string("space", row) for row in (0, 1)] == ["m1", None]


# Following edits


def test_edits_that_add_or_change_follow_at_once() -> None:
    document = opened(desk())
    sessions = sessions_of(document)
    sub = sessions.subsession("s1")
    assert sub is not None
    sessions.add_message(sub, "user", "more")
    fresh = sessions.open_subsession(sub, "new")
    sessions.set_visibility(sub.messages[0], "main_only")
    sessions.set_policy(fresh, recent_parent_messages=7)
    sessions.close_subsession(sub, "Kelvins.", append_to_parent=True)
    assert not followed(document).missed_any
    assert rows(document)[5] == ("chat", "s1", "user", "main_only")
    assert sorted(rows(document)[10:]) == sorted([
        ("chat", "s1", "user", None), ("msp/subsession", "s1", None, None),
        ("chat", "", rows(document)[12][2], None), ("msp/closed", "", None, None),
    ])  # fmt: skip
    assert tree(document)["s1"][1:] == ("concluded", 2, "closed")
    assert [entry["code"] for entry in finding_entries(document)] == ["msp-main-only-inside"]
    sessions.set_visibility(sub.messages[0], "subsession_only")
    assert not list(finding_entries(document))


def test_an_edit_costs_the_same_in_a_long_chat_with_many_problems() -> None:
    said = [{"id": f"m{n}", "role": 7 if n % 4 == 0 else "user", "content": "hi"} for n in range(20_000)]
    document = opened({"session": {"session_id": "m1", "messages": said}, "subsessions": desk()["subsessions"]})
    sessions = sessions_of(document)
    codes = Counter(entry["code"] for entry in finding_entries(document))
    assert codes["msp-invalid"] == 5_000
    began = time.thread_time()
    for _ in range(20):
        sessions.add_message(sessions.sessions[0], "user", "more")
    assert time.thread_time() - began < 20  # looked at anew each time it would be a minute
    assert Counter(entry["code"] for entry in finding_entries(document)) == codes


def test_what_is_taken_away_asks_for_another_projection() -> None:
    document = opened(desk())
    sessions = sessions_of(document)
    sub = sessions.subsession("s1")
    assert sub is not None
    sessions.add_message(sub, "user", "more")
    sessions.undo()
    assert followed(document).missed_any
    again = CaptureDocument()
    for _ in again.open_sessions(sessions.paths, sessions=sessions):
        pass
    assert rows(again) == rows(opened(desk()))
    again.close()


@given(st.lists(st.sampled_from(["add", "open", "close", "discard", "global", "none", "merge"]), max_size=8),
       st.randoms(use_true_random=False))  # fmt: skip
def test_following_edits_gives_the_rows_of_a_new_projection(edits: list[str], luck: random.Random) -> None:
    document = opened(desk())
    sessions = sessions_of(document)
    for edit in edits:
        going = [sub for sub in sessions.subsessions if sub.is_open]
        ended = [sub for sub in sessions.subsessions if sessions.why_not_merge(sub) is None]
        if edit == "merge" and ended:
            sessions.merge_subsession(luck.choice(ended))
        elif edit in ("global", "none"):
            owner = luck.choice([*sessions.sessions, *sessions.subsessions])
            if len(owner.messages):
                sessions.set_visibility(luck.choice(list(owner.messages)), "global" if edit == "global" else None)
        elif going and edit == "add":
            sessions.add_message(luck.choice(going), "user", "more", visibility="global")
        elif going and edit == "open":
            sessions.open_subsession(luck.choice(going), "new")
        elif going and edit == "close":
            sessions.close_subsession(luck.choice(going), "done", append_to_parent=luck.random() < 0.5)
        elif going and edit == "discard":
            sessions.discard_subsession(luck.choice(going))
    again = CaptureDocument()
    for _ in again.open_sessions(sessions.paths, sessions=sessions):
        pass
    assert sorted(map(str, rows(document))) == sorted(map(str, rows(again)))
    assert tree(document) == tree(again)
    again.close()


@given(st.permutations(range(5)), st.booleans())
def test_the_order_of_objects_does_not_matter(order: list[int], timed: bool) -> None:
    objects = [
        session("m1", said("a1"), lists=("s1", "s4")), subsession("s1", "m1", said("q1", second=3), second=2),
        subsession("s2", "s1", said("q2", second=4), second=3), subsession("s3", "s2", said("q3", second=5), second=4),
        subsession("s4", "m1", said("q4", second=1), second=9, status="discarded", closed_at="2026-01-05T09:01:00Z"),
    ]  # fmt: skip
    if not timed:
        for one in objects:
            one.pop("created_at")
            for message in one["messages"]:
                message.pop("timestamp")
    found = tree(document_of(*(objects[place] for place in order)))
    assert {path: (own, status) for path, (_, _, own, status) in found.items()} == {
        "s1": (1, "open"), "s1/s2": (1, "open"), "s1/s2/s3": (1, "open"), "s4": (1, "discarded"),
    }  # fmt: skip
    assert found["s4"][1] == "cancelled"


# Saving and exporting


def test_saved_as_a_capture_it_opens_with_the_same_rows(tmp_path: Path) -> None:
    document = opened(desk())
    target = tmp_path / "saved.ctxcap"
    asyncio.run(save_copy(document, target))
    again = document_at(target)
    assert again.msp is None
    assert rows(again) == rows(document)
    assert list(context_nodes(again)) == list(context_nodes(document))
    with pytest.raises(FileExistsError):
        asyncio.run(save_copy(document, sessions_of(document).files[0].path))


def exported(document: CaptureDocument, path: str, target: Path, *, masked: bool = True) -> CaptureDocument:
    found = node_at(document, path)
    assert found is not None
    for _ in export_subsession(document, *found, target, masked=masked):
        pass
    return document_at(target)


def test_a_context_of_any_traffic_becomes_a_sub_session(tmp_path: Path) -> None:
    call = tool_call("grep", context="why", id="c1", ts="2026-01-05T09:00:02.000Z")
    document = document_of(
        envelope(payload={"text": "Why?"}, sender="human", id="a1", ts="2026-01-05T09:00:00.000Z"),
        envelope("reasoning/start", {"message": "Look"}, sender="lead", id="why", ts="2026-01-05T09:00:01.000Z"),
        call, tool_result(call, "3 lines", id="r1", context="why", ts="2026-01-05T09:00:03.000Z"),
        envelope("reasoning/conclusion", {"message": "Disk"}, sender="lead", context="why", id="e1",
                 ts="2026-01-05T09:00:04.000Z"),
        envelope(payload={"text": "token=sk-abcdefghijklmnopqrstuvwx"}, sender="human", context="why/deep", id="d1",
                 ts="2026-01-05T09:00:05.000Z"),
    )  # fmt: skip
    again = exported(document, "why", tmp_path / "why.json")
    assert not list(finding_entries(again))
    roles = [(row[1], row[2]) for row in rows(again) if row[0] == "chat"]
    assert roles[0] == ("", "user")
    assert [who for where, who in roles if where == "why"] == ["assistant"] * 3
    assert [who for where, who in roles if where == "why/deep"] == ["user"]
    assert tree(again)["why"][3] == "closed"
    assert all(row[3] is None for row in rows(again))
    assert "sk-abcdefghijklmnopqrstuvwx" not in (tmp_path / "why.json").read_text()
    sub = sessions_of(again).subsession("why")
    assert sub is not None
    assert sub.summary == "Disk"


def test_a_sub_session_exported_is_the_same_again(tmp_path: Path) -> None:
    document = opened(desk())
    again = exported(document, "s1", tmp_path / "again.json")
    assert rows(again) == rows(document)
    assert tree(again) == tree(document)
    assert node_at(document, "nowhere") is None
    assert node_at(document, "s2") is not None
    assert document.analysis.contexts.node_of(0) == MAIN


def test_what_closed_before_it_opened_is_closed() -> None:
    early = subsession("s1", "m1", second=60, status="closed", closed_at=at(5))
    document = opened([session("m1", said("p1", second=1), said("p2", second=90)), early])
    kinds = [kind for kind, *_ in rows(document)]
    assert kinds.index("msp/subsession") < kinds.index("msp/closed")
    states = {node["path"]: node["state"] for node in context_nodes(document)}
    assert states["s1"] == "concluded"
    assert "msp-times" in {entry["code"] for entry in finding_entries(document)}


def test_of_several_things_wrong_with_one_object_each_is_told() -> None:
    about = {"intent": ["a"], "facts": "b"}
    value = {"session_id": "m1", "sub_context": about, "messages": [{"id": "a", "role": None}]}
    found = [entry for entry in finding_entries(opened(value)) if entry["code"] == "msp-invalid"]
    told = " ".join(str(entry) for entry in found)
    for place in ("sub_context.intent", "sub_context.facts", "messages[0].role", "messages[0].content"):
        assert place in told


def test_a_compressed_document_is_told_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "sessions"
    path.write_bytes(gzip.compress(json.dumps({"session_id": "m1", "messages": []}).encode()))
    document = document_at(path)
    assert document.msp is not None
    assert (len(document.msp.sessions), document.msp.read_only) == (1, True)
