"""Declares a panel of the window, its place, and interfaces of panels; `ui/window/panels.py` lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from inspector.engine.document_state import DocumentState
    from inspector.engine.update import Update

MESSAGES = "messages"
"""Id of the default panel of the middle column."""

OVERVIEW = "overview"
"""Id of the panel that documents open on by default."""

COMPARE = "compare"
"""Id of the panel that compares the document with another run."""

CONVERSATION = "conversation"
"""Id of the panel that reads a document as a text."""


class Area(Enum):
    """Default place of a panel."""

    LEFT = "left"
    MIDDLE = "middle"
    """A tab of the middle column."""
    BOTTOM = "bottom"
    """Tabbed docks, hidden by default. Such a panel is a `BottomPanel`."""
    RIGHT = "right"


@runtime_checkable
class ReadsDocument(Protocol):
    """An object that reads the document on its own."""

    def stop(self) -> object: ...


@runtime_checkable
class OutlivesPanes(Protocol):
    """A view that is kept after an edit, and shows other panes."""

    def show_panes(self, panes: Any) -> object: ...


@runtime_checkable
class BottomPanel(Protocol):
    """Interface of a panel at the bottom. Its `setFocusProxy` names the widget that takes the focus."""

    head: Any
    """Its head, by which it can be dragged."""
    message_requested: Any
    """Signal(int): select this message."""
    filter_requested: Any
    """Signal(str, str): an expression, and its combination with the active filter."""
    close_requested: Any
    """Signal(): hide the panel."""
    left: Any
    """Signal(): return the focus to the middle."""

    def apply_changes(self, changes: Update) -> None:
        """Handles changes of the document."""
        ...

    def stop(self) -> None: ...


H = TypeVar("H")


@dataclass(frozen=True, slots=True)
class Panel(Generic[H]):
    """One panel: a dock or a view of the middle column.

    Attributes:
        id: stable between versions, since stored layouts use it.
        title: title of its dock or tab.
        area: default place.
        action: id of the action that shows it.
        guide: name of its page in the guide.
        make: creates it for the panes (H) of a document, and connects it to them.
        waits: True to create it when it is first shown (`Panes.panel`). It then reads the current state itself.
        present: returns True if a document in this state has it.
        hidden: True to hide its dock by default, as all at the bottom; it is then a `BottomPanel`.
        comes_on_request: True for a view whose tab appears when it is first asked for (`Center.add_view`).
        counts: True for a view whose tab has a count once the view is shown; its room is kept until then.
        ignores_filter, ignores_scope: True for a view that shows messages whatever the filter or the scope hides.
    """

    id: str
    title: str
    area: Area
    action: str
    guide: str
    make: Callable[[H], QWidget]
    waits: bool = False
    present: Callable[[DocumentState], bool] = lambda _state: True
    hidden: bool = False
    comes_on_request: bool = False
    counts: bool = False
    ignores_filter: bool = False
    ignores_scope: bool = False

    @property
    def on_demand(self) -> bool:
        """True if it is hidden by default."""
        return self.hidden or self.area is Area.BOTTOM
