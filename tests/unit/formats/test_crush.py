"""Databases of Crush: as a whole, one session, and beside databases of others."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector.formats.file_conversion import NotConvertedError
from inspector.sources.conversion_table import store_at
from tests.unit.formats.conformance import FORMATS_FOLDER, figures

SAMPLE = FORMATS_FOLDER / "crush" / "samples" / "crush.jsonl"
_SESSION = ("id", "parent_session_id", "title", "message_count", "prompt_tokens", "completion_tokens", "cost",
            "updated_at", "created_at")  # fmt: skip
_MESSAGE = ("id", "session_id", "role", "parts", "model", "created_at", "is_summary_message")


def insert(made: sqlite3.Connection, table: str, row: list[object]) -> None:
    made.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def database(path: Path) -> Path:
    """Writes the sessions of the sample as a database."""
    with closing(sqlite3.connect(path)) as made:
        made.execute(f"CREATE TABLE sessions ({', '.join(_SESSION)})")
        made.execute(f"CREATE TABLE messages ({', '.join(_MESSAGE)})")
        for line in map(json.loads, SAMPLE.read_text().splitlines()):
            if row := line.get("session"):
                made.execute(
                    f"INSERT INTO sessions VALUES ({', '.join('?' * len(_SESSION))})", [*map(row.get, _SESSION)]
                )
                continue
            row = {**line["message"], "session_id": line.get("agent") or line["crushSession"]}
            row["parts"] = json.dumps(row["parts"])
            insert(made, "messages", [row.get(name) for name in _MESSAGE])
        root = "8e538d43-0000-4000-8000-000000000001"
        insert(made, "sessions", [f"title-{root}", root, "Generate a title", 0, 0, 0, 0, 1, 1])
        made.commit()
    return path


def test_a_database_has_the_figures_of_its_lines(tmp_path: Path) -> None:
    path = database(tmp_path / "crush.db")
    expected = figures(SAMPLE)
    assert figures(path) == expected
    assert figures(path / "8e538d43-0000-4000-8000-000000000001") == expected
    assert store_at(tmp_path) is not None


def test_a_session_that_is_not_there_is_named(tmp_path: Path) -> None:
    store = store_at(database(tmp_path / "crush.db") / "other")
    assert store is not None
    with pytest.raises(NotConvertedError, match="it has no session other"):
        list(store.conversion().lines())
