"""The line that says what changed between two moments."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from inspector.analysis.model_context.difference import Difference
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_head import HintLabel
from inspector.ui.widgets.buttons import IconButton, LinkButton
from inspector.ui.widgets.labels import TextLabel

_MINUS = "\N{MINUS SIGN}"


class ComparingLine(QWidget):
    """Shown while two moments are compared.

    Signals:
        closed(): compare no more.
        reach_switched(): list only what changed, or everything.
    """

    closed = Signal()
    reach_switched = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("modelSeesComparing")
        self.setAccessibleName("Two moments compared")
        self.setProperty("variant", "head")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.figure = TextLabel("", variant="strong", name="modelSeesDifference", parent=self)
        self.hint = HintLabel(themes, name="modelSeesChanges", parent=self)
        self.reach = LinkButton("", name="modelSeesReach", parent=self)
        self.close_button = IconButton(
            themes, "clear", "Compare no more (Esc)", name="modelSeesCompareClose", variant="small", parent=self
        )
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.figure)
        self._row.addWidget(self.hint)
        self._row.addWidget(self.reach)
        self._row.addStretch(1)
        self._row.addWidget(self.close_button)
        self.reach.clicked.connect(self.reach_switched)
        self.close_button.clicked.connect(self.closed)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.hide()

    def show_change(self, compared: int | None, change: Difference | None, *, changes_only: bool) -> None:
        """Say what changed; with nothing to compare with, what can be done.

        Args:
            compared: the message that was chosen first; None hides the line.
            change: between the two moments, with their totals.
            changes_only: only what changed is listed.
        """
        self.setVisible(compared is not None)
        if compared is None:
            return
        if change is None:
            self.figure.setText(f"Compared with No. {compared + 1}")
            self.hint.say("Select another message to see what changed until then, or since.")
            self.reach.hide()
            return
        sign = _MINUS if change.tokens < 0 else "+"
        self.figure.setText(f"{sign}{abs(change.tokens):,} tokens")
        parts = ((len(change.came), "came"), (len(change.went), "went"), (len(change.collapsed), "collapsed"))
        words = ", ".join(f"{count:,} {word}" for count, word in parts if count) or "nothing changed"
        ends = (f"No. {one.message + 1} ({one.total:,} tokens)" for one in (change.earlier, change.later))
        self.hint.say(f"from {' to '.join(ends)}: {words} (estimate)")
        self.reach.set_label("List everything" if changes_only else "List only what changed")
        self.reach.show()

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.setFixedHeight(metrics.notice + 2)
        self._row.setContentsMargins(metrics.pane_padding, 0, metrics.pane_padding - metrics.unit, 1)
        self._row.setSpacing(metrics.cell_padding)
