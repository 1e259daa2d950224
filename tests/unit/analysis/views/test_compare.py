"""Comparison of two runs: pairs that differ in one thing, and the alignment itself."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import inspector.formats
from inspector.analysis.views.compare.ignored import Ignored, IgnoreError
from inspector.analysis.views.compare.sequences import Features, align
from inspector.engine.comparing import compared
from inspector.engine.log import Log
from inspector.engine.opening import OpenOptions, Target
from inspector.present.comparison_reports import html_page, junit
from inspector.present.run_comparison import ComparisonAnswer, Verdict
from tests.changed_runs import Pair, pairs, session, write
from tests.transcribed import ClaudeSession


def answer_of(folder: Path, pair: Pair, ignore: tuple[str, ...] = ()) -> ComparisonAnswer:
    logs = [Log.read([Target(path)], OpenOptions()) for path in write(folder, pair)]
    try:
        return compared(logs[0].document, logs[1].document, ignore)
    finally:
        for log in logs:
            log.close()


def verdict_of(folder: Path, pair: Pair) -> Verdict:
    logs = [Log.read([Target(path)], OpenOptions()) for path in write(folder, pair)]
    try:
        return compared(logs[0].document, logs[1].document).verdict()
    finally:
        for log in logs:
            log.close()


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair.name)
def test_pairs_that_differ_in_one_thing_part_there_for_its_reason(pair: Pair, tmp_path: Path) -> None:
    found = verdict_of(tmp_path, pair)
    assert (found.first.kind if found.first else "") == pair.first
    assert (found.cause.kind if found.cause else "") == pair.cause
    assert found.equal == (not pair.first)
    if found.first is not None:
        assert pair.shown in found.first.text


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ((True, True, False), (True, False, True),
         "A solves 2 of 3 runs, B 2 of 3. Only A solves r1. Only B solves r2. "),
        ((True, "no flour"), (True, None), ""),
        ((False, "no flour"), (True, True), "A solves 0 of 2 runs, B 2 of 2. Only B solves r0, r1. "),
        ((True,), (False,), ""),
    ],
)  # fmt: skip
def test_evaluations_tell_the_runs_that_only_one_solved(
    a: tuple[object, ...], b: tuple[object, ...], told: str, tmp_path: Path
) -> None:
    paths = []
    for name, outcomes in (("a", a), ("b", b)):
        facts = ({"error": one} if isinstance(one, str) else {} if one is None else {"passed": one} for one in outcomes)
        lines = ({"of": "atif", "run": f"r{place}", "outcome": fact} for place, fact in enumerate(facts))
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    logs = [Log.read([Target(path)], OpenOptions()) for path in paths]
    found = compared(logs[0].document, logs[1].document).verdict()
    for log in logs:
        log.close()
    assert found.sentence.startswith(told or "The ")
    assert found.headline.startswith(told or "The ")


def test_a_log_that_is_cut_off_ends_there(tmp_path: Path) -> None:
    whole = session()
    for lines, last in ((whole[:6], "Edit"), (whole[:9], "Edit"), (whole[:12], "It is fixed")):
        found = verdict_of(tmp_path, Pair("", whole, lines, "", ""))
        assert found.first is not None
        assert found.cause is not None
        assert (found.first.kind, found.cause.kind) == ("missing", "end")
        assert last in found.first.text
        assert found.sentence.endswith("The log of B ends there.")
        turned = verdict_of(tmp_path, Pair("", lines, whole, "", ""))
        assert turned.sentence.endswith("The log of A ends there.")


def test_calls_without_any_recorded_answer_are_pairs_in_their_order(tmp_path: Path) -> None:
    def is_answer(line: dict[str, Any]) -> bool:
        content = line.get("message", {}).get("content")
        return isinstance(content, list) and content[0]["type"] == "tool_result"

    one, other = ([line for line in session(order=order) if not is_answer(line)] for order in ((0, 1, 2), (2, 0, 1)))
    assert verdict_of(tmp_path, Pair("", one, other, "", "")).equal
    found = verdict_of(tmp_path, Pair("", session(), other, "", ""))
    assert set(found.counts) == {"missing"}


def asked_four_times(nonce: str, port: int, *, wrong: int = 0) -> list[dict[str, Any]]:
    """A session of four calls with an own value each, and of results that name a port."""
    made = ClaudeSession("00000000-0000-4000-8000-00000000000d")
    made.prompt("Look at the harbour.")
    for place in range(4):
        made.runs("look", {"quay": place, "nonce": f"{nonce}{place}"}, f"open at port {port + place}")
    made.runs("moor", {"quay": wrong}, "moored")
    return made.records


def noise_of(folder: Path, one: list[dict[str, Any]], other: list[dict[str, Any]], *ignore: str) -> list[str]:
    logs = [Log.read([Target(path)], OpenOptions()) for path in write(folder, Pair("", one, other, "", ""))]
    found = [noise.item for noise in compared(logs[0].document, logs[1].document, ignore).noise()]
    for log in logs:
        log.close()
    return found


def test_values_that_differ_in_every_pair_are_named_until_they_are_ignored(tmp_path: Path) -> None:
    one = asked_four_times("quiet", 4000)
    assert noise_of(tmp_path, one, asked_four_times("loud", 4000)) == ["nonce"]
    ports = noise_of(tmp_path, one, asked_four_times("quiet", 7000))
    assert ports == [r"\bport ?\d+"]
    assert noise_of(tmp_path, one, asked_four_times("quiet", 7000), *ports) == []
    pair = Pair("", one, asked_four_times("loud", 7000), "", "")
    assert answer_of(tmp_path, pair, ("nonce", *ports)).comparison.divergence.row < 0
    # A port that the different act repeats explains it, and one value alone is no noise.
    told, other = (asked_four_times("quiet", port, wrong=port) for port in (4000, 7000))
    assert noise_of(tmp_path, told, other) == []
    assert noise_of(tmp_path, session(), session(seed=2)) == []


def test_half_a_surrogate_pair_in_a_result_of_json_is_compared(tmp_path: Path) -> None:
    texts = [f'{{"port": {port}, "text": "\ud800"}}' for port in range(8)]
    told, other = (ClaudeSession("00000000-0000-4000-8000-00000000000d") for _ in range(2))
    for made, results in ((told, texts[:4]), (other, texts[4:])):
        made.prompt("Look at the harbour.")
        for place, result in enumerate(results):
            made.runs("look", {"quay": place}, result)
    assert noise_of(tmp_path, told.records, other.records) == []


def test_ignored_fields_and_patterns_do_not_count(tmp_path: Path) -> None:
    pair = Pair("", session(test="1 failed at 5:9"), session(seed=2, test="1 failed at 17:3"), "", "")
    first = [
        answer_of(tmp_path, pair, ignore).comparison.divergence.row >= 0
        for ignore in ((), ("seed",), ("seed", r" at \d+:\d"))
    ]
    assert first == [True, True, False]


def test_the_choice_of_a_model_is_told_with_recorded_sampling_settings(tmp_path: Path) -> None:
    sample = Path(inspector.formats.__file__).parent / "wire_recording" / "samples" / "model-calls.jsonl"
    lines = [json.loads(line) for line in sample.read_text(encoding="utf-8").splitlines()[:4]]
    lines[1]["message"]["temperature"] = 0.7
    other = copy.deepcopy(lines)
    other[2]["message"]["content"][1]["input"] = {"port": "Weser"}
    cause = answer_of(tmp_path, Pair("", lines, other, "", "")).verdict().cause
    assert cause is not None
    assert cause.kind == "choice"
    assert "temperature 0.7 / temperature 0.7" in cause.text


def test_a_malformed_pattern_is_refused_in_words() -> None:
    with pytest.raises(IgnoreError, match="RE2"):
        Ignored(["(open"])


def features(values: list[int]) -> Features:
    array = np.array(values, np.int64)
    return Features(array, array // 10, np.zeros((len(array), 4), np.int64))


@given(st.lists(st.integers(0, 60), max_size=40), st.lists(st.integers(0, 60), max_size=40))
def test_an_alignment_ascends_in_both_and_pairs_steps_of_one_group(one: list[int], other: list[int]) -> None:
    found = align(features(one), features(other))
    assert found == sorted(found)
    assert len({a for a, _ in found}) == len({b for _, b in found}) == len(found)
    assert [b for _, b in found] == sorted(b for _, b in found)
    assert all(one[a] // 10 == other[b] // 10 for a, b in found)


@given(st.lists(st.integers(0, 60), max_size=40))
def test_a_run_is_equal_to_itself(one: list[int]) -> None:
    assert align(features(one), features(one)) == [(place, place) for place in range(len(one))]


def test_a_removed_stretch_leaves_the_rest_aligned() -> None:
    whole = list(range(0, 5_000, 5))
    found = align(features(whole), features(whole[:300] + whole[700:]))
    assert found == [(n, n) for n in range(300)] + [(n + 400, n) for n in range(300, 600)]


def test_long_runs_without_equal_steps_are_aligned_within_bounds() -> None:
    one, other = [n * 10 for n in range(4_000)], [n * 10 + 1 for n in range(4_000)]
    assert align(features(one), features(other)) == [(n, n) for n in range(4_000)]


def test_reports_escape_texts_and_fail_for_a_difference(tmp_path: Path) -> None:
    pair = Pair("", session(edit="<b>1</b>"), session(edit="<script>x\uffff</script>"), "", "")
    logs = [Log.read([Target(path)], OpenOptions()) for path in write(tmp_path, pair)]
    key = "sk-ant-" + "api03-" + "q7Zk2Lw9Xp4Rt8Vn" * 5 + "AA"
    answer = compared(logs[0].document, logs[1].document).as_json(("<a>", key))
    assert key not in answer["b"]
    answer["ignorable"] = [{"ignore": "<i>", "pairs": 3}]
    assert "--ignore &#x27;&lt;i&gt;&#x27;" in html_page(answer)
    page, suite = html_page(answer), ElementTree.fromstring(junit(answer))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;a&gt;" in page
    assert suite.get("failures") == "1"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "arguments"
    for log in logs:
        log.close()
