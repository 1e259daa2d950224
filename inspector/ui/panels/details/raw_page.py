"""Raw tab: the bytes of the envelope, the whole log line, or the envelope as formatted JSON."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from inspector.engine.requests.raw_text import CopyRawText, RawPart, RawText, ShowRawText
from inspector.present.json_spans import Steps
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.json_text import JsonText
from inspector.ui.panels.details.section import LinkText, SegmentButton, Segments
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.latest_answer import Client, Pending, raise_failure

_PARTS: dict[str, RawPart] = {"Envelope": "envelope", "Line": "line", "Formatted": "formatted"}


class RawPage(QWidget):
    """Monospaced bytes with controls above: the head and the end, with more on request.

    Attributes:
        is_current: the text asked for last is shown.

    Signals:
        save_requested(int): write this message's bytes to a file.
        value_chosen(tuple): the cursor moved to a value of the envelope; carries its keys and indexes.
    """

    save_requested = Signal(int)
    value_chosen = Signal(object)

    def __init__(self, themes: ThemeController, client: Client, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rawPage")
        self.setProperty("variant", "base")
        self._themes, self._client = themes, client
        self._message: int | None = None
        self._more = 0
        self._pending: Pending | None = None
        self._chosen_steps: tuple[str | int, ...] | None = None  # to select once the text has arrived
        self.is_current = False
        metrics = themes.theme.metrics
        self.what = Segments(themes, tuple(_PARTS), "rawWhat", "Show", self)
        self.secrets = SegmentButton(themes, "Show secrets", "showSecrets", self)
        self.copy = LinkText(themes, "Copy", "copyRaw", self)
        self.sentence = TextLabel(variant="hint", name="rawSentence", wrap=True, parent=self)
        self.sentence.setAccessibleName("Notes")
        self.save = LinkText(themes, "Save as...", "saveRaw", self)
        self.more_link = LinkText(themes, "Show more", "rawMore", self)
        self.text = JsonText(themes, self)
        self.text.setObjectName("rawText")
        self.text.setAccessibleName("Bytes")
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text.document().setDocumentMargin(0)
        # Two lines: one would widen the panel.
        bar = QHBoxLayout()
        bar.setSpacing(metrics.unit)
        bar.addWidget(self.secrets)
        bar.addStretch(1)
        bar.addWidget(self.copy)
        bar.addSpacing(metrics.unit)
        bar.addWidget(self.save)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(metrics.pane_padding, 2 * metrics.unit, metrics.unit, 2 * metrics.unit)
        layout.setSpacing(metrics.unit)
        inner = QVBoxLayout()
        inner.setContentsMargins(0, 0, metrics.pane_padding - metrics.unit, 0)
        inner.setSpacing(metrics.unit)
        inner.addWidget(self.what)
        inner.addLayout(bar)
        layout.addLayout(inner)
        layout.addWidget(self.sentence)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.more_link)
        self.text.value_chosen.connect(self._on_value_chosen)
        self.what.choose("Envelope")
        self.what.chosen.connect(self._refresh)
        self.secrets.toggled.connect(self._refresh)
        self.more_link.clicked.connect(self._on_more)
        self.copy.clicked.connect(self._on_copy)
        self.save.clicked.connect(self._on_save)
        self._on_theme_changed()
        themes.changed.connect(self._on_theme_changed)

    def show_message(self, message: int) -> None:
        """Shows a message's bytes; secrets are masked again."""
        self._message = message
        # The change must not ask for the old message again.
        self.secrets.blockSignals(True)
        self.secrets.setChecked(False)
        self.secrets.blockSignals(False)
        self._refresh()

    def _refresh(self, *_: object) -> None:
        """Starts again from the head, after another part or the secrets were chosen."""
        self._more = 0
        self._ask()

    def _ask(self, scrolled: int | None = None) -> None:
        """Asks for the text; `scrolled` is the scroll offset to keep."""
        if self._message is None:
            return
        if self._pending is not None:
            self._pending.cancel()
        self.is_current = False
        question = ShowRawText(
            self._message, _PARTS[self.what.choice], self._more, with_secrets=self.secrets.isChecked()
        )  # fmt: skip
        self._pending = self._client.send_request(question, lambda raw: self._show(raw, scrolled))

    def _show(self, raw: RawText, scrolled: int | None) -> None:
        self.what.setVisible(raw.has_parts)
        self.secrets.setVisible(raw.may_hold_secrets or self.secrets.isChecked())
        self.sentence.setText(raw.notes)
        self.sentence.setVisible(bool(raw.notes))
        self.more_link.setVisible(raw.has_more)
        self.more_link.setAccessibleName(self.more_link.text())
        self.text.show_text(raw.text, is_json=raw.is_json, folds=raw.folds)
        if scrolled is not None:
            self.text.verticalScrollBar().setValue(scrolled)
        self.is_current = True
        if self._chosen_steps is not None:
            self.choose(self._chosen_steps)

    def choose(self, steps: Sequence[str | int]) -> None:
        """Selects a value of the envelope, except in the view of the line."""
        self._chosen_steps = None if self.is_current else tuple(steps)
        if self.is_current and self.what.choice != "Line":
            self.text.choose(steps)

    def _on_more(self) -> None:
        self._more += 1
        self._ask(self.text.verticalScrollBar().value())

    def _on_copy(self) -> None:
        if self._message is not None:
            question = CopyRawText(
                self._message, _PARTS[self.what.choice], self._more, with_secrets=self.secrets.isChecked()
            )  # fmt: skip
            self._client.send_request(question, QGuiApplication.clipboard().setText, raise_failure)

    def _on_value_chosen(self, steps: Steps) -> None:
        if self.what.choice != "Line":
            self.value_chosen.emit(steps)

    def _on_save(self) -> None:
        if self._message is not None:
            self.save_requested.emit(self._message)

    def _on_theme_changed(self) -> None:
        self.text.setFont(self._themes.theme.font("mono"))
        self.text.renew_colors()
