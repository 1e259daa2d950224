"""Time axis of steps: labels are times of day, if the log has dates."""

from __future__ import annotations

from typing_extensions import override

from inspector.present import formats
from inspector.ui.panels.timeline.axis import TimeAxis

_SECOND = 1_000_000_000
_TICK_PX = 72
_SHORT_NS = 20 * _SECOND
"""In a shorter range, labels are times since the start."""


class StepAxis(TimeAxis):
    """The visible range of the waterfall, or the whole range of the context curve."""

    @property
    def _counts_from_start(self) -> bool:
        return not formats.is_dated(self.first_ns) or self.last_ns - self.first_ns < _SHORT_NS

    @property
    @override
    def tick_px(self) -> int:
        return _TICK_PX

    @property
    @override
    def tick_origin(self) -> int:
        return self.first_ns if self._counts_from_start else 0

    @override
    def words_of(self, ns: int, step_ns: int = 1_000_000) -> str:
        if self._counts_from_start:
            return super().words_of(ns, step_ns)
        return formats.clock(ns) if step_ns >= _SECOND else formats.time_of_day(ns)
