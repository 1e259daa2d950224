"""Plain words of Markdown; code, names and texts that are no Markdown stay as they are."""

from __future__ import annotations

import time

import pytest

from inspector.present.wire_text import excerpt
from inspector.protocol.payloads.markdown_text import plain_words, with_edits_as_diffs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("## Result\n\nAll **12 tests** pass, see [the log](https://example.com/log).",
         "Result\n\nAll 12 tests pass, see the log."),
        ("**`make test`** is *green* and ~~red~~ again", "make test is green and red again"),
        ("Run `a*b*c` and `**kwargs`", "Run a*b*c and **kwargs"),
        ("**Note:** `__init__` and __init__ and _private_name", "Note: __init__ and __init__ and _private_name"),
        ("**A** _few words_ here", "A few words here"),
        ("```python\nx = a ** b ** c\n# no heading\n```", "x = a ** b ** c\n# no heading"),
        ("> **quoted** words\n- item\n* [x](y) other\n1. first", "quoted words\n• item\n• x other\n1. first"),
        ("| name | of |\n|---|---|\n| `a \\| b` | **c** |", "name · of\na | b · c"),
        ("**x** and 2 * 3 * 4 and *.py and a/*.txt, b/*.md", "x and 2 * 3 * 4 and *.py and a/*.txt, b/*.md"),
        ("![picture](a.png) and **bold**", "picture and bold"),
        ("``a`b`` and `c` ```x", "a`b and c ```x"),
    ],
)  # fmt: skip
def test_marks_are_left_out(text: str, words: str) -> None:
    assert plain_words(text) == words


@pytest.mark.parametrize(
    "text",
    ["2 * 3 * 4", "ls *.py && rm -rf build/*", "#!/bin/sh\n# a comment\nx=1\ny=2\nz=3\n", "a_b_c __init__", "plain", "",
     "| grep x", "[1, 2, 3]", "x[0](y)"[:4]],
)  # fmt: skip
def test_what_is_no_markdown_stays(text: str) -> None:
    assert plain_words(text) == text


def test_a_secret_cut_by_marks_stays_masked() -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    assert token not in excerpt(f"The **token** is {token} here")
    cut = f"The **word** is {token[:10]}**{token[10:]}**"
    assert token not in excerpt(cut)


def test_rows_of_hostile_text_are_painted_at_once() -> None:
    began = time.perf_counter()
    for _ in range(60):
        excerpt("`" * 8_000)
    assert time.perf_counter() - began < 1


def test_hostile_text_takes_no_time() -> None:
    began = time.perf_counter()
    for text in (
        "**" * 20_000,
        "`" * 40_000,
        "[" * 40_000,
        "*a " * 20_000,
        "> " * 20_000,
        "|" * 40_000,
        "_ a" * 20_000,
    ):
        plain_words("**bold** `a` `b`\n" + text)
    assert time.perf_counter() - began < 5


EDIT = "bread.md\n```\n<<<<<<< SEARCH\n20 g salt\n=======\n10 g salt\n>>>>>>> REPLACE\n```\nDone."


def test_edits_in_code_are_diffs() -> None:
    assert with_edits_as_diffs(EDIT) == "bread.md\n```diff\n-20 g salt\n+10 g salt\n```\nDone."
    assert plain_words(EDIT) == "bread.md\n-20 g salt\n+10 g salt\nDone."
    assert excerpt(EDIT) == "bread.md -20 g salt +10 g salt Done."
    new = "```py\n<<<<<<< SEARCH\n=======\na\n=======\n>>>>>>> REPLACE\n```"
    assert with_edits_as_diffs(new) == "```diff\n+a\n+=======\n```"


@pytest.mark.parametrize(
    "text",
    ["<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", "```\n<<<<<<< SEARCH\na\n=======\nb\n```",
     "```\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n```", "```\n<<<<<<< SEARCH"],
)  # fmt: skip
def test_incomplete_edits_and_those_outside_of_code_stay(text: str) -> None:
    assert with_edits_as_diffs(text) == text
