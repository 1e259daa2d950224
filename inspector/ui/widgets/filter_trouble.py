"""Floating message below the filter bar with an error or advice; the layout does not move."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from inspector.engine.requests.filters import FilterNote, FilterProblem, truncate
from inspector.ui.look.style_sheet import repolish
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.floating import FloatingFrame
from inspector.ui.widgets.frames import frame_of
from inspector.ui.widgets.labels import IconLabel, TextLabel


class FilterTrouble(FloatingFrame):
    """A sentence and a suggestion below another widget.

    Signals:
        suggestion_taken: the suggestion was clicked.
    """

    suggestion_taken = Signal()

    def __init__(self, theme_controller: ThemeController, anchor: QWidget) -> None:
        """Makes the hidden message.

        Args:
            theme_controller: source of the look.
            anchor: the message opens below it.
        """
        super().__init__(theme_controller, name="filterTrouble", parent=anchor)
        self.setAccessibleName("Advice about the filter")
        self._anchor = anchor
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(12, 4, 12, 4)
        self._row.setSpacing(6)
        self._icon = IconLabel(
            theme_controller, "error", "severity.error", size=14, name="filterTroubleIcon", parent=self
        )
        self._sentence = TextLabel(variant="error", name="filterTroubleSentence", wrap=True, parent=self)
        self._advice = TextLabel(variant="secondary", name="filterTroubleAdvice", wrap=True, parent=self)
        self._link = LinkButton("", name="filterTroubleSuggestion", parent=self)
        self._link.clicked.connect(self.suggestion_taken)
        self._link.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # for the keyboard, Tab in the editor does the same
        self._key = TextLabel("Tab to accept", variant="small", name="filterTroubleKey", parent=self)
        for widget in (self._icon, self._sentence, self._advice, self._link, self._key):
            self._row.addWidget(widget)
        self.hide()

    def words(self) -> str:
        """Returns all visible text."""
        sentences = [self._sentence.text()]
        if not self._advice.isHidden():
            sentences.append(self._advice.text())
        if not self._link.isHidden():
            sentences.append(self._link.label)
        return " ".join(sentences)

    @property
    def offers(self) -> bool:
        """True if a suggestion is visible."""
        return self.isVisible() and not self._link.isHidden()

    def show_error(self, error: FilterProblem) -> None:
        """Shows an error; a suggestion with a replacement becomes a link."""
        suggestion = error.suggestion or ""
        ready = error.replacement is not None and bool(suggestion)
        self._show_text(error.message, "" if ready else suggestion, suggestion if ready else "", "error")

    def show_note(self, note: FilterNote) -> None:
        """Shows advice; the likely intended filter becomes a link."""
        self._show_text(note.message, note.suggestion, truncate(note.replacement or ""), "secondary")

    def _show_text(self, sentence: str, advice: str, link: str, variant: str) -> None:
        self._sentence.setText(sentence)
        self._icon.set_icon(*(("error", "severity.error") if variant == "error" else ("note", "severity.note")))
        if self._sentence.property("variant") != variant:
            self._sentence.setProperty("variant", variant)
            repolish(self._sentence)
        self._advice.setText(advice)
        self._link.set_label(link)
        self._advice.setVisible(bool(advice))
        self._link.setVisible(bool(link))
        self._key.setVisible(bool(link))
        self.place()
        self.show()
        self.raise_()

    def place(self) -> None:
        """Moves the message below the anchor, inside the window."""
        window = frame_of(self._anchor)
        if self.parentWidget() is not window:
            self.setParent(window)
        below = self._anchor.mapTo(window, QPoint(0, self._anchor.height() + 4))
        widest = max(240, window.width() - below.x() - 12)
        self._fit(widest)
        self.move(below)

    def _fit(self, widest: int) -> None:
        # On one line if it fits, else wrapped.
        for label in (self._sentence, self._advice):
            label.setWordWrap(False)
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        # Otherwise the size hint is that of the layout before.
        self._row.activate()
        wanted = self.sizeHint()
        if wanted.width() <= widest:
            self.resize(wanted)
            return
        for label in (self._sentence, self._advice):
            label.setWordWrap(True)
        self._row.activate()
        self.resize(widest, max(wanted.height(), self.heightForWidth(widest)))
