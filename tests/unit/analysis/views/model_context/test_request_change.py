"""What is changed from request to request, and from where on nothing could be read from a prompt cache."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.analysis.views.model_context import Moment
from inspector.analysis.views.model_context.growth import growth_of
from inspector.analysis.views.model_context.reported import reports_of
from inspector.analysis.views.model_context.request_change import RequestChange, request_at
from inspector.present.request_words import cache_words, change_words, request_json
from tests.builders import document_at, document_of
from tests.unit.analysis.views.model_context.test_recorded_requests import (
    ASKED,
    START,
    TOOLS,
    answer,
    moment_of,
    request,
    said,
)

SAID = [ASKED, said("assistant", "3.4 m."), said("user", "And now?"), said("assistant", "3.6 m.")]
WIRE = Path(__file__).parents[4] / "data" / "captures" / "model-wire.jsonl"
MARK = {"cache_control": {"type": "ephemeral"}}


def change_between(first: dict[str, Any], second: dict[str, Any]) -> RequestChange:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 25, "output_tokens": 2}
    last = answer(9, {"type": "text", "text": "Yes."})
    last["message"]["usage"] = usage
    found = request_at(moment_of(document_of(START, first, answer(1, {"type": "text", "text": "?"}), second, last)))
    assert found is not None
    return found


def texts(change: RequestChange, places: Iterable[int]) -> list[str]:
    capture = change.context.analysis.capture
    return [capture.records.payload(int(change.context.rows[place]))["text"] for place in places]


def sent(number: int, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    settings = {key: more.pop(key) for key in ("tool_choice", "thinking", "model") if key in more}
    made = request(number, messages, **more)
    made["message"] |= settings
    return made


def test_a_request_that_goes_on_begins_with_all_of_the_one_before() -> None:
    change = change_between(request(1, SAID[:1]), request(9, SAID[:3]))
    assert (change.first_difference, change.shared, texts(change, change.added)) == (None, 2, ["3.4 m.", "And now?"])
    assert change_words(change) == "No. 7 sends 4 entries and 1 tool: 2 added since No. 2"
    assert cache_words(change) == (
        "70 of 100 tokens read from a cache, 25 written to it (reported with No. 12)",
        "It begins with all of No. 2.",
    )
    whole = change.context.whole_tokens
    assert NOT_COUNTED not in whole
    assert change.could_be_read == sum(int(whole[place]) for place in (0, 1, 2))


def test_what_differs_first_is_named() -> None:
    other = [{**TOOLS[0], "description": "Another."}]
    cut = said("user", "[cut]")
    cases: list[tuple[dict[str, Any], str]] = [
        (sent(9, SAID, tools=other), "It differs from No. 2 first in the tool tide."),
        (sent(9, SAID, tools=[*TOOLS, {"name": "port"}]), "It differs from No. 2 first in the tool port."),
        (sent(9, SAID, tool_choice={"type": "any"}), "Since No. 2 tool_choice was changed."),
        (sent(9, [*SAID[:2], cut, SAID[3]]), "It differs from No. 2 first at No. 14, instead of No. 6."),
        (sent(9, [SAID[0], cut, *SAID[1:]]), "No. 13 was inserted before No. 5."),
        (sent(9, SAID, system="Be long.", thinking={"type": "adaptive"}), "first at No. 11, instead of No. 3."),
        (sent(9, SAID[:2]), "It equals the beginning of No. 2."),
    ]
    for second, words in cases:
        change = change_between(request(1, SAID), second)
        assert words in cache_words(change)[1]
    changed = change_between(request(1, SAID), sent(9, SAID, model="m-2"))
    assert cache_words(changed)[1] == "It is the first request to this model."


def test_marks_stand_at_their_entries_and_are_no_difference() -> None:
    marked = [{**one, "content": [{**one["content"][0], **MARK}]} for one in SAID[:1]]
    hour = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    change = change_between(request(1, marked), request(9, SAID[:3], tools=[{**TOOLS[0], **hour}]))
    assert change.first_difference is None
    assert change.request.marks == {}
    assert change.before is not None
    assert [(texts(change, [place]), mark) for place, mark in change.before.marks.items()] == [
        (["How high is the tide?"], "5m"),
    ]  # fmt: skip
    moment = Moment(change.context, change.request.last)
    assert [(entry.role.word, entry.cache) for entry in moment.entries() if entry.cache] == [("tools", "1h")]
    found = request_json(change)
    assert found is not None
    assert found["cache"]["tools"] == [{"tool": "tide", "lasts": "1h"}]


def test_what_another_entry_stands_for_was_compacted() -> None:
    summary = said("user", "So far: 3.6 m.")
    change = change_between(request(1, SAID), request(9, [ASKED, summary]))
    assert texts(change, change.compacted) == ["3.4 m.", "And now?", "3.6 m."]
    left_out = change_between(request(1, SAID), request(9, [ASKED, *SAID[2:]]))
    assert (texts(left_out, left_out.dropped), len(left_out.compacted)) == (["3.4 m."], 0)
    assert change_words(left_out).endswith("1 dropped since No. 2")


def test_a_request_made_again_is_compared_with_the_call_before() -> None:
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    busy = {**answer(2), "status": 529, "message": failed}
    again = {**request(3, SAID), "headers": {"x-stainless-retry-count": "1"}}
    document = document_of(
        START, request(1, SAID[:1]), answer(1), request(2, SAID), busy, again,
        answer(3, {"type": "text", "text": "Yes."}),
    )  # fmt: skip
    change = request_at(moment_of(document))
    assert change is not None
    assert change.before is not None
    assert (change.before.message, len(change.added)) == (1, 3)


_MESSAGES = st.lists(st.integers(0, 9), max_size=8, unique=True)


@given(_MESSAGES, _MESSAGES)
def test_what_is_added_and_dropped_is_what_either_has_alone(one: list[int], other: list[int]) -> None:
    first, second = ([ASKED, *(said("user", f"text {number}") for number in numbers)] for numbers in (one, other))
    alike = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    left, rest = (numbers[len(numbers) if alike is None else alike :] for numbers in (one, other))
    assume(not left or not set(left).isdisjoint(rest))  # else the second begins another conversation
    change = change_between(request(1, first), request(9, second))
    assert texts(change, change.added) == [f"text {number}" for number in other if number not in one]
    assert texts(change, change.dropped) == [f"text {number}" for number in one if number not in other]
    assert set(change.compacted) <= set(change.dropped)
    shared = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    assert change.shared == 2 + (min(len(one), len(other)) if shared is None else shared)


def test_a_mark_that_has_run_out_is_said() -> None:
    marked = [{**ASKED, "content": [{**ASKED["content"][0], **MARK}]}]
    late = {**request(9, [*marked, *SAID[1:3]]), "t": "2026-11-22T21:50:00.000000Z"}
    unasked = {**request(10, SAID[:3]), "t": "2026-11-22T21:50:01.000000Z"}
    document = document_of(START, request(1, marked), answer(1), late, answer(9), unasked, answer(10))
    requests = [one.message for one in moment_of(document).context.sent.requests]
    _, found, other = (request_at(moment_of(document, message)) for message in requests)
    assert found is not None
    assert other is not None
    assert cache_words(found)[1].endswith("14 min 59 s had passed since then, longer than the cache lasts.")
    assert cache_words(other)[1] == "It requests no cache."


@pytest.mark.parametrize("mark", [None, 5, {}, {"ttl": 3}, {"ttl": "x" * 999}])
def test_odd_marks_are_borne(mark: Any) -> None:
    odd = [{**ASKED, "content": [{**ASKED["content"][0], "cache_control": mark}]}]
    change = change_between(request(1, odd), request(9, SAID))
    assert change.first_difference is None


def test_what_calls_reported_stands_beside_the_estimates() -> None:
    moment = moment_of(document_at(WIRE))
    found = reports_of(moment.context.analysis, moment.context.reader, {})
    assert [row + 1 for row in found.messages] == [5, 14, 33, 45, 59, 67]
    assert found.tokens.tolist() == [971, 1713, 1762, 1289, 1445, 1004]
    assert found.limit is None


def test_a_context_grows_by_requests_and_is_never_between_two() -> None:
    context = moment_of(document_at(WIRE)).context
    growth = growth_of(context)
    for message, seen in zip(growth.messages.tolist(), growth.seen.tolist(), strict=True):
        assert context.moment_at(message).total == seen
    sent = [row for one in context.sent.requests for row in range(one.message + 1, one.last + 1)]
    assert not set(sent) & set(growth.messages.tolist())
