"""Choices shared by all plots of a document: spacing of messages and the reader of the model context."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from inspector.engine.requests.filters import Scope
from inspector.engine.requests.model_contexts import Reader, ReaderChoice


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
        context: the context selected or scoped to after it: (string id of the space, node); None without one.
        shown: the displayed reader.
        is_held: True while the present reader stays, whatever is selected.
        looking_up: True while a message of the displayed context is being selected; it is not followed.
        awaited: such a message that the table will select once it shows it.
    """

    spacing_changed = Signal(str)
    spacing_chosen = Signal(str)
    reader_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.spacing = "time"
        self.chosen: Reader | None = None
        self.followed: int | None = None
        self.context: tuple[int, int] | None = None
        self.is_held = self.looking_up = False
        self.awaited: int | None = None
        self.shown: Reader | None = None

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

    @property
    def reader_choice(self) -> ReaderChoice:
        """The choice for requests; `shown` takes the reader of their answers."""
        return ReaderChoice(self.chosen, self.followed, self.shown, self.is_held, self.context)

    def choose(self, reader: Reader | None) -> None:
        """Displays a reader from now on; None follows the selected message."""
        self.chosen = reader
        self.reader_changed.emit(True)

    def follow(self, message: int | None) -> None:
        """Follows the selected message."""
        if message is not None and message not in (self.followed, self.awaited) and not self.looking_up:
            self.followed, self.context = message, None
            if self.chosen is None and not self.is_held:
                self.reader_changed.emit(False)

    def follow_context(self, space: int, node: int) -> None:
        """Follows the selected context, also after a choice of another reader."""
        if not self.is_held and self.context != (space, node):
            self.chosen, self.context = None, (space, node)
            self.reader_changed.emit(False)

    def follow_agent(self, message: int, space: int, node: int) -> None:
        """Follows an agent chosen from a list, whose first message is selected with it."""
        if not self.is_held:
            # The selection may be announced later, and must not replace the agent.
            self.followed = message
        self.follow_context(space, node)

    def follow_scope(self, scope: Scope | None) -> None:
        """Follows the context that the views are limited to, and no longer the one they were limited to."""
        if scope is not None and scope.node is not None:
            self.follow_context(scope.space, scope.node)
        elif self.context is not None and not self.is_held:
            self.context = self.shown = None
            self.reader_changed.emit(False)

    def hold(self, on: bool) -> None:
        """Keeps the present reader, or follows the selection again."""
        if on != self.is_held:
            self.is_held = on
            if not on:
                self.reader_changed.emit(False)
