"""The findings panel: head, list with collapsible groups, context menus and throttled updates.

The list is rebuilt a few times a second at most, only while visible.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.engine.request import RequestError
from inspector.engine.requests.finding_rows import (
    FindingLine,
    FindingOrder,
    Grouping,
    Key,
    ListedCheck,
    OrderFindings,
    Severity,
    ShownFinding,
)
from inspector.present.findings import PLURALS
from inspector.ui import intervals
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.findings.head import FindingsHead
from inspector.ui.panels.findings.rows import HEAD, Group
from inspector.ui.panels.findings.source import FindingsSource
from inspector.ui.panels.list_panel import ListPanel, ShownMessages
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.latest_answer import Client, LatestAnswer, raise_failure
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_HIDE, _COPY = "hide", "copy"


class FindingMenu(QMenu):
    """Context menu of a row.

    Signals:
        filter_chosen(str, str): an expression and its way of joining the active filter (`filter_menu.FilterMode`).
        hide_chosen(): hide the findings of this code or severity in the list.
    """

    filter_chosen = Signal(str, str)
    hide_chosen = Signal()

    def __init__(
        self, group: Group, check: ListedCheck | None, line: FindingLine | None, parent: QWidget | None = None
    ) -> None:
        """Creates the menu.

        Args:
            group: the group of the row.
            check: the check of the row; None for the head of a severity.
            line: its finding; None for the group's head.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("findingMenu")
        self.setAccessibleName("Finding")
        expression = f"finding.severity == {group.severity.word}" if check is None else check.filter
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


_REST = 10
"""Pause after a refresh, as a multiple of its duration."""


class FindingsPanel(ListPanel):
    """The findings of one document.

    Signals:
        shown_requested(): show this panel.
        grouping_chosen(Grouping): the user chose another grouping.

    Attributes:
        head, view, source, model: its parts.
    """

    shown_requested = Signal()
    grouping_chosen = Signal(object)

    def __init__(
        self, client: Client, theme_controller: ThemeController, rows: ShownMessages, parent: QWidget | None = None
    ) -> None:
        """Creates the panel.

        Args:
            client: asks the engine.
            theme_controller: gives the look.
            rows: the messages that the table shows.
            parent: owner.
        """
        super().__init__(rows, "Findings", parent)
        self._client = client
        self._asked: tuple[OrderFindings, tuple[object, ...]] | None = None
        self._listed: tuple[OrderFindings, tuple[object, ...]] | None = None
        self._message: int | None = None
        self._wanted_code: str | None = None
        self.source = FindingsSource(client, lambda row: self.model.renew(row, row))
        self.model = RowsModel(self.source, self)
        self.head = FindingsHead(theme_controller, self)
        self.view = RowsView(self.model, theme_controller, name="findingsList", title="Findings", parent=self)
        self.view.head_of = self.source.head_of
        self.latest: LatestAnswer[FindingOrder] = LatestAnswer(
            self, client, self._question, self._show, every_ms=lambda: intervals.LISTS_MS, rest=_REST
        )
        self._connect()

    def _connect(self) -> None:
        self.put_together(self.head, self.view, self.model)
        self.view.expanded.connect(self._set_open)
        self.head.severity_switched.connect(self._switch_severity)
        self.head.reach_switched.connect(self._switch_reach)
        self.head.grouping_chosen.connect(self._on_grouping_chosen)
        self.head.codes_restored.connect(self._restore_codes)
        self.head.all_opened.connect(self._open_all)

    # Calls of the window

    def apply_view(self) -> None:
        """Updates the rows after a change of the filter."""
        if self._shown.is_filtered or self._asked is None or self._asked[1] != self._view_now():
            self.latest.invalidate()

    def _view_now(self) -> tuple[object, ...]:
        return self._shown.filter, self._shown.scope

    def show_message(self, message: int | None) -> None:
        """Selects the first finding about the message selected in the table, or clears the selection."""
        self._message = message
        selected = self.view.selected
        if message is None or (isinstance(selected, tuple) and selected[1] == message):
            if message is None:
                self.view.select(None)
            return
        self.view.select(self.source.rows.first_about(message))

    def show_code(self, code: str) -> None:
        """Lists all findings of a check in an expanded group and scrolls to it."""
        choice = self.source.choice
        # Undo any choice of the user that would hide these findings.
        choice.codes_off.discard(code)
        choice.grouping = Grouping.CODE
        choice.opened[Grouping.CODE, code] = True
        self._wanted_code = code
        self.shown_requested.emit()
        self.refresh()

    def _go_to_code(self, code: str) -> None:
        """Selects the head of a group, once the answer lists all findings of its check."""
        rows, choice = self.source.rows, self.source.choice
        checks = [check for check in rows.order.checks if check.code == code]
        off = {check.severity for check in checks} & choice.severities_off
        for severity in off:
            choice.severities_off.discard(severity)
            self.head.show_severity(severity, on=True)
        group = next((group for group in rows.groups if group.key == code), None)
        listed = 0 if group is None else group.count
        lists_all = choice.everything or not rows.order.outside or listed == sum(check.count for check in checks)
        if off or not lists_all:
            choice.everything = choice.everything or not off
            self.refresh()
            return
        self._wanted_code = None
        if group is not None:
            self.view.select(rows.key_at(group.first_row))
            self.view.scrollTo(self.model.index(group.first_row), RowsView.ScrollHint.PositionAtTop)
            self.view.setFocus()

    def stop(self) -> None:
        """Ends all requests."""
        self.latest.stop()

    # Updates

    def refresh(self) -> None:
        """Asks for the listed findings now, because the choice has changed."""
        self.latest.request_now()

    def _question(self) -> OrderFindings:
        question = self.source.choice.question(VIEW)
        self._asked = question, self._view_now()
        return question

    def _show(self, found: FindingOrder) -> None:
        self.source.described.drop()
        if self._wanted_code is None and self._asked == self._listed and self.source.rows.shows(found):
            self.model.renew()
        else:
            self._rebuild(found)
        self._listed = self._asked
        if self._wanted_code is not None:
            self._go_to_code(self._wanted_code)
        elif self._message is not None and self.view.selected is None:
            self.view.select(self.source.rows.first_about(self._message), into_view=False)

    def _rebuild(self, found: FindingOrder) -> None:
        with self.model.changing():
            self.source.rows.rebuild(found, self.source.choice, cast("Key | None", self.view.selected))

    def _set_open(self, row: int, is_open: bool) -> None:
        self.source.set_open(row, is_open)
        self._rebuild(self.source.rows.order)

    # Texts

    @override
    def update_texts(self) -> None:
        rows, choice = self.source.rows, self.source.choice
        self.head.show_counts(rows.order.counts)
        hint, link = self._outside_words()
        if rows.order.switched_off:
            codes = "a hidden code" if len(choice.codes_off) == 1 else "hidden codes"
            hint = "; ".join(filter(None, (hint, f"{rows.order.switched_off:,} of {codes}")))
        self.head.show_hint(hint, link)
        self.head.show_choice(
            choice.grouping, codes_off=len(choice.codes_off), heads=rows.any_heads, findings=rows.total() > 0
        )
        self.view.set_empty_text("" if len(rows) or self.latest.answer is None else self._empty_words())

    def _outside_words(self) -> tuple[str, str]:
        outside, everything = self.source.rows.order.outside, self.source.choice.everything
        if not outside:
            return "", ""
        if everything:
            return f"{self._hidden(outside)} by {self.hider()}", "List this view only"
        return f"in this view; {outside:,} more {'is' if outside == 1 else 'are'} hidden by {self.hider()}", "List all"

    @staticmethod
    def _hidden(count: int) -> str:
        return f"{count:,} of these {'is' if count == 1 else 'are'} hidden"

    def _empty_words(self) -> str:
        order = self.source.rows.order
        if order.none_found:
            return order.none_found
        if any(order.counts.values()):
            return "All findings of this view are switched off above."
        if order.switched_off:
            return "All findings have hidden codes. The menu above shows them again."
        return f"No findings in the visible messages; {order.outside:,} hidden by {self.hider()}."

    # User input

    def _switch_severity(self, severity: Severity, on: bool) -> None:
        off = self.source.choice.severities_off
        (off.discard if on else off.add)(severity)
        self.refresh()

    def _switch_reach(self) -> None:
        self.source.choice.everything = not self.source.choice.everything
        self.refresh()

    def _on_grouping_chosen(self, grouping: Grouping) -> None:
        self.group_by(grouping)
        self.grouping_chosen.emit(grouping)

    def group_by(self, grouping: Grouping) -> None:
        self.source.choice.grouping = grouping
        self.refresh()

    def _restore_codes(self) -> None:
        self.source.choice.codes_off.clear()
        self.refresh()

    def _open_all(self, opened: bool) -> None:
        choice = self.source.choice
        for group in self.source.rows.groups:
            choice.opened[choice.grouping, group.key] = opened
        self._rebuild(self.source.rows.order)

    @override
    def menu_for(self, row: int) -> FindingMenu:
        """Returns the context menu of a row. It deletes itself when it closes."""
        group, found = self.source.group(row), self.source.rows.finding_at(row)
        line, check = None, group.check
        if found is not None:
            check, message = found
            with contextlib.suppress(RequestError):  # a menu without the texts of the row
                shown = self._client.answer_now(self.source.question([(check.code, message)]))
                line = shown[0].line if shown else None
        menu = FindingMenu(group, check, line, self)
        menu.filter_chosen.connect(self.filter_requested)
        menu.hide_chosen.connect(lambda: self._hide("" if check is None else check.code, group.severity))
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    @override
    def request_texts(self, rows: Sequence[int], take: Callable[[list[str]], object]) -> None:
        keys = [self.source.rows.key_at(row) for row in rows]
        heads = {self.source.rows.key_at(row): self.row_text(row) for row in rows if self.source.is_head(row)}

        def merge(found: list[ShownFinding]) -> None:
            texts = heads | {one.key: one.line.as_text for one in found}
            take([texts.get(key, "") for key in keys])

        self._client.send_request(
            self.source.question([key for key in keys if key[1] != HEAD]), merge, raise_failure
        )  # fmt: skip

    def _hide(self, code: str, severity: Severity) -> None:
        if code:
            self.source.choice.codes_off.add(code)
            self.refresh()
        else:
            self.head.show_severity(severity, on=False)
            self._switch_severity(severity, False)
