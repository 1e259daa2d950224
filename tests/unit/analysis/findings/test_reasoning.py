"""What comes after the end of a reasoning, whichever way its context is written."""

from __future__ import annotations

from typing import Any

from tests.builders import document_of, envelope, grown_log, tool_call
from tests.unit.analysis.findings.checked_logs import told_either_way

R1, R2 = "r1-7f3a9c", "r2-0b44e1"


def start(identifier: str = R1, **fields: Any) -> dict[str, Any]:
    return envelope("reasoning/start", {"input": "why"}, id=identifier, **fields)


def said(kind: str, context: Any = R1) -> dict[str, Any]:
    return envelope(f"reasoning/{kind}", {"message": kind}, context=context)


def after(*lines: dict[str, Any]) -> list[tuple[str, int]]:
    codes = ("message-after-conclusion", "message-after-cancel", "concluded-again", "conclusion-without-start")
    return [(code.replace("message-", ""), row) for code, row in told_either_way(*lines) if code in codes]


def test_one_context_written_as_id_and_as_path() -> None:
    lines = start(), start(R2, context=R1), said("conclusion", R2), said("thought", f"{R1}/{R2}")
    assert after(*lines) == [("after-conclusion", 4)]
    assert after(*lines[:2], said("conclusion", f"{R1}/{R2}"), said("thought", R2)) == [("after-conclusion", 4)]


def test_one_context_written_as_object_and_as_text() -> None:
    assert after(start(), said("conclusion"), said("thought", {"id": R1})) == [("after-conclusion", 3)]
    assert after(start(), said("conclusion", {"id": R1}), said("thought")) == [("after-conclusion", 3)]


def test_below_a_concluded_context() -> None:
    below = f"{R1}/fs-91c2"
    lines = start(), said("thought", below), said("conclusion"), said("thought", below), tool_call("rm", context=below)
    assert after(*lines) == [], "nobody concluded it"


def test_below_a_cancelled_context() -> None:
    below, deeper = f"{R1}/fs-91c2", f"{R1}/fs-91c2/deep-8f1e"
    lines = start(), said("thought", below), said("cancel"), said("thought", below), tool_call("rm", context=deeper)
    assert after(*lines) == [("after-cancel", 4), ("after-cancel", 5)]
    texts = [found.text for found in document_of(*lines).analysis.findings.all() if found.row > 2]
    assert texts[0].endswith(f"continues in {below} with reasoning/thought, after No. 3 cancelled {R1} above it.")
    own = said("cancel", below), said("thought", below)
    assert after(start(), said("thought", below), said("cancel"), *own) == [
        ("after-cancel", 5), ("conclusion-without-start", 4),
    ]  # fmt: skip
    (text,) = [found.text for found in document_of(start(), *own).analysis.findings.all() if found.row == 2]
    assert text.endswith("after No. 2 cancelled it.")
    again = start(), said("cancel"), start(R2, context=R1), said("thought", f"{R1}/{R2}")
    assert after(*again) == [("after-cancel", 3), ("after-cancel", 4)]


def test_a_context_that_turns_out_to_lie_below_a_cancelled_one() -> None:
    inner = start(R2), said("thought", R2)
    moved = envelope("reasoning/thought", {"message": "x"}, context={"id": R2, "parent": R1})
    assert after(start(), *inner, said("cancel"), said("thought", R2), moved) == [
        ("after-cancel", 5), ("after-cancel", 6),
    ]  # fmt: skip


def test_a_context_that_turns_out_to_lie_below_a_concluded_one() -> None:
    lines = start(), said("conclusion"), said("thought", R2), start(R2, context=R1)
    assert after(*lines) == [("after-conclusion", 4)]


def test_every_message_after_it_counts() -> None:
    said_so = [start(), said("conclusion")]
    calls = [tool_call("rm", context=R1) for _ in range(3)]
    assert after(*said_so, *calls) == [("after-conclusion", row) for row in (3, 4, 5)]


def test_what_was_written_before_and_came_late_is_no_fault_of_its_sender() -> None:
    began, late, other, end = start(), said("thought"), tool_call("rm", context=R1, sender="files"), said("conclusion")
    assert after(began, end, late, other) == [("after-conclusion", 4)], "clocks of two are not compared"
    assert after(began, end, {**late, "ts": None}) == [("after-conclusion", 3)]


def test_a_copy_of_the_conclusion_concludes_nothing_again() -> None:
    end = said("conclusion")
    assert after(start(), end, end) == []
    assert after(start(), end, end, said("conclusion")) == [("concluded-again", 4)]


def test_a_conclusion_does_not_hide_a_cancel() -> None:
    lines = start(), said("conclusion"), said("thought"), said("cancel"), said("thought")
    assert after(*lines) == [("after-conclusion", 3), ("after-cancel", 5)]


def test_a_reused_context_begins_again() -> None:
    context = "session-9fk2x"
    once = start("s1-aa81f0", context=context), said("thought", context), said("conclusion", context)
    again = start("s2-77e1b2", context=context), said("thought", context), said("conclusion", context)
    assert after(*once, *again) == []
    assert after(*once, *again, said("conclusion", context)) == [("concluded-again", 7)]
    assert after(*once, *again, said("thought", context)) == [("after-conclusion", 7)]


def test_a_start_with_the_same_id_begins_again() -> None:
    assert after(start(), said("conclusion"), start(), said("thought"), said("conclusion")) == []


def test_a_start_that_names_the_context_only_later_changes_nothing_before() -> None:
    """Otherwise live traffic and its log would be told differently."""
    assert after(said("conclusion"), start(R2, context=R1), start()) == []


def test_many_at_once_are_told_as_one_by_one() -> None:
    lines: list[dict[str, Any]] = []
    for number in range(40):
        context = f"c{number % 7}-9f3a"
        lines += [start(f"{context}-{number}", context=context), said("thought", context)]
        lines += [said("conclusion" if number % 3 else "cancel", context), said("thought", f"{context}/below")][
            : number % 3 + 1
        ]
    log = grown_log(lines)
    at_once, bit_by_bit = (
        sorted((f.code, f.row, f.text) for f in document.analysis.findings.all())
        for document in (document_of(*lines), log.end())
    )
    assert at_once == bit_by_bit
