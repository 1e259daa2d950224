"""Plain words of Markdown, for excerpts on one line: titles, rows, tooltips."""

from __future__ import annotations

import re

from inspector.protocol.payloads.content_blocks import is_markdown

_MARK = re.compile(r"[`*#\[|]")
"""One of them is in every text that is Markdown; most texts have none."""
_LOOKED_AT = 4_000
"""Characters of a text that are searched for code."""
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_RULE = re.compile(r"\s*\|?[\s:|]*-{3,}[\s:|-]*|\s{0,3}(?:[-*_]\s*){3,}")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*")
_QUOTE = re.compile(r"^(?:\s{0,3}>\s?)+")
_ITEM = re.compile(r"^(\s*)[-*+]\s+(?=\S)")
# Repeats are bounded here too, since whole messages are searched.
_PICTURE = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\s]{0,500}\)")
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^\n]{1,500}?)(?<!`)\1(?!`)")
"""Looked for at whole runs of marks only: at each of thousands in a row it would take seconds."""
_EMPHASIS = (
    re.compile(r"(?<![\w*])(\*{2,3})(?=[^\s*])([^\n]{1,500}?)(?<=[^\s*])\1(?![\w*])"),
    re.compile(r"(?<![\w*/])(\*)(?=[\w\"'(“])([^*\n]{1,300}?)(?<=[^\s*])\*(?![\w*/])"),
    re.compile(r"(?<![\w_])(__?)(?=[^\s_])([^_\n]* [^_\n]*?)(?<=[^\s_])\1(?![\w_])"),
    re.compile(r"(?<![\w~])(~~)(?=\S)([^~\n]{1,300}?)(?<=\S)~~(?![\w~])"),
)
"""Of underscores only words with a blank between them: `__init__` and `_name_` are names."""
_EDIT_BEGIN, _EDIT_MIDDLE, _EDIT_END = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
"""Lines of an edit in code, as models are asked to write it: old lines, a rule, new lines."""
_HELD = re.compile("\ue000(\\d+)\ue001")


def plain_words(text: str) -> str:
    """Returns a text without the marks of Markdown; a text that is no Markdown stays as it is.

    Code keeps its characters. Lines stay lines.
    """
    # A quick search first: most texts have no such mark.
    if _MARK.search(text) is None or not (_CODE.search(text[:_LOOKED_AT]) or is_markdown(text)):
        return text
    lines: list[str] = []
    fenced = False
    for line in with_edits_as_diffs(text).split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            lines.append(line)
        elif not _RULE.fullmatch(line):
            lines.append(_plain_line(line))
    return "\n".join(lines)


def with_edits_as_diffs(text: str) -> str:
    """Returns Markdown whose code with edits (`<<<<<<< SEARCH`) is a diff; other text stays as it is."""
    if _EDIT_BEGIN not in text:
        return text
    lines = text.split("\n")
    fence: int | None = None
    for at, line in enumerate(lines):
        if _FENCE.match(line):
            fence = at if fence is None else None
        elif fence is not None and line.startswith(_EDIT_BEGIN):
            _mark_edit(lines, fence, at)
    return "\n".join(line for line in lines if line != _DROPPED)


_DROPPED = "\ue003"
_LONGEST_EDIT = 2_000
"""Limit of lines."""


def _mark_edit(lines: list[str], fence: int, begin: int) -> None:
    """Marks old and new lines of an edit in place, if it is complete."""
    middle = 0
    for at in range(begin + 1, min(len(lines), begin + _LONGEST_EDIT)):
        mark = lines[at].rstrip()
        if mark == _EDIT_MIDDLE and not middle:
            middle = at
        elif mark == _EDIT_END and middle:
            break
        elif _FENCE.match(mark):
            return
    else:
        return
    for one in range(begin + 1, at):
        lines[one] = f"{'-' if one < middle else '+'}{lines[one]}"
    for one in (begin, middle, at):
        lines[one] = _DROPPED
    if fenced := _FENCE.match(lines[fence]):
        lines[fence] = f"{fenced[0]}diff"


def _plain_line(line: str) -> str:
    heading = _HEADING.fullmatch(line)
    if heading is not None:
        line = heading[1]
    line = _ITEM.sub(r"\1• ", _QUOTE.sub("", line))
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        # Code is set aside behind characters of the private area, so that no rule changes it.
        held.append(found[2])
        return f"\ue000{len(held) - 1}\ue001"

    is_row = line.lstrip().startswith("|")
    # An escaped bar is no border of a cell.
    if is_row:
        line = line.replace("\\|", "\ue002")
    line = _CODE.sub(hold, line)
    if is_row:
        line = " · ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
    line = _PICTURE.sub(r"\1", line)
    for pattern in _EMPHASIS:
        line = pattern.sub(r"\2", line)
    # The text may contain the private characters itself, with any number.
    line = _HELD.sub(lambda found: held[int(found[1])] if int(found[1]) < len(held) else found[0], line)
    return line.replace("\ue002", "|") if is_row else line
