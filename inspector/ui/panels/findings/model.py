"""Item model of the findings panel over `FindingRows`: sentences and group titles, formatted on demand."""

from __future__ import annotations

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.present.findings import PLURALS, FindingLine, finding_line, why_check_matters
from inspector.present.wire_text import tool_tip
from inspector.ui.look.roles import Role
from inspector.ui.panels.findings.rows import FindingRows, FindingsListed, Group, Key
from inspector.ui.panels.list_view import ListModel


class FindingsModel(ListModel):
    """One row per group head, and per finding of an expanded group.

    Attributes:
        rows: the listed findings.
        choice: the user's choice; call `refresh` after changing it.
    """

    def __init__(self, document: CaptureDocument, shown: VisibleRows, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._shown = shown
        # A line takes 170 µs to make, and every repaint asks for it.
        self._lines: dict[Key, FindingLine | None] = {}
        self.rows = FindingRows()
        self.choice = FindingsListed()

    @property
    @override
    def listed(self) -> FindingRows:
        return self.rows

    def refresh(self) -> None:
        """Builds the rows from findings, visible messages and the user's choice. O(findings log findings)."""
        with self.changing():
            self._lines.clear()
            self.rows.rebuild(self._document.analysis.findings.found, self._shown, self.choice, self.selected_key)

    def set_open(self, row: int, is_open: bool) -> None:
        """Expands or collapses the group of a row."""
        group = self.rows.group_at(row)
        if group.has_head and group.is_open != is_open:
            self.choice.opened[self.choice.grouping, group.key] = is_open
            self.refresh()

    # Rows

    def line(self, row: int) -> FindingLine | None:
        """Returns the finding of a row as texts, cached; None for a head or a finding retracted meanwhile."""
        found = self.rows.finding_at(row)
        if found is None:
            return None
        key = found[0].code, found[1]
        # A finding may be retracted between the refresh and this call; the cache also keeps that None.
        if key not in self._lines:
            self._lines[key] = finding_line(self._document, *found)
        return self._lines[key]

    def group(self, row: int) -> Group:
        return self.rows.group_at(row)

    def is_head(self, row: int) -> bool:
        return self.rows.finding_at(row) is None

    def message(self, row: int) -> int | None:
        """Returns the message of a row, or None for a head."""
        found = self.rows.finding_at(row)
        return None if found is None else found[1]

    @override
    def is_shown(self, row: int) -> bool:
        """Returns True if the table shows the message of a row."""
        message = self.message(row)
        return message is not None and self._shown.row_of(message) is not None

    # Texts of a row

    @override
    def role_data(self, row: int, role: int) -> object:
        return self.message(row) if role == Role.MESSAGE else None

    @override
    def text(self, row: int) -> str:
        if self.is_head(row):
            return f"{group_title(self.group(row))}, {self.group(row).count:,}"
        line = self.line(row)
        return line.sentence if line is not None else ""

    @override
    def accessible_text(self, row: int) -> str:
        group = self.group(row)
        if self.is_head(row):
            kind = f"{group.severity.word}, " if group.check is not None else ""
            return f"{kind}{self.text(row)}, {'expanded' if group.is_open else 'collapsed'}"
        line = self.line(row)
        if line is None:
            return ""
        hidden = "" if self.is_shown(row) else ", hidden by the view"
        return f"{line.check.severity.word}, {line.sentence}, {line.check.code}, {line.context}, {line.number}{hidden}"

    @override
    def tip(self, row: int) -> str:
        line = self.line(row)
        if line is not None:
            place = f"{line.check.code}, {line.path or 'main'}, {line.number}"
            return tool_tip(f"{line.sentence}\n{place}\n\n{line.advice}")
        check = self.group(row).check
        return tool_tip(f"{check.title}\n\n{why_check_matters(check)}") if check is not None else ""


def group_title(group: Group) -> str:
    if group.check is not None:
        return group.check.title
    return PLURALS[group.severity].capitalize()
