"""`query`: SQL over logs on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.builders import envelope, lines_of, log_file, tool_call, tool_result
from tests.commands import asked, printed


def traffic() -> Path:
    call = tool_call("grep")
    return log_file(lines_of(envelope(payload={"text": "a,b"}), call, tool_result(call)), "traffic.jsonl")


def test_a_table_of_what_was_asked() -> None:
    assert printed("query", traffic(), 'SELECT no, "from", kind FROM messages WHERE no < 3') == (
        "no  from  kind\n1   lead  chat\n2   lead  mcp/request\n"
    )


def test_several_logs_are_told_apart_by_their_source() -> None:
    one, other = traffic(), log_file(lines_of(envelope()), "other.jsonl")
    found = json.loads(
        printed(
            "query", one, other, "SELECT source, count(*) AS n FROM messages GROUP BY 1 ORDER BY 1", "--format", "json"
        )
    )
    assert found == [{"source": "other.jsonl", "n": 1}, {"source": "traffic.jsonl", "n": 3}]


def test_csv_has_a_head_and_plain_cells() -> None:
    text = printed("query", traffic(), 'SELECT no, text, "to" FROM messages ORDER BY no', "--format", "csv")
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[:3] == [["no", "text", "to"], ["1", "a,b", ""], ["2", rows[2][1], "files"]]
    acting = printed(
        "query", traffic(), "SELECT '=1+1' AS a, ['-x'] AS b, -1 AS c FROM messages LIMIT 1", "--format", "csv"
    )
    assert [*csv.reader(io.StringIO(acting))] == [["a", "b", "c"], ["'=1+1", "'-x", "-1"]]


def test_json_has_times_lists_and_json_as_such() -> None:
    sql = 'SELECT time, "to", payload(no) AS payload, no, no FROM messages WHERE no = 2'
    (found,) = json.loads(printed("query", traffic(), sql, "--format", "json"))
    assert found["to"] == ["files"]
    assert found["payload"]["params"]["name"] == "grep"
    assert found["time"].endswith("Z")
    assert (found["no"], found["no_1"]) == (2, 2)


def test_parquet_goes_to_a_file_or_on() -> None:
    import duckdb

    log = traffic()
    target = log.with_name("calls.parquet")
    printed("query", log, "SELECT no, tool, time FROM tool_calls;", "--format", "parquet", "-o", target)
    read = duckdb.execute(f"SELECT no, tool, typeof(time) FROM '{target}'").fetchall()
    assert read == [(2, "grep", "TIMESTAMP WITH TIME ZONE")]
    sent = asked("query", log, "SELECT no FROM tool_calls", "--format", "parquet")
    assert sent.stdout_bytes[:4] == b"PAR1"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("SELECT nix FROM messages",), "nix FROM messages\n         ^^^\n"),
        (("SELECT 1", "-o", "x"), "-o requires --format parquet"),
        (("DROP VIEW messages",), "Only SELECT is allowed"),
        (("SELECT 1", "--format", "parquet", "-o", "/nowhere/x.parquet"), "/nowhere/x.parquet cannot be written: "),
    ],
)
def test_what_is_wrong_ends_with_two(words: tuple[str, ...], says: str) -> None:
    found = asked("query", traffic(), *words)
    assert found.exit_code == 2
    assert says in found.stderr


def test_wrong_sql_is_said_before_a_log_is_looked_for() -> None:
    found = asked("query", "nowhere.jsonl", "SELECT nix FROM messages")
    assert "nix" in found.stderr
    assert "nowhere" not in found.stderr


def test_the_log_itself_is_never_written() -> None:
    log = traffic()
    before = log.read_bytes()
    found = asked("query", log, "SELECT 1", "--format", "parquet", "-o", log)
    assert found.exit_code == 2
    assert log.read_bytes() == before
