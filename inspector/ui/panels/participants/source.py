"""Source of the rows of participants, which the engine describes as they come into sight."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import cast

from inspector.engine.requests.participants import DescribeParticipants, Key, ParticipantRow
from inspector.present.rows import (
    AUTO,
    EMPTY,
    PRIMARY,
    SECONDARY,
    TERTIARY,
    Cell,
    Column,
    Dot,
    Gauge,
    Layout,
    Row,
    Space,
    Tag,
    Text,
)
from inspector.present.wire_text import safe_line
from inspector.ui.widgets.latest_answer import Client
from inspector.ui.widgets.rows.described_rows import AFTER, BEFORE, DescribedRows

_LONGEST = 60
"""Maximum length of a space's name. The name of a session is a sentence of its user."""

_COLUMNS = (Column(gap=8), Column(width=AUTO, right=True))
_NAME_COLUMNS = (Column(gap=8), Column(width=AUTO, right=True, from_width=190))
LAYOUT = Layout((_NAME_COLUMNS, _COLUMNS), height="participant_row", edge=4)
"""Presence dot, name and usage; below, the space, the state and a gauge. A narrow pane has the gauge alone."""


class ParticipantsSource:
    """One row per participant of a space.

    Attributes:
        keys: the participants, in the order of the list.
        described: their descriptions.
    """

    layout = LAYOUT

    def __init__(self, client: Client, changed: Callable[[int], object]) -> None:
        """Starts without participants.

        Args:
            client: asks the engine.
            changed: called with a row whose description has changed.
        """
        self.keys: list[Key] = []
        self._place_of: dict[Key, int] = {}
        self._of_several_spaces = False
        self.described: DescribedRows[Key, ParticipantRow] = DescribedRows(
            client, DescribeParticipants, lambda one: one.key, lambda key: self._on_described(key, changed)
        )

    def replace_keys(self, keys: list[Key]) -> None:
        self.keys = list(keys)
        self._place_of = {key: place for place, key in enumerate(keys)}
        self._of_several_spaces = len({space for space, _ in keys}) > 1

    def _on_described(self, key: Key, changed: Callable[[int], object]) -> None:
        place = self._place_of.get(key)
        if place is not None:
            changed(place)

    def update_rows(self, first: int, last: int) -> None:
        """Has the rows of a range described again."""
        if first <= last:
            self.described.request(self.keys[first : last + 1])

    def row(self, row: int) -> ParticipantRow:
        """Returns the description of a row; an earlier or empty one until it has arrived."""
        key = self.keys[row]
        found = self.described.find(key, lambda: self.keys[max(0, row - BEFORE) : row + AFTER])
        return found or _undescribed(key)

    # Rows

    def __len__(self) -> int:
        return len(self.keys)

    def key_at(self, row: int) -> Hashable:
        return self.keys[row]

    def row_of(self, key: Hashable) -> int:
        """Returns the row of a participant, or -1."""
        return self._place_of.get(cast("Key", key), -1)

    def space(self, row: int) -> str:
        """Returns the name of the space if there are several, else ""."""
        if not self._of_several_spaces:
            return ""
        return safe_line(self.row(row).space or "no space", _LONGEST)

    def spec(self, row: int) -> Row:
        one, space, tag = self.row(row), self.space(row), "you" if self.row(row).is_us else ""
        # Usage of a departed participant is out of date.
        has_left = one.presence == "left"
        usage, share = ("", None) if has_left else (one.usage, one.share)
        title: Cell = (
            Dot(one.presence), Text(one.name, ink=SECONDARY if has_left else PRIMARY, elide="middle",
                                    space=8 if tag else 0),
        )  # fmt: skip
        if tag:
            title = (*title, Tag(tag, space=0))
        below: Cell = (Space(Dot(one.presence).advance),)
        if space:
            below = (*below, Text(space, "small", SECONDARY), Text(" · ", "small", SECONDARY, "never"))
        below = (*below, Text(one.line, "small", TERTIARY, short=one.short_line))
        lines = (
            (title, (Text(usage, "count", SECONDARY, "never"),) if usage else EMPTY),
            (below, (Gauge(share),) if share is not None else EMPTY),
        )
        described = (tag, space, one.presence, one.line, one.usage)
        return Row(self.keys[row], lines, one.name, described=", ".join(filter(None, described)), tip=one.tip)


def _undescribed(key: Key) -> ParticipantRow:
    name = safe_line(key[1])
    return ParticipantRow(key, name, False, "", "not announced", "", "", "", None, "", name, "", "")
