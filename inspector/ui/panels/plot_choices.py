"""Choices shared by all plots of a document: spacing of messages and the reader of the model context."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from inspector.analysis import Analysis
from inspector.analysis.views.model_context import Reader
from inspector.analysis.views.model_context.reader import named_reader


class PlotChoices(QObject):
    """The choices of one document.

    Signals:
        spacing_changed(str): a new spacing of messages (`axis.Spacing`).
        spacing_chosen(str): the user chose a spacing.
        reader_changed(bool): find the reader again; True if the user chose it, so that views update at once.

    Attributes:
        spacing: by time or by count.
        chosen: the reader chosen by the user; None follows the selected message.
        followed: the selected message.
        is_held: True while the present reader stays, whatever is selected.
        looking_up: True while a message of the displayed context is being selected; it is not followed.
    """

    spacing_changed = Signal(str)
    spacing_chosen = Signal(str)
    reader_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.spacing = "time"
        self.chosen: Reader | None = None
        self.followed: int | None = None
        self.is_held = self.looking_up = False
        self._found: Reader | None = None

    # Spacing of messages

    def space_by(self, spacing: str) -> None:
        if spacing != self.spacing:
            self.spacing = spacing
            self.spacing_changed.emit(spacing)

    def choose_spacing(self, spacing: str) -> None:
        """Sets the spacing the user chose and announces it."""
        self.space_by(spacing)
        self.spacing_chosen.emit(spacing)

    # Reader of the model context

    def find(self, analysis: Analysis, known: Sequence[Reader]) -> Reader | None:
        """Returns the reader to display. It changes only after a choice or selection of the user.

        Args:
            analysis: of the document.
            known: possible readers, the most active first.
        """
        found = _equal_reader(self._found, known)
        if (chosen := _equal_reader(self.chosen, known)) is not None:
            found = chosen
        # A message may be selected before the analysis has reached it.
        elif not self.is_held and self.followed is not None and self.followed < len(analysis):
            found = named_reader(analysis, self.followed, known) or found
        self._found = found or (known[0] if known else None)
        return self._found

    def choose(self, reader: Reader | None) -> None:
        """Displays a reader from now on; None follows the selected message."""
        self.chosen = reader
        self.reader_changed.emit(True)

    def follow(self, message: int | None) -> None:
        """Follows the selected message."""
        if message is not None and message != self.followed and not self.looking_up:
            self.followed = message
            if self.chosen is None and not self.is_held:
                self.reader_changed.emit(False)

    def hold(self, on: bool) -> None:
        """Keeps the present reader, or follows the selection again."""
        if on != self.is_held:
            self.is_held = on
            if not on:
                self.reader_changed.emit(False)


def _equal_reader(reader: Reader | None, known: Sequence[Reader]) -> Reader | None:
    """Returns the equal reader of `known`, which has the present name, or None."""
    return next((one for one in known if one == reader), None)
