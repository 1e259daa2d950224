"""Shell commands that only read or search."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.payloads.reading_commands import sort_of_command


@pytest.mark.parametrize(
    ("command", "sort"),
    [
        ("ls -la src", "read"), ("cat a.py b.py | head -20", "read"), ("cd app && sed -n '1,80p' main.go", "read"),
        ("git -C app status --short", "read"), ("git --no-pager diff HEAD~1 -- 'a b'", "read"), ("git branch", "read"),
        ("git stash list", "read"), ("nl -ba \"$FILE\" 2>/dev/null", "read"), ("wc -l *.py; pwd", "read"),
        ("grep -rn 'a > b' . 2>&1 | sort | uniq -c", "search"), ("rg --files | wc -l", "search"),
        ("find . -name '*.ts' -not -path './node_modules/*'", "search"), ("git grep total", "search"),
        ("/usr/bin/grep x y", "search"), ("test -f a || echo no", "read"),
        ("sort -u a", "read"),
    ],
)  # fmt: skip
def test_reading_commands(command: str, sort: str) -> None:
    assert sort_of_command(command) == sort


@pytest.mark.parametrize(
    "command",
    [
        "rm a", "cat a > b", "cat a >> b", "echo x | tee y", "cat $(rm a)", "cat `rm a`", "cat a & rm b", "(rm a)",
        "find . -delete", "find . -exec rm {} +", "fd x -x rm", "sed -i s/a/b/ c", "sed -n 'w out' a", "sort -o a a",
        "sort -uo a a", "uniq a b", "fd -Hx rm", "git commit -m x", "git branch new", "git branch -D old", "git stash",
        "git -c core.pager=rm log",
        "git diff --output=a", "python x.py", "make test", "X=1 cat a", "cat a; rm b", "cat <<EOF\nx\nEOF", "ls\nrm a",
        "cat \"$(rm a)\"", "cat 'open", "tree -o a", "rg --pre rm x", "xargs rm", "ls && bash -c 'rm a'", "git",
    ],
)  # fmt: skip
def test_commands_that_may_change_something(command: str) -> None:
    assert sort_of_command(command) == ""


def test_hostile_commands_take_no_time() -> None:
    began = time.process_time()
    for text in ("'" * 2_000, "a" * 2_000, '"\\' * 1_000, "$" * 2_000, "a|" * 1_000, "\\\n" * 1_000, "'a" * 1_000):
        sort_of_command(text)
    assert time.process_time() - began < 0.2


@given(st.text(alphabet="ls cat;|&><'\"$`\\(\nrm", max_size=40))
def test_no_text_is_too_odd(text: str) -> None:
    assert sort_of_command(text) in ("", "read", "search")
