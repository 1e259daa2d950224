"""JSON of which only the beginning is at hand, made whole: what was begun is ended, what cannot be is left out.

Nothing above 1 MB is decoded whole in the window's process (docs/design.md 7). Of such a message the first bytes say
who sent it, what it is and how its text begins; here they become JSON that every reader takes.
"""

from __future__ import annotations

import json
import re

from inspector.protocol.header import NotAnObjectError, decode_json

MARK = "…"
"""Ends a string that was cut."""
MAX_DEPTH = 200
"""Levels that are kept; what is nested deeper is left out."""

_TEXT, _WORD, _SPACE = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', rb'[^\s,:"\[\]{}]++', rb"[ \t\n\r]*+"
_STRING, _PLAIN, _BLANK = re.compile(_TEXT, re.DOTALL), re.compile(_WORD), re.compile(_SPACE)
_ITEM = rb"(?:" + _TEXT + rb"|" + _WORD + rb")" + _SPACE + rb"," + _SPACE
_ITEMS = re.compile(rb"(?:" + _ITEM + rb")+", re.DOTALL)
_MEMBERS = re.compile(rb"(?:" + _TEXT + _SPACE + rb":" + _SPACE + _ITEM + rb")+", re.DOTALL)
"""Values that hold no others, one after the other with their commas, which are passed at once."""
# Not possessive at its end: before 3.11.5 such a group keeps what it tried in vain.
_WHOLE_ESCAPES = re.compile(rb'"[^"\\]*+(?:\\(?:u[0-9a-fA-F]{4}|[^u])[^"\\]*+)*', re.DOTALL)
_MOST_STEPS = 1 << 14
"""Tokens that are looked at, which takes some ms: made of nothing but brackets, 64 kB would take 60."""
_CLOSERS = {0x7B: 0x7D, 0x5B: 0x5D}  # { and [
_KEY = re.compile(rb'"(?:message|envelope|frame|text|data)"\s*:\s*$')


def completed(head: bytes, *, mark: bool = True) -> bytes | None:
    """The JSON object or array that begins with these bytes, ended where they end.

    Args:
        head: the first bytes of a JSON text.
        mark: end a string that was cut with MARK.

    Returns:
        JSON, at most a few bytes longer than `head`; None when no object or array begins here. Where `head` stops being
        JSON, what came before is ended.
    """
    scan = _Scan(head)
    scan.run()
    if not scan.safe:
        return None
    cut = scan.cut_string(mark=mark)
    return cut if cut is not None else head[: scan.safe] + bytes(reversed(scan.closers))


def is_too_deep(head: bytes) -> bool | None:
    """Whether these bytes are JSON nested so deeply that nothing can read it; None when no JSON begins here."""
    scan = _Scan(head)
    scan.run()
    return scan.too_deep if scan.safe else None


class _Scan:
    """Walks over the tokens of a JSON text.

    Attributes:
        closers: what ends the arrays and objects that are open.
        safe: where the text can be ended by `closers`; 0 while there is no such place.
        string: where a string begins that has no end; -1 when there is none.
        too_deep: there is more than MAX_DEPTH levels of it.
    """

    def __init__(self, head: bytes) -> None:
        self._head = head
        self.closers = bytearray()
        self.safe = 0
        self.string = -1
        self.too_deep = False

    def run(self) -> None:
        """Walk to the end of the text, to where it is no JSON any more, or so far that it has taken long."""
        head, place = self._head, self._after_blank(0)
        wants_key = False
        for _ in range(_MOST_STEPS):
            if place >= len(head):
                return
            token = head[place]
            if token in _CLOSERS:
                if wants_key or not self._open(token):
                    return
                wants_key = token == 0x7B
                place = self.safe = place + 1
            elif not self.closers:
                return
            elif token in b"}]":
                if self.closers.pop() != token:
                    self.closers.append(0x7D if token == 0x5D else 0x5D)
                    return
                place = self.safe = place + 1
                wants_key = False
            elif token == 0x2C:  # ,
                wants_key = self.closers[-1] == 0x7D
                place += 1
            elif token == 0x3A:  # :
                wants_key = False
                place += 1
            elif (several := self._several(place, wants_key=wants_key)) > place:
                place = several
            else:
                place = self._value(place, wants_key=wants_key)
                if place < 0:
                    return
            place = self._after_blank(place)

    def _open(self, token: int) -> bool:
        if len(self.closers) >= MAX_DEPTH:
            self.too_deep = True
            return False
        self.closers.append(_CLOSERS[token])
        return True

    def _several(self, place: int, *, wants_key: bool) -> int:
        """Pass values that hold no others, with their commas; where none begin, the same place."""
        if wants_key != (self.closers[-1] == 0x7D):
            return place
        found = (_MEMBERS if wants_key else _ITEMS).match(self._head, place)
        if found is None:
            return place
        self.safe = self._head.rfind(b",", place, found.end())
        return found.end()

    def _value(self, place: int, *, wants_key: bool) -> int:
        """Pass a string, number or word; -1 where it has no end. A key is no place to end at."""
        is_string = self._head[place] == 0x22
        found = (_STRING if is_string else _PLAIN).match(self._head, place)
        if found is None or (not is_string and found.end() == len(self._head)):
            self.string = place if is_string and not wants_key else -1
            return -1
        if not wants_key:
            self.safe = found.end()
        return found.end()

    def _after_blank(self, place: int) -> int:
        found = _BLANK.match(self._head, place)
        return found.end() if found else place

    def cut_string(self, *, mark: bool) -> bytes | None:
        """The text ended inside of the string it breaks off in; None when it breaks off elsewhere."""
        if self.string < 0:
            return None
        start = self.string
        whole = _WHOLE_ESCAPES.match(self._head, start)
        written = self._head[start : whole.end() if whole else start + 1]
        written = written.decode("utf-8", "ignore").encode() if _ends_torn(written) else written
        inner = self._inner(written) if _KEY.search(self._head, max(0, start - 100), start) else None
        value = inner if inner is not None else written + (MARK.encode() if mark else b"") + b'"'
        return self._head[:start] + value + bytes(reversed(self.closers))

    def _inner(self, written: bytes) -> bytes | None:
        """JSON in a string, as many loggers write it, completed too."""
        if not written[1:40].lstrip(b" \t").startswith(b"{"):
            return None
        try:
            text = decode_json(written + b'"')
        except NotAnObjectError:
            return None
        whole = completed(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
        return None if whole is None else json.dumps(whole.decode("utf-8", "surrogatepass")).encode()


def _ends_torn(data: bytes) -> bool:
    """Whether the last character lacks bytes, in what is UTF-8 otherwise."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False
