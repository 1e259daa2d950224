"""`check` as a build server runs it: a process, its exit code, and what it prints."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.findings.check_table import CHECK_BY_CODE
from tests.builders import delivered, envelope, lines_of, received, tool_call
from tests.findings import CASES, at, decision, later

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

DATA = Path(__file__).parents[1] / "data"
AGENT = DATA / "recordings" / "mew" / "coding-agent" / "envelope-history.jsonl"
CLEAN = DATA / "recordings" / "mcp" / "py2-stdio-modern-listen.jsonl"


def run(*arguments: object, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the program as a command, without a display."""
    bare = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "QT_QPA_PLATFORM")}
    return subprocess.run(
        [sys.executable, "-m", "inspector", *map(str, arguments)],
        input=stdin, capture_output=True, timeout=240, check=False, env={**bare, **environment},
    )  # fmt: skip


def found(*arguments: object, stdin: bytes = b"") -> list[dict[str, Any]]:
    done = run("check", *arguments, "--json", stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def written(path: Path, *lines: Any) -> Path:
    path.write_bytes(lines_of(*lines))
    return path


def test_a_real_recording_for_people() -> None:
    done = run("check", AGENT)
    text = done.stdout.decode()
    assert done.returncode == 0
    assert re.findall(r"^\d+ (?:error|warning|note)s?$", text, re.MULTILINE) == ["2 warnings", "2 notes"]
    assert "    No. 22      mew sent tools/list to human and has had no answer for more than 15 s.\n" in text
    # What to do about an unanswered request names who asked and who was asked, so each has its own.
    assert len(re.findall(r"^ {16}-> ", text, re.MULTILINE)) == 2
    assert len(re.findall(r"^ {4}-> ", text, re.MULTILINE)) == 1


def test_what_to_do_names_nobody_where_it_is_said_for_all(tmp_path: Path) -> None:
    begun, ended = "2026-01-05T09:00:00.000Z", "2026-01-05T09:05:00.000Z"
    asked = [
        envelope("mcp/request", {"id": n, "method": "tools/list"}, sender=who, to=["files"], ts=begun)
        for n, who in enumerate(("anna", "bert"))
    ]
    text = run("check", written(tmp_path / "two.jsonl", *asked, envelope(ts=ended))).stdout.decode()
    assert "  request-unanswered (2)" in text
    hints = [line for line in text.splitlines() if line.lstrip().startswith("-> ")]
    assert not [hint for hint in hints if hint.startswith("    -> ") and ("anna" in hint or "bert" in hint)], text


def test_a_real_recording_for_scripts() -> None:
    findings = found(AGENT)
    assert [(one["code"], one["no"]) for one in findings] == [
        ("request-unanswered", 22), ("request-unanswered", 34),
        ("reasoning-without-context", 48), ("reasoning-without-context", 50),
    ]  # fmt: skip
    assert all(one.keys() == {"code", "severity", "no", "context", "text"} for one in findings)
    assert {one["severity"] for one in findings} == {"warning", "note"}


@pytest.mark.parametrize(
    ("file", "level", "code"),
    [
        (AGENT, None, 0), (AGENT, "error", 0), (AGENT, "warning", 1),
        (CLEAN, None, 0), (CLEAN, "warning", 0),
        (DATA / "dialects" / "mcpx-v0.1.jsonl", "error", 1),
    ],
    ids=["no level", "below the level", "at the level", "clean", "clean at a level", "error"],
)  # fmt: skip
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["people", "json"])
def test_exit_codes(file: Path, level: str | None, code: int, more: tuple[str, ...]) -> None:
    assert run("check", file, *(("--fail-on", level) if level else ()), *more).returncode == code


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere.jsonl",), "nowhere.jsonl cannot be read"),
        ((DATA / "README.md",), "cannot be read"),
        ((DATA / "recordings" / "README.md",), "is no log that can be read"),
        ((AGENT, "--fail-on", "note"), "note"),
        ((), "FILE"),
    ],
    ids=["no file", "no such file in a folder", "no log", "no such level", "nothing"],
)
def test_what_cannot_be_checked_ends_with_2(arguments: tuple[object, ...], says: str) -> None:
    done = run("check", *arguments)
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert done.stdout == b""


def test_nothing_found_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "clean.jsonl", envelope())
    assert run("check", path, "--fail-on", "warning").stdout.decode() == f"{path}: no findings.\n"
    assert found(path) == []


def test_standard_input_and_archives_give_the_same(tmp_path: Path) -> None:
    data = AGENT.read_bytes()
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(data))
    assert found("-", stdin=data) == found(packed) == found(AGENT)


def test_every_check_is_found_by_the_command(tmp_path: Path) -> None:
    """One log of every check's capture; each code is reported, most severe first, and nothing is said twice."""
    unlike = {"capture-gap", "joined-twice"}  # of captures, which do not mix with logs; nor do documents of sessions
    unlike |= {code for code in CASES if code.startswith(("msp-", "mcp-"))}  # each of MCP is a conversation of its own
    lines: list[Any] = []
    for number, case in enumerate(case for code, case in CASES.items() if code not in unlike):
        lines += [_in_space(line, f"s{number}") for line in case.wrong]
    findings = found(written(tmp_path / "all.jsonl", *lines, received(later(4_000), space_id="last")))
    codes = {one["code"] for one in findings}
    assert not codes - CHECK_BY_CODE.keys()
    # What is told once for each sender or kind, or needs lines side by side, is told for the first of them only.
    assert len(CHECK_BY_CODE.keys() - unlike - codes) <= 20
    ranks = [("error", "warning", "note").index(one["severity"]) for one in findings]
    assert ranks == sorted(ranks)
    assert len({(one["code"], one["no"]) for one in findings}) == len(findings)


def _in_space(line: Any, space: str) -> Any:
    """An envelope as a gateway's log has it, in a space of its own; other lines as they are."""
    return received(line, space_id=space) if isinstance(line, dict) and "protocol" in line else line


def test_a_verdict_beside_the_log_counts(tmp_path: Path) -> None:
    call = tool_call("delete_file", id="m1", sender="coder", ts=at(0))
    log = written(tmp_path / "envelope-history.jsonl", received(call), delivered(call, "files"))
    held = {"kind": "mcp/request", "payload": {"params": {"name": "!delete_*"}}}
    written(tmp_path / "capability-decisions.jsonl", decision("allowed", held, matched_capability=held))
    assert [(one["code"], one["severity"], one["no"]) for one in found(log)] == [
        ("allowed-without-capability", "warning", 1)
    ]
    assert run("check", log, "--fail-on", "warning").returncode == 1


def test_secrets_and_controls_are_not_printed(tmp_path: Path) -> None:
    path = written(
        tmp_path / "odd.jsonl", envelope(correlation_id=["token=s3cr3t-value"]), envelope("shop/\x1b[2Jorder\u202e")
    )
    for more in ((), ("--json",)):
        shown = run("check", path, *more).stdout
        assert b"s3cr3t" not in shown
        assert b"\x1b" not in shown
        assert "\u202e".encode() not in shown


def test_it_needs_no_qt() -> None:
    script = (
        "import sys; sys.modules['PySide6'] = None\n"
        f"sys.argv = ['context-inspector', 'check', {str(CLEAN)!r}]\n"
        "from inspector.startup.program import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
