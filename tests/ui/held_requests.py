"""Long requests that pause in the engine. No Qt: engine processes import it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from inspector.engine.engine import Engine
from inspector.engine.request import Part, PartsRequest, Request, Steps
from inspector.engine.requests.timeline import TimelineProgress
from inspector.engine.requests.views import ProgressOfView
from inspector.filters import batch_size, compile
from tests.ui import engines, held_requests

HELD: type[Request[Any]] | None = None
"""The requests that pause."""
PAUSES = 0
"""Number of steps with a pause until a request of progress; 0 for one pause without end."""
_begin = Engine.begin
_progress_requests = [0]


def limit_blocks(patch: pytest.MonkeyPatch, size: int) -> None:
    """Makes filters and sorts decode few messages in a step."""
    engines.patch_engine(patch, batch_size, "_MAX_SIZE", size)
    engines.patch_engine(patch, compile, "BLOCK_S", 0.0)


def hold_requests(patch: pytest.MonkeyPatch, kind: type[Request[Any]]) -> Callable[[], None]:
    """Makes requests pause after their first step or part, until they are cancelled.

    Returns:
        A function that releases them at the next message to the engine.
    """
    pace_requests(patch, kind, 0)
    return lambda: engines.patch_engine(patch, held_requests, "HELD", None)


def pace_requests(patch: pytest.MonkeyPatch, kind: type[Request[Any]], pauses: int) -> None:
    """Makes requests pause after each of their first steps or parts, until their progress is requested."""
    engines.patch_engine(patch, held_requests, "HELD", kind)
    engines.patch_engine(patch, held_requests, "PAUSES", pauses)
    engines.patch_engine(patch, Engine, "begin", _begin_held)


def _begin_held(engine: Engine, number: int, request: Request[Any]) -> Steps[Any]:
    _progress_requests[0] += isinstance(request, ProgressOfView | TimelineProgress)
    steps = _begin(engine, number, request)
    return _held(request, steps, _progress_requests[0]) if type(request) is HELD else steps


def _held(request: Request[Any], steps: Steps[Any], before: int) -> Steps[Any]:
    # Progress may have been requested before the first step of a slow process.
    left = PAUSES or 1
    try:
        while True:
            step = next(steps)
            yield step
            if left and (isinstance(step, Part) or not isinstance(request, PartsRequest)):
                left -= 1
                while type(request) is HELD and (not PAUSES or _progress_requests[0] == before):
                    yield
                before = _progress_requests[0]
    except StopIteration as end:
        return end.value
    finally:
        steps.close()
