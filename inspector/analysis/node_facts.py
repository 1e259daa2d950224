"""What is noted of each context node beside its place in the tree: first and last message, end, who spoke."""

from __future__ import annotations

from inspector.protocol.times import NO_TIME

CONCLUDED, CANCELLED = 1, 2
"""How a context ended; 0 when it did not."""


class NodeFacts:
    """Lists that run parallel to the nodes of a tree. What they say does not depend on the order of merges.

    Attributes:
        first_row, last_row, last_ns: -1 and NO_TIME when it holds no message.
        started_by: the message whose id names it, or -1.
        end: 0, CONCLUDED or CANCELLED.
        concluded_by: the message that concluded or cancelled it, or -1.
        speakers: string ids of those who wrote in it, and the first message of each there.
        reasons: it holds reasoning messages, or a reasoning start names it.
        declared: the first message that declared a type, and the type; or None.
    """

    def __init__(self) -> None:
        self.first_row: list[int] = []
        self.last_row: list[int] = []
        self.last_ns: list[int] = []
        self.started_by: list[int] = []
        self.end: list[int] = []
        self.concluded_by: list[int] = []
        self.speakers: list[dict[int, int]] = []
        self.reasons: list[bool] = []
        self.declared: list[tuple[int, str] | None] = []

    def grow(self, nodes: int) -> None:
        """Make room for as many nodes."""
        for _ in range(nodes - len(self.first_row)):
            self.first_row.append(-1)
            self.last_row.append(-1)
            self.last_ns.append(NO_TIME)
            self.started_by.append(-1)
            self.end.append(0)
            self.concluded_by.append(-1)
            self.speakers.append({})
            self.reasons.append(False)
            self.declared.append(None)

    def inherit(self, node: int, into: int) -> None:
        """Give what is known of a merged node to the one it became."""
        self.first_row[into] = _first(self.first_row[node], self.first_row[into])
        self.last_row[into] = max(self.last_row[node], self.last_row[into])
        self.last_ns[into] = max(self.last_ns[node], self.last_ns[into])
        self.started_by[into] = _first(self.started_by[node], self.started_by[into])
        if self.end[node]:
            self.note_end(into, self.end[node], self.concluded_by[node])
        self.reasons[into] = self.reasons[into] or self.reasons[node]
        declared = self.declared[node]
        if declared is not None:
            self.note_type(into, *declared)
        for sender, row in self.speakers[node].items():
            self.note_speaker(into, sender, row)

    def note_messages(self, node: int, first: int, last: int, last_ns: int) -> None:
        """Note messages of a node, from the first to the last row; the latest of their times."""
        self.first_row[node] = _first(first, self.first_row[node])
        self.last_row[node] = max(last, self.last_row[node])
        self.last_ns[node] = max(last_ns, self.last_ns[node])

    def note_end(self, node: int, end: int, row: int) -> None:
        """The first conclusion ends a context; a cancel overrules it, whatever comes later (protocols.md 8)."""
        if end > self.end[node] or (end == self.end[node] and row < self.concluded_by[node]):
            self.end[node], self.concluded_by[node] = end, row

    def note_type(self, node: int, row: int, declared: str) -> None:
        """The first type declared stands."""
        self.declared[node] = min(self.declared[node] or (row, declared), (row, declared))

    def note_speaker(self, node: int, sender: int, row: int) -> None:
        """Note that somebody wrote a message there."""
        self.speakers[node][sender] = min(row, self.speakers[node].get(sender, row))


def _first(row: int, other: int) -> int:
    """The smaller of two rows; -1 is none."""
    return max(row, other) if -1 in (row, other) else min(row, other)
