"""The context menu of a finding or of a group: filter by its code, hide it, copy."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.filters.strings import quote
from inspector.ui.look import icons
from inspector.ui.panels.findings.lines import PLURALS, FindingLine
from inspector.ui.panels.findings.rows import Group
from inspector.ui.widgets.filter_menu import add_filter_actions

_HIDE, _COPY = "hide", "copy"


class FindingMenu(QMenu):
    """What can be done with a row.

    Signals:
        filter_chosen(str, str): an expression, and how it joins the filter in force (`filter_menu.FilterMode`).
        hide_chosen(): list the findings of this code, or of this severity, no more.
    """

    filter_chosen = Signal(str, str)
    hide_chosen = Signal()

    def __init__(self, group: Group, line: FindingLine | None, parent: QWidget | None = None) -> None:
        """Make the menu.

        Args:
            group: where the row stands.
            line: its finding; None for the group's head.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("findingMenu")
        self.setAccessibleName("Finding")
        check = line.check if line is not None else group.check
        expression = f"finding.severity == {group.severity.word}"
        if check is not None:
            expression = f"finding == {quote(check.code)}"
        add_filter_actions(self, expression, self.filter_chosen.emit)
        self.addSeparator()
        hidden = "this code" if check is not None else f"the {PLURALS[group.severity]}"
        self._add("hide", f"Hide {hidden} in this list", (_HIDE, ""))
        self.addSeparator()
        if line is not None:
            self._add("copy.row", "Copy row", (_COPY, line.copied)).setIcon(icons.icon("copy"))
            self._add("copy.sentence", "Copy sentence", (_COPY, line.sentence))
        if check is not None:
            self._add("copy.code", "Copy code", (_COPY, check.code))
        self._add("copy.filter", "Copy as filter", (_COPY, expression))
        self.triggered.connect(self._on_triggered)

    def _add(self, name: str, title: str, data: tuple[str, str]) -> QAction:
        action = self.addAction(title)
        action.setObjectName(name)
        action.setData(data)
        return action

    def _on_triggered(self, action: QAction) -> None:
        if action.data() is None:  # one of those that filter
            return
        what, text = action.data()
        if what == _HIDE:
            self.hide_chosen.emit()
        else:
            QGuiApplication.clipboard().setText(text)
