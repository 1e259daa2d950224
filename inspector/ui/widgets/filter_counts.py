"""Counts beside the filter bar, and their text: matches, total and progress."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.present import formats


@dataclass(slots=True)
class FilterCounts:
    """Counts known to a filter bar."""

    shown: int | None = None
    """Visible messages; None while uncounted."""
    total: int = 0
    """All messages."""
    filtered: bool = False
    """The bar's filter is applied."""
    narrowed: bool = False
    """A scope or other conditions apply too, so that a wider search is possible."""
    busy: float | None = None
    """Progress of a running filter, 0 to 1; None if no filter runs."""
    found: int | None = None
    """Matches so far, if known."""
    would_match: int | None = None
    """Matches of unapplied text; None while unknown."""
    unapplied: str = ""
    """Hint on unapplied text."""

    @property
    def matches_nothing(self) -> bool:
        return self.shown == 0 and self.total > 0 and self.busy is None and (self.filtered or self.narrowed)

    def in_words(self, *, written: bool) -> tuple[str, bool]:
        """Returns the text of the counts, and True if there is no match.

        Args:
            written: the text is not applied yet, so the count of visible messages must not appear beside it.
        """
        if self.would_match is not None and written:
            nothing = not self.would_match
            words = formats.count_of(self.would_match, "match", "matches")
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
