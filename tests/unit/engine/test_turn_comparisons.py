"""Two turns of a session side by side."""

from __future__ import annotations

import pytest

from inspector.engine.engine import Engine
from inspector.engine.request import RequestError
from inspector.engine.requests.turn_comparisons import CompareTurns, TurnComparison, TurnOfMessage
from tests.builders import document_of
from tests.transcribed import ClaudeSession


def two_turns() -> ClaudeSession:
    session = ClaudeSession()
    session.prompt("run the tests")
    for command, failed in (("ls", False), ("make test", True)):
        called = session.call("Bash", {"command": command})
        session.result(called, "no" if failed else "a b", failed=failed)
    session.text("They fail.")
    session.prompt("again")
    for command in ("ls", "make test", "make lint"):
        called = session.call("Bash", {"command": command})
        session.result(called, "a b" if command == "ls" else "fine")
    session.text("They pass.")
    return session


@pytest.fixture
def compared() -> TurnComparison:
    engine = Engine()
    number = engine.adopt(document_of(*two_turns().records))
    # Any message stands for its turn.
    found = engine.answer_request(number, CompareTurns(1, 7))
    engine.close()
    return found


def test_figures_of_both_turns_have_their_difference(compared: TurnComparison) -> None:
    figures = {one.name: (one.one, one.other, one.delta) for one in compared.figures}
    assert compared.titles == ("Turn 1", "Turn 2")
    assert figures["Calls"] == ("2", "3", "+1")
    assert figures["Failed"] == ("1", "0", "\N{MINUS SIGN}1")
    assert "Rejected" not in figures


def test_equal_steps_stand_beside_each_other(compared: TurnComparison) -> None:
    steps = [(one.one, one.other, one.difference) for one in compared.steps]
    told = {(bool(one), bool(other), difference) for one, other, difference in steps}
    assert (True, True, "") in told  # ls
    assert (True, True, "failed in one") in told
    assert (False, True, "only in turn 2") in told
    assert compared.summary == "1 equal step, 4 differences"


def test_a_message_before_the_first_prompt_has_no_turn() -> None:
    session = ClaudeSession()
    session.add("system", subtype="informational", content="hello")
    session.prompt("on")
    session.text("Yes.")
    engine = Engine()
    number = engine.adopt(document_of(*session.records))
    assert [engine.answer_request(number, TurnOfMessage(row)) for row in (0, 1, 2)] == [-1, 0, 0]
    with pytest.raises(RequestError):
        engine.answer_request(number, CompareTurns(0, 1))
    engine.close()


def test_a_difference_is_that_of_the_shown_durations() -> None:
    session = ClaudeSession()
    for pause in (88.4, 27.6):
        session.prompt("on")
        session.text("Yes.", after_s=pause)
    engine = Engine()
    number = engine.adopt(document_of(*session.records))
    figures = {one.name: one for one in engine.answer_request(number, CompareTurns(0, 2)).figures}
    engine.close()
    model = figures["Model"]
    assert (model.one, model.other, model.delta) == ("1 min 28 s", "27.6 s", "\N{MINUS SIGN}1 min")


def test_each_pair_of_steps_is_a_step_of_the_engine() -> None:
    session = ClaudeSession()
    for turn in "ab":
        session.prompt("on")
        for place in range(200):
            session.runs("Bash", {"command": f"{turn} {place}"}, turn)
    engine = Engine()
    number = engine.adopt(document_of(*session.records))
    count = sum(1 for _ in engine.begin(number, CompareTurns(1, 403)))
    found = engine.answer_request(number, CompareTurns(1, 403))
    engine.close()
    assert count > len(found.steps) > 200
