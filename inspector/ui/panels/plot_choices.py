"""What is chosen once for all plots of a document: how far apart messages stand, and whose model is looked at."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from inspector.analysis import Analysis
from inspector.analysis.views.model_context import Reader
from inspector.analysis.views.model_context.reader import named_reader


class PlotChoices(QObject):
    """The choices of one document.

    Signals:
        spacing_changed(str): messages are to stand so far apart, an `axis.Spacing`.
        spacing_chosen(str): the user said so.
        reader_changed(bool): whose model is looked at is to be found anew; at once, as the user has chosen it.

    Attributes:
        spacing: how far apart messages stand.
        chosen: whose model the user wants to see; None for that of whom the selected message concerns.
        followed: the message that is selected.
        held: whoever it is now stays, whatever is selected.
        looking_up: what is being selected stands in the context that is shown, and is not followed.
    """

    spacing_changed = Signal(str)
    spacing_chosen = Signal(str)
    reader_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.spacing = "time"
        self.chosen: Reader | None = None
        self.followed: int | None = None
        self.held = self.looking_up = False
        self._found: Reader | None = None

    # How far apart messages stand

    def space_by(self, spacing: str) -> None:
        """Let messages stand so far apart."""
        if spacing != self.spacing:
            self.spacing = spacing
            self.spacing_changed.emit(spacing)

    def choose_spacing(self, spacing: str) -> None:
        """The user chose how far apart they stand."""
        self.space_by(spacing)
        self.spacing_chosen.emit(spacing)

    # Whose model

    def find(self, analysis: Analysis, known: Sequence[Reader]) -> Reader | None:
        """Whose model is looked at.

        It changes only where the user chooses or selects, never by itself.

        Args:
            analysis: of the document.
            known: who may have a model, those who act most first.
        """
        found = _known(self._found, known)
        if (chosen := _known(self.chosen, known)) is not None:
            found = chosen
        elif not self.held and self.followed is not None and self.followed < len(analysis):
            found = named_reader(analysis, self.followed, known) or found
        self._found = found or (known[0] if known else None)
        return self._found

    def choose(self, reader: Reader | None) -> None:
        """Look at somebody's model from now on, or at that of whom the selected message concerns."""
        self.chosen = reader
        self.reader_changed.emit(True)

    def follow(self, message: int | None) -> None:
        """A message was selected."""
        if message is not None and message != self.followed and not self.looking_up:
            self.followed = message
            if self.chosen is None and not self.held:
                self.reader_changed.emit(False)

    def hold(self, on: bool) -> None:
        """Stay with whoever it is now, or go with what is selected again."""
        if on != self.held:
            self.held = on
            if not on:
                self.reader_changed.emit(False)


def _known(reader: Reader | None, known: Sequence[Reader]) -> Reader | None:
    """The same reader as it is called now; None where it is not known any more."""
    return next((one for one in known if one == reader), None)
