"""Masks secrets in objects that name their value: `{"name": "API_KEY", "value": "..."}`, with any other members.

Environments, headers, parameters and tags are listed so (Kubernetes, Docker, GitHub, AWS, Postman). Text is scanned as
possible JSON or Python, from each name or value to its object's end. This also works for truncated text, or within
other text. Each character is scanned once for each depth of escapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from inspector.protocol.secrets.secret_keys import VALUE_LIST_KEYS, is_secret_name, is_value_key
from inspector.protocol.secrets.spans import replace_spans

_NAME_WORDS = ("name", "key", "variable", "header", "field", "label", "id", "parameter", "property", "env")
_VALUE_WORDS = ("value",)
_SUBJECT_WORDS = ("parameter", "variable", "env", "header", "field", "param", "tag")


def _written(words: tuple[str, ...]) -> list[str]:
    """Returns words in lower case, capitalized, and in upper case."""
    return [way(word) for word in words for way in (str.lower, str.capitalize, str.upper)]


def _of_what(words: tuple[str, ...]) -> list[str]:
    """Returns words with a subject: `ParameterKey`, `envName`, `header_name`, `TAG_VALUE`."""
    return [
        way
        for what in _SUBJECT_WORDS
        for word in words
        for way in (what + word.capitalize(), what.capitalize() + word.capitalize(), f"{what}_{word}")
    ]


NAME_KEYS: Final = frozenset((*_written(_NAME_WORDS), *_of_what(("name", "key"))))
"""Member names of the value's name."""
VALUE_KEYS: Final = frozenset(
    (*_written(_VALUE_WORDS), *_of_what(("value",)), "stringValue", "currentValue", "current_value")
)
"""Member names of the value."""

_START = re.compile(
    rf"(?<!\\)(?P<quote>\\{{0,255}}[\"'])(?:(?P<held>{'|'.join(sorted(VALUE_KEYS))})|{'|'.join(sorted(NAME_KEYS))})(?P=quote)\s*:"
    r"(?:\s*(?P=quote)(?P<name>[A-Za-z0-9_.\- ]{1,100}:?)(?P=quote))?"
)
_DEEPEST = 200
"""Limit of nested brackets."""
_MOST_DEPTHS = 16
"""Limit of escape depths; JSON in JSON in JSON has three."""
_STRUCTURE = re.compile(r"[\s,:\w.+\-]*(?:\\{1,255}[nrt][\s,:\w.+\-]*)*")
"""Syntax of JSON and Python outside strings, with escaped line ends, without brackets."""
_QUOTE = re.compile(r"\\{0,255}[\"']")
_FOLLOWS = re.compile(r"\s*(?:\\{1,255}[nrt]\s*)*([:,}\])]|\Z)")
_LONGEST_OTHER = 10_000
"""Limit of a string in the other type of quotes; longer ones are no strings."""


@dataclass(slots=True)
class _Frame:
    """An open object or list.

    Attributes:
        is_list: it is a list.
        outer: value spans of the object that has this one as its value; None elsewhere.
        key: the current member.
        is_named: its name is that of a secret.
        values: spans of its values.
    """

    is_list: bool = False
    outer: list[tuple[int, int]] | None = None
    key: str = ""
    is_named: bool = False
    values: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


def mask_named(text: str, mask: Callable[[str], str]) -> str:
    """Masks values of objects that are named like secrets.

    Args:
        text: any text.
        mask: returns the replacement of a secret.
    """
    if "alue" not in text and "ALUE" not in text:  # fast exit: no value in it
        return text
    values, named = dict[str, list[int]](), dict[str, list[int]]()
    for match in _START.finditer(text):
        if match["held"] or is_secret_name(match["name"]):
            (values if match["held"] else named).setdefault(match["quote"], []).append(match.start())
    found = set[tuple[int, int]]()
    # One pass per kind of quotation marks: an object has the same ones throughout.
    for quote in islice((quote for quote in values if quote in named), _MOST_DEPTHS):
        places = sorted(values[quote] + named[quote])
        done = 0
        # A walk covers a whole object, so places inside of it are skipped.
        for place in places:
            if place >= done:
                done = _scan_object(text, place, quote, found)
    return replace_spans(text, sorted(found), mask)


def _scan_object(text: str, place: int, quote: str, found: set[tuple[int, int]]) -> int:
    """Scans an object from one of its members to its end or a syntax error; returns that position.

    Args:
        text: any text.
        place: start of a member's key.
        quote: its quotes as written.
        found: receives the spans of secrets.
    """
    frames = [_Frame()]
    while 0 < len(frames) < _DEEPEST:
        frame = frames[-1]
        gap = _STRUCTURE.match(text, place)
        place = gap.end() if gap else place
        sign = text[place : place + 1]
        if sign and sign in "{[(":
            holds = not frame.is_list and frame.key in VALUE_KEYS
            within = frame.outer if frame.is_list or frame.key in VALUE_LIST_KEYS else None
            frames.append(_Frame(is_list=sign != "{", outer=frame.values if holds else within))
        elif sign and sign in "}])":
            _finish_frame(frames.pop(), found)
        else:
            opened = _QUOTE.match(text, place)
            end = _string_in(text, place, quote, opened[0]) if opened else -1
            if opened is None or end < 0:
                break
            start, place = opened.end(), end + len(opened[0])
            follows = _FOLLOWS.match(text, place)
            if follows is None:
                _record_string(frame, text[start:end], (start, end))
                place = end
                break
            if follows[1] == ":" and not frame.is_list:
                frame.key = text[start:end]
            else:
                _record_string(frame, text[start:end], (start, end))
            continue
        place += 1
    for frame in reversed(frames):  # truncated, or no JSON from here
        _finish_frame(frame, found)
    return place


def _string_in(text: str, place: int, quote: str, opened: str) -> int:
    """Returns the end of a string that begins at `place`, or -1."""
    start = place + len(opened)
    if opened == quote:
        return string_end(text, start, quote)
    # An inner string must not end at a quotation mark of the outer one.
    if opened[-1] == quote[-1]:  # of the surrounding text, or nested deeper
        return -1
    end = string_end(text[start : start + _LONGEST_OTHER], 0, opened)
    return start + end if end < _LONGEST_OTHER else -1


def _record_string(frame: _Frame, name: str, place: tuple[int, int]) -> None:
    if frame.outer is not None and (frame.is_list or is_value_key(frame.key)):
        frame.outer.append(place)
    elif frame.key in VALUE_KEYS:
        frame.values.append(place)
    elif frame.key in NAME_KEYS and is_secret_name(name):
        frame.is_named = True


def _finish_frame(frame: _Frame, found: set[tuple[int, int]]) -> None:
    if frame.is_named:
        found.update(frame.values)


def string_end(text: str, start: int, quote: str) -> int:
    """Returns the end of a string that starts at `start`: its first quote with the escapes of the opening one.

    Each level of JSON in JSON doubles backslashes: at a quote with e of them, a backslash in the content is written as
    2 (e + 1). A truncated string of an inner level ends with the string around it.
    """
    escapes = len(quote) - 1
    place = start
    while (place := text.find(quote[-1], place)) >= 0:
        before = place
        while before > start and text[before - 1] == "\\":
            before -= 1
        if _ends_level(place - before, escapes):
            return place - escapes
        around = 0
        while around < escapes:
            if _ends_level(place - before, around) and _BEHIND_STRING.match(text, place + 1):
                return place - around
            around = 2 * around + 1
        place += 1
    return len(text)


_BEHIND_STRING = re.compile(r"(?:\s|\\{1,64}[nrt]){0,200}(?:[,:}\]]|\Z)")


def _ends_level(backslashes: int, escapes: int) -> bool:
    """Returns True if a quote after these backslashes ends a string whose quotes have `escapes` of them."""
    return backslashes >= escapes and (backslashes - escapes) % (2 * (escapes + 1)) == 0
