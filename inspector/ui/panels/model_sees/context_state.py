"""Choices of the panel Model sees: reader, message, comparison and order, and the answer to them."""

from __future__ import annotations

from dataclasses import replace

from inspector.engine.requests.seen_contexts import ContextAt, Options, SeenContext, ShowSeenContext
from inspector.ui.panels.plot_choices import PlotChoices


class ContextState:
    """State of the panel.

    Attributes:
        options: assumptions about the client.
        moment_message: message of the moment; None for the end of the capture.
        compared: message of the compared moment; None without a comparison.
        with_out: also list entries outside of the context.
        changes_only: list only changes during a comparison.
        by_size: list the largest entries first, else the oldest.
        seen: the last answer.
    """

    def __init__(self, choices: PlotChoices) -> None:
        self._choices = choices
        self.options = Options()
        self.moment_message: int | None = None
        self.compared: int | None = None
        self.with_out = False
        self.changes_only = True
        self.by_size = False
        self.seen = SeenContext([], None, -1, -1)

    def question(self) -> ShowSeenContext:
        """Returns the request for the present choices."""
        return ShowSeenContext(
            self._choices.reader_choice, self.options, self.moment_message, self.compared, self.with_out,
            self.changes_only, self.by_size,
        )  # fmt: skip

    @property
    def message(self) -> int:
        """Message of the moment."""
        last = self.seen.last
        return last if self.moment_message is None else min(self.moment_message, last)

    @property
    def shown(self) -> ContextAt | None:
        """The shown context; None without a reader."""
        seen = self.seen
        return None if seen.reader is None else ContextAt(seen.reader, seen.message, self.options)

    def assume(self, **options: bool) -> None:
        """Changes assumptions about the client."""
        self.options = replace(self.options, **options)
