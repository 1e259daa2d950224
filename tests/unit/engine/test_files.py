"""The exact content of files after calls, or none."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.engine.engine import Engine
from inspector.engine.request import RequestError
from inspector.engine.requests.conversation import DescribeCards, OutlineConversation, OutlineOptions
from inspector.engine.requests.files import FinalContent, ListFiles
from tests.builders import document_of, tool_call, tool_result
from tests.transcribed import ClaudeSession

PATH = "/work/a.py"


PATCH = "*** Begin Patch\n*** Update File: /work/b.py\n{}\n-x\n+y\n*** End Patch"


def wrote(text: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "Write", {"file_path": PATH, "content": text, **more}


def edited(old: str, new: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "Edit", {"file_path": PATH, "old_string": old, "new_string": new, **more}


def ran(command: str) -> tuple[str, dict[str, Any]]:
    return "Bash", {"command": command}


def content_of(*calls: tuple[str, dict[str, Any]], failed: int = -1) -> str | None:
    lines: list[dict[str, Any]] = []
    for place, (tool, arguments) in enumerate(calls):
        call = tool_call(tool, arguments=arguments)
        lines += [call, tool_result(call, "done", result={"isError": place == failed})]
    engine = Engine()
    number = engine.adopt(document_of(*lines))
    try:
        return engine.answer_request(number, FinalContent(PATH))
    except RequestError:
        return None
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("calls", "content"),
    [
        ([wrote("a\nb\n"), edited("b", "c"), ran("cd /work && pytest -q 2>&1 | tail -5")], "a\nc\n"),
        ([wrote("a a"), edited("a", "b", replace_all=True)], "b b"),
        ([edited("a", "b"), wrote("whole")], "whole"),
        ([wrote("a a"), edited("a", "b")], None),
        ([edited("a", "b")], None),
        ([wrote("a", mode="append")], None),
        ([wrote("a"), ran("make fmt")], None),
        ([wrote("a"), ran("cat x > a.py")], None),
        ([wrote("a"), ran("cat x & rm a.py")], None),
        ([wrote("a"), ran("npm run test:fix")], None),
        ([wrote("a"), ("move_file", {"source": PATH, "destination": "/b.py"})], None),
        ([wrote("a"), ("Write", {"path": "a.py", "content": "b"})], None),
        ([wrote("a"), ran("make fmt"), wrote("b")], "b"),
        ([wrote("a\nb\nc\n"), edited("b", "")], None),
        ([wrote("a\nb\nc\n"), edited("b\n", "")], "a\nc\n"),
        ([wrote("a"), ("apply_patch", {"input": PATCH.format("*** Move to: /work/a.py")})], None),
        ([wrote("a"), ("apply_patch", {"input": PATCH.format("@@")})], "a"),
        ([wrote("a"), ("shell", {"command": f"apply_patch <<E\n{PATCH.format('@@')}\nE\nsed -i s/a/b/ *.py"})], None),
        ([wrote("a"), ("Agent", {"prompt": "fix it"})], None),
        ([wrote("a"), ("python", {"code": "fix()"})], None),
        ([wrote("a"), ("WebFetch", {"url": "https://example.org", "prompt": "What is it?"})], "a"),
        ([wrote("a"), ("open_and_append", {"path": PATH, "text": "b"})], None),
        ([wrote("a"), ran("npm test -- --updateSnapshot")], None),
        ([wrote("a"), ran("rg --pre=./x a")], None),
    ],
)
def test_content_is_exact_or_unknown(calls: list[tuple[str, dict[str, Any]]], content: str | None) -> None:
    assert content_of(*calls) == content


def test_a_failed_change_changes_nothing() -> None:
    assert content_of(wrote("a"), edited("a", "b"), failed=1) == "a"


def test_a_text_that_a_person_changed_before_allowing_it_is_unknown() -> None:
    engine = Engine()
    call = tool_call("Write", arguments=wrote("a")[1])
    number = engine.adopt(document_of(call, tool_result(call, "done", result={"userModified": True})))
    with pytest.raises(RequestError):
        engine.answer_request(number, FinalContent(PATH))
    engine.close()


def test_accesses_have_their_times() -> None:
    engine = Engine()
    call = tool_call("Edit", arguments=edited("a", "b")[1])
    number = engine.adopt(document_of(call, tool_result(call, "done")))
    file = engine.answer_request(number, ListFiles())[0]
    engine.close()
    assert len(file.accesses) == 1
    assert file.accesses[0].time.count(":") == 2


@pytest.mark.parametrize(
    ("calls", "added"),
    [
        ([wrote("a\nb\n"), wrote("a\nb\n")], [2, 0]),
        ([wrote("a\nb\n"), ran("pytest -q"), ("Read", {"file_path": PATH}), wrote("a\nb\n")], [2, 0, 0]),
        ([wrote("a\nb\n"), edited("b", "c"), wrote("a\nb\n")], [2, 1, 2]),
        ([wrote("a\nb\n"), wrote("c\n"), wrote("a\nb\n")], [2, 1, 2]),
        ([wrote("a\nb\n"), ran("make fmt"), wrote("a\nb\n")], [2, 2]),
        ([wrote("a\nb\n"), ("Agent", {"prompt": "fix it"}), wrote("a\nb\n")], [2, 2]),
        ([wrote("a\n" * 5_000), wrote("a\n" * 5_000)], [5_000, 0]),
    ],
)
def test_an_equal_write_changes_no_lines(calls: list[tuple[str, dict[str, Any]]], added: list[int]) -> None:
    session = ClaudeSession()
    session.prompt("write it")
    for tool, arguments in calls:
        session.runs(tool, arguments)
    engine = Engine()
    number = engine.adopt(document_of(*session.records))
    file = engine.answer_request(number, ListFiles())[0]
    assert [access.added for access in file.accesses] == added
    assert file.added == sum(added)
    outline = engine.answer_request(number, OutlineConversation(OutlineOptions(unfolds_all=True)))
    found = engine.answer_request(number, DescribeCards(tuple(outline.refs(0, len(outline)))))
    diffs = [diff for card in found for diff in getattr(card, "diffs", ())]
    assert [diff.added for diff in diffs] == [access.added for access in file.accesses if access.kind.value != "read"]
    engine.close()


@pytest.mark.parametrize(
    ("before", "patch", "added"),
    [
        ("a\nb\n", [], 0), ("c\n", [], 2), (None, [], 2), ("a\nb\n", None, 0), ("a\nb\n", [{"oldStart": 1}], 0),
        ("a\nb\n", [{"lines": [1]}], 0), ("a\nb\n", "x", 0),
    ],
)  # fmt: skip
def test_the_answer_of_an_equal_write_may_tell_the_content_before(before: str | None, patch: Any, added: int) -> None:
    session = ClaudeSession()
    session.prompt("write it")
    arguments = wrote("a\nb\n")[1]
    for _ in range(2):
        told = {"type": "update", "content": "a\nb\n", "structuredPatch": patch, "originalFile": before}
        session.runs("Write", arguments, toolUseResult=told)
        session.runs("Bash", {"command": "make fmt"})
    engine = Engine()
    number = engine.adopt(document_of(*session.records))
    file = engine.answer_request(number, ListFiles())[0]
    assert file.accesses[-1].added == added
    outline = engine.answer_request(number, OutlineConversation(OutlineOptions(unfolds_all=True)))
    found = engine.answer_request(number, DescribeCards(tuple(outline.refs(0, len(outline)))))
    assert [diff.added for card in found for diff in getattr(card, "diffs", ())] == [2, added]
    engine.close()


def test_a_write_over_a_file_counts_the_lines_of_its_patch() -> None:
    session = ClaudeSession()
    session.prompt("write it")
    hunk = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 3, "lines": [" a", "-b", "+c", "+d"]}
    told = {"type": "update", "content": "a\nc\nd\n", "structuredPatch": [hunk], "originalFile": "a\nb\n"}
    session.runs("Write", wrote("a\nc\nd\n")[1], toolUseResult=told)
    engine = Engine()
    number = engine.adopt(document_of(*session.records))
    file = engine.answer_request(number, ListFiles())[0]
    assert (file.added, file.removed) == (2, 1)
    outline = engine.answer_request(number, OutlineConversation(OutlineOptions(unfolds_all=True)))
    found = engine.answer_request(number, DescribeCards(tuple(outline.refs(0, len(outline)))))
    assert [(diff.added, diff.removed) for card in found for diff in getattr(card, "diffs", ())] == [(2, 1)]
    engine.close()
