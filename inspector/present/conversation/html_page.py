"""Writes a conversation as one self-contained HTML page: no scripts, no requests, everything escaped.

Pictures of usual types are part of the page. Thoughts, folds and sub-agents are lines that open, which needs no script.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence

from inspector.document.document import CaptureDocument
from inspector.export.page import style_sheet
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
    Output,
    Picture,
    TextCard,
    ThoughtCard,
)
from inspector.present.conversation.page_head import PageHead
from inspector.present.conversation.texts import picture_bytes

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_PICTURE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_MAX_PICTURES = 24 << 20
"""Limit of all pictures in a page, in bytes."""
_RULES = """
main { max-width: 860px; margin: 0 auto; padding: 12px 24px 60px; font-size: 14px; line-height: 1.5; }
body > header { max-width: 860px; margin: 0 auto; }
main summary { display: block; padding: 2px 0; cursor: pointer; }
main summary::before { content: "\\25B8"; display: inline-block; width: 14px; color: var(--ink-tertiary); }
main details[open] > summary::before { content: "\\25BE"; }
main summary:hover { background: none; }
main details[open] > summary { background: none; }
main details[open] > :not(summary) { margin-left: 0; margin-right: 0; }
article { margin: 10px 0; overflow-wrap: anywhere; }
article p, article ul, article ol, article blockquote { margin: 6px 0; }
article p { white-space: pre-wrap; }
blockquote { border-left: 2px solid var(--line-hair); padding-left: 10px; color: var(--ink-secondary); }
.prompt { padding: 8px 12px; border-radius: 8px;
  background: color-mix(in srgb, var(--accent-ring) 14%, transparent); }
.by { color: var(--ink-tertiary); font-size: 12px; }
.thought { color: var(--ink-secondary); } .thought summary { font-style: italic; }
.thought summary .by { font-style: normal; margin-right: 4px; }
.thought details:not([open]) > summary { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
main summary span { overflow: visible; white-space: inherit; }
.thought details > :not(summary), .quiet.call details > :not(summary) { margin-left: 14px; }
.call:not(.quiet), .agent { border: 1px solid var(--line-hair); border-radius: 6px; }
.call > header, .agent > details > summary { display: flex; gap: 8px; padding: 5px 10px;
  background: var(--surface-inset); border: 0; border-radius: 6px; align-items: baseline; }
.call > header .facts, .agent > details > summary .facts { margin-left: auto; text-align: right; }
.call > p, .call > img { margin: 6px 10px; } .agent > details > :not(summary) { margin: 6px 10px; }
.call b { font-family: inherit; } .bad { color: var(--severity-error); } .warn { color: var(--severity-warning); }
.good { color: var(--family-tools); --family-tools: #15674b; } .facts, .quiet { color: var(--ink-tertiary); }
.call.failed { border-color: var(--severity-error); }
main pre { margin: 0; border: 0; max-height: 320px; }
article > pre { border: 1px solid var(--line-hair); margin: 6px 0; }
main table { border-collapse: collapse; margin: 8px 0; } td, th { border: 1px solid var(--line-hair); padding: 3px 8px;
  } .diff td { border: 0; padding: 0 8px; font: 12px/1.5 "JetBrains Mono", Consolas, Menlo, monospace; }
.diff td:last-child { white-space: pre-wrap; width: 99%; } .diff { width: 100%; }
.diff .n { color: var(--ink-tertiary); text-align: right; width: 1%; user-select: none; white-space: nowrap; }
.diff .add { background: color-mix(in srgb, #15a05b 16%, transparent); }
.diff .del { background: color-mix(in srgb, var(--severity-error) 16%, transparent); }
.line { color: var(--ink-secondary); } .cut { text-align: center; border-top: 1px solid var(--line-hair);
  color: var(--ink-tertiary); }
.inner { margin-left: 20px; padding-left: 10px; border-left: 2px solid var(--line-hair); }
img { max-width: 100%; max-height: 480px; }
@media (prefers-color-scheme: dark) { .good { --family-tools: #55cfa9; } }
@media print { main pre { max-height: none; } }
"""


class HtmlPage:
    """Writes a page card by card; deeper cards stand inside of the card that they belong to."""

    def __init__(self, document: CaptureDocument) -> None:
        self._document = document
        self._open: list[int] = []  # depths of the open folds
        self._pictures = 0

    def begin(self, head: PageHead) -> str:
        """Returns the head of the page."""
        title = _text(head.title)
        lines = "".join(f"<p>{_text(line)}</p>\n" for line in head.about)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width">\n<meta name="color-scheme" content="light dark">\n'
            f'<meta name="referrer" content="no-referrer">\n<title>{title}</title>\n'
            f"<style>\n{style_sheet()}{_RULES}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n{lines}"
            f'<p class="quiet">{_text(head.notes)}</p>\n</header>\n<main>\n'
        )

    def card(self, card: Card, depth: int, *, is_open: bool) -> str:
        """Returns a card.

        Args:
            card: the card.
            depth: its nesting.
            is_open: the cards below it follow.
        """
        closed = self._close(depth)
        head, body, kind = self._parts(card)
        if not is_open:
            if isinstance(card, ThoughtCard | AgentCard | CompactionCard) or (
                isinstance(card, CallCard) and card.is_quiet and body
            ):
                opening = f"<details><summary>{head}</summary>{body}</details>"
                return f'{closed}<article class="{kind}">{opening}</article>\n'
            return f'{closed}<article class="{kind}">{head}{body}</article>\n'
        self._open.append(depth)
        is_shut = " open" if isinstance(card, GroupCard) else ""
        return f'{closed}<article><details class="{kind}"{is_shut}><summary>{head}</summary>{body}<div class="inner">\n'

    def end(self) -> str:
        """Returns the end of the page."""
        return f"{self._close(0)}</main>\n</body>\n</html>\n"

    def _close(self, depth: int) -> str:
        closed = ""
        while self._open and self._open[-1] >= depth:
            self._open.pop()
            closed += "</div></details></article>\n"
        return closed

    def _parts(self, card: Card) -> tuple[str, str, str]:
        """Returns the head, the body and the class of a card, as HTML."""
        if isinstance(card, TextCard):
            is_prompt = card.ref.kind == CardKind.PROMPT
            clock = formats.clock(card.time_ns)
            by = f'<div class="by">{_text(", ".join(filter(None, (card.sender, clock))))}</div>'
            body = _blocks(card.blocks) + _more(card.more) + self._pictures_of(card.pictures)
            return by, body, "prompt" if is_prompt else "answer"
        if isinstance(card, ThoughtCard):
            first, rest = _first_words(card.blocks)
            by = f'<span class="by">{_text(", ".join(filter(None, text_facts(card))))}</span>'
            return f"{by} {first}", _blocks(rest) + _more(card.more), "thought"
        if isinstance(card, CallCard):
            return self._call_parts(card)
        if isinstance(card, AgentCard):
            head = f"<b>Sub-agent</b> {_text(card.task)}{_facts(call_facts(card))}"
            prompt = f"<blockquote>{_blocks(card.prompt)}</blockquote>" if card.prompt else ""
            return head, f"{prompt}{_blocks(card.result)}", "agent"
        if isinstance(card, CompactionCard):
            return _text(", ".join(filter(None, text_facts(card)))), _blocks(card.blocks) + _more(card.more), "cut"
        if isinstance(card, EndCard):
            return _text(card.words), _blocks(card.blocks) + _more(card.more), "cut"
        if isinstance(card, FoldCard):
            return f'<span class="line">{_text(card.words)}</span>', "", "fold"
        if isinstance(card, GroupCard):
            return f"<b>{_text(card.label)}</b> {_text(card.words)}{_facts(call_facts(card))}", "", "group"
        return _other_line(card), "", "line"

    def _call_parts(self, card: CallCard) -> tuple[str, str, str]:
        tone = card.pill.tone if card.pill is not None else "quiet"
        is_one = len(card.diffs) == 1
        subject = card.diffs[0].path if is_one and card.diffs[0].name == card.subject else card.subject
        head = f"<b>{_text(card.verb)}</b> <code>{_text(subject)}</code>{_facts(call_facts(card), tone)}"
        body = f"<pre>{_text(card.command)}</pre>" if card.command else ""
        body += "".join(_diff(diff, has_path=subject != diff.path) for diff in card.diffs)
        # A change that went well is in sight; its result only repeats the path.
        body += _output(card.output) if card.output is not None and (tone == "bad" or not card.diffs) else ""
        body += self._pictures_of(card.pictures)
        if card.is_quiet:
            return head, body, "quiet call"
        return f"<header>{head}</header>", body, "call failed" if tone == "bad" else "call"

    def _pictures_of(self, pictures: Iterable[Picture]) -> str:
        return "".join(map(self._picture, pictures))

    def _picture(self, picture: Picture) -> str:
        words = f'<p class="quiet">{_text(picture.words)}</p>'
        if picture.mime not in _PICTURE_TYPES or self._pictures > _MAX_PICTURES:
            return words
        data = picture_bytes(self._document.capture, picture.message, picture.index)
        if not data:
            return words
        self._pictures += len(data)
        return f'<img alt="{_text(picture.words)}" src="data:{picture.mime};base64,{base64.b64encode(data).decode()}">'


def _text(text: str) -> str:
    return html.escape(text)


def _facts(facts: Sequence[str], tone: str = "quiet") -> str:
    if not facts:
        return ""
    first, rest = facts[0], ", ".join(facts[1:])
    return f' <span class="facts"><span class="{tone}">{_text(first)}</span>{", " if rest else ""}{_text(rest)}</span>'


def _more(count: int) -> str:
    return f'<p class="quiet">{formats.count_of(count, "more character")}</p>' if count else ""


def _other_line(card: OtherCard) -> str:
    words = f"<code>{_text(card.words)}</code>" if card.mono else _text(card.words)
    facts = [*([card.pill.word] if card.pill is not None else []), *filter(None, (card.aside,))]
    tone = card.pill.tone if card.pill is not None else "quiet"
    head = " ".join(filter(None, (card.sender, card.label)))
    return f'<span class="quiet">{_text(head)}</span> {words}{_facts(facts, tone)}'


def _output(output: Output) -> str:
    lines = [f'<span class="bad">{_text(line.text)}</span>' if line.is_failure else _text(line.text)
             for line in output.lines]  # fmt: skip
    if output.above:
        lines.insert(0, f'<span class="quiet">{formats.count_of(output.above, "more line")}</span>')
    if output.below:
        lines.append(f'<span class="quiet">{formats.count_of(output.below, "more line")}</span>')
    joined = "\n".join(lines)
    return f"<pre>{joined}</pre>"


_CLASSES = {"+": "add", "-": "del"}


def _diff(diff: Diff, *, has_path: bool) -> str:
    rows = "".join(
        f'<tr class="{_CLASSES.get(line.sign, "")}"><td class="n">{line.old or ""}</td>'
        f'<td class="n">{line.new or ""}</td>'
        f"<td>{_text('…' if line.sign == '@' else line.sign)}</td><td>{_text(line.text)}</td></tr>\n"
        for line in diff.lines
    )
    more = f'<p class="quiet">{formats.count_of(diff.more, "more line")}</p>' if diff.more else ""
    path = f'<p class="quiet">{_text(diff.path)}</p>' if has_path else ""
    return f'{path}<table class="diff">{rows}</table>{more}'


# Blocks


def _first_words(blocks: Sequence[Block]) -> tuple[str, Sequence[Block]]:
    """Returns the first paragraph as HTML, and the other blocks."""
    first = blocks[0] if blocks else None
    return (_runs(first.runs), blocks[1:]) if isinstance(first, Paragraph) else ("", blocks)


def _blocks(blocks: Sequence[Block]) -> str:
    return "".join(map(_block, blocks))


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return f"<p>{_runs(block.runs)}</p>"
    if isinstance(block, Heading):
        return f"<h{min(6, block.level + 1)}>{_runs(block.runs)}</h{min(6, block.level + 1)}>"
    if isinstance(block, CodeBlock):
        return f"<pre>{_text(block.text)}</pre>"
    if isinstance(block, Quote):
        return f"<blockquote>{_blocks(block.blocks)}</blockquote>"
    if isinstance(block, ListBlock):
        name, start = ("ul", "") if block.start is None else ("ol", f' start="{block.start}"')
        items = "".join(f"<li>{_box(item.checked)}{_blocks(item.blocks)}</li>" for item in block.items)
        return f"<{name}{start}>{items}</{name}>"
    if isinstance(block, Table):
        return _table(block)
    return "<hr>"


def _box(checked: bool | None) -> str:
    return "" if checked is None else "\N{BALLOT BOX WITH CHECK} " if checked else "\N{BALLOT BOX} "


def _table(block: Table) -> str:
    def row(cells: Sequence[Sequence[Run]], tag: str) -> str:
        inner = "".join(
            f'<{tag} style="text-align: {align}">{_runs(cell)}</{tag}>'
            for cell, align in zip(cells, block.aligns, strict=True)
        )
        return f"<tr>{inner}</tr>"

    more = f'<p class="quiet">{formats.count_of(block.more, "more row")}</p>' if block.more else ""
    return f"<table>{row(block.head, 'th')}{''.join(row(cells, 'td') for cells in block.rows)}</table>{more}"


_TAGS = ((RunStyle.CODE, "code"), (RunStyle.BOLD, "strong"), (RunStyle.ITALIC, "em"), (RunStyle.STRIKE, "s"))


def _runs(runs: Iterable[Run]) -> str:
    return "".join(map(_run, runs))


def _run(run: Run) -> str:
    text = _text(run.text)
    for style, tag in _TAGS:
        if run.style & style:
            text = f"<{tag}>{text}</{tag}>"
    if run.link and is_web_link(run.link):
        target = _text(run.link)
        return f'<a href="{target}" title="{target}" rel="noreferrer noopener nofollow">{text}</a>'
    return text
