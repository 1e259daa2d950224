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
    text_words,
    unknown_refusal,
)
from inspector.protocol import kinds
from inspector.protocol.array_elements import ElementScanner
from inspector.protocol.frames import object_keys
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


_HTTP_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"))
_WORDS = kinds.ONE_WORD | {"chat"}
"""Kinds of the protocols that are one word."""


def is_weak_evidence(record: Record) -> bool:
    """Returns True for a record that other programs write too, so that it alone makes a file no log.

    Rows of an evaluation have an `error` or a `result`, logs of servers a `method`, structured logs an `event`.
    """
    header = record.header
    if header is None:
        return record.shape is Shape.ERROR
    if record.shape is Shape.RPC and header.jsonrpc is ABSENT:
        result = bytes(header.result)[:1]
        is_plain = header.method is ABSENT and result not in (b"{", b"[")
        is_http = isinstance(header.method, str) and header.method in _HTTP_METHODS
        return bytes(header.error)[:1] == b'"' or is_http or (is_plain and not header.error)
    if record.shape is Shape.ENVELOPE:
        is_other_protocol = isinstance(header.protocol, str) and "/" not in header.protocol
        is_word = isinstance(header.kind, str) and header.kind not in _WORDS and not set("/.") & set(header.kind)
        is_word_alone = is_word and object_keys(record.raw) == {"kind"}
        return is_word_alone or (header.kind is ABSENT and is_other_protocol)
    if record.shape is Shape.LOG_ONLY:
        # Decisions of a gateway name a participant, or the envelope that they are about.
        is_named = header.participant is not ABSENT or "envelope_id" in object_keys(record.raw)
        return header.event is not ABSENT and not is_named
    return record.shape is Shape.ERROR


def empty_refusal(noun: str) -> Refusal:
    """Returns the refusal of a file without any message, as "an empty array"."""
    return Refusal(f"has no messages: it is {noun}", _OTHER_FILE)


_OTHER_FILE = "Open another file, or write this one again with the program that it comes from."
_UNCOMMENTED = "Open a copy of it without comments."
_COMMENTS = re.compile(rb'"(?:[^"\\\n]|\\.)*+"|(?P<comment>//[^\n]*|/\*.*?\*/)', re.DOTALL)
_COMMAS = re.compile(rb'"(?:[^"\\\n]|\\.)*+"|(?P<comma>,)(?=\s*[}\]])', re.DOTALL)


def _commented_object(head: bytes) -> dict[str, Any] | None:
    """Returns the first object, or its beginning, in a text that is JSON apart from its comments; else None."""
    text = head[:_HEAD_BYTES]
    bare = _COMMENTS.sub(lambda found: b" " if found["comment"] else found[0], text)
    if bare == text:
        return None
    whole = _COMMAS.sub(lambda found: b"" if found["comma"] else found[0], bare).strip()
    value = decoded_object(whole)
    if value is None and len(head) > len(text) and (begin := complete_json(whole)) is not None:
        value = decoded_object(begin)
    return value


def refusal_of_records(first: bytes, number: int, scanner: ElementScanner | None, head: bytes) -> Refusal:
    """Returns the refusal of a file by its first record, or by the document over several lines that it begins.

    Args:
        first: its first record.
        number: count of the records examined.
        scanner: of the records that are no lines.
        head: the first bytes of the file, or all.
    """
    if first == b"{}" and number == 1:
        return empty_refusal("an object without keys")
    if scanner is None and first[:1] in (b"{", b"/") and (commented := _commented_object(head)) is not None:
        known = known_refusal(msgspec.json.encode(commented))
        words = f"is JSON with comments, and no log that can be read. It is {keys_words(commented)}"
        return known or Refusal(words, _UNCOMMENTED)
    if scanner is None and number > 1 and first[:1] == b"{":
        document = decoded_object(head)
        if document is not None:
            words = f"It is {keys_words(document)}, over several lines"
            return known_refusal(msgspec.json.encode(document)) or unknown_refusal(words)
        if (begin := _longer_beginning(first, head)) is not None:
            return unknown_refusal(f"It begins with {keys_words(begin)}, over several lines")
    if scanner is None and is_binary(head[:_HEAD_BYTES]):
        return unknown_refusal(f"It is {BINARY}")
    # A section of TOML, a time or a link begins with a bracket, as an array does.
    if scanner is not None and scanner.bracketed and first[:1] not in (b"{", b"["):
        line = next((one for one in head.removeprefix(b"\xef\xbb\xbf").split(b"\n") if one.strip()), b"").strip()
        if decoded_object(b'{"a":' + line.rstrip(b",") + b"}") is None and line not in (b"[", b"[]"):
            return unknown_refusal(f"Its first line is {text_words(line)}")
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
