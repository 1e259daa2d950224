"""Who stands below whom, and what is said about what does not fit."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from inspector.msp import problems
from inspector.msp.document import SessionDocument


@pytest.fixture
def read(tmp_path: Path):
    def reads(*values: Any) -> SessionDocument:
        for number, value in enumerate(values):
            (tmp_path / f"{number}.json").write_text(json.dumps(value))
        return SessionDocument.read([tmp_path])

    return reads


def _codes(document: SessionDocument) -> list[tuple[str, str]]:
    return [(problem.code, problem.key) for problem in document.problems]


def _session(**more: Any) -> dict[str, Any]:
    return {"session_id": "m", "sub_context": {}} | more


def _sub(name: str, **more: Any) -> dict[str, Any]:
    return {"subsession_id": name, "messages": []} | more


def test_a_parent_that_is_nowhere_is_a_session_that_is_only_named(read):
    document = read(_sub("s", parent_session_id="m"), _sub("t", parent_session_id="m"))
    assert [(session.id, session.implied, session.label) for session in document.sessions] == [("m", True, "m")]
    assert [sub.session for sub in document.subsessions] == document.sessions * 2
    assert _codes(document) == [(problems.PARENT, "s")]  # said once


def test_without_a_parent_it_belongs_to_the_only_session(read):
    document = read(_session(), _sub("s"))
    assert document.subsessions[0].parent is document.sessions[0]
    assert _codes(document) == [(problems.PARENT, "s")]


def test_without_any_session_there_is_a_nameless_one(read):
    document = read(_sub("s"), _sub("t"))
    assert [session.implied for session in document.sessions] == [True]
    assert len(document.sessions[0].children) == 2


def test_a_session_that_lists_it_is_its_parent(read):
    document = read(_session(), _session(session_id="n", subsessions=["s"]), _sub("s"))
    assert document.subsessions[0].parent is document.sessions[1]
    assert _codes(document) == []


def test_lists_and_objects_are_compared(read):
    document = read(
        _session(subsessions=["s", "gone"]), _sub("s", parent_session_id="m"), _sub("t", parent_session_id="m")
    )
    assert _codes(document) == [(problems.MISSING, "m"), (problems.UNLISTED, "t")]


def test_what_it_says_counts_more_than_where_it_lies(read):
    document = read([_session(subsessions=[_sub("s", parent_session_id="n")]), _session(session_id="n")])
    assert document.subsessions[0].parent is document.sessions[1]
    assert _codes(document) == [(problems.PARENT, "s")]


def test_a_chain_of_parents_that_comes_back_is_cut(read):
    subs = [_sub(str(n), parent_session_id=str((n + 1) % 50)) for n in range(50)]
    document = read([_session(), *subs])
    assert _codes(document) == [(problems.CYCLE, "49")]
    assert document.subsessions[0].path.count("/") == 49
    assert {sub.session for sub in document.subsessions} == set(document.sessions)


def test_ids_that_are_there_twice_get_keys_of_their_own(read):
    document = read([_session(), _session(), _sub("m", parent_session_id="m"), _sub("a/%", parent_session_id="m")])
    assert [session.key for session in document.sessions] == ["m", "m~2"]
    assert [sub.path for sub in document.subsessions] == ["m~3", "a%2F%25"]
    assert document.subsession("a/%") is document.subsessions[1]
    assert document.subsession("nothing") is None
    assert [code for code, _ in _codes(document)] == [problems.DUPLICATE] * 2


def test_objects_in_objects_in_objects_end_somewhere(read):
    value = _sub("deep")
    for number in range(150):
        value = _sub(str(number), subsessions=[value])
    document = read(_session(subsessions=[value]))
    assert 90 < len(document.subsessions) < 110


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [[1]], {"a": {}}, float("nan")])
@pytest.mark.parametrize(
    "name",
    ["session_id", "sub_context", "summary_snapshots", "subsessions", "messages", "created_at", "parent_session_id",
     "label", "status", "closed_at", "context_policy", "summary"],
)  # fmt: skip
def test_no_value_of_a_wrong_type_stops_anything(read, name: str, value: Any):
    session = _session(
        messages=[{"id": value, "role": value, "content": value, "visibility": value, "timestamp": value}]
    )
    document = read([session | {"session_id": "m", name: value}, _sub("s") | {name: value}, _session(session_id="k")])
    assert document.problems is not None
    for owner in (*document.sessions, *document.subsessions):
        for message in owner.messages:
            assert (message.id, message.role, message.visibility, message.time_ns, message.content) is not None
        assert isinstance(owner.label, str)
        assert isinstance(owner.created_ns, int)
    for sub in document.subsessions:
        assert (sub.policy.include_snapshots, sub.summary, sub.is_open, sub.discarded, sub.closed_ns) is not None
    for session in document.sessions:
        assert (session.intent, session.constraints, session.decisions, session.facts) is not None
        assert all(isinstance(snapshot.content, str) for snapshot in session.snapshots)


def test_thousands_of_one_id_are_told_apart_as_fast_as_others(tmp_path: Path):
    twins = [{"subsession_id": "s", "parent_session_id": "m", "messages": []} for _ in range(30_000)]
    (tmp_path / "x.json").write_text(json.dumps([{"session_id": "m", "messages": []}, *twins]))
    began = time.thread_time()
    document = SessionDocument.read([tmp_path / "x.json"])
    assert time.thread_time() - began < 20  # by counting each anew a minute
    assert [sub.key for sub in document.subsessions[:3]] == ["s", "s~2", "s~3"]
    assert len({sub.key for sub in document.subsessions}) == 30_000
