"""The figures of what happened: the same in any batches, and right about what later messages change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account import account
from inspector.analysis.views.account.account import AccountTally, Deed, Outcome, Silence
from tests.builders import GrowingLog, account_tally, clean_up, document_of, envelope, tool_call, tool_result
from tests.findings import at, gateway


def told(tally: AccountTally) -> list[Any]:
    """Everything a tally says."""
    found: list[Any] = [tally.longest_silence(), tally.span_ns, tally.gaps]
    for deed in Deed:
        found.append([tally.count(deed, outcome) for outcome in range(16)])
        for groups in (tally.groups(deed), tally.recipients()):
            rows = np.column_stack((groups.senders, groups.what, groups.outcomes)).tolist()
            found += [sorted(rows)]
    return [*found, *(tally.first(name).tolist() for name in account._FIRST)]


def spoken(choice: tuple[str, int, int], before: list[dict[str, Any]]) -> dict[str, Any]:
    """A message of some kind; what it is about is one of those before."""
    what, who, when = choice
    sender, time = f"agent-{who}", at(when)
    asked = before[-1 - who] if len(before) > who else None
    named = [asked["id"]] if asked is not None else None
    match what:
        case "answer" if asked is not None and asked["kind"] == "mcp/request":
            return tool_result(asked, ts=time, result={"isError": True} if when % 2 else {})
        case "call":
            return tool_call("grep" if when % 3 else "stat", sender=sender, ts=time)
        case "list":
            return envelope("mcp/request", {"method": "tools/list"}, sender=sender, to=["files"], ts=time)
        case "propose":
            params = {"method": "tools/call", "params": {"name": "write", "arguments": {}}}
            return envelope("mcp/proposal", params, sender=sender, ts=time)
        case "reject":
            return envelope("mcp/reject", {"reason": "no"}, sender=sender, correlation_id=named, ts=time)
        case "leave":
            return gateway("system/presence", {"event": "leave", "participant": {"id": sender}}, ts=time)
        case "error":
            return gateway("system/error", {"error": "capability_violation"}, correlation_id=named, ts=time)
        case "start":
            return envelope("reasoning/start", {"input": "why"}, sender=sender, ts=time)
        case _:
            return envelope("chat", sender=sender, correlation_id=named if when % 2 else None, ts=time)


CHOICES = st.tuples(
    st.sampled_from(["chat", "call", "answer", "list", "propose", "reject", "leave", "error", "start"]),
    st.integers(0, 3), st.integers(0, 50),
)  # fmt: skip


@given(st.lists(CHOICES, max_size=24), st.integers(1, 7))
def test_the_same_in_any_batches_as_all_at_once(choices: list[tuple[str, int, int]], size: int) -> None:
    lines: list[dict[str, Any]] = []
    for choice in choices:
        lines.append(spoken(choice, lines))
    log = GrowingLog()
    try:
        tally = AccountTally(log.document.analysis)
        for start in range(0, len(lines), size):
            for changes in log.write(*lines[start : start + size]):
                tally.note_changed(changes.changed)
            while not tally.step():
                pass
        assert told(tally) == told(account_tally(log.document))
    finally:
        clean_up()


def test_small_steps_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[dict[str, Any]] = []
    for number in range(60):
        lines.append(spoken((["chat", "call", "answer", "propose"][number % 4], number % 3, number), lines))
    document = document_of(*lines)
    whole = told(account_tally(document))
    monkeypatch.setattr(account, "_MESSAGES_PER_STEP", 7)
    assert told(account_tally(document)) == whole


def test_calls_are_counted_by_who_called_what_and_what_came_of_it() -> None:
    asked = [tool_call("grep"), tool_call("grep"), tool_call("stat", sender="coder")]
    tally = account_tally(document_of(*asked, tool_result(asked[0]), tool_result(asked[1], result={"isError": True})))
    assert tally.count(Deed.CALL) == 3
    outcomes = (MessageState.ANSWERED, MessageState.FAILED, MessageState.WAITING)
    assert [tally.count(Deed.CALL, outcome) for outcome in outcomes] == [1, 1, 1]
    senders, counts = tally.groups(Deed.CALL).by_sender()
    strings = tally._analysis.capture.strings
    assert [strings[code] for code in senders.tolist()] == ["lead", "coder"]
    assert counts.tolist() == [2, 1]
    assert tally.first("failed").tolist() == [1]
    assert tally.first("waiting").tolist() == [2]


def test_what_was_said_is_asked_once_somebody_else_takes_it_up() -> None:
    first, second = envelope(sender="human"), envelope(sender="human")
    own = envelope(sender="human", correlation_id=[second["id"]])
    log = GrowingLog()
    tally = AccountTally(log.document.analysis)
    log.write(first, second, own)
    tally.step()
    assert tally.first("asked").tolist() == []
    for changes in log.write(envelope(sender="mew", correlation_id=[first["id"]])):
        tally.note_changed(changes.changed)
    while not tally.step():
        pass
    assert tally.first("asked").tolist() == [0]
    assert tally.count(Deed.SAID, Outcome.REPLY) == 2


def test_notifications_and_what_this_program_sent_are_no_deeds() -> None:
    told_ = envelope("mcp/request", {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert account_tally(document_of(told_)).count(Deed.REQUEST, MessageState.WAITING) == 0


def test_groups_are_bounded_and_the_sums_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "MAX_GROUPS", 3)
    tally = account_tally(document_of(*(tool_call(f"tool-{number}") for number in range(9))))
    assert tally.count(Deed.CALL) == 9
    assert int(tally.groups(Deed.CALL).counts.sum()) == 3


def said_at(*seconds: float) -> list[dict[str, Any]]:
    return [envelope(ts=f"2026-01-05T09:{int(s) // 60:02d}:{s % 60:06.3f}Z") for s in seconds]


@pytest.mark.parametrize(
    ("seconds", "silent", "no"),
    [
        ([0, 1, 9, 10], 8, 3),
        ([0, 1, 2, 30], 28, 4),  # the last one
        ([0, 1, 900, 2, 3, 7], 4, 6),  # one time that is off
        ([0, 60, 1, 61, 2, 62, 3], 1, 2),  # two clocks: not a minute
        ([5, 5, 5], 0, 0),
        ([7], 0, 0),
        ([], 0, 0),
    ],
)
def test_the_longest_silence(seconds: list[float], silent: int, no: int) -> None:
    found = account_tally(document_of(*said_at(*seconds))).longest_silence() if seconds else None
    assert found == (Silence(silent * 10**9, no - 1) if no else None)


def test_where_the_connection_was_lost_was_no_silence() -> None:
    second = 1_767_603_600_000_000_000 // 10**9

    def line(at_s: int, **more: Any) -> dict[str, Any]:
        return {"t": (second + at_s) * 10**9, "src": 0, **more}

    heard = [line(s, dir="in", frame=envelope()) for s in (0, 2, 100, 103)]
    lost = line(50, mark="gap", reason="the connection was lost")
    tally = account_tally(document_of({"ctxcap": 1}, *heard[:2], lost, *heard[2:]))
    assert tally.gaps == 1
    assert tally.first_gap == 2
    assert tally.longest_silence() == Silence(3 * 10**9, 4)


def test_the_first_of_many_stay_right_when_most_of_them_fall_out() -> None:
    first = account._FirstRows((1,), 4)
    codes = np.ones(20, np.uint8)
    first.add(np.arange(20), codes)
    assert first.rows(codes).tolist() == [0, 1, 2, 3]
    codes[:3] = 0
    assert first.rows(codes).tolist() == [3, 4, 5, 6]
    codes[:18] = 0
    assert first.rows(codes).tolist() == [18, 19]
