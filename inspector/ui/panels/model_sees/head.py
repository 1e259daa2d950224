"""Head of the panel Model sees: reader, message, assumptions and comparison."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QWidget
from typing_extensions import override

from inspector.engine.requests.seen_contexts import ContextChange, Options, Reader
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_head import HintLabel
from inspector.ui.panels.pane_head import LineHead
from inspector.ui.panels.timeline.head import ChoiceButton
from inspector.ui.widgets.buttons import IconButton, LinkButton
from inspector.ui.widgets.labels import TextLabel

_MINUS = "\N{MINUS SIGN}"


class ComparingLine(QWidget):
    """Line shown during a comparison.

    Signals:
        closed(): end the comparison.
        reach_switched(): switch between changes and all entries.
    """

    closed = Signal()
    reach_switched = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("modelSeesComparing")
        self.setAccessibleName("Two moments compared")
        self.setProperty("variant", "head")
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.figure = TextLabel("", variant="strong", name="modelSeesDifference", parent=self)
        self.hint = HintLabel(themes, name="modelSeesChanges", parent=self)
        self.reach = LinkButton("", name="modelSeesReach", parent=self)
        self.close_button = IconButton(
            themes, "clear", "End comparison (Esc)", name="modelSeesCompareClose", variant="small", parent=self
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

    def show_change(self, compared: int | None, change: ContextChange | None, *, changes_only: bool) -> None:
        """Shows the change, or a hint before a second message is selected.

        Args:
            compared: message of the first moment; None hides the line.
            change: between the two moments, with their totals.
            changes_only: only changes are listed.
        """
        self.setVisible(compared is not None)
        if compared is None:
            return
        if change is None:
            self.figure.setText(f"Compared with No. {compared + 1}")
            self.hint.set_text("Select a second message to compare.")
            self.reach.hide()
            return
        sign = _MINUS if change.tokens < 0 else "+"
        self.figure.setText(f"{sign}{abs(change.tokens):,} tokens")
        parts = ((change.came, "came"), (change.went, "went"), (change.collapsed, "collapsed"))
        words = ", ".join(f"{count:,} {word}" for count, word in parts if count) or "no changes"
        ends = (f"No. {one.message + 1} ({one.total:,} tokens)" for one in (change.earlier, change.later))
        self.hint.set_text(f"from {' to '.join(ends)}: {words} (estimate)")
        self.reach.set_label("Show all entries" if changes_only else "Show only changes")
        self.reach.show()

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.setFixedHeight(metrics.notice + 2)
        self._row.setContentsMargins(metrics.pane_padding, 0, metrics.pane_padding - metrics.unit, 1)
        self._row.setSpacing(metrics.cell_padding)


_NAME = 28
_MIN_WIDTH = 280
_SHORTENING_STAGES = ((False, 0), (False, 1), (True, 1), (True, 2))
"""Stages of shortening, from wide to narrow: (omit the reader's lead, omitted halves of the assumptions)."""

OPTIONS: tuple[tuple[str, str, str], ...] = (
    ("collapsing", "Collapse consumed results", "collapsing"),
    ("own_reasoning", "Keep own reasoning", "own reasoning"),
    ("others_reasoning", "Include reasoning of others", "others' reasoning"),
)
"""Fields of `Options` with their menu text and short text."""


class WordMenu(ChoiceButton):
    """Button with a lead and a menu; its owner fills the menu and sets the text.

    Attributes:
        words: the text after the lead.
    """

    def __init__(self, themes: ThemeController, lead: str, *, name: str, parent: QWidget) -> None:
        super().__init__(themes, lead, (("", ""),), name=name, parent=parent)
        self.menu_of_options.clear()
        self.words = ""
        self._whole_lead = lead
        self._short = (False, False)

    def set_text(self, words: str) -> None:
        """Sets the text after the lead."""
        if words != self.words:
            self.words = words
            self._show()

    def shorten(self, *, lead: bool, words: bool) -> None:
        """Omits parts of the text in narrow views; screen readers get all of it.

        Args:
            lead: omit the lead.
            words: omit the text after the lead.
        """
        if (lead, words) != self._short:
            self._short = (lead, words)
            self._show()

    def _show(self) -> None:
        self._lead = "" if self._short[0] else self._whole_lead
        self._words[""] = "" if self._short[1] else self.words
        self._update_texts()
        self.setAccessibleName(f"{self._whole_lead} {self.words}")


class ModelSeesHead(LineHead):
    """One line above the figures.

    Signals:
        reader_chosen(Reader): show another participant's context.
        assumed(str, bool): an option of `Options` was switched.
        step_requested(int): go to the next (1) or previous (-1) message that changes the context.
        hold_toggled(bool): hold this moment, or follow the selection.
        compare_toggled(bool): start a comparison with this moment, or end it.
        out_toggled(bool): also list entries outside of the context.

    Attributes:
        reader, assume: the two menus.
        moment_label: label of the message.
        hold, compare, out: switches.
        more: the menu at the right end, filled by the panel.
    """

    reader_chosen = Signal(object)
    assumed = Signal(str, bool)
    step_requested = Signal(int)
    hold_toggled = Signal(bool)
    compare_toggled = Signal(bool)
    out_toggled = Signal(bool)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(themes, name="modelSeesHead", label="Model and message", parent=parent)
        self._readers: Sequence[Reader] = ()
        self._shown: Reader | None = None
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.reader = WordMenu(themes, "Model of", name="modelSeesReader", parent=self)
        self.reader.menu_of_options.aboutToShow.connect(self._fill_readers)
        self.moment_label = TextLabel("", variant="strong", name="modelSeesAt", parent=self)
        self.assume = WordMenu(themes, "Assume", name="modelSeesOptions", parent=self)
        self.row.addWidget(self.reader)
        self.row.addWidget(self.moment_label)
        self._add_step(-1, "back", "Previous message that changes the context ([)", "modelSeesPrevious")
        self._add_step(1, "forward", "Next message that changes the context (])", "modelSeesNext")
        self.hold = self._add_switch("ri.pushpin-line", "Hold this moment (H)", "modelSeesHold")
        self.compare = self._add_switch("ri.arrow-left-right-line", "Compare with this moment (C)", "modelSeesCompare")
        self.row.addStretch(1)
        self.row.addWidget(self.assume)
        self.out = self._add_switch("hidden", "Show excluded entries (O)", "modelSeesOut")
        self.row.addWidget(self.out)
        self.more_button = IconButton(
            themes, "more", "Copy, export and more", name="modelSeesMore", variant="small", parent=self
        )
        self.row.addWidget(self.more_button)
        self.more = QMenu(self)
        self.more.setObjectName("modelSeesMoreMenu")
        self.more.setAccessibleName("Copy, export and more")
        self._fill_options()
        self._connect()

    def _add_step(self, step: int, icon: str, words: str, name: str) -> None:
        button = IconButton(self._themes, icon, words, name=name, variant="small", parent=self)
        button.clicked.connect(lambda: self.step_requested.emit(step))
        self.row.addWidget(button)

    def _add_switch(self, icon: str, words: str, name: str) -> IconButton:
        button = IconButton(self._themes, icon, words, name=name, variant="small", on_token="accent.text", parent=self)
        button.setCheckable(True)
        if name != "modelSeesOut":
            self.row.addWidget(button)
        return button

    def _fill_options(self) -> None:
        self.options: dict[str, QAction] = {}
        for field, words, _ in OPTIONS:
            action = self.options[field] = QAction(words, self)
            action.setObjectName(f"assume.{field}")
            action.setCheckable(True)
            action.triggered.connect(lambda on, field=field: self.assumed.emit(field, on))
            self.assume.menu_of_options.addAction(action)
        self.assume.setToolTip("Clients do not report the context they give to their model; these are assumptions.")

    def _connect(self) -> None:
        self.hold.toggled.connect(self.hold_toggled)
        self.compare.toggled.connect(self.compare_toggled)
        self.out.toggled.connect(self.out_toggled)
        self.more_button.clicked.connect(
            lambda: self.more.popup(self.more_button.mapToGlobal(QPoint(0, self.more_button.height())))
        )
        self.begin()

    # Input from the panel

    def show_reader(self, shown: Reader | None, known: Sequence[Reader]) -> None:
        """Shows the current reader; the menu offers the known ones."""
        self._shown, self._readers = shown, known
        self.reader.setEnabled(shown is not None)
        self.reader.set_text("no participant" if shown is None else safe_line(shown.title, _NAME))

    def show_options(self, options: Options) -> None:
        """Shows the assumptions."""
        short: list[str] = []
        for field, _, words in OPTIONS:
            on = bool(getattr(options, field))
            self.options[field].setChecked(on)
            if on:
                short.append(words)
        self.assume.set_text(", ".join(short) or "no collapsing, no reasoning")

    def show_at(self, words: str, *, held: bool, follows: bool) -> None:
        """Shows the message of the moment.

        Args:
            words: "at No. 12", "at the end, No. 163".
            held: the moment is held.
            follows: the moment follows the selection.
        """
        self.moment_label.setText(words)
        self.moment_label.setAccessibleName(words)
        tip = "This moment is held." if held else "Follows the selected message." if follows else ""
        self.moment_label.setToolTip(tip)
        self.hold.blockSignals(True)
        self.hold.setChecked(held)
        self.hold.blockSignals(False)
        self.hold.set_description("Follow the selection (H)" if held else "Hold this moment (H)")
        self.fit()

    def show_comparing(self, comparing: bool) -> None:
        """Shows the state of the comparison."""
        # The toggle reflects the state; it must not request it again.
        self.compare.blockSignals(True)
        self.compare.setChecked(comparing)
        self.compare.blockSignals(False)
        self.compare.set_description("End comparison (Esc)" if comparing else "Compare with this moment (C)")

    def _fill_readers(self) -> None:
        menu = self.reader.menu_of_options
        # Filled on opening: participants may have joined since.
        menu.clear()
        for reader in self._readers:
            action = menu.addAction(safe_line(reader.title, 60).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(reader == self._shown)
            action.triggered.connect(lambda _=False, reader=reader: self.reader_chosen.emit(reader))

    # Qt

    @override
    def fit(self) -> None:
        """Shortens the text until it fits: the assumptions first, then the lead."""
        room = self.room_beside((self.reader, self.assume))
        for reader, assume in _SHORTENING_STAGES:
            self.reader.shorten(lead=reader, words=False)
            self.assume.shorten(lead=assume > 1, words=assume > 0)
            if self.reader.sizeHint().width() + self.assume.sizeHint().width() <= room:
                return

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(_MIN_WIDTH, super().minimumSizeHint().height())
