"""Reads one MCP content block: text, image, audio, an embedded resource, a link to one.

Source: MCP 2025-06-18, Tools (content types) and Resources (contents). Base64 is decoded on request with a limit;
addresses are never fetched.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.protocol.payloads.record_tables import compact_json

MAX_ENCODED = 16 << 20
"""Limit of decoded base64 in characters."""
_MAX_JSON_LENGTH = 2_000
_EXAMINED_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Block:
    """A content block.

    Attributes:
        type: `text`, `image`, `audio`, `resource`, `resource_link`, or another value; "" if missing.
        text: its text, if any.
        mime: its declared MIME type.
        uri: address of its resource.
        name: its name or title.
        description: its description.
        encoded: its base64 data, if any.
        size: bytes, declared or from its data, if known.
        audience: its annotated audience.
    """

    type: str
    text: str | None = None
    mime: str = ""
    uri: str = ""
    name: str = ""
    description: str = ""
    encoded: str | None = None
    size: int | None = None
    audience: str = ""

    @property
    def is_picture(self) -> bool:
        """True if it is a picture."""
        return self.encoded is not None and (self.type == "image" or self.mime.startswith("image/"))

    def data(self) -> bytes | None:
        """Returns its bytes, if they are valid base64 within the limit."""
        if self.encoded is None or len(self.encoded) > MAX_ENCODED:
            return None
        # Some servers send a data address instead of plain base64.
        encoded = self.encoded.partition(",")[2] if self.encoded.startswith("data:") else self.encoded
        try:
            # `validate` refuses the line breaks that some encoders write.
            return base64.b64decode("".join(encoded.split()), validate=True)
        except (binascii.Error, ValueError):
            return None

    def describe(self) -> str:
        """Returns it in a line: "image, image/png, 12.3 kB", "resource_link, report, file:///a.pdf"."""
        size = size_in_words(self.size) if self.size is not None else ""
        return ", ".join(filter(None, (self.type or "block", self.name, self.uri, self.mime, size)))


def block_of(value: object) -> Block:
    """Reads a block; an invalid one becomes its JSON. Never raises."""
    if isinstance(value, str):
        return Block("text", value)
    if not isinstance(value, Mapping):
        return Block("", compact_json(value)[:_MAX_JSON_LENGTH])
    # A resource keeps its data one level deeper.
    inner: Mapping[str, Any] = value["resource"] if isinstance(value.get("resource"), Mapping) else value
    encoded = _string(inner, "data") or _string(inner, "blob") or None
    text = inner.get("text")
    size = inner.get("size")
    if encoded is not None:
        # Base64 without its padding gives the exact size.
        size = len(encoded) * 3 // 4 - encoded[-2:].count("=")
    annotations = value.get("annotations")
    audience = annotations.get("audience") if isinstance(annotations, Mapping) else None
    kind = _string(value, "type") or ("resource" if "uri" in inner else "")
    return Block(
        # Cut, since a block comes from the wire and is shown in one line.
        kind[:80],
        text if isinstance(text, str) else None if kind else compact_json(value)[:_MAX_JSON_LENGTH],
        _string(inner, "mimeType")[:200],
        _string(inner, "uri")[:_MAX_JSON_LENGTH],
        (_string(inner, "title") or _string(inner, "name"))[:_MAX_JSON_LENGTH],
        _string(inner, "description")[:_MAX_JSON_LENGTH],
        encoded,
        size if isinstance(size, int) and not isinstance(size, bool) else None,
        ", ".join(str(who)[:80] for who in audience[:8]) if isinstance(audience, list) else "",
    )


def _string(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


# Repeats are bounded, so that a hostile text cannot make a search quadratic.
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_FENCE = re.compile(r"^```", re.MULTILINE)
_BOLD = re.compile(r"(?<![*\w])\*\*[^*\n]{1,200}\*\*(?![*\w])")
_LINK = re.compile(r"\[[^\]\n]{1,200}\]\([^)\s]{1,500}\)")
_RULE = re.compile(r"^\|? ?:?-{3,}:? ?\|", re.MULTILINE)
_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,3}\.) \S", re.MULTILINE)


_CODE = re.compile(r"(?<!`)`[^`\n]{1,200}`(?!`)")
_MOST_STATEMENTS = 2
_STATEMENT = re.compile(
    r"^\s*(?:(?:import|from|def|class|const|let|var|export|return|if|for|while|fi|done)\b.*"
    r"|[\w.-]+ ?[:=] ?\S.*|.*[;{}])$",
    re.MULTILINE,
)


def is_markdown(text: str) -> bool:
    """Returns True if a text is Markdown.

    Signs are a fence, a table, a link, bold words, a list with code, or several words of code. Headings count with a
    list, or if the text is no program with comments.
    """
    head = text[:_EXAMINED_CHARACTERS]
    if len(_FENCE.findall(head)) >= 2 or _RULE.search(head) or _LINK.search(head):
        return True
    headings, items = len(_HEADING.findall(head)), len(_ITEM.findall(head))
    codes = len(_CODE.findall(head))
    if _BOLD.search(head) is not None or codes > 1 or (codes and items):
        return True
    if not headings or len(_STATEMENT.findall(head)) > _MOST_STATEMENTS:
        # In many scripting languages a comment looks like a heading.
        return False
    return items > 0 or headings > 1 or "\n\n" in head


def size_in_words(size_bytes: int) -> str:
    """Returns a size in words: "183 B", "2.8 kB", "3.2 MB"."""
    if size_bytes < 1_000:
        return f"{size_bytes} B"
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1_000:.1f} kB"
    return f"{size_bytes / 1_000_000:.1f} MB"
