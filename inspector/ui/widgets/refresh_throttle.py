"""Throttles refreshes of a view: none while hidden, at once when shown, else with pauses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.ui import budgets
from inspector.ui.loop_budget import turn_of_loop

Refresh = Callable[[], Iterator[int] | None]
"""Refreshes a view at once, or returns steps that yield the milliseconds until the next one."""


class RefreshThrottle(QObject):
    """Throttles calls of a view's `refresh`.

    Running steps are dropped when the view is hidden, and start again when it is shown. Requests during a refresh start
    another one after it.

    Attributes:
        stale: the view needs a refresh.
    """

    def __init__(
        self,
        view: QObject,
        refresh: Refresh,
        every_ms: Callable[[], float],
        *,
        rest: float = 0,
        shown_ms: int | None = None,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        """Makes the throttle for a stale view.

        Args:
            view: the view, and owner. An object that is not a widget counts as always visible.
            refresh: refreshes the view; called on the GUI thread.
            every_ms: returns the shortest time between two refreshes; called after each.
            rest: pause after a refresh, as a multiple of its duration.
            shown_ms: delay for a stale view that is shown; None refreshes it before it is painted.
            ready: returns True if there is data to show.
        """
        super().__init__(view)
        self._widget = view if isinstance(view, QWidget) else None
        self._refresh = refresh
        self._every_ms, self._rest = every_ms, rest
        self._shown_ms = shown_ms
        self._ready = ready
        self._steps: Iterator[int] | None = None
        self._asked_meanwhile = False
        self._took_s = self._rest_until = 0.0
        self._stopped = False
        self.stale = True
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._go_on)
        if self._widget is not None:
            self._widget.installEventFilter(self)

    @property
    def waiting(self) -> bool:
        """A refresh, or its next step, is scheduled."""
        return self._timer.isActive()

    @property
    def working(self) -> bool:
        """A refresh has begun and not ended."""
        return self._steps is not None

    def request(self) -> None:
        """Marks the view as stale and refreshes it as soon as allowed."""
        self.stale = True
        self.request_if_stale()

    def request_if_stale(self) -> None:
        """Refreshes a stale view as soon as allowed."""
        if not self.stale or not self._may_run:
            return
        if self._steps is not None:
            self._asked_meanwhile = True
        elif not self._timer.isActive():
            self._timer.start(max(0, round((self._rest_until - time.perf_counter()) * 1000)))

    def run(self) -> None:
        """Refreshes the view now and drops running steps; a hidden view waits until it is shown."""
        self._drop()
        self.stale = True
        if self._may_run:
            self._begin()

    def run_in(self, delay_ms: int) -> None:
        """Refreshes the view after this delay, regardless of the last refresh."""
        self._drop()
        self.stale = True
        if self._may_run:
            self._timer.start(delay_ms)

    def rest_for(self, took_s: float) -> None:
        """Delays the next refresh according to the duration of the last one."""
        self._rest_until = time.perf_counter() + max(self._every_ms() / 1000, self._rest * took_s)

    def stop(self) -> None:
        """Ends all refreshes."""
        self._stopped = True
        self._drop()

    @property
    def _in_sight(self) -> bool:
        return self._widget is None or self._widget.isVisible()

    @property
    def _may_run(self) -> bool:
        return not self._stopped and self._in_sight and self._ready()

    def _drop(self) -> None:
        self._timer.stop()
        self._steps, self._asked_meanwhile = None, False

    def _go_on(self) -> None:
        if not self._may_run:
            self._drop()
            self.stale = True
        # Another slice has run in this iteration of the event loop.
        elif not turn_of_loop().may_take():
            self._timer.start(budgets.current.awaited_ms)
        elif self._steps is None:
            self._begin()
        else:
            self._step(self._steps)

    def _begin(self) -> None:
        self._timer.stop()
        self.stale, self._took_s = False, 0.0
        began = time.perf_counter()
        steps = self._refresh()
        self._took_s = time.perf_counter() - began
        if steps is None:
            self.rest_for(self._took_s)
        else:
            self._steps = steps
            self._step(steps)

    def _step(self, steps: Iterator[int]) -> None:
        began = time.perf_counter()
        pause_ms = next(steps, None)
        self._took_s += time.perf_counter() - began
        if self._steps is not steps:  # dropped as a consequence of the step
            return
        if pause_ms is not None:
            self._timer.start(pause_ms)
            return
        self._steps = None
        self.rest_for(self._took_s)
        if self._asked_meanwhile:
            self._asked_meanwhile = False
            self.request()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Show:
            self._on_shown()
        elif event.type() is QEvent.Type.Hide:
            # A dropped refresh is done when the view is shown again.
            self.stale |= self.waiting or self.working
            self._drop()
        return False

    def _on_shown(self) -> None:
        if not self.stale or not self._may_run:
            return
        if self._shown_ms is None:
            self.run()
        else:
            self.run_in(self._shown_ms)
