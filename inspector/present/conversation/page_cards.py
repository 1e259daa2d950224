"""Prepares cards for a page that is sent to others: relative paths, and no reminders that a program wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from inspector.present import formats
from inspector.present.conversation.blocks import Block, Blocks, CodeBlock, Heading, Paragraph, Run, RunStyle
from inspector.present.conversation.cards import Card, Diff, Output, OutputLine
from inspector.present.conversation.tool_sorts import sort_of_tool

_BEGIN, _END = "<system-reminder>", "</system-reminder>"
_HOME = re.compile(r"(?:[A-Za-z]:\\Users\\|/Users/|/home/)[^/\\\s:]{1,80}(?=[/\\]|\Z)")
_BEFORE, _AFTER = r"(?<![\w./\\~-])", r"(?=[\s\"'`),;:\]}>|&*?]|\.(?:\s|\Z)|\Z)"
"""Characters around a path that is not part of a longer one."""
_LEAST_FOLDER = 3

Change = Callable[[str], str]


class PageCards:
    """Changes cards for a page.

    Args:
        folder: working folder as written; "" if unknown.
    """

    def __init__(self, folder: str) -> None:
        self._rules: list[tuple[re.Pattern[str], str]] = []
        folder = folder.rstrip("/\\")
        if len(folder) >= _LEAST_FOLDER:
            name = _BEFORE + re.escape(folder)
            self._rules += [
                (re.compile(rf"{name}[/\\](?=[\w.@~+-])"), ""),
                (re.compile(rf"{name}(?=[/\\]?{_AFTER})"), "."),
            ]
        if (home := _HOME.match(folder)) is not None:
            self._rules.append((re.compile(rf"{_BEFORE}{re.escape(home[0])}(?=[/\\])"), "~"))

    def card(self, card: Card) -> Card:
        """Returns a card as the page shows it."""
        changed = _map_texts(card, self.shorten, reads_file=sort_of_tool(getattr(card, "tool", "")) == "read")
        blocks = getattr(changed, "blocks", ())
        return msgspec.structs.replace(changed, blocks=_without_reminders(blocks)) if blocks else changed

    def shorten(self, text: str) -> str:
        """Returns a text with paths relative to the folder, and to the home that contains it."""
        for rule, replacement in self._rules:
            text = rule.sub(replacement, text)
        return text


def _map_texts(value: Any, change: Change, *, reads_file: bool = False) -> Any:
    """Changes all texts of a struct, without contents of files."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_map_texts(one, change, reads_file=reads_file) for one in value)
    if isinstance(value, Output):
        lines = _without_reminder_lines(value.lines)
        return msgspec.structs.replace(value, lines=lines if reads_file else _map_texts(lines, change))
    if isinstance(value, Diff):
        return msgspec.structs.replace(value, path=change(value.path))
    if isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        mapped = {
            name: _map_texts(one, change, reads_file=reads_file)
            for name, one in fields.items()
            if isinstance(one, str | tuple | msgspec.Struct) and name != "ref"
        }
        return msgspec.structs.replace(value, **mapped)
    return value


# Reminders


def _left_out(size: int) -> str:
    return f"[system reminder of {formats.count_of(size, 'character')} left out]"


def _without_reminder_lines(lines: tuple[OutputLine, ...]) -> tuple[OutputLine, ...]:
    found, size = list[OutputLine](), -1
    for line in lines:
        text = line.text
        if size < 0:
            before, begins, text = text.partition(_BEGIN)
            if before or not begins:
                found.append(msgspec.structs.replace(line, text=before))
            if not begins:
                continue
            size = 0
        inner, ends, rest = text.partition(_END)
        size += len(inner)
        if ends:
            found.append(OutputLine(_left_out(size)))
            found += [OutputLine(rest)] if rest.strip() else []
            size = -1
    if size >= 0:
        found.append(OutputLine(_left_out(size)))
    return tuple(found)


def _without_reminders(blocks: Sequence[Block]) -> Blocks:
    """Replaces blocks from the begin of a reminder to its end by one line."""
    found, size = list[Block](), -1
    for block in blocks:
        text = _text_of(block)
        begins = size < 0 and text.lstrip().startswith(_BEGIN)
        if size < 0 and not begins:
            found.append(block)
            continue
        size = max(0, size) + len(text)
        if _END in text:
            found.append(_note(size - len(_BEGIN) - len(_END)))
            rest = text.rpartition(_END)[2].strip()
            found += [Paragraph((Run(rest),))] if rest else []
            size = -1
    if size >= 0:
        found.append(_note(size))
    return tuple(found)


def _note(size: int) -> Paragraph:
    return Paragraph((Run(_left_out(max(0, size)), int(RunStyle.ITALIC)),))


def _text_of(block: Block) -> str:
    """Returns the text of a block, inner ones too."""
    if isinstance(block, Paragraph | Heading):
        return "".join(run.text for run in block.runs)
    if isinstance(block, CodeBlock):
        return block.text
    texts = list[str]()
    _map_texts(block, lambda text: texts.append(text) or text)
    return "\n".join(texts)
