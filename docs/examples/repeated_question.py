"""Example of a plug-in: a check that finds a user who asks the same question again, and a field with its number.

Copy this file into the folder `plugins/` of your settings and switch it on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from inspector.plugin import Check, Field, Message, Problem, require_api

__version__ = "1.0"
require_api(1)


def find(messages: Sequence[Message], memory: dict[str, Any]) -> Iterator[Problem]:
    """Finds questions that were asked before; `memory` is kept for the whole document."""
    for message in messages:
        question = message.text.strip().lower()
        if not question.endswith("?"):
            continue
        first = memory.setdefault(question, message.number)
        if first != message.number:
            yield Problem(number=message.number, detail=f"No. {first} has the same question")


CHECKS = [
    Check(
        code="question-repeated",
        severity="note",
        title="A question was asked before",
        sentence="{who} asks again: {detail}.",
        matters="The first answer may have been wrong or missing.",
        fix="Compare both answers.",
        kinds=("chat",),
        find=find,
    )
]
FIELDS = [
    Field(
        name="question.words",
        type="whole number",
        label="Words",
        help="Number of words of a question; absent for other messages.",
        value=lambda message: len(message.text.split()) if message.text.strip().endswith("?") else None,
    )
]
