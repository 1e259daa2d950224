"""Figures of a model context in words: tokens now, without collapsing, saved, by role, and as reported."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis.views.model_context import Moment, Role
from inspector.analysis.views.model_context.request_change import request_at
from inspector.present import formats
from inspector.present.context_figures import collapsed_words, outside_words
from inspector.present.request_words import cache_words, change_words
from inspector.tokens.counter import TOKENIZER

ROLE_WORDS = {
    Role.SYSTEM: "system",
    Role.USER: "user",
    Role.ASSISTANT: "assistant",
    Role.TOOL: "tool",
    Role.TOOLS: "tool list",
    Role.NONE: "out",
}
"""Names of roles for users; `Role.word` is for chat interfaces."""
_ORDER = (Role.TOOLS, Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL)


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one moment.

    Attributes:
        now, whole: estimated tokens of the context, and of the same context without collapsing.
        entries: number of entries.
        roles: (role, entries, tokens), in drawing order.
        counting: counts are incomplete.
        reported: usage reported by the participant, as two lines; "" for no report.
        given: reported tokens, shown first; None without a report.
        collapsed: text if collapsing saves no tokens.
        share: share of the reported maximum; None without one.
        lines: further lines as (lead, rest): reported tokens outside of the traffic, or change and cache of the last
            request.
    """

    now: int
    whole: int
    entries: int
    roles: tuple[tuple[Role, int, int], ...]
    counting: bool
    reported: str
    share: float | None
    lines: tuple[tuple[str, str], ...] = ()
    given: int | None = None
    collapsed: str = "no result collapsed"

    @property
    def headline(self) -> str:
        """The large figure."""
        if self.given is not None:
            return f"{self.given:,}"
        return f"{self.now:,}" if self.now or not self.counting else "…"

    @property
    def beside(self) -> tuple[tuple[str, str], ...]:
        """Text beside the large figure, above: unit and source."""
        if self.given is None:
            return ("ink.secondary", self.aside), ("ink.tertiary", f"estimate ({TOKENIZER})")
        return (("ink.secondary", f"tokens {self.reported.partition(chr(10))[2]}"),)

    @property
    def detail_parts(self) -> tuple[tuple[str, str], ...]:
        """Text below it: the estimate beside a report, and savings by collapsing."""
        parts: list[tuple[str, str]] = []
        if self.given is not None:
            parts.append(("ink.secondary", f"{self.now:,} {self.aside}, estimate ({TOKENIZER})"))
        if self.saved:
            whole = ("ink.secondary", f"{self.whole:,} without collapsing")
            return (*parts, whole, ("badge.consumed", f"{self.saved:,} saved"))
        return (*parts, ("ink.tertiary", self.collapsed))

    @property
    def saved(self) -> int:
        """Tokens saved by collapsing."""
        return self.whole - self.now

    @property
    def aside(self) -> str:
        """Unit of the large figure."""
        words = f"tokens in {formats.count_of(self.entries, 'entry', 'entries')}"
        return f"{words}, still counting" if self.counting else words

    @property
    def accessible_text(self) -> str:
        """All figures as one text, for screen readers."""
        parts = [f"{self.given:,} {self.beside[0][1]}"] if self.given is not None else []
        parts.append(f"{self.now:,} {self.aside}, estimate ({TOKENIZER})")
        if self.saved:
            parts.append(f"{self.whole:,} without collapsing, {self.saved:,} saved")
        parts += [f"{ROLE_WORDS[role]} {tokens:,}" for role, _, tokens in self.roles]
        lines = (" ".join(filter(None, line)) for line in self.lines)
        return "; ".join(filter(None, (*parts, self.reported.replace("\n", ", "), *lines)))


def figures_of(moment: Moment, *, counting: bool) -> Figures:
    by_role, reported = moment.by_role(), moment.reported()
    words, share = "", None
    if reported is not None:
        words = f"{reported.words}\nreported with {formats.message_number(reported.message)}"
        if reported.tokens is not None and reported.max_tokens:
            share = min(1.0, reported.tokens / reported.max_tokens)
    roles = tuple((role, *by_role[role]) for role in _ORDER if role in by_role)
    entries = sum(count for _, count, _ in roles)
    # Later messages may still be uncounted: keep the line, so that live traffic does not move the list.
    lines = _request_lines(moment) or _outside_line(moment)
    given = None if reported is None else reported.tokens
    return Figures(
        moment.total, moment.uncollapsed_total, entries, roles, counting, words, share, lines, given,
        collapsed_words(moment),
    )  # fmt: skip


def _outside_line(moment: Moment) -> tuple[tuple[str, str], ...]:
    words = outside_words(moment)
    return ((f"{words}.", ""),) if words else ()


def _request_lines(moment: Moment) -> tuple[tuple[str, str], ...]:
    change = request_at(moment)
    if change is None:
        return ()
    read, why = cache_words(change)
    return (f"{change_words(change)}.", ""), (f"{read}.", ""), ("", why)
