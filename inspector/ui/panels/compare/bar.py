"""Bar above the lanes: a chip for each class of differences, steps to the next one, and commands."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget
from typing_extensions import override

from inspector.engine.requests.run_comparisons import DifferenceClass
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.compare.class_looks import LOOKS
from inspector.ui.panels.pane_head import LineHead
from inspector.ui.widgets.buttons import IconButton


class CompareBar(LineHead):
    """Chips, buttons and the menu of a comparison.

    Signals:
        filtered(frozenset): show differences of these classes; empty for all.
        stepped(int): go to the next difference (1) or the previous one (-1).
        contexts_switched(bool): show or hide the contexts.
        swap_requested, again_requested, other_requested, report_requested(): commands of the menu.

    Attributes:
        chips: by class.
        contexts: the switch of the contexts.
        menu: the menu.
    """

    filtered = Signal(object)
    stepped = Signal(int)
    contexts_switched = Signal(bool)
    swap_requested = Signal()
    again_requested = Signal()
    other_requested = Signal()
    report_requested = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(themes, name="compareBar", label="Differences", parent=parent)
        self.chips: dict[int, QToolButton] = {}
        for found in DifferenceClass:
            if found is not DifferenceClass.SAME:
                self.chips[found] = self._chip(found)
                self.row.addWidget(self.chips[found])
        self.row.addStretch(1)
        self.previous = self._button("up", "Previous difference (K)", "comparePrevious")
        self.next = self._button("down", "Next difference (J)", "compareNext")
        self.previous.clicked.connect(lambda: self.stepped.emit(-1))
        self.next.clicked.connect(lambda: self.stepped.emit(1))
        self.contexts = QToolButton(self)
        self.contexts.setObjectName("compareContexts")
        self.contexts.setText("Contexts")
        self.contexts.setToolTip("Show what both models had received before the chosen step")
        self.contexts.setAccessibleName("Contexts of both models")
        self.contexts.setCheckable(True)
        self.contexts.setProperty("variant", "chip")
        self.contexts.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.contexts.toggled.connect(self.contexts_switched)
        self.row.addWidget(self.contexts)
        self.menu = QMenu(self)
        self.menu.setObjectName("compareMenu")
        for name, words, signal in (
            ("compareSwap", "Swap A and B", self.swap_requested),
            ("compareAgain", "Compare again", self.again_requested),
            ("compareOther", "Compare with...", self.other_requested),
            ("compareReport", "Save as HTML report...", self.report_requested),
        ):
            action = QAction(words, self)
            action.setObjectName(name)
            action.triggered.connect(signal)
            self.menu.addAction(action)
        self.more = self._button("more", "More commands", "compareMore")
        self.more.setMenu(self.menu)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.begin()

    def _button(self, icon: str, words: str, name: str) -> IconButton:
        button = IconButton(self._themes, icon, words, name=name, parent=self)
        self.row.addWidget(button)
        return button

    def _chip(self, found: int) -> QToolButton:
        chip = QToolButton(self)
        chip.setObjectName(f"compareChip{found}")
        chip.setProperty("variant", "chip")
        chip.setCheckable(True)
        chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        chip.toggled.connect(lambda _on: self.filtered.emit(self.chosen))
        chip.hide()
        return chip

    @property
    def chosen(self) -> frozenset[int]:
        """The chosen classes."""
        return frozenset(found for found, chip in self.chips.items() if chip.isChecked())

    def show_counts(self, counts: Mapping[str, int]) -> None:
        """Shows a chip for each class that occurs; `counts` as in `Verdict`."""
        for found, chip in self.chips.items():
            count = counts.get(DifferenceClass(found).name.lower(), 0)
            chip.blockSignals(True)
            chip.setChecked(False)
            chip.blockSignals(False)
            chip.setText(f"{LOOKS[found].word} {count:,}")
            chip.setAccessibleName(f"Only {LOOKS[found].word}, {count:,}")
            chip.setToolTip(f"Show only: {LOOKS[found].word}")
            chip.setProperty("occurs", count > 0)
        self.fit()

    @override
    def fit(self) -> None:
        """Shows as many chips as fit, most telling classes first."""
        room = self.room_beside(list(self.chips.values()))
        for chip in self.chips.values():
            width = chip.sizeHint().width()
            fits = bool(chip.property("occurs")) and (room >= width or chip.isChecked())
            chip.setVisible(fits)
            room -= width if fits else 0
