"""What a sub-session sees: tokens by layer against a budget, policy, rules, and the order it is sent in (look.md 8).

It reads the session document directly and counts nothing itself; texts are counted by a process of its own, so that
figures fill in. Parents are looked at once and only again when they have changed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.msp.merged import Entry, MergedContext, MergedContexts, Rules
from inspector.msp.objects import Message, Subsession
from inspector.settings import Settings
from inspector.tokens.counter import TOKENIZER
from inspector.ui.panels.list_head import HintLabel
from inspector.ui.panels.subsessions.budget_line import BudgetLine
from inspector.ui.panels.subsessions.layer_words import layer_words, notes_of, order_words, share_words
from inspector.ui.panels.subsessions.layers import LayerBar, LayerFigures, LayerRow
from inspector.ui.panels.subsessions.merged_dialog import MergedDialog
from inspector.ui.panels.subsessions.notes_box import NotesBox
from inspector.ui.panels.subsessions.order import MOST, OrderLine, OrderList
from inspector.ui.panels.subsessions.policy_box import PolicyBox
from inspector.ui.panels.subsessions.rules_box import RulesBox
from inspector.ui.panels.subsessions.token_counts import TokenCounts
from inspector.ui.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import HairLine, TextLabel

if TYPE_CHECKING:
    from inspector.msp.document import Edit, SessionDocument

TITLE = "What the sub-session sees"
NOTHING = "Select a sub-session to see what it takes along from the chat."
NOT_COUNTED = "Tokens are not counted: the settings say so, under Display."
SLICE_S = 0.008
"""So long a chat that was not looked at yet is looked at in one go."""
_LAYERS = 4
_LEAST_WIDTH = 186


class Indicator(QWidget):
    """What a sub-session would send.

    Signals:
        policy_change_requested(dict): changes for `SessionDocument.set_policy`.
        rules_changed(): the settings it was given hold other rules or another budget; they are to be saved.
        message_requested(object): go to this `Message`; its `owner` says whether it is the sub-session's or a parent's.
        inherited_changed(int, int): tokens taken along from the chat, and in how many layers.

    Attributes:
        counts: who counts tokens; the list of sub-sessions may share it.
        merged: what is shown; None for nothing.
    """

    policy_change_requested = Signal(dict)
    rules_changed = Signal()
    message_requested = Signal(object)
    inherited_changed = Signal(int, int)

    def __init__(
        self, document: SessionDocument, theme: ThemeController, settings: Settings, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._document, self._themes, self._settings = document, theme, settings
        self._key: str | None = None
        self._contexts: MergedContexts | None = None
        self._stale = False
        self._revision = document.revision
        self.merged: MergedContext | None = None
        self.counts = TokenCounts(self)
        self.counts.set_wanted(settings.display.count_tokens)
        self.setObjectName("subsessionIndicator")
        self.setAccessibleName(TITLE)
        self.setProperty("variant", "base")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._build()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._work_out_if_stale)
        self.counts.came.connect(self._on_counted)
        document.observers.append(self)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.show_subsession(None)

    # Building

    def _build(self) -> None:
        self._body = QWidget()
        self._body.setObjectName("subsessionIndicatorBody")
        self._body.setProperty("variant", "base")
        self._column = QVBoxLayout(self._body)
        self._column.addLayout(self._build_head())
        self._empty = TextLabel(NOTHING, variant="secondary", name="subsessionIndicatorEmpty", wrap=True, parent=self)
        self._column.addWidget(self._empty)
        self._shown = QWidget(self._body)
        self._shown.setObjectName("subsessionIndicatorShown")
        self._build_figures(QVBoxLayout(self._shown))
        self._column.addWidget(self._shown)
        self._column.addStretch(1)
        self._area = QScrollArea(self)
        self._area.setObjectName("subsessionIndicatorArea")
        self._area.setAccessibleName(TITLE)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setWidget(self._body)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._area)

    def _build_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        title = TextLabel(TITLE, variant="strong", name="subsessionIndicatorTitle", parent=self)
        title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row.addWidget(title, 1)
        self.read_button = IconButton(
            self._themes, "silent", "Read what would be sent", name="subsessionRead", variant="small", parent=self
        )
        self.read_button.clicked.connect(self.read)
        row.addWidget(self.read_button)
        return row

    def _build_figures(self, column: QVBoxLayout) -> None:
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.total = TextLabel("", variant="display", name="subsessionTotal", parent=self._shown)
        self.estimate = HintLabel(self._themes, name="subsessionEstimate", parent=self._shown)
        row.addWidget(self.total)
        row.addWidget(self.estimate)
        row.addStretch(1)
        column.addLayout(row)
        self.bar = LayerBar(self._themes, self._shown)
        column.addSpacing(4)
        column.addWidget(self.bar)
        column.addSpacing(8)
        self.budget = BudgetLine(self._themes, self._shown)
        self.budget.changed.connect(self._on_budget_changed)
        column.addWidget(self.budget)
        column.addSpacing(6)
        self.layers = [LayerRow(self._themes, place, self._shown) for place in range(_LAYERS)]
        for place, layer in enumerate(self.layers):
            if place == _LAYERS - 1:
                column.addWidget(HairLine("subsessionOwnLine", self._shown))
            column.addWidget(layer)
        self.notes = NotesBox(self._themes, self._shown)
        self.notes.rule_switched.connect(self._switch_rule)
        column.addWidget(self.notes)
        self.policy = PolicyBox(self._themes, self._shown)
        self.policy.changed.connect(self.policy_change_requested)
        self.order = OrderList(self._themes, self._shown)
        self.order.entry_clicked.connect(self._on_entry_clicked)
        self.order.reading_asked.connect(self.read)
        self.rules = RulesBox(self._themes, self._shown)
        self.rules.changed.connect(self._on_rules_changed)
        for name, part in (("Order", self.order), ("Policy", self.policy), ("Rules", self.rules)):
            column.addSpacing(8)
            column.addWidget(HairLine(f"subsession{name}Line", self._shown))
            column.addSpacing(2)
            column.addWidget(part)

    # What others say

    @override
    def show(self, *key: str | None) -> None:
        """Show what a sub-session sees; None for nothing. Without a key the widget is shown, as any is."""
        if key:
            self.show_subsession(key[0])
        else:
            super().show()

    def show_subsession(self, key: str | None) -> None:
        """Show what a sub-session sees; None for nothing."""
        if key != self._key:
            self.order.fold()
            self._area.verticalScrollBar().setValue(0)
        self._key = key
        self._stale = True
        self._work_out()

    def refresh(self) -> None:
        """Say what holds now, at once; what was edited is known already."""
        if self._document.revision != self._revision:
            self._contexts = None
            self._stale = True
        if self._stale and self.isVisible():
            self._work_out()

    def session_edited(self, edit: Edit) -> None:
        """The document was edited; it goes after its messages itself, so that only what they make is worked out."""
        self._revision = self._document.revision
        if edit.kind == "restructure":
            self._contexts = None
        self._work_out_soon()

    def apply_settings(self, settings: Settings | None = None) -> None:
        """The settings hold other rules, another budget, or count no more; they may be others altogether."""
        self._settings = settings or self._settings
        self.counts.set_wanted(self._settings.display.count_tokens)
        self._contexts = None
        self._work_out_soon()

    def stop(self) -> None:
        """The document is about to be closed."""
        self._soon.stop()
        self.counts.stop()
        if self in self._document.observers:
            self._document.observers.remove(self)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._work_out_if_stale()

    def _on_counted(self) -> None:
        self._contexts = None
        self._work_out_soon()

    def _work_out_soon(self) -> None:
        self._stale = True
        if self.isVisible():
            self._soon.start()

    # Showing

    def _work_out_if_stale(self, *, whole: bool = False) -> None:
        if self._stale:
            self._work_out(whole=whole)

    def _work_out(self, *, whole: bool = False) -> None:
        """Show what holds now; a long chat is looked at in slices first, unless the whole is wanted at once."""
        self._stale = False
        sub = self._document.subsession(self._key) if self._key is not None else None
        self._empty.setVisible(sub is None)
        self._shown.setVisible(sub is not None)
        self.read_button.setEnabled(sub is not None)
        if sub is None:
            self.merged = None
            self.inherited_changed.emit(0, 0)
            return
        if self._contexts is None:
            rules = Rules.of(self._settings.merged.model_dump())
            self._contexts = MergedContexts(rules, self.counts.or_nothing, self._document.known)
        if not whole and not self._contexts.ready(sub, time.perf_counter() + SLICE_S):
            self._stale = True
            self._soon.start()
            return
        self.merged = self._contexts.of(sub)
        self._show(sub, self.merged)

    def _show(self, sub: Subsession, merged: MergedContext) -> None:
        total = merged.tokens
        self.total.setText(f"{total:,}")
        self.estimate.say(self._estimate_words(merged))
        self.total.setAccessibleName(f"{total:,} {self.estimate.text}")
        budget = self._settings.subsession_budget
        self.bar.show_tokens(tuple(layer.tokens for layer in merged.layers), budget)
        self.budget.show_budget(total, budget)
        for place, (row, layer) in enumerate(zip(self.layers, merged.layers, strict=True)):
            share, words = share_words(layer.tokens, total), layer_words(merged, layer)
            row.show_figures(
                LayerFigures(place + 1, layer.title, layer.tokens, share, words, layer.why, layer.included)
            )
        self.notes.show_notes(notes_of(merged, merged.main_only))
        self.policy.show_policy(sub.policy, self._settings.merged.missing_recent, changeable=sub.is_open)
        self.order.show_lines(self._order_lines(merged), len(merged.entries))
        self.rules.show_rules(self._settings.merged)
        inherited = [layer for layer in merged.layers[:-1] if layer.entries]
        self.inherited_changed.emit(merged.inherited_tokens, len(inherited))

    def _estimate_words(self, merged: MergedContext) -> str:
        if self.counts.trouble:
            return self.counts.trouble
        if not self.counts.wanted:
            return NOT_COUNTED
        counting = ", still counting" if self.counts.counting else ""
        return f"tokens, estimate ({merged.tokenizer}){counting}"

    def _order_lines(self, merged: MergedContext) -> list[OrderLine]:
        lines: list[OrderLine] = []
        for number, layer in enumerate(merged.layers, 1):
            for entry in layer.entries[: MOST - len(lines)]:
                tip = f"{entry.reason}\n{entry.tokens:,} tokens, estimate ({TOKENIZER})"
                lines.append(OrderLine(number, order_words(entry, merged.rules), tip))
        return lines

    # What the user does

    def read(self, entry: Entry | None = None) -> MergedDialog | None:
        """Open what would be sent, to be read, copied and exported; at an entry, where one is given."""
        self._work_out_if_stale(whole=True)
        if self.merged is None:
            return None
        kept = [file.path for file in self._document.files]
        counted = self.counts.wanted and not self.counts.counting and not self.counts.trouble
        dialog = MergedDialog(self._themes, self.merged, self.window(), kept=kept, counted=counted)
        dialog.message_requested.connect(self.message_requested)
        dialog.open()
        if isinstance(entry, Entry):
            dialog.select(entry)
        return dialog

    def _on_entry_clicked(self, place: int) -> None:
        if self.merged is None or place >= len(self.merged.entries):
            return
        entry = self.merged.entries[place]
        if isinstance(entry.source, Message):
            self.message_requested.emit(entry.source)
        else:  # it stands in no chat
            self.read(entry)

    def _on_budget_changed(self, budget: int) -> None:
        self._settings.subsession_budget = budget
        self._work_out()
        self.rules_changed.emit()

    def _switch_rule(self, rule: str) -> None:
        setattr(self._settings.merged, rule, not getattr(self._settings.merged, rule))
        self._on_rules_changed()

    def _on_rules_changed(self) -> None:
        self._contexts = None
        self._work_out()
        self.rules_changed.emit()

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        side = metrics.pane_padding
        self._column.setContentsMargins(side, round(8 * self._themes.theme.zoom), side, side)
        self._column.setSpacing(metrics.unit)
        self._body.setMinimumWidth(round(_LEAST_WIDTH * self._themes.theme.zoom))
