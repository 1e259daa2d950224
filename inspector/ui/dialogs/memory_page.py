"""Settings > General > Memory: limit for the messages of a window."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.base.memory_budget import MIN_BUDGET_MB
from inspector.settings import Memory, Settings
from inspector.ui.dialogs.settings_dialog import SettingsPage
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.number_field import NumberField

_HELP = (
    "When the messages of a window reach this limit, reading stops with a notice. A live capture continues on disk. "
    "Continue extends the limit by the same amount. Applies to windows opened from now on."
)
_STEP_MB = 100


class MemoryPage(SettingsPage):
    """Edits the settings for memory."""

    def __init__(self, theme_controller: ThemeController, settings: Settings, parent: QWidget | None = None) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            settings: edited in place.
            parent: the owner.
        """
        super().__init__(settings, parent, name="settingsMemory", title="Memory")
        form = Form(theme_controller, self)
        self._limit = NumberField("settingsMemoryLimit", "For messages", 0, 1_000_000, self)
        self._limit.setSingleStep(_STEP_MB)
        self._limit.setSuffix(" MB")
        self._limit.setSpecialValueText("Half of the free memory")
        self._limit.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._limit.setValue(settings.memory.limit_mb)
        self._limit.valueChanged.connect(self._on_limit_changed)
        help_text = f"{_HELP} At least {MIN_BUDGET_MB} MB."
        limit = FieldColumn(self._limit, name="settingsMemoryColumn", help_text=help_text, parent=self)
        form.add_field("For messages", limit, self._limit)
        self._column.addLayout(form)
        self._column.addStretch(1)

    def restore(self) -> None:
        """Restores the default without a signal."""
        self._settings.memory = Memory()
        self._limit.blockSignals(True)
        self._limit.setValue(0)
        self._limit.blockSignals(False)

    def _on_limit_changed(self, megabytes: int) -> None:
        self._settings.memory = Memory(limit_mb=megabytes)
        self.changed.emit()
