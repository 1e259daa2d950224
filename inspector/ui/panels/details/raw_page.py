"""Raw tab: the bytes of the envelope, the whole log line, or the envelope as formatted JSON."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from inspector.present import formats, wire_text
from inspector.present.converted import place_in_original
from inspector.present.subject import Subject
from inspector.present.wire_text import visible_controls
from inspector.protocol.payloads.result_content import pretty_json
from inspector.protocol.secrets.masking import mask_text, may_hold_secrets
from inspector.protocol.secrets.streamed_event_queue import mask_lines
from inspector.store.columns.flags import Flag
from inspector.store.columns.large_headers import MAX_WHOLE_BYTES
from inspector.store.messages.original_lines import LoggedLines
from inspector.store.messages.piece_masks import shown_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.json_text import JsonText, Steps
from inspector.ui.panels.details.section import LinkText, SegmentButton, Segments
from inspector.ui.widgets.labels import TextLabel

FIRST = 1 << 15
"""Characters shown at first; one long line takes long to lay out."""
STEP = 1 << 16
"""Characters added by each "Show more"."""
MOST = 5 * STEP
"""Most characters shown: layout takes 40 ms for 300 kB, over 100 ms for 1 MB. Save writes everything."""
LAST = 1 << 11
"""Characters of the end, shown below a cut."""
_MARK = "…"
# Bytes read before the end, so that masking sees the key of a secret.
_MASK_CONTEXT_BYTES = 1 << 16


FORMATTED = "Formatted"


class RawPage(QWidget):
    """Monospaced bytes with controls above: the head and the end, with more on request.

    Signals:
        save_requested(int): write this message's bytes to a file.
        value_chosen(tuple): the cursor moved to a value of the envelope; carries its keys and indexes.
    """

    save_requested = Signal(int)
    value_chosen = Signal(object)

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rawPage")
        self.setProperty("variant", "base")
        self._themes = themes
        self._subject: Subject | None = None
        self._logged: LoggedLines | None = None
        self._holds_pieces = False
        self._head = ""
        self._copied: str | None = ""  # None: read when copied
        self._end = ""
        self._hidden_size = ""
        self._room = FIRST
        self._formatted: str | None = None
        metrics = themes.theme.metrics
        self.what = Segments(themes, ("Envelope", "Line", FORMATTED), "rawWhat", "Show", self)
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

    def show_subject(self, subject: Subject, *, keep_place: bool) -> None:
        """Shows a message's bytes; secrets are masked again."""
        if keep_place:
            # Bytes never change.
            return
        self._subject, self._logged = subject, LoggedLines(subject.capture, subject.message)
        # The change must not read the old message again.
        self.secrets.blockSignals(True)
        self.secrets.setChecked(False)
        self.secrets.blockSignals(False)
        self._refresh()

    def _refresh(self, *_: object) -> None:
        """Starts again from the head, after another part or the secrets were chosen."""
        self._room = FIRST
        self._read()

    def _read(self) -> None:
        subject, logged = self._subject, self._logged
        if subject is None or logged is None:
            return
        big = subject.is_big or (subject.is_derived and logged.length > MAX_WHOLE_BYTES)
        self._holds_pieces = False
        self._formatted = self._formatted_text(subject) if self.what.choice == FORMATTED and not big else None
        # Masking pieces of thousands of lines takes long, so hidden ones are masked only for a copy.
        cut = logged.length > self._room + LAST and subject.is_derived and self._formatted is None
        in_parts = big or (cut and len(logged.places) > 1)
        text, end, hidden = self._parts(logged) if in_parts else self._read_small(subject, logged)
        with_secrets = self.secrets.isChecked()
        # Hidden text is masked only for a copy: 1 MB of JSON takes 0.1 s.
        head = text[: 4 * self._room] if hidden and not big else text
        masked = head if with_secrets else wire_text.mask_start(head, self._room)
        masked_end = end if with_secrets else mask_text(end)
        self._hidden_size = hidden
        self._head = masked[: self._room] if big or hidden else masked
        self._end = masked_end[-LAST:] if hidden else ""
        # Of a large message, only the shown parts are in memory.
        self._copied = self._shown_text() if big else None if in_parts else text
        is_masked = masked != head or masked_end != end or (self._holds_pieces and not with_secrets)
        may_be = is_masked or bool(hidden and (self._copied is None or may_hold_secrets(text)))
        self._show_notes(subject, logged, big=big, is_masked=is_masked, may_be=may_be)
        folds = self.what.choice == FORMATTED and self._formatted is not None
        is_json = not subject.flags & Flag.FRAME.value
        self.text.show_text(self._visible_text(), is_json=is_json, folds=folds and not hidden)

    def _shown_text(self) -> str:
        if not self._hidden_size:
            return self._head
        return f"{self._head}\n\n{_MARK} {self._hidden_size} not shown {_MARK}\n\n{self._end}"

    def _visible_text(self) -> str:
        """Returns the shown text with visible control characters; they count towards the limits."""
        seen = visible_controls(self._head)
        if not self._hidden_size and len(seen) <= MOST:
            return seen
        between = f"\n\n{_MARK} {self._hidden_size or 'The rest is'} not shown {_MARK}\n\n"
        return seen[: self._room] + between + visible_controls(self._end)[-LAST:]

    def choose(self, steps: Sequence[str | int]) -> None:
        """Selects a value of the envelope, except in the view of the line."""
        if self.what.choice != "Line":
            self.text.choose(steps)

    def _formatted_text(self, subject: Subject) -> str | None:
        """Returns the envelope as JSON, one value a line; None for other lines."""
        with subject.capture.records.unmasked(if_=self.secrets.isChecked()):
            value = subject.capture.records.envelope(subject.message)
        return pretty_json(value) if isinstance(value, dict | list) else None

    def _read_small(self, subject: Subject, logged: LoggedLines) -> tuple[str, str, str]:
        """Returns the text, its end, and the size of a cut between them."""
        capture, message = subject.capture, subject.message
        if self._formatted is None and (self.what.choice == "Line" or subject.is_derived):
            raw, shown = logged.read(0, logged.length), shown_line(capture, message)
        else:
            shown = capture.records.envelope_bytes(message)
            with capture.records.unmasked():
                raw = capture.records.envelope_bytes(message)
        chosen = self._masked_or_raw(raw, shown)
        return self._cut(_decoded(chosen) if self._formatted is None else self._formatted)

    def _masked_or_raw(self, raw: bytes, shown: bytes) -> bytes:
        """Returns the logged bytes if secrets are shown, else without pieces of secrets that span lines.

        Records if the two differ.
        """
        self._holds_pieces = self._holds_pieces or raw != shown
        return raw if self.secrets.isChecked() else shown

    def _cut(self, text: str) -> tuple[str, str, str]:
        hidden = len(text) - self._room - LAST
        return (
            (text, text[-LAST - _MASK_CONTEXT_BYTES :], f"{formats.number(hidden)} characters")
            if hidden > 0
            else (text, "", "")
        )

    def _parts(self, logged: LoggedLines) -> tuple[str, str, str]:
        """Reads and masks only the shown parts of a large message."""
        if len(logged.places) > 1:
            firsts, lasts = [*logged.lines(0, self._room)], [*logged.lines(logged.length - LAST, logged.length)]
            head = self._masked_or_raw(b"\n".join(firsts), b"\n".join(mask_lines(firsts)))
            end = self._masked_or_raw(b"\n".join(lasts), b"\n".join(mask_lines(lasts)))
            head, end = head[: 4 * self._room], end[-LAST - _MASK_CONTEXT_BYTES :]
        else:
            head, end = (
                logged.read(0, self._room),
                logged.read(logged.length - LAST - _MASK_CONTEXT_BYTES, LAST + _MASK_CONTEXT_BYTES),
            )
        hidden = formats.size(logged.length - self._room - LAST)
        return head.decode("utf-8", "replace"), end.decode("utf-8", "replace"), hidden

    def _show_notes(self, subject: Subject, logged: LoggedLines, *, big: bool, is_masked: bool, may_be: bool) -> None:
        """Shows the notes about omitted parts; `may_be` is True if hidden parts may add secrets to a copy."""
        converted = place_in_original(subject.capture, subject.message)
        words = [converted] if converted is not None else []
        several = len(logged.places) > 1
        if several:
            words.append(f"Assembled from {formats.number(len(logged.places))} lines, shown as logged.")
        if big:
            what = "The lines have" if several else "The line has"
            words.append(f"{what} {formats.size(logged.length)}; only beginning and end are shown.")
        if is_masked:
            words.append("Secrets are masked.")
        self.what.setVisible(not big and not subject.is_derived)
        self.secrets.setVisible(may_be or self.secrets.isChecked())
        self.sentence.setText(" ".join(words))
        self.sentence.setVisible(bool(words))
        self.more_link.setVisible(bool(self._hidden_size) and self._room < MOST)
        self.more_link.setAccessibleName(self.more_link.text())

    def _on_more(self) -> None:
        place = self.text.verticalScrollBar().value()
        self._room = min(self._room + STEP, MOST)
        self._read()
        self.text.verticalScrollBar().setValue(place)

    def _on_copy(self) -> None:
        copied, subject, logged = self._copied, self._subject, self._logged
        if copied is None and subject is not None and logged is not None:
            shown = shown_line(subject.capture, subject.message)
            copied = _decoded(self._masked_or_raw(logged.read(0, logged.length), shown))
        with_secrets = self.secrets.isChecked()
        QGuiApplication.clipboard().setText((copied or "") if with_secrets else mask_text(copied or ""))

    def _on_value_chosen(self, steps: Steps) -> None:
        if self.what.choice != "Line":
            self.value_chosen.emit(steps)

    def _on_save(self) -> None:
        if self._subject is not None:
            self.save_requested.emit(self._subject.message)

    def _on_theme_changed(self) -> None:
        self.text.setFont(self._themes.theme.font("mono"))
        self.text.renew_colors()


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
