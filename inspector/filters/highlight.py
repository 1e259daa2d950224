"""Evaluates highlight rules for the rows on screen, and combines their colours.

Results are cached until the message changes. The cost depends on the screen, not on the document.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from inspector.analysis import Analysis, AnalysisChanges
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.errors import FilterError
from inspector.filters.field import Depends
from inspector.settings import HighlightColor, HighlightRule

# Some screens of rows, so that scrolling back repaints from memory.
_MAX_CACHED = 4_096
_DECODED_BATCH = 8
"""Messages that an expensive rule decodes between two checks of the clock."""


@dataclass(frozen=True, slots=True)
class Look:
    """Colours of a message."""

    edge: HighlightColor | None
    """Tint at the left edge, if any."""
    text: HighlightColor | None
    """Text colour, if not the default."""
    names: tuple[str, ...]
    """Names of the matching rules, in order."""


PLAIN_LOOK = Look(None, None, ())
"""Look of a message without a matching rule."""


class Highlighter:
    """Evaluates the highlight rules of one document. The first matching rule of each paint gives the colour."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._rules: list[HighlightRule] = []
        self._compiled: list[tuple[HighlightRule, DisplayFilter]] = []
        self._context: str | None = None
        self._looks: dict[int, Look] = {}

    def set_rules(self, rules: Iterable[HighlightRule]) -> bool:
        """Replaces the rules. Returns True if they differ. A rule with an invalid filter has no effect."""
        rules = [rule.model_copy() for rule in rules]
        if rules == self._rules:
            return False
        self._rules = rules
        self._compile()
        return True

    def select_context(self, path: str | None) -> bool:
        """Sets the path for `$context`. Returns True if that can change a look."""
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
                except FilterError:  # from a newer version, or $context without a selection
                    continue
                self._compiled.append((rule, filter_))

    def __bool__(self) -> bool:
        """Returns True if any rule is active."""
        return bool(self._compiled)

    # Queries

    def cached_look(self, message: int) -> Look:
        """Returns the cached look of a message, or PLAIN_LOOK."""
        return self._looks.get(message, PLAIN_LOOK) if self._compiled else PLAIN_LOOK

    def evaluated_look(self, message: int) -> Look:
        """Returns the look of a message; evaluates the rules if it is not cached."""
        self.evaluate_messages([message], time.perf_counter())
        return self.cached_look(message)

    def evaluate_messages(self, messages: Sequence[int], until: float) -> bool:
        """Evaluates the rules for messages without a cached look.

        Args:
            messages: the messages on screen.
            until: deadline by `time.perf_counter`; one slice is done however late it is.

        Returns:
            True if all looks are cached now.
        """
        unknown = [message for message in messages if message not in self._looks] if self._compiled else []
        if not unknown:
            return True
        if len(self._looks) + len(unknown) > _MAX_CACHED:
            self._looks = {message: self._looks[message] for message in messages if message in self._looks}
        cheap = all(filter_.is_cheap(self._analysis) for _, filter_ in self._compiled)
        size = len(unknown) if cheap else _DECODED_BATCH
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
            self._looks[message] = _combine_rules(rules) if rules else PLAIN_LOOK

    # Invalidation

    def on_changes(self, changes: AnalysisChanges) -> None:
        """Drops cached looks of changed messages. O(changed and cached messages)."""
        if changes.tree_moved and self._depends_on(Depends.TREE):
            self._looks.clear()
        elif len(changes.changed) and self._looks:
            held = np.fromiter(self._looks, np.int64, len(self._looks))
            for message in held[np.isin(held, changes.changed)].tolist():
                del self._looks[message]

    def on_clock(self) -> bool:
        """Drops cached looks if a rule depends on the clock. Returns True in that case."""
        if not self._depends_on(Depends.CLOCK):
            return False
        self._looks.clear()
        return True

    def _depends_on(self, what: Depends) -> bool:
        return any(what in filter_.depends for _, filter_ in self._compiled)


def _combine_rules(rules: list[HighlightRule]) -> Look:
    return Look(
        next((rule.color for rule in rules if rule.paint == "edge"), None),
        next((rule.color for rule in rules if rule.paint == "text"), None),
        tuple(rule.name for rule in rules),
    )
