"""Tokens by tool, context, participant and kind: of all messages as `sums()` says, of some as counted one by one."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.summaries import token_shares
from inspector.analysis.views.summaries.token_shares import Grouping, codes_of, shares, tokens_over_time
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from tests.builders import document_of, envelope, tool_call, tool_result

WAYS: tuple[Grouping, ...] = ("tool", "context", "participant", "kind")


@pytest.fixture
def document() -> CaptureDocument:
    made = document_of(*_lines())
    made.analysis.tokens.count_now(range(len(made.analysis)))
    return made


def _lines() -> list[dict[str, object]]:
    ask, other = tool_call("grep", context="why-1/files"), tool_call("stat", context="why-2")
    return [
        envelope("chat", {"text": "Hello to all of you"}), ask,
        tool_result(ask, "one two three four", context="why-1/files", sender="files"), other,
        tool_result(other, "five", context="why-2", sender="files"),
        envelope("reasoning/thought", {"message": "Look first"}, context="why-1"),
        envelope("chat", {"text": "Done"}, sender="human"),
    ]  # fmt: skip


def named(document: CaptureDocument, way: Grouping) -> dict[str, int]:
    return {document.capture.strings[one.key] if one.key else "": one.tokens for one in shares(document.analysis, way)}


def test_of_everything_they_are_the_sums(document: CaptureDocument) -> None:
    sums = document.analysis.tokens.all_sums()
    assert named(document, "tool") == sums.by_tool
    assert named(document, "participant") == sums.by_participant
    assert named(document, "kind") == sums.by_kind
    for below, held in ((False, sums.by_node.own), (True, sums.by_node.subtree)):
        found = {one.key: one.tokens for one in shares(document.analysis, "context", below=below)}
        assert found == {key: int(held[key]) for key in found}
        assert MAIN in found
    assert sum(one.tokens for one in shares(document.analysis, "context")) == sums.total
    assert {one.key: one.messages for one in shares(document.analysis, "context", below=True)}[MAIN] == 7


@given(chosen=st.sets(st.integers(0, 6)), way=st.sampled_from(WAYS), at_once=st.integers(1, 8))
def test_of_some_they_are_counted_slowly(chosen: set[int], way: Grouping, at_once: int) -> None:
    document = document_of(*_lines())
    analysis = document.analysis
    rows = np.array(sorted(chosen), np.int64)
    analysis.tokens.count_now(rows.tolist()[::2])  # what is not counted costs nothing, but is a message
    slow: dict[int, list[int]] = {}
    for row in rows.tolist():
        entry = slow.setdefault(int(codes_of(analysis, way, np.array([row]))[0]), [0, 0])
        entry[0] += max(0, int(analysis.tokens.columns["tokens"][row]))
        entry[1] += 1
    with patch.object(token_shares, "_MESSAGES_PER_STEP", at_once):
        found = shares(analysis, way, rows)
    assert {one.key: [one.tokens, one.messages] for one in found} == slow
    assert [one.tokens for one in found] == sorted((one.tokens for one in found), reverse=True)


def test_over_time_each_has_its_own_and_the_rest_goes_to_the_others(document: CaptureDocument) -> None:
    analysis = document.analysis
    times = np.arange(7, dtype=np.int64) * 10
    grep = analysis.capture.strings.find("grep")
    assert grep is not None
    found = run_to_end(tokens_over_time(analysis, times, np.array([0, 30, 60], np.int64), [grep], "tool"))
    tokens = analysis.tokens.columns["tokens"].astype(np.int64)
    assert found[0].tolist() == [tokens[1] + tokens[2], 0]
    assert found[1].tolist() == [tokens[0], tokens[3:].sum()]
    some = run_to_end(
        tokens_over_time(analysis, times, np.array([0, 30, 60], np.int64), [grep], "tool", np.array([1, 6]))
    )
    assert some.tolist() == [[tokens[1], 0], [0, tokens[6]]]
