"""Indicator of a merged context: layers against the budget, notes, order sent, policy and rules."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, nullcontext

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from inspector.engine.request import RequestError
from inspector.engine.requests.msp_contexts import MergeContext, MergedFigures, Rules, WantedContext
from inspector.settings import Settings
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.layers import (
    BudgetLine,
    LayerBar,
    LayerFigures,
    LayerRow,
    NotesBox,
)
from inspector.ui.msp.panel.merged_dialog import MergedDialog
from inspector.ui.msp.panel.order import OrderLine, OrderList
from inspector.ui.msp.panel.rules_form import PolicyBox, RulesBox
from inspector.ui.msp.panel.sessions_client import SessionsClient
from inspector.ui.msp.panel.token_counts import TokenCounts
from inspector.ui.panels.list_head import HintLabel
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import HairLine, TextLabel
from inspector.ui.widgets.latest_answer import LatestAnswer


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
        self, merged: MergedFigures, settings: Settings, estimate: str, *, uncounted: str = "", counting: bool = False
    ) -> None:
        """Shows a merged context without emitting signals.

        Args:
            merged: the merged context.
            settings: contain budget and rules.
            estimate: text after the total.
            uncounted: reason for missing token counts, or "".
            counting: True while counting; zeros are then shown as "…".
        """
        total, budget = merged.tokens, settings.subsession_budget
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
            row.show_figures(
                LayerFigures(
                    place + 1,
                    layer.title,
                    None if uncounted or (counting and not layer.tokens) else layer.tokens,
                    "" if uncounted else layer.share,
                    layer.words,
                    layer.why,
                    layer.included,
                )
            )
        self.notes.show_notes(merged.notes)
        self.order.show_lines(_order_lines(merged, counted=not uncounted), merged.entries)
        self.policy.show_policy(
            merged.policy, settings.merged.missing_recent, is_open=merged.is_open, summaries=merged.summaries
        )
        self.rules.show_rules(settings.merged)


def _order_lines(merged: MergedFigures, *, counted: bool) -> list[OrderLine]:
    lines: list[OrderLine] = []
    for entry in merged.order:
        cost = f"\n{entry.tokens:,} tokens, estimate ({merged.tokenizer})" if counted else ""
        lines.append(OrderLine(entry.layer, entry.text, f"{entry.reason}{cost}"))
    return lines


TITLE = "Merged context"
NOTHING = "Select a sub-session to see its merged context."
_REST = 4
"""Pause between updates, as a multiple of the duration of one."""
_MIN_WIDTH = 186


class Indicator(QWidget):
    """The merged context of a sub-session.

    Signals:
        policy_change_requested(dict): changed members of the policy.
        sub_context_requested, snapshots_requested: edit them in the session.
        summaries_requested(QWidget): choose summaries to refer to, below this widget.
        rules_changed(): rules or budget changed in the settings; save them.
        message_requested(object): go to this `MessageRef`; its `owner` is the sub-session or a parent.

    Attributes:
        page: shows it.
        counts: state of the counting of tokens, shared with the list.
        merged: the displayed figures, or None.
    """

    policy_change_requested = Signal(dict)
    sub_context_requested = Signal()
    snapshots_requested = Signal()
    summaries_requested = Signal(object)
    rules_changed = Signal()
    message_requested = Signal(object)

    def __init__(
        self, client: SessionsClient, theme: ThemeController, settings: Settings, counts: TokenCounts,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Creates the indicator.

        Args:
            client: asks the engine.
            theme: gives the look.
            settings: contain rules and budget; edited in place.
            counts: state of the counting of tokens, shared with the list.
            parent: owner.
        """
        super().__init__(parent)
        self._client, self._themes, self._settings = client, theme, settings
        self._key: str | None = None
        self.merged: MergedFigures | None = None
        self.counts = counts
        self.counts.set_wanted(settings.display.count_tokens)
        self.setObjectName("subsessionIndicator")
        self.setAccessibleName(TITLE)
        self.setProperty("variant", "base")
        # Without this attribute a plain QWidget ignores the background of the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._build()
        self.latest = LatestAnswer[MergedFigures](
            self, client, lambda: MergeContext(self._wanted()), self._show, every_ms=lambda: 0, rest=_REST,
            ready=lambda: self._key is not None,
        )  # fmt: skip
        self.counts.came.connect(self.latest.invalidate)
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
        self.read_button.clicked.connect(lambda: self.read())
        row.addWidget(self.read_button)
        return row

    def _build_page(self) -> IndicatorPage:
        page = IndicatorPage(self._themes, self._body)
        page.budget.changed.connect(self._on_budget_changed)
        page.notes.rule_switched.connect(self._switch_rule)
        page.order.entry_clicked.connect(self._on_entry_clicked)
        page.order.reading_asked.connect(lambda: self.read())
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
        self._empty.setVisible(key is None)
        self.page.setVisible(key is not None)
        self.read_button.setEnabled(key is not None)
        if key is None:
            self.merged = None
        self.latest.request_now()

    def refresh(self) -> None:
        """Asks again after an edit."""
        self.latest.request_now()

    def apply_settings(self, settings: Settings | None = None) -> None:
        """Applies other rules, another budget or a change of token counting; also other settings altogether."""
        self._settings = settings or self._settings
        self.counts.set_wanted(self._settings.display.count_tokens)
        self.latest.request_now()

    def set_read_only(self, reason: str) -> None:
        """Shows the reason for read-only sessions, or ""."""
        self.page.policy.set_read_only(reason)

    def stop(self) -> None:
        """Stops asking before the document is closed."""
        self.latest.stop()

    # Display

    def _wanted(self, revision: int | None = None) -> WantedContext:
        rules = Rules.from_settings(self._settings.merged.model_dump())
        return WantedContext(self._key or "", rules, self.counts.is_wanted, revision)

    def _show(self, merged: MergedFigures) -> None:
        if merged.key != self._key:
            return
        # Another sub-session starts at the top instead.
        same = self.merged is not None and self.merged.key == merged.key
        self.merged = merged
        if merged.is_counting:
            self.counts.note_pending()
        with self._area.keeping_place() if same else nullcontext():
            self.page.show_merged(
                merged, self._settings, self._estimate_words(merged), uncounted=merged.trouble or self.counts.reason,
                counting=merged.is_counting,
            )  # fmt: skip

    def _estimate_words(self, merged: MergedFigures) -> str:
        counting = ", still counting" if merged.is_counting else ""
        return f"tokens, estimate ({merged.tokenizer}){counting}"

    # User input

    def read(self, place: int = 0) -> MergedDialog | None:
        """Opens the dialog with the whole merged context, at the entry with an index."""
        if self._key is None:
            return None
        try:
            merged = self._client.answer_now(MergeContext(self._wanted()))
        except RequestError:
            return None
        self._show(merged)
        counted = not merged.is_counting and not self.counts.reason
        dialog = MergedDialog(
            self._client, self._themes, merged, self._wanted(merged.revision), self.window(), counted=counted
        )
        dialog.message_requested.connect(self.message_requested)
        dialog.open()
        dialog.select(place)
        return dialog

    def _on_entry_clicked(self, place: int) -> None:
        if self.merged is None or place >= len(self.merged.order):
            return
        source = self.merged.order[place].source
        if source is not None:
            self.message_requested.emit(source)
        else:  # the entry is in no chat
            self.read(place)

    def _on_budget_changed(self, budget: int) -> None:
        self._settings.subsession_budget = budget
        if self.merged is not None:
            self._show(self.merged)
        self.rules_changed.emit()

    def _switch_rule(self, rule: str) -> None:
        setattr(self._settings.merged, rule, not getattr(self._settings.merged, rule))
        self._on_rules_changed()

    def _on_rules_changed(self) -> None:
        self.latest.request_now()
        self.rules_changed.emit()

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        side = metrics.pane_padding
        self._column.setContentsMargins(side, round(8 * self._themes.theme.zoom), side, side)
        self._column.setSpacing(metrics.unit)
        self._body.setMinimumWidth(round(_MIN_WIDTH * self._themes.theme.zoom))
