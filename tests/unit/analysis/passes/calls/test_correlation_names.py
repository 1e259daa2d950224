"""What correlation ids name: messages, else contexts, else streams, else nothing (docs/protocols.md 5)."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.document.summary import link_sentence, links_of
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import GrowingLog, document_of, envelope, grown_log, tool_call


def names(document: CaptureDocument) -> list[object]:
    field = FIELD_BY_NAME["correlation.names"]
    return [field.value(document.analysis, message) for message in range(len(document.capture))]


def naming(identifier: Any, kind: str = "chat", **fields: Any) -> dict[str, Any]:
    return envelope(kind, {"text": "x"}, correlation_id=identifier, **fields)


OPENED = envelope("stream/open", {"stream_id": "s-1"}, id="o", sender="gateway")


@pytest.mark.parametrize("backwards", [False, True], ids=["first named", "named first"])
@pytest.mark.parametrize(
    ("thing", "identifier", "found"),
    [
        (envelope(id="m"), "m", ("message", "later message")),
        (envelope(context="a/b"), "a/b", ("context", "context")),
        (envelope(context="a/b"), "a", ("context", "context")),
        (envelope(context="a/b"), "b", ("nothing seen", "nothing seen")),
        (envelope(context={"id": "scan", "parent": "why"}), "why", ("context", "context")),
        (OPENED, "s-1", ("stream", "stream")),
        (envelope(context="x", id="y"), ["gone", "x"], ("context", "context")),
    ],
    ids=str,
)
def test_whatever_comes_first(thing: Any, identifier: Any, found: tuple[str, str], backwards: bool) -> None:
    lines = [naming(identifier), thing] if backwards else [thing, naming(identifier)]
    place = 0 if backwards else 1
    assert names(document_of(*lines))[place] == found[backwards]
    log = grown_log(lines)
    assert names(log.document)[place] == found[backwards]


def test_an_envelope_goes_before_a_context_and_that_before_a_stream() -> None:
    log = GrowingLog()
    log.write(naming("s-1"))
    found = [names(log.document)[0]]
    for line in (OPENED, envelope(context="s-1"), envelope(id="s-1")):
        log.write(line)
        found.append(names(log.document)[0])
    assert found == ["nothing seen", "stream", "context", "later message"]


def test_contexts_of_another_space_are_not_meant() -> None:
    def line(space: str, inner: dict[str, Any]) -> dict[str, Any]:
        return {"event": "received", "timestamp": inner["ts"], "space_id": space, "envelope": inner}

    document = document_of(line("one", envelope(context="a")), line("two", naming("a")), line("one", naming("a")))
    assert names(document) == [None, "nothing seen", "context"]


def test_a_response_before_its_request_mends_itself() -> None:
    answer = envelope("mcp/response", {"result": {}}, correlation_id=["q"], sender="files", to=["lead"])
    log = GrowingLog()
    log.write(answer)
    assert link_sentence(log.document, 0) == "Its request was never seen."
    log.write(tool_call("grep", id="q"))
    assert link_sentence(log.document, 0) == "This response came before its request, No. 2."
    assert FIELD_BY_NAME["answers"].value(log.document.analysis, 0) == 2
    assert FIELD_BY_NAME["tool"].value(log.document.analysis, 0) == "grep"


def test_a_response_that_names_nothing_has_an_unseen_request() -> None:
    document = document_of(envelope("mcp/response", {"result": {}}), envelope())
    assert names(document) == ["nothing seen", None]


def test_links_say_where_each_id_leads() -> None:
    document = document_of(envelope(id="m"), envelope(context="a/b"), OPENED, naming(["m", "a/b", "s-1", "gone", "z"]),
                           envelope(id="z"))  # fmt: skip
    assert links_of(document, 3) == [
        {"id": "m", "names": "message", "no": 1},
        {"id": "a/b", "names": "context", "context": "a/b"},
        {"id": "s-1", "names": "stream", "stream": "s-1"},
        {"id": "gone", "names": "nothing seen"},
        {"id": "z", "names": "later message", "no": 5},
    ]


def steps(document: CaptureDocument, number: int) -> list[int]:
    return [step.message + 1 for step in document.chain(number - 1)]


def test_chains_go_through_contexts_and_streams_both_ways() -> None:
    document = document_of(
        envelope("reasoning/thought", {}, context={"id": "why"}), envelope("reasoning/conclusion", {}, context="why"),
        OPENED, tool_call("grep", id="q", correlation_id=["why"]),
        envelope("mcp/response", {"result": {}}, correlation_id=["q"]), naming("s-1", "stream/close"),
    )  # fmt: skip
    assert [steps(document, number) for number in (1, 2, 4, 5)] == [[1, 4, 5], [2, 4, 5], [1, 2, 4, 5], [1, 2, 4, 5]]
    assert [steps(document, number) for number in (3, 6)] == [[3, 6], [3, 6]]


def test_a_reasoning_s_start_leads_to_what_was_done_in_it_and_below() -> None:
    document = document_of(
        envelope(id="t", sender="human"), envelope("reasoning/start", {"message": "Why"}, id="r", correlation_id=["t"]),
        tool_call("grep", id="q", context="r"), envelope("mcp/response", {"result": {}}, correlation_id=["q"]),
        envelope("mcp/proposal", {"method": "tools/list"}, context="r/below"), tool_call("grep", context="elsewhere"),
    )  # fmt: skip
    assert [steps(document, number) for number in (1, 2, 4, 5)] == [
        [1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4], [1, 2, 5],
    ]  # fmt: skip


def test_each_step_says_what_it_came_out_of_and_how_long_what_it_ended_took() -> None:
    document = document_of(
        envelope(id="t", ts="2026-01-05T09:00:00.000Z"),
        tool_call("grep", id="q", correlation_id=["t"], ts="2026-01-05T09:00:00.100Z"),
        envelope("mcp/response", {"result": {}}, correlation_id=["q"], ts="2026-01-05T09:00:00.350Z"),
    )
    assert [(step.after, step.since_ns, step.took_ns) for step in document.chain(2)] == [
        (None, None, None), (0, 100_000_000, None), (1, 250_000_000, 250_000_000),
    ]  # fmt: skip
