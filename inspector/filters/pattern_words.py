"""Translates errors of Python's `re` into sentences for users."""

from __future__ import annotations

import re

_SENTENCES = (
    ("missing ), unterminated subpattern", "A ( is not closed"),
    ("unbalanced parenthesis", "A ) has no opening ("),
    ("unterminated character set", "A [ is not closed"),
    ("nothing to repeat", "A repetition has no character before it"),
    ("multiple repeat", "A repetition follows a repetition"),
    ("bad escape (end of pattern)", "A \\ is at the end"),
    ("min repeat greater than max repeat", "The repetition asks for more than it allows"),
    ("look-behind requires fixed-width pattern", "A lookbehind needs a fixed length"),
    ("unexpected end of pattern", "It ends in the middle of a group"),
    ("missing <", "A < is missing"),
    ("missing group name", "The group has no name"),
    ("cannot refer to an open group", "It refers to a group that is still open"),
)
_BEGINNINGS = (
    ("bad escape ", "{} has no meaning"),
    ("bad character range ", "The range {} runs backwards"),
    ("invalid group reference ", "There is no group {}"),
    ("unknown group name ", "There is no group {}"),
    ("unknown extension ", "{} begins no group"),
)


def pattern_trouble(error: re.error) -> str:
    """Returns one sentence without a full stop."""
    for message, sentence in _SENTENCES:
        if error.msg.startswith(message):
            return sentence
    for message, sentence in _BEGINNINGS:
        if error.msg.startswith(message):
            return sentence.format(error.msg.removeprefix(message))
    return f"{error.msg[:1].upper()}{error.msg[1:]}"
