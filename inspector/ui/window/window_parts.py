"""The parts of a window that its start page goes without, each imported and made when it is asked for first.

They bring most of the program with them; a window is painted in half the time without. Nobody has to wait for them
later either: `Warming` has them made as soon as the window is painted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QMainWindow

from inspector.base import collector

if TYPE_CHECKING:
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.view_head import ViewHead
    from inspector.ui.features.capture_saving import Keeping
    from inspector.ui.features.connections import Connections
    from inspector.ui.features.deferred_checks import DeferredChecks
    from inspector.ui.features.exporting import Exporting
    from inspector.ui.features.filter_conditions import FilterConditions
    from inspector.ui.features.filtering import Filtering
    from inspector.ui.features.gateway_window import Watching
    from inspector.ui.features.highlighting import Highlighting
    from inspector.ui.features.marking import Marking
    from inspector.ui.features.message_saving import MessageSaving
    from inspector.ui.features.next_message import NextMessage
    from inspector.ui.features.opening import Opening
    from inspector.ui.features.presets import Presets
    from inspector.ui.features.restoring import Restoring
    from inspector.ui.features.token_counting import TokenCounting
    from inspector.ui.msp.editing import MspEditing
    from inspector.ui.widgets.filter_bar import FilterBar
    from inspector.ui.widgets.name_card import NameCard
    from inspector.ui.widgets.palette_card import PaletteCard
    from inspector.ui.window.bars import Bars
    from inspector.ui.window.document_page import DocumentPage
    from inspector.ui.window.main_window import MainWindow
    from inspector.ui.window.tool_bar import ToolBar

_IN_PIECES = (
    "numpy", "numpy.ma", "lark", "inspector.capture.capture", "inspector.analysis", "inspector.filters",
    "inspector.document.document", "inspector.ui.window.bars", "inspector.ui.features.exporting",
    "inspector.ui.msp.editing", "inspector.ui.window.document_page", "inspector.ui.features.highlighting",
    "inspector.ui.features.marking", "inspector.ui.features.message_saving", "inspector.ui.features.deferred_checks",
    "inspector.ui.features.token_counting", "inspector.ui.features.next_message", "inspector.ui.features.restoring",
    "inspector.ui.panels.messages.panel", "inspector.ui.panels.contexts.panel",
    "inspector.ui.panels.details.overview", "inspector.ui.panels.details.panel", "inspector.ui.panels.findings.panel",
    "inspector.ui.panels.latency.panel", "inspector.ui.docview.panes",
)  # fmt: skip
"""What takes long to import; one after the other, so that keys and clicks come through between them."""

_LISTENING = ("bars", "page", "opening", "watching", "keeping")
"""What is seen with a document, and listens to what is seen on the start page."""


class WindowParts(QMainWindow):
    """A window as far as it is made of parts that wait."""

    @property
    def _whole(self) -> MainWindow:
        return cast("MainWindow", self)

    def complete(self) -> None:
        """Make what is seen with a document, and listens to what is seen on the start page."""
        for part in _LISTENING:
            getattr(self, part)

    # What is seen with a document

    @cached_property
    def page(self) -> DocumentPage:
        """The middle of the window with a document: tabs, notices, views."""
        from inspector.ui.window.document_page import DocumentPage

        return DocumentPage(self._whole)

    @cached_property
    def bars(self) -> Bars:
        """The bars above the panes."""
        from inspector.ui.window.bars import Bars

        return Bars(self._whole)

    @cached_property
    def name_card(self) -> NameCard:
        """Asks for the name of what is to be kept."""
        from inspector.ui.widgets.name_card import NameCard

        return NameCard(self._whole.theme, self)

    @cached_property
    def palette_card(self) -> PaletteCard:
        """Finds something to do by its name."""
        from inspector.ui.features.palette import Palette

        return Palette(self._whole).card

    @property
    def view_head(self) -> ViewHead:
        """Tabs and notices above the views."""
        return self.page.head

    @property
    def center(self) -> Center:
        """The views of the middle column."""
        return self.page.center

    @property
    def filtering(self) -> Filtering:
        """Ties the filter bar to the panes."""
        return self.bars.filtering

    @property
    def filter_bar(self) -> FilterBar:
        """Where the filter is written."""
        return self.bars.filtering.bar

    @property
    def tool_bar(self) -> ToolBar:
        """Buttons, the filter bar, buttons."""
        return self.bars.tool_bar

    @property
    def presets(self) -> Presets:
        """Chosen by chip, key and menu."""
        return self.bars.presets

    @property
    def filter_conditions(self) -> FilterConditions:
        """The stacked conditions."""
        return self.bars.filter_conditions

    # What does something

    @cached_property
    def opening(self) -> Opening:
        """How the window gets a document that is read."""
        from inspector.ui.features.opening import Opening

        return Opening(self._whole)

    @cached_property
    def watching(self) -> Watching:
        """How it gets a live one, and the session behind it."""
        from inspector.ui.features.gateway_window import Watching

        return Watching(self._whole)

    @cached_property
    def connections(self) -> Connections:
        """Gateways kept under a name, and what was open before."""
        from inspector.ui.features.connections import Connections

        return Connections(self._whole)

    @cached_property
    def restoring(self) -> Restoring:
        """Puts the window back to how it stood before the program ended."""
        from inspector.ui.features.restoring import Restoring

        return Restoring(self._whole)

    @cached_property
    def keeping(self) -> Keeping:
        """What becomes of its capture: saved, asked about, recovered."""
        from inspector.ui.features.capture_saving import Keeping

        return Keeping(self._whole)

    @cached_property
    def saving(self) -> MessageSaving:
        """Writes single messages to files."""
        from inspector.ui.features.message_saving import MessageSaving

        return MessageSaving(self._whole)

    @cached_property
    def exporting(self) -> Exporting:
        """Writes what the table shows to a file."""
        from inspector.ui.features.exporting import Exporting

        return Exporting(self._whole)

    @cached_property
    def highlighting(self) -> Highlighting:
        """Which messages stand out."""
        from inspector.ui.features.highlighting import Highlighting

        return Highlighting(self._whole)

    @cached_property
    def marking(self) -> Marking:
        """Marks and comments, and the file they are kept in."""
        from inspector.ui.features.marking import Marking

        return Marking(self._whole)

    @cached_property
    def msp(self) -> MspEditing:
        """Edits the sessions (of the Model Subsession Protocol) the document is made of, if it is."""
        from inspector.ui.msp.editing import MspEditing

        return MspEditing(self._whole)

    @cached_property
    def next_message(self) -> NextMessage:
        """Goes to the next message of a kind."""
        from inspector.ui.features.next_message import NextMessage

        return NextMessage(self._whole)

    @cached_property
    def deferred_checks(self) -> DeferredChecks:
        """Has the checks do what they put off, and says when one has failed."""
        from inspector.ui.features.deferred_checks import DeferredChecks

        return DeferredChecks(self._whole)

    @cached_property
    def counting(self) -> TokenCounting:
        """Has tokens counted, and says how far that is."""
        from inspector.ui.features.token_counting import TokenCounting

        return TokenCounting(self._whole)


class Warming(QObject):
    """Makes the parts of a window, a piece each turn of the loop, while it is on its start page."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._left = self._pieces()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)  # what fails is said once
        self._timer.timeout.connect(self._go_on)

    def start(self) -> None:
        """Begin: the window is painted."""
        self._timer.start()

    async def finish(self) -> None:
        """Make what is left: a document is about to be shown. Keys, clicks and painting come through meanwhile."""
        self._timer.stop()
        for _ in iter(self._make_piece, False):
            await asyncio.sleep(0)

    def _go_on(self) -> None:
        window = self._window
        if window.panes is None and not window.isHidden() and self._make_piece():
            self._timer.start()

    def _make_piece(self) -> bool:
        """Whether there was a piece left to make."""
        with collector.no_collection():
            return next(self._left, None) is not None

    def _pieces(self) -> Iterator[str]:
        for module in _IN_PIECES:
            import_module(module)
            yield module
        for part in _LISTENING:
            getattr(self._window, part)
            yield part
        collector.settle()
