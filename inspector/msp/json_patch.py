"""Rewrites JSON and keeps the bytes of unchanged parts: blanks, order, spelling, repeated members."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any, NamedTuple

from inspector.msp.json_layout import (
    MARK,
    Cell,
    Style,
    WrittenNumber,
    cells_of,
    decode_text,
    is_spread,
    past_space,
    value_at,
)

_WrittenPart = tuple[Cell | None, str]
"""New text of a part, and the old part it replaces."""


class _Unread:
    """Type of `UNREAD`."""

    __slots__ = ()


UNREAD = _Unread()
"""Stands for a value or line that could not be decoded."""

_LINE = re.compile(r"[^\r\n]+")
_ID_MEMBERS = ("subsession_id", "session_id", "id")
_FEW_CHANGES = 8
"""Ratio: at most one in 8 may differ for matching by index."""
# Lists up to this length are compared in full, in quadratic time.
_MANY_ITEMS = 1000
_REPEATED = 20
"""Average number of possible matches per element, above which a full comparison is too slow."""


def lines_of(text: str) -> tuple[list[Any], list[int]]:
    """Parses JSON Lines; returns values (`UNREAD` for an invalid line) and line numbers, without blank lines."""
    cells = _line_cells(text)
    numbers = list(accumulate((cell.lead.count("\n") or cell.lead.count("\r") for cell in cells), initial=1))
    return [cell.value for cell in cells], numbers[1:]


def patch_json(original: bytes, value: Any) -> bytes:
    """Returns JSON text for `value` with the bytes of `original` where unchanged.

    Raises:
        ValueError: `original` is not JSON.
    """
    source = decode_text(original)
    text = source.text
    start = past_space(text, 1 if text.startswith(MARK) else 0)
    written, end = _Rewriter(text).rewrite_root(start, value)
    return source.encode(text[:start] + written + text[end:])


def patch_json_lines(original: bytes, values: Sequence[Any]) -> bytes:
    """Returns JSON Lines for `values`, as `patch_json` does; `UNREAD` keeps its line."""
    source = decode_text(original)
    text = source.text
    cells = _line_cells(text)
    rewriter = _Rewriter(text)
    written = rewriter.rewrite_elements(cells, values, "", spread=False)
    behind = text[cells[-1].end :] if cells else text
    newline = rewriter.style.newline
    return source.encode(_join_parts(cells, written, newline, "", "") + behind)


class _Rewriter:
    """Rewrites values of one text in its style."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.style = Style.detect(text)

    def rewrite_root(self, start: int, new: Any) -> tuple[str, int]:
        """Returns the new root value, and the end of the old one."""
        opening = self.text[start : start + 1]
        if isinstance(new, dict | list) and new and opening == ("{" if isinstance(new, dict) else "["):
            cells, end = cells_of(self.text, start, new)
            return self._container(cells, new, "", bool(self.style.unit)), end
        old, end = value_at(self.text, start)
        # the old value becomes an element of a list
        if isinstance(new, list) and any(map(exactly_same, [old] * len(new), new)):
            cell = Cell(old, start, end, "")
            return (
                f"[{_join_parts([cell], self.rewrite_elements([cell], new, '', False), self.style.newline, '')}]",
                end,
            )
        return self._rewrite_value(Cell(old, start, end, ""), new, "", bool(self.style.unit)), end

    def _rewrite_value(self, cell: Cell, new: Any, indent: str, spread: bool) -> str:
        """Returns the new text for a cell's value."""
        if exactly_same(cell.value, new):
            return self.text[cell.start : cell.end]
        if isinstance(new, dict | list) and new and type(new) is type(cell.value):
            cells = cells_of(self.text, cell.start, new)[0] if cell.inner is None else cell.inner
            return self._container(cells, new, indent, spread)
        return self.style.format_value(new, indent, spread)

    def _container(self, cells: list[Cell], new: Any, indent: str, spread: bool) -> str:
        if not cells:
            return self.style.format_value(new, indent, spread)
        # Indentation may differ inside one file, so each container gives its own.
        if spread := is_spread(cells[0].lead):
            indent = re.split(r"[\r\n]", cells[0].lead)[-1]
        if isinstance(new, dict):
            opening, closing, written = "{", "}", self._members(cells, new, indent, spread)
        else:
            opening, closing, written = "[", "]", self.rewrite_elements(cells, new, indent, spread)
        between = cells[0].lead if spread else self.style.comma
        return opening + _join_parts(cells, written, between) + closing

    def _members(self, cells: list[Cell], new: dict[str, Any], indent: str, spread: bool) -> list[_WrittenPart]:
        last = {cell.key: cell for cell in cells}  # the last of repeated members counts
        written: list[_WrittenPart] = []
        for cell in cells:
            if cell.key in new:
                counts = last[cell.key] is cell
                value = self._rewrite_value(cell, new[cell.key], indent, spread) if counts else self._verbatim(cell)
                written.append((cell, cell.head + value))
        head = cells[-1].head
        # New members get the blanks around the colon of the last old one.
        colon = head[len(head.rstrip(" \t\r\n:")) :]
        for name, value in new.items():
            if name not in last:
                text = self.style.scalar(name) + colon + self.style.format_value(value, indent, spread)
                written.append((None, text))
        return written

    def rewrite_elements(self, cells: list[Cell], new: Sequence[Any], indent: str, spread: bool) -> list[_WrittenPart]:
        """Returns elements of an array, or lines: unchanged, changed and new ones."""
        written: list[_WrittenPart] = []
        example: Cell | None = None
        for old, place, same in _align([cell.value for cell in cells], new):
            if old is not None:
                example = cells[old]
                keeps = same or new[place] is UNREAD
                value = self._verbatim(example) if keeps else self._rewrite_value(example, new[place], indent, spread)
                written.append((example, value))
                continue
            like = example or cells[0] if cells else None
            start = like.start if like is not None and like.value is not UNREAD else None
            written.append((None, self.style.format_value(new[place], indent, spread, self.text, start)))
        return written

    def _verbatim(self, cell: Cell) -> str:
        return self.text[cell.start : cell.end]


def _join_parts(
    cells: list[Cell], written: list[_WrittenPart], between: str, inner_tail: str = "", comma: str = ","
) -> str:
    """Joins parts with the blanks of the old ones; the first and last blanks stay in place."""
    if not written:
        return ""
    lead, tail = between, inner_tail
    if len(cells) > 1 and comma:  # a single line end separates lines
        lead, tail = cells[1].lead, cells[0].tail
    parts: list[str] = []
    for number, (cell, text) in enumerate(written):
        if number:
            before = cell.lead if cell is not None and cell is not cells[0] else lead
        else:
            before = cells[0].lead if cells else ""
        if number == len(written) - 1:
            behind = cells[-1].tail if cells else ""
        else:
            behind = cell.tail if cell is not None and cell is not cells[-1] else tail
        parts.append(before + text + behind)
    return comma.join(parts)


def _line_cells(text: str) -> list[Cell]:
    cells: list[Cell] = []
    before = 0
    for line in _LINE.finditer(text):
        start = past_space(text, line.start() + text.startswith(MARK, line.start()))
        end = line.start() + len(line[0].rstrip(" \t"))
        if start >= end:
            continue
        try:
            value, stop = value_at(text, start)
            value = value if stop == end else UNREAD
        except (ValueError, RecursionError):
            value = UNREAD
        cells.append(Cell(value, start, end, text[before:start]))
        before = end
    return cells


class _Pair(NamedTuple):
    """A new element and its old counterpart."""

    old: int | None
    new: int
    same: bool
    """They are known to be equal."""


def _align(old: Sequence[Any], new: Sequence[Any]) -> Iterator[_Pair]:
    """Pairs new elements with old ones: by id if present, else by value, else by index."""
    shorter = min(len(old), len(new))
    first = 0
    # Most edits append, so equal ends are matched before any comparison of pairs.
    while first < shorter and exactly_same(old[first], new[first]):
        yield _Pair(first, first, True)
        first += 1
    last = 0
    while last < shorter - first and exactly_same(old[-1 - last], new[-1 - last]):
        last += 1
    yield from _match_middle(old, new, range(first, len(old) - last), range(first, len(new) - last))
    for behind in range(last, 0, -1):
        yield _Pair(len(old) - behind, len(new) - behind, True)


def _match_middle(old: Sequence[Any], new: Sequence[Any], olds: range, news: range) -> Iterator[_Pair]:
    same = [exactly_same(old[n], new[m]) for n, m in zip(olds, news, strict=False)]
    # few changes, and new elements at the end
    if (len(same) - sum(same)) * _FEW_CHANGES <= len(same) and len(news) >= len(olds):
        for n, place in enumerate(news):
            yield _Pair(olds[n] if n < len(same) else None, place, n < len(same) and same[n])
        return
    a, b = [_key(old[n]) for n in olds], [_key(new[n]) for n in news]
    steps = [("replace", 0, len(a), 0, len(b))]
    if a and b and a != b and (len(a) * len(b) < _MANY_ITEMS**2 or _meetings(a, b) < _REPEATED * (len(a) + len(b))):
        # Without `autojunk`, which would ignore frequent elements of long lists.
        steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    for _, old_start, old_end, new_start, new_end in steps:
        for n in range(new_end - new_start):
            yield _Pair(olds[old_start + n] if old_start + n < old_end else None, news[new_start + n], False)


def _meetings(a: list[Hashable], b: list[Hashable]) -> int:
    """Returns the number of equal pairs, the cost of a full comparison."""
    counts = Counter(b)
    return sum(times * counts[key] for key, times in Counter(a).items())


def _key(item: Any) -> Hashable:
    if isinstance(item, dict):
        for name in _ID_MEMBERS:
            if isinstance(value := item.get(name), str):
                return name, value
    return UNREAD if item is UNREAD else json.dumps(item)


def exactly_same(old: Any, new: Any) -> bool:
    """Returns True if two decoded values have the same JSON text: 1, 1.0 and true differ, NaN equals itself."""
    if isinstance(old, dict | list):
        return old == new and _same_types(old, new)
    if isinstance(old, WrittenNumber) and isinstance(new, WrittenNumber):
        return old.text == new.text
    if type(old) is not type(new) and not (isinstance(old, float) and isinstance(new, float)):
        return False
    return json.dumps(old) == json.dumps(new) if isinstance(old, float) else bool(old == new)


def _same_types(old: Any, new: Any) -> bool:
    """Returns True if equal values also agree in the types of their numbers."""
    if type(old) is not type(new):
        return False
    items = old.values() if isinstance(old, dict) else old
    # The usual case by far: messages contain text only.
    if set(map(type, items)) <= {str, type(None)}:
        return True  # text only equals text
    names = old if isinstance(old, dict) else range(len(old))
    for name in names:
        item = old[name]
        if isinstance(item, dict | list):
            if not _same_types(item, new[name]):
                return False
        elif not isinstance(item, str) and not exactly_same(item, new[name]):
            return False
    return True
