"""The content blocks of a result one below the other: text, pictures, and the rest as facts."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.protocol.payloads.blocks import Block, size_words
from inspector.ui.panels.details.facts import Fact, FactsView, fact
from inspector.ui.panels.details.picture import PictureView, read_picture
from inspector.ui.panels.details.text_block import TextBlock
from inspector.ui.theme import ThemeController
from inspector.ui.wire_text import plain

_MOST_BLOCKS = 20
_MOST_PICTURES = 6
_TYPES = {"resource_link": "Link to", "resource": "Resource", "audio": "Audio", "image": "Picture"}
_NAMES = 72


class BlocksView(QWidget):
    """Blocks in the order they came; at most twenty, the rest is counted."""

    def __init__(
        self, themes: ThemeController, blocks: Sequence[Block], *, formatted: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("contentBlocks")
        self.setAccessibleName("Content blocks")
        self._themes = themes
        self._formatted = formatted
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(themes.theme.metrics.section_gap)
        pictures = 0
        for place, block in enumerate(blocks[:_MOST_BLOCKS]):
            pictures += block.is_picture
            for widget in self._made(block, place, may_decode=pictures <= _MOST_PICTURES):
                self._layout.addWidget(widget)
        if len(blocks) > _MOST_BLOCKS:
            self._add_facts([fact("", f"{len(blocks) - _MOST_BLOCKS} more blocks, see Tree", "dim")], "moreBlocks")

    def _made(self, block: Block, place: int, *, may_decode: bool) -> list[QWidget]:
        if block.is_picture and may_decode:
            return self._picture(block, place)
        widgets: list[QWidget] = []
        facts = block_facts(block)
        if facts:
            widgets.append(self._facts(facts, f"block{place}"))
        if block.text is not None:
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

    def _picture(self, block: Block, place: int) -> list[QWidget]:
        image, words = read_picture(block)
        rows = [fact("", plain(words, 400), "dim", lines=3)]
        if block.audience:
            rows.append(fact("", f"for {plain(block.audience, 200)}", "dim"))
        facts = self._facts(rows, f"block{place}")
        if image is None:
            return [facts]
        return [PictureView(self._themes, image, plain(words, 400), f"picture{place}", self), facts]

    def _facts(self, rows: list[Fact], name: str) -> FactsView:
        return FactsView(self._themes, rows, name=name, label="Block", name_width=_NAMES, parent=self)

    def _add_facts(self, rows: list[Fact], name: str) -> None:
        self._layout.addWidget(self._facts(rows, name))


def block_facts(block: Block) -> list[Fact]:
    """What is known of a block beside its text: where it lies, what it is, how large, for whom."""
    if block.type in ("text", "") and not (block.uri or block.audience):
        return []
    label = _TYPES.get(block.type, plain(block.type, 40) or "Block")
    rows: list[Fact] = []
    if block.uri:
        rows.append(fact(label, block.uri, "mono", middle=True, tooltip=block.uri))
    elif block.type not in ("text", ""):
        rows.append(fact(label, block.mime or "of no stated type"))
    if block.name:
        rows.append(fact("Name", plain(block.name, 400)))
    if block.about:
        rows.append(fact("About", block.about, lines=4))
    if block.mime and block.uri:
        rows.append(fact("Type", plain(block.mime, 200), "mono"))
    if block.size is not None:
        stated = "" if block.encoded is not None else ", as it says"
        rows.append(fact("Size", f"{size_words(block.size)}{stated}"))
    if block.audience:
        rows.append(fact("For", plain(block.audience, 200)))
    return rows
