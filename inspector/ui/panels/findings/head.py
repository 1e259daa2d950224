"""Head of the findings panel: severity toggles with counts, hint about hidden findings, and grouping."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget
from typing_extensions import override

from inspector.engine.requests.finding_rows import Grouping, Severity
from inspector.present import formats
from inspector.present.findings import PLURALS
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.findings.source import ICON_TOKENS
from inspector.ui.panels.list_head import ListHead

_PAD = 9
_ICON = 14
_GAP = 5


class SeverityToggle(QAbstractButton):
    """A toggle that lists the findings of a severity. Unchecked it has no border and a crossed-out eye."""

    def __init__(self, theme_controller: ThemeController, severity: Severity, parent: QWidget | None = None) -> None:
        """Creates the toggle, checked, with a count of 0."""
        super().__init__(parent)
        self._themes = theme_controller
        self.severity = severity
        self._count = 0
        self._brief = False
        self.setObjectName(f"findings.{severity.word}")
        self.setCheckable(True)
        self.setChecked(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        # With this attribute Qt repaints when the pointer enters or leaves.
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self._update_texts)
        theme_controller.changed.connect(self.updateGeometry)
        self._update_texts()

    @property
    def words(self) -> str:
        return formats.count_of(self._count, self.severity.word, PLURALS[self.severity])

    @property
    def shown_words(self) -> str:
        """The painted text; the count alone in a narrow head."""
        return f"{self._count:,}" if self._brief else self.words

    def set_brief(self, brief: bool) -> None:
        """Shows the count alone, for a narrow head."""
        if brief != self._brief:
            self._brief = brief
            self._update_texts()

    def set_count(self, count: int) -> None:
        if count != self._count:
            self._count = count
            self._update_texts()

    def _update_texts(self, *_on: object) -> None:
        self.setText(self.words)
        self.setAccessibleName(self.words)
        verb = "Hide" if self.isChecked() else "Show"
        self.setToolTip(f"{self.words}. {verb} the {PLURALS[self.severity]}.")
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        words = QFontMetrics(theme.font("small")).horizontalAdvance(self.shown_words)
        return QSize(words + round((2 * _PAD + _ICON + _GAP) * theme.zoom) + 1, theme.metrics.chip - 2)

    @override
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, on = self._themes.theme, self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pill = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if on or self.underMouse():
            painter.setPen(QPen(theme.color("line.strong"), 1) if on else Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.washdim" if self.underMouse() else "surface.raised"))
            painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent.ring"), 2))
            ring = QRectF(self.rect()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(ring, ring.height() / 2, ring.height() / 2)
        name, token = ICON_TOKENS[self.severity]
        if not on:
            name, token = "hidden", "ink.tertiary"
        elif not self._count:
            token = "ink.tertiary"
        side = round(_ICON * theme.zoom)
        left = round(_PAD * theme.zoom)
        painter.drawPixmap(left, (self.height() - side) // 2, icons.pixmap(name, token, side, self.devicePixelRatioF()))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.primary" if on and self._count else "ink.tertiary"))
        left += side + round(_GAP * theme.zoom)
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(left, 0, self.width() - left, self.height()), flags, self.shown_words)


_AFTER_TITLE = 8
_BRIEF_BELOW = 600
"""Panel width below which toggles show counts alone; pixels at 100 %."""

_GROUPINGS = (
    (Grouping.CODE, "Group by code"),
    (Grouping.SEVERITY, "Group by severity"),
    (Grouping.NONE, "Do not group"),
)


class FindingsHead(ListHead):
    """Head: title, severity toggles and hint; copy, more and close at the right.

    Signals:
        severity_switched(Severity, bool): list findings of a severity, or hide them.
        grouping_chosen(Grouping): group findings by this.
        codes_restored(): list the codes hidden by hand again.
        all_opened(bool): expand or collapse all groups.
    """

    severity_switched = Signal(object, bool)
    grouping_chosen = Signal(object)
    codes_restored = Signal()
    all_opened = Signal(bool)

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(theme_controller, "Findings", name="findings", parent=parent)
        self._count.hide()  # the toggles have the counts
        self._title.setContentsMargins(0, 0, _AFTER_TITLE, 0)
        self.toggles: dict[Severity, SeverityToggle] = {}
        self._showing = False
        place = self._row.indexOf(self._count)
        for severity in sorted(Severity, reverse=True):
            toggle = self.toggles[severity] = SeverityToggle(theme_controller, severity, self)
            toggle.toggled.connect(self._on_toggled)
            self._row.insertWidget(place, toggle)
            place += 1
        self._make_menu()

    def _make_menu(self) -> None:
        choices = QActionGroup(self.menu)
        self._groupings: dict[Grouping, QAction] = {}
        for grouping, words in _GROUPINGS:
            action = self._groupings[grouping] = self.menu.addAction(words)
            action.setObjectName(f"group.{grouping.value}")
            action.setCheckable(True)
            action.setData(grouping)
            choices.addAction(action)
        choices.triggered.connect(lambda action: self.grouping_chosen.emit(action.data()))
        self.menu.addSeparator()
        self._open_all = self.menu.addAction("Expand all groups", lambda: self.all_opened.emit(True))
        self._close_all = self.menu.addAction("Collapse all groups", lambda: self.all_opened.emit(False))
        self.menu.addSeparator()
        self._restore = self.menu.addAction("Show hidden codes", self.codes_restored.emit)
        self._restore.setObjectName("restoreCodes")

    # Calls of the panel

    def show_counts(self, counts: Mapping[Severity, int]) -> None:
        for severity, toggle in self.toggles.items():
            toggle.set_count(counts[severity])

    def show_severity(self, severity: Severity, *, on: bool) -> None:
        """Checks or unchecks the toggle of a severity without emitting `severity_switched`."""
        self._showing = True
        self.toggles[severity].setChecked(on)
        self._showing = False

    def show_choice(self, grouping: Grouping, *, codes_off: int, heads: bool, findings: bool) -> None:
        """Updates the menu.

        Args:
            grouping: the active one.
            codes_off: number of codes hidden by hand.
            heads: True if there are groups to expand and collapse.
            findings: True if there are findings to copy.
        """
        self._groupings[grouping].setChecked(True)
        self._restore.setEnabled(codes_off > 0)
        for action in (self._open_all, self._close_all):
            action.setEnabled(heads)
        self._copy.setEnabled(findings)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for toggle in self.toggles.values():
            toggle.set_brief(event.size().width() < _BRIEF_BELOW * self._themes.theme.zoom)

    # User input

    def _on_toggled(self, on: bool) -> None:
        # Not `clicked`: a press by a screen reader toggles a checkable button, and Qt then emits no click.
        toggle = self.sender()
        if isinstance(toggle, SeverityToggle) and not self._showing:
            self.severity_switched.emit(toggle.severity, on)
