"""Imports and creates the parts for a document in advance, while the start page is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from PySide6.QtCore import QObject, QTimer

from inspector.base import gc_control
from inspector.ui.msp import IMPORTED_AHEAD

_PRELOADED_MODULES = (
    "numpy", "numpy.ma", "lark", "inspector.formats", "inspector.store.columns.extracts",
    "inspector.store.messages.capture", "inspector.protocol.payloads.content_blocks", "inspector.protocol.secrets",
    "inspector.analysis", "inspector.filters", "inspector.msp", "inspector.sources.inputs",
    "inspector.document.document", "inspector.document.marks_file", "inspector.engine.open_document",
    "inspector.ui.window.bar_stack", "inspector.ui.widgets.filter_bar", "inspector.present.context_tips",
    "inspector.ui.features.filter_editing", "inspector.ui.features.presets",
    "inspector.ui.features.filter_conditions", "inspector.export",
    "inspector.ui.features.exporting", "inspector.present.pages.generic", "inspector.present.pages.overview",
    "inspector.engine.requests.pages", "inspector.engine.requests.timeline", "inspector.engine.requests.table",
    *IMPORTED_AHEAD, "inspector.ui.docview.center", "inspector.ui.docview.view_head",
    "inspector.ui.features.highlighting", "inspector.ui.features.marking", "inspector.ui.features.message_saving",
    "inspector.ui.features.deferred_checks", "inspector.ui.features.token_counting",
    "inspector.ui.features.next_message", "inspector.ui.features.window_restoring",
    "inspector.ui.panels.messages.column_layout", "inspector.ui.panels.messages.view",
    "inspector.ui.panels.messages.panel", "inspector.ui.panels.contexts.panel",
    "inspector.ui.panels.details.page_builder",
    "inspector.ui.panels.details.panel", "inspector.ui.docview.panes", "inspector.ui.panels.findings.panel",
    "inspector.ui.panels.marks.panel", "inspector.ui.panels.latency.panel", "inspector.ui.panels.waste.panel",
    "inspector.ui.panels.tokens.panel",
)  # fmt: skip
"""Slow imports, done one by one so that input events are handled between them."""


class Warming(QObject):
    """Creates the parts of a window, one piece each iteration of the event loop, while it shows the start page."""

    def __init__(self, parts: Sequence[Callable[[], object]], wanted: Callable[[], bool], parent: QObject) -> None:
        """Waits for `start`.

        Args:
            parts: callables that each create a part of the window; their modules are imported first.
            wanted: returns True while the window exists and shows no document.
            parent: the owner.
        """
        super().__init__(parent)
        self._parts = parts
        self._wanted = wanted
        self._remaining = self._pieces()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)  # an error is reported once
        self._timer.timeout.connect(self._go_on)

    def start(self) -> None:
        """Starts after the window is painted."""
        self._timer.start()

    async def finish(self) -> None:
        """Creates the remaining parts before a document is shown. Input and painting continue meanwhile."""
        self._timer.stop()
        for _ in iter(self._make_piece, False):
            await asyncio.sleep(0)

    def _go_on(self) -> None:
        if self._wanted() and self._make_piece():
            self._timer.start()

    def _make_piece(self) -> bool:
        """Returns True if a piece was left to create."""
        with gc_control.no_collection():
            return next(self._remaining, False)

    def _pieces(self) -> Iterator[bool]:
        for module in _PRELOADED_MODULES:
            import_module(module)
            yield True
        for make in self._parts:
            make()
            yield True
        gc_control.freeze_and_trim()
