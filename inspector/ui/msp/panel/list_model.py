"""Rows of the list of sub-sessions, which the engine orders and describes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from inspector.engine.requests.msp_sessions import DescribeSubsessions, ListedSubsessions, SubsessionRow
from inspector.present import formats
from inspector.present.rows import AUTO, EMPTY, SECONDARY, TERTIARY, Column, Dot, Layout, Row, Space, Text
from inspector.ui.msp.panel.sessions_client import SessionsClient
from inspector.ui.widgets.asked_rows import AskedRows

if TYPE_CHECKING:
    from inspector.ui.msp.panel.token_counts import TokenCounts

_SIDE = Column(width=AUTO, right=True)
_INDENT = 14
LAYOUT = Layout(
    ((Column(gap=8), _SIDE), (Column(),), (Column(gap=8), _SIDE)), height="sub_session_row", edge=6,
)  # fmt: skip
"""State, label and number of messages; summary; age and tokens."""


class SubsessionSource:
    """One row per sub-session.

    Attributes:
        listed: keys and depths by row.
        counts: state of the counting of tokens.
    """

    layout = LAYOUT

    def __init__(self, client: SessionsClient, counts: TokenCounts, changed: Callable[[int, int], object]) -> None:
        """Starts without rows.

        Args:
            client: asks the engine.
            counts: state of the counting of tokens.
            changed: called with start and stop of rows that arrived later than they were asked for.
        """
        self.counts = counts
        self.listed = ListedSubsessions([], [], 0, 0, "")
        self._place_of: dict[str, int] = {}
        self._rows = AskedRows[SubsessionRow](client, self._question, changed)

    def _question(self, start: int, stop: int) -> DescribeSubsessions:
        return DescribeSubsessions(tuple(self.listed.keys[start:stop]), counted=self.counts.is_wanted)

    def has_same_rows(self, listed: ListedSubsessions) -> bool:
        """Returns True if the same sub-sessions are listed in the same order."""
        return (listed.keys, listed.depths) == (self.listed.keys, self.listed.depths)

    def replace_rows(self, listed: ListedSubsessions) -> None:
        """Lists other sub-sessions, or the same ones after a change."""
        if self.has_same_rows(listed):
            self._rows.renew()
        else:
            self._rows.clear()
        self.listed = listed
        self._place_of = {key: row for row, key in enumerate(listed.keys)}

    def drop_rows(self) -> None:
        """Has the rows described again as they come into sight."""
        self._rows.renew()

    def __len__(self) -> int:
        return len(self.listed.keys)

    def key_at(self, row: int) -> Hashable:
        return self.listed.keys[row]

    def row_of(self, key: Hashable) -> int:
        return self._place_of.get(str(key), -1)

    def line(self, row: int) -> SubsessionRow:
        """Returns a row as texts; an empty one until it has arrived."""
        found = self._rows.row(row)
        return found or SubsessionRow(self.listed.keys[row], "idle", "", "", "", "", 0, "", "")

    def copied(self, row: int) -> str:
        """Returns a row as text separated by tabs."""
        line = self.line(row)
        return "\t".join((line.label, line.age, formats.number(line.count), line.tokens, line.about))

    def spec(self, row: int) -> Row:
        line, depth = self.line(row), self.listed.depths[row]
        lines = (
            (
                (Dot(line.mark, center=6, advance=20), Text(line.label, "body-medium")),
                (Text(formats.number(line.count), "count", TERTIARY, "never"),),
            ),
            ((Space(20), Text(line.about, "small", SECONDARY)),),
            (
                (Space(20), Text(line.age, "small", TERTIARY)),
                (Text(line.tokens, "count", TERTIARY, "never"),) if line.tokens else EMPTY,
            ),
        )
        count = formats.count_of(line.count, "message")
        nested = f"nested, level {depth + 1}" if depth else ""
        spoken = (line.label, line.state, nested, line.age, count, line.tokens, line.about)
        head = f"{line.label}\n{line.age}, {count}{f', {line.tokens} (estimate)' if line.tokens else ''}"
        return Row(
            line.key, lines, line.label, spoken=", ".join(dict.fromkeys(filter(None, spoken))),
            tip=f"{head}\n\n{line.beginning}".rstrip(), copied=self.copied(row), indent=depth * _INDENT,
        )  # fmt: skip
