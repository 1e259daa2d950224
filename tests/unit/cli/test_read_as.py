"""`--read-as`: a log read as one format, whatever its lines look like."""

from __future__ import annotations

import json

from tests.samples import FORMAT_SAMPLES
from tests.unit.cli.test_commands import run


def summed_up(name: str, reading: str) -> tuple[str | None, int, int]:
    found = json.loads(run("summary", str(FORMAT_SAMPLES[name]), "--json", "--read-as", reading).stdout)
    return found["format"], found["records"], found["unreadable"]


def test_lines_of_other_formats_are_unreadable() -> None:
    mixed = FORMAT_SAMPLES["claude-code.jsonl"]
    done = run("summary", str(mixed), "--read-as", "gateway-log")
    assert done.exit_code == 2
    assert "is not read as gateway log" in done.stderr
    assert summed_up("json-rpc.jsonl", "envelopes") == ("envelopes", 5, 0)
    assert summed_up("claude-code.jsonl", "claude-code") == ("claude-code", 27, 0)
    assert summed_up("wrapped.jsonl", "wrapped")[0] == "wrapped"


def test_messages_are_read_again_as_they_were() -> None:
    done = run("list", str(FORMAT_SAMPLES["claude-code.jsonl"]), "--read-as", "claude-code", "-Y", '"rounds once"')
    assert "It rounds once, at the end." in done.stdout


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    done = run("summary", str(FORMAT_SAMPLES["wrapped.jsonl"]), "--read-as", "word")
    assert done.exit_code == 2
    assert "Formats: claude-code" in done.stderr
