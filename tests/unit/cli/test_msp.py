"""`msp`: sessions and sub-sessions worked on in a terminal, as a user types it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from typer.testing import CliRunner

from inspector.base.paths import cache_folder, resource
from inspector.msp import SessionDocument
from inspector.startup.program import app
from tests.conftest import MS
from tests.msp_samples import desk, written
from tests.strategies import share_of_examples


def typed(*arguments: object, stdin: str | bytes | None = None) -> str:
    """What a command prints that succeeds."""
    result = CliRunner().invoke(app, ["msp", *map(str, arguments)], input=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def answered(*arguments: object) -> dict[str, Any]:
    return json.loads(typed(*arguments, "--json"))


def refused(*arguments: object) -> str:
    """What a command says that fails."""
    result = CliRunner().invoke(app, ["msp", *map(str, arguments)])
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    return result.stderr.strip()


def read(path: Path) -> SessionDocument:
    return SessionDocument.read([path])


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A document made by the command."""
    path = tmp_path / "desk.json"
    typed("new", path, "--id", "m1", "--intent", "Weekly report", "--constraint", "short")
    return path


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return written(tmp_path, desk())


# One after the other


def test_a_session_is_made_worked_in_and_merged(made: Path) -> None:
    opened = answered("open", made, "units", "--recent", 3)
    assert opened == {"file": str(made), "subsession": opened["subsession"], "label": "units", "parent": "m1"}
    typed("add", made, "what is a kelvin?", "--to", "units")
    typed("add", made, "-", "--to", "units", "--role", "assistant", "--visibility", "global", stdin="The unit.\n")
    assert typed("close", made, "units", "--summary", "All in kelvin.").startswith("Closed sub-")
    assert typed("merge", made, "units").endswith("(units) into m1.")
    document = read(made)
    sub = document.subsessions[0]
    assert (sub.id, sub.merged, sub.policy.recent_parent_messages) == (opened["subsession"], True, 3)
    assert [message.content for message in sub.messages] == ["what is a kelvin?", "The unit."]
    assert [message.role for message in document.sessions[0].messages] == ["assistant", "assistant"]
    assert document.problems == []


def test_what_was_agreed_is_added_set_and_removed(made: Path) -> None:
    for what, text in (("constraint", "metric"), ("decision", "kelvin"), ("fact", "0 K is -273.15 °C")):
        typed("add", made, text, "--as", what)
    assert typed("add", made, "Greetings.", "--as", "snapshot", "--covers", "1-2") == "Added a snapshot to m1."
    assert answered("add", made, "More.", "--as", "snapshot")["session"] == "m1"
    typed("set", made, "--intent", "Explain")
    session = read(made).sessions[0]
    assert (session.intent, session.constraints, session.decisions) == ("Explain", ["short", "metric"], ["kelvin"])
    assert [(one.content, one.covers) for one in session.snapshots] == [("Greetings.", (0, 2)), ("More.", None)]
    typed("remove", made, "constraint", 1)
    typed("remove", made, "snapshot", session.snapshots[1].id)
    typed("remove", made, "snapshot", 1)
    session = read(made).sessions[0]
    assert (session.constraints, session.snapshots) == (["metric"], [])


def test_a_summary_is_referred_to_without_a_merge(made: Path) -> None:
    typed("open", made, "units")
    typed("close", made, "units", "--summary", "All in kelvin.")
    typed("open", made, "scales", "--refer", "units")
    units, scales = read(made).subsessions
    assert (scales.policy.include_summaries, units.merged) == ([units.id], False)
    sent = CliRunner().invoke(app, ["merged-context", str(made), "-s", scales.id, "--json"])
    layer = json.loads(sent.stdout)["layers"][1]
    assert [entry["id"] for entry in layer["entries"]] == [units.id]
    typed("refer", made, "scales", "units", "--withdraw")
    assert read(made).subsessions[1].policy.include_summaries == []
    assert answered("refer", made, "scales", "units")["include_summaries"] == [units.id]


def test_closing_appends_or_discards(made: Path) -> None:
    typed("open", made, "units")
    typed("open", made, "scales")
    typed("close", made, "units", "--summary", "-", "--append", stdin="All in kelvin.")
    assert answered("close", made, "scales", "--discard")["status"] == "discarded"
    document = read(made)
    assert [message.content for message in document.sessions[0].messages] == [
        "Summary of the sub-session “units”:\n\nAll in kelvin."
    ]
    assert [sub.status for sub in document.subsessions] == ["closed", "discarded"]


def test_a_message_is_shown_to_whom_those_before_it_are(sample: Path) -> None:
    typed("add", sample, "and a mole?", "--to", "s1")
    assert [message.visibility for message in read(sample).subsessions[0].messages] == ["subsession_only"] * 2
    typed("add", sample, "hello", "--role", "assistant", "--visibility", "main_only")
    assert read(sample).sessions[0].messages[-1].visibility == "main_only"


def test_what_is_written_carries_visibility_and_policy(made: Path) -> None:
    typed("open", made, "units")
    typed("add", made, "what is a kelvin?", "--to", "units")
    typed("open", made, "nested", "--below", "units", "--no-snapshots")
    typed("close", made, "nested", "--summary", "Done.", "--append")
    units, nested = read(made).subsessions
    assert [message.visibility for message in units.messages] == ["subsession_only", "subsession_only"]
    assert units.policy.data == {"include_sub_context": True, "include_snapshots": True, "recent_parent_messages": 5}
    assert nested.policy.data == {**units.policy.data, "include_snapshots": False}
    assert "closed, summary appended to the parent" in typed("show", made)
    assert [one["summary_appended"] for one in answered("show", made)["subsessions"]] == [False, True]


def test_a_merge_can_be_looked_at_first(made: Path) -> None:
    typed("open", made, "units")
    typed("add", made, "Use kelvin.", "--to", "units", "--visibility", "global")
    typed("add", made, "a secret thought", "--to", "units")
    assert "still open" in refused("merge", made, "units", "--dry-run")
    typed("close", made, "units", "--summary", "All in kelvin.")
    before = made.read_bytes()
    shown = typed("merge", made, "units", "--dry-run")
    assert "would add 2 messages to m1; no file was written" in shown
    assert "All in kelvin." in shown
    assert "[global] Use kelvin." in shown
    assert "secret thought" not in shown
    assert [one["visibility"] for one in answered("merge", made, "units", "--dry-run")["messages"]] == [None, "global"]
    assert made.read_bytes() == before
    typed("merge", made, "units")
    assert [one.content for one in read(made).sessions[0].messages][1:] == ["Use kelvin."]


def test_visibility_policy_and_state_can_be_changed_afterwards(made: Path) -> None:
    typed("open", made, "units")
    added = answered("add", made, "Use kelvin.", "--to", "units")["message"]
    found = answered("visibility", made, added, "global")
    assert (found["message"], found["visibility"]) == (added, "global")
    typed("visibility", made, added, "subsession_only", "--of", "units")
    assert read(made).subsessions[0].messages[0].visibility == "subsession_only"
    assert "main_only is for messages of the chat" in refused("visibility", made, added, "main_only")
    assert "There is no message nobody" in refused("visibility", made, "nobody", "global")
    typed("policy", made, "units", "--recent", 0, "--no-sub-context", "--no-snapshots")
    policy = read(made).subsessions[0].policy.data
    assert policy == {"include_sub_context": False, "include_snapshots": False, "recent_parent_messages": 0}
    assert answered("policy", made, "units", "--snapshots")["context_policy"]["include_snapshots"] is True
    assert "Name a change" in refused("policy", made, "units")
    assert refused("reopen", made, "units") == "units is open."
    typed("close", made, "units", "--summary", "x")
    assert answered("reopen", made, "units")["status"] == "open"
    sub = read(made).subsessions[0]
    assert (sub.is_open, sub.summary, sub.data["closed_at"]) == (True, "x", None)
    typed("close", made, "units", "--discard")
    typed("reopen", made, "units")
    typed("close", made, "units", "--summary", "y")
    typed("merge", made, "units")
    assert "was merged" in refused("reopen", made, "units")


def test_labels_are_taken_wherever_ids_are(tmp_path: Path) -> None:
    path = tmp_path / "desk.json"
    typed("new", path, "--id", "m1", "--label", "Study Session")
    typed("open", path, "Units", "--below", "Study Session")
    typed("add", path, "hello", "--to", "Study Session")
    typed("set", path, "--intent", "Exams", "--session", "Study Session")
    typed("close", path, "Units", "--summary", "k")
    typed("open", path, "Scales", "--refer", "Units")
    for label in ("Units", "Study Session"):
        sent = CliRunner().invoke(app, ["merged-context", str(path), "-s", label, "--json"])
        assert sent.exit_code == 0
    assert "There is no session or sub-session units." in refused("show", path, "-s", "units")  # case as stored


# Shown


def test_show_says_what_there_is(sample: Path) -> None:
    text = typed("show", sample)
    for words in ("m1: 2 messages", "Intent: Write a page", "    1  short", "    1  messages 1 to 2: Greetings.",
                  "    s1 (about s1): open, 1 message", "      s2 (about s2): closed, 2 messages",
                  "        Named after Lord Kelvin."):  # fmt: skip
        assert words in text
    one = typed("show", sample, "-s", "s1")
    assert "[subsession_only] what is a kelvin?" in one
    chat = typed("show", sample, "-s", "m1")
    assert "a2                   assistant  [global] hi" in chat


def test_show_prints_json_of_all_and_of_one(sample: Path) -> None:
    found = answered("show", sample)
    assert [one["id"] for one in found["sessions"]] == ["m1"]
    assert [(one["id"], one["parent"], one["status"]) for one in found["subsessions"]] == [
        ("s1", "m1", "open"), ("s2", "s1", "closed")
    ]  # fmt: skip
    assert found["sessions"][0]["snapshots"][0]["covers_messages"] == [0, 2]
    one = answered("show", sample, "-s", "about s1")
    assert (one["message_count"], one["messages"][0]["content"]) == (1, "what is a kelvin?")


def test_what_is_printed_masks_secrets_and_acts_on_no_terminal(made: Path) -> None:
    typed("open", made, "\x1b[31mred")
    typed("add", made, "password: hunter2secret", "--to", "\x1b[31mred")
    typed("add", made, "token=hunter2secret \u202e", "--as", "fact")
    everything = [typed("show", made), typed("show", made, "--json"), typed("show", made, "-s", "m1", "--json"),
                  typed("show", made, "-s", "\x1b[31mred")]  # fmt: skip
    assert not any("hunter2secret" in text or "\x1b" in text or "\u202e" in text for text in everything)


def test_show_reads_standard_input(sample: Path) -> None:
    assert "s1 (about s1)" in typed("show", "-", stdin=sample.read_bytes())


# Refused


def test_each_refusal_is_a_sentence_and_changes_nothing(sample: Path, tmp_path: Path) -> None:
    before, gone = sample.read_bytes(), tmp_path / "gone.json"
    known = "The document has: s1 (about s1), s2 (about s2)."
    for arguments, sentence in (
        (("new", sample), f"{sample} already exists: choose another name."),
        (("new", tmp_path / "desk.json.gz"), f"{tmp_path}/desk.json.gz cannot be written: It is not compressed: "
                                             "choose a name that does not end in .gz."),
        (("add", gone, "x"), f"{gone} cannot be read: No such file or directory."),
        (("add", "-", "x"), "Standard input cannot be edited: name the file."),
        (("add", sample, " "), "The text is empty."),
        (("add", sample, "x", "--role", " "), "A message needs a role, such as user or assistant."),
        (("add", sample, "x", "--to", "s2"), "about s2 is closed."),
        (("add", sample, "x", "--to", "s9"),
         "There is no session or sub-session s9. The document has: m1, s1 (about s1), s2 (about s2)."),
        (("add", sample, "x", "--to", "s1", "--visibility", "main_only"),
         "main_only is for messages of the chat; use subsession_only in a sub-session."),
        (("add", sample, "x", "--visibility", "subsession_only"),
         "subsession_only is for messages of a sub-session, not of a chat."),
        (("add", sample, "x", "--covers", "1-2"), "--covers requires --as snapshot."),
        (("add", sample, "x", "--as", "snapshot", "--covers", "3-2"),
         "3-2 is not a range of messages: write it as 1-20."),
        (("add", sample, "x", "--as", "fact", "--role", "assistant"), "--role and --visibility require --as message."),
        (("open", sample, " "), "A sub-session needs a label."),
        (("open", sample, "x", "--below", "s2"), "about s2 is closed."),
        (("close", sample, "s9"), f"There is no sub-session s9. {known}"),
        (("close", sample, "s1", "--append"), "--append requires --summary TEXT."),
        (("close", sample, "s1", "--discard", "--summary", "x"),
         "--discard and --summary cannot be combined."),
        (("merge", sample, "s1"), "about s1 is still open: close it first."),
        (("refer", sample, "s1", "s2"),
         "about s1 cannot refer to about s2: they have different parents."),
        (("refer", sample, "s1", "s2", "--withdraw"), "about s1 does not refer to s2."),
        (("remove", sample, "fact", "1"), "There is no fact 1: the session has 0."),
        (("remove", sample, "message", "1"), "Messages cannot be removed: a session is a record."),
        (("set", sample, "--intent", "x", "--session", "m9"), "There is no session m9. The document has: m1."),
    ):  # fmt: skip
        assert refused(*arguments) == sentence
    assert sample.read_bytes() == before


def test_a_label_of_two_is_no_name(made: Path) -> None:
    ids = [answered("open", made, "units")["subsession"] for _ in range(2)]
    assert refused("close", made, "units") == (
        f"2 sub-sessions are called units: name one by its id. The document has: {ids[0]} (units), {ids[1]} (units)."
    )
    typed("close", made, ids[1])
    assert [sub.is_open for sub in read(made).subsessions] == [True, False]


def test_what_is_compressed_is_only_read(sample: Path, tmp_path: Path) -> None:
    packed = tmp_path / "desk.json.gz"
    packed.write_bytes(gzip.compress(sample.read_bytes()))
    assert refused("add", packed, "x") == f"{packed} is compressed, so it cannot be edited: unpack it first."
    assert "s1 (about s1)" in typed("show", packed)


def test_what_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "cannot be written: " in refused("new", tmp_path / "file" / "desk.json")


# Files


def test_only_what_was_edited_changes(sample: Path) -> None:
    text = json.dumps(desk(), indent=3).replace('"intent"', '"x-own": [1.0, 2e3],\n "intent"')
    sample.write_text(text)
    typed("add", sample, "metric", "--as", "constraint")
    typed("remove", sample, "constraint", 2)
    assert sample.read_text() == text


@pytest.mark.real
def test_several_at_once_lose_nothing(made: Path) -> None:
    code = (
        "import sys; from inspector.startup.program import app\n"
        "for n in range(6): app(['msp', 'add', sys.argv[1], f'{sys.argv[2]}-{n}'], standalone_mode=False)"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, str(made), name]) for name in "abc"]
    assert [process.wait(120) for process in started] == [0, 0, 0]
    found = sorted(message.content for message in read(made).sessions[0].messages)
    assert found == sorted(f"{name}-{n}" for name in "abc" for n in range(6))


_COMMANDS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3)), max_size=10)


@share_of_examples(5)
@given(commands=_COMMANDS)
def test_whatever_is_done_the_file_is_valid_and_has_no_findings(
    tmp_path_factory: pytest.TempPathFactory, commands: list[tuple[int, int]]
) -> None:
    path = tmp_path_factory.mktemp("msp") / "desk.json"
    typed("new", path, "--id", "m1")
    for kind, at in commands:
        CliRunner().invoke(app, ["msp", *_command(path, kind, at)])
    schema = json.loads(resource("schema", "msp-document.schema.json").read_text(encoding="utf-8"))
    assert list(Draft7Validator(schema).iter_errors(json.loads(path.read_text("utf-8")))) == []
    assert read(path).problems == []
    checked = CliRunner().invoke(app, ["check", str(path), "--json"])
    assert json.loads(checked.stdout) == []


def _command(path: Path, kind: int, at: int) -> list[str]:
    subs = read(path).subsessions
    sub = subs[at % len(subs)].id if subs else "none"
    return [
        ["open", str(path), f"about {at}"],
        ["add", str(path), "hello", "--to", sub, *(["--visibility", "global"] if at > 1 else [])],
        ["close", str(path), sub, *(["--summary", "Done."] if at else [])],
        ["merge", str(path), sub],
        ["refer", str(path), subs[-1].id if subs else "none", sub],
        ["add", str(path), "kelvin", "--as", ("constraint", "decision", "fact", "snapshot")[at]],
        ["open", str(path), "below", "--below", sub],
        ["add", str(path), "hello"],
    ][kind]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_the_copy_of_standard_input_of_a_killed_command_is_deleted_by_the_next(
    user_folders: Path, tmp_path: Path, sample: Path
) -> None:
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    command = [sys.executable, "-m", "inspector", "msp", "show", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, "TMPDIR": str(elsewhere)}) as killed:
        ends = time.monotonic() + 60_000 * MS
        while not (left := list(cache_folder().glob("spool-*"))):
            assert killed.poll() is None
            assert time.monotonic() < ends
            time.sleep(0.01)
        killed.kill()
    typed("show", "-", stdin=sample.read_bytes())
    assert left
    assert list(cache_folder().glob("spool-*")) == []
    assert list(elsewhere.iterdir()) == []
