"""Writes the whole conversation of a document to an open file, card by card, as HTML or Markdown."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
from msgspec.structs import replace as replace_fields
from numpy.typing import NDArray

from inspector.analysis.views.steps.call_facts import KeptCalls
from inspector.analysis.views.steps.step_columns import StepTable
from inspector.base.atomic_files import open_replacement
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.document.working_folder import working_folder_of
from inspector.export.compression import compressing
from inspector.export.files import refuse_source_files, takes_a_stream
from inspector.export.options import Exported, Format, format_of
from inspector.present.conversation.cards import AgentCard, CardKind
from inspector.present.conversation.describe import describe_card
from inspector.present.conversation.html_page import HtmlPage
from inspector.present.conversation.markdown_text import MarkdownCards, markdown_head
from inspector.present.conversation.outline import Outline, OutlineOptions, outline_of
from inspector.present.conversation.page_cards import PageCards
from inspector.present.conversation.page_head import page_head
from inspector.present.conversation.texts import raw_text, text_blocks
from inspector.present.sub_agent_facts import prompt_of
from inspector.protocol.secrets.masking import SecretRule


def write_conversation(
    document: CaptureDocument, table: StepTable, file: BinaryIO, messages: NDArray[np.uint32] | None = None, *,
    as_html: bool,
) -> Generator[Exported]:  # fmt: skip
    """Yields the progress after each card.

    Args:
        document: the document.
        table: its steps.
        file: receives the page.
        messages: only cards with one of these messages, and the cards around them; None for all.
        as_html: an HTML page; else Markdown.
    """
    none, (reading, _) = Counter[SecretRule](), run_to_end(KeptCalls(document.analysis).reading_rows())
    options = OutlineOptions(unfolds_all=True, shows_records=False)
    outline = outline_of(document.analysis, table, options, reading)
    shown = _shown_items(outline, messages)
    count = len(document.analysis) if messages is None else len(messages)
    folder = working_folder_of(document.capture)
    head = page_head(
        document, table, folder, shown=None if messages is None else len(messages), records=outline.records
    )
    page, cards, prepared = HtmlPage(document), MarkdownCards(is_page=True), PageCards(folder.folder)
    head = head._replace(title=prepared.shorten(head.title))
    size = file.write(_encoded(page.begin(head) if as_html else markdown_head(head)))
    folds = list[int]()  # depths of the folds that the card is inside of
    for place, item in enumerate(shown.tolist()):
        depth, kind = int(outline.depths[item]), int(outline.kinds[item])
        card = describe_card(document, table, outline.ref(item), whole=as_html or kind not in _SHORT)
        is_open = bool(outline.is_open[item])
        if is_open and isinstance(card, AgentCard):
            card = _without_repeats(document, outline, shown, place, card)
        card = prepared.card(card)
        while folds and depth <= folds[-1]:
            folds.pop()
        text = page.card(card, depth, is_open=is_open) if as_html else cards.page_card(card, is_folded=bool(folds))
        if is_open and kind in (CardKind.FOLD, CardKind.RECORDS):
            folds.append(depth)
        size += file.write(_encoded(text))
        yield Exported(count * place // len(shown), size, none)
    size += file.write(_encoded(page.end() if as_html else ""))
    yield Exported(count, size, none)


_SHORT = (CardKind.CALL, CardKind.AGENT)
"""Cards that have only the lines in sight in Markdown."""


def conversation_file(
    document: CaptureDocument, table: StepTable, target: Path, messages: NDArray[np.uint32] | None = None
) -> Generator[Exported]:
    """Writes the conversation to a file: Markdown if its name ends so, else HTML; compressed by its name.

    Raises:
        OSError: the file cannot be written, or is a file of the document.
    """
    as_html = format_of(target.name) is not Format.MARKDOWN
    if takes_a_stream(target):
        with target.open("wb") as file, compressing(file, target.name) as stream:
            yield from write_conversation(document, table, stream, messages, as_html=as_html)
        return
    target = Path(os.path.realpath(target))
    refuse_source_files(document, target)
    done = Exported(0, 0, Counter())
    with open_replacement(target) as file, compressing(file, target.name) as stream:
        for done in write_conversation(document, table, stream, messages, as_html=as_html):
            yield done
    yield replace(done, size_bytes=target.stat().st_size)


def _shown_items(outline: Outline, messages: NDArray[np.uint32] | None) -> NDArray[np.int64]:
    """Returns the cards with chosen messages, and the cards that they are inside of."""
    if messages is None:
        return np.arange(len(outline))
    wanted = np.zeros(len(outline), np.bool_)
    items = outline.items[messages]
    wanted[items[items >= 0]] = True
    depths, needed = outline.depths.tolist(), 0
    for item in range(len(outline) - 1, -1, -1):
        depth = depths[item]
        if wanted[item] or (needed > depth and outline.is_open[item]):
            wanted[item], needed = True, depth
        else:
            needed = min(needed, depth)
    return np.flatnonzero(wanted)


def _without_repeats(
    document: CaptureDocument, outline: Outline, shown: NDArray[np.int64], place: int, card: AgentCard
) -> AgentCard:
    """Returns the card of a sub-agent without the prompt and the parts of the result that are cards below it.

    Args:
        document: the log.
        outline: all items.
        shown: (items,) written items.
        place: that of the card in `shown`.
        card: the sub-agent's.
    """
    depths = outline.depths[shown[place + 1 :]]
    ends = np.flatnonzero(depths <= outline.depths[shown[place]])
    below = shown[place + 1 : place + 1 + (int(ends[0]) if len(ends) else len(depths))]
    kinds, messages = outline.kinds[below], outline.messages[below]
    prompts, answers = (messages[kinds == kind] for kind in (CardKind.PROMPT, CardKind.ANSWER))
    given = prompt_of(document.capture.records.payload(int(outline.messages[shown[place]]))) or ""
    if any(raw_text(document.capture, row).strip() == given.strip() for row in prompts.tolist()):
        card = replace_fields(card, prompt=())
    said = [raw_text(document.capture, int(row)).strip() for row in answers[-1:]]
    result = raw_text(document.capture, card.answer).strip() if card.answer >= 0 else ""
    if any(text and f"{result}\n".startswith(f"{text}\n") for text in said):
        card = replace_fields(card, result=text_blocks(result[len(said[0]) :].strip(), whole=True)[0])
    return card


def _encoded(text: str) -> bytes:
    # Half a surrogate pair from a log has no UTF-8.
    return text.encode("utf-8", "backslashreplace")
