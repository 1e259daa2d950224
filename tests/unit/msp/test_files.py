"""Files of every shape are read; what is wrong with one is a problem with its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from inspector.msp import problems
from inspector.msp.document import SessionDocument
from inspector.msp.files import NotMspError, is_msp
from tests.samples import FORMAT_SAMPLES

DATA = Path(__file__).parents[2] / "data" / "msp"
SHAPES = {
    "one-file.json": {"m1": ["s1", "s2"]},
    "lone-subsession.json": {"m1": ["s1"]},
    "nested.json": {"m1": ["s1", "s1/s2"]},
    "lines.jsonl": {"m1": ["s1", "s2"]},
    "array.json": {"m1": ["s1"]},
    "folder": {"m1": ["s1", "s1/s2"]},
    "cycle.json": {"m1": ["c", "c/b", "c/b/a", "self"]},
}


def _read(*names: str) -> SessionDocument:
    return SessionDocument.read([DATA / name for name in names])


def _shape(document: SessionDocument) -> dict[str, list[str]]:
    return {
        session.key: sorted(sub.path for sub in document.subsessions if sub.session is session)
        for session in document.sessions
    }


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_gives_its_sessions(name: str):
    assert _shape(_read(name)) == SHAPES[name]


def test_parents_are_found_across_files():
    assert _shape(_read("lone-subsession.json", "folder/session.json")) == {"m1": ["s1"]}


def test_a_file_named_twice_is_read_once():
    document = _read("folder", "folder/s1.json")
    assert len(document.subsessions) == 2


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_files_are_read(tmp_path: Path, suffix: str):
    data = (DATA / "one-file.json").read_bytes()
    packed = gzip.compress(data) if suffix == ".gz" else zstandard.compress(data)
    (tmp_path / f"x.json{suffix}").write_bytes(packed)
    document = SessionDocument.read([tmp_path])
    assert _shape(document) == SHAPES["one-file.json"]
    assert document.read_only


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.json*")))
def test_msp_documents_are_told_by_their_beginning(name: str):
    data = (DATA / name).read_bytes()
    assert is_msp(data)
    assert is_msp(b"\xef\xbb\xbf \r\n" + data[:200])
    assert is_msp(data.decode().encode("utf-16")[:401])


def test_no_other_file_of_ours_is_taken_for_one():
    others = [
        path
        for path in (*DATA.parent.rglob("*"), *FORMAT_SAMPLES.values())
        if path.suffix in (".json", ".jsonl", ".ctxcap")
    ]
    claimed = [path.name for path in others if DATA not in path.parents and is_msp(path.read_bytes())]
    assert claimed == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "{}",
        "\x00",
        "[" * 100_000,
        '{"session_id":"' + '\\"' * 100_000,
        '{"protocol":"msp","space":"m1","id":"1","kind":"chat","payload":{"session_id":"m1"}}',
        '{"jsonrpc":"2.0","session_id":"x","messages":[]}',
        '{"history":[{"session_id":"x","messages":[]}]}',
        '{"session_id":"x","event":"start"}',
        '{"sessions":5,"subsessions":["a"]}',
    ],
)
def test_other_things_are_not(text: str):
    assert not is_msp(text.encode())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b'{"session_id":"m1","messages":[',
        b"[" * 5000,
        b"[" * 5000 + b"]" * 5000,
        b"no json",
        b"null",
        b'{"name":"x"}',
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, data: bytes):
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(NotMspError, match=r"x\.json"):
        SessionDocument.read([path])


@pytest.mark.parametrize("number", [b"1" * 5000, b"-" + b"1" * 5000, b"1E400", b"0.10000000000000000000000001"])
def test_no_number_keeps_a_file_from_being_read_and_a_copy_of_it_is_exact(tmp_path: Path, number: bytes):
    path = tmp_path / "x.json"
    message = b'{"id":"q","role":"user","content":"c","visibility":"global","cost":' + number + b"}"
    path.write_bytes(
        b'[{"session_id":"m1","messages":[]},{"subsession_id":"s1","parent_session_id":"m1","status":"closed",'
        b'"summary":"x","messages":[' + message + b"]}]"
    )
    document = SessionDocument.read([path])
    document.merge_subsession(document.subsessions[0])
    document.save()
    assert path.read_bytes().count(b'"cost":' + number) == 2
    document.undo()
    document.save()
    assert path.read_bytes().count(b'"cost":' + number) == 1


def test_an_object_over_many_lines_is_read_whatever_its_file_is_called(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"session_id": "m1", "messages": []}, indent=2))
    assert [session.id for session in SessionDocument.read([path]).sessions] == ["m1"]


def test_a_file_that_is_none_is_skipped_in_a_folder(tmp_path: Path):
    (tmp_path / "a.json").write_bytes((DATA / "array.json").read_bytes())
    (tmp_path / "broken.json").write_text('{"session_id":\n  "m2"')
    (tmp_path / "other.json").write_text('{"a":1}')
    (tmp_path / "packed.json.gz").write_bytes(b"\x1f\x8bno")
    (tmp_path / "packed.json.zst").write_bytes(b"no")
    (tmp_path / "large.json").write_text(json.dumps(["x" * 1000] * 1000))
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    document = SessionDocument.read([tmp_path])
    told = {problem.place: problem.code for problem in document.problems}
    assert told == {
        "broken.json": problems.UNREADABLE,
        "gone.json": problems.UNREADABLE,
        "large.json": problems.SKIPPED,
        "other.json": problems.SKIPPED,
        "packed.json.gz": problems.UNREADABLE,
        "packed.json.zst": problems.UNREADABLE,
    }
    assert any("line 2, column 7" in problem.text for problem in document.problems)


def test_what_is_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        SessionDocument.read([tmp_path / "nothing.json"])
    with pytest.raises(NotMspError):
        SessionDocument.read([tmp_path])


def test_a_line_that_is_no_json_is_a_problem_with_its_number(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_bytes((DATA / "lines.jsonl").read_bytes() + b'{"subsession_id":"s3","mess\n')
    document = SessionDocument.read([path])
    assert [(p.code, p.place) for p in document.problems] == [(problems.UNREADABLE, "x.jsonl line 5")]
    assert document.subsessions[1].place == "x.jsonl line 4 $"


_NAMES = st.sampled_from(
    ["session", "sessions", "subsessions", "session_id", "subsession_id", "parent_session_id", "messages", "status",
     "sub_context", "summary_snapshots", "context_policy", "closed_at", "created_at", "visibility", "id", "label"]
)  # fmt: skip
_ANYTHING = st.recursive(
    st.sampled_from([None, True, 0, -1.5, "m", "s", "\ud800", "closed", "2026-01-05T09:00:00Z", "main_only"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=6),
    max_leaves=25,
)


@given(value=_ANYTHING, lines=st.booleans(), cut=st.integers(0, 40))
def test_whatever_a_file_holds_nothing_raises(tmp_path_factory, value: object, lines: bool, cut: int):
    path = tmp_path_factory.getbasetemp() / ("any.jsonl" if lines else "any.json")
    text = json.dumps({"sessions": [{"session_id": "m"}, value], "subsessions": value})
    path.write_text(text[: len(text) - (cut if cut < 20 else 0)])
    assert isinstance(is_msp(path.read_bytes()), bool)
    try:
        document = SessionDocument.read([path])
    except NotMspError:
        return
    assert all(problem.code in problems.CODES and str(problem.text) for problem in document.problems)
    assert all(sub.session in document.sessions and sub.path for sub in document.subsessions)
    document.add_message(document.sessions[0], "user", "x") if document.why_not_add(
        document.sessions[0]
    ) is None else None
    document.save()
    again = SessionDocument.read([path])
    assert [sub.path for sub in again.subsessions] == [sub.path for sub in document.subsessions]
