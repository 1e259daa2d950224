"""Texts of cards: masked, bounded, with control characters written out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice

import msgspec

from inspector.filters.payloads import message_text
from inspector.present.conversation.blocks import Blocks
from inspector.present.conversation.cards import Picture
from inspector.present.conversation.markdown import parse_markdown
from inspector.present.wire_text import safe_line
from inspector.protocol.payloads.content_blocks import Block, block_of, size_in_words
from inspector.protocol.secrets.masking import masked_beginning
from inspector.store.messages.capture import Capture

MAX_TEXT, MAX_WHOLE = 12_000, 100_000
"""Limits of a card's text in characters, and of one that is asked for whole."""
_MOST_PICTURES = 20
_MAX_RECORD, _MOST_VALUES = 32 << 20, 100_000
"""Limits of a record that is searched for a picture: bytes, and values in it."""
_LONG_WORD = re.compile(r"\S{2000,}")
_SCRIPT_CHANGE = re.compile(
    r"[!-\u036f](?=[\u0370-\u2fff])|[\u0370-\u058f](?=[\u0590-\u2fff])"
    r"|[\u0590-\u08ff](?=[\u0370-\u058f\u0900-\u2fff])|[\u0900-\u2fff](?=[\u0370-\u08ff])"
)
_MOST_CHANGES = 1_000
"""Changes of script in one word; the layout of more takes time with their square, 5 s for 50,000."""
_LISTS = ("content", "parts", "blocks", "images", "attachments", "output")


def text_blocks(text: str, *, whole: bool = False, keeps_lines: bool = False) -> tuple[Blocks, int]:
    """Returns the blocks of a text from the wire, and the number of characters left out."""
    limit = MAX_WHOLE if whole else MAX_TEXT
    shown = masked_beginning(text, limit)
    end = _layout_end(shown)
    return parse_markdown(shown[:end], keeps_lines=keeps_lines), max(0, len(text) - min(limit, end))


def _layout_end(text: str) -> int:
    """Returns the end of the part that is laid out fast: up to many changes of script in one word."""
    for word in _LONG_WORD.finditer(text):
        change = next(islice(_SCRIPT_CHANGE.finditer(text, *word.span()), _MOST_CHANGES, None), None)
        if change is not None:
            return change.start() + 1
    return MAX_WHOLE


def raw_text(capture: Capture, message: int) -> str:
    """Returns the text of a message, not masked."""
    return message_text(capture, message) or ""


def picture_blocks(payload: Mapping[str, object]) -> list[Block]:
    """Returns the pictures of a payload in order: of a prompt, an answer or a result. Never raises."""
    found: list[Block] = []
    result = payload.get("result")
    # A prompt may be a picture itself.
    own = _picture(payload)
    found += [own] if own is not None else []
    for around in (payload, result if isinstance(result, Mapping) else {}):
        for name in _LISTS:
            listed = around.get(name)
            if isinstance(listed, Sequence) and not isinstance(listed, str | bytes):
                found += [block for one in listed[:200] if (block := _picture(one)) is not None]
    return found[:_MOST_PICTURES]


def _picture(value: object) -> Block | None:
    if not isinstance(value, Mapping):
        return None
    source = value.get("source")
    if value.get("type") == "image" and isinstance(source, Mapping):
        # A model's API keeps data and type one level deeper. A payload may have the size instead of the data.
        mime, size = source.get("media_type"), source.get("bytes")
        mime = mime[:200] if isinstance(mime, str) else ""
        if isinstance(size, int) and not isinstance(size, bool) and size > 0:
            return Block("image", mime=mime, size=size)
        value = {"type": "image", "data": source.get("data"), "mimeType": mime}
    address = value.get("image_url")
    address = address.get("url") if isinstance(address, Mapping) else address
    if isinstance(address, str) and address.startswith("data:"):
        value = {"type": "image", "data": address, "mimeType": address[5:80].partition(";")[0]}
    block = block_of(value)
    return block if block.is_picture else None


def is_picture(payload: Mapping[str, object]) -> bool:
    """Returns True for a payload that is a picture itself; its text only describes it."""
    return _picture(payload) is not None


def pictures_of(message: int, payload: Mapping[str, object]) -> tuple[Picture, ...]:
    """Returns references to the pictures of a payload."""
    return tuple(
        Picture(message, index, block.mime, -1 if block.size is None else block.size, _picture_words(block))
        for index, block in enumerate(picture_blocks(payload))
    )


def _picture_words(block: Block) -> str:
    size = "" if block.size is None else size_in_words(block.size)
    return ", ".join(filter(None, (safe_line(block.mime, 80) or "picture", size)))


def picture_bytes(capture: Capture, message: int, index: int) -> bytes | None:
    """Returns the bytes of a picture, if it has any within the limit."""
    blocks = picture_blocks(capture.records.payload(message))
    if not 0 <= index < len(blocks):
        return None
    block = blocks[index]
    return block.data() if block.encoded is not None else _data_in_record(capture.records.read_line_of(message), block)


def _data_in_record(line: bytes, wanted: Block) -> bytes | None:
    """Returns the data of a picture that the payload names by type and size alone."""
    if len(line) > _MAX_RECORD:
        return None
    try:
        todo: list[object] = [msgspec.json.decode(line)]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    for _ in range(_MOST_VALUES):
        if not todo:
            break
        value = todo.pop()
        if isinstance(value, Mapping):
            found = _picture(value)
            if (
                found is not None
                and found.encoded is not None
                and found.mime == wanted.mime
                # Payloads count the padding of base64, at most two bytes.
                and abs((found.size or 0) - (wanted.size or 0)) <= 2
            ):
                return found.data()
            todo += value.values()
        elif isinstance(value, list):
            todo += value
    return None
