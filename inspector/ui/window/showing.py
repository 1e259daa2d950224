"""How a document comes into a window: panes and docks are made unseen, in steps, and then shown at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.base import gc_control
from inspector.base.slices import Steps, finished
from inspector.ui.docview.panes import Panes
from inspector.ui.widgets.curtain import Curtain
from inspector.ui.window.panels import PANELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from inspector.document.document import CaptureDocument
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.shown import Shown
    from inspector.ui.docview.view_head import ViewHead
    from inspector.ui.features.restoring import Restoring
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.window.docks import Docks
    from inspector.ui.window.layout import WindowLayout
    from inspector.ui.window.pages import Pages
    from inspector.ui.window.tool_bar import BarStack


class Showing:
    """Makes the panes of one window, and puts them where they are seen."""

    def __init__(
        self, window: QWidget, shown: Shown, theme: ThemeController, *, pages: Pages, bars: BarStack, head: ViewHead,
        center: Center, docks: Docks, layout: WindowLayout, restoring: Restoring,
    ) -> None:  # fmt: skip
        """Show nothing yet.

        Args:
            window: owner of the panes.
            shown: is told of the document and of its panes.
            theme: gives the look.
            pages: the start page, which goes, and what comes in its place.
            bars: are above the panes, seen with a document only.
            head: above the views of the middle column.
            center: these views.
            docks: hold the other panes.
            layout: how wide docks are.
            restoring: how the window stood before the program ended, if that is to be put back.
        """
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
        self._making: Panes | None = None

    def show(self, document: CaptureDocument, fill: Callable[[Panes], object]) -> Steps[Panes]:
        """Show the first document of the window, in steps between which the loop may turn.

        All is made and laid out before anything is seen; then it is painted a part at a time, each where it stays.

        Args:
            document: what is shown.
            fill: has what stands around the panes say what there is.
        """
        panes = self._making = Panes(document, self._theme, PANELS, self._frame)
        yield
        yield from panes.make()
        yield from self._docks.make(panes)
        self._frame.setUpdatesEnabled(False)
        try:
            yield from self._place(panes)
            self._shown.show(document, panes)
            self._making = None
            self._shown.attached.emit(panes)
            fill(panes)
        except Exception:
            self._frame.setUpdatesEnabled(True)
            raise
        curtains = [Curtain(part, self._theme.theme.color(surface)) for part, surface in self._parts(panes)]
        self._frame.setUpdatesEnabled(True)
        yield
        for curtain in curtains:
            yield from curtain.lift()
        return panes

    def _place(self, panes: Panes) -> Steps[None]:
        """Put everything where it stays."""
        self._center.attach(panes)
        panes.messages.show()  # else not before the next turn of the loop, and what is not shown takes no focus
        yield
        self._pages.leave_start()
        yield
        yield from self._docks.place()
        self._layout.default_docks()
        self._layout.restore_docks(self._restoring.saved, self._center.show_view)
        gc_control.settle()
        yield
        self._head.attach(panes, self._center)
        self._head.hold(self._pages.notices)
        self._head.show()
        yield
        yield from self._bars.show()

    def _parts(self, panes: Panes) -> list[tuple[QWidget, str]]:
        """What is painted a part at a time, what is needed most first, and the surface that is there before."""
        panels = (self._center.currentWidget(), panes.contexts, panes.details, panes.participants, *panes.bottom)
        parts = [*((part, "surface.base") for part in panels), *((part, "surface.chrome") for part in self._bars.rows)]
        return [(part, surface) for part, surface in parts if part is not None and part.isVisible()]

    def replace(self, document: CaptureDocument) -> Panes:
        """Show another document in place of the one shown; docks and views stay where they are."""
        before = self._shown.panes
        if before is not None:
            before.detach()
        panes = Panes(document, self._theme, PANELS, self._frame)
        finished(panes.make())
        self._shown.show(document, panes)
        self._center.replace(panes)
        self._docks.replace(panes)
        self._head.speak_of(panes)
        self._shown.attached.emit(panes)
        if before is not None:
            before.deleteLater()
        return panes

    def stop(self) -> None:
        """The window closes: panes that are still being made are let go."""
        if self._making is not None:
            self._making.detach()
