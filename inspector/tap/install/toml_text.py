"""Parses TOML with the position of every value, and verifies the result with `tomllib`."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from inspector.tap.install.values import TOO_DEEP, UnreadableError, Value

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_KEY = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|("(?:[^"\\\n]|\\.)*")|'([^'\n]*)')[ \t]*""")
_STRINGS = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")' r"|'''.*?'{3,5}(?!')" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'", re.DOTALL
)  # fmt: skip
_BARE = re.compile(r"[^\s,\]}#][^,\]}#\n]*")


def read_toml(text: str) -> Value:
    """Parses a text.

    Raises:
        UnreadableError: if it is malformed (also by a repeated key), or in a form this parser does not know.
    """
    try:
        plain = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
        found = _Reader(text).document()
        if found.plain != plain:
            raise UnreadableError("it has a form that this program cannot change safely")
    except tomllib.TOMLDecodeError as error:
        raise UnreadableError(str(error)) from None
    except RecursionError:
        raise UnreadableError(TOO_DEEP) from None
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def document(self) -> Value:
        root = table = _table()
        at = self._blank(1 if self._text.startswith("\ufeff") else 0)
        while at < len(self._text):
            if self._text.startswith("[", at):
                several = self._text.startswith("[[", at)
                path, at = self._path(at + 1 + several)
                at += 1 + several
                table = _entered(root, path, several=several)
            else:
                at = self._pair(table, at)
            at = self._blank(at)
        _settle(root)
        return root

    def _pair(self, table: Value, at: int) -> int:
        path, at = self._path(at)
        value = self._value(self._text.index("=", at) + 1)
        owner = _entered(table, path[:-1], several=False)
        assert owner.members is not None
        owner.members[path[-1]] = value
        return value.end

    def _path(self, at: int) -> tuple[list[str], int]:
        path: list[str] = []
        while True:
            key = _KEY.match(self._text, at)
            if key is None:
                raise UnreadableError("a key has an unknown form")
            bare, quoted, literal = key.groups()
            path.append(bare or (tomllib.loads(f"v={quoted}")["v"] if quoted is not None else literal))
            at = key.end()
            if not self._text.startswith(".", at):
                return path, at
            at += 1

    def _value(self, at: int) -> Value:
        at = self._blank(at)
        if self._text.startswith("[", at):
            return self._array(at)
        if self._text.startswith("{", at):
            return self._inline(at)
        found = _STRINGS.match(self._text, at) or _BARE.match(self._text, at)
        if found is None:
            raise UnreadableError("a value has an unknown form")
        written = found[0].rstrip()
        return Value(at, at + len(written), _plain(written))

    def _array(self, start: int) -> Value:
        items: list[Value] = []
        at = self._blank(start + 1)
        while not self._text.startswith("]", at):
            items.append(self._value(at))
            at = self._blank(items[-1].end)
            at = self._blank(at + 1) if self._text.startswith(",", at) else at
        return Value(start, at + 1, [one.plain for one in items], items=items)

    def _inline(self, start: int) -> Value:
        table = _table()
        at = self._blank(start + 1)
        while not self._text.startswith("}", at):
            at = self._blank(self._pair(table, at))
            at = self._blank(at + 1) if self._text.startswith(",", at) else at
        _settle(table)
        table.start, table.end = start, at + 1
        return table

    def _blank(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found is not None else at


def _table() -> Value:
    return Value(0, 0, members={})


def _entered(table: Value, path: list[str], *, several: bool) -> Value:
    """Returns the table under a path, created if missing; with `several` appends one to an array of tables."""
    for place, name in enumerate(path):
        assert table.members is not None
        found = table.members.get(name)
        if several and place == len(path) - 1:
            found = found or Value(0, 0, items=[])
            table.members[name] = found
            assert found.items is not None
            found.items.append(_table())
        elif found is None:
            found = table.members[name] = _table()
        table = found.items[-1] if found.items else found
        if table.members is None:
            raise UnreadableError("a table has an unknown form")
    return table


def _settle(table: Value) -> None:
    """Computes the plain values of tables, from the inside out."""
    for one in (table.members or {}).values():
        for inner in one.items or ():
            if inner.members is not None:
                _settle(inner)
        if one.members is not None:
            _settle(one)
        elif one.items is not None:
            one.plain = [inner.plain for inner in one.items]
    table.plain = {name: one.plain for name, one in (table.members or {}).items()}


def _plain(written: str) -> Any:
    try:
        return tomllib.loads(f"v={written}".replace("\r\n", "\n"))["v"]
    except tomllib.TOMLDecodeError:
        raise UnreadableError("a value has an unknown form") from None
