"""Source of the rows in the findings panel; the engine describes findings as they come into sight."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import cast

from inspector.engine.requests.finding_rows import DescribeFindings, Key, Severity, ShownFinding
from inspector.present.findings import PLURALS
from inspector.present.formats import message_number
from inspector.present.rows import EMPTY, PRIMARY, SECONDARY, TERTIARY, Column, Icon, Layout, Row, Text
from inspector.ui.panels.findings.rows import HEAD, FindingRows, FindingsListed, Group
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.widgets.latest_answer import Client
from inspector.ui.widgets.rows.described_rows import AFTER, BEFORE, DescribedRows

ICON_TOKENS = {
    Severity.ERROR: ("error", "severity.error"),
    Severity.WARNING: ("warning", "severity.warning"),
    Severity.NOTE: ("note", "severity.note"),
}
"""Icon and colour of each severity."""
_CHEVRON, _INDENT = 16, 14
LAYOUT = Layout(((
    Column(),
    Column(width=192, from_width=820),
    Column(width=104, from_width=960, wide=210, wide_from=1150),
    Column(width="No. 00000", font="number", right=True),
),))  # fmt: skip
"""Sentence, code, context and number. The sentence has priority in narrow views."""


class FindingsSource:
    """One row per group head, and per finding of an expanded group.

    Attributes:
        rows: the listed findings.
        choice: the user's choice; ask again, or call `rebuild`, after changing it.
        described: the findings in words.
    """

    layout = LAYOUT

    def __init__(self, client: Client, changed: Callable[[int], object]) -> None:
        """Starts without findings.

        Args:
            client: asks the engine.
            changed: called with a row whose description has arrived.
        """
        self.rows = FindingRows()
        self.choice = FindingsListed()
        self.described: DescribedRows[Key, ShownFinding] = DescribedRows(
            client, self.question, lambda one: one.key, lambda key: self._on_described(key, changed)
        )

    @staticmethod
    def question(keys: Sequence[Key]) -> DescribeFindings:
        """Returns the request for findings in words."""
        return DescribeFindings(VIEW, tuple(keys))

    def _on_described(self, key: Key, changed: Callable[[int], object]) -> None:
        row = self.row_of(key)
        if row >= 0:
            changed(row)

    def set_open(self, row: int, is_open: bool) -> None:
        """Notes that the user expands or collapses the group of a row."""
        self.choice.opened[self.choice.grouping, self.group(row).key] = is_open

    # Rows

    def __len__(self) -> int:
        return len(self.rows)

    def key_at(self, row: int) -> Hashable:
        return self.rows.key_at(row)

    def row_of(self, key: Hashable) -> int:
        """Returns the row of a key, or of the head of its collapsed group, or -1."""
        return self.rows.row_of(cast("Key", key))

    def finding(self, row: int) -> ShownFinding | None:
        """Returns the finding of a row in words; None for a head, or before it has arrived."""
        key = self.rows.key_at(row)
        return None if key[1] == HEAD else self.described.find(key, lambda: self._near(row))

    def _near(self, row: int) -> list[Key]:
        keys = map(self.rows.key_at, range(max(0, row - BEFORE), min(row + AFTER, len(self))))
        return [key for key in keys if key[1] != HEAD]

    def group(self, row: int) -> Group:
        return self.rows.group_at(row)

    def is_head(self, row: int) -> bool:
        return self.rows.finding_at(row) is None

    def head_of(self, row: int) -> int:
        """Returns the row of the head of a row's group, or -1 if it has none."""
        group = self.rows.group_at(row)
        return group.first_row if group.has_head else -1

    def spec(self, row: int) -> Row:
        found, group = self.rows.finding_at(row), self.rows.group_at(row)
        if found is None:
            return self._head(group)
        (check, message), shown = found, self.finding(row)
        line = shown.line if shown is not None else None
        hidden = shown is not None and shown.is_hidden
        sentence, context = (line.sentence, line.context) if line is not None else ("", "")
        number = message_number(message)
        cells = (
            (Icon(*ICON_TOKENS[check.severity]), Text(sentence, ink=TERTIARY if hidden else PRIMARY)),
            (Text(check.code, "mono-row", TERTIARY),),
            (Text(context, ink=TERTIARY if hidden else SECONDARY),),
            (Text(number, "number", "accent.text", "never"),),
        )
        more = ", hidden by the view" if hidden else ""
        return Row(
            self.key_at(row), (cells,), sentence,
            spoken=f"{check.severity.word}, {sentence}, {check.code}, {context}, {number}{more}",
            tip="" if line is None else f"{sentence}\n{check.code}, {line.path or 'main'}, {number}\n\n{line.advice}",
            copied="" if line is None else line.as_text,
            indent=_CHEVRON + _INDENT * group.has_head if self.rows.any_heads else 0, message=message,
        )  # fmt: skip

    def _head(self, group: Group) -> Row:
        check, title, count = group.check, group_title(group), f"{group.count:,}"
        first = (
            Icon("collapse" if group.is_open else "expand", side=_CHEVRON, advance=_CHEVRON, shift=-3),
            Icon(*ICON_TOKENS[group.severity]), Text(title, "body-medium", space=8),
            Text(count, "count", TERTIARY, "never"),
        )  # fmt: skip
        code = EMPTY if check is None else (Text(check.code, "mono-row", TERTIARY),)
        text = f"{title}, {count}"
        kind = f"{group.severity.word}, " if check is not None else ""
        return Row(
            self.rows.key_at(group.first_row), ((first, code),), text,
            spoken=f"{kind}{text}, {'expanded' if group.is_open else 'collapsed'}",
            tip="" if check is None else f"{check.title}\n\n{check.reason}", expanded=group.is_open,
        )  # fmt: skip


def group_title(group: Group) -> str:
    if group.check is not None:
        return group.check.title
    return PLURALS[group.severity].capitalize()
