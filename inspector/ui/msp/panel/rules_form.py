"""The rules a merged context is put together by, each with a switch and its words."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.msp.rules import RULE_WORDS
from inspector.settings.model import MergedRules
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.number_field import NumberField
from inspector.ui.widgets.labels import TextLabel

MOST_RECENT = 1_000


class RuleField(QWidget):
    """A rule: its words and what it decides, both of which wrap, as a pane may be narrow.

    Signals:
        toggled(bool): the user changed it.
    """

    toggled = Signal(bool)

    def __init__(self, title: str, help_text: str, *, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._showing = False
        self.setObjectName(f"{name}Field")
        self.box = QCheckBox(self)
        self.box.setObjectName(name)
        self.box.setAccessibleName(title)
        self.box.setAccessibleDescription(help_text)
        self.box.toggled.connect(self._on_toggled)
        words = _ClickedLabel(title, f"{name}Words", self)
        words.clicked.connect(self.box.toggle)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(2)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.box, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(words, 0, 1)
        grid.addWidget(TextLabel(help_text, variant="hint", name=f"{name}Help", wrap=True, parent=self), 1, 1)

    def set_checked(self, on: bool) -> None:
        """Tick the box or not; says nothing."""
        self._showing = True
        self.box.setChecked(on)
        self._showing = False

    def _on_toggled(self, on: bool) -> None:
        if not self._showing:
            self.toggled.emit(on)


class _ClickedLabel(TextLabel):
    """Words that act for the box before them."""

    clicked = Signal()

    def __init__(self, text: str, name: str, parent: QWidget) -> None:
        super().__init__(text, name=name, wrap=True, parent=parent)
        self.setMinimumHeight(20)

    @override
    def mouseReleaseEvent(self, ev: QMouseEvent) -> None:
        if ev.button() is Qt.MouseButton.LeftButton and self.rect().contains(ev.position().toPoint()):
            self.clicked.emit()


class RulesForm(QWidget):
    """Edits the rules of the settings it is given, in place.

    Signals:
        changed(): the user changed a rule; it is in the settings already.
    """

    changed = Signal()

    def __init__(self, themes: ThemeController, name: str, parent: QWidget) -> None:
        """Make the form.

        Args:
            themes: gives the look.
            name: what object names begin with.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = themes
        self._rules = MergedRules()
        self._showing = False
        self.setObjectName(name)
        self.setAccessibleName("Rules")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self.fields: dict[str, RuleField] = {}
        self.numbers: dict[str, NumberField] = {}
        for rule, (title, help_text, _) in RULE_WORDS.items():
            if isinstance(getattr(self._rules, rule), bool):
                field = self.fields[rule] = RuleField(title, help_text, name=f"{name}_{rule}", parent=self)
                field.toggled.connect(lambda on, rule=rule: self._change(rule, on))
                self._column.addWidget(field)
            else:
                self._column.addWidget(self._number(rule, title, help_text, f"{name}_{rule}"))
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _number(self, rule: str, title: str, help_text: str, name: str) -> QWidget:
        """A rule that is a number: the field before its words, in line with the boxes of the others."""
        holder = QWidget(self)
        holder.setObjectName(f"{name}Field")
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        spin = self.numbers[rule] = NumberField(name, title, 0, MOST_RECENT, holder)
        spin.setAccessibleDescription(help_text)
        spin.valueChanged.connect(lambda value: self._change(rule, value))
        row = QHBoxLayout()
        row.setSpacing(8)
        words = TextLabel(title, name=f"{name}Label", wrap=True, parent=holder)
        words.setBuddy(spin)
        row.addWidget(words, 1)
        row.addWidget(spin)
        column.addLayout(row)
        column.addWidget(TextLabel(help_text, variant="hint", name=f"{name}Help", wrap=True, parent=holder))
        return holder

    def show_rules(self, rules: MergedRules) -> None:
        """Show the rules of other settings, which are edited from now on; says nothing."""
        self._rules = rules
        self._showing = True
        for rule, field in self.fields.items():
            field.set_checked(bool(getattr(rules, rule)))
        for rule, spin in self.numbers.items():
            spin.setValue(int(getattr(rules, rule)))
        self._showing = False

    def _change(self, rule: str, value: Any) -> None:
        if not self._showing:
            setattr(self._rules, rule, value)
            self.changed.emit()

    def _on_theme_changed(self) -> None:
        for spin in self.numbers.values():
            spin.setFixedWidth(round(76 * self._themes.theme.zoom))


def changed_rules(rules: MergedRules) -> int:
    """How many rules are not as usual."""
    usual = MergedRules()
    return sum(getattr(rules, rule) != getattr(usual, rule) for rule in RULE_WORDS)
