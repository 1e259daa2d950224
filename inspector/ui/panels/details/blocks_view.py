"""Shows content blocks of a result one below the other: text, pictures, other blocks as facts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.present.facts import Fact, fact
from inspector.present.pages.parts import BlocksPart
from inspector.present.wire_text import safe_line
from inspector.protocol.payloads.content_blocks import Block, size_in_words
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.pictures import BUDGET, PictureKey, Pictures, PictureView, key_of, read_head
from inspector.ui.panels.details.section import LinkText
from inspector.ui.panels.details.text_block import TextBlock

_MOST_PICTURES = 6
_TYPES = {"resource_link": "Link to", "resource": "Resource", "audio": "Audio", "image": "Picture"}
_NAME_WIDTH = 72


@dataclass(frozen=True, slots=True)
class _PendingPicture:
    """A picture in decoding, with its target widgets."""

    block: Block
    words: str
    view: PictureView
    facts: FactsView


class BlocksView(QWidget):
    """Content blocks in their order, with a count of the rest.

    Pictures appear as they are decoded. Pictures above the message's pixel budget are decoded on request.
    """

    def __init__(
        self, themes: ThemeController, part: BlocksPart, pictures: Pictures, *, budget: int = BUDGET,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Shows blocks. `budget` is the number of pixels to decode; `self.budget` is the remainder."""
        super().__init__(parent)
        self._pictures = pictures
        self.budget = budget
        self._pending_pictures: dict[PictureKey, list[_PendingPicture]] = {}
        # An identity only: several views may wait for the same picture.
        self._request_token = object()
        pictures.decoded.connect(self._on_decoded)
        self.setObjectName("contentBlocks")
        self.setAccessibleName("Content blocks")
        self._themes = themes
        self._formatted = part.markdown
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(themes.theme.metrics.section_gap)
        seen = 0
        for place, block in enumerate(part.blocks):
            seen += block.is_picture
            for widget in self._make_block(block, place, may_decode=seen <= _MOST_PICTURES):
                self._layout.addWidget(widget)
        # Bound to data instead of self: at `destroyed` the widget no longer exists.
        self.destroyed.connect(partial(pictures.give_up, self._pending_pictures, self._request_token))
        if part.more:
            self._add_facts([fact("", f"{part.more} more blocks, see Tree", "dim")], "moreBlocks")

    def _make_block(self, block: Block, place: int, *, may_decode: bool) -> list[QWidget]:
        if block.is_picture and may_decode:
            return self._make_picture(block, place)
        widgets: list[QWidget] = []
        facts = block_facts(block)
        if facts:
            widgets.append(self._make_facts(facts, f"block{place}"))
        if block.text is not None:
            # A declared type takes precedence over the guess about the whole result.
            markdown = self._formatted and (not block.mime or block.mime.startswith("text/markdown"))
            mono = block.mime not in ("", "text/plain") and not block.mime.startswith("text/markdown")
            label = f"Block {place + 1}"
            widgets.append(
                TextBlock(
                    self._themes, block.text or "Empty.", name=f"blockText{place}", label=label,
                    markdown=markdown, mono=mono, parent=self,
                )
            )  # fmt: skip
        return widgets

    def _make_picture(self, block: Block, place: int) -> list[QWidget]:
        head = read_head(block.data())
        pixels = f"{head.size.width()} by {head.size.height()} pixels" if head.size.isValid() else ""
        words = ", ".join(filter(None, (block.describe(), pixels)))
        facts = self._make_facts(_picture_facts(block, words, head.reason), f"block{place}")
        if head.reason:
            return [facts]
        view = PictureView(self._themes, head.size, safe_line(words, 400), f"picture{place}", self)
        awaited = _PendingPicture(block, words, view, facts)
        # Pictures in the cache cost nothing more, whatever their size.
        if not self._pictures.knows(key_of(block)) and head.cost > self.budget:
            view.hide()
            button = LinkText(self._themes, "Show picture", f"showPicture{place}", self)
            button.clicked.connect(button.hide)
            button.clicked.connect(view.show)
            button.clicked.connect(partial(self._request_picture, awaited))
            return [view, facts, button]
        self.budget -= head.cost
        self._request_picture(awaited)
        return [view, facts]

    def _request_picture(self, awaited: _PendingPicture, _checked: bool = False) -> None:
        key = key_of(awaited.block)
        self._pending_pictures.setdefault(key, []).append(awaited)
        if self._pictures.decoded_picture(key) is not None:
            self._on_decoded(key)
        else:
            self._pictures.request_picture(awaited.block, self._request_token)

    def _on_decoded(self, key: PictureKey) -> None:
        found = self._pictures.decoded_picture(key)
        if found is None:
            return
        image, reason = found
        for awaited in self._pending_pictures.pop(key, ()):
            if image is not None:
                awaited.view.show_image(image)
            else:
                awaited.view.hide()
                awaited.facts.replace_rows(_picture_facts(awaited.block, awaited.words, reason))

    def _make_facts(self, rows: list[Fact], name: str) -> FactsView:
        return FactsView(self._themes, rows, name=name, label="Block", name_width=_NAME_WIDTH, parent=self)

    def _add_facts(self, rows: list[Fact], name: str) -> None:
        self._layout.addWidget(self._make_facts(rows, name))


def _picture_facts(block: Block, words: str, reason: str) -> list[Fact]:
    """Returns rows for a picture: type, size and dimensions, the error if it cannot be shown, and its audience."""
    rows = [fact("", safe_line(", ".join(filter(None, (words, reason))), 400), "dim", lines=3)]
    if block.audience:
        rows.append(fact("", f"for {safe_line(block.audience, 200)}", "dim"))
    return rows


def block_facts(block: Block) -> list[Fact]:
    """Returns facts of a block besides its text: location, type, size and audience."""
    if block.type in ("text", "") and not (block.uri or block.audience):
        return []
    label = _TYPES.get(block.type, safe_line(block.type, 40) or "Block")
    rows: list[Fact] = []
    if block.uri:
        rows.append(fact(label, block.uri, "mono", middle=True, tooltip=block.uri))
    elif block.type not in ("text", ""):
        rows.append(fact(label, block.mime or "type not stated"))
    if block.name:
        rows.append(fact("Name", safe_line(block.name, 400)))
    if block.description:
        rows.append(fact("About", block.description, lines=4))
    if block.mime and block.uri:
        rows.append(fact("Type", safe_line(block.mime, 200), "mono"))
    if block.size is not None:
        stated = "" if block.encoded is not None else ", as stated"
        rows.append(fact("Size", f"{size_in_words(block.size)}{stated}"))
    if block.audience:
        rows.append(fact("For", safe_line(block.audience, 200)))
    return rows
