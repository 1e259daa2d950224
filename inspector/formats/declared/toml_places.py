"""Finds the line and column of each key and value of a TOML document, which `tomllib` does not tell."""

from __future__ import annotations

import bisect
import re
from typing import NamedTuple

KeyPath = tuple[str | int, ...]
"""Keys from the document down; numbers index arrays."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL), re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'), re.compile(r"'[^'\n]*'"),
)  # fmt: skip
_ESCAPED = re.compile(r"\\(.)")


class Place(NamedTuple):
    """A place in a text, counted from 1."""

    line: int
    column: int


class TomlPlaces:
    """Places of the keys and values of a document.

    Attributes:
        keys: offset of each key; of an array's element, that of the element.
        values: offset of each value.
    """

    def __init__(self, text: str) -> None:
        """Scans a document; of an invalid one it finds the places before the first error."""
        self.keys: dict[KeyPath, int] = {}
        self.values: dict[KeyPath, int] = {}
        self._text, self._at = text, 0
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._counts: dict[KeyPath, int] = {}
        try:
            self._scan()
        except (_InvalidError, RecursionError):
            return

    def place_of(self, offset: int) -> Place:
        """Returns line and column of an offset."""
        line = bisect.bisect_right(self._starts, offset)
        return Place(line, offset - self._starts[line - 1] + 1)

    def key_place(self, path: KeyPath) -> Place:
        """Returns the place of a key, else that of the nearest table around it."""
        return self._nearest(self.keys, path)

    def value_place(self, path: KeyPath) -> Place:
        """Returns the place of a value, else that of the nearest table around it."""
        return self._nearest({**self.keys, **self.values}, path)

    def _nearest(self, places: dict[KeyPath, int], path: KeyPath) -> Place:
        while path and path not in places:
            path = path[:-1]
        return self.place_of(places.get(path, 0))

    def _scan(self) -> None:
        table: KeyPath = ()
        while True:
            self._skip(_BLANK)
            start = self._at
            if start >= len(self._text):
                return
            if not self._text.startswith("[", start):
                self._scan_pair(table)
                continue
            is_array = self._text.startswith("[[", start)
            self._at += 1 + is_array
            named = self._scan_key()
            self._expect("]]" if is_array else "]")
            table = self._table_path(named)
            if is_array:
                number = self._counts.get(table, -1) + 1
                self._counts[table] = number
                table = (*table, number)
            for depth in range(1, len(table) + 1):
                self.keys.setdefault(table[:depth], start)

    def _table_path(self, named: KeyPath) -> KeyPath:
        """Returns the path of a table; a key of an array of tables means its last element."""
        path: KeyPath = ()
        for place, key in enumerate(named):
            path = (*path, key)
            if path in self._counts and place < len(named) - 1:
                path = (*path, self._counts[path])
        return path

    def _scan_pair(self, table: KeyPath) -> None:
        start = self._at
        path = (*table, *self._scan_key())
        self._expect("=")
        for depth in range(len(table) + 1, len(path) + 1):
            self.keys.setdefault(path[:depth], start)
        self._skip(_SPACE)
        self._scan_value(path)

    def _scan_key(self) -> KeyPath:
        path: list[str | int] = []
        while True:
            self._skip(_SPACE)
            quoted = next((found for one in _STRINGS[2:] if (found := one.match(self._text, self._at))), None)
            found = quoted or _BARE_KEY.match(self._text, self._at)
            if found is None:
                raise _InvalidError
            inner = found[0][1:-1] if quoted is not None else found[0]
            path.append(_ESCAPED.sub(r"\1", inner) if found[0].startswith('"') else inner)
            self._at = found.end()
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return tuple(path)
            self._at += 1

    def _scan_value(self, path: KeyPath) -> None:
        self.values[path] = self._at
        start = self._text[self._at : self._at + 1]
        if start == "[":
            self._scan_array(path)
        elif start == "{":
            self._scan_inline_table(path)
        else:
            found = next((found for one in _STRINGS if (found := one.match(self._text, self._at))), None)
            self._at = (found or _BARE_VALUE.match(self._text, self._at) or _fail()).end()

    def _scan_array(self, path: KeyPath) -> None:
        self._at += 1
        number = 0
        while True:
            self._skip(_BLANK)
            if self._text.startswith("]", self._at):
                self._at += 1
                return
            element = (*path, number)
            self.keys[element] = self._at
            self._scan_value(element)
            number += 1
            self._skip(_BLANK)
            if not self._text.startswith("]", self._at):
                self._expect(",")

    def _scan_inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while True:
            self._skip(_BLANK)
            if self._text.startswith("}", self._at):
                self._at += 1
                return
            self._scan_pair(path)
            self._skip(_BLANK)
            if not self._text.startswith("}", self._at):
                self._expect(",")

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found is not None else self._at

    def _expect(self, text: str) -> None:
        if not self._text.startswith(text, self._at):
            raise _InvalidError
        self._at += len(text)


class _InvalidError(Exception):
    """The document is no TOML here."""


def _fail() -> re.Match[str]:
    raise _InvalidError
