"""Conversation of a document: the outline of its cards, the cards in sight, hits of a search, and copies as Markdown.

The outline has every card without any text. A card is asked for by its reference, which stays valid while a log grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.steps.call_facts import KeptCalls
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps, check_row_count
from inspector.engine.requests.rows import check_messages
from inspector.engine.requests.turns import steps_of
from inspector.filters.find import FindSearch
from inspector.filters.find_query import FindQuery as FindQuery
from inspector.filters.patterns import PatternError
from inspector.filters.visible import VisibleRows
from inspector.present.conversation import blocks as blocks
from inspector.present.conversation import cards as cards
from inspector.present.conversation.cards import Card as Card
from inspector.present.conversation.cards import CardKind as CardKind
from inspector.present.conversation.cards import CardRef as CardRef
from inspector.present.conversation.describe import describe_card, describe_cards
from inspector.present.conversation.markdown_text import MarkdownCards
from inspector.present.conversation.outline import Outline as Outline
from inspector.present.conversation.outline import OutlineOptions as OutlineOptions
from inspector.present.conversation.outline import outline_of
from inspector.present.conversation.texts import picture_bytes

_MOST_CARDS, MOST_COPIED = 500, 2_000
_CARDS_A_STEP = 24
"""As many as the window asks for at once; other answers come between two steps, which would delay a jump."""


class OutlineConversation(Request[Outline], frozen=True):
    """The cards of a conversation in display order, without their texts.

    Attributes:
        options: its options.
        near: a message near which runs of quiet steps are folded; others may not be (`Outline.is_partial`). None for
            all runs, which takes until all commands have been read.
    """

    is_urgent: ClassVar[bool] = True
    options: OutlineOptions = OutlineOptions()
    near: int | None = None


class DescribeCards(Request[list[Card]], frozen=True):
    """Cards by their references, as in an outline; at most 500.

    Attributes:
        refs: the references.
        whole: all of their text, up to a limit.
    """

    is_urgent: ClassVar[bool] = True
    refs: tuple[CardRef, ...]
    whole: bool = False


class FindInConversation(Request[list[int]], frozen=True):
    """Messages with a text in their records, ascending; `Outline.items` has their cards, also of folded ones.

    Attributes:
        query: the text or expression.
    """

    query: FindQuery


class CopyCards(Request[str], frozen=True):
    """Cards as Markdown, one below the other; at most 2,000."""

    refs: tuple[CardRef, ...]


class PictureBytes(Request[bytes], frozen=True):
    """Bytes of a picture on a card; empty without any."""

    message: int
    index: int = 0


class _KeptOutline:
    """The last outline of a document, until a change."""

    ignores_counts: ClassVar[bool] = True

    def __init__(self) -> None:
        self.outlines: dict[OutlineOptions, tuple[object, Outline]] = {}

    def note_changed(self, changed: Rows, /) -> None:
        """Drops the outlines."""
        self.outlines.clear()


def _outline(held: OpenDocument, asked: OutlineConversation) -> Steps[Outline]:
    """Returns an outline, kept between requests."""
    table, analysis = steps_of(held), held.document.analysis
    kept = held.kept(_KeptOutline, _KeptOutline).outlines
    found = kept.get(asked.options)
    if found is None or found[0] is not table:
        reading, is_partial = yield from held.kept(KeptCalls, lambda: KeptCalls(analysis)).reading_rows(asked.near)
        # The document may have grown in between.
        table = steps_of(held)
        yield
        found = table, outline_of(analysis, table, asked.options, reading)
        if is_partial:
            return msgspec.structs.replace(found[1], is_partial=True)
        if len(kept) > 2:
            kept.clear()
        kept[asked.options] = found
    return found[1]


def check_refs(held: OpenDocument, refs: Sequence[CardRef], most: int = _MOST_CARDS) -> None:
    """Raises RequestError if a reference names no message, or if there are too many."""
    check_row_count(len(refs), most)
    check_messages(held, [ref.message for ref in refs])


def _describe(held: OpenDocument, asked: DescribeCards) -> Steps[list[Card]]:
    check_refs(held, asked.refs)
    table, found = steps_of(held), list[Card]()
    for start in range(0, len(asked.refs), _CARDS_A_STEP):
        if start:
            yield
        found += describe_cards(held.document, table, asked.refs[start : start + _CARDS_A_STEP], whole=asked.whole)
    return found


def _find(held: OpenDocument, asked: FindInConversation) -> Steps[list[int]]:
    rows = VisibleRows(held.document.analysis)
    rows.apply_filter(held.compiled(""), None)
    try:
        search = FindSearch(rows, asked.query)
    except PatternError as error:
        raise RequestError(error.message) from None
    while not search.step():
        yield
    return search.hits.tolist()


def _copy(held: OpenDocument, asked: CopyCards) -> Steps[str]:
    check_refs(held, asked.refs, MOST_COPIED)
    table, cards, found = steps_of(held), MarkdownCards(is_page=False), list[str]()
    for ref in asked.refs:
        found.append(cards.card(describe_card(held.document, table, ref, whole=True)))
        yield
    return "\n\n".join(found) + "\n" if found else ""


def _picture(held: OpenDocument, asked: PictureBytes) -> bytes:
    check_messages(held, (asked.message,))
    return picture_bytes(held.document.capture, asked.message, asked.index) or b""


QUERIES = (
    Query(OutlineConversation, Outline, _outline),
    Query(DescribeCards, list[Card], _describe),
    Query(FindInConversation, list[int], _find),
    Query(CopyCards, str, _copy),
    Query(PictureBytes, bytes, _picture),
)
