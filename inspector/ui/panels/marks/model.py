"""Rows and item model of the marks panel: marks and comments on messages and contexts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.analysis.passes.user_marks import ContextTarget, Note, Target, UserMarks
from inspector.document.document import CaptureDocument
from inspector.filters.next_shown import are_shown
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.present.context_labels import context_label, node_label
from inspector.present.message_row import row_content
from inspector.present.wire_text import safe_line, tool_tip, visible_controls
from inspector.ui.look.roles import Role
from inspector.ui.panels.list_view import Key, ListModel

_LONGEST_TIP = 2_000


@dataclass(frozen=True, slots=True)
class MarkLine:
    """A mark or comment as texts.

    Attributes:
        target: the message or context.
        text: the comment on one line; without one, the text of the message or the label of the context.
        about: "coder thought"; "context".
        context: label of the context, as in other lists.
        number: "No. 12"; "" for a context.
        comment: the whole comment with visible control characters.
    """

    target: Target
    note: Note
    text: str
    about: str
    context: str
    number: str
    comment: str

    @property
    def copied(self) -> str:
        """The row as text separated by tabs."""
        state = "marked" if self.note.marked else ""
        return "\t".join((self.number or "context", state, self.about, self.context, self.text))


def mark_line(document: CaptureDocument, target: Target) -> MarkLine:
    note = document.analysis.marks.note(target)
    comment = safe_line(note.comment)
    # Qt lays out a tooltip at once, so its length is limited.
    tooltip = visible_controls(note.comment[:_LONGEST_TIP])
    if isinstance(target, ContextTarget):
        label = node_label(document, target.node)
        return MarkLine(target, note, comment or label, "context", label if comment else "", "", tooltip)
    content = row_content(document, target)
    about = " ".join(filter(None, (content.sender, content.word)))
    text = comment or safe_line(content.text)
    number = formats.message_number(target)
    return MarkLine(target, note, text, about, context_label(document, target), number, tooltip)


_MESSAGE = ""


@dataclass
class MarksListed:
    """The user's choice of rows.

    Attributes:
        view_only: omit messages hidden by filter and scope.
        comments_only: omit marks without a comment.
    """

    view_only: bool = False
    comments_only: bool = False


class MarkRows:
    """Rows as of the last `rebuild`.

    Attributes:
        outside: number of marked messages hidden by filter and scope.
        left_out: number of marks omitted by the user's choice.
    """

    def __init__(self) -> None:
        self.outside = 0
        self.left_out = 0
        self._targets: list[Target] = []
        self._row_of: dict[Key, int] = {}

    def rebuild(self, marks: UserMarks, shown: VisibleRows, choice: MarksListed) -> None:
        """Builds the rows. O(marks log visible messages)."""
        messages = marks.rows
        among = are_shown(messages, shown)
        self.outside = len(messages) - int(np.count_nonzero(among))
        listed: list[Target] = (messages[among] if choice.view_only else messages).tolist()
        listed += [target for target, _ in marks.contexts()]
        if choice.comments_only:
            listed = [target for target in listed if marks.note(target).comment]
        self._targets = listed
        self._row_of = {key_of(target): row for row, target in enumerate(listed)}
        self.left_out = len(messages) + sum(1 for _ in marks.contexts()) - len(listed)

    def __len__(self) -> int:
        return len(self._targets)

    def target_at(self, row: int) -> Target:
        return self._targets[row]

    def key_at(self, row: int) -> Key:
        return key_of(self._targets[row])

    def row_of(self, key: Key) -> int:
        """Returns the row of a key, or -1 if it is not listed."""
        return self._row_of.get(key, -1)


def key_of(target: Target) -> Key:
    """Returns the key of a message or a context."""
    if isinstance(target, ContextTarget):
        return str(target.space), target.node
    return _MESSAGE, target


class MarksModel(ListModel):
    """One row per message or context with a mark or comment.

    Attributes:
        rows: the listed targets.
        choice: the user's choice; call `refresh` after changing it.
    """

    def __init__(self, document: CaptureDocument, shown: VisibleRows, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._shown = shown
        # A line takes 300 µs to make, and every repaint asks for it.
        self._lines: dict[Target, MarkLine] = {}
        self.rows = MarkRows()
        self.choice = MarksListed()

    @property
    @override
    def listed(self) -> MarkRows:
        return self.rows

    def refresh(self) -> None:
        """Builds the rows from marks, visible messages and the user's choice. O(marks)."""
        with self.changing():
            self._lines.clear()
            self.rows.rebuild(self._document.analysis.marks, self._shown, self.choice)

    def line(self, row: int) -> MarkLine:
        """Returns a row as texts, cached."""
        target = self.rows.target_at(row)
        found = self._lines.get(target)
        if found is None:
            found = self._lines[target] = mark_line(self._document, target)
        return found

    def target(self, row: int) -> Target:
        return self.rows.target_at(row)

    @override
    def is_shown(self, row: int) -> bool:
        """Returns True if the table shows the message of a row. A context is never hidden."""
        target = self.rows.target_at(row)
        return not isinstance(target, int) or self._shown.row_of(target) is not None

    # Texts of a row

    @override
    def text(self, row: int) -> str:
        return self.line(row).text

    @override
    def tip(self, row: int) -> str:
        line = self.line(row)
        place = ", ".join(filter(None, (line.number, line.about, line.context)))
        return tool_tip(f"{line.comment}\n\n{place}" if line.comment else f"{line.text}\n\n{place}")

    @override
    def role_data(self, row: int, role: int) -> object:
        target = self.rows.target_at(row)
        return target if role == Role.MESSAGE and isinstance(target, int) else None

    @override
    def accessible_text(self, row: int) -> str:
        line = self.line(row)
        hidden = "" if self.is_shown(row) else "hidden by the view"
        words = (*line.note.words, line.text, line.about, line.context, line.number, hidden)
        return ", ".join(filter(None, words))
