"""What is found to be wasted, and what is not."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis import Analysis
from inspector.analysis.views.waste import Waste, WasteFinder, WasteKind, WasteReport, finder
from inspector.analysis.views.waste import mentions as tracing
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.protocol.tool_aliases import ToolAliases
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.findings import at
from tests.waste import HINT, TRANSIENT, asked, listed, records, wasteful

CONSUMED = {"context": {"consumed": True}}
PAGE = "Here is what stands on the page, as it was asked for. " * 20


def counted(*lines: dict[str, Any]) -> CaptureDocument:
    document = document_of(*lines)
    document.analysis.tokens.count_now(np.arange(len(document.analysis)))
    return document


def looked_at(analysis: Analysis, **options: Any) -> WasteReport:
    return run_to_end(WasteFinder(analysis, **options).search())


def found(*lines: dict[str, Any]) -> tuple[Waste, ...]:
    return looked_at(counted(*lines).analysis).wastes


def kinds_of(wastes: tuple[Waste, ...]) -> list[tuple[WasteKind, int]]:
    """Kind and No. of each, in the order of the messages."""
    return sorted(((one.kind, one.message + 1) for one in wastes), key=lambda one: (one[1], one[0].value))


def test_every_way_to_waste_is_found_once_and_what_costs_most_comes_first() -> None:
    document = counted(*wasteful())

    wastes = looked_at(document.analysis).wastes

    assert kinds_of(wastes) == [
        (WasteKind.UNCALLED, 2), (WasteKind.TWICE, 7), (WasteKind.UNCONSUMED, 11), (WasteKind.UNREFERRED, 13),
        (WasteKind.COPIED, 16), (WasteKind.LISTED, 19),
    ]  # fmt: skip
    assert [one.tokens for one in wastes] == sorted((one.tokens for one in wastes), reverse=True)
    assert {one.participant for one in wastes} == {"lead"}
    tokens = document.analysis.tokens.columns["tokens"]
    by_kind = {one.kind: one for one in wastes}
    assert by_kind[WasteKind.TWICE].tokens == tokens[6]
    assert by_kind[WasteKind.UNREFERRED].tokens == tokens[12]
    assert by_kind[WasteKind.LISTED].tokens == tokens[18]
    summary = document.analysis.tokens.summary_tokens(10)
    assert summary is not None
    assert by_kind[WasteKind.UNCONSUMED].tokens == tokens[10] - summary
    assert 0.7 * tokens[15] < by_kind[WasteKind.COPIED].tokens <= tokens[15]
    assert tokens[18] * 0.4 < by_kind[WasteKind.UNCALLED].tokens < tokens[18] * 0.6


def test_the_sum_is_of_all_and_says_how_much_is_certain() -> None:
    outcome = looked_at(counted(*wasteful()).analysis)
    assert outcome.tokens == sum(one.tokens for one in outcome.wastes)
    assert outcome.sure_tokens == sum(one.tokens for one in outcome.wastes if one.sure)
    assert {one.kind for one in outcome.wastes if one.sure} == {WasteKind.TWICE, WasteKind.UNCONSUMED}
    assert outcome.notes == ()


def test_messages_say_where_to_look() -> None:
    by_kind = {one.kind: one for one in found(*wasteful())}
    assert by_kind[WasteKind.TWICE].messages == (3, 5, 6)
    assert by_kind[WasteKind.COPIED].messages == (14, 15)
    assert "No. 4 had answered the same" in by_kind[WasteKind.TWICE].sentence
    assert "No. 15" in by_kind[WasteKind.COPIED].sentence
    assert "store has not consumed" in by_kind[WasteKind.UNCONSUMED].sentence
    assert "format_disk" in by_kind[WasteKind.UNCALLED].sentence


def test_nothing_is_wasted_where_everything_is_used() -> None:
    page = asked("search", records(1_000), meta=TRANSIENT)
    assert found(*asked("get_step", "Follow it.", meta=HINT), *page, *asked("store", "Stored.", meta=CONSUMED)) == ()


def test_a_transient_result_that_no_tool_can_consume_could_not_be_spared() -> None:
    assert found(*asked("search", records(1_000), meta=TRANSIENT)) == ()


def test_tools_called_behind_a_prefix_are_told_from_tools_nobody_hints_at() -> None:
    hint = {"contextHints": [{"step": 1, "tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
    prefixed = [
        *asked("mcp__rune__get_step", "Follow it.", meta=hint),
        *asked("mcp__rune__search", records(1_000), meta=TRANSIENT),
        *asked("mcp__rune__store", "Stored.", meta=CONSUMED),
    ]
    (waste,) = found(*prefixed)
    assert (waste.kind, waste.sure) == (WasteKind.UNCONSUMED, False)
    assert waste.sentence.endswith("search brought a transient result; hints call this tool search, so that none fits.")
    assert waste.advice.startswith("Set the tool alias mcp__rune__* = * (")
    document = counted(*prefixed)
    document.analysis.use_tool_aliases(ToolAliases.from_texts(["mcp__rune__* = *"]))
    assert looked_at(document.analysis).wastes == ()


def test_nobody_is_told_to_call_a_tool_that_the_server_does_not_have() -> None:
    lines = [*asked("get_step", "Follow it.", meta=HINT), *asked("search", records(1_000), meta=TRANSIENT)]
    assert found(*listed("get_step", "search", words=0), *lines) == ()
    (behind,) = found(*listed("get_step", "search", "mcp__rune__store", words=0), *lines)
    assert "hints leave it to store, which files does not have" in behind.sentence
    assert (behind.advice.startswith("Set the tool alias mcp__rune__* = * ("), behind.sure) == (True, False)
    for tools in (("get_step", "search", "store"), ()):  # it has it; nobody knows
        (waste,) = found(*(listed(*tools, words=0) if tools else []), *lines)
        assert waste.advice.startswith("Call store once")


# While traffic goes on


def test_what_just_came_may_still_be_consumed_or_spoken_of() -> None:
    lines = [
        *asked("get_step", "Follow it.", meta=HINT),
        *asked("search", records(1), meta=TRANSIENT),
        *asked("read_file", records(5_000), {"path": "/a"}),
    ]
    lines = [
        *(line | {"ts": at(1)} for line in lines),
        envelope("chat", {"text": "Let me see."}, ts=at(2)),
    ]
    now = counted(*lines)
    assert looked_at(now.analysis, ongoing=True).wastes == ()
    assert {one.kind for one in looked_at(now.analysis).wastes} == {WasteKind.UNCONSUMED, WasteKind.UNREFERRED}
    later = counted(*lines, envelope("chat", {"text": "Still here."}, ts=at(400)))
    wastes = {one.kind: one for one in looked_at(later.analysis, ongoing=True).wastes}
    assert wastes.keys() == {WasteKind.PENDING, WasteKind.UNREFERRED}
    assert not wastes[WasteKind.PENDING].sure


def test_tools_not_called_so_far() -> None:
    lines = listed(*"abcdef")
    (waste,) = looked_at(counted(*lines, *asked("a", "1")).analysis, ongoing=True).wastes
    assert waste.sentence == "So far lead did not call 5 of the 6 tools that files listed: b, c, d, e, f."


def test_one_more_tool_is_named_and_several_are_counted() -> None:
    def named(*names: str) -> str:
        (waste,) = found(*listed(*names), *asked("a", "1"))
        return waste.sentence.partition(": ")[2]

    assert named(*"abcdef") == "b, c, d, e, f."
    assert named(*"abcdefg") == "b, c, d, e, f, g."
    assert named(*"abcdefgh") == "b, c, d, e, f and 2 more."


def test_one_result_that_is_not_counted_is_one() -> None:
    document = document_of(*asked("read_file", records(1)))
    assert looked_at(document.analysis).notes == ("1 result is not counted, and was not looked at.",)


# Fetched twice


def twice(*between: dict[str, Any], second: str = "same " * 50, again: dict[str, Any] | None = None) -> list[Waste]:
    first = asked("read_file", "same " * 50, {"path": "/a", "from": 1})
    later = asked("read_file", second, {"from": 1, "path": "/a"} if again is None else again)
    return [one for one in found(*first, *between, *later) if one.kind is WasteKind.TWICE]


def test_the_order_of_arguments_makes_no_difference() -> None:
    (waste,) = twice()
    assert waste.sure
    assert (waste.message, waste.messages) == (3, (1, 2, 3))


def test_a_second_answer_is_no_second_call() -> None:
    call, answer = asked("read_file", "same " * 50, {"path": "/a"})
    assert WasteKind.TWICE not in dict(kinds_of(found(call, answer, {**answer, "id": "again"})))


def test_other_arguments_are_another_call() -> None:
    assert twice(again={"path": "/b", "from": 1}) == []


def test_a_call_in_between_that_may_change_things_makes_it_a_perhaps() -> None:
    (waste,) = twice(*asked("write_file", "Written.", {"path": "/a"}))
    assert not waste.sure
    assert "might have changed" in waste.sentence
    (waste,) = twice(*asked("list_files", "a, b"))
    assert waste.sure, "a tool that only reads changes nothing"
    (waste,) = twice(*asked("write_file", "Written.", to="elsewhere"))
    assert waste.sure, "another server changes nothing here"


def test_a_call_that_does_more_than_read_may_have_its_reason_to_be_made_again() -> None:
    lines = [line for _ in range(3) for line in asked("run_tests", "3 passed", {"path": "/a"})]
    assert [(one.kind, one.sure) for one in found(*lines)] == [(WasteKind.TWICE, False)]


def test_a_call_that_consumes_is_made_for_each_result() -> None:
    pages = [asked("search", records(1), {"page": page}, meta=TRANSIENT) for page in (1, 2)]
    stores = [asked("store", "Stored.", meta=CONSUMED) for _ in pages]
    lines = [line for page, store in zip(pages, stores, strict=True) for line in (*page, *store)]
    assert found(*asked("get_step", "Follow it.", meta=HINT), *lines) == ()


def test_a_tool_may_say_itself_that_it_only_reads() -> None:
    ask = envelope("mcp/request", {"method": "tools/list"}, to=["files"])
    tool = {"name": "sniff", "annotations": {"readOnlyHint": True}}
    answer = envelope("mcp/response", {"result": {"tools": [tool]}}, sender="files", to=["lead"],
                      correlation_id=[ask["id"]])  # fmt: skip
    first, second = (asked("read_file", "same " * 50, {"path": "/a"}) for _ in range(2))
    unsaid = found(*first, *asked("sniff", "roses"), *second)
    assert [one.sure for one in unsaid if one.kind is WasteKind.TWICE] == [False]
    said = found(ask, answer, *first, *asked("sniff", "roses"), *second)
    assert [one.sure for one in said if one.kind is WasteKind.TWICE] == [True]


def test_who_was_told_to_forget_in_between_may_have_needed_it_again() -> None:
    (waste,) = twice(envelope("participant/clear", {}, sender="human", to=["lead"]))
    assert not waste.sure
    (waste,) = twice(envelope("participant/clear", {}, sender="human", to=["somebody"]))
    assert waste.sure


def test_an_answer_that_changed_says_so() -> None:
    (waste,) = twice(second="other " * 50)
    assert not waste.sure
    assert "had changed" in waste.sentence


def test_many_times_are_one_row_with_all_their_tokens() -> None:
    lines = [line for _ in range(5) for line in asked("read_file", "same " * 50, {"path": "/a"})]
    document = counted(*lines)
    (waste,) = looked_at(document.analysis).wastes
    assert "4 more times" in waste.sentence
    assert waste.tokens == 4 * int(document.analysis.tokens.columns["tokens"][1])


def test_two_clients_that_ask_the_same_waste_nothing() -> None:
    one = asked("read_file", "same " * 50, {"path": "/a"})
    other = asked("read_file", "same " * 50, {"path": "/a"}, sender="coder")
    assert found(*one, *other) == ()


def test_a_call_that_failed_may_be_made_again() -> None:
    call = tool_call("read_file", arguments={"path": "/a"})
    failed = tool_result(call, "gone " * 50, result={"isError": True})
    assert found(call, failed, *asked("read_file", "gone " * 50, {"path": "/a"})) == ()


def test_a_result_that_collapsed_costs_its_summary_only() -> None:
    loop = [
        *asked("get_step", "Follow it.", meta=HINT),
        *asked("search", records(1), {"page": 1}, meta=TRANSIENT), *asked("store", "Stored.", meta=CONSUMED),
        *asked("search", records(1), {"page": 1}, meta=TRANSIENT), *asked("store", "Stored.", {"n": 2}, meta=CONSUMED),
    ]  # fmt: skip
    document = counted(*loop)
    (waste,) = looked_at(document.analysis).wastes
    assert waste.kind is WasteKind.TWICE
    assert waste.tokens == document.analysis.tokens.summary_tokens(7)


def test_plain_stdio_traffic_names_nobody() -> None:
    lines: list[dict[str, Any]] = []
    for number in (1, 2):
        params = {"name": "read_file", "arguments": {"path": "/a"}}
        lines.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        result = {"content": [{"type": "text", "text": "same " * 50}]}
        lines.append({"jsonrpc": "2.0", "id": number, "result": result})
    (waste,) = found(*lines)
    assert waste.kind is WasteKind.TWICE
    assert waste.participant is None
    assert waste.sentence == "The MCP client called read_file again with equal arguments; No. 2 had answered the same."


# Never referred to


def unreferred(*later: dict[str, Any], text: str | None = None) -> list[int]:
    wastes = found(*asked("read_file", records(1_000) if text is None else text, {"path": "/notes/a.md"}), *later)
    return [one.message + 1 for one in wastes if one.kind is WasteKind.UNREFERRED]


def test_a_number_a_name_or_a_path_of_it_is_enough() -> None:
    assert unreferred(envelope("chat", {"text": "What a day."})) == [2]
    assert unreferred(envelope("chat", {"text": "customer 1039 it is"})) == []
    assert unreferred(envelope("reasoning/thought", {"message": "CUSTOMER-1001, then."})) == []
    assert unreferred(*asked("write_file", "ok", {"rows": [1_002]})) == []


def test_what_others_say_does_not_count_nor_what_was_asked_for() -> None:
    assert unreferred(envelope("chat", {"text": "1001"}, sender="human"), envelope("chat", {"text": "Ah."})) == [2]
    assert unreferred(envelope("chat", {"text": "I have read /notes/a.md."}), text=f"/notes/a.md {'1x2y3 ' * 300}") == [
        2
    ]


def test_words_of_the_language_count_when_there_are_several() -> None:
    prose = "the heron waits quietly beside the murmuring river until morning " * 40
    assert unreferred(envelope("chat", {"text": "It happens quietly."}), text=prose) == [2]
    assert unreferred(envelope("chat", {"text": "Quietly, by the murmuring river, one morning"}), text=prose) == []


def test_a_message_that_names_it_refers_to_it() -> None:
    lines = asked("read_file", records(1_000))
    assert found(*lines, envelope("chat", {"text": "Good."}, correlation_id=[lines[1]["id"]])) == ()


def test_nothing_is_said_where_nothing_came_later_or_little_was_brought() -> None:
    assert unreferred() == []
    assert unreferred(envelope("chat", {"text": "Good."}), text="Only 1234 here.") == []


def test_too_much_that_was_said_later_is_not_searched(monkeypatch: Any) -> None:
    monkeypatch.setattr(tracing, "MAX_MESSAGES", 2)
    chats = [envelope("chat", {"text": "Nothing."}) for _ in range(3)]
    outcome = looked_at(counted(*asked("read_file", records(1_000)), *chats).analysis)
    assert outcome.wastes == ()
    assert "not in 1 more" in outcome.notes[0]


# Bounds and hostile values


def test_only_the_largest_results_are_looked_at_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder, "MAX_RESULTS", 2)
    small = [line for _ in range(2) for line in asked("read_file", "small " * 20, {"path": "/a"})]
    large = [line for _ in range(2) for line in asked("read_file", "large " * 90, {"path": "/b"})]
    outcome = looked_at(counted(*small, *large).analysis)
    assert [one.message for one in outcome.wastes] == [7]
    assert outcome.notes == ("Only the 2 largest of 4 results were examined closely.",)


def test_what_is_not_counted_is_not_looked_at_and_that_is_said() -> None:
    outcome = looked_at(document_of(*wasteful()).analysis)
    assert outcome.wastes == ()
    assert "are not counted" in outcome.notes[0]


def test_odd_payloads_do_no_harm() -> None:
    call = tool_call("read_file")
    odd: list[Any] = [
        None, [], "text", 7, {"content": 3}, {"content": [None, 3, {"text": None}, {"text": "{" * 2_000}]},
        {"content": [{"type": "text", "text": "[" * 100_000}]}, {"tools": 3},
    ]  # fmt: skip
    lines = [line for one in odd for line in (
        {**call, "id": f"c{id(one)}"}, envelope("mcp/response", {"result": one}, sender="files", to=["lead"],
                                                correlation_id=[f"c{id(one)}"]))]  # fmt: skip
    lists = listed("a", "b")
    lists[1]["payload"] = {"result": {"tools": [None, 3, {"name": None}, {"description": "x" * 4_000}]}}
    chats = envelope("chat", {"text": "\ud800 odd"}), envelope("chat", {"text": None})
    outcome = looked_at(counted(*lines, *lists, *chats).analysis)
    assert kinds_of(outcome.wastes) == [(WasteKind.TWICE, 4), (WasteKind.UNCALLED, 18)]


def test_an_empty_capture_wastes_nothing() -> None:
    assert looked_at(document_of().analysis) == WasteReport((), (), 0)


# Fetched twice, against a plain version

CALLS = st.lists(
    st.tuples(st.sampled_from(["lead", "coder"]), st.sampled_from(["read_file", "write_file"]),
              st.integers(0, 2), st.integers(0, 1)), max_size=14,
)  # fmt: skip


def plainly(calls: list[tuple[str, str, int, int]]) -> list[tuple[int, int, bool]]:
    """First message, answers that came again, and whether that is certain, of each group of them."""
    groups: dict[tuple[str, str, int], list[int]] = {}
    for place, (who, tool, path, _) in enumerate(calls):
        groups.setdefault((who, tool, path), []).append(place)
    made: list[tuple[int, int, bool]] = []
    for places in groups.values():
        again: dict[str, list[int]] = {}
        for before, here in pairwise(places):
            same = calls[before][3] == calls[here][3]
            changed = any(calls[other][1] == "write_file" for other in range(before, here))
            again.setdefault("changed" if not same else "perhaps" if changed else "same", []).append(here)
        made += [(2 * later[0] + 1, len(later), how == "same") for how, later in again.items()]
    return sorted(made)


@given(CALLS)
def test_repeated_calls_agree_with_a_plain_version(calls: list[tuple[str, str, int, int]]) -> None:
    lines = [
        line for who, tool, path, answer in calls
        for line in asked(tool, f"answer {answer} " * 9, {"path": path}, sender=who)
    ]  # fmt: skip
    document = counted(*lines)
    tokens = document.analysis.tokens.columns["tokens"]
    wastes = [one for one in looked_at(document.analysis).wastes if one.kind is WasteKind.TWICE]
    one = int(tokens[1]) if len(tokens) else 0
    assert sorted((w.message, round(w.tokens / one), w.sure) for w in wastes) == plainly(calls)


def test_an_answer_with_another_picture_or_value_is_not_the_same() -> None:
    """Their texts are equal; what no tokenizer counts was not compared."""

    def twice(first: dict[str, Any], second: dict[str, Any]) -> list[bool]:
        calls = [tool_call("get_page") for _ in range(2)]
        lines = ((call, tool_result(call, PAGE, result=one)) for call, one in zip(calls, (first, second), strict=True))
        return [one.sure for one in found(*(line for pair in lines for line in pair)) if one.kind is WasteKind.TWICE]

    text = {"type": "text", "text": PAGE}

    def picture(data: str) -> dict[str, Any]:
        return {"content": [text, {"type": "image", "data": data, "mimeType": "image/png"}]}

    assert twice(picture("AAAA"), picture("AAAA")) == [True]
    assert twice(picture("AAAA"), picture("BBBB")) == [False]
    assert twice({"structuredContent": {"n": 1}}, {"structuredContent": {"n": 2}}) == [False]
    assert twice({"_meta": {"took": 1}}, {"_meta": {"took": 2}}) == [True]


def test_what_may_have_left_the_context_is_not_certain() -> None:
    def unconsumed(*later: dict[str, Any]) -> Waste:
        hinted = asked("get_step", "Follow it.", meta=HINT)
        said = found(*hinted, *asked("search", PAGE, meta=TRANSIENT), *later, envelope("chat", {"text": "Good."}))
        return next(one for one in said if one.kind is WasteKind.UNCONSUMED)

    assert unconsumed().sure
    told = unconsumed(envelope("participant/clear", {}, sender="human", to=["lead"]))
    assert not told.sure
    assert told.sentence.endswith("It may have left the context with No. 5.")
    assert not unconsumed(envelope("participant/restart", {}, sender="human")).sure
    assert not unconsumed(envelope("participant/compact-done", {"freed_messages": 1})).sure
    assert unconsumed(envelope("participant/clear", {}, sender="human", to=["other"])).sure
    assert unconsumed(envelope("participant/compact-done", {"freed_messages": 1}, sender="other")).sure


def test_a_new_connection_is_a_new_context() -> None:
    def piped(way: str, frame: dict[str, Any]) -> dict[str, Any]:
        return {"t": 1767603600000000000, "dir": way, "src": 0, "frame": {"jsonrpc": "2.0", **frame}}

    def session(meta: Any) -> list[dict[str, Any]]:
        result = {"content": [{"type": "text", "text": PAGE}], "_meta": meta}
        return [
            {"t": 1767603600000000000, "src": 0, "mark": "opened", "source": "tap"},
            piped("client->server", {"id": 1, "method": "tools/call", "params": {"name": "search"}}),
            piped("server->client", {"id": 1, "result": result}),
        ]

    own = {"context": {**TRANSIENT["context"], "consumedBy": "store"}}
    wastes = found({"ctxcap": 1}, *session(own), *session({}))
    (one,) = (one for one in wastes if one.kind is WasteKind.UNCONSUMED)
    assert not one.sure
    assert found({"ctxcap": 1}, *session(own))[0].sure


def test_what_cannot_be_recognised_is_not_said_to_be_unheeded() -> None:
    def unheeded(result: str, later: str) -> bool:
        said = found(*asked("lookup", result), envelope("chat", {"text": later}))
        return any(one.kind is WasteKind.UNREFERRED for one in said)

    assert not unheeded("中文内容 " * 200, "总结 中文内容")
    entries = json.dumps([{"n": number, "v": "x"} for number in range(90)])
    assert not unheeded(entries, "There are 90 entries, I pick 42 as best.")
    assert not unheeded("résultat " * 300, "Das Ergebnis ist fertig")
    named = json.dumps([{"n": number, "name": f"Customer-{number}"} for number in range(90)])
    assert not unheeded(named, "I pick 42.")
    assert unheeded(named, "None of these fits.")


def test_what_a_server_echoes_is_not_copied_from_it() -> None:
    text = " ".join(f"alpha{number} beta{number} gamma{number}" for number in range(150))

    def copied(first: Any) -> bool:
        said = found(*asked("look", f"You wrote: {text}", first), *asked("write", "ok", {"content": f"{text} more"}))
        return any(one.kind is WasteKind.COPIED for one in said)

    assert copied({"path": "/a"})
    assert not copied({"content": text})
