"""Count tables of the command line: a name that reads like a secret's key takes no count away, nor shows its secret."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from inspector.cli import app
from inspector.present.answers import masked_table
from tests.builders import envelope, lines_of, log_file, tool_call, tool_result

SECRET = "Zq7secretvalue"


def traffic() -> Path:
    call = tool_call("get/password", ts="2026-01-05T09:00:00.000Z")
    return log_file(
        lines_of(
            envelope("auth/token"), envelope("auth/token"), envelope(f"shop/token={SECRET}"),
            envelope(f"shop/token={SECRET}2"), call, tool_result(call, ts="2026-01-05T09:00:00.050Z"),
        )
    )  # fmt: skip


def printed(*arguments: str | Path) -> object:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    assert SECRET not in done.output
    return json.loads(done.output)


def test_a_kind_called_token_is_counted_in_the_summary() -> None:
    found = printed("summary", traffic(), "--json")
    assert isinstance(found, dict)
    assert found["kinds"]["auth/token"] == 2
    assert sorted(count for kind, count in found["kinds"].items() if "•" in kind) == [1, 1]
    assert found["latency"]["tools"]["get/password"]["count"] == 1


def test_a_kind_called_token_is_counted_for_its_sender() -> None:
    found = printed("participants", traffic(), "--json")
    assert isinstance(found, list)
    lead = next(one for one in found if one["name"] == "lead")
    assert lead["kinds"]["auth/token"] == 2
    assert sum(lead["kinds"].values()) == lead["messages"] == 5


def test_names_that_masking_makes_the_same_are_numbered() -> None:
    assert masked_table({"token=abcd": 1, "token=efgh": 2, "chat": 3}) == {
        "token=••••••••": 1, "token=•••••••• (2)": 2, "chat": 3,
    }  # fmt: skip
