"""Raw: the bytes as they are, the envelope alone or the whole line of the log around it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from inspector.protocol.secrets import mask_text
from inspector.ui import formats
from inspector.ui.panels.details.section import LinkText, Segment, Segments
from inspector.ui.panels.details.subject import Subject
from inspector.ui.theme import ThemeController
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.wire_text import visible_controls

MAX_SHOWN = 1 << 20
"""Bytes; of a larger message only the head is shown."""
HEAD = 1 << 16
FIRST = 1 << 15
"""Characters shown at first: one line of many takes long to lay out. The rest is one click away."""


class RawPage(QWidget):
    """Bytes in mono, with what to show of them above."""

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rawPage")
        self.setProperty("variant", "base")
        self._themes = themes
        self._subject: Subject | None = None
        self._shown = ""
        metrics = themes.theme.metrics
        self.what = Segments(themes, ("Envelope", "Line"), "rawWhat", "Show", self)
        self.secrets = Segment(themes, "Show secrets", "showSecrets", self)
        self.copy = LinkText(themes, "Copy", "copyRaw", self)
        self.sentence = TextLabel(variant="hint", name="rawSentence", wrap=True, parent=self)
        self.sentence.setAccessibleName("What is shown")
        self.more = LinkText(themes, "Show all", "rawMore", self)
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("rawText")
        self.text.setAccessibleName("Bytes")
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setUndoRedoEnabled(False)
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text.document().setDocumentMargin(0)
        bar = QHBoxLayout()
        bar.setSpacing(metrics.unit)
        bar.addWidget(self.what)
        bar.addStretch(1)
        bar.addWidget(self.secrets)
        bar.addWidget(self.copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(metrics.pane_padding, 2 * metrics.unit, metrics.unit, 2 * metrics.unit)
        layout.setSpacing(metrics.unit)
        inner = QHBoxLayout()
        inner.setContentsMargins(0, 0, metrics.pane_padding - metrics.unit, 0)
        inner.addLayout(bar)
        layout.addLayout(inner)
        layout.addWidget(self.sentence)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.more)
        self.what.choose("Envelope")
        self.what.chosen.connect(self._refresh)
        self.secrets.toggled.connect(self._refresh)
        self.more.clicked.connect(self._on_more)
        self.copy.clicked.connect(self._on_copy)
        self._on_theme_changed()
        themes.changed.connect(self._on_theme_changed)

    def show_subject(self, subject: Subject, *, keep_place: bool) -> None:
        """Show a message's bytes; secrets are masked again."""
        if keep_place:
            return  # bytes never change
        self._subject = subject
        self.secrets.blockSignals(True)
        self.secrets.setChecked(False)
        self.secrets.blockSignals(False)
        self._refresh()

    def _bytes(self, subject: Subject) -> bytes:
        """The bytes chosen, no more than may be shown."""
        if subject.big:
            columns, message = subject.capture.columns, subject.message
            source = subject.capture.sources[int(columns["source"][message])]
            return source.read(int(columns["offset"][message]), HEAD)
        if self.what.choice == "Line":
            return subject.capture.record_bytes(subject.message)
        return subject.capture.envelope_bytes(subject.message)

    def _refresh(self, *_: object) -> None:
        subject = self._subject
        if subject is None:
            return
        text = self._bytes(subject).decode("utf-8", "backslashreplace")
        masked = text if self.secrets.isChecked() else mask_text(text)
        self._shown = masked
        words: list[str] = []
        if subject.big:
            size = formats.size(int(subject.capture.columns["length"][subject.message]))
            words.append(f"Only the first {formats.size(HEAD)} of {size} are shown, from the start of its line.")
        if masked != text:
            words.append("Secrets are masked.")
        self.what.setEnabled(not subject.big)
        self.secrets.setVisible(masked != text or self.secrets.isChecked())
        self.sentence.setText(" ".join(words))
        self.sentence.setVisible(bool(words))
        self._fill(masked[:FIRST])
        self.more.setVisible(len(masked) > FIRST)
        self.more.setText(f"Show all {formats.number(len(masked))} characters")
        self.more.setAccessibleName(self.more.text())
        self.more.updateGeometry()

    def _fill(self, text: str) -> None:
        self.text.setPlainText(visible_controls(text))

    def _on_more(self) -> None:
        self._fill(self._shown)
        self.more.hide()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._shown)

    def _on_theme_changed(self) -> None:
        self.text.setFont(self._themes.theme.font("mono"))
