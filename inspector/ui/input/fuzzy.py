"""Fuzzy search: finds names by some of their letters. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

_START, _RUN, _FIRST = 8, 5, 3
_GAP = 1


@dataclass(frozen=True, slots=True)
class Match:
    """Match of a query in a name.

    Attributes:
        score: larger is better.
        places: positions of the matched characters, ascending.
    """

    score: int
    places: tuple[int, ...]


def match(query: str, name: str) -> Match | None:
    """Matches all letters of each query word in their order; returns None if one is missing.

    Beginnings of words and adjacent letters score highest: "np" finds "Next problem" before "Unpack". Query words may
    be in any order: "problem next" finds it too. Case is ignored.
    """
    folded = name.casefold()
    if len(folded) != len(name):  # letters that fold to two characters would shift the positions
        folded = name.lower() if len(name.lower()) == len(name) else name
    score, places = 0, set[int]()
    for word in query.casefold().split():
        found = _best(word, folded)
        if found is None:
            return None
        score += found.score
        places.update(found.places)
    # Among equal matches the shorter name is first.
    return Match(score - len(name) // 8, tuple(sorted(places)))


def _best(word: str, name: str) -> Match | None:
    """Returns the best match of a word, trying each occurrence of its first letter."""
    best: Match | None = None
    whole = name.find(word)
    while whole >= 0:
        found = _scored(name, tuple(range(whole, whole + len(word))))
        best = found if best is None or found.score > best.score else best
        whole = name.find(word, whole + 1)
    for start in (place for place, letter in enumerate(name) if letter == word[0]):
        for by_words in (True, False):
            places = _walk(word, name, start, by_words=by_words)
            if places is not None:
                found = _scored(name, places)
                best = found if best is None or found.score > best.score else best
    return best


def _walk(word: str, name: str, start: int, *, by_words: bool) -> tuple[int, ...] | None:
    places = [start]
    for letter in word[1:]:
        place = name.find(letter, places[-1] + 1)
        if by_words and place >= 0 and place != places[-1] + 1:  # prefer the next beginning of a word
            place = next((n for n in range(place, len(name)) if name[n] == letter and _begins(name, n)), place)
        if place < 0:
            return None
        places.append(place)
    return tuple(places)


def _begins(name: str, place: int) -> bool:
    return place == 0 or not name[place - 1].isalnum()


def _scored(name: str, places: tuple[int, ...]) -> Match:
    score = _FIRST if places[0] == 0 else 0
    for number, place in enumerate(places):
        if _begins(name, place):
            score += _START
        if number and place == places[number - 1] + 1:
            score += _RUN
    score -= _GAP * ((places[-1] - places[0] + 1) - len(places))
    return Match(score, places)
