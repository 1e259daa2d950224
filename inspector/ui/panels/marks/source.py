"""Rows of the marks panel, which the engine describes as they come into sight."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from inspector.engine.requests.marks import ContextTarget, DescribeMarks, MarkLine, Target
from inspector.present.rows import PRIMARY, SECONDARY, TERTIARY, Cell, Column, Icon, Layout, Row, Text
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.widgets.latest_answer import Client
from inspector.ui.widgets.rows.described_rows import AFTER, BEFORE, DescribedRows

_MESSAGE = ""

LAYOUT = Layout(((
    Column(),
    Column(width=140, from_width=520),
    Column(width=104, from_width=680, wide=210, wide_from=1150),
    Column(width="No. 00000", font="number", right=True),
),))  # fmt: skip
"""Text; sender and kind; context; number. The text has priority in narrow views."""


class MarksSource:
    """One row per marked or commented message or context.

    Attributes:
        targets: the messages and contexts, in the order of the list.
        described: the marks as texts.
    """

    layout = LAYOUT

    def __init__(self, client: Client, changed: Callable[[int], object]) -> None:
        """Starts without marks.

        Args:
            client: asks the engine.
            changed: called with a row whose texts have arrived.
        """
        self.targets: list[Target] = []
        self._row_of: dict[Hashable, int] = {}
        self.described: DescribedRows[Target, MarkLine] = DescribedRows(
            client, lambda targets: DescribeMarks(VIEW, targets), lambda line: line.target,
            lambda target: self._on_described(target, changed),
        )  # fmt: skip

    def _on_described(self, target: Target, changed: Callable[[int], object]) -> None:
        row = self.row_of(key_of(target))
        if row >= 0:
            changed(row)

    def replace_targets(self, targets: list[Target]) -> None:
        self.targets = targets
        self._row_of = {key_of(target): row for row, target in enumerate(targets)}

    def __len__(self) -> int:
        return len(self.targets)

    def key_at(self, row: int) -> Hashable:
        return key_of(self.targets[row])

    def row_of(self, key: Hashable) -> int:
        return self._row_of.get(key, -1)

    def line(self, row: int) -> MarkLine:
        """Returns a row as texts; an empty one until it has arrived."""
        target = self.targets[row]
        found = self.described.find(target, lambda: self.targets[max(0, row - BEFORE) : row + AFTER])
        return found or MarkLine(target)

    def spec(self, row: int) -> Row:
        line = self.line(row)
        message, hidden = line.target if isinstance(line.target, int) else None, line.is_hidden
        # The user's own comment is in primary ink; the message text replaces it only if there is none.
        ink = TERTIARY if hidden else PRIMARY if line.note.comment else SECONDARY
        text: Cell = (Icon("mark" if line.note.marked else "comment", "accent.text"),)
        if line.note.marked and line.note.comment:
            text = (*text, Icon("comment", TERTIARY, side=12, advance=18))
        cells = (
            (*text, Text(line.text, ink=ink)), (Text(line.about, ink=TERTIARY),),
            (Text(line.context, ink=TERTIARY if hidden else SECONDARY),),
            (Text(line.number, "number", "accent.text", "never"),),
        )  # fmt: skip
        place = ", ".join(filter(None, (line.number, line.about, line.context)))
        spoken = (*line.note.words, line.text, line.about, line.context, line.number,
                  "hidden by the view" if hidden else "")  # fmt: skip
        return Row(
            key_of(line.target), (cells,), line.text,
            spoken=", ".join(filter(None, spoken)), tip=f"{line.comment or line.text}\n\n{place}",
            copied=line.copied, message=message,
        )  # fmt: skip


def key_of(target: Target) -> Hashable:
    """Returns the key of a message or a context."""
    if isinstance(target, ContextTarget):
        return str(target.space), target.node
    return _MESSAGE, target
