"""Masks secrets in forms, as pages and requests have them: `<input type="password" value="...">`, multipart fields.

Text may be JSON as written: quotes and line ends may be escaped, at any depth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from inspector.protocol.secrets.secret_keys import is_secret_key
from inspector.protocol.secrets.spans import replace_spans

_START = r"<(?P<tag>[A-Za-z][\w:.\-]{0,60}+)(?=[\s/]|\\{1,64}[nrtu/])"
# A quoted value may hold angle brackets, but no start of a tag, so that each search ends at the next tag.
_NO_START = rf"(?!{_START.replace('?P<tag>', '?:')})"
_QUOTED = rf"\\{{0,64}}+(?:\"(?:[^\"<\r\n]|{_NO_START}<){{0,2048}}+\"|'(?:[^'<\r\n]|{_NO_START}<){{0,2048}}+')"
_TAG = re.compile(
    rf"{_START}(?P<attributes>(?:[^<>=]|=(?:[ \t]{{0,8}}{_QUOTED})?+)++)>(?P<text>[^<>\s\"\\]{{3,2048}}(?=<\\?/))?"
)
_ATTRIBUTE = re.compile(
    r"(?<![\w:.\-])(?:(?<=\\)[nrt])?+(?P<name>[\w:.\-]{1,60}+)[ \t]{0,8}=[ \t]{0,8}"
    r"(?:(?P<quote>\\{0,64}+[\"'])(?P<quoted>(?:(?!(?P=quote))[^\r\n]){0,2048}+)(?P=quote)|(?P<plain>[^\s\"'\\<>]{1,2048}))"
)
_NAMES, _VALUES = ("name", "key", "id"), ("value", "content")
_NO_TEXT = frozenset(("submit", "button", "reset", "checkbox", "radio", "image", "range", "number", "color", "file"))
"""Types of inputs with a value that is no text of a user."""
_PLACEHOLDER = re.compile(r"[$%{@]|<[^<>]{0,256}>?\Z|\Z")
_TELLING = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])\S{6,}")

_END = r"(?:\r?\n|\\{1,64}r\\{1,64}n|\\{1,64}n)"
_REST = r"(?:[^\r\n\\]|\\{1,64}\"){0,256}+"
_FILE = r"filename\*?=(?:\\{0,64}\"[^\"\r\n]{0,256}+\"|[^\s;\"]{1,256}+)"
_FIELD = re.compile(
    rf"(?i)form-data;(?:[ \t]{{0,8}}{_FILE};)?[ \t]{{0,8}}name=(?:\\{{0,64}}\")?(?P<name>[\w.\-\[\]]{{1,100}}+)"
    rf"(?:\\{{0,64}}\")?(?:;[ \t]{{0,8}}{_FILE})?"
)
_BEFORE_VALUE = re.compile(
    rf"{_REST}(?:{_END}[A-Za-z\-]{{1,60}}:{_REST}){{0,8}}+{_END}[ \t]{{0,8}}{_END}"
    rf"(?:(?:[ \t]{{0,8}}{_END}){{1,8}}+(?!--))?+"  # more empty lines; after an empty value comes the boundary
)
_REAL_VALUE = re.compile(r"[^\r\n]{1,4096}+")
_ESCAPED_VALUE = re.compile(r"(?:[^\r\n\\\"]|\\{1,64}[\"'/]){1,4096}+")
_LINE_END = re.compile(_END)
_BOUNDARY = re.compile(rf"{_END}--")
_PROPERTY = re.compile(
    r"<key>(?P<name>[\w.\- ]{1,100})</key>(?:\s|\\{1,64}[nrt]){0,64}<string>(?P<value>[^<>\s\"\\]{3,2048})(?=<\\?/)"
)


def mask_forms(text: str, mask: Callable[[str], str]) -> str:
    """Masks secrets in elements of pages, property lists, and fields of multipart bodies.

    Args:
        text: any text.
        mask: returns the replacement of a secret.
    """
    if "<" in text:
        text = replace_spans(text, _in_elements(text), mask)
        if "<key>" in text:
            text = replace_spans(text, _named(_PROPERTY, text), mask)
    return replace_spans(text, _in_fields(text), mask) if "form-data" in text.lower() else text


def _in_fields(text: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of secrets in multipart fields; each search for headers ends at the next field."""
    found = _FIELD.search(text)
    while found is not None:
        following = _FIELD.search(text, found.end())
        headers = _BEFORE_VALUE.match(text, found.end(), following.start() if following else len(text))
        if headers is not None and is_secret_key(found["name"].rstrip("[]")):
            pattern = _REAL_VALUE if headers[0][-1] == "\n" else _ESCAPED_VALUE
            end = following.start() if following else len(text)
            boundary = _BOUNDARY.search(text, headers.end(), end)
            value = pattern.match(text, headers.end())
            while value is not None:
                yield value.span()
                if following is not None and following.start() < value.end():
                    following = _FIELD.search(text, value.end())
                # Further lines are the field's only if a boundary ends it.
                line_end = _LINE_END.match(text, value.end(), boundary.start()) if boundary else None
                value = pattern.match(text, line_end.end(), boundary.start()) if boundary and line_end else None
        found = following


def _named(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (found.span("value") for found in pattern.finditer(text) if is_secret_key(found["name"].rstrip("[]")))


def _in_elements(text: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of secrets in the attributes and the text of elements."""
    for found in _TAG.finditer(text):
        attributes = dict[str, re.Match[str]]()
        for one in _ATTRIBUTE.finditer(found["attributes"]):
            attributes.setdefault(one["name"].lower(), one)  # the first counts, as in browsers
        values = {name: one["quoted"] if one["plain"] is None else one["plain"] for name, one in attributes.items()}
        kind, is_input = values.get("type", "").lower(), found["tag"].lower() == "input"
        key = next((values[name] for name in _NAMES if is_secret_key(values.get(name, ""))), None)
        is_password = is_input and kind == "password"
        if not is_password and (key is None or kind in _NO_TEXT):
            continue
        holder = next((name for name in _VALUES if name in attributes), None)
        if holder is not None:
            value = values[holder]
            is_word = key is not None and key.lower().endswith(value.lower())
            if _PLACEHOLDER.match(value) is None and ((is_input and not is_word) or _TELLING.fullmatch(value)):
                one, offset = attributes[holder], found.start("attributes")
                start, end = one.span("quoted" if one["plain"] is None else "plain")
                yield offset + start, offset + end
        elif found["text"] is not None and _TELLING.fullmatch(found["text"]):
            yield found.span("text")
