"""Brings a document into a window: builds panes and docks invisibly in steps, then shows them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.base import gc_control
from inspector.base.slices import SlicedWork, run_to_end
from inspector.ui.docview.panes import Panes
from inspector.ui.widgets.curtain import Curtain
from inspector.ui.window.panels import PANELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from inspector.ui.document_client import DocumentClient
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.view_head import ViewHead
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.features.window_restoring import Restoring
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.window.bar_stack import BarStack
    from inspector.ui.window.docks import Docks
    from inspector.ui.window.layout import WindowLayout
    from inspector.ui.window.pages import Pages


class Showing:
    """Builds the panes of one window and puts them in place."""

    def __init__(
        self, window: QWidget, shown: Shown, theme: ThemeController, *, pages: Pages, bars: BarStack, head: ViewHead,
        center: Center, docks: Docks, layout: WindowLayout, restoring: Restoring, first_view: Callable[[], str],
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            window: the owner of the panes.
            shown: receives the document and its panes.
            theme: gives the look.
            pages: the start page and its replacement.
            bars: the bars above the panes, visible with a document only.
            head: the tabs above the views of the middle column.
            center: these views.
            docks: the docks with the other panes.
            layout: the widths of docks.
            restoring: the saved state of the window, if it is restored.
            first_view: returns the view that a newly opened document shows.
        """
        self._first_view = first_view
        self._frame = window
        self._shown = shown
        self._theme = theme
        self._pages = pages
        self._bars = bars
        self._head = head
        self._center = center
        self._docks = docks
        self._layout = layout
        self._restoring = restoring
        self._pending_panes: Panes | None = None

    def show(self, client: DocumentClient, fill: Callable[[Panes], object]) -> SlicedWork[Panes]:
        """Shows the first document of the window, in steps that let the event loop run.

        Everything is built and laid out invisibly. Then it is painted part by part in its final place.

        Args:
            client: the document to show.
            fill: fills the widgets around the panes.
        """
        panes = self._pending_panes = Panes(client, self._theme, PANELS, self._frame)
        yield
        yield from panes.make()
        yield from self._docks.make(panes)
        # no intermediate state is painted while widgets move to their places
        self._frame.setUpdatesEnabled(False)
        try:
            yield from self._place_parts(panes)
            self._shown.show(client, panes)
            self._pending_panes = None
            self._shown.attached.emit(panes)
            fill(panes)
        except Exception:
            self._frame.setUpdatesEnabled(True)
            raise
        # each part is covered by its background and painted in a step of its own
        curtains = [Curtain(part, self._theme.theme.color(surface)) for part, surface in self._parts(panes)]
        self._frame.setUpdatesEnabled(True)
        yield
        for curtain in curtains:
            yield from curtain.lift()
        return panes

    def _place_parts(self, panes: Panes) -> SlicedWork[None]:
        """Puts all parts in their final place."""
        self._center.attach(panes)
        panes.messages.show()  # else not before the next iteration of the loop, and a hidden widget takes no focus
        yield
        self._pages.leave_start()
        yield
        yield from self._docks.place()
        self._layout.default_docks()
        self._layout.restore_docks(self._restoring.saved, self._center.show_view)
        if self._restoring.saved is None:
            self._center.show_view(self._first_view())
        gc_control.freeze_and_trim()
        yield
        self._head.attach(panes, self._center)
        self._head.hold(self._pages.notices)
        self._head.show()
        yield
        yield from self._bars.show()

    def _parts(self, panes: Panes) -> list[tuple[QWidget, str]]:
        """Returns the parts to paint one by one, most important first, with the surface painted before."""
        panels = (self._center.currentWidget(), panes.contexts, panes.details, panes.participants, *panes.bottom)
        parts = [*((part, "surface.base") for part in panels), *((part, "surface.chrome") for part in self._bars.rows)]
        return [(part, surface) for part, surface in parts if part is not None and part.isVisible()]

    def replace(self, client: DocumentClient) -> Panes:
        """Replaces the shown document. Docks and views stay in place."""
        before = self._shown.panes
        if before is not None:
            before.detach()
        panes = Panes(client, self._theme, PANELS, self._frame)
        run_to_end(panes.make())
        self._shown.show(client, panes)
        self._center.replace(panes)
        self._docks.replace(panes)
        self._head.speak_of(panes)
        self._shown.attached.emit(panes)
        if before is not None:
            before.deleteLater()
        return panes

    def stop(self) -> None:
        """Discards panes under construction because the window closes."""
        if self._pending_panes is not None:
            self._pending_panes.detach()
