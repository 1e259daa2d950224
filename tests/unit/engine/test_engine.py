"""The engine in process: documents, requests, versions and cancellation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.engine.engine import Engine
from inspector.engine.opening import Target
from inspector.engine.request import Request, RequestError
from inspector.engine.requests.latency import Latencies
from inspector.engine.requests.rows import MessageRows
from inspector.engine.requests.views import FilterRows
from inspector.engine.update import Update
from inspector.filters import batch_size, compile
from tests.builders import GrowingLog, document_of, envelope, tool_call, tool_result


def test_a_log_is_opened_in_steps_and_answers_requests(tmp_path: Path) -> None:
    ask = tool_call("grep", to="files")
    log = tmp_path / "log.jsonl"
    document_of(ask, tool_result(ask), envelope())  # the builders give valid envelopes
    log.write_bytes(b"".join(_line(one) for one in (ask, tool_result(ask), envelope())))
    engine = Engine()
    number, steps = engine.open([Target(log)])
    assert engine.answer_request(number, FilterRows(1)).visible.tolist() == []
    engine.read(steps)
    assert engine.answer_request(number, FilterRows(1, 'kind like "mcp/*"')).visible.tolist() == [0, 1]
    rows = engine.answer_request(number, MessageRows((1, 0)))
    assert [row.number for row in rows] == ["2", "1"]
    assert engine.answer_request(number, Latencies()).rows[0].name == "grep"
    engine.close()
    with pytest.raises(RequestError):
        engine.answer_request(number, FilterRows(1))


def _line(one: dict[str, object]) -> bytes:
    import msgspec

    return msgspec.json.encode(one) + b"\n"


@pytest.mark.parametrize(
    "request_", [FilterRows(1, "kind =="), MessageRows((3,)), MessageRows((-1,)), MessageRows((0,) * 3_000)]
)
def test_a_wrong_request_is_refused_with_a_sentence(request_: Request[Any]) -> None:
    engine = Engine()
    number = engine.adopt(document_of(envelope()))
    with pytest.raises(RequestError, match=r"[.)]$"):
        engine.answer_request(number, request_)


def test_the_version_rises_and_subscribers_see_the_changes() -> None:
    log, engine, seen = GrowingLog(), Engine(), list[Update]()
    number = engine.adopt(log.document)
    end = engine.subscribe(number, seen.append)
    log.write(envelope(), envelope())
    while log.document.poll():
        pass
    assert engine.version(number) >= 1
    assert (seen[0].start, seen[-1].stop, seen[-1].version) == (0, 2, engine.version(number))
    end()
    version = engine.version(number)
    log.write(envelope())
    while log.document.poll():
        pass
    assert seen[-1].stop == 2
    assert engine.version(number) > version


def test_a_cancelled_request_stops_at_its_next_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "BLOCK_S", 0.0)
    monkeypatch.setattr(batch_size, "_MAX_SIZE", 64)
    engine = Engine()
    number = engine.adopt(document_of(*(envelope("chat", {"n": n}) for n in range(300))))
    steps = engine.begin(number, FilterRows(1, "payload.n < 5"))
    next(steps)
    steps.close()
    with pytest.raises(StopIteration):
        next(steps)
    assert engine.answer_request(number, FilterRows(1, "payload.n < 1")).visible.tolist() == [0]


def test_figures_kept_between_requests_follow_changes() -> None:
    log, engine = GrowingLog(), Engine()
    number = engine.adopt(log.document)
    assert engine.answer_request(number, Latencies()).rows == []
    ask = tool_call("grep", to="files", ts="2026-01-05T09:00:00.000Z")
    log.write(ask, tool_result(ask, ts="2026-01-05T09:00:00.020Z"))
    while log.document.poll():
        pass
    assert engine.answer_request(number, Latencies()).rows[0].latency.count == 1


def test_the_number_of_figures_kept_is_limited() -> None:
    engine = Engine()
    held = engine.opened(engine.adopt(document_of(envelope())))
    made: list[int] = []

    def figures(key: int) -> Figures:
        return held.kept(key, lambda: made.append(key) or Figures())

    for key in range(1_000):
        figures(key)
    assert figures(999) is figures(999)
    figures(0)
    assert made == [*range(1_000), 0]


class Figures:
    def note_changed(self, _changed: object, /) -> None:
        pass
