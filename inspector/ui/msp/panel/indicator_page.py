"""The page of the indicator: total, bar, budget, four layers, notes, order sent, policy and rules, below each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from inspector.tokens.counter import TOKENIZER
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.budget_line import BudgetLine
from inspector.ui.msp.panel.layer_words import layer_words, notes_of, order_words, share_words
from inspector.ui.msp.panel.layers import LayerBar, LayerFigures, LayerRow
from inspector.ui.msp.panel.notes_box import NotesBox
from inspector.ui.msp.panel.order import MOST, OrderLine, OrderList
from inspector.ui.msp.panel.policy_box import PolicyBox
from inspector.ui.msp.panel.rules_box import RulesBox
from inspector.ui.panels.list_head import HintLabel
from inspector.ui.widgets.labels import HairLine, TextLabel

if TYPE_CHECKING:
    from inspector.msp.merged import MergedContext
    from inspector.settings import Settings

_LAYERS = 4


class IndicatorPage(QWidget):
    """Shows a merged context; what is pressed is said by its parts.

    Attributes:
        uncounted, total, estimate, bar, budget, layers, notes, order, policy, rules: what it is made of.
    """

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("subsessionIndicatorShown")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._build_figures(column)
        self.notes = NotesBox(themes, self)
        column.addWidget(self.notes)
        self.order = OrderList(themes, self)  # made as they stand: the Tab key goes by that
        self.policy = PolicyBox(themes, self)
        self.rules = RulesBox(themes, self)
        for name, part in (("Order", self.order), ("Policy", self.policy), ("Rules", self.rules)):
            column.addSpacing(8)
            column.addWidget(HairLine(f"subsession{name}Line", self))
            column.addSpacing(2)
            column.addWidget(part)

    def _build_figures(self, column: QVBoxLayout) -> None:
        self.uncounted = TextLabel("", variant="secondary", name="subsessionUncounted", wrap=True, parent=self)
        column.addWidget(self.uncounted)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.total = TextLabel("", variant="display", name="subsessionTotal", parent=self)
        self.estimate = HintLabel(self._themes, name="subsessionEstimate", parent=self)
        row.addWidget(self.total)
        row.addWidget(self.estimate)
        row.addStretch(1)
        column.addLayout(row)
        self.bar = LayerBar(self._themes, self)
        column.addSpacing(4)
        column.addWidget(self.bar)
        column.addSpacing(8)
        self.budget = BudgetLine(self._themes, self)
        column.addWidget(self.budget)
        column.addSpacing(6)
        self.layers = [LayerRow(self._themes, place, self) for place in range(_LAYERS)]
        for layer in self.layers[:-1]:
            column.addWidget(layer)
        column.addWidget(HairLine("subsessionOwnLine", self))
        column.addWidget(self.layers[-1])

    def show_merged(self, merged: MergedContext, settings: Settings, estimate: str, *, uncounted: str = "") -> None:
        """Show what a sub-session sees; says nothing.

        Args:
            merged: what it would send.
            settings: hold budget and rules.
            estimate: what is said of the total.
            uncounted: why there are no figures; "" where there are.
        """
        sub, total, budget = merged.subsession, merged.tokens, settings.subsession_budget
        self.uncounted.setText(uncounted)
        self.uncounted.setVisible(bool(uncounted))
        for figure in (self.total, self.estimate, self.bar, self.budget):
            figure.setVisible(not uncounted)
        self.total.setText(f"{total:,}")
        self.total.setAccessibleName(f"{total:,} {estimate}")
        self.estimate.say(estimate)
        self.bar.show_tokens(tuple(layer.tokens for layer in merged.layers), budget)
        self.budget.show_budget(total, budget)
        for place, (row, layer) in enumerate(zip(self.layers, merged.layers, strict=True)):
            share, words = share_words(layer.tokens, total), layer_words(merged, layer)
            row.show_figures(
                LayerFigures(
                    place + 1,
                    layer.title,
                    None if uncounted else layer.tokens,
                    "" if uncounted else share,
                    words,
                    layer.why,
                    layer.included,
                )
            )
        self.notes.show_notes(notes_of(merged, merged.main_only))
        self.order.show_lines(_order_lines(merged, counted=not uncounted), len(merged.entries))
        self.policy.show_policy(sub.policy, settings.merged.missing_recent, is_open=sub.is_open)
        self.rules.show_rules(settings.merged)


def _order_lines(merged: MergedContext, *, counted: bool) -> list[OrderLine]:
    lines: list[OrderLine] = []
    for number, layer in enumerate(merged.layers, 1):
        for entry in layer.entries[: MOST - len(lines)]:
            cost = f"\n{entry.tokens:,} tokens, estimate ({TOKENIZER})" if counted else ""
            lines.append(OrderLine(number, order_words(entry, merged.rules), f"{entry.reason}{cost}"))
    return lines
