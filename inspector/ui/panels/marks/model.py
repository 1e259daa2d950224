"""The item model of the marks panel: rows of `MarkRows`, texts made for those that are asked for."""

from __future__ import annotations

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.analysis.marks import Target
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.present.wire_text import tool_tip
from inspector.ui.look.roles import Role
from inspector.ui.panels.list_view import ListModel
from inspector.ui.panels.marks.lines import MarkLine, mark_line
from inspector.ui.panels.marks.rows import Choice, MarkRows


class MarksModel(ListModel):
    """One row per message or context with a mark or a comment.

    Attributes:
        rows: what stands where.
        choice: what the user wants to see; call `refresh` after changing it.
    """

    def __init__(self, document: CaptureDocument, shown: VisibleRows, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._shown = shown
        self._lines: dict[Target, MarkLine] = {}
        self.rows = MarkRows()
        self.choice = Choice()

    @property
    @override
    def listed(self) -> MarkRows:
        return self.rows

    def refresh(self) -> None:
        """Take in what is marked, what the table shows and what the user wants. O(notes)."""
        with self.changing():
            self._lines.clear()
            self.rows.take(self._document.analysis.marks, self._shown, self.choice)

    def line(self, row: int) -> MarkLine:
        """A row in words."""
        target = self.rows.target_at(row)
        found = self._lines.get(target)
        if found is None:
            found = self._lines[target] = mark_line(self._document, target)
        return found

    def target(self, row: int) -> Target:
        """What a row is about."""
        return self.rows.target_at(row)

    @override
    def is_shown(self, row: int) -> bool:
        """Whether the table shows the message of a row; a context is never hidden."""
        target = self.rows.target_at(row)
        return not isinstance(target, int) or self._shown.row_of(target) is not None

    # What a row says

    @override
    def text(self, row: int) -> str:
        return self.line(row).text

    @override
    def tip(self, row: int) -> str:
        line = self.line(row)
        place = ", ".join(filter(None, (line.number, line.about, line.context)))
        return tool_tip(f"{line.comment}\n\n{place}" if line.comment else f"{line.text}\n\n{place}")

    @override
    def more(self, row: int, role: int) -> object:
        target = self.rows.target_at(row)
        return target if role == Role.MESSAGE and isinstance(target, int) else None

    @override
    def spoken(self, row: int) -> str:
        line = self.line(row)
        hidden = "" if self.is_shown(row) else "hidden by the view"
        words = (*line.note.words, line.text, line.about, line.context, line.number, hidden)
        return ", ".join(filter(None, words))
