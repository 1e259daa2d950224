"""Words and looks of the classes of differences."""

from __future__ import annotations

from typing import NamedTuple

from inspector.engine.requests.run_comparisons import DifferenceClass
from inspector.present.states import Glyph, StatePill


class ClassLook(NamedTuple):
    """Word and look of a class.

    Attributes:
        word: shown between the lanes and on the filter.
        token: colour.
        glyph: a second sign besides colour.
    """

    word: str
    token: str
    glyph: Glyph

    @property
    def pill(self) -> StatePill:
        return StatePill(self.word, self.token, self.glyph)


_AMBER, _GREEN, _RED, _BLUE = "badge.transient", "badge.consumed", "severity.error", "severity.note"
LOOKS: dict[int, ClassLook] = {
    DifferenceClass.SAME: ClassLook("same", "ink.tertiary", "check"),
    DifferenceClass.WORDS: ClassLook("other words", "badge.collapsed", "ring"),
    DifferenceClass.ARGUMENTS: ClassLook("other arguments", _AMBER, "ring"),
    DifferenceClass.RESULT: ClassLook("other result", _AMBER, "ring"),
    DifferenceClass.FAILED: ClassLook("failed in one", _RED, "cross"),
    DifferenceClass.MISSING: ClassLook("only in A", _RED, "dash"),
    DifferenceClass.EXTRA: ClassLook("only in B", _GREEN, "plus"),
    DifferenceClass.ORDER: ClassLook("other order", "badge.collapsed", "dash"),
    DifferenceClass.AGENT: ClassLook("other agent", _BLUE, "ring"),
    DifferenceClass.MODEL: ClassLook("other model", _BLUE, "ring"),
    DifferenceClass.DEFINITION: ClassLook("other definition", _BLUE, "ring"),
    DifferenceClass.PROMPT: ClassLook("other prompt", _BLUE, "ring"),
}


def look_of(found: int, *, in_a: bool, in_b: bool) -> ClassLook:
    """Returns the look of a row. A message that both runs have, with an answer or delivery in one alone, is lost."""
    look = LOOKS[found]
    return look._replace(word="lost message") if found == DifferenceClass.MISSING and in_a and in_b else look
