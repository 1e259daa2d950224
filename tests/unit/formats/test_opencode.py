"""Sessions of OpenCode: exports, its folder of small files, its database."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.line_reading import read_line_as
from inspector.formats.opencode import reader as messages
from inspector.formats.opencode.conversion import store_of
from inspector.present.converted import place_in_original
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at, document_of, field_values, log_file
from tests.samples import FORMAT_SAMPLES

SAMPLE = FORMAT_SAMPLES["opencode.jsonl"]
LINES: list[dict[str, Any]] = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
SHARED = Path(__file__).parents[4] / "shared" / "recordings" / "transcripts"


def without(info: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in info.items() if key not in keys}


def database(path: Path) -> Path:
    """The sample as OpenCode keeps it now."""
    with sqlite3.connect(path) as made:
        made.execute(
            "CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT,"
            " time_created INTEGER, time_updated INTEGER)"
        )
        for name in ("message", "part"):
            more = ", message_id TEXT" if name == "part" else ""
            made.execute(f"CREATE TABLE {name} (id TEXT, session_id TEXT, time_created INTEGER, data TEXT{more})")
        for line in LINES:
            info = line["info"]
            if "parts" not in line:
                row = [info.get(key) for key in ("id", "projectID", "parentID", "directory", "title", "version")]
                made.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?)", [*row, *info["time"].values()])
                continue
            told = json.dumps(without(info, "id", "sessionID"))
            made.execute(
                "INSERT INTO message VALUES (?,?,?,?)", [info["id"], info["sessionID"], info["time"]["created"], told]
            )
            for part in line["parts"]:
                row = [part["id"], info["sessionID"], 0, json.dumps(without(part, "id")), info["id"]]
                made.execute("INSERT INTO part VALUES (?,?,?,?,?)", row)
    made.close()
    return path


def folder(root: Path) -> Path:
    """The sample as OpenCode kept it before."""
    for line in LINES:
        info = line["info"]
        if "parts" not in line:
            written = {root / "session" / "prj" / f"{info['id']}.json": info}
        else:
            written = {root / "message" / info["sessionID"] / f"{info['id']}.json": info}
            written |= {root / "part" / info["id"] / f"{part['id']}.json": part for part in line["parts"]}
        for path, value in written.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value, indent=2), "utf-8")
    return root


def test_what_the_user_went_back_from_leaves_the_context(tmp_path: Path) -> None:
    messages = [line for line in LINES if "parts" in line]
    undone = messages[-3]["info"]
    lines = [
        {**line, "info": {**line["info"], "revert": {"messageID": undone["id"]}}}
        if "parts" not in line and line["info"]["id"] == undone["sessionID"] else line
        for line in LINES
    ]  # fmt: skip
    with patch(f"{__name__}.LINES", lines):
        document = document_at(folder(tmp_path / "storage"))
    assert place_in_original(document.capture, 2) == "Converted from record msg_01 in storage."
    last = document.capture.records.payload(len(document.capture) - 1)
    assert document.capture.string("kind", len(document.capture) - 1) == "participant/forget"
    assert last["from"] == messages[-3]["parts"][0]["id"]
    own = next(line["info"] for line in lines if "parts" not in line and line["info"]["id"] == undone["sessionID"])
    export = {"info": own, "messages": [one for one in messages if one["info"]["sessionID"] == own["id"]]}
    again = document_at(log_file(json.dumps(export).encode()))
    assert again.capture.records.payload(len(again.capture) - 1) == last


ALL = (
    "kind",
    "from",
    "space",
    "context",
    "answers",
    "error",
    "usage.input",
    "usage.output",
    "usage.cache_read",
    "text",
    "time",
)


def test_the_messages_of_a_session() -> None:
    document = document_at(SAMPLE)
    rows = field_values(document, "kind", "from", "to", "context", "error", "stop_reason")
    assert [row[:4] for row in rows if row[3]] == [
        ("chat", "opencode", ["explore#ses_2"], "ses_2"), ("mcp/request", "explore#ses_2", ["tools"], "ses_2"),
        ("mcp/response", "tools", ["explore#ses_2"], "ses_2"),
        ("participant/forget", "opencode-cli", ["explore#ses_2"], "ses_2"),
        ("chat", "explore#ses_2", ["opencode"], "ses_2"), ("opencode/step-finish", "opencode-cli", [], "ses_2"),
    ]  # fmt: skip
    assert [row[0] for row in rows if row[4]] == ["mcp/response", "system/error", "mcp/response", "mcp/response"]
    assert ("participant/compact-done", "opencode") in [row[:2] for row in rows]
    assert "opencode/hologram" in [row[0] for row in rows]
    total = document.analysis.usage.total()
    assert total is not None
    assert (total.input, total.output, total.cache_read, total.cache_write) == (600, 107, 400, 50)
    document.catch_up()
    assert [row[0] for row in field_values(document, "finding") if row[0]] == [["model-call-failed"]]


def test_what_left_the_context_is_no_more_seen() -> None:
    document = document_at(SAMPLE)
    assert document.capture.records.payload(14) == {
        "text": "the result of glob left the context",
        "message_ids": ["call_glob"],
    }


@pytest.mark.parametrize("make", [database, folder], ids=["database", "folder"])
def test_a_place_gives_what_its_export_gives(make: Any, tmp_path: Path) -> None:
    place = make(tmp_path / "opencode.db")
    before = sorted(path.name for path in tmp_path.iterdir())
    document = document_at(place)
    assert document.format == "opencode"
    assert field_values(document, *ALL) == field_values(document_at(SAMPLE), *ALL)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    named = document_at(place / "ses_2" if place.is_file() else place / "session" / "prj" / "ses_2.json")
    rows = field_values(named, "space", "context", "from")
    assert {row[:2] for row in rows} == {("ses_2", None)}
    assert {row[2] for row in rows} == {"user", "opencode", "tools", "opencode-cli"}


def test_sessions_of_a_database_do_not_mix(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db")
    with sqlite3.connect(path) as made:
        made.execute("INSERT INTO session VALUES ('ses_9','prj','ses_gone','/x','Other','1',1,1)")
        made.execute("INSERT INTO message VALUES ('msg_9','ses_9',1,'{\"role\":\"user\"}')")
        made.execute("INSERT INTO message VALUES ('msg_x','ses_9',1,'no json')")
    made.close()
    rows = field_values(document_at(path), "space", "kind")
    assert Counter(row[0] for row in rows) == {"ses_9": 2, "ses_1": 29}
    assert rows[1] == ("ses_9", "opencode/message")


def test_an_export_is_a_document_of_its_own() -> None:
    export = {
        "info": LINES[0]["info"],
        "messages": [without(line, "root") for line in LINES if line["info"].get("sessionID") == "ses_1"],
    }
    document = document_at(log_file(json.dumps(export, indent=2).encode(), "export.json"))
    assert (document.format, document.capture.record_count) == ("opencode", 1)
    assert {row[0] for row in field_values(document, "space")} == {"ses_1"}


def test_what_is_no_place_of_sessions_is_said_to_be_none(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as made:
        made.execute("CREATE TABLE spans (a)")
    made.close()
    with pytest.raises(UnknownFormatError, match="without readable sessions of Crush, Cursor, goose or OpenCode"):
        document_at(other)
    with pytest.raises(UnknownFormatError, match="no session ses_7"):
        document_at(database(tmp_path / "opencode.db") / "ses_7")
    torn = tmp_path / "torn.db"
    torn.write_bytes(b"SQLite format 3\0" + b"x" * 2000)
    with pytest.raises(UnknownFormatError, match="a SQLite database without readable sessions"):
        document_at(torn)
    assert store_of(tmp_path / "none") is None
    assert store_of(tmp_path) == (tmp_path / "opencode.db", None)


@pytest.mark.parametrize(
    "written",
    [
        {"info": {"id": "a", "role": "user"}, "parts": []}, {"info": {"id": "a"}, "messages": []},
        {"info": {"role": "user", "sessionID": "s"}, "parts": []}, {"info": [], "messages": []},
    ],
)  # fmt: skip
def test_others_that_have_such_keys(written: dict[str, Any]) -> None:
    assert messages.READER.read(json.dumps(written).encode()) is None
    assert read_line_as(json.dumps(written).encode())[1] != "opencode"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the samples of others are not here")
@pytest.mark.parametrize("name", ["storage-1/", "storage-2/", "sqlite/opencode.db"])
def test_counts_of_others_samples(name: str) -> None:
    expected = json.loads((SHARED / "EXPECTED.json").read_text("utf-8"))[f"opencode/{name}"]
    document = document_at(SHARED / "opencode" / name)
    kinds = Counter(row[0] for row in field_values(document, "kind"))
    total = document.analysis.usage.total()
    reported = (total.input, total.output) if total is not None else (0, 0)
    assert reported == (expected["tokens"]["input"], expected["tokens"]["output"] + expected["tokens"]["reasoning"])
    assert (kinds["mcp/request"], kinds["mcp/response"]) == (
        expected["tool_calls"],
        expected["tool_states"]["completed"],
    )
    sessions = len({row[0] for row in field_values(document, "space")})
    assert document.capture.record_count == expected["messages"] + sessions


_MEMBERS = ("id", "state", "text", "time", "status", "metadata", "tokens", "cache", "error", "exit", "start", "url")
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "tool", "completed", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(_MEMBERS), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


@given(
    st.lists(_VALUES, max_size=3),
    st.sampled_from(("text", "tool", "reasoning", "file", "retry", "compaction", "x")),
    _VALUES,
)
def test_parts_of_any_shape_are_read(parts: list[Any], sort: str, value: Any) -> None:
    more = [{**one, "type": sort} if isinstance(one, dict) else one for one in parts]
    info = {"id": "m", "sessionID": "s", "role": "assistant", "error": value, "tokens": value, "time": value}
    document = document_of({"info": info, "parts": more})
    for name in ("kind", "text", "info", "usage.input", "answers"):
        field_values(document, name)
    assert document.unreadable == 0
