"""Formats of plug-ins: read like built-in ones; a reader that fails is switched off, and every line is still there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.document.document import CaptureDocument
from inspector.formats import guards, registry
from inspector.plugins import format_guard
from inspector.reading.workers.part_reader import part_pool
from inspector.store.files.source_files import SourceFile
from tests.builders import block_of, closed_at_end, document_of, lines_of, log_file
from tests.commands import asked, printed
from tests.leaky import BEARER, SECRET
from tests.plugins import ROBOT_LINES, example, loaded, plugin_file

pytestmark = pytest.mark.usefixtures("no_plugins_left")
HEAD = """
from inspector.plugin import Format, JsonTranscript, Stage, Voice
VOICE = Voice(agent="toy", program="toy-cli", namespace="toy/")
def events(value):
    return [VOICE.prompt(str(value["toy"]))]
READER = JsonTranscript(name="toy", marks=((b'"toy"',),), is_known=lambda value, unknown: "toy" in value,
                        events_of=events)
def read(line, *, unknown=False):
    third = b"message 2" in line
    {read}
def payload(line, number):
    {payload}
FORMATS = [Format(name="toy", title="Toy log", reads="toys", stage=Stage.TRANSCRIPT, read=read, payload=payload)]
"""
READ, PAYLOAD = "return READER.read(line, unknown=unknown)", "return READER.payload(line, number)"
TOYS = [json.dumps({"toy": f"message {number}"}) for number in range(5)]
GB = 1 << 30


def toy(read: str = READ, payload: str = PAYLOAD) -> None:
    (state,) = loaded(plugin_file("toy", HEAD.format(read=read, payload=payload)))
    assert not state.trouble


def shown(document: CaptureDocument) -> list[str]:
    """The text of each message, or the reason why it cannot be read."""
    records = document.capture.records
    return [records.payload(row).get("text") or records.reason(row) or "" for row in range(len(document.analysis))]


def test_the_example_reads_its_log() -> None:
    loaded(example("robot_log"))
    document = document_of(*ROBOT_LINES)
    capture = document.capture
    assert [capture.string("sender", row) for row in range(5)] == ["user", "robot", "tools", "user", "robot"]
    assert capture.string("space", 0) == "r1"
    assert capture.records.payload(4) == {"text": "The kitchen is clean."}
    assert int(document.analysis.correlation.columns["answer"][1]) == 2
    assert registry.format_titles()["robot-log"] == "Robot log"
    assert [str(one.origin) for one in registry.registered()] == ["plug-in"]


def test_the_command_line_reads_it_and_its_check_and_field_are_there() -> None:
    path = log_file(lines_of(*ROBOT_LINES))
    assert asked("list", path).exit_code == 2
    for name in ("robot_log", "repeated_question"):
        example(name)
        printed("plugins", "enable", name)
    assert "The kitchen is clean." in printed("list", path)
    assert "question-repeated" in printed("check", path)
    rows = printed("list", path, "-e", "no,question.words", "-Y", "question.words > 3", "--format", "jsonl")
    assert [json.loads(row)["question.words"] for row in rows.splitlines()] == [4, 4]
    printed("plugins", "disable", "robot_log")
    assert asked("list", path).exit_code == 2


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        ("if third: raise ValueError('no')\n    " + READ, "it raised ValueError: no"),
        ("if third: raise SystemExit\n    " + READ, "it raised SystemExit"),
        ("while third: pass\n    " + READ, "it took longer than 0.3 s"),
        ("if third: return 7\n    " + READ, "it returned int in place of a Record"),
        ("r = READER.read(line)\n    if third: r.derived_messages = ()\n    return r",
         "it returned a Record without messages"),
        ("r = READER.read(line)\n    if third: r.derived_messages = (1,)\n    return r",
         "it returned a Record with messages of another type, or too many"),
        ("r = READER.read(line)\n    if third: r.derived_messages[0].kind = 7\n    return r",
         "it returned a value of a wrong type (ValidationError: Expected `str`, got `int` - at `$[0].kind`)"),
        ("r = READER.read(line)\n    if third: r.derived_messages[0].sender = chr(0xd800)\n    return r",
         "it returned a value of a wrong type"),
        ("r = READER.read(line)\n    if third: r.derived_messages[0].size = 1 << 40\n    return r",
         "it returned a time or size out of range"),
        ("r = READER.read(line)\n    if third: r.time_ns = 1 << 63\n    return r",
         "it returned a time that is no 64-bit number"),
        (f"r = READER.read(line)\n    if third: r.derived_messages[0].content = bytes({GB})\n    return r",
         "it returned more than 16 MB or 1,000,000 values for one call"),
        ("def again(): return again()\n    if third: again()\n    " + READ, "it raised RecursionError"),
    ],
)  # fmt: skip
def test_a_reader_that_fails_at_its_third_line(read: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_guard, "LINE_S", 0.3)
    toy(read)
    document = document_of(*TOYS)
    assert len(document.analysis) == 5
    found = shown(document)
    assert found[:2] == ["message 0", "message 1"]
    assert all(text.startswith("a JSON object with toy") for text in found[2:])
    (trip,) = guards.trips()
    assert trip.part == "plug-in toy, format toy"
    assert trip.reason.startswith(reason)
    assert document.read_errors == [trip.sentence]
    assert b"".join(document.capture.records.read_line_of(row) + b"\n" for row in range(5)) == lines_of(*TOYS)


def test_the_command_line_says_which_part_failed() -> None:
    plugin_file("toy", HEAD.format(read="if third: raise ValueError('no')\n    " + READ, payload=PAYLOAD))
    printed("plugins", "enable", "toy")
    found = asked("list", log_file(lines_of(*TOYS)))
    assert found.exit_code == 0
    assert "Plug-in toy, format toy is switched off for this log: it raised ValueError: no." in found.stderr
    assert "message 1" in found.stdout


def test_a_refused_log_names_the_format_that_failed() -> None:
    plugin_file("toy", HEAD.format(read="raise ValueError('no')", payload=PAYLOAD))
    printed("plugins", "enable", "toy")
    found = asked("list", log_file(lines_of(*TOYS)))
    assert found.exit_code == 2
    assert "Plug-in toy, format toy is switched off for this log: it raised ValueError: no." in found.stderr


def test_an_error_that_quotes_a_secret_is_masked() -> None:
    plugin_file("toy", HEAD.format(read="if third: raise ValueError(line)\n    " + READ, payload=PAYLOAD))
    printed("plugins", "enable", "toy")
    lines = [*TOYS, json.dumps({"toy": f"message 2, {BEARER}"})]
    found = asked("list", log_file(lines_of(*lines[3:], *lines[:3])))
    assert "it raised ValueError" in found.stderr
    assert SECRET not in found.output


def test_payloads_that_fail_show_their_line() -> None:
    toy(payload="return {1, 2}")
    document = document_of(*TOYS)
    assert len(document.analysis) == 5
    assert shown(document) == TOYS
    assert [trip.reason for trip in guards.trips()] == ["it returned set in place of a dict"]


def test_a_huge_payload_shows_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_guard, "LINE_S", 60)
    toy(payload=f"return {{'text': 'x' * {2 * guards.MAX_BYTES}}}")
    document = document_of(*TOYS)
    assert shown(document) == TOYS
    assert "more than 16 MB" in guards.trips()[0].reason


def test_another_log_tries_again() -> None:
    toy("if third: raise ValueError\n    " + READ)
    assert document_of(*TOYS).read_errors
    again = document_of(*TOYS[:2], *TOYS[3:])
    assert not again.read_errors
    assert shown(again) == ["message 0", "message 1", "message 3", "message 4"]


def test_foreign_lines_among_its_own_are_read_by_their_formats() -> None:
    toy()
    chat = {"id": "1", "ts": "2026-01-05T10:00:00Z", "from": "ann", "to": ["bob"], "kind": "chat",
            "payload": {"text": "hello"}, "protocol": "mew/v0.4"}  # fmt: skip
    document = document_of(TOYS[0], chat, TOYS[1])
    assert shown(document) == ["message 0", "hello", "message 1"]


def test_a_built_in_name_is_refused() -> None:
    (state,) = loaded(
        plugin_file("toy", HEAD.format(read=READ, payload=PAYLOAD).replace('name="toy", t', 'name="codex", t'))
    )
    assert state.trouble == "there is another format codex"


@pytest.mark.real
def test_a_worker_process_reads_with_it_and_reports_its_failure() -> None:
    toy("if b'message 3' in line: raise ValueError('no')\n    " + READ)
    path = log_file(lines_of(*TOYS))
    source = SourceFile(path)
    pool = part_pool(source, 0)
    try:
        block = block_of(pool, path.stat().st_size)
    finally:
        pool.end()
        source.close()
    assert block.formats["toy"] == 3
    assert len(block) == 5
    assert [trip.reason for trip in guards.trips()] == ["it raised ValueError: no"]


@pytest.mark.real
def test_a_worker_process_that_cannot_make_the_format_reports_it() -> None:
    toy(READ)
    path = log_file(lines_of(*TOYS))
    source = SourceFile(path)
    plugin_file("toy", "FORMATS = []\n")
    pool = part_pool(source, 0)
    try:
        block_of(pool, path.stat().st_size)
    finally:
        pool.end()
        source.close()
    assert guards.trips() == (("plug-in toy, format toy", "it has changed since it was switched on"),)


def test_reading_to_the_end_is_not_slowed_by_a_plugin_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_guard, "LINE_S", 0.2)
    toy("while b'toy' in line: pass\n    return None")
    document = closed_at_end(CaptureDocument())
    path: Path = log_file(lines_of(*[{"id": str(n), "from": "a", "kind": "chat", "payload": {}, "protocol": "mew/v0.4"}
                                     for n in range(3)], *TOYS * 50))  # fmt: skip
    document.load(path)
    assert len(document.analysis) == 253
    assert len(guards.trips()) == 1
