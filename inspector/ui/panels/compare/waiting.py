"""Page of the view Compare without a comparison: progress with Cancel, or a sentence and the choice of a run."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from inspector.engine.requests.run_comparisons import OtherProgress
from inspector.present import formats
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.labels import TextLabel

NOTHING = "No other run is chosen. Compare with... opens one beside this log."
COMPARING = "Comparing the runs..."
_BAR = 320
_STEPS = 1_000


class WaitingPage(QWidget):
    """Progress, or a sentence.

    Signals:
        cancelled(): cancel the comparison.
        choice_requested(): choose another run.

    Attributes:
        is_running: a comparison is being made.
        state, cancel_button, choose_button: its parts.
    """

    cancelled = Signal()
    choice_requested = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("compareWaiting")
        self._name = ""
        self.is_running = False
        self.state = TextLabel(variant="secondary", name="compareState", wrap=True, parent=self)
        self.state.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.progress = QProgressBar(self)
        self.progress.setObjectName("compareProgress")
        self.progress.setAccessibleName("Progress")
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(round(_BAR * themes.theme.zoom))
        self.cancel_button = WordButton("Cancel", name="compareCancel", parent=self)
        self.cancel_button.clicked.connect(lambda _on: self.cancelled.emit())
        self.choose_button = WordButton("&Compare with...", name="compareChoose", parent=self)
        self.choose_button.clicked.connect(lambda _on: self.choice_requested.emit())
        column = QVBoxLayout(self)
        column.setSpacing(round(10 * themes.theme.zoom))
        column.addStretch(2)
        column.addWidget(self.state)
        for widget in (self.progress, self.cancel_button, self.choose_button):
            line = QHBoxLayout()
            line.addStretch(1)
            line.addWidget(widget)
            line.addStretch(1)
            column.addLayout(line)
        column.addStretch(3)
        self.end(NOTHING)

    def begin(self, name: str) -> None:
        """Shows that a run of this name is read."""
        self._name = name
        self._show(f"Reading {name}...", is_running=True)

    def end(self, sentence: str) -> None:
        """Shows the end of a comparison that is not shown."""
        self._show(sentence, is_running=False)

    def show_progress(self, progress: OtherProgress) -> None:
        """Shows the share of the log that is read."""
        if progress.done >= progress.total:
            self.state.setText(COMPARING)
            self.progress.setRange(0, 0)
            return
        self.progress.setRange(0, _STEPS)
        self.progress.setValue(round(_STEPS * progress.done / progress.total))
        self.state.setText(f"Reading {self._name}: {formats.count_of(progress.messages, 'message')}")

    def _show(self, sentence: str, *, is_running: bool) -> None:
        self.is_running = is_running
        self.state.setText(sentence)
        self.progress.setRange(0, 0)
        for widget, is_shown in (
            (self.progress, is_running), (self.cancel_button, is_running), (self.choose_button, not is_running),
        ):  # fmt: skip
            widget.setVisible(is_shown)
