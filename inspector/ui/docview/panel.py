"""How a panel of the window is declared; the panels themselves are in `ui/window/panels.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from inspector.analysis import Changes
    from inspector.document.document import CaptureDocument

MESSAGES = "messages"
"""Id of the panel that is the middle column until another is chosen."""

SUBSESSIONS = "subsessions"
"""Id of the panel of sub-sessions, and of the page about them in the settings."""


class Area(Enum):
    """Where a panel stands until it is moved."""

    LEFT = "left"
    MIDDLE = "middle"
    """A tab of the middle column."""
    BOTTOM = "bottom"
    """Docks that lie on one another, hidden until they are asked for; such a panel is a `BottomPanel`."""
    RIGHT = "right"


@runtime_checkable
class ReadsDocument(Protocol):
    """What reads the document by itself."""

    def stop(self) -> object:
        """Read no more."""
        ...


@runtime_checkable
class BottomPanel(Protocol):
    """What a panel at the bottom has; something in it takes the keyboard: `setFocusProxy`."""

    head: Any
    """Its head, by which it can be dragged."""
    message_requested: Any
    """Signal(int): select this message."""
    filter_requested: Any
    """Signal(str, str): an expression, and how it joins the filter in force."""
    close_requested: Any
    """Signal(): it is to be hidden."""
    left: Any
    """Signal(): the keyboard goes back to the middle."""

    def apply_changes(self, changes: Changes) -> None:
        """Take in what is new in the document."""
        ...

    def stop(self) -> None:
        """Read no more of the document."""
        ...


H = TypeVar("H")


@dataclass(frozen=True, slots=True)
class Panel(Generic[H]):
    """One panel: a dock, or a view of the middle column.

    Attributes:
        id: stays the same between versions; stored layouts name it.
        title: what its dock or tab is called.
        area: where it stands until it is moved.
        action: id of the action that shows it.
        guide: name of the guide's page about it.
        make: makes it for the panes (H) of a document, and ties it to them.
        waits: it is made when it is shown first, not with the document (`Panes.panel`); it finds there what it would
            have heard by then.
        present: whether a document has it.
        outlives_panes: it stays when the document is shown anew after an edit, as it follows edits by itself.
        hidden: its dock is hidden until it is asked for, as all at the bottom are; it is a `BottomPanel`, too.
    """

    id: str
    title: str
    area: Area
    action: str
    guide: str
    make: Callable[[H], QWidget]
    waits: bool = False
    present: Callable[[CaptureDocument], bool] = lambda _document: True
    outlives_panes: bool = False
    hidden: bool = False

    @property
    def on_demand(self) -> bool:
        """Whether it is shown when it is asked for, and not with the document."""
        return self.hidden or self.area is Area.BOTTOM
