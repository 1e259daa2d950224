"""Preview of the secrets that an export would mask: a sentence, and a line for each rule with hits."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from inspector.engine.requests.exports import Preview
from inspector.present import formats
from inspector.protocol.secrets.masking import SecretRule
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.labels import IconLabel, TextLabel


class SecretsPreview(QFrame):
    """A card that updates while secrets are counted."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        """Creates the card in the state of a running count."""
        super().__init__(parent)
        self.setObjectName("exportSecrets")
        self.setProperty("variant", "card")
        self._masked = True
        self._preview: Preview | None = None
        self._total = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(8)
        self._icon = IconLabel(theme_controller, "hidden", name="exportSecretsIcon", parent=self)
        self._headline = TextLabel(variant="strong", name="exportSecretsHeadline", wrap=True, parent=self)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._headline, 1)
        column.addLayout(row)
        self._rules = QGridLayout()
        self._rules.setContentsMargins(24, 0, 0, 0)
        self._rules.setHorizontalSpacing(12)
        self._rules.setVerticalSpacing(2)
        self._rules.setColumnStretch(2, 1)
        self._lines = {rule: self._add_line(place, rule) for place, rule in enumerate(SecretRule)}
        column.addLayout(self._rules)
        self._update_texts()

    def _add_line(self, place: int, rule: SecretRule) -> tuple[TextLabel, TextLabel, TextLabel]:
        name = f"exportRule_{rule.name.lower()}"
        words = TextLabel(rule.words, name=name, parent=self)
        count = TextLabel(name=f"{name}Count", parent=self)
        count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        where = TextLabel(variant="hint", name=f"{name}Where", parent=self)
        line = words, count, where
        for column, label in enumerate(line):
            self._rules.addWidget(label, place, column)
            label.hide()
        return line

    def show_preview(self, preview: Preview | None, total: int) -> None:
        """Shows the count so far among `total` messages; None before the count."""
        self._preview, self._total = preview, total
        self._update_texts()

    def set_masked(self, masked: bool) -> None:
        """Chooses between masked and unmasked secrets in the sentence."""
        self._masked = masked
        self._update_texts()

    def say_trouble(self, sentence: str) -> None:
        """Shows why counting has failed."""
        self._preview = None
        self._icon.set_icon("error", "severity.error")
        self._headline.setText(sentence)
        self.setAccessibleName(sentence)

    def _update_texts(self) -> None:
        preview = self._preview
        warns = not self._masked and (preview is None or preview.secrets > 0 or not preview.complete)
        self._icon.set_icon("warning" if warns else "hidden", "severity.warning" if warns else "ink.secondary")
        sentence = self._sentence()
        self._headline.setText(sentence)
        for rule, (words, count, where) in self._lines.items():
            found = preview.tally[rule] if preview is not None else 0
            for label in (words, count, where):
                label.setVisible(found > 0)
            if preview is not None and found:
                count.setText(formats.number(found))
                where.setText(_first_numbers(preview.firsts.get(rule, [])))
        self.setAccessibleName(sentence)

    def _sentence(self) -> str:
        preview = self._preview
        if preview is None:
            return "Searching for secrets..."
        if not preview.complete:
            seen = f"{formats.number(preview.messages)} of {formats.count_of(self._total, 'message')}"
            return f"Searching for secrets: {formats.number(preview.secrets)} so far in {seen}."
        if not preview.secrets:
            return "No secrets found."
        found = formats.count_of(preview.secrets, "secret") + " in " + formats.count_of(preview.holding, "message")
        return f"{found} will be {'masked' if self._masked else 'written unmasked'}."


def _first_numbers(firsts: list[int]) -> str:
    return ("No. " + ", ".join(str(message + 1) for message in firsts)) if firsts else ""
