"""Pages of the details: every part survives the pipe, and one of a large payload stays small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.engine import wire
from inspector.engine.engine import Engine
from inspector.engine.opening import Target
from inspector.engine.request import Request, RequestError
from inspector.engine.requests.pages import TABS, DescribeContext, DescribeMessage, DescribeParticipant, DetailPage
from inspector.engine.requests.table import answer_decoder
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.samples import RECORDINGS
from tests.waste import wasteful

_CAPTURES = sorted(path for path in (RECORDINGS.parent / "captures").iterdir() if path.suffix in (".jsonl", ".ctxcap"))


def page_after_pipe(engine: Engine, request: Request[DetailPage]) -> DetailPage:
    """Returns the page of a request, after it is equal to its encoded and decoded self."""
    answer = engine.answer_request(1, request)
    assert answer_decoder(type(request)).decode(wire.encode(answer)) == answer
    return answer


@pytest.mark.parametrize("path", _CAPTURES, ids=lambda path: path.name)
def test_pages_of_captures_survive_the_pipe(path: Path) -> None:
    engine = Engine()
    number, steps = engine.open([Target(path)])
    engine.read(steps)
    document = engine.opened(number).document
    document.count_tokens()
    analysis, capture = document.analysis, document.capture
    kinds = [capture.string("kind", message) for message in range(len(capture))]
    for message in sorted({kinds.index(kind) for kind in kinds}):
        for tab in TABS:
            page = page_after_pipe(engine, DescribeMessage(message, tab))
            assert bool(page.sections) == (tab not in ("Tree", "Raw"))
    for node in [MAIN, *list(analysis.contexts.tree.alive())[:20]]:
        assert page_after_pipe(engine, DescribeContext(analysis.contexts.spaces[0], node)).sections
    for space, name in analysis.participants.all:
        assert page_after_pipe(engine, DescribeParticipant(space, name)).sections
    engine.close()


def on(*lines: Any) -> Engine:
    engine = Engine()
    engine.adopt(document_of(*lines))
    return engine


def test_a_page_of_a_large_text_has_its_beginning_alone() -> None:
    call = tool_call("read")
    engine = on(call, tool_result(call, "line of text\n" * 60_000), envelope("chat", {"text": "x" * 900_000}))
    for message in (1, 2):
        assert len(wire.encode(page_after_pipe(engine, DescribeMessage(message)))) < 250_000
    engine.close()


def test_wasteful_calls_have_pages() -> None:
    engine = on(*wasteful())
    for message in range(len(wasteful())):
        assert page_after_pipe(engine, DescribeMessage(message)).sections
    engine.close()


@pytest.mark.parametrize("asked", [DescribeMessage(9), DescribeContext(0, 99), DescribeContext(99, MAIN)], ids=repr)
def test_what_is_not_there_has_no_page(asked: Request[DetailPage]) -> None:
    engine = on(envelope())
    with pytest.raises(RequestError, match="There is no"):
        engine.answer_request(1, asked)
    engine.close()
