"""Maps the values of a JSON text to spans of it; words for paths of values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from inspector.store.messages.payload_values import OPEN_JSON as OPEN_JSON

Steps = tuple[str | int, ...]
"""Path from the root to a value: keys and indexes."""

# The closing quote is optional: a text may be cut inside a string.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b|[{}\[\]:,]')


class Span(NamedTuple):
    """Span of a value in a text."""

    steps: Steps
    start: int
    stop: int


def spans_of(text: str) -> Iterator[Span]:
    """Yields spans of the values in a JSON text, children first; truncated texts yield complete values. O(text)."""
    # Path, start and next index of each open object or list; -1 for objects.
    stack: list[tuple[Steps, int, int]] = []
    steps, key = Steps(), ""
    for token in _TOKEN.finditer(text):
        written = token[0]
        if written in ("{", "["):
            stack.append((steps, token.start(), -1 if written == "{" else 0))
            steps = (*steps, 0) if written == "[" else steps
        elif written in ("}", "]"):
            if not stack:
                return
            steps, start, _ = stack.pop()
            yield Span(steps, start, token.end())
        elif written == ",":
            if stack and stack[-1][2] >= 0:
                around, start, place = stack[-1]
                stack[-1] = (around, start, place + 1)
                steps = (*around, place + 1)
            elif stack:
                steps = stack[-1][0]
        elif written == ":":
            steps = (*(stack[-1][0] if stack else ()), key)
        else:
            # Only a few blanks are skipped, so that the time stays linear.
            is_key = written[0] == '"' and text[token.end() : token.end() + 20].lstrip()[:1] == ":"
            if is_key and stack and stack[-1][2] < 0:
                key = _key_of(written)
            else:
                yield Span(steps, token.start(), token.end())


def _key_of(written: str) -> str:
    try:
        return str(json.loads(written, strict=False))
    except ValueError:  # its escapes may be invalid
        return written.strip('"')


def steps_at(text: str, place: int) -> Steps | None:
    """Returns the path of the innermost value at an offset; None outside of values."""
    return next((span.steps for span in spans_of(text) if span.start <= place < span.stop), None)


def span_at(text: str, steps: Sequence[str | int]) -> Span | None:
    """Returns the span of a value, or of its nearest existing ancestor."""
    wanted, best = tuple(steps), None
    for span in spans_of(text):
        if span.steps == wanted[: len(span.steps)] and (best is None or len(span.steps) > len(best.steps)):
            best = span
    return best


def path_step(step: str | int) -> str:
    """Returns one step of a path in filter syntax, quoted if necessary."""
    text = str(step)
    return text if text.isascii() and text.replace("_", "").isalnum() else json.dumps(text, ensure_ascii=False)


def path_words(steps: Sequence[str | int]) -> str:
    """Returns a path in filter syntax; "the whole" for the root."""
    return path_of(steps) or "the whole"


def path_of(steps: Sequence[str | int]) -> str:
    """Returns a path, such as `payload.params."odd key".0` or `json(payload.text).status`; "" for the root."""
    text = ""
    for step in steps:
        text = f"json({text})" if step == OPEN_JSON else f"{text}.{path_step(step)}" if text else path_step(step)
    return text
