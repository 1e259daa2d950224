"""Numbers beside the filter bar: matches, total, progress; and the words for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class FilterCounts:
    """The numbers a filter bar knows."""

    shown: int | None = None
    """Messages shown; None where nobody has counted."""
    total: int = 0
    """Messages there are."""
    filtered: bool = False
    """The bar's own filter is in force."""
    narrowed: bool = False
    """A scope or other conditions choose too, so that there is more to be searched."""
    busy: float | None = None
    """How far a filter at work is, 0 to 1; None when nothing is at work."""
    found: int | None = None
    """What it has found so far, if known."""
    would_match: int | None = None
    """What would be shown of a filter that is written and not entered; None where that is not known."""
    unapplied: str = ""
    """What is said of a text that is written and not in force."""

    @property
    def matches_nothing(self) -> bool:
        """Whether the filter in force is right and lets no message through."""
        return self.shown == 0 and self.total > 0 and self.busy is None and (self.filtered or self.narrowed)

    def in_words(self, *, written: bool) -> tuple[str, bool]:
        """What is said, and whether it is that nothing matches.

        Args:
            written: the text is not entered yet; beside it a count of what is shown would seem to be its own.
        """
        if self.would_match is not None and written:
            nothing = not self.would_match
            words = "1 match" if self.would_match == 1 else f"{self.would_match:,} matches"
            return ", ".join(filter(None, (words, self.unapplied))), nothing
        if written and self.unapplied:
            return self.unapplied, False
        if self.matches_nothing and not written:
            return f"no match in {self.total:,}", True
        if self.busy is not None:
            return f"{self.found:,} so far" if self.found is not None else "", False
        if self.shown is not None and not written and (self.shown != self.total or self.filtered):
            return f"{self.shown:,} of {self.total:,}", False
        return "", False
