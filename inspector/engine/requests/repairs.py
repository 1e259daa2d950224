"""Failed calls that were put right later, for the rows of a table."""

from __future__ import annotations

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.steps.call_facts import KeptCalls
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps, check_row_count


class FixedCalls(Request[dict[int, int]], frozen=True):
    """Failed calls among some messages, or their results, that were put right, each with the later call.

    The rule is that of the overview.
    """

    messages: tuple[int, ...]


class _KeptFixed:
    """Calls that were put right, until a change."""

    def __init__(self) -> None:
        self.rows: dict[int, int] | None = None

    def note_changed(self, changed: Rows, /) -> None:
        """Drops them if messages changed."""
        if len(changed):
            self.rows = None


def _fixed(held: OpenDocument, asked: FixedCalls) -> Steps[dict[int, int]]:
    check_row_count(len(asked.messages))
    kept, analysis = held.kept(_KeptFixed, _KeptFixed), held.document.analysis
    if kept.rows is None:
        facts = yield from held.kept(KeptCalls, lambda: KeptCalls(analysis)).facts()
        later = {place: facts.calls[repair.place].row for place, repair in facts.repairs.items()}
        kept.rows = {facts.calls[place].row: row for place, row in later.items()}
        kept.rows |= {facts.calls[place].answer: row for place, row in later.items()}
    return {message: kept.rows[message] for message in asked.messages if message in kept.rows}


QUERIES = (Query(FixedCalls, dict[int, int], _fixed),)
