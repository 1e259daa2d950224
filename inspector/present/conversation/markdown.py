"""Parses Markdown from the wire into blocks. HTML is text, pictures are links, secrets are masked.

All limits hold for hostile input: length of the text, nesting, items, and marks that a parser would search again and
again. A text beyond them is shown as plain paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from inspector.present import formats
from inspector.present.code import language_of
from inspector.present.conversation.blocks import (
    Block,
    Blocks,
    CodeBlock,
    Heading,
    ListBlock,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Run,
    Runs,
    RunStyle,
    Table,
)
from inspector.present.wire_text import visible_controls
from inspector.protocol.payloads.markdown_text import with_edits_as_diffs
from inspector.protocol.secrets.masking import mask_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

MAX_MARKDOWN = 100_000
"""Limit of a parsed text in characters; the rest is left out."""
_MAX_DEPTH = 12
_MAX_TABLE_ROWS, _MAX_TABLE_COLUMNS, _MAX_TABLE_CELLS = 500, 100, 5_000
"""Limits of a table. Qt lays out some 10,000 cells a second, and the window waits for it."""
_MAX_MARKS = 1_000
"""Limit of marks in one paragraph; parsing takes quadratic time at worst."""
_MARKS = re.compile(r"[\[\]*_`~!<&]")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_CHECKED = re.compile(r"\[([ xX])\] ")
_ALIGNED = re.compile(r"text-align:(left|center|right)")
_STYLES = {"strong": RunStyle.BOLD, "em": RunStyle.ITALIC, "s": RunStyle.STRIKE}


@cache
def _parser(*, keeps_lines: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt  # 30 to 90 ms: an engine imports it while idle

    parser = MarkdownIt("commonmark", {"html": False, "breaks": keeps_lines, "maxNesting": _MAX_DEPTH})
    parser.core.ruler.at("inline", _parse_inlines)
    return parser.enable(["table", "strikethrough"])


def prepare_parsers() -> None:
    """Makes the parsers before the first text, for which a person waits."""
    for keeps_lines in (False, True):
        _parser(keeps_lines=keeps_lines)


def _parse_inlines(state: StateCore) -> None:
    """Parses the texts of blocks; one with very many marks stays plain."""
    from markdown_it.token import Token

    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) > _MAX_MARKS and len(_MARKS.findall(token.content)) > _MAX_MARKS:
            token.children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def parse_markdown(text: str, *, keeps_lines: bool = False) -> Blocks:
    """Parses a text, already masked. Never raises; plain paragraphs replace a text that cannot be parsed.

    Args:
        text: at most `MAX_MARKDOWN` characters are used.
        keeps_lines: line ends inside paragraphs stay, as in a text typed by a person.
    """
    text = text[:MAX_MARKDOWN]
    if not text.strip():
        return ()
    try:
        tokens = _parser(keeps_lines=keeps_lines).parse(with_edits_as_diffs(text))
    except (ValueError, IndexError, KeyError, RecursionError):
        return plain_blocks(text)
    blocks, _ = _Reader(tokens).blocks(0, None, 0)
    return tuple(blocks) or plain_blocks(text)


def plain_blocks(text: str) -> Blocks:
    """Returns a text as paragraphs, without Markdown."""
    # A bare CR ends a line in Markdown, and so a quotation that the text stands in.
    lines = text[:MAX_MARKDOWN].replace("\r\n", "\n").replace("\r", "\n")
    return tuple(Paragraph((Run(_safe(part.strip("\n"))),)) for part in _PARAGRAPHS.split(lines) if part.strip())


def _safe(text: str) -> str:
    return visible_controls(mask_text(text))


class _Reader:
    """Reads the flat list of tokens into nested blocks."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens

    def blocks(self, place: int, end: str | None, depth: int) -> tuple[list[Block], int]:
        """Reads blocks up to a closing token; returns them, and the place behind it."""
        found: list[Block] = []
        while place < len(self._tokens):
            token = self._tokens[place]
            place += 1
            if token.type == end:
                break
            if token.type in ("paragraph_open", "heading_open"):
                runs = _runs_of(self._tokens[place])
                if token.type == "paragraph_open" and runs:
                    found.append(Paragraph(runs))
                elif runs:
                    found.append(Heading(int(token.tag[1:]), runs))
                place += 2
            elif token.type in ("fence", "code_block"):
                found.append(_code(token))
            elif token.type == "hr":
                found.append(Rule())
            elif token.type == "inline":
                found += [Paragraph(runs)] if (runs := _runs_of(token)) else []
            elif token.type in ("bullet_list_open", "ordered_list_open"):
                made, place = self._list(token, place, depth)
                found.append(made)
            elif token.type == "blockquote_open":
                inner, place = self.blocks(place, "blockquote_close", depth + 1)
                found.append(Quote(tuple(inner)))
            elif token.type == "table_open":
                made, place = self._table(place)
                found.append(made)
        return found, place

    def _list(self, opened: Token, place: int, depth: int) -> tuple[ListBlock, int]:
        end = opened.type.replace("_open", "_close")
        items: list[ListItem] = []
        while place < len(self._tokens) and self._tokens[place].type != end:
            inner, place = self.blocks(place + 1, "list_item_close", depth + 1)
            items.append(_item(inner))
        start = opened.attrGet("start") if opened.type == "ordered_list_open" else None
        number = 1 if opened.type == "ordered_list_open" else None
        return ListBlock(tuple(items), int(start) if isinstance(start, int) else number), place + 1

    def _table(self, place: int) -> tuple[Table, int]:
        rows: list[list[Runs]] = []
        aligns: list[str] = []
        while place < len(self._tokens) and self._tokens[place].type != "table_close":
            token = self._tokens[place]
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(_runs_of(token))
            elif token.type == "th_open":
                aligned = _ALIGNED.search(str(token.attrGet("style") or ""))
                aligns.append(aligned[1] if aligned else "left")
            place += 1
        head, body = (rows[0] if rows else []), rows[1:]
        width = min(len(head), _MAX_TABLE_COLUMNS)
        count = min(len(body), _MAX_TABLE_ROWS, _MAX_TABLE_CELLS // max(1, width))
        if len(head) > width:  # the last column tells the number of columns left out
            rows = [[*row[: width - 1], ()] for row in rows[: count + 1]]
            head = [*head[: width - 1], (Run(f"… {formats.count_of(len(head) - width + 1, 'more column')}"),)]
            body = [*rows[1:], *body[count:]]
        shown = tuple(tuple((row + [()] * width)[:width]) for row in body[:count])
        return Table(tuple(head), shown, tuple(aligns[:width]), len(body) - count), place + 1


def _item(blocks: list[Block]) -> ListItem:
    """Makes a list item; a box at its beginning becomes its mark."""
    first = blocks[0] if blocks else None
    if not isinstance(first, Paragraph) or (box := _CHECKED.match(first.runs[0].text)) is None:
        return ListItem(tuple(blocks))
    run = first.runs[0]
    rest = (Run(run.text[box.end() :], run.style, run.link), *first.runs[1:])
    return ListItem((Paragraph(rest), *blocks[1:]), box[1] != " ")


def _code(token: Token) -> CodeBlock:
    named = token.info.split()[0] if token.info.split() else ""
    return CodeBlock(_safe(token.content.removesuffix("\n")), language_of(named) or "")


def _runs_of(inline: Token) -> Runs:
    """Returns the runs of a paragraph; a secret that extends over several of them is masked as one plain run."""
    runs = tuple(_merged(_written(inline.children or ())))
    plain = "".join(run.text for run in runs)
    masked = mask_text(plain)
    if masked != plain:
        return (Run(visible_controls(masked)),)
    return runs


def _written(tokens: Iterable[Token]) -> Iterable[Run]:
    style, links = RunStyle.PLAIN, list[str]()
    for token in tokens:
        sort, _, part = token.type.rpartition("_")
        link = links[-1] if links else ""
        if token.type == "link_open":
            links.append(_safe(str(token.attrGet("href") or "")))
        elif token.type == "link_close":
            links = links[:-1]
        elif sort in _STYLES:
            style = style | _STYLES[sort] if part == "open" else style & ~_STYLES[sort]
        elif token.type == "code_inline":
            yield Run(_safe(token.content), int(style | RunStyle.CODE), link)
        elif token.type in ("softbreak", "hardbreak"):
            yield Run("\n" if token.type == "hardbreak" else " ", int(style), link)
        elif token.type == "image":
            # Pictures from elsewhere are never loaded.
            target = _safe(str(token.attrGet("src") or ""))
            yield Run(_safe(token.content) or target or "picture", int(style), target)
        elif token.content:
            yield Run(visible_controls(token.content), int(style), link)


def _merged(runs: Iterable[Run]) -> Iterable[Run]:
    last: Run | None = None
    for run in runs:
        if last is not None and (last.style, last.link) == (run.style, run.link):
            last = Run(last.text + run.text, run.style, run.link)
        else:
            if last is not None:
                yield last
            last = run
    if last is not None:
        yield last
