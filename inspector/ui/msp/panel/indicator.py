"""Indicator of a merged context: layers against the budget, notes, order sent, policy and rules."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QCursor, QShowEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.msp.merged import Entry, MergedContext, MergedContexts, Rules
from inspector.msp.objects import Message
from inspector.msp.references import references_of
from inspector.present.wire_text import safe_line
from inspector.settings import Settings
from inspector.tokens.counter import TOKENIZER
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.layers import (
    BudgetLine,
    LayerBar,
    LayerFigures,
    LayerRow,
    NotesBox,
    layer_words,
    notes_of,
    order_words,
    share_words,
)
from inspector.ui.msp.panel.merged_dialog import MergedDialog
from inspector.ui.msp.panel.order import MOST, OrderLine, OrderList
from inspector.ui.msp.panel.rules_form import PolicyBox, RulesBox
from inspector.ui.msp.panel.token_counts import TokenCounts
from inspector.ui.panels.list_head import HintLabel
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import HairLine, TextLabel

if TYPE_CHECKING:
    from inspector.msp.document import Edit, SessionDocument
    from inspector.msp.merged import MergedContext
    from inspector.settings import Settings


class StillArea(QScrollArea):
    """A vertical scroll area that keeps its content in place during changes."""

    def __init__(self, name: str, title: str, body: QWidget, parent: QWidget) -> None:
        """Creates the area.

        Args:
            name: object name.
            title: accessible name.
            body: its content.
            parent: owner.
        """
        super().__init__(parent)
        self._body = body
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(body)

    @contextmanager
    def keeping_place(self) -> Generator[None]:
        """Surrounds a change of the content: the widget at the pointer, else with the focus, keeps its position."""
        part = self._anchor_widget() if self.isVisible() else None
        before = self._top(part)
        yield
        if part is not None and part.isVisible():
            self._lay_out()
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self._top(part) - before)

    def _lay_out(self) -> None:
        """Activates layouts at once from the inside out. Qt would paint between two rounds of layout."""
        for part in (*reversed(self._body.findChildren(QWidget)), self._body):
            layout = part.layout()
            if layout is not None:
                layout.activate()
        # Sent here, since Qt only posts this event, on which a scroll area resizes its content.
        QCoreApplication.sendEvent(self, QEvent(QEvent.Type.LayoutRequest))

    def _anchor_widget(self) -> QWidget | None:
        body = self._body
        pointed = body.childAt(body.mapFromGlobal(QCursor.pos())) if self.viewport().underMouse() else None
        # Only a leaf: a container may grow above the pointer.
        if pointed is not None and pointed.layout() is None:
            return pointed
        focus = QApplication.focusWidget()
        return focus if focus is not None and body.isAncestorOf(focus) else None

    def _top(self, part: QWidget | None) -> int:
        return 0 if part is None else part.mapTo(self, QPoint()).y()


_LAYERS = 4
_MAX_NAMED = 10


class IndicatorPage(QWidget):
    """Shows a merged context; its parts emit the signals.

    Attributes:
        uncounted, total, estimate, bar, budget, layers, notes, order, policy, rules: its parts.
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
        self.order = OrderList(themes, self)  # created in visual order, because Tab follows it
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

    def show_merged(
        self, merged: MergedContext, settings: Settings, estimate: str, *, uncounted: str = "", counting: bool = False
    ) -> None:
        """Shows a merged context without emitting signals.

        Args:
            merged: the merged context.
            settings: contain budget and rules.
            estimate: text after the total.
            uncounted: reason for missing token counts, or "".
            counting: True while counting; zeros are then shown as "…".
        """
        sub, total, budget = merged.subsession, merged.tokens, settings.subsession_budget
        self.uncounted.setText(uncounted)
        self.uncounted.setVisible(bool(uncounted))
        for figure in (self.total, self.estimate, self.bar, self.budget):
            figure.setVisible(not uncounted)
        self.total.setText(f"{total:,}" if total or not counting else "…")
        self.total.setAccessibleName(f"{total:,} {estimate}")
        self.estimate.set_text(estimate)
        self.bar.show_tokens(tuple(layer.tokens for layer in merged.layers), budget)
        self.budget.show_budget(total, budget)
        for place, (row, layer) in enumerate(zip(self.layers, merged.layers, strict=True)):
            share, words = share_words(layer.tokens, total), layer_words(merged, layer)
            row.show_figures(
                LayerFigures(
                    place + 1,
                    layer.title,
                    None if uncounted or (counting and not layer.tokens) else layer.tokens,
                    "" if uncounted else share,
                    words,
                    layer.why,
                    layer.included,
                )
            )
        self.notes.show_notes(notes_of(merged, merged.main_only))
        self.order.show_lines(_order_lines(merged, counted=not uncounted), len(merged.entries))
        summaries = ", ".join(safe_line(one.label, 40) for one in references_of(sub)[:_MAX_NAMED])
        self.policy.show_policy(
            sub.policy, settings.merged.missing_recent, is_open=sub.is_open, summaries=safe_line(summaries, 200)
        )
        self.rules.show_rules(settings.merged)


def _order_lines(merged: MergedContext, *, counted: bool) -> list[OrderLine]:
    lines: list[OrderLine] = []
    for number, layer in enumerate(merged.layers, 1):
        for entry in layer.entries[: MOST - len(lines)]:
            cost = f"\n{entry.tokens:,} tokens, estimate ({TOKENIZER})" if counted else ""
            lines.append(OrderLine(number, order_words(entry, merged.rules), f"{entry.reason}{cost}"))
    return lines


TITLE = "Merged context"
NOTHING = "Select a sub-session to see its merged context."
_REST = 4
"""Pause between updates during counting, as a multiple of the duration of one."""
_MIN_WIDTH = 186


class Indicator(QWidget):
    """The merged context of a sub-session.

    Signals:
        policy_change_requested(dict): changes for `SessionDocument.set_policy`.
        sub_context_requested, snapshots_requested: edit them in the session.
        summaries_requested(QWidget): choose summaries to refer to, below this widget.
        rules_changed(): rules or budget changed in the settings; save them.
        message_requested(object): go to this `Message`; its `owner` is the sub-session or a parent.
        inherited_changed(int, int): number of inherited tokens and of layers they are in.

    Attributes:
        page: shows it.
        counts: counts tokens; can be shared with the list.
        merged: the displayed merged context, or None.
    """

    policy_change_requested = Signal(dict)
    sub_context_requested = Signal()
    snapshots_requested = Signal()
    summaries_requested = Signal(object)
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
        self._looking = False  # messages are being read in slices
        self._last_s = 0.0
        self._revision = document.revision
        self.merged: MergedContext | None = None
        self.counts = TokenCounts(self)
        self.counts.set_wanted(settings.display.count_tokens)
        self.setObjectName("subsessionIndicator")
        self.setAccessibleName(TITLE)
        self.setProperty("variant", "base")
        # Without this attribute a plain QWidget ignores the background of the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._build()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._update_if_stale)
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
        self.page = self._build_page()
        self._column.addWidget(self.page)
        self._column.addStretch(1)
        self._area = StillArea("subsessionIndicatorArea", TITLE, self._body, self)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._area)

    def _build_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        title = TextLabel(TITLE, variant="strong", name="subsessionIndicatorTitle", wrap=True, parent=self)
        row.addWidget(title, 1)
        self.read_button = IconButton(
            self._themes, "silent", "Show all entries", name="subsessionRead", variant="small", parent=self
        )
        self.read_button.clicked.connect(self.read)
        row.addWidget(self.read_button)
        return row

    def _build_page(self) -> IndicatorPage:
        page = IndicatorPage(self._themes, self._body)
        page.budget.changed.connect(self._on_budget_changed)
        page.notes.rule_switched.connect(self._switch_rule)
        page.order.entry_clicked.connect(self._on_entry_clicked)
        page.order.reading_asked.connect(self.read)
        page.policy.changed.connect(self.policy_change_requested)
        page.policy.sub_context_requested.connect(self.sub_context_requested)
        page.policy.snapshots_requested.connect(self.snapshots_requested)
        page.policy.summaries_requested.connect(self.summaries_requested)
        page.rules.changed.connect(self._on_rules_changed)
        return page

    # Calls of others

    def show_subsession(self, key: str | None) -> None:
        """Displays the merged context of a sub-session; None clears it."""
        if key != self._key:
            self.page.order.fold()
            self._area.verticalScrollBar().setValue(0)
        self._key = key
        self._stale = True
        self._work_out()

    def refresh(self) -> None:
        """Updates at once. Edits it was notified of are included already."""
        if self._document.revision != self._revision:
            self._contexts = None
            self._stale = True
        if self._stale and self.isVisible():
            self._work_out()

    def session_edited(self, edit: Edit) -> None:
        """Updates after an edit. Only a change of structure or session discards the cached contexts."""
        # `refresh` skips edits that were reported here.
        self._revision = self._document.revision
        if edit.kind in ("restructure", "session"):
            self._contexts = None
        self._schedule_update()

    def apply_settings(self, settings: Settings | None = None) -> None:
        """Applies other rules, another budget or a change of token counting; also other settings altogether."""
        self._settings = settings or self._settings
        self.counts.set_wanted(self._settings.display.count_tokens)
        self._contexts = None
        self._schedule_update()

    def set_read_only(self, reason: str) -> None:
        """Shows the reason for read-only sessions, or ""."""
        self.page.policy.set_read_only(reason)

    def stop(self) -> None:
        """Detaches before the document is closed."""
        self._soon.stop()
        self.counts.stop()
        if self in self._document.observers:
            self._document.observers.remove(self)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._update_if_stale()

    def _on_counted(self) -> None:
        if self._contexts is not None:
            self._contexts.recount()
        self._stale = True
        if self.isVisible() and not self._soon.isActive():
            self._soon.start(round(1000 * _REST * self._last_s))

    def _schedule_update(self) -> None:
        self._stale = True
        if self.isVisible():
            self._soon.start(0)

    # Display

    def _update_if_stale(self, *, whole: bool = False) -> None:
        if self._stale:
            self._work_out(whole=whole)

    def _work_out(self, *, whole: bool = False) -> None:
        """Updates the display. Reads a long chat in slices first, unless `whole`."""
        self._stale = False
        sub = self._document.subsession(self._key) if self._key is not None else None
        self._empty.setVisible(sub is None)
        self.page.setVisible(sub is not None)
        self.read_button.setEnabled(sub is not None)
        if sub is None:
            self.merged = None
            self.inherited_changed.emit(0, 0)
            return
        if self._contexts is None:
            rules = Rules.from_settings(self._settings.merged.model_dump())
            self._contexts = MergedContexts(rules, self.counts.or_nothing, self._document.known)
        if not whole:
            ready = self._contexts.prepare(sub, time.perf_counter() + budgets.current.slice_s)
            if not ready or self._looking:  # the merge runs in a turn of its own
                self._looking, self._stale = not ready, True
                self._soon.start(0)
                return
        self._looking = False
        began = time.perf_counter()
        before, self.merged = self.merged, self._contexts.compute(sub)
        self._last_s = time.perf_counter() - began
        # Another sub-session starts at the top instead.
        same = before is not None and before.subsession.key == sub.key
        with self._area.keeping_place() if same else nullcontext():
            self.page.show_merged(
                self.merged, self._settings, self._estimate_words(self.merged), uncounted=self.counts.reason,
                counting=self.counts.counting,
            )  # fmt: skip
        inherited = [layer for layer in self.merged.layers[:-1] if layer.entries]
        self.inherited_changed.emit(self.merged.inherited_tokens, len(inherited))

    def _estimate_words(self, merged: MergedContext) -> str:
        counting = ", still counting" if self.counts.counting else ""
        return f"tokens, estimate ({merged.tokenizer}){counting}"

    # User input

    def read(self, entry: Entry | None = None) -> MergedDialog | None:
        """Opens the dialog with the whole merged context, at an entry if given."""
        self._update_if_stale(whole=True)
        if self.merged is None:
            return None
        spared = [file.path for file in self._document.files]
        counted = not self.counts.counting and not self.counts.reason
        dialog = MergedDialog(self._themes, self.merged, self.window(), spared=spared, counted=counted)
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
        else:  # the entry is in no chat
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
        self._body.setMinimumWidth(round(_MIN_WIDTH * self._themes.theme.zoom))
