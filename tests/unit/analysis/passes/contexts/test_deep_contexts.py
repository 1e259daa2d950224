"""Contexts within one another, far deeper than anybody means: each costs as little as one that lies near the root."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts import context_tree
from inspector.analysis.passes.contexts.context_tree import MAIN, ContextTree
from inspector.analysis.passes.contexts.naming_notes import NamingOddity
from inspector.analysis.passes.contexts.node_ancestry import subtree_totals
from inspector.document.document import CaptureDocument
from inspector.document.summary import context_nodes, summary
from inspector.filters import compile_filter
from inspector.filters.fields import FIELD_BY_NAME
from inspector.present.context_labels import line_labels
from tests.builders import GrowingLog, clean_up, document_of, envelope
from tests.samples import first_of
from tests.strategies import context_conversations
from tests.work import steps_of


def named(number: int, above: int, **fields: Any) -> dict[str, Any]:
    """A message in a context that is an object with a parent."""
    return envelope("chat", {"text": "x"}, context={"id": f"n{number}", "parent": f"n{above}"}, **fields)


def downwards(count: int) -> Iterator[dict[str, Any]]:
    return (named(n + 1, n) for n in range(count))


def upwards(count: int) -> Iterator[dict[str, Any]]:
    return (named(n, n - 1) for n in range(count, 0, -1))


def in_pairs(count: int) -> Iterator[dict[str, Any]]:
    """Of each two the lower one comes first, so that whole pairs are hung below the others."""
    for n in range(0, count, 2):
        yield named(n + 2, n + 1)
        yield named(n + 1, n)


def by_markers(count: int) -> Iterator[dict[str, Any]]:
    for n in range(count):
        yield envelope("context/start", {"context_id": f"n{n + 1}", "parent": f"n{n}"})


def by_starts(count: int) -> Iterator[dict[str, Any]]:
    for n in range(count):
        yield envelope("reasoning/start", {"message": "why"}, id=f"n{n + 1}", context=f"n{n}")
    yield envelope("reasoning/thought", context=f"n{count}")


def pushed(count: int) -> Iterator[dict[str, Any]]:
    for n in range(count + 1):
        yield envelope("meup/context", {}, context={"operation": "push", "topic": f"n{n}"})


CHAINS: dict[str, Callable[[int], Iterator[dict[str, Any]]]] = {
    "downwards": downwards, "upwards": upwards, "in pairs": in_pairs, "context/start": by_markers,
    "reasoning/start": by_starts, "push": pushed,
}  # fmt: skip


def everything(lines: list[dict[str, Any]]) -> None:
    """Read a log, and ask everything of it that has to do with paths."""
    document = document_of(*lines)
    summary(document, "x")
    json.dumps(list(context_nodes(document)))
    for text in ('context under "n5"', 'context above "n5"', 'context == "n0/n1"', 'context contains "n7"'):
        compile_filter(text).mask(document.analysis, np.arange(len(document.capture)))
    list(document.analysis.findings.all())
    document.close()


@pytest.mark.parametrize("chain", first_of(CHAINS))
def test_a_chain_four_times_as_long_is_four_times_the_work(chain: str) -> None:
    few, many = list(CHAINS[chain](80)), list(CHAINS[chain](320))
    everything(few)  # whatever is made only once
    assert steps_of(lambda: everything(many)) < 5 * steps_of(lambda: everything(few))


@pytest.mark.parametrize("chain", CHAINS)
def test_every_dialect_makes_the_same_chain(chain: str) -> None:
    document = document_of(*CHAINS[chain](60))
    tree = document.analysis.contexts.tree
    deepest = tree.find(0, "n60")
    assert [tree.name[node] for node in tree.ancestry(deepest)] == [f"n{n}" for n in range(61)]
    assert tree.path(deepest) == "n0/…57…/n58/n59/n60"
    assert tree.path(tree.find(0, "n31")) == "/".join(f"n{n}" for n in range(32))


def test_paths_of_a_deep_chain_are_short_wherever_they_are_printed() -> None:
    document = document_of(*downwards(3_000))
    nodes = list(context_nodes(document))
    assert [(nodes[-1][name]) for name in ("path", "parent", "depth", "id")] == [
        "n0/…2997…/n2998/n2999/n3000", "n0/…2996…/n2997/n2998/n2999", 3_001, "n3000",
    ]  # fmt: skip
    assert max(len(node["path"]) for node in nodes) < 200
    values = [FIELD_BY_NAME[name].value(document.analysis, 2_999) for name in ("context", "context.depth")]
    assert values == ["n0/…2997…/n2998/n2999/n3000", 3_001]
    contexts = document.analysis.contexts
    assert line_labels(contexts, contexts.tree.find(0, "n3000")) == ["n0", "…2997…", "n2998", "n2999", "n3000"]


def test_a_deep_path_of_slashes_is_cut_as_well() -> None:
    path = "/".join(f"s{n}" for n in range(40))
    document = document_of(envelope("chat", {"text": "x"}, context=path))
    nodes = {node["depth"]: node["path"] for node in context_nodes(document)}
    assert nodes[40] == "s0/…36…/s37/s38/s39"
    assert nodes[32] == path[: path.index("/s32")]
    shown = [FIELD_BY_NAME[name].value(document.analysis, 0) for name in ("context", "context.raw")]
    assert shown == [nodes[40], path]


def test_a_long_id_is_not_multiplied_by_the_contexts_below_it() -> None:
    document = document_of(named(1, 0), envelope("chat", {}, context={"id": "n0", "parent": "x" * 100_000}))
    tree = document.analysis.contexts.tree
    assert len(tree.path(tree.find(0, "n1"))) < 1_100
    assert shown(document, f'context under "{tree.path(tree.find(0, "n0")).partition("/")[0]}"') == [1, 2]


def shown(document: CaptureDocument, text: str) -> list[int]:
    rows = np.arange(len(document.capture))
    return (np.flatnonzero(compile_filter(text).mask(document.analysis, rows)) + 1).tolist()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('context under "n0/n1"', [*range(1, 51)]),
        ('context under "n0/…43…/n44/n45/n46"', [46, 47, 48, 49, 50]),
        ('context below "n0/…43…/n44/n45/n46"', [47, 48, 49, 50]),
        ('context childof "n0/…43…/n44/n45/n46"', [47]),
        ('context above "n0/…43…/n44/n45/n46"', [*range(1, 46)]),
        ('context == "n0/…43…/n44/n45/n46"', [46]),
        ('context != "n0/…43…/n44/n45/n46"', [n for n in range(1, 51) if n != 46]),
        ('context in {"n0/…43…/n44/n45/n46", "n0/n1"}', [1, 46]),
        ('context.parent == "n0/…43…/n44/n45/n46"', [47]),
        (f'context == "{"/".join(f"n{n}" for n in range(47))}"', [46]),
        ('context == "n0/…42…/n44/n45/n46"', []),
        ('context == "n0/…43…/n45/n45/n46"', []),
        ('context under "n0/…5…"', [*range(5, 51)]),
        ('context contains "/n44/n45"', [45, 46]),
        ('context contains "n20"', [*range(20, 32)]),
    ],
)
def test_filters_go_by_the_tree_and_take_both_forms(text: str, numbers: list[int]) -> None:
    assert shown(document_of(*downwards(50)), text) == numbers


def path_of(document: CaptureDocument, number: int) -> object:
    return FIELD_BY_NAME["context"].value(document.analysis, number - 1)


def test_what_a_deep_context_is_called_leads_back_to_it() -> None:
    """Marks and what was open go by the path shown."""
    document = document_of(*downwards(80))
    tree = document.analysis.contexts.tree
    assert all(tree.find_displayed(0, tree.path(node)) == node for node in tree.alive())
    assert tree.find_displayed(0, "n0/…99…/n1") == MAIN


def test_an_id_that_reads_like_levels_left_out_is_told_from_them() -> None:
    document = document_of(envelope("chat", {}, context="a/…5…/b"))
    assert path_of(document, 1) == "a/%E2%80%A65…/b"
    assert shown(document, 'context == "a/%E2%80%A65…/b"') == [1]
    assert shown(document, 'context == "a/…5…/b"') == []


def test_a_message_that_names_a_deep_context_finds_it() -> None:
    """Its own name comes before those of paths from far above."""
    document = document_of(*downwards(60), envelope("chat", {"text": "so"}, correlation_id=["n60"]))
    tree = document.analysis.contexts.tree
    assert tree.ids_of(tree.find(0, "n60"))[:2] == ["n60", "n59/n60"]
    assert document.analysis.named.origins(60) == [59]
    assert document.analysis.named.named_by(59) == [60]


def test_a_circle_at_the_end_of_a_long_chain_is_refused() -> None:
    document = document_of(*downwards(200), named(0, 200))
    whats = [note.what for note in document.analysis.contexts.notes]
    assert (whats.count(NamingOddity.PARENT_CYCLE), whats[-1]) == (1, NamingOddity.PARENT_CYCLE)
    assert document.analysis.contexts.tree.depth(document.analysis.contexts.tree.find(0, "n200")) == 201


def test_what_moved_to_another_root_may_hold_its_old_one() -> None:
    """A path turns out to be one id: what lay below it lies below the path's first segment no more."""
    log = GrowingLog()
    log.write(envelope("chat", {}, context="a/b/c"), envelope("reasoning/start", {}, id="r", context="a/b/c"))
    log.write(named(1, 0), envelope("chat", {}, context={"id": "a/b"}))
    log.write(envelope("chat", {}, context={"id": "a", "parent": "r"}))
    tree = log.document.analysis.contexts.tree
    assert tree.path(tree.find(0, "a")) == "a%2Fb/c/r/a"
    assert not len(log.document.analysis.contexts.notes)


@given(context_conversations, st.integers(1, 4))
def test_roots_are_those_at_the_end_of_the_line(messages: list[dict[str, Any]], size: int) -> None:
    log = GrowingLog()
    tree = log.document.analysis.contexts.tree
    for place in range(0, len(messages), size):
        log.write(*messages[place : place + size])
        for node in tree.alive():
            assert tree._root(node) == tree.ancestry(node)[0]
    clean_up()


@given(context_conversations, st.sampled_from(("==", "under", "below", "above", "childof")), st.integers(0, 5))
def test_operators_say_what_whole_paths_say(messages: list[dict[str, Any]], symbol: str, levels: int) -> None:
    """However early paths are cut; and a path as it is shown stands for all that are shown so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context_tree, "MAX_SHOWN_LEVELS", 3 + levels)
        log = GrowingLog()
        log.write(*messages)
        contexts = log.document.analysis.contexts
        full = {node: "/".join(map(quoted, names(contexts.tree, node))) for node in contexts.tree.alive()}
        nodes = contexts.nodes().tolist()
        for asked, path in full.items():
            same = {n for n in full if contexts.tree.path(n) == contexts.tree.path(asked)}
            cut = contexts.tree.path(asked)
            wanted = [_holds(symbol, full, node, {asked}) for node in nodes]
            assert _mask(log.document, symbol, path) == wanted
            wanted = [_holds(symbol, full, node, same) for node in nodes]
            assert _mask(log.document, symbol, cut) == wanted
    clean_up()


def names(tree: ContextTree, node: int) -> list[str]:
    return [tree.name[step] for step in tree.ancestry(node)]


def quoted(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


def _mask(document: CaptureDocument, symbol: str, path: str) -> list[bool]:
    text = f"context {symbol} {json.dumps(path)}"
    return compile_filter(text).mask(document.analysis, np.arange(len(document.capture))).tolist()


def _holds(symbol: str, full: dict[int, str], node: int, asked: set[int]) -> bool:
    if node == MAIN:
        return False
    own = full[node]
    return any(
        {
            "==": own == full[one], "under": own == full[one] or own.startswith(full[one] + "/"),
            "below": own.startswith(full[one] + "/"), "above": full[one].startswith(own + "/"),
            "childof": own.rpartition("/")[0] == full[one],
        }[symbol]
        for one in asked
    )  # fmt: skip


@given(st.lists(st.integers(-1, 30), max_size=30), st.data())
def test_gathered_is_the_sum_of_all_below(parents: list[int], data: st.DataObject) -> None:
    above = np.array([parent if parent < node else MAIN for node, parent in enumerate(parents)], np.int64)
    values = np.array([data.draw(st.integers(0, 9)) for _ in parents], np.int64)
    sums, latest = values.copy(), values.copy()
    for node in reversed(range(len(parents))):
        if above[node] != MAIN:
            sums[above[node]] += sums[node]
            latest[above[node]] = max(latest[above[node]], latest[node])
    assert subtree_totals(values, above).tolist() == sums.tolist()
    assert subtree_totals(values, above, np.maximum).tolist() == latest.tolist()
