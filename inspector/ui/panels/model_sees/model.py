"""The item model of the list: rows of `EntryRows`, texts made for those that are asked for."""

from __future__ import annotations

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.document.document import CaptureDocument
from inspector.present.wire_text import tool_tip
from inspector.ui.look.roles import Role
from inspector.ui.panels.list_view import ListModel
from inspector.ui.panels.model_sees.context_state import EntryRows, Sight
from inspector.ui.panels.model_sees.lines import EntryLine, entry_line

_KEPT = 2_000


class EntriesModel(ListModel):
    """One row per entry.

    Attributes:
        rows: what stands where, as of the last `take`.
    """

    def __init__(self, document: CaptureDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._lines: dict[int, EntryLine] = {}
        self.rows = EntryRows()

    @property
    @override
    def listed(self) -> EntryRows:
        return self.rows

    def take(self, sight: Sight) -> None:
        """List what is looked at now. O(1): the arrays are the sight's."""
        with self.changing():
            self._lines.clear()
            self.rows = sight.rows

    def line(self, row: int) -> EntryLine:
        """A row in words."""
        found = self._lines.get(row)
        if found is None:
            if len(self._lines) >= _KEPT:
                self._lines.clear()
            found = self._lines[row] = entry_line(self._document, self.rows, row)
        return found

    # What a row says

    @override
    def text(self, row: int) -> str:
        return self.line(row).text

    @override
    def spoken(self, row: int) -> str:
        return self.line(row).spoken

    @override
    def tip(self, row: int) -> str:
        return tool_tip(self.line(row).tip)

    @override
    def more(self, row: int, role: int) -> object:
        if role == Role.MESSAGE:
            return int(self.rows.messages[row])
        return self.line(row).entry.collapsed if role == Role.COLLAPSED else None
