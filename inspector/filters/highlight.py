"""Which messages stand out: highlight rules, asked about the rows on screen and about no others.

What was found about a message is kept until something about the message changes; a document of a million messages
costs as much as a screen of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from inspector.analysis import Analysis, Changes
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.errors import FilterError
from inspector.filters.field import Depends
from inspector.settings import HighlightColor, HighlightRule

_KEPT = 4_096
_FEW = 8
"""Messages a dear rule decodes between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a message stands out."""

    edge: HighlightColor | None
    """Tint at the left edge; None for none."""
    text: HighlightColor | None
    """Colour of its text; None for the usual one."""
    names: tuple[str, ...]
    """The rules that hold, in their order."""


PLAIN = Look(None, None, ())
"""How a message looks for which no rule holds."""


class Highlighter:
    """The highlight rules of one document. Where several hold, the first one of its manner gives the colour."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._rules: list[HighlightRule] = []
        self._compiled: list[tuple[HighlightRule, DisplayFilter]] = []
        self._context: str | None = None
        self._looks: dict[int, Look] = {}

    def use(self, rules: Iterable[HighlightRule]) -> bool:
        """Go by other rules; whether they are other ones than before. Wrong filters hold for nothing."""
        rules = [rule.model_copy() for rule in rules]
        if rules == self._rules:
            return False
        self._rules = rules
        self._compile()
        return True

    def select_context(self, path: str | None) -> bool:
        """Say what `$context` stands for; whether that can make a difference."""
        if path == self._context:
            return False
        self._context = path
        if not any(rule.on and "$" in rule.filter for rule in self._rules):
            return False
        self._compile()
        return True

    def _compile(self) -> None:
        self._looks.clear()
        self._compiled = []
        for rule in self._rules:
            if rule.on and rule.filter.strip():
                try:
                    filter_ = compile_filter(rule.filter, selected_context=self._context)
                except FilterError:  # of a newer version, or of $context while there is none
                    continue
                self._compiled.append((rule, filter_))

    def __bool__(self) -> bool:
        """Whether any rule is in force."""
        return bool(self._compiled)

    # Asking

    def look(self, message: int) -> Look:
        """How a message looks, as far as that was settled."""
        return self._looks.get(message, PLAIN) if self._compiled else PLAIN

    def look_now(self, message: int) -> Look:
        """How a message looks, found out now where it was not before."""
        self.settle([message], time.perf_counter())
        return self.look(message)

    def settle(self, messages: Sequence[int], until: float) -> bool:
        """Find out how messages look that nobody asked about yet.

        Args:
            messages: those on screen.
            until: when to stop, by `time.perf_counter`; some are looked at however late it is.

        Returns:
            Whether all of them are known now.
        """
        unknown = [message for message in messages if message not in self._looks] if self._compiled else []
        if not unknown:
            return True
        if len(self._looks) + len(unknown) > _KEPT:
            self._looks = {message: self._looks[message] for message in messages if message in self._looks}
        cheap = all(filter_.is_cheap(self._analysis) for _, filter_ in self._compiled)
        size = len(unknown) if cheap else _FEW
        for start in range(0, len(unknown), size):
            if start and time.perf_counter() >= until:
                return False
            self._find_out(unknown[start : start + size])
        return True

    def _find_out(self, messages: list[int]) -> None:
        rows = np.asarray(messages, np.int64)
        holding: list[list[HighlightRule]] = [[] for _ in messages]
        for rule, filter_ in self._compiled:
            for place in np.flatnonzero(filter_.mask(self._analysis, rows)).tolist():
                holding[place].append(rule)
        for message, rules in zip(messages, holding, strict=True):
            self._looks[message] = _look(rules) if rules else PLAIN

    # Forgetting

    def take_in(self, changes: Changes) -> None:
        """Messages changed: they are asked about again when they are next seen. O(changed and kept messages)."""
        if changes.tree_moved and self._depends_on(Depends.TREE):
            self._looks.clear()
        elif len(changes.changed) and self._looks:
            held = np.fromiter(self._looks, np.int64, len(self._looks))
            for message in held[np.isin(held, changes.changed)].tolist():
                del self._looks[message]

    def tick(self) -> bool:
        """A second has passed; whether some rule goes by the clock, so that rows may look different now."""
        if not self._depends_on(Depends.CLOCK):
            return False
        self._looks.clear()
        return True

    def _depends_on(self, what: Depends) -> bool:
        return any(what in filter_.depends for _, filter_ in self._compiled)


def _look(rules: list[HighlightRule]) -> Look:
    return Look(
        next((rule.color for rule in rules if rule.paint == "edge"), None),
        next((rule.color for rule in rules if rule.paint == "text"), None),
        tuple(rule.name for rule in rules),
    )
