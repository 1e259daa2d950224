"""Splits the Markdown of a session of Aider into prompts, answers and outputs of the program.

The program begins a line of a prompt with `####`, one of its output with `>`, and ends both with two spaces. Texts of
the model may begin alike, but seldom end so. Editors may have removed the spaces: then a mark within an answer is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

PROMPT, ANSWER, OUTPUT = "prompt", "answer", "output"

_PROMPT_LINE, _OUTPUT_LINE = re.compile(r"####(?: |$)"), re.compile(r">(?: |$)")
_SPACES = "  "
_CERTAIN = re.compile(r"> (?:Tokens: [\d.,]+[kM]? sent|Applied edit to |Commit [0-9a-f]{6,} |\^C|litellm\.\w+Error)")
"""Output that may follow an answer although its spaces were removed."""
_MOST_LINES = 500
"""Limit of lines in one message of the program."""


def blocks_in(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the blocks of a session, each with its kind and its lines; an output with its messages."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    has_spaces = _has_spaces(lines)
    kind, held, is_after_blank, place = "", list[list[str]](), False, 0
    while place < len(lines):
        line, count = lines[place], 1
        if kind != ANSWER and not line.strip():
            is_after_blank, place = True, place + 1
            continue
        found = _kind_of(line, kind, has_spaces)
        words = [line[5:].removesuffix(_SPACES) if found == PROMPT else line]
        if found == OUTPUT:
            if has_spaces and not line.endswith(_SPACES):
                count = _message_length(lines, place)
            words = [line[2:].rstrip(), *lines[place + 1 : place + count]]
        elif found == ANSWER and kind == OUTPUT and not is_after_blank:  # the program's next line
            held[-1].append(line)
            place += 1
            continue
        # Editors that remove the spaces also divide a prompt by blank lines.
        is_next = found == PROMPT and is_after_blank
        is_next = is_next and (has_spaces or any(one[0].startswith("/") for one in (words, *held[:1])))
        if found != kind or is_next:
            if held:
                yield kind, _joined(held)
            kind, held = found, []
        held.append(words)
        is_after_blank, place = False, place + count
    if held:
        yield kind, _joined(held)


def _joined(held: list[list[str]]) -> list[str]:
    return ["\n".join(line.rstrip() for line in one) if len(one) > 1 else one[0] for one in held]


def _has_spaces(lines: Sequence[str]) -> bool:
    """Returns True if most lines with a mark end with two spaces."""
    marked = [line.endswith(_SPACES) for line in lines if _PROMPT_LINE.match(line) or _OUTPUT_LINE.match(line)]
    return sum(marked) * 2 > len(marked)


def _kind_of(line: str, kind: str, has_spaces: bool) -> str:
    """Returns the kind of a line in or after a block of a kind."""
    is_certain = has_spaces and line.endswith(_SPACES)
    if _PROMPT_LINE.match(line) and (is_certain if has_spaces else kind != ANSWER):
        return PROMPT
    if _OUTPUT_LINE.match(line) and (is_certain or kind != ANSWER or _CERTAIN.match(line)):
        return OUTPUT
    return ANSWER


def _message_length(lines: Sequence[str], start: int) -> int:
    """Returns the number of lines of a message that does not end on its first line."""
    blank = 0
    for count, line in enumerate(lines[start + 1 : start + _MOST_LINES], 1):
        is_marked = _PROMPT_LINE.match(line) or _OUTPUT_LINE.match(line)
        blank = blank or (count if is_marked or not line.strip() else 0)
        if line.strip() and line.endswith(_SPACES):
            return blank if is_marked else count + 1
    return blank or 1
