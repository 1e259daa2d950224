"""Parts of a page as plain data: lists of facts, texts, figures, links and their sections. Front ends show them."""

from __future__ import annotations

from typing import Literal

import msgspec

from inspector.present.chain_rows import ChainRow
from inspector.present.facts import Fact
from inspector.present.participant_facts import FigureRow
from inspector.present.places import ContextPlace, ParticipantPlace
from inspector.present.reasoning_facts import ThreadRow
from inspector.protocol.payloads.content_blocks import Block
from inspector.protocol.payloads.file_edits import FileEdit
from inspector.protocol.payloads.record_tables import Table


class _Part(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """A part of a page."""


class FactsPart(_Part, frozen=True):
    """A list of facts.

    Attributes:
        rows: the facts.
        name, label: name of the list and its accessible name.
        in_card: it is in a card.
        name_width: width of the names in pixels at 100 %.
    """

    rows: list[Fact]
    name: str
    label: str
    in_card: bool = False
    name_width: int = 96


class SwitchedFactsPart(_Part, frozen=True):
    """Two lists of facts with a switch between them.

    Attributes:
        choices: names of the lists; the first is the default.
        lists: their facts.
        name, label: name of the list and its accessible name.
        switch, switch_label: name of the switch and its accessible name.
    """

    choices: tuple[str, ...]
    lists: list[list[Fact]]
    name: str
    label: str
    switch: str
    switch_label: str


class ChainPart(_Part, frozen=True):
    """A chain.

    Attributes:
        rows: the steps shown at first.
        whole: all steps, for a row that counts hidden ones.
        name, label: name of the list and its accessible name.
        took: shows durations.
    """

    rows: list[ChainRow]
    name: str
    label: str
    whole: list[ChainRow] = []
    took: bool = False


class ThreadPart(_Part, frozen=True):
    """The steps of a reasoning; attributes as of a chain."""

    rows: list[ThreadRow]
    name: str
    label: str


class FiguresPart(_Part, frozen=True):
    """A small table of figures; the first row has the titles."""

    rows: list[FigureRow]
    name: str
    label: str


class FindingPart(_Part, frozen=True):
    """The sentence of a finding and its code.

    Attributes:
        rows: the sentence, then the code.
        severity: note, warning or error.
        name: name of the list.
        names_next: the last row names the key that goes to the next problem.
    """

    rows: list[Fact]
    severity: str
    name: str
    names_next: bool = False


class TextPart(_Part, frozen=True):
    """A text; its beginning if it is very long.

    Attributes:
        text: the text.
        name, label: name of the view and its accessible name.
        markdown: it is Markdown, and shown formatted.
        mono: monospaced.
    """

    text: str
    name: str
    label: str
    markdown: bool = False
    mono: bool = False


class MarkdownPart(_Part, frozen=True):
    """A Markdown text with a switch between formatted and plain."""

    text: str
    name: str


class NotePart(_Part, frozen=True):
    """A comment of the user."""

    text: str


class CodePart(_Part, frozen=True):
    """Source code; `language` as in `inspector.present.code`."""

    text: str
    name: str
    label: str
    language: str


class EditPart(_Part, frozen=True):
    """An edit of a file as added and removed lines."""

    edit: FileEdit
    name: str


class TablePart(_Part, frozen=True):
    """A table of records."""

    table: Table


class BlocksPart(_Part, frozen=True):
    """Content blocks.

    Attributes:
        blocks: the first blocks.
        more: number of further blocks.
        markdown: texts without a declared type are Markdown.
    """

    blocks: list[Block]
    more: int = 0
    markdown: bool = False


class ContentPart(_Part, frozen=True):
    """The content of a result, with a switch between several views of it.

    Attributes:
        views: names of the views; the first is the default where Markdown is shown formatted.
        text: all text; the sentence about an empty result.
        mono: the text is monospaced unless it is formatted.
        json: its JSON, indented.
        table: its records.
        blocks: its blocks.
    """

    views: list[str]
    text: str
    mono: bool = False
    json: str = ""
    table: Table | None = None
    blocks: BlocksPart | None = None


class GaugePart(_Part, frozen=True):
    """Tokens in use, of a limit if one is known."""

    used: float
    limit: float | None


class UsageLinePart(_Part, frozen=True):
    """Reported tokens over time.

    Attributes:
        reports: (time in ns, tokens), in order of time.
        own: place of the shown report.
        limit: the reported limit.
    """

    reports: list[tuple[int, float]]
    own: int
    limit: float | None


class SavingPart(_Part, frozen=True):
    """Tokens of a transient result and of its summary.

    Attributes:
        before, summary: tokens of the result and of the summary.
        tokenizer: the counter of both.
        collapsed: the summary replaces the result.
    """

    before: int
    summary: int
    tokenizer: str
    collapsed: bool


class GapPart(_Part, frozen=True):
    """A small vertical gap."""

    name: str


LinkAct = Literal[
    "message", "place", "filter", "code", "tab", "chain", "scope", "scope_context", "save", "comment", "sees", "copy"
]
"""Acts of links: show a message, page, code, tab or chain; filter, scope, save, comment, model context, copy."""


class LinkPart(_Part, frozen=True):
    """A link.

    Attributes:
        words: its text.
        act: its act.
        target: a message, a place, or a text such as a filter.
        name: name of the widget.
    """

    words: str
    act: LinkAct
    target: int | str | ContextPlace | ParticipantPlace
    name: str


class LinksPart(_Part, frozen=True):
    """Links beside one another."""

    links: list[LinkPart]
    name: str
    label: str = ""


class CopyPart(_Part, frozen=True):
    """The menu "Copy as" of a message.

    Attributes:
        message: the message.
        has_json: it can be copied as JSON.
        id: its id, masked; None without one.
        filter: a filter for it.
    """

    message: int
    has_json: bool
    id: str | None
    filter: str


class CardPart(_Part, frozen=True):
    """An inset card around the main content."""

    body: list[Part]
    name: str


class SectionPart(_Part, frozen=True):
    """A section.

    Attributes:
        label: its title.
        body: its parts.
        name: name of the widget.
        action: the widget in its head; without one, the switch of the body.
    """

    label: str
    body: list[Part]
    name: str
    action: LinkPart | CopyPart | None = None


ListPart = FactsPart | ChainPart | ThreadPart | FiguresPart | FindingPart | SwitchedFactsPart
"""Parts with rows."""
ContentParts = (
    TextPart | MarkdownPart | NotePart | CodePart | EditPart | TablePart | ContentPart | GaugePart | UsageLinePart
    | SavingPart | GapPart
)  # fmt: skip
"""Texts, code, tables and figures."""
Part = ListPart | ContentParts | BlocksPart | LinkPart | LinksPart | CardPart | SectionPart
