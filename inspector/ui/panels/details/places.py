"""What the details show beside messages: a context, or a participant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContextPlace:
    """A context, or a main context."""

    space: int
    """String id of its space."""
    node: int
    """Its node, MAIN for the main context; `ContextTree.resolve` says what it became."""


@dataclass(frozen=True, slots=True)
class ParticipantPlace:
    """Somebody who takes part."""

    space: int
    """String id of the space."""
    name: str


Place = ContextPlace | ParticipantPlace
