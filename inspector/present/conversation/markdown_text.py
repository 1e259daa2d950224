"""Writes cards as Markdown, for the clipboard and for files. Text from the wire is escaped and masked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from inspector.present import formats
from inspector.present.conversation.blocks import (
    Block,
    CodeBlock,
    Heading,
    ListBlock,
    Paragraph,
    Quote,
    Run,
    RunStyle,
    Table,
)
from inspector.present.conversation.card_words import call_facts, is_web_link, text_facts
from inspector.present.conversation.cards import (
    AgentCard,
    CallCard,
    Card,
    CardKind,
    CompactionCard,
    Diff,
    EndCard,
    FoldCard,
    GroupCard,
    OtherCard,
    TextCard,
    ThoughtCard,
)
from inspector.present.conversation.page_head import PageHead

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&$!]|:(?=//))")
_LINE_START = re.compile(r"^[ \t]*([-+=](?=[ \t\-+=]|$)|\d{1,9}(?=[.)](?:[ \t]|$)))", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_FENCE = re.compile(r"`+")
_MARKS = ((RunStyle.BOLD, "**"), (RunStyle.ITALIC, "*"), (RunStyle.STRIKE, "~~"))


def escaped(text: str) -> str:
    """Escapes all markup of Markdown in a text of one or more lines."""
    return _LINE_START.sub(_escape_start, _INDENT.sub("", _MARKUP.sub(r"\\\1", text)))


def _escape_start(found: re.Match[str]) -> str:
    # A number is escaped at the mark behind it.
    return found[1] + "\\" if found[1].isdigit() else "\\" + found[1]


def fenced(text: str, language: str = "") -> str:
    """Returns a fenced block that the text cannot end."""
    fence = "`" * max(3, 1 + max((len(found) for found in _FENCE.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def inline_code(text: str) -> str:
    """Returns a text as code within a line."""
    fence = "`" * (1 + max((len(found) for found in _FENCE.findall(text)), default=0))
    edge = " " if text[:1] in ("`", " ", "") or text[-1:] in ("`", " ") else ""
    line = " ".join(text.split("\n"))
    return f"{fence}{edge}{line}{edge}{fence}"


def runs_text(runs: Iterable[Run]) -> str:
    """Writes runs of a paragraph. A style that begins or ends inside of a word is left out: its marks would be text."""
    listed = list(runs)
    written = ""
    for place, run in enumerate(listed):
        after = listed[place + 1] if place + 1 < len(listed) else None
        begins = _is_edge(written[-1:]) or run.text[:1].isspace()
        ends = after is None or run.text[-1:].isspace() or _is_edge(after.text[:1])
        written += _run_text(run, styled=begins and ends)
    return written


def _is_edge(character: str) -> bool:
    return not character or character in " \n\t.,;:?()"


def _run_text(run: Run, *, styled: bool) -> str:
    if not run.text.strip():
        return run.text
    # Marks of a style may not stand beside blanks.
    lead, tail = run.text[: len(run.text) - len(run.text.lstrip())], run.text[len(run.text.rstrip()) :]
    text = run.text.strip()
    text = inline_code(text) if run.style & RunStyle.CODE else escaped(text).replace("\n", "\\\n")
    for style, mark in _MARKS:
        if run.style & style and styled:
            text = f"{mark}{text}{mark}"
    if run.link and is_web_link(run.link):
        text = f"[{text}](<{run.link}>)"
    return f"{lead}{text}{tail}"


def blocks_text(blocks: Sequence[Block]) -> str:
    """Writes blocks, a blank line between two."""
    return "\n\n".join(filter(None, map(_block_text, blocks)))


def _block_text(block: Block) -> str:
    if isinstance(block, Paragraph):
        return runs_text(block.runs).lstrip(" \t")  # indented, it would be code
    if isinstance(block, Heading):
        return f"{'#' * block.level} {runs_text(block.runs)}".replace("\\\n", " ")
    if isinstance(block, CodeBlock):
        return fenced(block.text, block.language)
    if isinstance(block, Quote):
        return quoted(blocks_text(block.blocks))
    if isinstance(block, ListBlock):
        return _list_text(block)
    if isinstance(block, Table):
        return _table_text(block)
    return "---"


def quoted(text: str) -> str:
    """Returns a text as a quotation."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _list_text(block: ListBlock) -> str:
    lines = list[str]()
    for place, item in enumerate(block.items):
        mark = "-" if block.start is None else f"{block.start + place}."
        box = "" if item.checked is None else "[x] " if item.checked else "[ ] "
        inner = (box + blocks_text(item.blocks)).split("\n")
        lines.append(f"{mark} {inner[0]}".rstrip())
        lines += [" " * (len(mark) + 1) + line if line else "" for line in inner[1:]]
    return "\n".join(lines)


def _table_text(block: Table) -> str:
    signs = {"left": "---", "center": ":-:", "right": "--:"}

    def row(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    def cell(runs: Sequence[Run]) -> str:
        return runs_text(runs).replace("\\\n", " ").replace("\n", " ")

    lines = [row(map(cell, block.head)), row(signs[align] for align in block.aligns)]
    lines += [row(map(cell, cells)) for cells in block.rows]
    lines += [row([f"{formats.count_of(block.more, 'more row')}"])] if block.more else []
    return "\n".join(lines)


# Cards


def markdown_head(head: PageHead) -> str:
    """Returns the head of a page."""
    about = "\\\n".join(map(escaped, head.about))
    return "\n\n".join(filter(None, (f"# {escaped(head.title)}", about, f"*{escaped(head.notes)}*"))) + "\n"


class MarkdownCards:
    """Writes cards one after another; on a page, a heading names each new speaker, also of thoughts and calls."""

    def __init__(self, *, is_page: bool) -> None:
        self._is_page = is_page
        self._speaker = ""

    def card(self, card: Card) -> str:
        """Returns the Markdown of a card, without a line end behind it."""
        return "\n\n".join(filter(None, (self._heading(card), *self._parts(card))))

    def page_card(self, card: Card, *, is_folded: bool) -> str:
        """Returns the Markdown of a card on a page, with its line ends; inside of a fold an item of a list."""
        text = self.card(card)
        return "\n- " + text.replace("\n", "\n  ") if is_folded else f"\n{text}\n"

    def _parts(self, card: Card) -> list[str]:
        if isinstance(card, TextCard):
            return self._text_parts(card)
        if isinstance(card, ThoughtCard):
            return [quoted(f"*{_words(text_facts(card))}*\n\n{blocks_text(card.blocks)}{_more(card.more)}")]
        if isinstance(card, CallCard):
            return _call_parts(card)
        if isinstance(card, AgentCard):
            return [
                f"### Sub-agent: {_line(card.task or card.agent)}", _words(call_facts(card)),
                quoted(blocks_text(card.prompt)) if card.prompt else "", blocks_text(card.result),
            ]  # fmt: skip
        if isinstance(card, CompactionCard):
            return ["---", f"*{_words(text_facts(card))}*", quoted(blocks_text(card.blocks)) if card.blocks else ""]
        if isinstance(card, EndCard):
            return ["---", f"*{_line(card.words)}*", quoted(blocks_text(card.blocks)) if card.blocks else ""]
        if isinstance(card, FoldCard):
            return [f"*{_line(card.words)}*"]
        if isinstance(card, GroupCard):
            return [f"### {_line(card.label)}", _words(call_facts(card))]
        return [_other_line(card)]

    def _heading(self, card: Card) -> str:
        """Returns the heading of a new speaker; "" if the speaker goes on."""
        is_text = isinstance(card, TextCard)
        if not self._is_page or not (is_text or (isinstance(card, _OF_SPEAKER) and card.sender)):
            return ""
        is_prompt = card.ref.kind == CardKind.PROMPT
        before, self._speaker = self._speaker, card.sender
        if not is_prompt and card.sender == before:
            return ""
        clock = formats.clock(card.time_ns)
        # An agent that gives another one a task is told from one that goes on.
        whom = f" to {card.receivers}" if is_prompt and card.sender not in _PEOPLE and card.receivers else ""
        return f"## {_line((card.sender or 'unknown') + whom)}{f', {clock}' if clock else ''}"

    def _text_parts(self, card: TextCard) -> list[str]:
        pictures = "\n\n".join(f"*{_line(picture.words)}*" for picture in card.pictures)
        blocks = _below_headings(card.blocks) if self._is_page else card.blocks
        return [blocks_text(blocks) + _more(card.more), pictures]


_OF_SPEAKER = (ThoughtCard, CallCard, AgentCard)
_PEOPLE = ("user", "human")
"""Usual names of a person, who speaks to the only agent."""


def _below_headings(blocks: Sequence[Block]) -> list[Block]:
    """Puts the headings of a text below the headings of cards."""
    return [
        msgspec.structs.replace(block, level=min(6, block.level + 2)) if isinstance(block, Heading) else block
        for block in blocks
    ]


def _more(count: int) -> str:
    return f"\n\n*{formats.count_of(count, 'more character')}*" if count else ""


def _line(text: str) -> str:
    return escaped(" ".join(text.split()))


def _words(facts: Iterable[str]) -> str:
    return _line(", ".join(filter(None, facts)))


def _call_parts(card: CallCard) -> list[str]:
    subject = f" {inline_code(card.subject)}" if card.subject else ""
    facts = _words(call_facts(card))
    parts = [f"**{_line(card.verb)}**{subject}{f' ({facts})' if facts else ''}"]
    if card.command:
        parts.append(fenced(card.command, "bash"))
    parts += map(_diff_text, card.diffs)
    if card.output is not None:
        output = card.output
        lines = [line.text for line in output.lines]
        if output.above:
            lines.insert(0, f"… {formats.count_of(output.above, 'more line')}")
        if output.below:
            lines.append(f"… {formats.count_of(output.below, 'more line')}")
        parts.append(fenced("\n".join(lines)))
    parts += [f"*{_line(picture.words)}*" for picture in card.pictures]
    return parts


def _diff_text(diff: Diff) -> str:
    lines = [f"--- {diff.path}"] + [f"{line.sign}{line.text}" if line.sign != "@" else f"@@ {line.text}".rstrip()
                                   for line in diff.lines]  # fmt: skip
    if diff.more:
        lines.append(f"… {formats.count_of(diff.more, 'more line')}")
    return fenced("\n".join(lines), "diff")


def _other_line(card: OtherCard) -> str:
    facts = [card.pill.word if card.pill is not None else "", card.aside]
    told = _words(facts)
    head = " ".join(filter(None, (card.sender, card.label)))
    words = inline_code(card.words) if card.mono and card.words else _line(card.words)
    return f"*{_line(head)}:* {words}{f' ({told})' if told else ''}"
