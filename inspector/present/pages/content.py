"""Parts of contents: results with several views, content blocks, and texts with Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inspector.present.pages.factories import bounded_text
from inspector.present.pages.parts import BlocksPart, ContentPart
from inspector.present.subject import MAX_TEXT
from inspector.protocol.payloads.content_blocks import Block
from inspector.protocol.payloads.record_tables import Table
from inspector.protocol.payloads.result_content import Content, pretty_json

FORMATTED, TEXT = "Formatted", "Text"
"""Views of Markdown."""
_MOST_BLOCKS = 20


def content_part(content: Content, table: Table | None = None, *, is_output: bool = False) -> ContentPart:
    """Returns the views of a content.

    Args:
        content: the content.
        table: overrides the table found in its JSON.
        is_output: a tool wrote it, not a model. Its text is plain unless it declares Markdown: a line of a program
            that begins with "#" is no heading. `Formatted` is then the second choice.
    """
    table = table or content.table
    # Text alone would hide links and pictures.
    has_blocks = bool(content.others) or any(block.uri or block.audience for block in content.blocks)
    ways = (
        ("Table", table is not None),
        ("Blocks", has_blocks and bool(content.blocks)),
        (FORMATTED, content.markdown and not has_blocks),
        (TEXT, (bool(content.text) and not has_blocks) or (bool(content.others) and not content.blocks)),
        ("JSON", content.value is not None),
    )
    views = [name for name, there in ways if there] or [TEXT]
    is_plain = is_output and not content.declares_markdown
    if is_plain and FORMATTED in views and TEXT in views:
        views.remove(FORMATTED)
        views.insert(views.index(TEXT) + 1, FORMATTED)
    text = "\n".join(filter(None, (content.text, *content.others, content.elided)))
    return ContentPart(
        views=views, text=bounded_text(text) or "An empty result.", table=table,
        mono=content.value is not None and content.structured is None,
        json="" if content.value is None else pretty_json(content.value, MAX_TEXT),
        blocks=blocks_part(content.blocks, markdown=content.markdown and not is_plain) if "Blocks" in views else None,
    )  # fmt: skip


def blocks_part(blocks: Sequence[Block], *, markdown: bool) -> BlocksPart:
    """Returns the first blocks and the number of the others."""
    first = blocks[:_MOST_BLOCKS]
    shown = [one if one.text is None else replace(one, text=bounded_text(one.text)) for one in first]
    return BlocksPart(blocks=shown, more=max(0, len(blocks) - _MOST_BLOCKS), markdown=markdown)
