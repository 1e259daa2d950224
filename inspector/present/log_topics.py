"""Detects the topics of a document's traffic, to select presets."""

from __future__ import annotations

from typing import cast
from weakref import WeakKeyDictionary

import numpy as np

from inspector.analysis.arrays.unique_ints import unique_with_places
from inspector.analysis.passes.log_vocabulary import kind_words
from inspector.document.document import CaptureDocument
from inspector.formats import registry
from inspector.formats.table import FORMATS, TRACE_NAMES
from inspector.protocol import kinds
from inspector.settings.model import Topic
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

_BY_LABEL: dict[str, Topic] = {
    **dict.fromkeys(TRACE_NAMES, "trace"),
    **{one.name: cast("Topic", one.topic) for one in FORMATS if one.topic},
}
"""Topics of transcript records by format; all others are recordings of a model's API."""
_OF_RECORDERS = tuple(prefix for one in FORMATS for prefix in one.further_namespaces)
"""Beginnings of the kinds of records around messages, which are of no topic."""
_MSP = "msp"
_MCP = "mcp/"


# Weak, so that a closed document is freed.
_topics_by_document: WeakKeyDictionary[CaptureDocument, LogTopics] = WeakKeyDictionary()


def topics_of(document: CaptureDocument) -> tuple[Topic, ...]:
    """Returns the document's present topics, most frequent first. O(new messages)."""
    topics = _topics_by_document.get(document)
    if topics is None:
        topics = _topics_by_document[document] = LogTopics()
    topics.update(document)
    return topics.order


def spoken_kinds(document: CaptureDocument) -> dict[str, str]:
    """Returns words for values of the field `kind`, according to the document's present topics."""
    return kind_words(topics_of(document))


class LogTopics:
    """Topics of one document, updated with new messages. Keeps no reference to the document."""

    def __init__(self) -> None:
        self._seen = 0
        self._counts: dict[Topic, int] = {}
        self._order: tuple[Topic, ...] = ()

    @property
    def order(self) -> tuple[Topic, ...]:
        """Topics present, most frequent first; similar counts in order of appearance."""
        return self._order

    def update(self, document: CaptureDocument) -> bool:
        """Counts new messages; returns True if topics or their order changed. O(new messages)."""
        capture = document.capture
        start, self._seen = self._seen, len(capture)
        if start < self._seen:
            self._count(capture, slice(start, self._seen))
        counts = dict(self._counts)
        if "agent" in counts and capture.transcripts.agents:
            # Zero sorts last: the topic is present, but has no messages of its own.
            counts["sub-agents"] = 0
        if "collapsible" not in counts and len(document.analysis.transients.signals):
            counts["collapsible"] = 0
        # by magnitude, since live counts overtake each other often
        order = tuple(sorted(counts, key=lambda topic: -counts[topic].bit_length()))
        changed, self._order = order != self._order, order
        return changed

    def _count(self, capture: Capture, rows: slice) -> None:
        columns = capture.columns
        readable = columns["flags"][rows] & (Flag.UNREADABLE | Flag.GAP | Flag.LOG_ONLY).value == 0
        kind_codes, protocols = (
            capture.foreign_rpc.kind_codes(rows).astype(np.int64),
            columns["protocol"][rows].astype(np.int64),
        )
        derived = (columns["part"][rows] != 0).astype(np.int64)
        # One number per combination, so that a million messages need one pass.
        keys = ((protocols << 32 | kind_codes) << 1 | derived)[readable]
        found, _, places = unique_with_places(keys)
        counts = np.bincount(places, minlength=len(found))
        strings = capture.strings
        for key, count in zip(found.tolist(), counts.tolist(), strict=True):
            protocol, kind = key >> 33, (key >> 1) & 0xFFFFFFFF
            topic = _topic(strings[protocol] if protocol else None, strings[kind] if kind else "", bool(key & 1))
            if topic is not None:
                self._counts[topic] = self._counts.get(topic, 0) + count


def _topic(protocol: str | None, kind: str, derived: bool) -> Topic | None:
    if kind.startswith(_OF_RECORDERS):
        return None
    if derived:
        if protocol in registry.groups().agents:
            return "agent"
        return _BY_LABEL.get(protocol or "", "model")
    if protocol == _MSP:
        return "msp"
    if protocol is not None:
        return "mew"
    return "mcp" if kind.startswith(_MCP) else "json-rpc" if kind in kinds.OF_JSON_RPC else "mew"
