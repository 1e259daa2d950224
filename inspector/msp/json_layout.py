"""Parses the layout of JSON text (places of members and elements), and writes new values in the same style.

Numbers that Python cannot represent exactly keep their text, so that copies are faithful.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from typing_extensions import override

_MOST_DIGITS = 4_000
"""Limit of digits in an integer; Python refuses much longer ones."""


class WrittenNumber(float):
    """A number with its original text: out of range, more precise than a float, or unusually spelled."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> WrittenNumber:
        """Creates the nearest float, possibly infinite."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    @override
    def __reduce__(self) -> tuple[type[WrittenNumber], tuple[str]]:
        return WrittenNumber, (self.text,)


def read_float(text: str) -> float:
    """Parses a number with fraction or exponent; keeps the text if it would be written differently."""
    number = float(text)
    return number if repr(number) == text else WrittenNumber(text)


def read_int(text: str) -> int | float:
    """Parses an integer of any length."""
    # `int` refuses long texts, since its conversion takes quadratic time.
    return int(text) if len(text) <= _MOST_DIGITS else WrittenNumber(text)


_DECODER = json.JSONDecoder(parse_float=read_float, parse_int=read_int)
_SCAN = cast(Any, _DECODER).scan_once  # the fast scanner, unknown to typeshed
_SPACE = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|([:,])([ \t]*)(?![ \t\r\n])')
_STOPS = ",]}"
_BOXES = frozenset((dict, list))
_MANY_ITEMS = 200  # a container with more is large
_MAX_DEPTH = 6
"""Nesting depth searched for a large container."""
# Characters from which the style is read; the beginning is typical of the rest.
_HEAD = 1 << 16
_INDENT = re.compile(r"(\r\n|\n|\r)([ \t]+)")
_ESCAPED = re.compile(r"\\u(?!00[0-7])")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODINGS = (
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe", "utf-16-le"),
)
MARK = "\ufeff"
"""Byte order mark; kept at the start of a text, and not part of the JSON."""


class Decoded(NamedTuple):
    """A text with its encoding for writing."""

    text: str
    codec: str
    errors: str

    def encode(self, text: str) -> bytes:
        """Encodes a text in the same encoding."""
        return text.encode(self.codec, self.errors)


def decode_text(data: bytes) -> Decoded:
    """Decodes a file's bytes without loss. Raises ValueError if that is impossible."""
    codec = next((name for mark, name in _ENCODINGS if data.startswith(mark)), None)
    if codec is None:
        # Bytes that are not UTF-8 become lone surrogates, and the same bytes again.
        return Decoded(data.decode("utf-8", "surrogateescape"), "utf-8", "surrogateescape")
    return Decoded(data.decode(codec, "surrogatepass"), codec, "surrogatepass")


def whole_value(text: str) -> Any:
    """Parses a text that is one JSON value. Raises JSONDecodeError."""
    return _DECODER.decode(text.removeprefix(MARK))


def value_at(text: str, start: int) -> tuple[Any, int]:
    """Parses the value at an offset; returns it with its end. Raises ValueError without a value."""
    try:
        return _SCAN(text, start)
    except StopIteration:  # how the scanner of the standard library reports an end
        raise ValueError(f"no JSON at {start}") from None


def past_space(text: str, start: int) -> int:
    """Returns the offset of the next non-blank character."""
    return cast(re.Match[str], _SPACE.match(text, start)).end()


@dataclass(slots=True)
class Cell:
    """One member or element: `lead` is the blank text before it, `tail` that after it."""

    value: Any
    start: int
    end: int
    """Range of its value."""
    lead: str
    tail: str = ""
    key: str = ""
    head: str = ""
    """For a member: its name as written, up to the value."""
    inner: list[Cell] | None = None
    """Cells of its value, if parsed."""


def cells_of(text: str, start: int, like: Any = None) -> tuple[list[Cell], int]:
    """Parses the container at an offset into cells; returns them with its end.

    Args:
        text: the text.
        start: offset of the container.
        like: the future value. Its large containers are parsed into cells too, since decoding them in one call would
            block all other threads.
    """
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    cells: list[Cell] = []
    at = past_space(text, start + 1)
    if text[at] == close:
        return cells, at + 1
    before = start + 1
    while True:
        cell = Cell(None, at, at, text[before:at])
        if is_object:
            cell.key, named = value_at(text, at)
            cell.start = past_space(text, past_space(text, named) + 1)  # after the colon
            cell.head = text[at : cell.start]
        other = _member_of(like, cell.key if is_object else len(cells))
        # The decoder holds the interpreter's lock until it returns.
        if _is_large(other) and text[cell.start] == ("{" if type(other) is dict else "["):
            cell.inner, cell.end = cells_of(text, cell.start, other)
            inner = cell.inner
            cell.value = {one.key: one.value for one in inner} if type(other) is dict else [one.value for one in inner]
        else:
            cell.value, cell.end = value_at(text, cell.start)
        cells.append(cell)
        stop = cell.end
        if text[stop] not in _STOPS:
            stop = past_space(text, stop)
            cell.tail = text[cell.end : stop]
        if text[stop] == close:
            return cells, stop + 1
        before = stop + 1
        at = past_space(text, before)


def _member_of(box: Any, place: str | int) -> Any:
    """Returns a member or element, if present."""
    if isinstance(box, dict):
        return box.get(place)
    return box[place] if isinstance(box, list) and type(place) is int and place < len(box) else None


def _is_large(value: Any, depth: int = 0) -> bool:
    """Returns True if a value is or contains a container with very many items."""
    if type(value) not in _BOXES:
        return False
    items = value.values() if type(value) is dict else value
    if len(items) > _MANY_ITEMS:
        return True
    return (
        depth < _MAX_DEPTH and not _BOXES.isdisjoint(map(type, items)) and any(_is_large(i, depth + 1) for i in items)
    )


@dataclass(frozen=True, slots=True)
class Style:
    """Formatting style of a text."""

    comma: str
    """Blanks after a comma within a line."""
    colon: str
    """Blanks after a colon."""
    unit: str
    """One step of indentation; empty for a single line."""
    newline: str
    ascii_only: bool

    @classmethod
    def detect(cls, text: str) -> Style:
        """Detects the style from the start of a text."""
        comma, colon = _separators(text)
        indent = _INDENT.search(text, 0, _HEAD)
        newline = "\r\n" if "\r\n" in text[:_HEAD] else indent[1] if indent else "\n"
        # A text in ASCII without escapes does not show how its writer treats other characters.
        ascii_only = text.isascii() and _ESCAPED.search(text) is not None
        return cls(comma, colon, indent[2] if indent else "", newline, ascii_only)

    def scalar(self, value: object) -> str:
        """Formats a text, number, true, false or null."""
        if isinstance(value, WrittenNumber):
            return value.text
        text = json.dumps(value, ensure_ascii=self.ascii_only)
        return text if text.isascii() else _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

    def member(self, name: str) -> str:
        """Formats the name of a new member with its colon."""
        return f"{self.scalar(name)}:{self.colon}"

    def format_value(self, value: object, indent: str, spread: bool, text: str = "", like: int | None = None) -> str:
        """Formats a new value.

        Args:
            value: the value.
            indent: indentation of its line.
            spread: puts items on lines of their own, if there is no example.
            text: text with an example.
            like: offset of a similar value in the text, whose format is used.
        """
        if not isinstance(value, dict | list) or not value:
            return self.scalar(value)
        examples = _examples(text, like, isinstance(value, dict))
        spread = bool(self.unit) and (is_spread(examples[0].lead) if examples else spread)
        inner = indent + self.unit if spread else indent
        parts = self._format_items(cast(dict[str, object] | list[object], value), inner, spread, text, examples)
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        if not spread:
            return opening + f",{self.comma}".join(parts) + closing
        lines = f",{self.newline}{inner}".join(parts)
        return f"{opening}{self.newline}{inner}{lines}{self.newline}{indent}{closing}"

    def _format_items(
        self, value: dict[str, object] | list[object], indent: str, spread: bool, text: str, examples: list[Cell]
    ) -> Iterator[str]:
        if isinstance(value, list):
            like = next((cell.start for cell in examples if isinstance(cell.value, dict | list)), None)
            yield from (self.format_value(item, indent, spread, text, like) for item in value)
            return
        by_name = {cell.key: cell.start for cell in examples}
        for name, item in value.items():
            yield self.member(name) + self.format_value(item, indent, spread, text, by_name.get(name))


def is_spread(lead: str) -> bool:
    """Returns True if blanks contain a line break."""
    return "\n" in lead or "\r" in lead


def _examples(text: str, like: int | None, is_object: bool) -> list[Cell]:
    if like is None or text[like] != ("{" if is_object else "["):
        return []
    return cells_of(text, like)[0]


def _separators(text: str) -> tuple[str, str]:
    comma: str | None = None
    colon: str | None = None
    for token in _TOKEN.finditer(text, 0, _HEAD):
        if token[1] == ":":
            colon = token[2] if colon is None else colon
        elif token[1] == ",":
            comma = token[2] if comma is None else comma
        if comma is not None and colon is not None:
            break
    if colon is None:
        colon = " "
    return comma if comma is not None else colon, colon
