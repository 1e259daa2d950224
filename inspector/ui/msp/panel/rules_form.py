"""Fields of the merged context's settings: policy, rules of the protocol and budget."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.engine.requests.msp_contexts import RULE_WORDS, PolicyValues
from inspector.settings.model import MergedRules
from inspector.ui.look import icons
from inspector.ui.look.text_flags import LEFT
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.section import LinkText, SectionLabel
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.number_field import NumberField

_MIN_BUDGET, _MAX_BUDGET, _BUDGET_STEP = 100, 10_000_000, 500
"""Limits of the setting."""


class BudgetField(NumberField):
    """Field of the token budget."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(name, "Budget in tokens", _MIN_BUDGET, _MAX_BUDGET, parent)
        self.setToolTip("Maximum of tokens a sub-session may send")
        self.setSingleStep(_BUDGET_STEP)


_MAX_RECENT_FIELD = 9_999
_UNDER_BOX = 22
"""Indent below a checkbox: the left edge of its label."""
POLICY_CLOSED = "The policy of a closed sub-session is read-only."


class PolicyBox(QWidget):
    """Policy switches and links that edit their content.

    Signals:
        changed(dict): changed members of the policy.
        sub_context_requested, snapshots_requested: edit them in the session.
        summaries_requested(QWidget): choose summaries to refer to, below this widget.
    """

    changed = Signal(dict)
    sub_context_requested = Signal()
    snapshots_requested = Signal()
    summaries_requested = Signal(object)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._showing = False
        self._reason = self._note = ""
        self._is_open = True
        self.setObjectName("subsessionPolicy")
        self.setAccessibleName("Policy")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(SectionLabel(themes, "Policy", None, self))
        # Created in visual order, because Tab follows it.
        self.sub_context = self._box("Include the sub-context", "policySubContext", "include_sub_context")
        self.edit_sub_context = self._link("Edit the sub-context...", "policyEditSubContext")
        self.snapshots = self._box("Include snapshots", "policySnapshots", "include_snapshots")
        self.edit_snapshots = self._link("Edit snapshots...", "policyEditSnapshots")
        self.sub_context.toggled.connect(lambda on: self._emit_change(include_sub_context=on))
        self.snapshots.toggled.connect(lambda on: self._emit_change(include_snapshots=on))
        self.edit_sub_context.clicked.connect(self.sub_context_requested)
        self.edit_snapshots.clicked.connect(self.snapshots_requested)
        for box, link in ((self.sub_context, self.edit_sub_context), (self.snapshots, self.edit_snapshots)):
            column.addWidget(box)
            column.addLayout(self._indented(link))
        self.recent = NumberField("policyRecent", "Recent parent messages", 0, _MAX_RECENT_FIELD, self)
        self.recent.setToolTip("recent_parent_messages of the context policy")
        self.recent.valueChanged.connect(lambda value: self._emit_change(recent_parent_messages=value))
        words = TextLabel("Recent parent messages", name="policyRecentLabel", wrap=True, parent=self)
        words.setBuddy(self.recent)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(words, 1)
        row.addWidget(self.recent)
        column.addLayout(row)
        self.summaries = TextLabel("", name="policySummaries", wrap=True, parent=self)
        self.summaries.setToolTip("include_summaries of the context policy")
        column.addWidget(self.summaries)
        self.choose = self._link("Refer to a summary...", "policyChooseSummaries")
        self.choose.clicked.connect(lambda: self.summaries_requested.emit(self.choose))
        column.addLayout(self._indented(self.choose))
        self.note = TextLabel("", variant="hint", name="policyNote", wrap=True, parent=self)
        column.addWidget(self.note)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _box(self, text: str, name: str, member: str) -> QCheckBox:
        box = QCheckBox(text, self)
        box.setObjectName(name)
        box.setAccessibleName(text)
        box.setToolTip(f"{member} of the context policy")
        return box

    def _link(self, text: str, name: str) -> LinkText:
        return LinkText(self._themes, text, name, self)

    def _indented(self, link: LinkText) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addSpacing(_UNDER_BOX)
        row.addWidget(link)
        row.addStretch(1)
        return row

    def show_policy(self, policy: PolicyValues, missing_recent: int, *, is_open: bool, summaries: str = "") -> None:
        """Shows the policy of another sub-session without emitting `changed`.

        Args:
            policy: as in the file.
            missing_recent: default number of recent messages.
            is_open: True for an open sub-session; the policy of a closed one is read-only.
            summaries: labels of referenced summaries, safe to show, or "".
        """
        self.summaries.setText(f"Summaries: {summaries}" if summaries else "")
        self.summaries.setVisible(bool(summaries))
        # setChecked() emits toggled(), like a click of the user.
        self._showing = True
        self.sub_context.setChecked(policy.include_sub_context is not False)
        self.snapshots.setChecked(policy.include_snapshots is not False)
        recent = policy.recent_parent_messages
        self.recent.setValue(max(0, missing_recent if recent is None else recent))
        self._showing = False
        self._is_open, self._note = is_open, _missing_words(policy)
        self._fit()

    def set_read_only(self, reason: str) -> None:
        """Shows the reason for read-only sessions, or ""."""
        self._reason = reason
        self._fit()

    def _fit(self) -> None:
        for widget in (self.sub_context, self.snapshots, self.recent, self.choose):
            widget.setEnabled(self._is_open and not self._reason)
        for link in (self.edit_sub_context, self.edit_snapshots):  # they belong to the session, which stays open
            link.setVisible(not self._reason)
        self.choose.setVisible(self._is_open and not self._reason)
        self.note.setText(self._reason or (self._note if self._is_open else POLICY_CLOSED))
        self.note.setVisible(bool(self.note.text()))

    def _emit_change(self, **changes: bool | int) -> None:
        if not self._showing:
            self.changed.emit(changes)

    def _on_theme_changed(self) -> None:
        self.recent.setFixedWidth(round(76 * self._themes.theme.zoom))


def _missing_words(policy: PolicyValues) -> str:
    """Returns a note about values missing in the file."""
    parts = (
        (policy.include_sub_context, "the sub-context"), (policy.include_snapshots, "snapshots"),
        (policy.recent_parent_messages, "recent messages"),
    )  # fmt: skip
    missing = [words for value, words in parts if value is None]
    if not missing:
        return ""
    if len(missing) == len(parts):
        return "Not set in the file: defaults shown."
    return f"Not set in the file: {' and '.join(missing)}. Defaults shown."


MOST_RECENT = 1_000


class RuleField(QWidget):
    """A rule with label and help text. Both wrap, because the pane may be narrow.

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
        """Sets the checkbox without emitting `toggled`."""
        self._showing = True
        self.box.setChecked(on)
        self._showing = False

    def _on_toggled(self, on: bool) -> None:
        if not self._showing:
            self.toggled.emit(on)


class _ClickedLabel(TextLabel):
    """A label that toggles the checkbox before it."""

    clicked = Signal()

    def __init__(self, text: str, name: str, parent: QWidget) -> None:
        super().__init__(text, name=name, wrap=True, parent=parent)
        self.setMinimumHeight(20)

    @override
    def mouseReleaseEvent(self, ev: QMouseEvent) -> None:
        if ev.button() is Qt.MouseButton.LeftButton and self.rect().contains(ev.position().toPoint()):
            self.clicked.emit()


class RulesForm(QWidget):
    """Edits rules in the given settings, in place.

    Signals:
        changed(): the user changed a rule.
    """

    changed = Signal()

    def __init__(self, themes: ThemeController, name: str, parent: QWidget) -> None:
        """Creates the form.

        Args:
            themes: gives the look.
            name: prefix of object names.
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
        for rule, (title, help_text, *_) in RULE_WORDS.items():
            if isinstance(getattr(self._rules, rule), bool):
                field = self.fields[rule] = RuleField(title, help_text, name=f"{name}_{rule}", parent=self)
                # `rule` is bound here, since the loop changes it before the click.
                field.toggled.connect(lambda on, rule=rule: self._change(rule, on))
                self._column.addWidget(field)
            else:
                self._column.addWidget(self._number(rule, title, help_text, f"{name}_{rule}"))
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _number(self, rule: str, title: str, help_text: str, name: str) -> QWidget:
        """Creates the field of a numeric rule, aligned with the checkboxes of the others."""
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
        """Shows the rules of other settings and edits them from now on. Emits no signal."""
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
    """Returns the number of rules with a value other than the default."""
    usual = MergedRules()
    return sum(getattr(rules, rule) != getattr(usual, rule) for rule in RULE_WORDS)


class DisclosureButton(QAbstractButton):
    """A label with a chevron, checked while the content below is visible."""

    def __init__(self, themes: ThemeController, text: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setText(text)
        self.setObjectName(name)
        self.setAccessibleName(text)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_text(self, text: str) -> None:
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text)
            self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(0, self._themes.theme.metrics.section_label)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._themes.theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = round(14 * theme.zoom)
        name = "collapse" if self.isChecked() else "expand"
        pixmap = icons.pixmap(name, "ink.secondary", side, self.devicePixelRatioF())
        painter.drawPixmap(-2, (self.height() - side) // 2, pixmap)
        painter.setFont(theme.font("label"))
        painter.setPen(theme.color("ink.secondary"))
        left = side + round(2 * theme.zoom)
        painter.drawText(QRect(left, 0, self.width() - left, self.height()), LEFT, self.text())
        if self.hasFocus():
            painter.setPen(QPen(theme.color("accent.ring"), 1.5))
            radius = theme.metrics.radius_mark
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75), radius, radius)


class RulesBox(QWidget):
    """A disclosure button and the rules below it.

    Signals:
        changed(): a rule of the settings was changed.
    """

    changed = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._rules = MergedRules()
        self.form: RulesForm | None = None
        self.setObjectName("subsessionRules")
        self.setAccessibleName("Rules")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        row = QHBoxLayout()
        self.disclosure = DisclosureButton(themes, "Rules", "subsessionRulesOpen", self)
        self.disclosure.toggled.connect(self._on_toggled)
        self.usual = LinkText(themes, "Reset", "subsessionRulesUsual", self)
        self.usual.setToolTip("Reset all rules to their defaults")
        self.usual.setAccessibleName("Reset all rules to their defaults")
        self.usual.clicked.connect(self._on_usual_clicked)
        row.addWidget(self.disclosure, 1)
        row.addWidget(self.usual)
        self._column.addLayout(row)

    def show_rules(self, rules: MergedRules) -> None:
        """Shows the rules of the settings, which are edited in place. Emits no signal."""
        self._rules = rules
        changed = changed_rules(rules)
        self.disclosure.set_text(f"Rules, {changed:,} of {len(RULE_WORDS)} changed" if changed else "Default rules")
        self.usual.setVisible(changed > 0)
        if self.form is not None:
            self.form.show_rules(rules)

    def _on_toggled(self, shown: bool) -> None:
        if self.form is None:  # created on first use, because it has a dozen switches
            self.form = RulesForm(self._themes, "subsessionRule", self)
            self.form.show_rules(self._rules)
            self.form.changed.connect(self.changed)
            self._column.addWidget(self.form)
        self.form.setVisible(shown)

    def _on_usual_clicked(self) -> None:
        for rule, value in MergedRules().model_dump().items():
            setattr(self._rules, rule, value)
        self.show_rules(self._rules)
        self.changed.emit()
