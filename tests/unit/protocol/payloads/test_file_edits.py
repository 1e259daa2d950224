"""What calls of an agent's tools mean to do, told by the shape of their arguments: edits, plans, commands."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.payloads.file_edits import MAX_LINES, edits_of, line_diff, patch_edits
from inspector.protocol.payloads.plans import Plan, Step, plan_of
from inspector.protocol.payloads.shell_commands import command_of

PATCH = """*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@ def total():
 def total():
-    return 1
+    return 2
*** Add File: new.txt
+one
+two
*** Delete File: old.txt
*** End Patch
"""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "a\nb\nc", "new_string": "a\nB\nc"}),
        ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "a\nb\nc", "new_string": "a\nB\nc"}]}),
        ("edit_file", {"path": "a.py", "edits": [{"oldText": "a\nb\nc", "newText": "a\nB\nc"}]}),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py", "old_str": "a\nb\nc", "new_str": "a\nB\nc"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a.py\n@@\n a\n-b\n+B\n c\n*** End Patch"}),
        ("shell", {"command": ["apply_patch", "*** Begin Patch\n*** Update File: a.py\n@@\n a\n-b\n+B\n c\n"]}),
    ],
)
def test_edits_of_many_tools_are_one_difference(tool: str, arguments: dict[str, Any]) -> None:
    (edit,) = edits_of(tool, arguments)
    assert (edit.path, edit.change_type, edit.added, edit.removed) == ("a.py", "changed", 1, 1)
    assert edit.lines == ((" ", "a"), ("-", "b"), ("+", "B"), (" ", "c"))


def test_a_whole_text_is_written_by_tools_that_write() -> None:
    (edit,) = edits_of("Write", {"file_path": "a.txt", "content": "one\ntwo\n"})
    assert (edit.change_type, edit.lines) == ("written", (("+", "one"), ("+", "two")))
    assert edits_of("Read", {"file_path": "a.txt", "content": "one"}) == []
    assert edits_of("post_message", {"path": "a", "content": "one"}) == []


def test_a_patch_says_what_becomes_of_each_file() -> None:
    changed, added, deleted = patch_edits(PATCH)
    assert (changed.path, changed.note, changed.added, changed.removed) == ("src/a.py", "moves to src/b.py", 1, 1)
    assert changed.lines[0] == ("@", "def total():")
    assert (added.change_type, added.path, added.added) == ("written", "new.txt", 2)
    assert (deleted.change_type, deleted.path, deleted.lines) == ("deleted", "old.txt", ())
    assert patch_edits("no patch") == []
    assert patch_edits(PATCH[:60])[0].path == "src/a.py"


def test_what_stays_is_left_out_but_for_a_few_lines() -> None:
    before = [f"line {n}" for n in range(100)]
    after = [*before[:50], "new", *before[50:]]
    lines = line_diff(before, after)
    assert [text for _, text in lines] == ["", "line 47", "line 48", "line 49", "new", "line 50", "line 51", "line 52"]
    assert line_diff(before, before) == [("@", ""), *((" ", text) for text in before[-3:])]


def test_a_long_text_is_bounded() -> None:
    (edit,) = edits_of("Write", {"path": "a", "content": "x\n" * (MAX_LINES + 5)})
    assert (len(edit.lines), edit.left_out) == (MAX_LINES, 5)


def test_plans_of_several_agents() -> None:
    todos = [
        {"content": "Read", "status": "completed", "activeForm": "Reading"},
        {"content": "Write", "status": "pending"},
    ]
    assert plan_of({"todos": todos}) == Plan((Step("Read", "done"), Step("Write", "later")), "", "todos")
    plan = plan_of({"explanation": "As asked.", "plan": [{"step": "Fix", "status": "in_progress"}]})
    assert plan is not None
    assert (plan.explanation, plan.summary) == ("As asked.", "0 of 1 done, now: Fix")
    assert plan_of({"todos": [{"content": "Read"}]}) is None
    assert plan_of({"items": [{"title": "Bread", "status": "in stock"}]}) is None


def test_commands_are_those_that_a_tool_runs() -> None:
    assert command_of("Bash", {"command": "ls -la"}) == ("ls -la", "command")
    assert command_of("shell", {"command": ["bash", "-lc", "ls | wc"]}) == ("ls | wc", "command")
    assert command_of("exec_command", {"cmd": ["git", "commit", "-m", "two words"]}) == (
        "git commit -m 'two words'", "cmd",
    )  # fmt: skip
    assert command_of("str_replace_editor", {"command": "view"}) is None
    assert command_of(None, {"command": "ls"}) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("old_str", "status", "step")), inner),
    max_leaves=6,
)


@given(values)
def test_nothing_raises(value: Any) -> None:
    for arguments in (
        value,
        {"file_path": value, "old_string": "a", "new_string": value},
        {"edits": value, "path": "p"},
    ):
        edits_of("Write", arguments)
        plan_of({"todos": [value], "plan": arguments})
        command_of("bash", {"command": value})
