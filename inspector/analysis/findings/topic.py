"""Declares the type of a topic: a group of checks on one subject, with the state that it keeps of earlier messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import Check
from inspector.base.slices import SlicedWork


class Topic(Protocol):
    """Group of checks on one subject, with the state they keep of earlier messages."""

    def feed(self, batch: Batch) -> None:
        """Checks a batch. O(messages in the batch) in numpy; Python only for the few suspicious ones."""
        ...


@runtime_checkable
class DeferredTopic(Protocol):
    """A topic with work that can be deferred: it searches or compares records."""

    def deferred_checks(self, batch: Batch) -> SlicedWork[None]:
        """Does deferred work; yields after each piece."""
        ...


class DeclaredTopic(NamedTuple):
    """A topic, as `check_table` lists it and as a format declares it in `Format.checks`.

    Attributes:
        name: in words.
        checks: what it can find.
        make: returns a topic for one capture.
        before: name of the topic that it precedes, in running and in lists; "" for a topic at the end.
    """

    name: str
    checks: tuple[Check, ...]
    make: Callable[[], Topic]
    before: str = ""
