"""Parses JSON with comments and trailing commas, and keeps the position of every value."""

from __future__ import annotations

import json
import re

from inspector.tap.install.values import UnreadableError, Value

# Possessive groups with alternatives are wrong in Python 3.11.2 (Debian 12): comments would not be blank.
_BLANK = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/)*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_OTHER = re.compile(r"-?\d[\d.eE+\-]*|true|false|null")
_DEEPEST = 200


def read_json(text: str) -> Value:
    """Parses a text.

    Raises:
        UnreadableError: if it is malformed, or an object has a key twice.
    """
    reader = _Reader(text)
    found = reader.value(1 if text.startswith("\ufeff") else 0, 0)
    if reader.blank(found.end) != len(text):
        raise reader.unreadable(found.end, "there is text after its end")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def blank(self, at: int) -> int:
        """Skips blanks and comments."""
        found = _BLANK.match(self._text, at)
        return found.end() if found is not None else at

    def unreadable(self, at: int, what: str) -> UnreadableError:
        return UnreadableError(f"line {self._text.count(chr(10), 0, at) + 1}: {what}")

    def value(self, at: int, depth: int) -> Value:
        at = self.blank(at)
        begin = self._text[at : at + 1]
        if depth > _DEEPEST:
            raise self.unreadable(at, "it is nested too deeply")
        if begin == "{":
            return self._object(at, depth)
        if begin == "[":
            return self._array(at, depth)
        found = (_STRING if begin == '"' else _OTHER).match(self._text, at)
        if found is None:
            raise self.unreadable(at, "a value is missing or damaged")
        try:
            return Value(at, found.end(), json.loads(found[0]))
        except ValueError:
            raise self.unreadable(at, "a value is damaged") from None

    def _object(self, start: int, depth: int) -> Value:
        members: dict[str, Value] = {}
        at = self.blank(start + 1)
        while not self._text.startswith("}", at):
            key = _STRING.match(self._text, at)
            if key is None:
                raise self.unreadable(at, "a name in quotes or a closing brace is missing")
            name = json.loads(key[0])
            # Parsers differ in the member they keep, so an edit might have no effect.
            if name in members:
                raise self.unreadable(at, f'"{name}" appears twice')
            colon = self.blank(key.end())
            if not self._text.startswith(":", colon):
                raise self.unreadable(colon, "a colon is missing")
            members[name] = self.value(colon + 1, depth + 1)
            at = self._next(members[name].end, "}")
        plain = {name: one.plain for name, one in members.items()}
        return Value(start, at + 1, plain, members=members)

    def _array(self, start: int, depth: int) -> Value:
        items: list[Value] = []
        at = self.blank(start + 1)
        while not self._text.startswith("]", at):
            items.append(self.value(at, depth + 1))
            at = self._next(items[-1].end, "]")
        return Value(start, at + 1, [one.plain for one in items], items=items)

    def _next(self, at: int, closing: str) -> int:
        at = self.blank(at)
        if self._text.startswith(",", at):
            return self.blank(at + 1)
        if not self._text.startswith(closing, at):
            raise self.unreadable(at, "a comma or a closing bracket is missing")
        return at
