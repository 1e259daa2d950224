"""The findings panel: head, list, and how it keeps up with the traffic.

The list is made anew at most a few times a second and only while it is seen; figures that stand elsewhere (status bar,
presets) are told as often.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.analysis import Changes
from inspector.analysis.findings import CHECK_BY_CODE, Severity
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.findings.head import FindingsHead
from inspector.ui.panels.findings.menu import FindingMenu
from inspector.ui.panels.findings.model import FindingsModel
from inspector.ui.panels.findings.problems import Problems, failed_words, problems_of
from inspector.ui.panels.findings.rows import Grouping, Key
from inspector.ui.panels.findings.view import FindingsView
from inspector.ui.panels.list_panel import ListPanel
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

_REST = 10
"""Between two times it is left alone for this many times as long as it took."""


class FindingsPanel(ListPanel):
    """The findings of one document.

    Signals:
        problems_changed(Problems): there are more or fewer.
        shown_requested(): something in it is to be seen, so that it has to be.
        grouping_chosen(Grouping): the user groups them by something else.

    Attributes:
        head, view, model: what it is made of.
    """

    problems_changed = Signal(object)
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
        self._problems = Problems(dict.fromkeys(Severity, 0), 0)
        self._total = 0
        self._view_of: tuple[object, ...] = ()
        self._message: int | None = None
        self.model = FindingsModel(document, rows, self)
        self.head = FindingsHead(theme_controller, self)
        self.view = FindingsView(self.model, theme_controller, self)
        self.throttle = RefreshThrottle(
            self, self._refresh, lambda: budgets.current.lists_ms, rest=_REST, hidden_too=True
        )
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        self.put_together(self.head, self.view, self.model)
        self.head.severity_switched.connect(self._switch_severity)
        self.head.reach_switched.connect(self._switch_reach)
        self.head.grouping_chosen.connect(self._on_grouping_chosen)
        self.head.codes_restored.connect(self._restore_codes)
        self.head.all_opened.connect(self._open_all)

    # What the window says

    def apply_changes(self, changes: Changes) -> None:
        """Take in a flush of the document; called on the loop's thread. O(new and changed messages)."""
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
                self.view.set_empty_text(self._empty_words())  # in how many messages nothing was found

    def apply_view(self) -> None:
        """The table may show other messages now."""
        if self._view_of != self._view_now() or self._shown.chooses:
            self.throttle.request()

    def _view_now(self) -> tuple[object, ...]:
        return self._shown.filter, self._shown.scope

    def show_message(self, message: int | None) -> None:
        """Mark the first finding about the message that is selected in the table; none where it has none."""
        self._message = message
        selected = self.view.selected
        if message is None or (selected is not None and selected[1] == message):
            if message is None:
                self.view.select(None)
            return
        self.view.select(self._listed(message))

    def _listed(self, message: int) -> Key | None:
        """The worst finding about a message that is listed."""
        found = self._document.analysis.findings.found
        codes = found.sets[int(found.columns["set"][message])] if message < len(found.columns) else ()
        return next(((code, message) for code in codes if self.model.rows.row_of((code, message)) >= 0), None)

    def show_code(self, code: str) -> None:
        """List the findings of a check, all of them and open, with the first one at the top."""
        check = CHECK_BY_CODE[code]
        choice = self.model.choice
        choice.codes_off.discard(code)
        choice.severities_off.discard(check.severity)
        self.head.show_severity(check.severity, on=True)
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
        return listed == self._document.analysis.findings.found.counts_of(CHECK_BY_CODE[code])

    @property
    def problems(self) -> Problems:
        """The figures as they were told last."""
        return self._problems

    def stop(self) -> None:
        """Read no more of the document."""
        self.throttle.stop()

    # Keeping up

    def refresh(self) -> None:
        """Take in what was found now. A few milliseconds for a hundred thousand findings."""
        self.throttle.run()

    def _refresh(self) -> None:
        found = self._document.analysis.findings.found
        self._total = len(found)
        problems = problems_of(found)
        if problems != self._problems:
            self._problems = problems
            self.problems_changed.emit(problems)
        if not self.isVisible():
            return
        self._view_of = self._view_now()
        self.model.refresh()
        if self._message is not None and self.view.selected is None:
            self.view.select(self._listed(self._message), into_view=False)

    # What is said

    @override
    def say(self) -> None:
        rows, choice = self.model.rows, self.model.choice
        self.head.show_counts(rows.counts)
        hint, link = self._outside_words()
        if rows.switched_off:
            codes = "a hidden code" if len(choice.codes_off) == 1 else "hidden codes"
            hint = "; ".join(filter(None, (hint, f"{rows.switched_off:,} of {codes}")))
        self.head.say(hint, link)
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
            return f"Nothing found in {total}." + (failed and f"{failed}: the filter error shows which.")
        if any(rows.counts.values()):
            return "The findings of this view are switched off above."
        if rows.switched_off:
            return "The codes found are hidden here. The menu above lists them again."
        return f"Nothing found in the messages shown; {rows.outside:,} hidden by {self.hider()}."

    # What the user does

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
        """Put the findings together by something else."""
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
        """The context menu of a row; it deletes itself when it closes."""
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
            return line.copied
        return str(self.model.index(row, 0).data() or "")
