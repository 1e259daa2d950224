"""Outcomes that outputs state, lines worth showing, and changes with line numbers."""

from __future__ import annotations

import json

import pytest

from inspector.present.conversation.cards import DiffLine
from inspector.present.conversation.diffs import diff_of, numbered_by_reading, patch_in_record
from inspector.present.conversation.outputs import output_of, pill_of_tests
from inspector.protocol.payloads.file_edits import FileEdit, Line, edits_of

RUNS = {
    "====== 3 passed in 0.12s ======": ("3 passed", "good"),
    "FAILED a.py::b\n=== 1 failed, 2 passed, 1 warning in 0.3s ===": ("1 failed", "bad"),
    "test result: ok. 4 passed; 0 failed; 0 ignored\n\ntest result: ok. 2 passed; 0 failed; 0 ignored": (
        "6 passed",
        "good",
    ),
    "Tests:       2 failed, 5 passed, 7 total": ("2 failed", "bad"),
    "      Tests  12 passed (12)": ("12 passed", "good"),
    "Ran 5 tests in 0.1s\n\nOK": ("5 passed", "good"),
    "Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1)": ("2 failed", "bad"),
    "--- PASS: TestA (0.0s)\n--- PASS: TestB (0.0s)\nok": ("2 passed", "good"),
    "I passed 3 exams in 4 s": None,
    "no tests ran in 0.01s": None,
}


@pytest.mark.parametrize("text", RUNS)
def test_counts_come_from_the_words_of_a_test_run(text: str) -> None:
    pill = pill_of_tests(text, is_whole=True)
    assert (pill and (pill.word, pill.tone)) == RUNS[text]


def test_cut_output_is_not_counted() -> None:
    assert pill_of_tests("--- PASS: TestA (0.0s)", is_whole=False) is None


def test_a_failed_output_shows_its_failing_line() -> None:
    text = "\n".join(["[lint] start", *["x"] * 20, "error: task", *["y"] * 5, "a/b.go:41:3: unknown field", *["z"] * 9])
    output = output_of(7, text, failed=True, whole=False)
    assert output is not None
    assert [line.text for line in output.lines if line.is_failure] == ["a/b.go:41:3: unknown field"]
    assert output.above + len(output.lines) + output.below == 37
    whole = output_of(7, text, failed=True, whole=True)
    assert whole is not None
    assert (len(whole.lines), whole.above, whole.below) == (37, 0, 0)


def test_other_output_shows_its_end() -> None:
    output = output_of(7, "\n".join(map(str, range(9))) + "\n\n", failed=False, whole=False)
    assert output is not None
    assert ([line.text for line in output.lines], output.above, output.below) == (["6", "7", "8"], 6, 0)
    assert output_of(7, "\n \n", failed=False, whole=False) is None


def test_numbers_come_from_the_patch_of_the_answer() -> None:
    hunk = {"oldStart": 38, "newStart": 38, "lines": [" a", "-b", "-c", "+d", " e"]}
    line = json.dumps({"toolUseResult": {"structuredPatch": [hunk, {"lines": "?"}, 3]}}).encode()
    patch = patch_in_record(line)
    assert patch == [
        DiffLine(" ", "a", 38, 38), DiffLine("-", "b", 39, 0), DiffLine("-", "c", 40, 0), DiffLine("+", "d", 0, 39),
        DiffLine(" ", "e", 41, 40),
    ]  # fmt: skip
    (edit,) = edits_of("Edit", {"file_path": "/a/settings.go", "old_string": "b\nc", "new_string": "d"})
    diff = diff_of(edit, patch, whole=False)
    assert (diff.name, diff.verb, diff.added, diff.removed, diff.language) == ("settings.go", "Edit", 1, 2, "go")
    assert diff_of(edit, [], whole=False).lines[0] == DiffLine("-", "b", 0, 0)


@pytest.mark.parametrize("line", [b"", b'{"structuredPatch"', b'{"structuredPatch": 1}', b'[{"structuredPatch": []}]'])
def test_records_without_a_patch_have_no_lines(line: bytes) -> None:
    assert patch_in_record(line) == []


def test_written_files_are_numbered_and_secrets_masked() -> None:
    edit = FileEdit("/a/b.env", (("+", "password=hunter2hunter2"), ("+", "x\u202e")), "written")
    lines = diff_of(edit, [], whole=False).lines
    assert [line.new for line in lines] == [1, 2]
    assert "hunter2" not in lines[0].text
    assert lines[1].text == "x⟨U+202E⟩"


def test_numbers_come_from_an_earlier_reading_that_has_the_old_lines_once() -> None:
    lines: list[Line] = [(" ", "b = 1"), ("-", "c = 2"), ("+", "c = 3"), ("+", "d = 4")]
    reading = "     7\ta = 0\n     8\tb = 1\n     9\tc = 2\n    10\te = 5"
    assert numbered_by_reading(lines, reading) == [
        DiffLine(" ", "b = 1", 8, 8), DiffLine("-", "c = 2", 9, 0), DiffLine("+", "c = 3", 0, 9),
        DiffLine("+", "d = 4", 0, 10),
    ]  # fmt: skip
    assert numbered_by_reading(lines, reading.replace("\t", "→"))[0].old == 8
    for other in (reading + "\n11\tb = 1\n12\tc = 2", "b = 1\nc = 2", reading.replace("9\t", "12\t"), ""):
        assert not numbered_by_reading(lines, other)
