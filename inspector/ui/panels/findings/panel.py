"""The findings panel: head, list with collapsible groups, context menus and throttled updates.

The list is rebuilt a few times a second at most, only while visible.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.findings import Severity
from inspector.document.document import CaptureDocument
from inspector.filters.strings import quote
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.present.findings import PLURALS, FindingLine, failed_filter, failed_words
from inspector.ui import budgets
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.findings.delegate import FindingDelegate
from inspector.ui.panels.findings.head import FindingsHead
from inspector.ui.panels.findings.model import FindingsModel
from inspector.ui.panels.findings.rows import Group, Grouping, Key
from inspector.ui.panels.list_panel import ListPanel
from inspector.ui.panels.list_view import ListView
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

_HIDE, _COPY = "hide", "copy"


class FindingMenu(QMenu):
    """Context menu of a row.

    Signals:
        filter_chosen(str, str): an expression and its way of joining the active filter (`filter_menu.FilterMode`).
        hide_chosen(): hide the findings of this code or severity in the list.
    """

    filter_chosen = Signal(str, str)
    hide_chosen = Signal()

    def __init__(self, group: Group, line: FindingLine | None, parent: QWidget | None = None) -> None:
        """Creates the menu.

        Args:
            group: the group of the row.
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
            self._add("copy.row", "Copy row", (_COPY, line.as_text)).setIcon(icons.icon("copy"))
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
        if action.data() is None:  # a filter action
            return
        what, text = action.data()
        if what == _HIDE:
            self.hide_chosen.emit()
        else:
            QGuiApplication.clipboard().setText(text)


_KEYS = Qt.Key
_COLLAPSE_KEYS = (_KEYS.Key_Left, _KEYS.Key_Minus)
_EXPAND_KEYS = (_KEYS.Key_Right, _KEYS.Key_Plus)


class FindingsView(ListView):
    """The list of findings. The selection is a finding or a group, never a position."""

    def __init__(self, model: FindingsModel, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(model, theme_controller, name="findingsList", title="Findings", parent=parent)
        self._rows = model
        self._delegate = FindingDelegate(model, theme_controller, self)
        self.setItemDelegate(self._delegate)

    # Keys

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and event.key() in _COLLAPSE_KEYS:
            self._go_out(self.currentIndex().row())
        elif plain and event.key() in _EXPAND_KEYS:
            self._expand(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    @override
    def _enter_row(self, row: int) -> None:
        if row < 0:
            return
        if self._rows.is_head(row):
            self._rows.set_open(row, not self._rows.group(row).is_open)
        else:
            self.entered.emit(row)

    def _go_out(self, row: int) -> None:
        """Collapses the group of a head; from a finding moves to the head."""
        if row < 0 or not self._rows.group(row).has_head:
            return
        if self._rows.is_head(row):
            self._rows.set_open(row, False)
        else:
            self._pick_row(self._rows.group(row).first_row)

    def _expand(self, row: int) -> None:
        """Expands the group of a head; from an expanded head moves to its first finding."""
        if row < 0 or not self._rows.is_head(row):
            return
        if self._rows.group(row).is_open:
            self._pick_row(row + 1)
        else:
            self._rows.set_open(row, True)

    # Pointer

    @override
    def _on_row_pressed(self, row: int) -> None:
        if self._rows.is_head(row):
            self.select(self._rows.rows.key_at(row), into_view=False)
            self._rows.set_open(row, not self._rows.group(row).is_open)
        else:
            super()._on_row_pressed(row)

    @override
    def _on_row_double_clicked(self, row: int) -> None:
        if self._rows.is_head(row):
            self._on_row_pressed(row)
        else:
            super()._on_row_double_clicked(row)


_REST = 10
"""Pause after a refresh, as a multiple of its duration."""


class FindingsPanel(ListPanel):
    """The findings of one document.

    Signals:
        shown_requested(): show this panel.
        grouping_chosen(Grouping): the user chose another grouping.

    Attributes:
        head, view, model: its parts.
    """

    shown_requested = Signal()
    grouping_chosen = Signal(object)

    def __init__(
        self,
        document: CaptureDocument,
        theme_controller: ThemeController,
        rows: VisibleRows,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(document, rows, "Findings", parent)
        self._total = 0
        self._view_of: tuple[object, ...] = ()
        self._message: int | None = None
        self.model = FindingsModel(document, rows, self)
        self.head = FindingsHead(theme_controller, self)
        self.view = FindingsView(self.model, theme_controller, self)
        self.throttle = RefreshThrottle(self, self._refresh, lambda: budgets.current.lists_ms, rest=_REST)
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        self.put_together(self.head, self.view, self.model)
        self.head.severity_switched.connect(self._switch_severity)
        self.head.reach_switched.connect(self._switch_reach)
        self.head.grouping_chosen.connect(self._on_grouping_chosen)
        self.head.codes_restored.connect(self._restore_codes)
        self.head.all_opened.connect(self._open_all)

    # Calls of the window

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Takes in a flush of the document. O(new and changed messages)."""
        found = self._document.analysis.findings.found
        sets = found.columns["set"]
        if (
            len(found) != self._total
            or bool(sets[changes.start : changes.stop].any())
            or bool(sets[changes.changed].any())
            or changes.tree_moved
        ):
            self.throttle.request()
        else:
            self.apply_view()
            if not self._total and not self.throttle.stale and self.isVisible():
                self.view.set_empty_text(self._empty_words())  # updates the number of messages in the text

    def apply_view(self) -> None:
        """Updates the rows after a change of the filter."""
        if self._view_of != self._view_now() or self._shown.is_filtered:
            self.throttle.request()

    def _view_now(self) -> tuple[object, ...]:
        return self._shown.filter, self._shown.scope

    def show_message(self, message: int | None) -> None:
        """Selects the first finding about the message selected in the table, or clears the selection."""
        self._message = message
        selected = self.view.selected
        if message is None or (selected is not None and selected[1] == message):
            if message is None:
                self.view.select(None)
            return
        self.view.select(self._listed(message))

    def _listed(self, message: int) -> Key | None:
        """Returns the key of the most severe listed finding about a message."""
        found = self._document.analysis.findings.found
        codes = found.sets[int(found.columns["set"][message])] if message < len(found.columns) else ()
        return next(((code, message) for code in codes if self.model.rows.row_of((code, message)) >= 0), None)

    def show_code(self, code: str) -> None:
        """Lists all findings of a check in an expanded group and scrolls to it."""
        choice = self.model.choice
        # Undo any choice of the user that would hide these findings.
        choice.codes_off.discard(code)
        checks = self._document.analysis.findings.found.declared
        for severity in {check.severity for check in checks if check.code == code}:
            choice.severities_off.discard(severity)
            self.head.show_severity(severity, on=True)
        choice.grouping = Grouping.CODE
        choice.opened[Grouping.CODE, code] = True
        self.shown_requested.emit()
        self.refresh()
        if self.model.rows.outside and not self._lists_all_of(code):
            choice.everything = True
            self.refresh()
        row = next((group.first_row for group in self.model.rows.groups if group.key == code), -1)
        if row >= 0:
            self.view.select(self.model.rows.key_at(row))
            self.view.scrollTo(self.model.index(row, 0), FindingsView.ScrollHint.PositionAtTop)
            self.view.setFocus()

    def _lists_all_of(self, code: str) -> bool:
        listed = next((group.count for group in self.model.rows.groups if group.key == code), 0)
        return listed == self._document.analysis.findings.found.counts().get(code, 0)

    def stop(self) -> None:
        """Stops reading the document."""
        self.throttle.stop()

    # Updates

    def refresh(self) -> None:
        """Rebuilds the list. A few milliseconds for 100,000 findings."""
        self.throttle.run()

    def _refresh(self) -> None:
        found = self._document.analysis.findings.found
        self._total = len(found)
        self._view_of = self._view_now()
        self.model.refresh()
        if self._message is not None and self.view.selected is None:
            self.view.select(self._listed(self._message), into_view=False)

    # Texts

    @override
    def update_texts(self) -> None:
        rows, choice = self.model.rows, self.model.choice
        self.head.show_counts(rows.counts)
        hint, link = self._outside_words()
        if rows.switched_off:
            codes = "a hidden code" if len(choice.codes_off) == 1 else "hidden codes"
            hint = "; ".join(filter(None, (hint, f"{rows.switched_off:,} of {codes}")))
        self.head.show_hint(hint, link)
        self.head.show_choice(
            choice.grouping, codes_off=len(choice.codes_off), heads=rows.any_heads, findings=rows.total() > 0
        )
        self.view.set_empty_text("" if len(rows) else self._empty_words())

    def _outside_words(self) -> tuple[str, str]:
        outside, everything = self.model.rows.outside, self.model.choice.everything
        if not outside:
            return "", ""
        if everything:
            return f"{self._hidden(outside)} by {self.hider()}", "List this view only"
        return f"in this view; {outside:,} more {'is' if outside == 1 else 'are'} hidden by {self.hider()}", "List all"

    @staticmethod
    def _hidden(count: int) -> str:
        return f"{count:,} of these {'is' if count == 1 else 'are'} hidden"

    def _empty_words(self) -> str:
        rows = self.model.rows
        total = formats.count_of(len(self._document.analysis), "message")
        if not self._total:
            failed = failed_words(self._document.capture.failed_count)
            shows = failed_filter(self._document.capture)
            so_far = "so far " if self._document.is_arriving or self._document.has_backlog else ""
            return f"No findings {so_far}in {total}." + (failed and f"{failed}: the filter {shows} shows them.")
        if any(rows.counts.values()):
            return "All findings of this view are switched off above."
        if rows.switched_off:
            return "All findings have hidden codes. The menu above shows them again."
        return f"No findings in the visible messages; {rows.outside:,} hidden by {self.hider()}."

    # User input

    @override
    def go_to_row(self, row: int) -> bool:
        message = self.model.message(row)
        if message is not None:
            self.message_requested.emit(message)
        return message is not None

    def _switch_severity(self, severity: Severity, on: bool) -> None:
        off = self.model.choice.severities_off
        (off.discard if on else off.add)(severity)
        self.model.refresh()

    def _switch_reach(self) -> None:
        self.model.choice.everything = not self.model.choice.everything
        self.model.refresh()

    def _on_grouping_chosen(self, grouping: Grouping) -> None:
        self.group_by(grouping)
        self.grouping_chosen.emit(grouping)

    def group_by(self, grouping: Grouping) -> None:
        self.model.choice.grouping = grouping
        self.model.refresh()

    def _restore_codes(self) -> None:
        self.model.choice.codes_off.clear()
        self.model.refresh()

    def _open_all(self, opened: bool) -> None:
        choice = self.model.choice
        for group in self.model.rows.groups:
            choice.opened[choice.grouping, group.key] = opened
        self.model.refresh()

    @override
    def menu_for(self, row: int) -> FindingMenu:
        """Returns the context menu of a row. It deletes itself when it closes."""
        group, line = self.model.group(row), self.model.line(row)
        menu = FindingMenu(group, line, self)
        menu.filter_chosen.connect(self.filter_requested)
        code = line.check.code if line is not None else group.check.code if group.check is not None else ""
        menu.hide_chosen.connect(lambda: self._hide(code, group.severity))
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _hide(self, code: str, severity: Severity) -> None:
        if code:
            self.model.choice.codes_off.add(code)
            self.model.refresh()
        else:
            self.head.show_severity(severity, on=False)
            self._switch_severity(severity, False)

    @override
    def row_text(self, row: int) -> str:
        line = self.model.line(row)
        if line is not None:
            return line.as_text
        return str(self.model.index(row, 0).data() or "")
