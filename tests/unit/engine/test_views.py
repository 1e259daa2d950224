"""Views of messages as the engine answers them: filter, scope, order and folding; a copy that follows stays equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis import AnalysisChanges
from inspector.engine import wire
from inspector.engine.engine import Engine
from inspector.engine.request import Request, RequestError
from inspector.engine.requests.table import answer_decoder, request_decoder
from inspector.engine.requests.views import (
    ArrangeRows,
    CountMatches,
    FilterRows,
    FollowRows,
    PlacesOfMessages,
    ProgressOfView,
    SortRows,
)
from inspector.filters import batch_size, compile
from inspector.filters.table_rows import TableRows
from tests.builders import GrowingLog, document_of, envelope
from tests.ui.windows import story

VIEW = 7
FILTERS = ("", 'kind == "chat"', "latency", "text contains one", "no > 2")


class Copy:
    """A caller that holds the rows of one view, as a window does, behind a pipe."""

    def __init__(self) -> None:
        self.log, self.engine, self.rows = GrowingLog(), Engine(), TableRows()
        self.number = self.engine.adopt(self.log.document)
        self.revision = 0
        self.filter = ""
        self.show(ArrangeRows(VIEW))

    def ask(self, request: Request[Any]) -> Any:
        asked = request_decoder().decode(wire.encode(request))
        return answer_decoder(type(request)).decode(wire.encode(self.engine.answer_request(self.number, asked)))

    def show(self, request: FilterRows | ArrangeRows) -> None:
        shown = self.ask(request)
        self.revision = shown.revision
        self.rows.replace(shown.visible)

    def follow(self, changes: AnalysisChanges) -> None:
        changed = np.asarray(changes.changed, np.int64)
        update = self.ask(FollowRows(VIEW, changes.start, changes.stop, changed, changes.tree_moved))
        assert update.base == self.revision
        self.revision = update.revision
        if update.replaced is not None:
            self.rows.replace(np.concatenate((update.replaced, update.new)))
        else:
            self.rows.append(update.new)


steps = st.one_of(
    st.tuples(st.just("say"), st.lists(st.sampled_from(("one", "two")), min_size=1, max_size=4)),
    st.tuples(st.just("filter"), st.sampled_from(FILTERS)),
    st.tuples(st.just("fold"), st.booleans()),
)


@given(st.lists(steps, max_size=12))
def test_a_copy_that_follows_the_view_has_its_rows(done: list[tuple[str, Any]]) -> None:
    copy = Copy()
    for step, value in done:
        if step == "say":
            for changes in copy.log.write(*(envelope("chat", {"text": text}) for text in value)):
                copy.follow(changes)
        elif step == "filter":
            copy.filter = value
            copy.show(FilterRows(VIEW, value))
        else:
            copy.show(ArrangeRows(VIEW, folds=value))
        rows = copy.engine.opened(copy.number).view(VIEW).rows
        assert copy.rows.visible.tolist() == rows.visible.tolist()
        assert rows.chosen.tolist() == rows.evaluate(rows.filter, None).tolist()
        assert rows.filter.text == copy.filter
    copy.engine.close()


def test_rows_stay_until_a_search_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "BLOCK_S", 0.0)
    monkeypatch.setattr(batch_size, "_MAX_SIZE", 64)
    engine = Engine()
    number = engine.adopt(document_of(*(envelope("chat", {"n": n}) for n in range(300))))
    before = engine.answer_request(number, ArrangeRows(VIEW))
    search = engine.begin(number, FilterRows(VIEW, "payload.n < 5"))
    next(search)
    assert 0 <= engine.answer_request(number, ProgressOfView(VIEW)).fraction < 1
    assert engine.answer_request(number, ArrangeRows(VIEW)).visible.tolist() == before.visible.tolist()
    search.close()
    assert engine.answer_request(number, ProgressOfView(VIEW)).fraction == 1
    assert engine.answer_request(number, ArrangeRows(VIEW)).revision == before.revision
    engine.close()


def test_answers_about_a_view() -> None:
    engine = Engine()
    document = story()
    number, count = engine.adopt(document), len(document.capture)
    assert engine.answer_request(number, CountMatches(VIEW, "tool")) == len(
        engine.answer_request(number, FilterRows(VIEW, "tool")).visible
    )
    assert engine.answer_request(number, CountMatches(VIEW, "tool ==")) is None
    order = engine.answer_request(number, SortRows(VIEW, "no", descending=True))
    assert order.messages[order.places].tolist() == order.messages.tolist()[::-1]
    everything = np.arange(count)
    places = engine.answer_request(number, PlacesOfMessages(VIEW, everything))
    assert (len(places.rows), places.hidden.any()) == (count, False)
    with pytest.raises(RequestError, match="missing"):
        engine.answer_request(number, FilterRows(VIEW, "tool =="))
    with pytest.raises(RequestError, match="nonsense"):
        engine.answer_request(number, SortRows(VIEW, "nonsense"))
    engine.close()
