"""Settings page of sub-sessions: token budget and rules of the merged context."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QWidget
from typing_extensions import override

from inspector.settings import Settings
from inspector.settings.model import MergedRules
from inspector.tokens.counter import TOKENIZER
from inspector.ui.dialogs.settings_dialog import SettingsPage
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.rules_form import BudgetField, RulesForm
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.labels import HairLine, TextLabel

HELP = (
    "The context policy of a sub-session selects inherited messages. Where the protocol leaves a choice, these rules "
    "apply."
)
BUDGET_HELP = f"Tokens, estimated with {TOKENIZER}. The indicator warns at 75 %."


class SubsessionsPage(SettingsPage):
    """Edits budget and rules in the given settings, in place."""

    def __init__(self, theme_controller: ThemeController, settings: Settings, parent: QWidget | None = None) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            settings: edited in place.
            parent: owner.
        """
        super().__init__(settings, parent, name="settingsSubsessions", title="Sub-sessions")
        self._themes = theme_controller
        self._showing = False
        self._budget = BudgetField("settingsBudget", self)
        self._budget.valueChanged.connect(self._on_budget_changed)
        row = QWidget(self)
        beside = QHBoxLayout(row)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.addWidget(self._budget)
        beside.addStretch(1)
        form = Form(theme_controller, self)
        field = FieldColumn(row, name="settingsBudgetHelp", help_text=BUDGET_HELP, parent=self)
        form.add_field("Budget", field, self._budget)
        self._rules = RulesForm(theme_controller, "settingsRule", self)
        self._rules.changed.connect(self.changed)
        self._column.setSpacing(10)
        self._column.addWidget(
            TextLabel(HELP, variant="secondary", name="settingsSubsessionsHelp", wrap=True, parent=self)
        )
        self._column.addLayout(form)
        self._column.addWidget(HairLine("settingsSubsessionsLine", self))
        self._column.addWidget(self._scrolled(), 1)
        self.setFocusProxy(self._budget)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.show_values()

    def _scrolled(self) -> QScrollArea:
        area = QScrollArea(self)
        area.setObjectName("settingsRulesArea")
        area.setAccessibleName("Rules")
        area.setProperty("variant", "chrome")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._rules.setProperty("variant", "chrome")
        # Without this attribute a plain QWidget ignores the background of the style sheet.
        self._rules.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        area.setWidget(self._rules)
        return area

    def show_values(self) -> None:
        """Shows the settings without emitting `changed`."""
        self._showing = True
        self._budget.setValue(self._settings.subsession_budget)
        self._showing = False
        self._rules.show_rules(self._settings.merged)

    @override
    def restore(self) -> None:
        self._settings.subsession_budget = Settings.model_fields["subsession_budget"].default
        self._settings.merged = MergedRules()
        self.show_values()

    def _on_budget_changed(self, budget: int) -> None:
        if not self._showing:
            self._settings.subsession_budget = budget
            self.changed.emit()

    def _on_theme_changed(self) -> None:
        self._budget.setFixedWidth(round(120 * self._themes.theme.zoom))
