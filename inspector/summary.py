"""The answers of the command line as plain objects, in exactly the shapes of design.md 5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from inspector.analysis.context_tree import MAIN
from inspector.capture.heads import HEAD
from inspector.document import CaptureDocument
from inspector.fields import FIELDS


def summary(document: CaptureDocument, file: str) -> dict[str, Any]:
    """What a capture holds. Findings come with their checks; until then none are counted."""
    analysis, capture = document.analysis, document.capture
    contexts = analysis.contexts
    return {
        "file": file,
        "format": document.format,
        "records": capture.record_count,
        "messages": len(capture),
        "unreadable": document.unreadable,
        "spaces": [capture.strings[space] for space in contexts.spaces if space],
        "participants": list(dict.fromkeys(p.name for p in analysis.participants.all.values())),
        "kinds": document.kind_counts(),
        "contexts": len(contexts.tree.alive()),
        "main": int(np.count_nonzero(contexts.nodes() == MAIN)),
        "badges": analysis.transients.totals(),
        "findings": {},
    }


def context_nodes(document: CaptureDocument) -> Iterator[dict[str, Any]]:
    """The nodes below main in tree order, space after space."""
    contexts = document.analysis.contexts
    return (_node(document, node) for space in contexts.spaces for node in contexts.tree.walk(space))


_LONGEST_PATH = 4_096
_PATH_END = 1_000


def _path(path: str) -> str:
    """A path; of one with thousands of segments its two ends, or 10,000 nodes below one another would be 500 MB."""
    return path if len(path) <= _LONGEST_PATH else f"{path[:_PATH_END]}…{path[-_PATH_END:]}"


def _node(document: CaptureDocument, node: int) -> dict[str, Any]:
    contexts, strings = document.analysis.contexts, document.capture.strings
    tree = contexts.tree
    return {
        "path": _path(tree.path(node)),
        "parent": _path(tree.path(tree.parent[node])) if tree.parent[node] != MAIN else None,
        "label": contexts.label(node),
        "type": contexts.type(node),
        "state": contexts.state(node, document.analysis.now_ns),
        "depth": tree.depth(node),
        "messages": tree.own[node],
        "subtree_messages": tree.subtree[node],
        "implicit": tree.implicit[node],
        "participants": [strings[code] for code in contexts.speakers_of(node)],
    }


def _raw(document: CaptureDocument, message: int) -> bytes:
    capture = document.capture
    return capture.line_part(message, 0, HEAD) if capture.is_big(message) else capture.envelope_bytes(message)


def message_story(document: CaptureDocument, message: int) -> dict[str, Any]:
    """One message with what it says, why it happened and what came of it; numbers count from 1."""
    analysis, capture = document.analysis, document.capture
    story = asdict(analysis.transients.lifecycle(message))
    for name in ("hinted_by", "collapsed_by", "consumes"):
        story[name] = story[name] + 1 if story[name] is not None else None
    story["badges"] = list(story["badges"])
    return {
        "no": message + 1,
        "fields": {field.name: field.value(analysis, message) for field in FIELDS},
        # Of a message above 1 MB the beginning, which is no envelope; `show --save` writes all of it.
        "envelope": None if capture.is_big(message) else capture.envelope(message),
        "raw": _raw(document, message).decode("utf-8", "backslashreplace"),
        "deliveries": [{"participant": d.participant, "event": d.event} for d in capture.deliveries_of(message)],
        "causes": [cause + 1 for cause in analysis.correlation.causes(message)],
        "effects": [effect + 1 for effect in analysis.correlation.effects(message)],
        "lifecycle": story,
        "findings": [],
    }
