"""Blocks of Markdown as plain structs: paragraphs, headings, lists, code, tables, quotes and rules."""

from __future__ import annotations

import enum

import msgspec


class RunStyle(enum.IntFlag):
    """Styles of a run; several may apply."""

    PLAIN = 0
    BOLD = 1
    ITALIC = 2
    CODE = 4
    STRIKE = 8


class Run(msgspec.Struct, frozen=True, array_like=True):
    """A run of text in one style.

    Attributes:
        text: masked, control characters written out; may contain line ends.
        style: bits of `RunStyle`.
        link: target of a link, masked; "" for other text. Never opened without a question.
    """

    text: str
    style: int = 0
    link: str = ""


Runs = tuple[Run, ...]


class _Block(msgspec.Struct, frozen=True, tag=True):
    """A block."""


class Paragraph(_Block, frozen=True):
    """A paragraph."""

    runs: Runs


class Heading(_Block, frozen=True):
    """A heading; level 1 to 6."""

    level: int
    runs: Runs


class CodeBlock(_Block, frozen=True):
    """Lines of code.

    Attributes:
        text: without the last line end.
        language: as in `inspector.present.code`, else ""; never guessed.
    """

    text: str
    language: str = ""


class Table(_Block, frozen=True):
    """A table.

    Attributes:
        head: cells of its head.
        rows: cells by row, as many as in the head.
        aligns: "left", "center" or "right" by column.
        more: rows left out.
    """

    head: tuple[Runs, ...]
    rows: tuple[tuple[Runs, ...], ...]
    aligns: tuple[str, ...]
    more: int = 0


class Rule(_Block, frozen=True):
    """A horizontal rule."""


class ListItem(msgspec.Struct, frozen=True):
    """An item of a list; `checked` is None without a box."""

    blocks: tuple[Block, ...]
    checked: bool | None = None


class ListBlock(_Block, frozen=True):
    """A list; `start` is the number of its first item, None for bullets."""

    items: tuple[ListItem, ...]
    start: int | None = None


class Quote(_Block, frozen=True):
    """A quotation."""

    blocks: tuple[Block, ...]


Block = Paragraph | Heading | CodeBlock | Table | Rule | ListBlock | Quote
Blocks = tuple[Block, ...]
