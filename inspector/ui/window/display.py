"""Applies display settings to a window, and stores choices made in its panes and queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, QRect, QSize

from inspector.protocol.secrets.masking import mask_text
from inspector.ui.widgets.frames import frame_of

if TYPE_CHECKING:
    from inspector.engine.requests.finding_rows import Grouping
    from inspector.settings import SavedQuery, Table
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.panels.findings.panel import FindingsPanel
    from inspector.ui.panels.query.panel import QueryPanel
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.name_card import NameCard


class Display(QObject):
    """Applies the display settings to the panes of one window, and saves choices made in them.

    Attributes:
        hints_here: overrides the setting for context hints in this window. None uses the setting.
    """

    def __init__(self, owner: SettingsOwner, shown: Shown, name_card: Callable[[], NameCard], parent: QObject) -> None:
        """Stores its collaborators.

        Args:
            owner: has the settings.
            shown: the document and its panes, if any.
            name_card: returns the card that asks for a name.
            parent: the owner.
        """
        super().__init__(parent)
        self._owner = owner
        self._shown = shown
        self._name_card = name_card
        self.hints_here: bool | None = None

    def attach(self, panes: Panes) -> None:
        """Saves choices made in these panes."""
        panes.table_changed.connect(self._on_table_changed)
        panes.contexts.sources_action.triggered.connect(self._on_sources_chosen)
        panes.plot_choices.spacing_chosen.connect(self._on_spacing_chosen)
        panes.details.links.formatted_chosen.connect(self._on_formatted_chosen)
        panes.when_made("findings", self._attach_findings)
        panes.when_made("query", self._attach_query)

    def _attach_findings(self, findings: FindingsPanel) -> None:
        from inspector.engine.requests.finding_rows import Grouping

        findings.group_by(Grouping(self._owner.settings.findings_by))
        findings.grouping_chosen.connect(self._on_grouping_chosen)

    def _attach_query(self, panel: QueryPanel) -> None:
        panel.show_saved(self._owner.settings.queries, self._owner.settings.query_history)
        panel.asked.connect(lambda sql: self._remember_query(panel, sql))
        panel.saved_changed.connect(lambda saved: self._keep_queries(panel, saved))
        panel.name_requested.connect(lambda: self._ask_for_name(panel))

    def _remember_query(self, panel: QueryPanel, sql: str) -> None:
        """Adds a query to the history, unless it contains a secret."""
        settings = self._owner.settings
        # masking changes exactly the queries that contain a secret
        if mask_text(sql) == sql and settings.remember_query(sql):
            panel.show_saved(settings.queries, settings.query_history)
            self._owner.save_settings()

    def _keep_queries(self, panel: QueryPanel, saved: list[SavedQuery]) -> None:
        settings = self._owner.settings
        # settings are plain text on disk, so queries with secrets stay out of them
        settings.queries = [one for one in saved if mask_text(one.sql) == one.sql]
        panel.show_saved(settings.queries, settings.query_history)
        self._owner.save_settings()

    def _ask_for_name(self, panel: QueryPanel) -> None:
        sql = panel.editor.text().strip()
        if not sql:
            return
        card = self._name_card()
        corner = panel.mapTo(frame_of(panel), panel.rect().topRight())  # the card floats over the panel's window
        card.ask_name("Query name", sql, "", QRect(corner, QSize(1, 1)), panel.save)

    def apply(self, panes: Panes) -> None:
        panes.apply_settings(self._owner.settings, hints=self.shows_hints)

    def show_hints_here(self) -> None:
        """Shows context hints in this window regardless of the setting."""
        self.hints_here = True

    @property
    def folds_streams(self) -> bool:
        """True if the frames of a stream share one row."""
        return self._owner.settings.display.fold_streams

    @property
    def hides_bookkeeping(self) -> bool:
        """True if bookkeeping records of programs are hidden."""
        panes = self._shown.panes
        return self._owner.settings.display.hide_bookkeeping if panes is None else panes.rows.hides_bookkeeping

    def switch_bookkeeping(self) -> None:
        """Toggles bookkeeping rows in all windows, and saves the choice."""
        hidden = self.hides_bookkeeping
        if self._shown.panes is not None:
            self._shown.panes.shows_bookkeeping_here = False
        self._owner.settings.display.hide_bookkeeping = not hidden
        self._owner.save_settings()
        self._owner.apply_settings()

    @property
    def shows_hints(self) -> bool:
        """True if transient results have badges."""
        return self._owner.settings.display.show_context_hints if self.hints_here is None else self.hints_here

    @property
    def time_mode(self) -> str:
        """The time mode of the column Time: an id of `times.MODES`."""
        panes = self._shown.panes
        return self._owner.settings.table.time if panes is None else panes.messages.model.times.mode

    def _on_table_changed(self, table: Table) -> None:
        """Saves the columns for all windows."""
        self._owner.settings.table = table
        self._owner.save_settings()
        self._owner.apply_settings()

    def _on_spacing_chosen(self, spacing: Literal["time", "scale", "message"]) -> None:
        """Saves the spacing of plots for all documents."""
        self._owner.settings.axis_by = spacing
        self._owner.save_settings()
        self._owner.apply_settings()

    def _on_formatted_chosen(self, formatted: bool) -> None:
        """Saves the choice of formatted text for all documents."""
        self._owner.settings.display.formatted_text = formatted
        self._owner.save_settings()
        self._owner.apply_settings()

    def _on_sources_chosen(self, shown: bool) -> None:
        """Saves the choice of sources as a tree level for all documents."""
        self._owner.settings.display.sources_in_contexts = shown
        self._owner.save_settings()
        self._owner.apply_settings()

    def _on_grouping_chosen(self, grouping: Grouping) -> None:
        """Saves the grouping of findings for the next document."""
        self._owner.settings.findings_by = grouping.value
        self._owner.save_settings()
