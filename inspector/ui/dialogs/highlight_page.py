"""Settings > General > Highlight rules: the list in its order, and what the selected one looks for and looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from inspector.filters import FilterError, compile_filter
from inspector.settings import HighlightColor, HighlightRule
from inspector.settings.sharing import Shared, UnreadableShareError, not_yet_among
from inspector.ui.dialogs.highlight_model import HighlightDelegate, HighlightListModel
from inspector.ui.dialogs.ordered_list import OrderedList
from inspector.ui.dialogs.share_buttons import ShareButtons, outcome
from inspector.ui.kept import NOT_WRITTEN, holds_secret
from inspector.ui.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.color_choice import COLORS, ColorChoice
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.segmented import SegmentedControl

HELP = "Messages a rule holds for stand out in the table. Where several rules hold, the upper one gives the colour."
FILTER_HELP = "A filter, as in the filter bar; $context stands for the selected context."
NEW_NAME = "New rule"
NO_NAME = "A rule needs a name."
NO_FILTER = "A rule needs a filter; an empty one highlights nothing."
PAINTS = (("edge", "Left edge"), ("text", "Text"))
"""Manners with their words."""


class HighlightPage(QWidget):
    """Edits a copy of the rules. A wrong filter or an empty name is said in place and not taken over.

    Signals:
        changed: the user changed something; ask `rules`.
    """

    changed = Signal()

    def __init__(
        self, theme_controller: ThemeController, rules: Sequence[HighlightRule], parent: QWidget | None = None
    ) -> None:
        """Make the page.

        Args:
            theme_controller: gives the look.
            rules: what it shows; not changed.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName("settingsHighlights")
        self.setAccessibleName("Highlight rules")
        self._model = HighlightListModel(rules, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(TextLabel(HELP, variant="secondary", name="highlightsHelp", wrap=True, parent=self))
        column.addWidget(self._build_list(), 1)
        column.addLayout(self._build_buttons())
        column.addWidget(self._share.said)
        column.addLayout(self._build_form())
        self.setFocusProxy(self._list)
        self._select(0)

    def _build_list(self) -> QFrame:
        frame = QFrame(self)
        frame.setObjectName("highlightsFrame")
        frame.setProperty("variant", "card")
        inside = QVBoxLayout(frame)
        inside.setContentsMargins(1, 4, 1, 4)
        self._list = OrderedList("highlightsList", "Highlight rules", frame)
        self._list.setAccessibleDescription(
            "Space switches a rule on or off, Alt+Up and Alt+Down move it, Delete removes it."
        )
        self._list.setModel(self._model)
        delegate = HighlightDelegate(self._themes, self)
        delegate.toggled.connect(self._toggle)
        self._list.setItemDelegate(delegate)
        self._list.selectionModel().currentChanged.connect(self._on_current_changed)
        self._list.moved.connect(lambda row, target: self._move_to(row, target))
        self._list.removed.connect(lambda _row: self._on_remove_clicked())
        self._list.toggled.connect(self._toggle)
        inside.addWidget(self._list)
        return frame

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        made: dict[str, IconButton] = {}
        for name, icon, words in (
            ("Add", "add", "Add a rule"),
            ("Remove", "ri.subtract-line", "Remove this rule"),
            ("Up", "up", "Move up (Alt+Up)"),
            ("Down", "down", "Move down (Alt+Down)"),
        ):
            made[name] = IconButton(self._themes, icon, words, name=f"highlights{name}", variant="small", parent=self)
            row.addWidget(made[name])
        made["Add"].clicked.connect(lambda: self.add(HighlightRule(name=NEW_NAME, filter="")))
        made["Remove"].clicked.connect(self._on_remove_clicked)
        made["Up"].clicked.connect(lambda: self._move_to(self._row(), self._row() - 1))
        made["Down"].clicked.connect(lambda: self._move_to(self._row(), self._row() + 1))
        self._buttons = made
        row.addStretch(1)
        self._share = ShareButtons("highlights", "highlight rules", self._give, self._take, self)
        row.addWidget(self._share)
        return row

    def _build_form(self) -> Form:
        form = Form(self._themes, self)
        form.setColumnMinimumWidth(0, 48)
        self._name = QLineEdit(self)
        self._name.setObjectName("highlightsName")
        self._name.setAccessibleName("Name")
        self._filter = QLineEdit(self)
        self._filter.setObjectName("highlightsFilter")
        self._filter.setAccessibleName("Filter")
        for field in (self._name, self._filter):
            field.textEdited.connect(self._on_edited)
        self._name_row = FieldColumn(self._name, name="highlightsNameHelp", parent=self)
        self._filter_row = FieldColumn(self._filter, name="highlightsFilterHelp", help_text=FILTER_HELP, parent=self)
        self._color = ColorChoice(self._themes, name="highlightsColor", label="Colour", parent=self)
        self._color.chosen.connect(lambda _color: self._on_edited())
        self._paint = SegmentedControl(self._themes, PAINTS, name="highlightsPaint", label="Shown as", parent=self)
        self._paint.chosen.connect(lambda _paint: self._on_edited())
        looks = QWidget(self)
        row = QHBoxLayout(looks)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        row.addWidget(self._color)
        row.addWidget(self._paint)
        row.addStretch(1)
        form.add_field("Name", self._name_row, self._name)
        form.add_field("Filter", self._filter_row, self._filter)
        form.add_field("Colour", looks)
        self._themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        return form

    def _on_theme_changed(self) -> None:
        self._filter.setFont(self._themes.theme.font("mono"))

    # Content

    def rules(self) -> list[HighlightRule]:
        """The rules in their order."""
        return self._model.items()

    def show_rules(self, rules: Sequence[HighlightRule]) -> None:
        """Show other rules; says nothing."""
        self._model.replace(rules)
        self._select(0)

    def add(self, rule: HighlightRule) -> None:
        """Add a rule at the end, ready to be named."""
        self._select(self._model.add(rule))
        self._name.setFocus()
        self._name.selectAll()
        self.changed.emit()

    def _row(self) -> int:
        return self._list.currentIndex().row()

    def _select(self, row: int) -> None:
        self._list.setCurrentIndex(self._model.index(min(row, self._model.rowCount() - 1)))
        self._show_current()

    def _on_current_changed(self, _current: QModelIndex, _previous: QModelIndex) -> None:
        self._show_current()

    def _show_current(self) -> None:
        row = self._row()
        rule = self._model.item(row)
        for field, shown in ((self._name, rule.name if rule else ""), (self._filter, rule.filter if rule else "")):
            field.setText(shown)
            field.setCursorPosition(0)
        for field in (self._name, self._filter, self._color, self._paint):
            field.setEnabled(rule is not None)
        self._color.set_color(rule.color if rule else COLORS[0][0])
        self._paint.set_value(rule.paint if rule else PAINTS[0][0])
        self._buttons["Remove"].setEnabled(rule is not None)
        self._buttons["Up"].setEnabled(row > 0)
        self._buttons["Down"].setEnabled(0 <= row < self._model.rowCount() - 1)
        self._share.set_can_export(self._model.rowCount() > 0)
        self._say_trouble()

    def _say_trouble(self) -> bool:
        """Say in place what is wrong; whether anything is that must not be taken over."""
        nameless = self._name.isEnabled() and not self._name.text().strip()
        self._name_row.say_trouble(NO_NAME if nameless else "")
        sentence = trouble_of(self._filter.text())
        self._filter_row.say_trouble(sentence)
        empty = self._filter.isEnabled() and not self._filter.text().strip()
        secret = holds_secret(self._filter.text())
        self._filter_row.say_help(NO_FILTER if empty else NOT_WRITTEN if secret else FILTER_HELP)
        return nameless or bool(sentence)

    # What the user does

    def _on_edited(self) -> None:
        row = self._row()
        rule = self._model.item(row)
        if rule is None or self._say_trouble():
            return
        edited = HighlightRule(
            name=self._name.text().strip(),
            filter=self._filter.text().strip(),
            color=self._color.color,
            paint="text" if self._paint.value() == "text" else "edge",
            on=rule.on,
        )
        self._model.change(row, edited)
        self.changed.emit()

    def _toggle(self, row: int) -> None:
        rule = self._model.item(row)
        if rule is not None:
            self._model.change(row, rule.model_copy(update={"on": not rule.on}))
            self.changed.emit()

    def _on_remove_clicked(self) -> None:
        row = self._row()
        if row >= 0:
            self._model.remove(row)
            self._select(row)
            self.changed.emit()

    def _move_to(self, row: int, target: int) -> None:
        target = self._model.move(row, target - row)
        if target != row:
            self._select(target)
            self.changed.emit()

    # Sharing

    def _give(self) -> Shared:
        return Shared(highlights=self._model.items())

    def _take(self, shared: Shared, file: str) -> str:
        """Add the rules of a file that are not here yet and whose filters are filters."""
        if not shared.highlights:
            other = " It holds presets; their page can import them." if shared.presets else ""
            raise UnreadableShareError(f"{file} holds no highlight rules.{other}")
        fresh = not_yet_among(self._model.items(), shared.highlights)
        troubles = [(rule, trouble_of(rule.filter)) for rule in fresh]
        wrong = [f"{rule.name} ({trouble.rstrip('.')})" for rule, trouble in troubles if trouble]
        good = [rule for rule, trouble in troubles if not trouble]
        rows = [self._model.add(rule) for rule in good]
        if rows:
            self._select(rows[0])
            self.changed.emit()
        return outcome(len(good), len(shared.highlights) - len(fresh), wrong, "rule", file)


def trouble_of(text: str) -> str:
    """What is wrong with a filter, in a sentence; "" for nothing."""
    try:
        compile_filter(text, selected_context="context")
    except FilterError as error:
        return str(error)
    return ""


def next_color(rules: Sequence[HighlightRule]) -> HighlightColor:
    """The colour that the fewest rules have, for one more."""
    used = [rule.color for rule in rules]
    return cast("HighlightColor", min((color for color, _ in COLORS), key=used.count))
