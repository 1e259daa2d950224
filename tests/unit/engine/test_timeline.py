"""The timeline over the pipe: the size of a picture depends on pixels, and a cancelled update goes on."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from inspector.engine import wire
from inspector.engine.engine import Engine
from inspector.engine.requests.timeline import LanesLook, PaintLanes, UpdateTimeline
from tests.builders import document_of, envelope

_LOOK = LanesLook(1, by_order=True)
_MAX_BYTES = 300_000
"""Of a picture 1,000 pixels wide and high."""


def crowd() -> Generator[dict[str, Any]]:
    """Messages of 30 participants in many short contexts."""
    for n in range(20_000):
        yield envelope(sender=f"agent-{n % 30}", context=f"step-{n // 4}" if n % 3 else None, id=f"m{n}")


@pytest.fixture(scope="module")
def engine() -> Generator[Engine]:
    engine = Engine()
    engine.adopt(document_of(*crowd()))
    yield engine
    engine.close()


@pytest.mark.parametrize("share", [1, 4, 50])
def test_a_picture_is_small_at_any_zoom(engine: Engine, share: int) -> None:
    facts = engine.answer_request(1, UpdateTimeline(_LOOK, bins=300))
    assert len(wire.encode(facts)) < 10_000
    last_ns = facts.range.last_ns // share
    picture = engine.answer_request(1, PaintLanes(_LOOK, facts.range.first_ns, last_ns, 1_000))
    assert picture is not None
    assert len(picture.lanes) < facts.lanes == 30
    assert 1_000 < len(wire.encode(picture)) < _MAX_BYTES


def test_a_cancelled_update_goes_on_with_the_next_one(engine: Engine) -> None:
    look = LanesLook(2, "context", by_order=True)
    steps = engine.begin(1, UpdateTimeline(look))
    for _ in range(3):
        next(steps)
    assert engine.answer_request(1, PaintLanes(look, 0, 10**9, 1_000)) is None
    steps.close()
    facts = engine.answer_request(1, UpdateTimeline(look))
    assert facts.given == 20_000
    assert facts.lanes == engine.answer_request(1, UpdateTimeline(LanesLook(3, "context", by_order=True))).lanes
