"""Rows of messages as the engine answers them: contents, texts of fields, remarks, originals; each survives a pipe."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from inspector.engine import wire
from inspector.engine.engine import Engine
from inspector.engine.request import AnswerT, Request, RequestError
from inspector.engine.requests.columns import FiguresOfColumns
from inspector.engine.requests.rows import LookRule, MessageLooks, MessageRows, OriginalLines, RemarksOfRow
from inspector.engine.requests.table import answer_decoder, request_decoder
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.ui.windows import story


@pytest.fixture
def engine() -> Generator[Engine]:
    engine = Engine()
    yield engine
    engine.close()


def answer(engine: Engine, number: int, request: Request[AnswerT]) -> AnswerT:
    """The answer, which a pipe gives back as it was."""
    assert request_decoder().decode(wire.encode(request)) == request
    found = engine.answer_request(number, request)
    assert answer_decoder(type(request)).decode(wire.encode(found)) == found
    return found


def opened(engine: Engine, *lines: Any) -> int:
    return engine.adopt(document_of(*lines))


def test_all_answers_about_rows_survive_a_pipe(engine: Engine) -> None:
    document = story()
    number, count = engine.adopt(document), len(document.capture)
    messages = tuple(range(count))
    for folded in (False, True):
        rows = answer(engine, number, MessageRows(messages, folded=folded, fields=("tool", "latency", "payload.text")))
        assert [row.message for row in rows] == list(messages)
        for row in rows:
            answer(engine, number, RemarksOfRow(row.message))
            if row.expandable:
                assert answer(engine, number, OriginalLines(row.message, folded=folded)).lines
    answer(engine, number, MessageLooks(messages, (LookRule("Calls", "tool", "teal", "edge"),)))
    assert answer(engine, number, FiguresOfColumns()).messages == count


def test_texts_of_fields_come_with_the_rows(engine: Engine) -> None:
    ask = tool_call("grep", to="files")
    number = opened(engine, ask, tool_result(ask), envelope(payload={"text": "hello"}))
    rows = answer(engine, number, MessageRows((0, 2), fields=("tool", "text")))
    assert [row.fields for row in rows] == [{"tool": "grep", "text": ""}, {"tool": "", "text": "hello"}]
    with pytest.raises(RequestError, match="nonsense"):
        engine.answer_request(number, MessageRows((0,), fields=("nonsense",)))


def test_an_answer_holds_no_more_long_rows_than_are_quickly_decoded(engine: Engine) -> None:
    number = opened(engine, *(envelope(payload={"text": f"{one} " + "x" * 300_000}) for one in range(4)))
    found = answer(engine, number, MessageRows((3, 2, 1, 0)))
    assert [row.message for row in found] == [3]
    assert len(answer(engine, number, MessageRows((1,)))) == 1


def test_remarks_name_what_a_row_has_no_space_for(engine: Engine) -> None:
    ask = tool_call("grep", to="files")
    number = opened(engine, {**ask, "to": ["files", "more", "others", "all"]}, tool_result(ask))
    assert answer(engine, number, RemarksOfRow(0)).recipients == ["files", "more", "others", "all"]
    with pytest.raises(RequestError, match="There are 2 messages"):
        engine.answer_request(number, RemarksOfRow(2))
