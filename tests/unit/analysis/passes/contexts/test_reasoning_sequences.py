"""Which context a start begins, and what ends it (docs/protocols.md 8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.passes.contexts import pending_starts
from inspector.document.summary import context_nodes
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import document_of, envelope, grown_log, received
from tests.commands import printed

DATA = Path(__file__).parents[4] / "data" / "contexts"
Context = tuple[str, int, str, int | None, int | None]
"""Path, messages, state, the start and the end by number."""


def lines_in(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]


def told(*lines: dict[str, Any]) -> tuple[list[Context], list[Any], set[str]]:
    """Contexts, the states of starts, and the codes of findings about ends; read at once and bit by bit."""
    log = grown_log(lines)
    found: list[tuple[list[Context], list[Any], set[str]]] = []
    for document in (document_of(*lines), log.end()):
        contexts, states = document.analysis.contexts, list[Any]()
        rows = [
            (contexts.tree.path(node), contexts.tree.own[node], contexts.state(node),
             contexts.started_by[node] + 1 or None, contexts.concluded_by[node] + 1 or None)
            for node in contexts.tree.alive()
        ]  # fmt: skip
        for row in range(len(document.capture)):
            if str(document.capture.string("kind", row)).endswith("/start"):
                states.append(FIELD_BY_NAME["state"].value(document.analysis, row))
        codes = {one.code for one in document.analysis.findings.all()}
        found.append((sorted(rows), states, codes & _CODES))
    assert found[0] == found[1]
    return found[0]


_CODES = {
    "message-after-conclusion", "message-after-cancel", "concluded-again", "conclusion-without-start",
    "reasoning-without-context",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "contexts", "states"),
    [
        *((name, [("r1", 3, "concluded", 1, 3)], ["concluded"])
          for name in ("f01-payload", "f03-envelope", "f04-object", "f05-thread")),
        ("f10-two-in-one", [("job", 5, "active", 1, None)], ["concluded", "running"]),
        ("f17-start-alone-ctx", [("r1", 1, "active", 1, None)], ["running"]),
        ("f20-again", [("m1", 5, "concluded", 1, 6)], ["concluded", "concluded"]),
        ("f22-late", [("r1", 3, "concluded", 2, 3)], ["concluded"]),
        ("f12-concl-by-corr", [("m1", 1, "concluded", 1, 3)], ["concluded"]),
        ("f13-cancel-by-corr", [("m1", 1, "cancelled", 1, 3)], ["cancelled"]),
        ("l07-end-by-id", [("A", 3, "concluded", 1, 3)], ["concluded"]),
        ("a17-parent-closed", [("p", 2, "concluded", None, 3), ("p/k", 2, "active", None, None)], []),
        ("b15-parent-concluded", [("r", 2, "concluded", None, 3), ("r/k", 2, "active", None, None)], []),
        ("a37-option4-nested", [("A", 2, "concluded", 1, 5), ("A/B", 3, "concluded", 2, 4)], ["concluded"] * 2),
    ],
)  # fmt: skip
def test_seeds(name: str, contexts: list[Context], states: list[str]) -> None:
    assert told(*lines_in(name)) == (contexts, states, set())


def start(identifier: str, context: Any = None, sender: str = "a", **fields: Any) -> dict[str, Any]:
    return envelope("reasoning/start", {"message": "go"}, id=identifier, context=context, sender=sender, **fields)


def said(kind: str, context: Any = None, sender: str = "a", **fields: Any) -> dict[str, Any]:
    return envelope(f"reasoning/{kind}", {"message": kind}, context=context, sender=sender, **fields)


@pytest.mark.parametrize("kind", ["reasoning/start", "reasoning.start"])
@pytest.mark.parametrize("context", ["task", {"id": "task"}, {"id": "task", "type": "review"}])
def test_the_id_of_a_start_that_is_named_lies_below_its_context(kind: str, context: Any) -> None:
    begun = {**start("s1", context), "kind": kind}
    for name in ("s1", "task/s1", {"id": "s1"}, {"id": "s1", "parent": "task"}):
        end = said("conclusion", name)
        rows = [("task", 1, "active", None, None), ("task/s1", 2, "concluded", 1, 3)]
        assert told(begun, said("thought", name), end) == (rows, ["concluded"], set())
        late = [("task", 1, "active", None, None), ("task/s1", 2, "concluded", 2, 3)]
        assert told(said("thought", name), begun, end) == (late, ["concluded"], set())


def test_a_name_that_comes_long_after_moves_the_start() -> None:
    filler = [envelope(context="task") for _ in range(30)]
    contexts, states, codes = told(start("s1", "task"), *filler, said("conclusion", "s1"))
    assert contexts == [("task", 31, "active", None, None), ("task/s1", 1, "concluded", 1, 32)]
    assert (states, codes) == (["concluded"], set())


def test_a_start_that_moves_takes_its_label_along() -> None:
    document = document_of(start("s1", "task"), start("s2", "task"), envelope(context="s1"))
    contexts = document.analysis.contexts
    assert {contexts.tree.path(node): contexts.label(node) for node in contexts.tree.alive()} == {
        "task": "go", "task/s1": "go",
    }  # fmt: skip
    contexts = document_of(start("s1", "task"), envelope(context="s1")).analysis.contexts
    assert contexts.label(0) == "task"


def test_a_start_id_with_slashes_that_is_named_later() -> None:
    contexts, _, _ = told(start("s/t", "task"), said("thought", "s/t/more"))
    assert [path for path, *_ in contexts] == ["task", "task/s%2Ft", "task/s%2Ft/more"]


def test_two_agents_in_one_context() -> None:
    begun = [start("s1", "job"), start("s2", "job", "b")]
    contexts, states, codes = told(
        *begun, said("thought", "job"), said("conclusion", "job"), said("thought", "job", "b")
    )
    assert (contexts, states, codes) == ([("job", 5, "active", 1, None)], ["concluded", "running"], set())
    over = said("conclusion", "job", "b")
    contexts, states, codes = told(*begun, said("conclusion", "job"), over, said("thought", "job"))
    assert (contexts, states) == ([("job", 5, "concluded", 1, 4)], ["concluded", "concluded"])
    assert codes == {"message-after-conclusion"}


def test_somebody_else_cancels_all_of_a_context() -> None:
    _, states, _ = told(start("s1", "job"), start("s2", "job", "b"), said("cancel", "job", "human"))
    assert states == ["cancelled", "cancelled"]


def test_an_end_may_come_before_the_start_it_names() -> None:
    end = said("conclusion", correlation_id=["s1"])
    assert told(end, start("s1")) == ([("s1", 0, "concluded", 2, 1)], ["concluded"], set())
    assert told(end, start("s1", "r1")) == ([("r1", 1, "concluded", 2, 1)], ["concluded"], set())
    assert told(end)[2] == {"reasoning-without-context"}


def test_an_end_that_correlates_to_something_else_ends_nothing() -> None:
    lines = envelope(id="q1"), start("s1"), said("conclusion", correlation_id=["q1"])
    assert told(*lines) == ([("s1", 0, "active", 2, None)], ["running"], {"reasoning-without-context"})


def test_an_end_chooses_among_the_starts_of_its_context() -> None:
    begun = start("s1", "job"), start("s2", "job")
    _, states, _ = told(*begun, said("conclusion", "job", correlation_id=["s2"]))
    assert states == ["running", "concluded"]


def test_a_refused_or_forged_start_begins_nothing_again() -> None:
    lines = [received(one) for one in (start("s1", "job"), said("conclusion", "job"))]
    forged = received(start("s2", "job"), "b")
    assert told(*lines, forged)[0] == [("job", 3, "concluded", 1, 2)]


@pytest.mark.parametrize("correlation", ["A", ["m2", "A"], ["A", "m2"]])
def test_messages_between_the_markers(correlation: Any) -> None:
    begun = envelope("context/start", {"context_id": "A", "metadata": {"k": 1}, "labels": ["x"]}, id="m1")
    inside = envelope("reflection", {"thought": "so"}, correlation_id=correlation)
    end, again = envelope("context/end", {}, correlation_id=["m1"]), envelope("context/start", {"context_id": "A"})
    document = document_of(begun, inside, end)
    contexts = document.analysis.contexts
    assert (contexts.metadata(0), contexts.facts.labels_of(0)) == ({"k": 1}, ("x",))
    assert told(begun, inside, end)[0] == [("A", 3, "concluded", 1, 3)]
    assert told(begun, inside, end, again)[0] == [("A", 4, "active", 1, None)]


def test_a_conclusion_between_the_markers_ends_the_reasoning_alone() -> None:
    begun, end = (envelope(f"context/{word}", {"context_id": "A"}) for word in ("start", "end"))
    reasoning = start("s1", correlation_id=["A"]), said("conclusion", correlation_id=["A"])
    chat = envelope("chat", {"text": "and"}, correlation_id=["A"])
    more = said("thought", correlation_id=["A"])
    assert told(begun, *reasoning)[:2] == ([("A", 3, "active", 1, None)], ["running", "concluded"])
    closed = told(begun, *reasoning, chat, more, end)
    assert closed == ([("A", 6, "concluded", 1, 6)], ["concluded", "concluded"], set())
    twice = said("conclusion", correlation_id=["A"])
    assert told(begun, *reasoning, twice, end)[2] == {"concluded-again"}
    assert told(begun, more, reasoning[1])[:2] == ([("A", 3, "concluded", 1, 3)], ["concluded"])


def test_a_second_conclusion_is_told_while_another_reasons_there() -> None:
    begun = start("s0", "job", "b"), start("s1", "job")
    assert told(*begun, said("conclusion", "job"))[2] == set()
    assert told(*begun, said("conclusion", "job"), said("conclusion", "job"))[2] == {"concluded-again"}


def test_many_starts_in_one_context_take_no_longer_each() -> None:
    lines: list[dict[str, Any]] = []
    for number in range(3_000):
        lines += [start(f"s{number}", "task"), said("thought", f"s{number}")]
    contexts = document_of(*lines).analysis.contexts
    assert len(contexts.tree.alive()) == 3_001
    assert contexts.started_by[contexts.tree.find(0, "task")] == -1


def test_what_concluded_a_context_is_told() -> None:
    found = {one["path"]: one["conclusion"] for one in context_nodes(document_of(*lines_in("a06-five-filters")))}
    ended = {"reason-789": "t6", "reason-789/sub": None, "wf": "t4"}
    assert found == ended
    cancel = envelope("reasoning/cancel", {"reason": "stop"}, context="s1")
    (told_of,) = context_nodes(document_of(start("s1"), cancel))
    assert told_of["conclusion"] == "stop"
    assert "“t6”, No. 6" in printed("contexts", DATA / "a06-five-filters.jsonl")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("f01-payload", "agent-1 reasoned once: concluded"),
        ("f10-two-in-one", "agent-1 reasoned twice: 1 concluded, 1 not concluded"),
        ("a06-five-filters", "agent-1 reasoned in 3 contexts without a reasoning/start: 2 concluded, 1 not concluded"),
    ],
)
def test_the_account_tells_reasoning_with_and_without_starts(name: str, words: str) -> None:
    assert words in printed("summary", DATA / f"{name}.jsonl")


def test_reasoning_below_a_started_context_is_not_counted_as_without_a_start(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    end = envelope("reasoning/conclusion", {"message": "done"}, context="s1")
    log.write_text(
        "".join(f"{json.dumps(one)}\n" for one in (start("s1"), said("thought", "s1"), said("thought", "s1/deep"), end))
    )
    words = printed("summary", log)
    assert "reasoned once: concluded" in words
    assert "without a reasoning/start" not in words


def test_a_label_is_read_again_where_too_many_starts_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_starts, "_MAX_LABELS", 4)
    starts = [
        envelope("reasoning/start", {"message": f"idea {number}"}, id=f"s{number}", context="task", sender=f"a{number}")
        for number in range(20)
    ]
    document = document_of(*starts, said("thought", "task/s3", sender="a3"))
    contexts = document.analysis.contexts
    assert "idea 3" in [contexts.tree.label[node] for node in contexts.tree.alive()]
    assert len(contexts._builder._pending_starts._labels) <= 4
