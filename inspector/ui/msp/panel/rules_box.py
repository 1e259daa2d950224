"""The rules in the indicator: folded to a line until somebody wants to see them."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.msp.rules import RULE_WORDS
from inspector.settings.model import MergedRules
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.rules_form import RulesForm, changed_rules
from inspector.ui.panels.details.section import LinkText
from inspector.ui.panels.list_delegate import LEFT


class DisclosureButton(QAbstractButton):
    """A label with a chevron; checked while what it stands above is shown."""

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

    def say(self, text: str) -> None:
        """Say something else."""
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
    """The disclosure, and below it every rule with its switch.

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
        self.usual = LinkText(themes, "As usual", "subsessionRulesUsual", self)
        self.usual.setToolTip("Take every rule as it usually is")
        self.usual.setAccessibleName("Take every rule as it usually is")
        self.usual.clicked.connect(self._on_usual_clicked)
        row.addWidget(self.disclosure, 1)
        row.addWidget(self.usual)
        self._column.addLayout(row)

    def show_rules(self, rules: MergedRules) -> None:
        """Show the rules of the settings, which are edited in place; says nothing."""
        self._rules = rules
        changed = changed_rules(rules)
        words = f"{changed:,} of {len(RULE_WORDS)} not as usual" if changed else "as usual"
        self.disclosure.say(f"Rules, {words}")
        self.usual.setVisible(changed > 0)
        if self.form is not None:
            self.form.show_rules(rules)

    def _on_toggled(self, shown: bool) -> None:
        if self.form is None:  # a dozen switches nobody has asked for yet
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
