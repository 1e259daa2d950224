r"""Translates literals and regular expressions into RE2 expressions over the bytes of records as written.

The text of a record has its JSON escapes resolved, at several depths, so one character has several spellings: `"` may
be `\"`, `\\\"` or `\u0022`. An expression here includes them, and matches in every record whose text may match.
Zero-width assertions are left out. Spellings that would slow down every search have an expression of their own: letters
and digits written by number, and characters such as the Kelvin sign that only fold to ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, islice
from re import _compiler as compiler  # pyright: ignore[reportAttributeAccessIssue] - no public function compiles a parsed expression
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue] - no public function parses expressions
from typing import Any

_ASCII = "".join(map(chr, range(0x80)))
_NUMBERED = frozenset("\"'/<>&+`=\x7f").union(map(chr, range(0x20)))
"""ASCII characters that programs write by number, as HTML-safe JSON; others are so written for concealment only."""
_LETTERS = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
"""The letter after the backslash in a JSON escape, by character."""
_ANY_WIDE = rb"[\x80-\xff]+|(?:\\+u[0-9a-fA-F]{4})+"
"""Characters beyond ASCII, raw or written by number."""
_RARE_NUMBERS = rb"00(?:2[0134589acde]|3[0-9abf]|4[0-9a-f]|5[0-9a-f]|6[1-9a-f]|7[0-9a-e])"
"""Numbers of the other ASCII characters. Within an escape, they could hide any character."""
_NO_BYTES = frozenset("\ufffd").union(map(chr, range(0xD800, 0xE000)))
"""The replacement of invalid bytes, and characters without bytes."""

_LAST_CASED = 0x20000
"""End of the characters that have a case."""
_MOST_LISTED = 64
"""Limit of characters beyond ASCII that a class lists one by one."""
_MOST_REPEATS = 1_000
"""Limit of a counted repetition in RE2."""
_MAX_LENGTH = 20_000
"""Limit of an expression in bytes."""
_FOLDED_APART = {"i": "\u0130\u0131", "k": "\u212a", "s": "\u017f"}
"""Characters beyond ASCII that `re` takes for an ASCII letter if it ignores case."""


@dataclass(frozen=True, slots=True)
class RawExpression:
    """An expression over the bytes of records.

    A record without a match of `pattern` or one of the rare spellings does not match.
    """

    pattern: bytes
    """Empty if any record may match."""
    rare_numbers: bytes
    r"""Escapes by number that `pattern` leaves out; they begin with `\u`."""
    rare_characters: bytes
    """Characters beyond ASCII that `pattern` leaves out; empty if there are none."""
    is_exact: bool
    """A match without doubtful bytes is a match of the text."""
    may_hold_line_end: bool
    """A record with a raw line end may match although `pattern` does not."""
    doubtful: bytes = rb"[\\\x80-\xff]"
    """Expression of bytes that may not be text as written."""
    literal: bytes = b""
    """The literal; empty if it has characters beyond ASCII, or a backslash, or the expression is none."""
    lead: bytes = b""
    """Beginning of the literal that `pattern` leaves out, since RE2 finds letters faster."""
    match_case: bool = True
    """False if the literal is in lower case and matches any case."""
    is_wide: bool = False
    """A match has characters beyond ASCII."""


@cache
def _folds() -> dict[str, str]:
    """Returns the characters beyond ASCII that case folding changes, with their folded text."""
    every = map(chr, range(0x80, _LAST_CASED))
    return {character: folded for character in every if (folded := character.casefold()) != character}


@cache
def _unfolded() -> dict[str, str]:
    """Returns the characters that case folding turns into one character, by that character."""
    found: dict[str, str] = {}
    for character, folded in _folds().items():
        if len(folded) == 1:
            found[folded] = found.get(folded, "") + character
    return found


def raw_literal(text: str, *, match_case: bool) -> RawExpression:
    """Translates a literal.

    Args:
        text: folded unless `match_case`.
        match_case: case-sensitive; else matches texts that fold to it.
    """
    writer = _Writer()
    # Within ASCII, only letters have another case.
    parts: list[str | bytes] = []
    for character in text:
        others = "" if match_case else _unfolded().get(character, "")
        if character.isascii() and character not in _NUMBERED and character != "\\":
            writer.rare.update(others)
            parts.append(character)
        elif character.isascii():
            parts.append(writer.character(character, ""))
        else:
            parts.append(writer.character("", character + others))
    if not match_case:
        writer.rare.update(
            one for one, folded in _folds().items() if len(folded) > 1 and not set(folded).isdisjoint(text)
        )
    lead = text[: next((n for n, part in enumerate(parts) if isinstance(part, str)), 0)]
    lead = lead if _NUMBERED.issuperset(lead) else ""
    return RawExpression(
        _joined(parts[len(lead) :], ignore_case=not match_case),
        *writer.rare_expressions(),
        is_exact=_NO_BYTES.isdisjoint(text),
        may_hold_line_end=writer.may_hold_line_end,
        doubtful=rb"\\",
        literal=text.encode() if text.isascii() and "\\" not in text else b"",
        lead=lead.encode(),
        match_case=match_case,
        is_wide=not text.isascii(),
    )


def raw_pattern(tree: Any, flags: int, *, counted: bool = True) -> RawExpression:
    """Translates a regular expression.

    Args:
        tree: the expression, parsed with `flags`.
        flags: of the search.
        counted: with counts of repetitions. Without them, RE2 refuses no expression for its size.
    """
    writer = _Writer(counted=counted)
    pattern = writer.sequence(tree, flags)
    if len(pattern) > _MAX_LENGTH:
        pattern = b""
    return RawExpression(pattern, *writer.rare_expressions(), writer.is_exact, writer.may_hold_line_end)


@dataclass(slots=True)
class _Writer:
    """Writes parts of an expression, and notes facts about the whole."""

    counted: bool = True
    is_exact: bool = True
    may_hold_line_end: bool = False
    rare: set[str] = field(default_factory=set)
    """Characters beyond ASCII in place of which ASCII letters were written."""
    _groups: dict[int, bytes] = field(default_factory=dict)

    def rare_expressions(self) -> tuple[bytes, bytes]:
        """Returns the expressions of rare spellings, by number and as bytes."""
        written = sorted(self.rare)
        numbers = b"|".join((_RARE_NUMBERS, *map(_number, written)))
        return rb"\\u(?i:%s)" % numbers, b"|".join(map(_bytes_of, written))

    def character(self, ascii_: Iterable[str], wide: str | None) -> bytes:
        """Returns an expression for the spellings of one character.

        Args:
            ascii_: the ASCII characters it may be.
            wide: the others; None if they are too many.
        """
        members = set(ascii_)
        self.may_hold_line_end |= "\n" in members
        ways = _ranges_of(members - {"\n", "\\"})
        if "\\" in members:
            ways.append(rb"\\+")
        escaped = b"".join(_LETTERS.get(one, one).encode() for one in sorted(members.intersection('"/\b\f\n\r\t')))
        if escaped:
            ways.append(rb"\\+[%s]" % escaped)
        if wide is None:
            ways.append(_ANY_WIDE)
        else:
            ways += map(_bytes_of, wide)
            numbers = [_number(one) for one in (*sorted(members & _NUMBERED), *wide)]
            ways += [rb"\\+u(?i:%s)" % b"|".join(numbers)] if numbers else []
        return b"(?:%s)" % b"|".join(ways) if ways else rb"[^\x00-\xff]"

    def sequence(self, tree: Any, flags: int) -> bytes:
        """Returns the expression of a parsed sequence."""
        return _joined(
            [self._part(operation, value, flags) for operation, value in tree], ignore_case=bool(flags & re.IGNORECASE)
        )

    def _part(self, operation: Any, value: Any, flags: int) -> str | bytes:
        match str(operation), value:
            case "LITERAL", int() if value < 0x80:
                return self._ascii_literal(chr(value), ignore_case=bool(flags & re.IGNORECASE))
            case (("LITERAL" | "NOT_LITERAL" | "IN" | "ANY"), _):
                return self.character(*_members(operation, value, flags))
            case "SUBPATTERN", (group, added, removed, inner):
                self._groups[group] = b"(?:%s)" % self.sequence(inner, (flags | added) & ~removed)
                return self._groups[group]
            case (("MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT"), (least, most, inner)):
                self.is_exact &= str(operation) != "POSSESSIVE_REPEAT"
                return b"(?:%s)%s" % (self.sequence(inner, flags), self._count(least, most))
            case "BRANCH", (_, branches):
                return b"(?:%s)" % b"|".join([self.sequence(branch, flags) for branch in branches])
            case "ATOMIC_GROUP", _:
                self.is_exact = False
                return b"(?:%s)" % self.sequence(value, flags)
            case "GROUPREF_EXISTS", (_, yes, no):
                self.is_exact = False
                return b"(?:%s|%s)" % (self.sequence(yes, flags), self.sequence(no, flags) if no else b"")
            case "GROUPREF", _:
                self.is_exact = False
                # Doubles with each reference to a group of references.
                known = self._groups.get(value, b"")
                return known if len(known) < _MAX_LENGTH else rb"[^\n]*?"
            case _:  # an assertion
                self.is_exact = False
                return b""

    def _ascii_literal(self, character: str, *, ignore_case: bool) -> str | bytes:
        if character in _NUMBERED or character == "\\":
            return self.character(character, "")
        if ignore_case:
            self.rare.update(_FOLDED_APART.get(character.lower(), ""))
        return character

    def _count(self, least: int, most: int) -> bytes:
        """Returns a quantifier. A lazy one lets RE2 stop at the end of the shortest match."""
        endless = most is parser.MAXREPEAT or most > _MOST_REPEATS
        if (least, most) == (0, 1):
            return b"??"
        if endless and least < 2:
            self.is_exact &= most is parser.MAXREPEAT
            return b"+?" if least else b"*?"
        if not self.counted or least > _MOST_REPEATS:
            self.is_exact = False
            return b"+?" if least else b"*?"
        self.is_exact &= not endless or most is parser.MAXREPEAT
        return b"{%d,}?" % least if endless else b"{%d,%d}?" % (least, most)


def _joined(parts: Iterable[str | bytes], *, ignore_case: bool) -> bytes:
    """Joins parts of a sequence; characters are plain ASCII."""
    # Runs of characters stay together, since RE2 looks for a literal beginning first.
    written: list[bytes] = []
    for is_plain, some in groupby(parts, lambda part: isinstance(part, str)):
        run = b"".join([re.escape(one.encode()) if isinstance(one, str) else one for one in some])
        written.append(b"(?i:%s)" % run if is_plain and ignore_case else run)
    return b"".join(written)


def _members(operation: Any, value: Any, flags: int) -> tuple[str, str | None]:
    """Returns the ASCII characters that one element matches, and the others; None if they are too many."""
    state = parser.State()
    state.flags = flags | re.UNICODE if not flags & re.ASCII else flags
    matching = compiler.compile(parser.SubPattern(state, [(operation, value)]))
    ascii_ = "".join(matching.findall(_ASCII))
    if not _is_listable(operation, value):
        return ascii_, None
    wide = [match[0] for match in islice(matching.finditer(_cased_characters()), _MOST_LISTED + 1)]
    return ascii_, "".join(wide) if len(wide) <= _MOST_LISTED else None


@cache
def _cased_characters() -> str:
    return "".join(map(chr, range(0x80, _LAST_CASED)))


def _is_listable(operation: Any, value: Any) -> bool:
    """Returns False if an element matches characters beyond those that have a case."""
    match str(operation), value:
        case "IN", _:
            return all(_is_listable(*one) for one in value)
        case "LITERAL", _:
            return value < _LAST_CASED
        case "RANGE", (_, last):
            return last < _LAST_CASED
        case "CATEGORY", _:
            return str(value) in ("CATEGORY_SPACE", "CATEGORY_DIGIT", "CATEGORY_WORD")
        case _:
            return False


def _ranges_of(characters: set[str]) -> list[bytes]:
    """Returns a class of ASCII characters, if there are any."""
    codes = sorted(map(ord, characters))
    # Numbers of one run differ from their place by the same amount.
    runs = [[code for _, code in run] for _, run in groupby(enumerate(codes), lambda one: one[1] - one[0])]
    return [b"[%s]" % b"".join([rb"\x%02x-\x%02x" % (run[0], run[-1]) for run in runs])] if runs else []


def _number(character: str) -> bytes:
    r"""Returns the number of an escape, without `\u` before it; of characters beyond the basic plane two escapes."""
    units = character.encode("utf-16-be", "surrogatepass")
    return rb"\\+u".join(b"%02x%02x" % pair for pair in zip(units[::2], units[1::2], strict=True))


def _bytes_of(character: str) -> bytes:
    """Returns the bytes of a character as an expression."""
    if character == "\ufffd":  # invalid bytes
        return rb"[\x80-\xff]+"
    return b"".join(rb"\x%02x" % byte for byte in character.encode("utf-8", "surrogatepass"))
