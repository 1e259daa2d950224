"""Comparison of two turns of a document."""

from __future__ import annotations

from inspector.analysis.views.compare.comparison import compare_turns
from inspector.analysis.views.steps.call_facts import KeptCalls
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps
from inspector.engine.requests.rows import check_messages
from inspector.engine.requests.turns import steps_of
from inspector.present.turn_comparison import TurnComparison as TurnComparison
from inspector.present.turn_comparison import aligned_steps, turn_figures

_MOST_PAIRS = 5_000


class TurnOfMessage(Request[int], frozen=True):
    """The index of the turn that has a message; -1 before the first prompt."""

    message: int


class CompareTurns(Request[TurnComparison], frozen=True):
    """Compares the turns of two messages."""

    one: int
    other: int


def _turn(held: OpenDocument, message: int) -> int:
    check_messages(held, (message,))
    table = steps_of(held)
    step = int(table.step_of[message]) if message < len(table.step_of) else -1
    return int(table.turns[step]) if step >= 0 else -1


def _compare(held: OpenDocument, asked: CompareTurns) -> Steps[TurnComparison]:
    turns = _turn(held, asked.one), _turn(held, asked.other)
    if min(turns) < 0:
        raise RequestError("A message before the first prompt is in no turn.")
    table, analysis = steps_of(held), held.document.analysis
    calls = yield from held.kept(KeptCalls, lambda: KeptCalls(analysis)).facts()
    found = yield from compare_turns(analysis, table, *turns)
    titles = f"Turn {turns[0] + 1}", f"Turn {turns[1] + 1}"
    steps, summary = yield from aligned_steps(held.document, found, titles, _MOST_PAIRS)
    return TurnComparison(titles, summary, turn_figures(table, calls, *turns), steps)


QUERIES = (
    Query(TurnOfMessage, int, lambda held, asked: _turn(held, asked.message)),
    Query(CompareTurns, TurnComparison, _compare),
)
