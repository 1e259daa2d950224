"""What the settings say about display, as one window shows it: hints, the times and columns of the table, findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, QRect, QSize

from inspector.protocol.secrets.masking import mask_text

if TYPE_CHECKING:
    from inspector.settings import SavedQuery, Table
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.shown import Shown
    from inspector.ui.panels.findings.panel import FindingsPanel
    from inspector.ui.panels.findings.rows import Grouping
    from inspector.ui.panels.query.panel import QueryPanel
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.name_card import NameCard


class Display(QObject):
    """Shows the panes of one window as the settings say, and stores what is chosen in the panes themselves.

    Attributes:
        hints_here: whether this window shows context hints whatever the settings say; None goes by them.
    """

    def __init__(self, owner: SettingsOwner, shown: Shown, name_card: Callable[[], NameCard], parent: QObject) -> None:
        """Go by the settings.

        Args:
            owner: has the settings.
            shown: the panes, if there are any.
            name_card: asks for names.
            parent: owner.
        """
        super().__init__(parent)
        self._owner = owner
        self._shown = shown
        self._name_card = name_card
        self.hints_here: bool | None = None

    def attach(self, panes: Panes) -> None:
        """Store what is chosen in these panes."""
        panes.table_changed.connect(self._on_table_changed)
        panes.contexts.sources_action.triggered.connect(self._on_sources_chosen)
        panes.plot_choices.spacing_chosen.connect(self._on_spacing_chosen)
        panes.details.links.formatted_chosen.connect(self._on_formatted_chosen)
        panes.when_made("findings", self._attach_findings)
        panes.when_made("query", self._attach_query)

    def _attach_findings(self, findings: FindingsPanel) -> None:
        from inspector.ui.panels.findings.rows import Grouping

        findings.group_by(Grouping(self._owner.settings.findings_by))
        findings.grouping_chosen.connect(self._on_grouping_chosen)

    def _attach_query(self, panel: QueryPanel) -> None:
        panel.show_saved(self._owner.settings.queries, self._owner.settings.query_history)
        panel.asked.connect(lambda sql: self._remember_query(panel, sql))
        panel.saved_changed.connect(lambda saved: self._keep_queries(panel, saved))
        panel.name_requested.connect(lambda: self._ask_for_name(panel))

    def _remember_query(self, panel: QueryPanel, sql: str) -> None:
        """What was asked is remembered, but for what holds a secret."""
        settings = self._owner.settings
        if mask_text(sql) == sql and settings.remember_query(sql):
            panel.show_saved(settings.queries, settings.query_history)
            self._owner.save_settings()

    def _keep_queries(self, panel: QueryPanel, saved: list[SavedQuery]) -> None:
        settings = self._owner.settings
        settings.queries = [one for one in saved if mask_text(one.sql) == one.sql]
        panel.show_saved(settings.queries, settings.query_history)
        self._owner.save_settings()

    def _ask_for_name(self, panel: QueryPanel) -> None:
        sql = panel.editor.text().strip()
        if not sql:
            return
        card = self._name_card()
        corner = panel.mapTo(panel.window(), panel.rect().topRight())  # it floats over the window the panel is in
        card.ask("Name of the query", sql, "", QRect(corner, QSize(1, 1)), panel.save)

    def apply(self, panes: Panes) -> None:
        """Take over what the settings say."""
        panes.apply_settings(self._owner.settings, hints=self.shows_hints)

    def show_hints_here(self) -> None:
        """Show context hints in this window from now on, whatever the settings say."""
        self.hints_here = True

    @property
    def folds_streams(self) -> bool:
        """Whether the frames of a stream have one row."""
        return self._owner.settings.display.fold_streams

    @property
    def hides_bookkeeping(self) -> bool:
        """Whether records that programs write for themselves have no rows."""
        panes = self._shown.panes
        return self._owner.settings.display.hide_bookkeeping if panes is None else panes.rows.hides_bookkeeping

    def switch_bookkeeping(self) -> None:
        """Show bookkeeping rows where they are hidden, else hide them; in all windows and from now on."""
        hidden = self.hides_bookkeeping
        if self._shown.panes is not None:
            self._shown.panes.shows_bookkeeping_here = False
        self._owner.settings.display.hide_bookkeeping = not hidden
        self._owner.save_settings()
        self._owner.apply_settings()

    @property
    def shows_hints(self) -> bool:
        """Whether transient results have their badges."""
        return self._owner.settings.display.show_context_hints if self.hints_here is None else self.hints_here

    @property
    def time_mode(self) -> str:
        """What the column Time says: an id of `times.MODES`."""
        panes = self._shown.panes
        return self._owner.settings.table.time if panes is None else panes.messages.model.times.mode

    def _on_table_changed(self, table: Table) -> None:
        """Columns are everybody's, and are remembered."""
        self._owner.settings.table = table
        self._owner.save_settings()
        self._owner.apply_settings()

    def _on_spacing_chosen(self, spacing: Literal["time", "scale", "message"]) -> None:
        """Plots of all documents space messages alike."""
        self._owner.settings.axis_by = spacing
        self._owner.save_settings()
        self._owner.apply_settings()

    def _on_formatted_chosen(self, formatted: bool) -> None:
        """Texts of all documents are shown alike."""
        self._owner.settings.display.formatted_text = formatted
        self._owner.save_settings()
        self._owner.apply_settings()

    def _on_sources_chosen(self, shown: bool) -> None:
        """Trees of all documents have sources as a level, or none has."""
        self._owner.settings.display.sources_in_contexts = shown
        self._owner.save_settings()
        self._owner.apply_settings()

    def _on_grouping_chosen(self, grouping: Grouping) -> None:
        """The next document's findings are grouped alike."""
        self._owner.settings.findings_by = grouping.value
        self._owner.save_settings()
