"""Chats in databases of Cursor, old and new; thoughts of its agent's output that arrive in pieces."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspector.formats.cursor_agent.conversion import CONVERSION
from inspector.formats.cursor_chat.sessions import SESSIONS
from inspector.formats.file_conversion import GrowingConversion
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.sources.agent_sessions.files import Listing
from tests.builders import document_at
from tests.unit.formats.conformance import FORMATS_FOLDER, figures

TEAPOTS = FORMATS_FOLDER / "cursor_chat" / "samples" / "teapots.jsonl"
CHAT = "f0000000-0000-4000-8000-000000000001"


def database(path: Path, disk: dict[str, Any], items: dict[str, Any] | None = None) -> Path:
    """Writes a database as Cursor does."""
    with closing(sqlite3.connect(path)) as connection:
        for table, rows in (("ItemTable", items or {}), ("cursorDiskKV", disk)):
            connection.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
            told = [(key, None if value is None else json.dumps(value)) for key, value in rows.items()]
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", told)
        connection.commit()
    return path


def sample_database(path: Path, **more: Any) -> Path:
    """Writes a database with the sample's chat, others without messages, and a message without its chat.

    Args:
        path: the database.
        more: further members of the sample's chat.
    """
    chat, *messages = [json.loads(line) for line in TEAPOTS.read_text().splitlines()]
    bubbles = [one["bubble"] for one in messages]
    headers = [{"bubbleId": one["bubbleId"], "type": one["type"]} for one in bubbles]
    # The order of rows is not that of the chat.
    disk = {f"bubbleId:{CHAT}:{one['bubbleId']}": one for one in reversed(bubbles)}
    disk |= {f"composerData:{CHAT}": {**chat["composer"], "fullConversationHeadersOnly": headers, **more}}
    disk |= {"composerData:empty": {"fullConversationHeadersOnly": []}, "composerData:gone": None}
    disk |= {"bubbleId:orphan:o1": {"type": 1, "text": "Hello?"}, "checkpointId:x:y": {"files": []}}
    path.parent.mkdir(parents=True, exist_ok=True)
    return database(path, disk)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return sample_database(tmp_path / "globalStorage" / "state.vscdb")


def test_a_chat_in_a_database_has_the_figures_of_its_lines(store: Path) -> None:
    assert figures(store / CHAT) == figures(TEAPOTS)
    assert figures(store)["records"] == figures(TEAPOTS)["records"] + 2


def test_sessions_are_listed_with_title_and_place(store: Path) -> None:
    found = list(SESSIONS.candidates(store.parent, Listing()))
    assert [(one.name, one.path, one.messages) for one in found] == [("Teapots", store / CHAT, 9)]


def test_chats_of_older_versions_are_read(tmp_path: Path) -> None:
    composers = [{"composerId": "c1", "createdAt": 1731784818255, "conversation": [
        {"type": 1, "bubbleId": "a", "text": "Pour."}, {"type": 2, "bubbleId": "b", "text": "Done."},
    ]}]  # fmt: skip
    tabs = [{"tabId": "t1", "chatTitle": "Lids", "bubbles": [
        {"type": "user", "id": "u", "text": "Which lid?"},
        {"type": "ai", "id": "v", "text": "The red one.", "modelType": "model-y"},
    ]}]  # fmt: skip
    items = {"composer.composerData": {"allComposers": composers},
             "workbench.panel.aichat.view.aichat.chatdata": {"tabs": tabs}}  # fmt: skip
    found = figures(database(tmp_path / "state.vscdb", {}, items))
    assert (found["kinds"]["chat"], found["models"], found["unreadable"]) == (4, {"model-y": 1}, 0)


def test_a_database_of_another_editor_is_refused(tmp_path: Path) -> None:
    with pytest.raises((UnknownFormatError, OSError)):
        document_at(database(tmp_path / "state.vscdb", {}, {"history.entries": []}))


@pytest.mark.parametrize("value", [None, [], "text", 7, {"conversation": 3, "fullConversationHeadersOnly": {}}])
def test_values_of_any_type_leave_the_others_readable(tmp_path: Path, value: Any) -> None:
    disk = {"composerData:c": value, "bubbleId:c:b": value, "bubbleId:c:d": {"type": 1, "text": "Hello?"}}
    disk |= {"composerData:x": {"name": "x"}}
    assert figures(database(tmp_path / "state.vscdb", disk))["kinds"]["chat"] == 1


def _output(*texts: str) -> bytes:
    lines = [{"type": "system", "subtype": "init", "session_id": "s", "cwd": "/", "model": "m"}]
    lines += [{"type": "thinking", "subtype": "delta", "text": one, "session_id": "s"} for one in texts]
    lines += [{"type": "thinking", "subtype": "completed", "session_id": "s"}]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_pieces_of_a_thought_are_one_row(tmp_path: Path) -> None:
    (tmp_path / "output.jsonl").write_bytes(_output("The ", "list ", "is here."))
    document = document_at(tmp_path / "output.jsonl")
    texts = [document.capture.records.payload(row).get("text") for row in range(len(document.capture))]
    assert texts[1:2] == ["The list is here."]
    assert len(texts) == 3


def test_pieces_join_in_streams_and_growing_files(tmp_path: Path) -> None:
    data, path = _output("The ", "list."), tmp_path / "output.jsonl"
    assert CONVERSION.convert_stream is not None
    streamed = b"".join(CONVERSION.convert_stream([data[:100], data[100:]]))
    path.write_bytes(data)
    conversion = CONVERSION.convert(path)
    assert b"".join(conversion.lines()) == streamed
    assert b'"The list."' in streamed
    assert isinstance(conversion, GrowingConversion)
    more = data.split(b"\n", 1)[1]
    assert b'"The list."' in conversion.convert_more(more) + conversion.finish()
