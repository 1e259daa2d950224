"""What programs of agents write between tags of their own, without the tags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.tagged_texts import extract_text

ENDED = (
    "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n<output-file>/tmp/a1</output-file>"
    '\n<status>completed</status>\n<summary>Agent "Look" completed</summary>\n<result>Two <b>faults</b>.</result>'
    "\n</task-notification>"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ENDED, 'Agent "Look" completed\nTwo <b>faults</b>.'),
        ("<task-notification><task-id>b2</task-id><status>killed</status></task-notification>", "task b2 killed"),
        ("<command-name>/clear</command-name>\n  <command-message>clear</command-message>", "/clear"),
        ("<command-message>x runs</command-message>\n<command-name>/x</command-name>\n<command-args>a b</command-args>",
         "/x a b"),
        ("<local-command-stdout>Bye.</local-command-stdout>", "Bye."),
        ("<tool_use_error>Read it first.</tool_use_error>", "Read it first."),
        ("<bash-input>ls</bash-input><bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", "! ls\na"),
        ("<system-reminder>A.</system-reminder><system-reminder>B.</system-reminder>Fix it.", "A.\nB.\nFix it."),
        ('<teammate-message teammate_id="lead" summary="s">\nReview.\n</teammate-message>', "lead: Review."),
        ("<system-reminder>It was cut o", "It was cut o"),
        ("<environment_context></environment_context>", "<environment_context></environment_context>"),
        ("Is <command-name>/x</command-name> right?", "Is <command-name>/x</command-name> right?"),
        ("<div>Centre it.</div>", "<div>Centre it.</div>"),
    ],
)  # fmt: skip
def test_what_is_said_between_tags(text: str, words: str) -> None:
    assert extract_text(text)["text"] == words


_PIECES = (
    "<system-reminder>", "</system-reminder>", "<bash-input>", "<bash-input ", "<teammate-message ", "<command-name>",
    "<task-notification>", "</task-notification>", "x" * 401, "x", "<", ">", " ", "\n",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES)))
def test_any_tags_say_something(parts: list[str]) -> None:
    text = "".join(parts)
    assert extract_text(text)["text"] or not text
