"""Which thought lay behind an act."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.analysis.views.causes.reasoning_before_call import thought_before
from tests.builders import document_of, envelope, tool_call


def thought(context: str, **fields: Any) -> dict[str, Any]:
    return envelope("reasoning/thought", {"message": "so"}, context=context, **fields)


def start(identifier: str, **fields: Any) -> dict[str, Any]:
    return envelope("reasoning/start", {"message": "why"}, id=identifier, **fields)


END = envelope("reasoning/conclusion", {}, context="r/deep")

TOLD: dict[str, tuple[list[dict[str, Any]], int | None]] = {
    "nobody reasoned": ([envelope()], None),
    "the start when nothing was thought yet": ([start("r")], 1),
    "the latest thought": ([start("r"), thought("r"), thought("r")], 3),
    "not another's": ([start("r", sender="human"), thought("r", sender="human")], None),
    "not of one that ended": ([start("r"), thought("r"), envelope("reasoning/conclusion", {}, context="r")], None),
    "not of one cancelled": (
        [start("r"), thought("r"), envelope("reasoning/cancel", {}, sender="human", context="r")],
        None,
    ),
    "below one that goes on": ([start("r"), thought("r/deep"), END], 2),
    "of the one still open": (
        [start("r"), thought("r"), start("s"), envelope("reasoning/conclusion", {}, context="s")],
        2,
    ),
}


@pytest.mark.parametrize(("before", "number"), TOLD.values(), ids=TOLD)
def test_an_act_comes_of_its_senders_latest_thought_in_an_open_reasoning(before: list[Any], number: int | None) -> None:
    document = document_of(*before, tool_call("write"))
    found = thought_before(document.analysis, len(before))
    assert (None if found is None else found + 1) == number


def test_an_act_in_a_context_comes_of_the_reasoning_there() -> None:
    document = document_of(start("r"), thought("r"), start("s"), thought("s"), tool_call("write", context="r"))
    assert thought_before(document.analysis, 4) == 1
