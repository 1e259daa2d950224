"""Contexts and participants of a log as JSON, in the order of their lists."""

from __future__ import annotations

from typing import Any

from inspector.document.summary import context_nodes, participant_stories
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import PartsRequest, Query, Steps, row_parts, rows_from
from inspector.present.answers import masked_table
from inspector.protocol.secrets.masking import mask_secrets


class ListContexts(PartsRequest[list[dict[str, Any]], None], frozen=True):
    """Contexts in tree order, masked.

    Attributes:
        tokens: adds tokens, if they are counted; main then comes first.
    """

    tokens: bool = False
    offset: int = 0
    limit: int | None = None


class ListParticipants(PartsRequest[list[dict[str, Any]], None], frozen=True):
    """Participants with their capabilities and refused requests, masked."""


def _contexts(held: OpenDocument, asked: ListContexts) -> Steps[None]:
    nodes = rows_from(context_nodes(held.document, tokens=asked.tokens), asked.offset, asked.limit)
    yield from row_parts(map(mask_secrets, nodes))


def _participants(held: OpenDocument, _asked: ListParticipants) -> Steps[None]:
    yield from row_parts(map(_masked, participant_stories(held.document)))


def _masked(story: dict[str, Any]) -> dict[str, Any]:
    # Names are masked as text: as keys, some would make their counts secrets.
    tables = {name: masked_table(story[name]) for name in ("kinds", "latency")}
    return {**mask_secrets(story), **tables}


QUERIES = (
    Query(ListContexts, None, _contexts, list[dict[str, Any]]),
    Query(ListParticipants, None, _participants, list[dict[str, Any]]),
)
