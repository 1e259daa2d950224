"""A card in a dialog that says what is under way or what came of it."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.labels import IconLabel, TextLabel


class ResultCard(QFrame):
    """An icon, a sentence, and a line of more about it; hidden until there is something to say."""

    def __init__(self, theme_controller: ThemeController, *, name: str, parent: QWidget) -> None:
        """Make a hidden card; its parts are named after it: `...Icon`, `...Headline`, `...Detail`."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("variant", "card")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        self._icon = IconLabel(theme_controller, "success", name=f"{name}Icon", parent=self)
        words = QVBoxLayout()
        words.setSpacing(2)
        self._headline = TextLabel(variant="strong", name=f"{name}Headline", wrap=True, parent=self)
        self._detail = TextLabel(variant="hint", name=f"{name}Detail", wrap=True, parent=self)
        words.addWidget(self._headline)
        words.addWidget(self._detail)
        row.addWidget(self._icon)
        row.addLayout(words, 1)
        self.hide()

    def say(self, icon: str, token: str, headline: str, detail: str = "") -> None:
        """Show a sentence, and more about it if there is more."""
        self._icon.set_icon(icon, token)
        self._headline.setText(headline)
        self._detail.setText(detail)
        self._detail.setVisible(bool(detail))
        self.setAccessibleName(f"{headline} {detail}".strip())
        self.show()
