"""`merged-context`: what a sub-session would send, for people and scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from inspector.cli.commands import app
from tests.merged import at, said, snapshot

POLICY = {"include_sub_context": True, "include_snapshots": True, "recent_parent_messages": 2}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder: a session in one file, two sub-sessions in another."""
    session: dict[str, Any] = {
        "session_id": "m1", "created_at": at(0),
        "sub_context": {"intent": "weekly report", "constraints": ["password: hunter2secret"]},
        "summary_snapshots": [snapshot("sum", [0, 2])], "subsessions": ["s1", "s2"],
        "messages": [
            said("g", "global", 1), said("a", None, 2), said("b", None, 3), said("k", "main_only", 4),
            said("c", None, 5, content="odd \u202e\x1b[31m text"),
        ],
    }  # fmt: skip
    inner = [
        {"subsession_id": "s1", "parent_session_id": "m1", "label": "units", "status": "open", "created_at": at(9),
         "context_policy": POLICY, "messages": [said("q", "subsession_only", 10)]},
        {"subsession_id": "s2", "parent_session_id": "s1", "label": "nested", "status": "closed", "closed_at": at(30),
         "messages": []},
    ]  # fmt: skip
    (tmp_path / "session.json").write_text(json.dumps(session), "utf-8")
    (tmp_path / "inner.jsonl").write_text("\n".join(map(json.dumps, inner)), "utf-8")
    return tmp_path


def said_of(*arguments: str, stdin: str | None = None) -> str:
    result = CliRunner().invoke(app, ["merged-context", *arguments], input=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout


def answered(*arguments: str, stdin: str | None = None) -> dict[str, Any]:
    return json.loads(said_of(*arguments, "--json", stdin=stdin))


def recent(*arguments: str) -> list[str]:
    return [entry["id"] for entry in answered(*arguments)["layers"][2]["entries"]]


def test_json_has_the_four_layers_and_their_sums(desk: Path) -> None:
    found = answered(str(desk), "--subsession", "s1")
    assert list(found) == ["subsession", "layers", "withheld", "tokens"]
    assert [layer["name"] for layer in found["layers"]] == ["sub_context", "snapshots", "recent", "own"]
    assert [list(layer) for layer in found["layers"]] == [["name", "included", "tokens", "entries"]] * 4
    assert found["tokens"] == sum(layer["tokens"] for layer in found["layers"] if layer["included"]) > 0
    assert [entry["id"] for entry in found["layers"][2]["entries"]] == ["g", "b", "c"]
    assert found["withheld"] == [{"id": "k", "reason": "main_only: visible only in the parent."}]


def test_secrets_are_masked_and_nothing_acts_on_a_terminal(desk: Path) -> None:
    for form in ([], ["--json"], ["--messages"]):
        text = said_of(str(desk), "--subsession", "s1", *form)
        assert "hunter2secret" not in text
        assert "••••••••" in text
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert "\\u202e" in text


def test_for_people_layers_entries_withheld_and_notes(desk: Path) -> None:
    lines = said_of(str(desk), "-s", "s1").splitlines()
    assert lines[0].startswith("s1 (units): ")
    assert lines[0].endswith(" tokens in 6 messages. Estimate (cl100k_base).")
    heads = [line for line in lines if line[:1].isdigit()]
    assert [line.split(":")[0] for line in heads] == [
        "1  Sub-context", "2  Summary snapshots", "3  Recent parent messages", "4  Own messages",
    ]  # fmt: skip
    assert heads[2].endswith("; 2 of 2, 1 withheld as main_only, 1 older and global. The policy asks for 2.")
    numbered = [line.split()[:2] for line in lines if line.startswith("    ") and line.split()[0].isdigit()]
    assert numbered[1:] == [["2", "sum"], ["3", "g"], ["4", "b"], ["5", "c"], ["6", "q"]]
    assert "Not sent: 1 withheld, 1 merely older" in lines
    assert "   2 of 2 (1 withheld as main_only)." in lines


def test_messages_are_ready_to_send(desk: Path) -> None:
    messages = json.loads(said_of(str(desk), "-s", "s1", "--messages"))
    assert [message["role"] for message in messages] == ["system", "system", "user", "user", "user", "user"]
    assert all(list(message) == ["role", "content"] for message in messages)


def test_options_change_how_the_protocol_is_read(desk: Path) -> None:
    one = (str(desk), "--subsession", "s1")
    assert recent(*one, "--include-main-only") == ["g", "k", "c"]
    assert recent(*one, "--count-withheld") == ["g", "c"]
    assert recent(*one, "--no-older-globals") == ["b", "c"]
    assert recent(*one, "--leave-out-covered") == ["b", "c"]
    assert recent(*one, "--leave-out-covered", "--inclusive") == ["c"]
    assert recent(*one, "--before-opening") == ["g", "b", "c"]
    assert recent(str(desk), "--subsession", "s2") == ["g", "q"]
    assert recent(str(desk), "--subsession", "s2", "--no-ancestor-globals") == ["q"]
    assert recent(str(desk), "--subsession", "s2", "--recent-from-root", "--missing-recent", "1") == ["g", "c"]


def test_several_files_and_standard_input(desk: Path) -> None:
    session, inner = str(desk / "session.json"), desk / "inner.jsonl"
    assert recent(session, str(inner), "--subsession", "s1") == ["g", "b", "c"]
    found = answered(session, "-", "--subsession", "s1", stdin=inner.read_text("utf-8"))
    assert found["layers"][3]["entries"][0]["id"] == "q"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-s", "s9"], "There is no session or sub-session s9. The document has: m1, s1 (units), s2 (nested)."),
        ([], "Name a context with --subsession ID. The document has: s1 (units), s2 (nested), m1."),
    ],
)
def test_an_unknown_sub_session(desk: Path, arguments: list[str], sentence: str) -> None:
    result = CliRunner().invoke(app, ["merged-context", str(desk), *arguments])
    assert (result.exit_code, result.stderr.strip()) == (2, sentence)


def test_what_is_no_msp_document(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"protocol":"mew/v0.4","id":"1","from":"a","kind":"chat","payload":{"text":"hi"}}\n', "utf-8")
    result = CliRunner().invoke(app, ["merged-context", str(log), "-s", "s1"])
    assert (result.exit_code, result.stderr.strip()) == (2, "log.jsonl contains no session or sub-session.")
    cut = tmp_path / "cut.json"
    cut.write_text('{"session_id": "m1",\n "messages": [')
    merged = ["merged-context", str(cut), "-s", "s1"]
    for arguments in (merged, ["merged-context", "-", "-s", "s1"], ["check", str(cut)]):
        result = CliRunner().invoke(app, arguments, input=cut.read_text())
        assert result.exit_code == 2
        assert "is not JSON: Expecting value in line 2, column 15." in result.stderr
    result = CliRunner().invoke(app, ["merged-context", str(tmp_path / "gone.json"), "-s", "s1"])
    assert result.exit_code == 2
    assert "gone.json cannot be read: No such file or directory." in result.stderr


def test_sub_sessions_that_lie_in_each_other_are_answered_for(tmp_path: Path) -> None:
    circle = [
        {"subsession_id": "a", "parent_session_id": "b", "messages": [said("x", "global")]},
        {"subsession_id": "b", "parent_session_id": "a", "messages": [said("y", "global")]},
        {"subsession_id": "c", "parent_session_id": "c", "messages": [said("z", "global")]},
    ]
    path = tmp_path / "circle.jsonl"
    path.write_text("\n".join(map(json.dumps, circle)), "utf-8")
    for name, own in (("a", "x"), ("b", "y"), ("c", "z")):
        layers = answered(str(path), "-s", name, "--recent-from-root")["layers"]
        assert [entry["id"] for entry in layers[3]["entries"]] == [own]


@pytest.mark.real
def test_the_command_needs_no_window(desk: Path) -> None:
    code = (
        "import sys; sys.modules['PySide6'] = None\n"
        "from inspector.cli.commands import app\n"
        f"app(['merged-context', {str(desk)!r}, '-s', 's1', '--json'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_of_a_session_it_is_what_its_own_chat_sends(desk: Path) -> None:
    found = answered(str(desk), "-s", "m1")
    assert list(found) == ["session", "layers", "withheld", "tokens"]
    assert [entry["id"] for entry in found["layers"][3]["entries"]] == ["g", "a", "b", "k", "c"]
    assert found["layers"][2] == {"name": "recent", "included": False, "tokens": 0, "entries": []}
    assert "hunter2secret" not in json.dumps(found)
    text = said_of(str(desk), "-s", "m1")
    assert text.startswith("m1: ")
    assert "The chat has no parent." in text
    assert "Message of the chat." in text


@pytest.mark.parametrize("form", ["--messages", "--json"])
def test_a_system_message_that_is_not_sent_is_said(tmp_path: Path, form: str) -> None:
    chat = [{"id": f"m{n}", "role": "user", "content": "x", "timestamp": f"2026-03-21T18:{n:02}:00Z"} for n in range(9)]
    chat[0] |= {"role": "system", "content": "You are a tutor."}
    session = {"session_id": "main", "subsessions": ["s"], "messages": chat}
    sub = {"subsession_id": "s", "parent_session_id": "main", "label": "L", "status": "open", "messages": []}
    path = tmp_path / "main.jsonl"
    path.write_text(f"{json.dumps(session)}\n{json.dumps(sub)}\n")
    said = "A system message of the parent is not sent: Message 1. Make it global to send it always."
    found = CliRunner().invoke(app, ["merged-context", str(path), "-s", "L", form])
    assert said in found.stderr
    assert said in CliRunner().invoke(app, ["merged-context", str(path), "-s", "L"]).stdout
    chat[0]["visibility"] = "global"
    path.write_text(f"{json.dumps(session)}\n{json.dumps(sub)}\n")
    assert CliRunner().invoke(app, ["merged-context", str(path), "-s", "L", form]).stderr == ""
