"""Decides why a file is no log: the JSON in a document's text, rows that merely have an error, unknown records."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from inspector.formats.entry_builders import decoded_object
from inspector.formats.refused_formats import (
    BINARY,
    Refusal,
    is_binary,
    keys_words,
    known_refusal,
    record_words,
    unknown_refusal,
)
from inspector.protocol.array_elements import ElementScanner
from inspector.protocol.header import ABSENT
from inspector.protocol.record import Record, Shape
from inspector.protocol.truncated_json import complete_json

_HEAD_BYTES = 1 << 16
_CLOSERS = 8
"""Bytes that completing a short beginning may add."""
_BLOCKS = (
    (re.compile(rb"[\w.\"-]+\s*=\s*[a-zA-Z]{0,2}('''|\"\"\")"), "text in quotes"),
    (re.compile(rb"(`{3,}|~{3,})"), "code block"),
    (re.compile(rb"[^{]*<<-?\s*['\"]?(\w+)['\"]?\s*$"), "here-document of a shell"),
)
"""Beginnings of a block of text in TOML and Python, in Markdown, and in scripts of a shell, each with its end."""


class TextBlock:
    """Tracks whether the lines of a document lie in a block of text.

    Attributes:
        words: the kind of the present block; "" outside of blocks.
    """

    def __init__(self) -> None:
        self.words = ""
        self._end = b""

    def add(self, line: bytes) -> None:
        """Takes the next line, without blanks around it."""
        if self.words:
            if line.endswith(self._end) or line.startswith(self._end):
                self.words = ""
            return
        for begin, words in _BLOCKS:
            found = begin.match(line)
            if found is not None and found[1] not in line[found.end() :]:
                self.words, self._end = words, found[1]

    def refusal(self, first: bytes) -> Refusal:
        """Returns the refusal of a file whose known lines lie in this block, by its first line."""
        return unknown_refusal(f"Its first line is {record_words(first)}, and its JSON lies in a {self.words}")


def is_bare_error(record: Record) -> bool:
    """Returns True for an object that has little more than an `error` text, as rows of an evaluation do."""
    header = record.header
    if record.shape is Shape.RPC and header is not None:
        return header.jsonrpc is ABSENT and bytes(header.error)[:1] == b'"'
    return record.shape is Shape.ERROR


def refusal_of_records(first: bytes, number: int, scanner: ElementScanner | None, head: bytes) -> Refusal:
    """Returns the refusal of a file by its first record, or by the document over several lines that it begins.

    Args:
        first: its first record.
        number: count of the records examined.
        scanner: of the records that are no lines.
        head: the first bytes of the file, or all.
    """
    if scanner is None and number > 1 and first[:1] == b"{":
        document = decoded_object(head)
        if document is not None:
            words = f"It is {keys_words(document)}, over several lines"
            return known_refusal(msgspec.json.encode(document)) or unknown_refusal(words)
        if (begin := _longer_beginning(first, head)) is not None:
            return unknown_refusal(f"It begins with {keys_words(begin)}, over several lines")
    if scanner is None and is_binary(head[:_HEAD_BYTES]):
        return unknown_refusal(f"It is {BINARY}")
    alone = number == 1 and first[:1] == b"{" and (scanner is None or not scanner.bracketed)
    noun = "It" if alone else "Its first line" if scanner is None else "Its first element"
    return unknown_refusal(f"{noun} is {record_words(first)}")


def chosen_refusal(first: bytes, title: str) -> Refusal:
    """Returns the refusal of a file that is not read in the format chosen for it, by its first record."""
    words = f"Its first record is {record_words(first)}, and is not read as {title}"
    return Refusal(f"is no log that can be read. {words}", "Open it without a chosen format, or choose another.")


def _longer_beginning(first: bytes, head: bytes) -> dict[str, Any] | None:
    """Returns the beginning of an object that goes on after the first line."""
    begin = complete_json(head[:_HEAD_BYTES])
    value = decoded_object(begin) if begin is not None and len(begin) > len(first) + _CLOSERS else None
    return value if value and decoded_object(first) is None else None
