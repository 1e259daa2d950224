"""Navigation in a window: views, details pages, model context, columns, messages by number.

Dialogs and views are imported on demand, so that a window opens sooner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.ui.docview.panel import MESSAGES, OVERVIEW

if TYPE_CHECKING:
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.panels.model_sees.panel import ModelSeesPanel


class Navigation(QObject):
    """Shows places of one window's document."""

    def __init__(
        self, shown: Shown, center: Center, requests: WindowRequests, history: UndoHistory, theme: ThemeController,
        parent: QWidget,
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            shown: the document and its panes.
            center: the views of the middle column.
            requests: raises docks.
            history: receives undo steps.
            theme: gives the look of dialogs.
            parent: parent of modal dialogs.
        """
        super().__init__(parent)
        self._shown = shown
        self._center = center
        self._requests = requests
        self._history = history
        self._theme = theme
        self._parent = parent

    def attach(self, panes: Panes) -> None:
        """Connects the navigation requests of these panes."""
        panes.columns_dialog_requested.connect(self.choose_columns)
        panes.messages.sees_requested.connect(self.show_model_at)
        for pane in (panes.participants, panes.details.links):
            pane.sees_requested.connect(self.show_model_of)
        panes.when_made("tokens", lambda tokens: tokens.sees_requested.connect(self.show_model_of))
        panes.when_made("findings", lambda findings: findings.shown_requested.connect(self.show_findings))
        panes.when_made("steps", lambda steps: steps.open_requested.connect(self.read_message))
        panes.details.panel_requested.connect(self._requests.dock_requested)
        panes.view_requested.connect(self._show_view_or_messages)
        panes.panel_requested.connect(self._show_panel)
        panes.went_to.connect(self._leave_overview)
        panes.filter_state.filter_applied.connect(lambda *_filter: self._leave_overview(panes.filter_state.filter.text))
        panes.filter_state.scope_changed.connect(lambda scope: self._leave_overview("scope" if scope else ""))

    # Views of the middle column

    def show_view(self, view: str) -> None:
        """Shows a view of the middle column and focuses it."""
        self._center.show_view(view)
        self._center.take_focus()

    def read_message(self, message: int) -> None:
        """Selects a message and shows it in the conversation, or in the messages if there is no conversation."""
        if self._shown.panes is not None:
            self._shown.panes.go_to(message)
            self._show_view_or_messages("conversation")

    def _show_view_or_messages(self, view: str) -> None:
        """Shows a view, or the messages if the document has no such view."""
        panes = self._shown.panes
        if panes is not None:
            known = {one.id for one in self._center.views_of(panes.client.state)}
            self.show_view(view if view in known else MESSAGES)

    def _show_panel(self, panel: str) -> None:
        place, colon, page = panel.partition(":")
        if colon:
            self._requests.settings_requested.emit(page)
        else:
            self._requests.dock_requested.emit(place)

    def _leave_overview(self, chosen: str = "message") -> None:
        """Shows the messages in place of the overview, after a message, a filter or a scope was chosen."""
        if chosen and self._center.current == OVERVIEW:
            self._center.show_view(MESSAGES)

    def show_in_timeline(self) -> None:
        from inspector.ui.panels.timeline.panel import TimelinePanel

        self.show_view("timeline")
        timeline = self._center.currentWidget()
        if isinstance(timeline, TimelinePanel):
            timeline.show_current()

    def show_model_here(self) -> None:
        """Shows the model's input at the current message, for the participant that it concerns most."""
        panes = self._shown.panes
        message = panes.messages.current_message() if panes is not None else None
        panel = self._model_sees()
        if panel is None or panes is None or message is None:
            return
        scope = panes.filter_state.scope
        context = (scope.space, scope.node) if scope is not None and scope.node is not None else None
        panel.show_here(message, context)

    def show_model_at(self, message: int) -> None:
        """Selects a message and shows the model's input there."""
        if self._shown.panes is not None:
            self._shown.panes.go_to(message)
            self.show_model_here()

    def show_model_of(self, key: tuple[int, str]) -> None:
        """Shows the model's input of a participant.

        Args:
            key: its space (string id) and its name.
        """
        panel = self._model_sees()
        if panel is not None:
            from inspector.engine.requests.seen_contexts import Reader

            panel.choose_reader(Reader(*key))

    def _model_sees(self) -> ModelSeesPanel | None:
        from inspector.ui.panels.model_sees.panel import ModelSeesPanel

        self.show_view("model_sees")
        panel = self._center.currentWidget()
        return panel if isinstance(panel, ModelSeesPanel) else None

    # Docks

    def show_account(self) -> None:
        panes = self._shown.panes
        if panes is not None:
            panes.show_account()
            self._requests.dock_requested.emit("Details")

    def show_details(self, tab: str) -> None:
        """Shows and focuses a details page of the current message."""
        panes = self._shown.panes
        if panes is not None:
            self._requests.dock_requested.emit("Details")
            panes.show_current_message()
            panes.details.show_tab(tab)
            self._requests.pane_requested.emit("Details")

    def show_findings(self) -> None:
        """Shows and focuses the findings."""
        self._requests.dock_requested.emit("Findings")
        if self._shown.panes is not None:
            self._shown.panes.findings.setFocus()

    # Messages

    def ask_where_to(self) -> None:
        """Asks for a number, an id or part of an id, and selects that message."""
        panes = self._shown.panes
        if panes is None or not panes.client.state.messages:
            return
        from inspector.ui.dialogs.go_to import GoToDialog
        from inspector.ui.panels.messages.view_rows import VIEW

        dialog = GoToDialog(self._theme, panes.client, VIEW, self._parent)
        dialog.chosen.connect(self._go_to_chosen)
        dialog.open()

    def _go_to_chosen(self, message: int) -> None:
        if self._shown.panes is not None:
            self._shown.panes.go_to(message)
            self._center.take_focus()

    def choose_columns(self) -> None:
        """Shows the dialog for columns, their order and the sort order."""
        panes = self._shown.panes
        if panes is None:
            return
        from inspector.engine.requests.fields import NamesOfFields
        from inspector.ui.panels.messages.columns_dialog import ColumnsDialog

        dialog = ColumnsDialog(self._theme, panes.messages, panes.client.answer_now(NamesOfFields()), self._parent)
        dialog.open()

    def clear_view(self) -> None:
        """Removes filter and scope as an undo step."""
        if self._shown.runs is not None:
            self._shown.runs.filter_requested.emit("")
        panes = self._shown.panes
        state = panes.filter_state if panes is not None else None
        if state is not None and (state.filter.text or state.scope is not None or state.stack.conditions):
            before = state.view
            self._history.do("clear filter and scope", state.clear, lambda: state.show_view(before))
