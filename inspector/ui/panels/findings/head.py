"""The head of the findings panel: severities with their counts, what is hidden, how findings are grouped."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget
from typing_extensions import override

from inspector.analysis.findings import Severity
from inspector.ui.panels.findings.rows import Grouping
from inspector.ui.panels.findings.toggle import SeverityToggle
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.theme import ThemeController
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.wire_text import tool_tip

_AFTER_TITLE = 8
_BRIEF_BELOW = 600
"""The switches show counts alone in a panel narrower than this; pixels at 100 %."""
_LEAST_WIDTH = 280

_GROUPINGS = (
    (Grouping.CODE, "Group by code"),
    (Grouping.SEVERITY, "Group by severity"),
    (Grouping.NONE, "Do not group"),
)


class HintLabel(QWidget):
    """A quiet sentence that is cut where room is short, and then whole in its tooltip."""

    def __init__(self, theme_controller: ThemeController, *, name: str, parent: QWidget | None = None) -> None:
        """Make it, saying nothing."""
        super().__init__(parent)
        self._themes = theme_controller
        self._text = ""
        self.setObjectName(name)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        theme_controller.changed.connect(self.updateGeometry)

    @property
    def text(self) -> str:
        """The whole sentence."""
        return self._text

    def say(self, text: str) -> None:
        """Say another sentence."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.setToolTip(tool_tip(text))
            self.updateGeometry()
            self.update()

    @override
    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._themes.theme.font("small"))
        return QSize(metrics.horizontalAdvance(self._text) + 1, metrics.height())

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        metrics = QFontMetrics(theme.font("small"))
        painter = QPainter(self)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        shown = metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)


class FindingsHead(PaneHead):
    """Title, severity switches, what is hidden; copy, more, close at the right.

    Signals:
        severity_switched(Severity, bool): list findings of a severity, or do not.
        reach_switched(): list also what the view hides, or only what it shows.
        grouping_chosen(Grouping): put findings together by this.
        codes_restored(): list the codes again that were hidden by hand.
        all_opened(bool): open or close every group.
        copy_clicked, close_clicked: copy the list; close the panel.
    """

    severity_switched = Signal(object, bool)
    reach_switched = Signal()
    grouping_chosen = Signal(object)
    codes_restored = Signal()
    all_opened = Signal(bool)
    copy_clicked = Signal()
    close_clicked = Signal()

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        """Make the head."""
        super().__init__(theme_controller, "Findings", name="findingsHead", parent=parent)
        self._count.hide()  # the switches count
        self._row.insertSpacing(self._row.indexOf(self._count), _AFTER_TITLE)
        self.toggles: dict[Severity, SeverityToggle] = {}
        place = self._row.indexOf(self._count)
        for severity in sorted(Severity, reverse=True):
            toggle = self.toggles[severity] = SeverityToggle(theme_controller, severity, self)
            toggle.clicked.connect(self._on_toggle_clicked)
            self._row.insertWidget(place, toggle)
            place += 1
        self.hint = HintLabel(theme_controller, name="findingsHint", parent=self)
        self._row.insertWidget(place, self.hint)
        self.link = LinkButton("", name="findingsReach", parent=self)
        self.link.clicked.connect(self.reach_switched)
        self._row.insertWidget(place + 1, self.link)
        self._copy = self.add_button("copy", "Copy the findings listed", name="findingsCopy")
        self._copy.clicked.connect(self.copy_clicked)
        self._more = self.add_button("more", "More for findings", name="findingsMore")
        self._more.clicked.connect(self._on_more_clicked)
        self._close = self.add_button("clear", "Close the findings", name="findingsClose")
        self._close.clicked.connect(self.close_clicked)
        self._make_menu()
        theme_controller.changed.connect(self._fit_link)

    def _make_menu(self) -> None:
        self.menu = QMenu(self)
        self.menu.setObjectName("findingsMenu")
        self.menu.setAccessibleName("More for findings")
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
        self._open_all = self.menu.addAction("Open every group", lambda: self.all_opened.emit(True))
        self._close_all = self.menu.addAction("Close every group", lambda: self.all_opened.emit(False))
        self.menu.addSeparator()
        self._restore = self.menu.addAction("List the hidden codes again", self.codes_restored.emit)
        self._restore.setObjectName("restoreCodes")

    # What the panel says

    def show_counts(self, counts: Mapping[Severity, int]) -> None:
        """Count on the switches."""
        for severity, toggle in self.toggles.items():
            toggle.set_count(counts[severity])

    def say(self, hint: str, link: str) -> None:
        """Say what is hidden, and what a click can do about it; "" for nothing."""
        self.hint.say(hint)
        self.link.set_label(link)
        self.link.setVisible(bool(link))
        self._fit_link()

    def _fit_link(self) -> None:
        self.link.setFixedWidth(self.link.sizeHint().width())  # the sheet lets links shrink to nothing

    def show_choice(self, grouping: Grouping, *, codes_off: int, heads: bool, findings: bool) -> None:
        """Say what can be chosen.

        Args:
            grouping: in force.
            codes_off: codes hidden by hand.
            heads: whether there are groups to open and close.
            findings: whether there is anything to copy.
        """
        self._groupings[grouping].setChecked(True)
        self._restore.setEnabled(codes_off > 0)
        for action in (self._open_all, self._close_all):
            action.setEnabled(heads)
        self._copy.setEnabled(findings)

    @override
    def minimumSizeHint(self) -> QSize:
        """Room for the switches in brief: what does not fit besides is said in tooltips and in the menu."""
        return QSize(round(_LEAST_WIDTH * self._themes.theme.zoom), super().minimumSizeHint().height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for toggle in self.toggles.values():
            toggle.set_brief(event.size().width() < _BRIEF_BELOW * self._themes.theme.zoom)

    # What the user does

    def _on_toggle_clicked(self, on: bool) -> None:
        toggle = self.sender()
        if isinstance(toggle, SeverityToggle):
            self.severity_switched.emit(toggle.severity, on)

    def _on_more_clicked(self) -> None:
        self.menu.popup(self._more.mapToGlobal(QPoint(0, self._more.height())))
