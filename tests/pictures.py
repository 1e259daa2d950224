"""Everything there is to see of a document, as plain values, so that two ways to the same messages can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.analysis.arrays.field_columns import Column
from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.document.document import CaptureDocument
from inspector.document.summary import context_nodes, links_of, message_permission, participant_stories, summary
from inspector.filters.fields import FIELDS


def picture(document: CaptureDocument) -> dict[str, Any]:
    """Messages with all their fields and stories, contexts, participants and totals."""
    totals = summary(document, "")
    columns = columns_of(document)
    totals["sources"] = [{**source, "name": ""} for source in totals["sources"]]
    return {
        "messages": [message_picture(document, message, columns) for message in range(len(document.capture))],
        "contexts": list(context_nodes(document)),
        "facts": [_node_facts(document, node) for node in document.analysis.contexts.tree.alive()],
        "notes": [
            (document.analysis.contexts.tree.resolve(note.node), note.row, note.what)
            for note in document.analysis.contexts.notes
        ],
        "participants": [
            _participant_picture(document, one) for one in document.analysis.participants.all.values()
        ],
        "capabilities": list(participant_stories(document)),
        "totals": totals,
    }  # fmt: skip


def _participant_picture(document: CaptureDocument, participant: Participant) -> dict[str, Any]:
    facts = [name for name, fact in vars(Participant).items() if isinstance(fact, property)]
    return {
        "name": participant.name, "space": document.capture.strings[participant.space],
        **{name: getattr(participant, name) for name in facts},
    }  # fmt: skip


def columns_of(document: CaptureDocument) -> dict[str, Column]:
    """The column of every field; each is valid until the document changes."""
    return {field.name: field.column(document.analysis) for field in FIELDS if field.name not in ("source", "seen_by")}


def message_picture(document: CaptureDocument, message: int, columns: Mapping[str, Column]) -> dict[str, Any]:
    """One message: every field, its bytes, deliveries, links and story."""
    analysis, capture = document.analysis, document.capture
    return {
        **{name: column.value(message) for name, column in columns.items()},
        "flags": capture.flags_of(message),
        "bytes": capture.records.read_line_of(message),
        "reason": capture.records.reason(message),
        "deliveries": [(d.participant, d.event, d.offset, d.length) for d in capture.deliveries.deliveries_of(message)],
        "causes": analysis.correlation.causes(message),
        "effects": analysis.correlation.effects(message),
        "links": links_of(document, message),
        "capability": message_permission(document, message),
        "call": analysis.correlation.calls[int(analysis.correlation.columns["call"][message])],
        "lifecycle": analysis.transients.lifecycle(message),
        "hints": analysis.transients.hints(message),
        "chain": document.chain(message),
    }


def _node_facts(document: CaptureDocument, node: int) -> tuple[Any, ...]:
    contexts = document.analysis.contexts
    rows = contexts.first_row[node], contexts.last_row[node], contexts.started_by[node], contexts.concluded_by[node]
    return (contexts.tree.path(node), contexts.last_ns[node], *rows, contexts.type_reason(node))
