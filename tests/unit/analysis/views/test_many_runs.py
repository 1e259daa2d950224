"""The tree, facts and distances of made chains."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.many_runs import facts
from inspector.analysis.views.many_runs.distances import distances, outliers
from inspector.analysis.views.many_runs.facts import separate
from inspector.analysis.views.many_runs.run_chain import Argument, ChainStep, RunChain
from inspector.analysis.views.many_runs.run_tree import run_tree, way_count
from inspector.analysis.views.many_runs.step_keys import changing_calls, step_keys
from inspector.analysis.views.steps.step_columns import StepState
from inspector.base.slices import run_to_end

CHAINS = st.lists(st.lists(st.integers(1, 4), max_size=6), min_size=1, max_size=12)


def chain(names: str, *, failing: str = "", values: str = "") -> RunChain:
    """A run that calls a tool for each letter."""
    value = [Argument("x", hash(values), values)] if values else []
    steps = [
        ChainStep(hash((one, values)), ord(one), one, one, place,
                  StepState.FAILED if one in failing else StepState.OK, 0, value)
        for place, one in enumerate(names)
    ]  # fmt: skip
    return RunChain("", None, None, steps)


@pytest.mark.hypothesis
@given(CHAINS)
def test_each_row_of_a_tree_holds_the_runs_with_its_steps(chains: list[list[int]]) -> None:
    rows = run_tree(chains, min)
    for place, row in enumerate(rows):
        below = [one for one in rows if one.parent == place]
        assert sorted(run for one in below for run in one.runs) == sorted(
            run for run in row.runs if len(chains[run]) > row.stop
        )
        assert row.ended == sum(len(chains[run]) == row.stop for run in row.runs)
        prefix = chains[row.runs[0]][: row.stop]
        assert row.runs == [run for run, one in enumerate(chains) if one[: row.stop] == prefix]
    assert way_count(chains) == len({tuple(one) for one in chains}) == sum(row.ended > 0 for row in rows)


@pytest.mark.hypothesis
@given(st.lists(st.tuples(st.text("abc", max_size=5), st.booleans()), min_size=2, max_size=30))
def test_counts_of_facts_are_those_of_counting(made: list[tuple[str, bool]]) -> None:
    runs = [chain(names) for names, _ in made]
    first = [place for place, (_, passed) in enumerate(made) if passed]
    second = [place for place, (_, passed) in enumerate(made) if not passed]
    for fact in separate(runs, first, second).facts:
        if fact.kind == "called":
            having = [sum(fact.text in made[run][0] for run in some) for some in (first, second)]
        elif fact.kind == "first":
            having = [sum(made[run][0].startswith(fact.text[0]) for run in some) for some in (first, second)]
        else:
            continue
        assert fact.counts == (having[0], len(first) - having[0], having[1], len(second) - having[1])


def test_values_are_those_of_fisher_corrected_by_holm() -> None:
    pytest.importorskip("scipy")
    runs = [chain("a" * (n < 8) + "b" * (n % 3 == 0) + "c") for n in range(20)]
    found = separate(runs, range(10), range(10, 20))
    tested = [one for one in found.facts if one.p is not None]
    assert tested
    least = 0.0
    for place, one in enumerate(tested):
        a, b, c, d = one.counts
        having, total = a + c, math.comb(a + b + c + d, a + c)
        chances = [math.comb(10, x) * math.comb(10, having - x) / total for x in range(min(10, having) + 1)]
        p = sum(chance for chance in chances if chance <= chances[a] * (1 + 1e-7))
        least = max(least, min(1.0, p * (found.tests - place)))
        assert one.p == pytest.approx(p)
        assert one.corrected == pytest.approx(least)


def test_facts_that_are_left_out_count_as_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy")
    runs = [chain("look sell" if n % 2 else "sell think" if n % 4 else "sell") for n in range(20)]
    groups = [n for n in range(20) if n % 2], [n for n in range(20) if not n % 2]
    whole = separate(runs, *groups)
    monkeypatch.setattr(facts, "_MOST_FACTS", 1)
    short = separate(runs, *groups)
    assert whole.tests > 1
    assert (short.facts, short.tests) == (whole.facts[:1], whole.tests)


def test_few_runs_can_tell_nothing() -> None:
    runs = [chain("a"), chain("a"), chain("b"), chain("b")]
    assert not separate(runs, [0, 1], [2, 3]).can_tell
    assert not separate(runs, [0, 1, 2, 3], []).can_tell


def test_free_texts_do_not_count_and_shared_values_do() -> None:
    free = step_keys([chain("a", values=f"words {n}") for n in range(5)])
    assert len({tuple(one) for one in free.chains}) == 1
    assert [(one.name, one.values, one.runs) for one in free.varying] == [("x", 5, 5)]
    shared = step_keys([chain("a", values=f"words {n % 2}") for n in range(5)])
    assert len({tuple(one) for one in shared.chains}) == 2
    few = step_keys([chain("a", values=f"words {n}") for n in range(4)])
    assert len({tuple(one) for one in few.chains}) == 4


def test_flaky_calls_fail_in_some_runs_only() -> None:
    found = changing_calls([chain("ab", failing="a"), chain("ab"), chain("bb")])
    assert [(one.text, one.runs, one.failed, one.is_flaky, one.example) for one in found] == [("a", 2, 1, True, (0, 0))]


def test_the_usual_run_is_the_medoid_and_a_stranger_is_an_outlier() -> None:
    chains = [[1, 2, 3, 4], [1, 2, 3], [1, 2, 3, 4], [1, 3, 4], [1, 2, 3, 4, 5], [9, 8, 7] * 5]
    spread = run_to_end(distances(chains))
    assert spread.nearest(range(6)) == 0
    assert spread.nearest([3, 5]) in (3, 5)
    assert [(one.run, one.distance, one.is_long) for one in outliers(chains, 0)] == [(5, 1.0, True)]
    assert outliers(chains[:4], 0) == []
