"""Regular expressions from the wire, matched in bounded time: whoever writes one cannot make us wait.

The usual subset (literals, classes, groups, alternatives, repetitions, ^ and $) becomes a set of states, followed all
at once, so that nothing is tried twice. What is not in it (back references, looking around) is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

LONGEST_PATTERN = 200
LONGEST_TEXT = 10_000
_MOST_STATES = 2_000
_MOST_STEPS = 200_000  # some 50 ms

_Accepts = Callable[[str], bool]


class RegexRefusedError(ValueError):
    """A pattern that is too long, no regular expression, or outside the subset; or matching takes too long."""


class _State:
    """Where a match may be: after a letter that is accepted it goes to `then`; without one it goes on to `also`."""

    __slots__ = ("accepts", "also", "anchor", "then")

    def __init__(self) -> None:
        self.accepts: _Accepts | None = None
        self.then: _State | None = None
        self.also: list[_State] = []
        self.anchor = ""  # "^" or "$": `also` holds only there


_Piece = tuple[_State, _State]
_CLASSES: dict[str, _Accepts] = {
    "d": str.isdecimal,
    "w": lambda letter: letter.isalnum() or letter == "_",
    "s": str.isspace,
    "D": lambda letter: not letter.isdecimal(),
    "W": lambda letter: not (letter.isalnum() or letter == "_"),
    "S": lambda letter: not letter.isspace(),
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


def search(pattern: str, text: str) -> bool:
    """Whether a pattern is found anywhere in a text.

    Raises:
        RegexRefusedError: that cannot be said.
    """
    start, end = _compiled(pattern)
    if len(text) > LONGEST_TEXT:
        raise RegexRefusedError("a text of more than 10,000 characters")
    steps = 0
    current: set[_State] = set()
    for place in range(len(text) + 1):
        current.add(start)
        current = _closure(current, at_start=place == 0, at_end=place == len(text))
        if end in current:
            return True
        if place == len(text):
            return False
        steps += len(current)
        if steps > _MOST_STEPS:
            raise RegexRefusedError("a pattern that takes too long")
        letter = text[place]
        current = {s.then for s in current if s.accepts is not None and s.then is not None and s.accepts(letter)}
    return False


def _closure(states: set[_State], *, at_start: bool, at_end: bool) -> set[_State]:
    found, left = set(states), list(states)
    while left:
        state = left.pop()
        if (state.anchor == "^" and not at_start) or (state.anchor == "$" and not at_end):
            continue
        for other in state.also:
            if other not in found:
                found.add(other)
                left.append(other)
    return found


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> _Piece:
    if len(pattern) > LONGEST_PATTERN:
        raise RegexRefusedError("a pattern of more than 200 characters")
    return _Parser(pattern).parse()


class _Parser:
    """Makes states of a pattern, from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._place = 0
        self._states = 0

    def parse(self) -> _Piece:
        piece = self._alternatives()
        if self._place < len(self._pattern):
            raise RegexRefusedError("a bracket that was never opened")
        return piece

    def _new(self) -> _State:
        self._states += 1
        if self._states > _MOST_STATES:
            raise RegexRefusedError("a pattern that repeats too much")
        return _State()

    def _peek(self) -> str:
        return self._pattern[self._place : self._place + 1]

    def _take(self) -> str:
        letter = self._peek()
        if not letter:
            raise RegexRefusedError("a pattern that ends too early")
        self._place += 1
        return letter

    def _alternatives(self) -> _Piece:
        start, end = self._new(), self._new()
        while True:
            first, last = self._sequence()
            start.also.append(first)
            last.also.append(end)
            if self._peek() != "|":
                return start, end
            self._take()

    def _sequence(self) -> _Piece:
        start = end = self._new()
        while self._peek() not in ("", "|", ")"):
            first, last = self._repeated()
            end.also.append(first)
            end = last
        return start, end

    def _repeated(self) -> _Piece:
        begun = self._place
        piece = self._atom()
        stopped = self._place
        least, most = self._times()
        if (least, most) == (1, 1):
            return piece
        start = end = self._new()
        resume = self._place
        for number in range(max(least, most or 0, 1)):
            self._place = begun
            first, last = self._atom() if number else piece
            end.also.append(first)
            if number >= least:
                out = self._new()
                end.also.append(out)
                last.also.append(out)
                last = out
            if most is None and number + 1 >= max(least, 1):
                out = self._new()
                last.also += [first, out]
                if not least:
                    end.also.append(out)
                last = out
            end = last
        if most == 0:
            end = start = self._new()
        self._place = max(resume, stopped)
        return start, end

    def _times(self) -> tuple[int, int | None]:
        letter = self._peek()
        found: tuple[int, int | None] = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(letter, (1, 1))
        if letter and letter in "*+?":
            self._take()
        elif letter == "{":
            close = self._pattern.find("}", self._place)
            low, comma, high = self._pattern[self._place + 1 : close].partition(",")
            if close < 0 or not low.isdecimal() or (high and not high.isdecimal()) or len(low + high) > 6:
                raise RegexRefusedError("a repetition that cannot be read")
            found = (int(low), int(high) if high else None if comma else int(low))
            self._place = close + 1
        else:
            return found
        if self._peek() == "?":  # lazy: what is found is the same
            self._take()
        return found

    def _atom(self) -> _Piece:
        letter = self._take()
        if letter == "(":
            if self._peek() == "?":
                if self._pattern[self._place : self._place + 2] != "?:":
                    raise RegexRefusedError("a group of a kind that is not followed")
                self._place += 2
            piece = self._alternatives()
            if self._take() != ")":
                raise RegexRefusedError("a bracket that is never closed")
            return piece
        if letter in "^$":
            start, end = self._new(), self._new()
            start.anchor = letter
            start.also.append(end)
            return start, end
        if letter in "*+?{":
            raise RegexRefusedError("a repetition of nothing")
        return self._letter(self._class_of(letter))

    def _letter(self, accepts: _Accepts) -> _Piece:
        start, end = self._new(), self._new()
        start.accepts, start.then = accepts, end
        return start, end

    def _class_of(self, letter: str) -> _Accepts:
        if letter == ".":
            return lambda other: other != "\n"
        if letter == "[":
            return self._set()
        if letter == "\\":
            return self._escaped()
        return letter.__eq__

    def _escaped(self) -> _Accepts:
        letter = self._take()
        if letter in _CLASSES:
            return _CLASSES[letter]
        if letter in _CONTROLS:
            return _CONTROLS[letter].__eq__
        if letter.isalnum():
            raise RegexRefusedError("an escape that is not followed")
        return letter.__eq__

    def _set(self) -> _Accepts:
        inverted = self._peek() == "^"
        if inverted:
            self._take()
        members: list[_Accepts] = []
        while not members or self._peek() != "]":
            letter = self._take()
            if letter == "\\":
                members.append(self._escaped())
                continue
            if self._peek() == "-" and self._pattern[self._place + 1 : self._place + 2] not in ("]", ""):
                self._take()
                low, high = letter, self._take()
                members.append(lambda other, low=low, high=high: low <= other <= high)
                continue
            members.append(letter.__eq__)
        self._take()
        return lambda other: any(member(other) for member in members) != inverted
