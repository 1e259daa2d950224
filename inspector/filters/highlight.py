"""Evaluates highlight rules for messages, and combines their colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import Rows
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.errors import FilterError
from inspector.filters.field import Depends
from inspector.settings import HighlightColor

_DECODED_BATCH = 8
"""Messages that an expensive rule decodes in one step."""


@dataclass(frozen=True, slots=True)
class LookRule:
    """An active highlight rule.

    Attributes:
        name, filter: its name and display filter.
        color, paint: its colour, and the part of the row that has it.
    """

    name: str
    filter: str
    color: HighlightColor
    paint: Literal["edge", "text"]


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
    """Evaluates highlight rules. The first matching rule of each paint gives the colour."""

    def __init__(self, analysis: Analysis, rules: Sequence[LookRule], selected_context: str | None = None) -> None:
        """Compiles the rules. A rule with an invalid filter has no effect.

        Args:
            analysis: the analysis of the messages.
            rules: the active rules.
            selected_context: the path of `$context`.
        """
        self._analysis = analysis
        self._compiled: list[tuple[LookRule, DisplayFilter]] = []
        for rule in rules:
            try:
                filter_ = compile_filter(rule.filter, selected_context=selected_context)
            except FilterError:  # from a newer version, or $context without a selection
                continue
            self._compiled.append((rule, filter_))

    def note_changed(self, changed: Rows, /) -> None:
        """Does nothing, since results are not kept."""

    def batches(self, messages: Sequence[int]) -> Iterator[Sequence[int]]:
        """Splits messages into parts that are evaluated without a pause."""
        cheap = all(filter_.is_cheap(self._analysis) for _, filter_ in self._compiled)
        size = max(1, len(messages)) if cheap else _DECODED_BATCH
        return (messages[start : start + size] for start in range(0, len(messages), size))

    def looks(self, messages: Sequence[int]) -> list[Look]:
        """Returns the looks of messages."""
        rows = np.asarray(messages, np.int64)
        matching: list[list[LookRule]] = [[] for _ in messages]
        for rule, filter_ in self._compiled:
            for place in np.flatnonzero(filter_.mask(self._analysis, rows)).tolist():
                matching[place].append(rule)
        return [_combine_rules(rules) if rules else PLAIN_LOOK for rules in matching]

    def depends_on(self, what: Depends) -> bool:
        """Returns True if a rule depends on the tree or the clock."""
        return any(what in filter_.depends for _, filter_ in self._compiled)


def _combine_rules(rules: list[LookRule]) -> Look:
    return Look(
        next((rule.color for rule in rules if rule.paint == "edge"), None),
        next((rule.color for rule in rules if rule.paint == "text"), None),
        tuple(rule.name for rule in rules),
    )
