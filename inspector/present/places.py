"""Targets of links to pages: contexts and participants."""

from __future__ import annotations

import msgspec


class ContextPlace(msgspec.Struct, frozen=True, tag="context"):
    """A context, or a main context.

    Attributes:
        space: string id of its space.
        node: its node, MAIN for the main context; `ContextTree.resolve` gives its present one.
    """

    space: int
    node: int


class ParticipantPlace(msgspec.Struct, frozen=True, tag="participant"):
    """A participant.

    Attributes:
        space: string id of its space.
        name: its id.
    """

    space: int
    name: str


Place = ContextPlace | ParticipantPlace
