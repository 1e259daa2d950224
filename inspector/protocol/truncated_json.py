"""Completes truncated JSON: closes open values and drops unfinished ones.

No record above 1 MB is decoded whole in the window's process (docs/design.md 7). The first bytes of such a message
contain its sender, kind and the beginning of its text; here they become valid JSON.
"""

from __future__ import annotations

import json
import re

from inspector.protocol.header import json_or_none

TRUNCATION_MARK = "…"
"""End of a truncated string."""
MAX_DEPTH = 200
"""Levels that are kept; deeper values are dropped."""

_TEXT, _WORD, _SPACE = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', rb'[^\s,:"\[\]{}]++', rb"[ \t\n\r]*+"
_STRING, _PLAIN, _BLANK = re.compile(_TEXT, re.DOTALL), re.compile(_WORD), re.compile(_SPACE)
_ITEM = rb"(?:" + _TEXT + rb"|" + _WORD + rb")" + _SPACE + rb"," + _SPACE
_ITEMS = re.compile(rb"(?:" + _ITEM + rb")+", re.DOTALL)
_MEMBERS = re.compile(rb"(?:" + _TEXT + _SPACE + rb":" + _SPACE + _ITEM + rb")+", re.DOTALL)
"""Runs of scalar values with their commas, skipped in one step."""
# Not possessive at its end: before 3.11.5 such a group keeps characters of a failed attempt.
_WHOLE_ESCAPES = re.compile(rb'"[^"\\]*+(?:\\(?:u[0-9a-fA-F]{4}|[^u])[^"\\]*+)*', re.DOTALL)
_MAX_TOKENS = 1 << 14
"""Limit of tokens, some ms of work: 64 kB of brackets alone would take 60 ms."""
_CLOSERS = {0x7B: 0x7D, 0x5B: 0x5D}  # { and [
_KEY = re.compile(rb'"(?:message|envelope|frame|text|data)"\s*:\s*$')


def complete_json(head: bytes, *, mark: bool = True) -> bytes | None:
    """Returns the JSON object or array that begins with these bytes, closed at their end.

    Args:
        head: the first bytes of a JSON text.
        mark: end a truncated string with MARK.

    Returns:
        JSON, at most a few bytes longer than `head`; None if no object or array begins here. At a syntax error in
        `head`,
        the part before it is closed.
    """
    scan = _Scan(head)
    scan.scan_tokens()
    if not scan.last_safe_end:
        return None
    cut = scan.cut_string(mark=mark)
    return cut if cut is not None else head[: scan.last_safe_end] + bytes(reversed(scan.closers))


def is_too_deep(head: bytes) -> bool | None:
    """Returns True if these bytes are JSON nested beyond any decoder's limit; None if no JSON begins here."""
    scan = _Scan(head)
    scan.scan_tokens()
    return scan.too_deep if scan.last_safe_end else None


class _Scan:
    """Scans the tokens of a JSON text.

    Attributes:
        closers: closing brackets of the open arrays and objects.
        last_safe_end: last position at which `closers` can end the text; 0 before one.
        string: start of an unterminated string; -1 without one.
        too_deep: it has more than MAX_DEPTH levels.
    """

    def __init__(self, head: bytes) -> None:
        self._head = head
        self.closers = bytearray()
        self.last_safe_end = 0
        self.string = -1
        self.too_deep = False

    def scan_tokens(self) -> None:
        """Scans to the end of the text, to a syntax error, or to the limit of tokens."""
        head, place = self._head, self._after_blank(0)
        wants_key = False
        # The limit keeps a hostile text from blocking the window.
        for _ in range(_MAX_TOKENS):
            if place >= len(head):
                return
            token = head[place]
            if token in _CLOSERS:
                if wants_key or not self._open(token):
                    return
                wants_key = token == 0x7B
                place = self.last_safe_end = place + 1
            elif not self.closers:
                return
            elif token in b"}]":
                # A wrong closing bracket: the opened one goes back, and the text ends here.
                if self.closers.pop() != token:
                    self.closers.append(0x7D if token == 0x5D else 0x5D)
                    return
                place = self.last_safe_end = place + 1
                wants_key = False
            elif token == 0x2C:  # ,
                wants_key = self.closers[-1] == 0x7D
                place += 1
            elif token == 0x3A:  # :
                wants_key = False
                place += 1
            elif (several := self._skip_scalars(place, wants_key=wants_key)) > place:
                # Several plain values at once: one search is much faster than a step per value.
                place = several
            else:
                place = self._skip_value(place, wants_key=wants_key)
                if place < 0:
                    return
            place = self._after_blank(place)

    def _open(self, token: int) -> bool:
        if len(self.closers) >= MAX_DEPTH:
            self.too_deep = True
            return False
        self.closers.append(_CLOSERS[token])
        return True

    def _skip_scalars(self, place: int, *, wants_key: bool) -> int:
        """Skips a run of scalar values with their commas; returns the same position if there is none."""
        # In an object a run begins with a key, in an array with a value.
        if wants_key != (self.closers[-1] == 0x7D):
            return place
        found = (_MEMBERS if wants_key else _ITEMS).match(self._head, place)
        if found is None:
            return place
        # After the last comma the text can be closed.
        self.last_safe_end = self._head.rfind(b",", place, found.end())
        return found.end()

    def _skip_value(self, place: int, *, wants_key: bool) -> int:
        """Skips a string, number or word; returns -1 if it is unterminated. The text cannot end after a key."""
        is_string = self._head[place] == 0x22
        found = (_STRING if is_string else _PLAIN).match(self._head, place)
        # A number may continue after the cut, so it is not safe.
        if found is None or (not is_string and found.end() == len(self._head)):
            self.string = place if is_string and not wants_key else -1
            return -1
        if not wants_key:
            self.last_safe_end = found.end()
        return found.end()

    def _after_blank(self, place: int) -> int:
        found = _BLANK.match(self._head, place)
        return found.end() if found else place

    def cut_string(self, *, mark: bool) -> bytes | None:
        """Returns the text closed inside its truncated string; None if it ends elsewhere."""
        # An escape sequence must not be cut in half.
        if self.string < 0:
            return None
        start = self.string
        whole = _WHOLE_ESCAPES.match(self._head, start)
        written = self._head[start : whole.end() if whole else start + 1]
        written = written.decode("utf-8", "ignore").encode() if _ends_in_character(written) else written
        inner = self._inner(written) if _KEY.search(self._head, max(0, start - 100), start) else None
        value = inner if inner is not None else written + (TRUNCATION_MARK.encode() if mark else b"") + b'"'
        return self._head[:start] + value + bytes(reversed(self.closers))

    def _inner(self, written: bytes) -> bytes | None:
        """Completes JSON within a string, as many loggers write it."""
        # Only texts that look like JSON are completed inside.
        if not written[1:40].lstrip(b" \t").startswith(b"{"):
            return None
        text = json_or_none(written + b'"')
        whole = complete_json(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
        return None if whole is None else json.dumps(whole.decode("utf-8", "surrogatepass")).encode()


def _ends_in_character(data: bytes) -> bool:
    """Returns True if the last UTF-8 character is incomplete."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False
