"""Makes an MCP result readable: its text, the table or JSON in that text, other blocks in words.

Source: MCP 2025-06-18, Tools (content blocks, `structuredContent`). All sizes are limited: text above 1 MB is neither
decoded nor kept whole, and `elided` reports it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from inspector.protocol.header import json_or_none
from inspector.protocol.payloads.content_blocks import Block, block_of, is_markdown, size_in_words
from inspector.protocol.payloads.record_tables import Table, compact_json, table_in

MAX_DECODED = 1 << 20
"""Characters of text decoded as JSON (docs/design.md 7: no record above 1 MB is decoded whole)."""
MAX_KEPT = 1 << 16
"""Characters kept of a longer text."""
MAX_BLOCKS = 100
"""Blocks kept separately; the text of further blocks is joined all the same."""

__all__ = ["MAX_DECODED", "MAX_KEPT", "Content", "Table", "content_of", "pretty_json", "size_in_words"]


@dataclass(frozen=True)
class Content:
    """A readable result.

    Attributes:
        text: the joined text blocks, one per line; "" without one.
        value: decoded JSON of the text, else the structured content, else the result without content blocks; or None.
        others: blocks without text (images, resources), one description each.
        failed: `isError`.
        elided: a sentence about omitted parts, if any.
        blocks: every block in order; empty for a result without content blocks.
        structured: `structuredContent` if it differs from the text; else None.
    """

    text: str
    value: object = None
    others: tuple[str, ...] = ()
    failed: bool = False
    elided: str | None = None
    blocks: tuple[Block, ...] = ()
    structured: object = None

    @cached_property
    def table(self) -> Table | None:
        """Its records as a table."""
        return table_in(self.value)

    @cached_property
    def json(self) -> str | None:
        """Its JSON, indented; None for plain text."""
        return None if self.value is None else pretty_json(self.value)

    @cached_property
    def declares_markdown(self) -> bool | None:
        """True if its blocks declare Markdown, False if they declare other types; None without a type."""
        declared = [block.mime for block in self.blocks if block.text is not None and block.mime]
        return all(mime.startswith("text/markdown") for mime in declared) if declared else None

    @cached_property
    def markdown(self) -> bool:
        """True for Markdown text, declared or detected."""
        declared = self.declares_markdown
        if declared is not None:
            return declared
        return (self.value is None or self.structured is not None) and is_markdown(self.text)

    @property
    def record_count(self) -> int | None:
        """Rows of its table."""
        return self.table.total if self.table is not None else None

    @property
    def lines(self) -> list[str]:
        """Lines of its text, else the other blocks."""
        return self.text.splitlines() if self.text else list(self.others)


def content_of(result: object) -> Content:
    """Reads the value of `result`: a tool's content, or any other result. Never raises."""
    if not isinstance(result, Mapping):
        return _of_plain(result)
    blocks = result.get("content")
    if isinstance(blocks, Mapping) and isinstance(blocks.get("type"), str):
        blocks = [blocks]  # a sampled message has a single block
    if not isinstance(blocks, list):
        messages = result.get("messages") if isinstance(result.get("messages"), list) else result.get("contents")
        blocks = _message_blocks(messages)
    if blocks is None:
        shown = {key: value for key, value in result.items() if key != "_meta"}
        return Content("", shown or None, failed=result.get("isError") is True)
    return _of_blocks(result, blocks)


def _of_plain(result: object) -> Content:
    if isinstance(result, str):
        text, elided = _bounded(result)
        return Content(text, None if elided else _decoded(text), elided=elided)
    return Content("" if result is None else compact_json(result), result if isinstance(result, list) else None)


def _message_blocks(messages: object) -> list[Any] | None:
    """Returns the blocks of a prompt's messages or a resource's contents; a message may have several."""
    if not isinstance(messages, list):
        return None
    found: list[Any] = []
    for message in messages:
        inner = message.get("content", message) if isinstance(message, Mapping) else message
        found += inner if isinstance(inner, list) else [inner]
    return found


def _of_blocks(result: Mapping[str, Any], blocks: list[Any]) -> Content:
    texts: list[str] = []
    others: list[str] = []
    for block in blocks:
        text = _text_of(block)
        if text is not None:
            texts.append(text)
        else:
            others.append(_words(block))
    joined, elided = _bounded("\n".join(texts))
    value = None
    # A shortened text is no JSON any more.
    if elided is None:
        value = next((v for v in map(_decoded, texts) if v is not None), None)
    structured = result.get("structuredContent")
    if not isinstance(structured, Mapping | list):
        structured = None
    # Structured content usually repeats the text; only a different one is shown.
    other = structured if structured != value else None
    if value is None and structured is not None:
        value = structured
    shown = tuple(block_of(block) for block in blocks[:MAX_BLOCKS])
    return Content(joined, value, tuple(others), result.get("isError") is True, elided, shown, other)


def _text_of(block: object) -> str | None:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return None
    if isinstance(block.get("text"), str):
        return block["text"]
    inner = block.get("resource")
    return inner["text"] if isinstance(inner, Mapping) and isinstance(inner.get("text"), str) else None


def _words(block: object) -> str:
    """Returns a block without text in words: "image, image/png, 12.3 kB", "resource file:///a.pdf"."""
    if not isinstance(block, Mapping):
        return compact_json(block)[:200]
    inner = block.get("resource") if isinstance(block.get("resource"), Mapping) else block
    assert isinstance(inner, Mapping)
    parts = [str(block.get("type") or "block")]
    for key in ("name", "uri", "mimeType"):
        value = inner.get(key)
        if isinstance(value, str) and value:
            parts.append(value[:200])
    data = inner.get("data", inner.get("blob"))
    if isinstance(data, str):
        # Three bytes for four characters; the exact size does not matter here.
        parts.append(size_in_words(len(data) * 3 // 4))
    return ", ".join(parts)


def _bounded(text: str) -> tuple[str, str | None]:
    if len(text) <= MAX_DECODED:
        return text, None
    shown, whole = size_in_words(MAX_KEPT), size_in_words(len(text))
    return text[:MAX_KEPT], f"Only the first {shown} of {whole} are shown; Raw has the message."


def _decoded(text: str) -> object:
    """Returns the object or array in a JSON text, if any."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    value = json_or_none(text.encode("utf-8", "surrogatepass"))
    return value if isinstance(value, dict | list) else None


def pretty_json(value: object, limit: int | None = None) -> str:
    """Returns JSON indented by two; values without a JSON form are written as in Python.

    Args:
        value: any value.
        limit: characters to write; the beginning of a longer text takes no longer.
    """
    try:
        if limit is None:
            # Python writes indented JSON slowly: 65 ms for 1 MB instead of 15.
            with contextlib.suppress(ValueError, msgspec.DecodeError):  # half a surrogate pair, NaN
                return msgspec.json.format(json.dumps(value, ensure_ascii=False), indent=2)
        pieces = json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(value)
        return "".join(pieces) if limit is None else _beginning(pieces, limit)
    except (TypeError, ValueError, RecursionError):
        return str(value)[:limit]


def _beginning(pieces: Iterator[str], limit: int) -> str:
    taken, length = list[str](), 0
    for piece in pieces:
        taken.append(piece)
        length += len(piece)
        if length >= limit:
            break
    return "".join(taken)[:limit]
