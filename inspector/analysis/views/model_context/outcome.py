"""Computes the final size of each model context, with and without collapsing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from inspector.analysis import Analysis
from inspector.analysis.views.model_context.context_owners import Reader, readers
from inspector.analysis.views.model_context.growth import growth_of
from inspector.analysis.views.model_context.reconstruction import ModelContext
from inspector.tokens.counter import TOKENIZER

MOST_READERS = 20
"""Models reported, the busiest first; each costs a pass over its space."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Estimated tokens of one context.

    Attributes:
        reader: owner of the context.
        tokens: final size.
        peak: maximum size.
        uncollapsed: final size without collapsing.
        collapsed: number of collapsed results at the end.
        uncounted: number of uncounted messages.
    """

    reader: Reader
    tokens: int
    peak: int
    uncollapsed: int
    collapsed: int
    uncounted: int

    @property
    def saved(self) -> int:
        """Tokens saved by collapsing."""
        return self.uncollapsed - self.tokens

    @property
    def figures(self) -> str:
        """The figures, as part of a sentence."""
        if not self.collapsed:
            at_most = f", {self.peak:,} at most" if self.peak != self.tokens else ""
            return f"{self.tokens:,} tokens in context at the end{at_most}"
        results = f"{self.collapsed:,} collapsed result{'' if self.collapsed == 1 else 's'}"
        return (
            f"{self.tokens:,} tokens in context at the end; {self.uncollapsed:,} without collapsing; "
            f"{self.saved:,} saved by {results}"
        )

    @property
    def sentence(self) -> str:
        """The complete sentence."""
        uncounted = self.uncounted
        words = "1 message is" if uncounted == 1 else f"{uncounted:,} messages are"
        missing = f" {words} not counted." if uncounted else ""
        return f"{self.reader.title}: {self.figures}. Estimate ({TOKENIZER}).{missing}"

    def as_json(self, analysis: Analysis) -> dict[str, Any]:
        """Returns a plain object."""
        return {
            "participant": self.reader.name, "space": analysis.capture.strings[self.reader.space] or None,
            "tokens": self.tokens, "peak": self.peak, "without_collapsing": self.uncollapsed, "saved": self.saved,
            "collapsed": self.collapsed, "uncounted": self.uncounted, "sentence": self.sentence,
        }  # fmt: skip


def outcome(analysis: Analysis, reader: Reader) -> Outcome:
    """Computes the outcome of one context. O(messages of its space)."""
    context = ModelContext(analysis, reader)
    growth, moment = growth_of(context), context.moment_at(len(analysis) - 1)
    if not len(growth.seen):
        return Outcome(reader, 0, 0, 0, 0, 0)
    return Outcome(
        reader, int(growth.seen[-1]), int(growth.seen.max()), int(growth.uncollapsed[-1]),
        int(moment.collapsed.sum()), growth.uncounted,
    )  # fmt: skip


def outcomes(analysis: Analysis) -> Iterator[Outcome]:
    """Yields the outcomes of the busiest models, most tokens first."""
    found = [outcome(analysis, reader) for reader in readers(analysis)[:MOST_READERS]]
    yield from sorted(found, key=lambda one: -one.uncollapsed)
