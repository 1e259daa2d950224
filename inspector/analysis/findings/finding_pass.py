"""The pass that runs the checks. It comes last, as checks look at what the other passes found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from inspector.analysis.changes import NO_ROWS, Rows
from inspector.analysis.findings import (
    beginning,
    contexts,
    correlations,
    forms,
    gateway,
    hints,
    objects,
    proposals,
    reasoning,
    requests,
    senders,
    streams,
    verdicts,
    wire,
)
from inspector.analysis.findings.batch import Batch, Passes
from inspector.analysis.findings.by_context import FindingsByContext
from inspector.analysis.findings.check import Check
from inspector.analysis.findings.sentences import Finding, finding_of, hint_of
from inspector.analysis.findings.store import Findings, Found
from inspector.capture.columns import GrowingColumns
from inspector.capture.decisions import Decisions


class Topic(Protocol):
    """Some checks that look at the same things, and what they remember of earlier messages."""

    def feed(self, batch: Batch) -> None:
        """Look at a batch. O(messages in the batch) in numpy; Python only for the few that are odd."""
        ...


_TOPICS = (
    (requests, requests.Requests),
    (proposals, proposals.Proposals),
    (correlations, correlations.Correlations),
    (contexts, contexts.Contexts),
    (objects, objects.Objects),
    (reasoning, reasoning.Reasoning),
    (wire, wire.Wire),
    (senders, senders.Senders),
    (forms, forms.Forms),
    (gateway, gateway.GatewayLog),
    (verdicts, verdicts.Verdicts),
    (streams, streams.Streams),
    (hints, hints.Hints),
)
"""Every topic: its module, which declares CHECKS, and what follows the traffic."""

CHECKS: tuple[Check, ...] = (*(check for module, _ in _TOPICS for check in module.CHECKS), *beginning.CHECKS)
"""Every check, topic by topic."""

CHECK_BY_CODE: dict[str, Check] = {check.code: check for check in CHECKS}


_ENOUGH = 16_384
"""Messages worth a round of all checks: a few hundred steps over arrays, which cost the same for a hundred messages."""


class FindingPass:
    """What the checks say about the messages.

    Attributes:
        found: the findings; its column `set` holds the place in `found.sets` of each message's codes.
        decisions: the gateway's verdicts beside a log, once they have been read; `catch_up` looks at what is new.
        by_context: how many there are in each context and below.
    """

    def __init__(self, passes: Passes) -> None:
        self._passes = passes
        self.decisions: Decisions | None = None
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.found = Findings(CHECKS)
        self.by_context = FindingsByContext(self._passes.capture, self._passes.contexts, self.found, CHECK_BY_CODE)
        self._beginnings = beginning.Beginnings()
        self._topics: list[Topic] = [make() for _, make in _TOPICS]
        self._fed = 0
        self._looked_at = 0
        self._changed: list[Rows] = []

    @property
    def columns(self) -> GrowingColumns:
        """Per message `set`."""
        return self.found.columns

    @property
    def behind(self) -> int:
        """Messages that were left for later."""
        return self._fed - self._looked_at

    def feed(
        self, start: int, stop: int, changed: Rows = NO_ROWS, now_ns: int | None = None, *, more: bool = False
    ) -> None:
        """Take in messages `start` to `stop`.

        Args:
            changed: earlier messages whose links, badges or deliveries changed, ascending.
            now_ns: the wall clock while live; else the latest time in the log counts.
            more: there is more to come at once: few messages are left for later, when `catch_up` is called at last.
        """
        self._fed = stop
        self.found.extend(stop - start)
        earlier = changed[changed < self._looked_at]
        if len(earlier):
            self._changed.append(earlier)
        if not more or stop - self._looked_at >= _ENOUGH:
            self.catch_up(now_ns)

    def catch_up(self, now_ns: int | None = None) -> None:
        """Look at what was left for later, and at what waits too long by now."""
        now = self._passes.contexts.clock_ns if now_ns is None else now_ns
        changed = np.unique(np.concatenate(self._changed)) if self._changed else NO_ROWS
        beside = self._beginnings, self.decisions
        batch = Batch(self._passes, self.found, self._looked_at, self._fed, changed, now, *beside)
        self._looked_at = self._fed
        self._changed.clear()
        self._beginnings.feed(batch)
        for topic in self._topics:
            topic.feed(batch)

    def take_changes(self) -> Rows:
        """Messages whose findings changed."""
        rows = self.found.changed.take()
        self.by_context.note(rows)
        return rows

    # Asking

    def of(self, row: int) -> list[Finding]:
        """The findings about a message in words, most severe first."""
        return [self.in_words(found) for found in self.found.of(row)]

    def all(self) -> Iterator[Finding]:
        """Every finding in words: the most severe codes first, by message within a code."""
        return map(self.in_words, self.found.all())

    def in_words(self, found: Found) -> Finding:
        """A finding in words."""
        return finding_of(self._passes, found)

    def hint(self, found: Found) -> str:
        """What to do about a finding, in words."""
        return hint_of(self._passes, found)
