"""What SQL may ask, what it is told, and that it reaches nothing but the tables."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.tables import TABLES, Database, QueryError
from tests.builders import delivered, document_at, document_of, envelope, received, tool_call, tool_result
from tests.pages import ROOT
from tests.samples import FORMAT_SAMPLES

_DATA = ROOT / "tests/data"


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    made = Database()
    yield made
    made.close()


@pytest.fixture(scope="module")
def filled() -> Iterator[Database]:
    """Loaded with one document after the other: making one is most of what a query takes."""
    made = Database()
    yield made
    made.close()


def asked(database: Database, document: CaptureDocument, sql: str) -> list[tuple[object, ...]]:
    database.load(document, database.plan_inputs(sql))
    return list(database.run_query(sql))


def _answered(database: Database, sql: str) -> list[tuple[object, ...]]:
    database.plan_inputs(sql)
    return list(database.run_query(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{path}')",
        "SELECT * FROM read_text('{path}')",
        "SELECT * FROM read_blob('{path}')",
        "SELECT * FROM read_json('{path}')",
        "SELECT * FROM read_parquet('{path}')",
        "SELECT * FROM '{path}'",
        "SELECT * FROM sniff_csv('{path}')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM query('SELECT * FROM read_text(''{path}'')')",
        "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_text(''{path}'')'))",
        "SELECT * FROM read_csv('https://127.0.0.1:1/x')",
        "SELECT * FROM read_parquet('s3://bucket/x')",
        "SELECT * FROM duckdb_secrets()",
        "SELECT * FROM which_secret('s3://x', 's3')",
        "SELECT getenv('HOME')",
        "SELECT * FROM path",
        "SELECT * FROM _DATA",
        "COPY messages TO '{path}'",
        "COPY (SELECT 1) TO '{path}.new'",
        "EXPORT DATABASE '{path}.folder'",
        "IMPORT DATABASE '{path}.folder'",
        "ATTACH '{path}.db'",
        "DETACH memory",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '1TB'",
        "RESET enable_external_access",
        "PRAGMA enable_profiling",
        "CALL enable_logging()",
        "CREATE TABLE x AS SELECT 1",
        "CREATE SECRET s (TYPE s3)",
        "CREATE MACRO f() AS 1",
        "DROP VIEW messages",
        "INSERT INTO messages SELECT * FROM messages",
        "UPDATE messages SET no = 1",
        "DELETE FROM messages",
        "PIVOT messages ON kind",
        "CHECKPOINT",
        "USE memory",
        "PREPARE x AS SELECT 1",
        "SELECT 1; DROP VIEW messages",
        "EXPLAIN ANALYZE SELECT 1",
        "",
        "-- nothing",
        "SELECT '\ud800'",
    ],
)
def test_what_reaches_further_is_refused(database: Database, tmp_path: Path, sql: str) -> None:
    path = tmp_path / "secret.csv"
    path.write_text("never,seen\n1,2\n")
    with pytest.raises(QueryError) as caught:
        _answered(database, sql.format(path=path))
    assert "never" not in caught.value.sentence
    assert [one.name for one in tmp_path.iterdir()] == ["secret.csv"]


@pytest.mark.parametrize(
    ("sql", "wrong", "says"),
    [
        ("SELECT nix FROM messages", "nix", "not found"),
        ("SELECT no\nFROM mesages", "mesages", 'Did you mean "messages"?'),
        ("SELEC 1", "SELEC", "syntax error"),
        ("SELECT no FROM messages WHERE kind LIKE 'x' AND", "", "syntax error"),
        (f"SELECT no, '{'ä' * 200}', nix FROM messages", "nix", "not found"),
        ("DROP VIEW messages", "D", "Only SELECT"),
        ("SELECT 'x", "'", "unterminated"),
    ],
)
def test_what_is_wrong_has_a_place(database: Database, sql: str, wrong: str, says: str) -> None:
    with pytest.raises(QueryError) as caught:
        database.plan_inputs(sql)
    error = caught.value
    assert says in error.sentence
    assert error.position is not None
    assert sql[error.position :].startswith(wrong)
    assert 0 <= error.position <= len(sql)


def test_only_what_is_asked_for_is_read(database: Database) -> None:
    needed = database.plan_inputs("SELECT kind, count(*) FROM messages WHERE size > 3 GROUP BY kind")
    assert needed.columns == {"messages": frozenset({"kind", "size"})}
    assert not needed.checked
    assert not needed.counted
    assert database.plan_inputs("SELECT count(*) FROM findings").checked
    assert database.plan_inputs("SELECT sum(tokens) FROM messages").counted
    assert database.plan_inputs("SELECT count(*) FROM query('FROM findings')").checked


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT coalesce(kind, 'x'), count(*) FROM messages GROUP BY 1", {"kind"}),
        ("SELECT count(*) FROM messages WHERE context IS NULL", {"context"}),
        ('SELECT count(*) FROM messages WHERE kind IS NOT NULL AND "to" IS NULL', {"kind", "to"}),
        ("SELECT count(*) FROM messages WHERE coalesce(latency, 0) > 5 OR error IS NULL", {"latency", "error"}),
        ("SELECT count(*) FILTER (time IS NULL), max(ifnull(size, 1)) FROM messages", {"time", "size"}),
        ("SELECT CASE WHEN finding_severity IS NULL THEN 1 END FROM messages", {"finding_severity"}),
    ],
)
def test_what_a_plan_could_take_for_a_constant_is_read(filled: Database, sql: str, columns: set[str]) -> None:
    assert filled.plan_inputs(sql).columns == {"messages": columns}
    document = document_of(envelope(context="c"), envelope("mcp/request", to=["a"]), envelope())
    assert asked(filled, document, sql) == _whole(filled, document, sql)


def _whole(database: Database, document: CaptureDocument, sql: str) -> list[tuple[object, ...]]:
    """The answer where every column of messages was taken in."""
    database.load(document, database.plan_inputs("SELECT * FROM messages"))
    return list(database.run_query(sql))


def test_every_column_of_every_table_can_be_asked_for(filled: Database) -> None:
    document = document_at(FORMAT_SAMPLES["mew-v0.4.jsonl"])
    for table in TABLES:
        sql = f"SELECT * FROM {table.name}"
        filled.load(document, filled.plan_inputs(sql))
        result = filled.run_query(sql)
        assert result.names == tuple(column.name for column in table.columns)
        list(result)


def test_a_call_is_joined_with_its_answer(filled: Database) -> None:
    call = tool_call("grep", arguments={"path": "a.py"})
    document = document_of(call, tool_result(call, "x"), tool_call("grep"))
    sql = (
        "SELECT no, tool, answered, state, arguments->>'path', result->>'$.content[0].text' FROM tool_calls ORDER BY no"
    )
    assert asked(filled, document, sql) == [
        (1, "grep", 2, "answered", "a.py", "x"),
        (3, "grep", None, "waiting", None, None),
    ]


def test_deliveries_are_rows(filled: Database) -> None:
    said = envelope(to=["a", "b"])
    document = document_of(received(said), delivered(said, "a"), delivered(said, "b"))
    assert asked(filled, document, "SELECT no, participant, event FROM deliveries") == [
        (1, "a", "delivered"), (1, "b", "delivered"),
    ]  # fmt: skip


def test_secrets_are_masked_before_sql_sees_them(filled: Database) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    document = document_of(envelope(payload={"text": f"use {token}", "password": "hunter22"}, context=f"r/{token}"))
    for sql in (
        "SELECT text, info, context, payload(no) FROM messages",
        "SELECT payload(no)->>'password' FROM messages",
        f"SELECT count(*) FROM messages WHERE text LIKE '%{token}%'",
        "SELECT path, label FROM contexts",
    ):
        rows = str(asked(filled, document, sql))
        assert token not in rows
        assert "hunter22" not in rows
    assert asked(filled, document, f"SELECT no FROM messages WHERE text LIKE '%{token}%'") == []


def _chats() -> CaptureDocument:
    lines = [
        envelope("chat", {"text": f"text {n % 7}"}, id=f"id-{n}", ts=f"2026-01-05T09:{59 - n}:00Z") for n in range(40)
    ]
    call = tool_call("grep", arguments={"path": "a.py"})
    return document_of(*lines, call, tool_result(call, "x"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM messages ORDER BY time LIMIT 3",
        "SELECT text, no FROM messages WHERE kind = 'chat' ORDER BY ts LIMIT 3",
        "SELECT m.text AS t, m.*, no + 1 FROM messages m ORDER BY 3 DESC LIMIT 3 OFFSET 1",
        "FROM tool_calls ORDER BY latency LIMIT 3",
        "SELECT text, text AS again, upper(kind), row_number() OVER (ORDER BY time) FROM messages ORDER BY no LIMIT 3",
    ],
)
def test_what_is_decoded_comes_last(sql: str) -> None:
    document, rows = _chats(), 0

    def read(work: Callable[[], Any]) -> Any:
        nonlocal rows
        found = work()
        rows += len(found[0])
        return found

    database = Database(read=read)
    database.load(document, database.plan_inputs(sql))
    result = database.run_query(sql)
    found, late = list(result), rows
    assert late == len(found)
    within = database.run_query(f"SELECT * FROM ({sql})")
    assert (result.names, result.types) == (within.names, within.types)
    assert sorted(map(repr, found)) == sorted(map(repr, within))
    database.close()


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT text FROM messages ORDER BY text DESC, no LIMIT 2", [("x",), ("text 6",)]),
        ("SELECT text AS t FROM messages WHERE kind = 'chat' ORDER BY t LIMIT 1", [("text 0",)]),
        ("SELECT no, text FROM messages ORDER BY 2 DESC, 1 LIMIT 1", [(42, "x")]),
        ("SELECT text FROM messages WHERE text = 'text 3' AND no > 20", [("text 3",), ("text 3",), ("text 3",)]),
        ("SELECT DISTINCT text FROM messages WHERE kind = 'chat' AND no < 3 ORDER BY 1", [("text 0",), ("text 1",)]),
        ("SELECT text, count(*) FROM messages WHERE no < 9 GROUP BY text ORDER BY 2 DESC, 1 LIMIT 1", [("text 0", 2)]),
        ("SELECT text FROM messages WHERE no IN (SELECT min(no) FROM messages)", [("text 0",)]),
        ("SELECT a.text FROM messages a JOIN messages b ON a.no = b.no - 1 WHERE a.no = 2", [("text 1",)]),
        ("SELECT any_value(text) FROM messages WHERE no = 4", [("text 3",)]),
        ("SELECT messages.text FROM messages WHERE messages.no = 4", [("text 3",)]),
        ('SELECT "Text" FROM Messages WHERE no = 4', [("text 3",)]),
        ("SELECT (messages).text FROM messages WHERE no = 4", [("text 3",)]),
        ("SELECT text FROM messages WHERE no = 4 UNION ALL SELECT text FROM messages WHERE no = 5",
         [("text 3",), ("text 4",)]),
        ("SELECT * EXCLUDE (text) FROM (SELECT no, text, id FROM messages) WHERE no = 4", [(4, "id-3")]),
        ("SELECT COLUMNS('^text$') FROM messages ORDER BY no LIMIT 1", [("text 0",)]),
        ("SELECT text FROM messages ORDER BY ALL LIMIT 1", [("path=a.py",)]),
        ("SELECT t.a FROM messages AS t(a, b) WHERE a = 4", [(4,)]),
        ("SELECT payload(no)->>'text' FROM messages ORDER BY no LIMIT 1", [("text 0",)]),
        ("SELECT unnest([1, 2]), text FROM messages WHERE no = 1", [(1, "text 0"), (2, "text 0")]),
    ],
)  # fmt: skip
def test_what_is_decoded_and_compared_is_what_it_says(
    filled: Database, sql: str, rows: list[tuple[object, ...]]
) -> None:
    assert asked(filled, _chats(), sql) == rows


def test_a_query_can_be_ended_from_another_thread() -> None:
    database = Database()
    document = document_of(envelope())
    sql = "SELECT count(*) FROM messages, range(1000000) a, range(1000000) b"
    database.load(document, database.plan_inputs(sql))
    timer = threading.Timer(0.05, database.interrupt)
    timer.start()
    with pytest.raises(QueryError, match=r"[Ii]nterrupt"):
        list(database.run_query(sql))
    timer.join()
    database.close()


def test_a_document_that_holds_nothing_has_empty_tables(filled: Database) -> None:
    document = CaptureDocument()
    for table in TABLES:
        assert asked(filled, document, f"SELECT * FROM {table.name}") == []
