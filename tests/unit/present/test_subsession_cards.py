"""Cards of sub-sessions of MSP: messages of the parent chat, and the end with its summary."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.document import CaptureDocument
from inspector.present.conversation.cards import CardKind, EndCard, FoldCard, TextCard
from inspector.present.conversation.markdown_text import MarkdownCards
from tests.samples import DATA
from tests.unit.present.test_conversation import cards_of, outlined

SESSIONS = DATA / "msp"


Open = Callable[[Path], CaptureDocument]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens session documents, and closes them at the end."""
    documents: list[CaptureDocument] = []

    def open_at(path: Path) -> CaptureDocument:
        documents.append(CaptureDocument())
        for _ in documents[-1].open_sessions([path]):
            pass
        return documents[-1]

    yield open_at
    for document in documents:
        document.close()


def node_of(document: CaptureDocument, key: str) -> int:
    contexts = document.analysis.contexts
    found = {contexts.tree.find(space, key) for space in contexts.spaces} - {MAIN}
    return found.pop()


def test_a_sub_session_begins_with_a_fold_of_its_parents_messages(opened: Open) -> None:
    document = opened(SESSIONS / "weekly-report.json")
    node = node_of(document, "units")
    folded = outlined(document, scope=node)
    cards = cards_of(document, folded)
    assert isinstance(cards[0], FoldCard)
    assert cards[0].words == "23 messages of the parent chat, from before this sub-session"
    assert folded.counts[0] == 23
    assert [card.ref.kind for card in cards[1:]] == [0, 1, 0, 1, 1, 0]
    assert all(isinstance(card, TextCard) for card in cards[1:])
    opening = int(folded.messages[0])
    whole = outlined(document, scope=node, unfolded=(opening,))
    assert len(whole) == len(folded) + 23
    assert np.all(whole.depths[1:24] == 1)
    assert np.all(whole.messages[1:24] < opening)
    assert np.array_equal(whole.messages[24:], folded.messages[1:])
    # A folded message is on the fold, so that a move to it can open it.
    earlier = int(whole.messages[3])
    assert folded.items[earlier] == 0
    assert outlined(document, scope=node, reveals=(earlier,)).unfolded == (opening,)


def test_the_end_is_a_card_with_the_summary(opened: Open) -> None:
    document = opened(SESSIONS / "weekly-report.json")
    outline = outlined(document, scope=node_of(document, "chart-colours"))
    *_, end = cards_of(document, outline)
    assert isinstance(end, EndCard)
    assert end.words.startswith("chart-colours closed at ")
    assert "Palette agreed" in str(end.blocks)
    text = MarkdownCards(is_page=False).card(end)
    assert "> Palette agreed" in text
    discarded = cards_of(document, outlined(document, scope=node_of(document, "csv-import")))[-1]
    assert isinstance(discarded, EndCard)
    assert "discarded" in discarded.words
    assert discarded.words.endswith("without a summary")
    ends = [card for card in cards_of(document, outlined(document)) if isinstance(card, EndCard)]
    assert len(ends) == 2


def test_a_nested_sub_session_inherits_from_the_one_above_it(opened: Open) -> None:
    document = opened(SESSIONS / "nested.json")
    contexts = document.analysis.contexts
    parent = np.asarray(contexts.tree.parent)
    (inner,) = [node for node in range(len(parent)) if parent[node] != MAIN]
    outline = outlined(document, scope=inner, unfolds_all=True)
    # Its opening has no time: all messages of the parent may be from before it.
    assert outline.kinds.tolist() == [CardKind.INHERITED, CardKind.PROMPT, CardKind.PROMPT]
    assert contexts.nodes_of(outline.messages[1:]).tolist() == [parent[inner], inner]
    fold = cards_of(document, outline)[0]
    assert isinstance(fold, FoldCard)
    assert fold.words == "1 message of the parent chat"


def test_odd_ends_are_cards(opened: Open, tmp_path: Path) -> None:
    document = json.loads((SESSIONS / "weekly-report.json").read_text())
    for sub in document["subsessions"]:
        sub |= {"status": "closed", "summary": {"odd": 1}, "label": ["x"], "closed_at": 5}
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(document))
    found = opened(path)
    assert sum(isinstance(card, EndCard) for card in cards_of(found, outlined(found))) == 3
