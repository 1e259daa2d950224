"""Settings > General > Contexts: idle time, and the collapse order of transient results."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from inspector.settings import Contexts
from inspector.settings.model import LONGEST_IDLE_S
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.number_field import NumberField
from inspector.ui.widgets.segmented import SegmentedControl

IDLE_HELP = "Time after its last message during which a context is active. The protocol does not mark its end."
COLLAPSES_HELP = (
    "The result that a consumption collapses if several wait. The guide to transient results has both versions. Its "
    "only sentence about several results names the oldest."
)


class ContextsPage(QWidget):
    """Edits a copy of the settings for contexts.

    Signals:
        changed(Contexts): the user made a change; a new object each time.
    """

    changed = Signal(object)

    def __init__(self, theme_controller: ThemeController, contexts: Contexts, parent: QWidget | None = None) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            contexts: the shown settings; not changed.
            parent: the owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._now = contexts.model_copy()
        self.setObjectName("settingsContexts")
        self.setAccessibleName("Contexts")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._build())
        column.addStretch(1)
        self.show_values(contexts)

    def _build(self) -> Form:
        form = Form(self._themes, self)
        self._idle = NumberField("settingsIdleAfter", "Idle after", 1, LONGEST_IDLE_S, self)
        self._idle.setSuffix(" s")
        self._idle.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._idle.valueChanged.connect(self._on_idle_changed)
        self._collapses = SegmentedControl(
            self._themes,
            (("oldest", "Oldest"), ("newest", "Newest")),
            name="settingsCollapses",
            label="Collapse first",
            parent=self,
        )
        self._collapses.chosen.connect(self._on_collapses_chosen)
        idle = FieldColumn(self._idle, name="settingsIdleColumn", help_text=IDLE_HELP, parent=self)
        collapses = FieldColumn(self._collapses, name="settingsCollapsesColumn", help_text=COLLAPSES_HELP, parent=self)
        form.add_field("Idle after", idle, self._idle)
        form.add_field("Collapse first", collapses)
        return form

    def show_values(self, contexts: Contexts) -> None:
        """Shows other settings without a signal."""
        self._now = contexts.model_copy()
        self._idle.blockSignals(True)
        self._idle.setValue(contexts.idle_after_s)
        self._idle.blockSignals(False)
        self._collapses.set_value(contexts.collapses)

    def _change(self, **values: object) -> None:
        self._now = self._now.model_copy(update=values)
        self.changed.emit(self._now.model_copy())

    def _on_idle_changed(self, seconds: int) -> None:
        self._change(idle_after_s=seconds)

    def _on_collapses_chosen(self, which: str) -> None:
        self._change(collapses=which)
