"""Tasks of Cline: commands as they ran."""

from __future__ import annotations

import json

from tests.commands import printed
from tests.samples import FORMAT_SAMPLES


def test_a_command_is_shown_without_the_mark_of_its_approval() -> None:
    rows = printed("list", FORMAT_SAMPLES["cline-window.json"], "-Y", "tool", "-e", "kind,info", "--format", "jsonl")
    told = [row["info"] for row in map(json.loads, rows.splitlines()) if row["kind"] == "mcp/request"]
    assert "execute_command cat attic.txt" in told
