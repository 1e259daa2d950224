"""What somebody says, offers and waits for."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.account.unanswered import is_pending, is_refused
from inspector.analysis.views.summaries.participant_queries import (
    kinds_of,
    messages_from,
    messages_to,
    tools_offered,
    waiting_messages,
)
from inspector.document.document import CaptureDocument
from tests.builders import clean_up, document_of, envelope, tool_call, tool_result


def listing(*names: str, cursor: str | None = None) -> list[dict[str, Any]]:
    """A `tools/list` request of lead to files, and its answer."""
    params = {"params": {"cursor": cursor}} if cursor else {}
    asked = envelope("mcp/request", {"method": "tools/list", **params}, to=["files"])
    tools = [{"name": name, "description": f"Does {name}"} for name in names]
    return [asked, tool_result(asked, result={"tools": tools})]


def offered(document: CaptureDocument, name: str = "files") -> list[str] | None:
    found = tools_offered(document.analysis, messages_from(document.analysis, 0, name))
    return None if found is None else [tool.name for tool in found]


def test_who_never_answered_a_list_offers_nothing_known() -> None:
    assert offered(document_of(envelope(sender="files"))) is None
    assert offered(document_of(*listing())) == []


def test_the_last_list_counts_with_its_earlier_pages() -> None:
    first, again = listing("old"), listing("read", "write")
    assert offered(document_of(*first, *again)) == ["read", "write"]
    assert offered(document_of(*first, *again, *listing("grep", cursor="2"))) == ["read", "write", "grep"]


def test_a_list_that_failed_or_lies_is_passed_over() -> None:
    failed = listing("never")
    failed[1]["payload"] = {"error": {"code": -1, "message": "no"}}
    assert offered(document_of(*listing("read"), *failed)) == ["read"]
    odd = listing()
    odd[1]["payload"] = {"result": {"tools": [3, {"name": 4}, {"name": "ok"}, None]}}
    assert offered(document_of(*odd)) == ["ok"]


def test_kinds_of_what_somebody_sent() -> None:
    document = document_of(envelope(), envelope(), envelope("reasoning/thought"), envelope(sender="other"))
    assert kinds_of(document.analysis, messages_from(document.analysis, 0, "lead")) == {
        "chat": 2,
        "reasoning/thought": 1,
    }
    assert len(messages_from(document.analysis, 0, "nobody")) == 0


def test_what_is_refused_or_told_does_not_wait() -> None:
    asked, refused = tool_call("read"), tool_call("write")
    told = envelope("mcp/request", {"method": "notifications/progress"}, to=["files"])
    error = envelope("system/error", {"error": "capability_violation"}, sender="system:gateway",
                     to=["lead"], correlation_id=[refused["id"]])  # fmt: skip
    document = document_of(asked, refused, told, error, envelope("mcp/proposal", {"method": "tools/call"}))
    analysis = document.analysis
    assert waiting_messages(analysis, messages_from(analysis, 0, "lead")).tolist() == [0, 4]
    assert waiting_messages(analysis, messages_to(analysis, 0, "files")).tolist() == [0]
    assert waiting_messages(analysis, messages_to(analysis, 0, "lead")).tolist() == []


def test_what_stands_in_a_log_twice_waits_no_more_when_one_of_it_was_answered() -> None:
    asked, proposed = tool_call("read"), envelope("mcp/proposal", {"method": "tools/call"})
    answer = tool_result(asked)
    decided = envelope("mcp/withdraw", {"reason": "timeout"}, correlation_id=[proposed["id"]])
    for lines in (
        (asked, asked, answer, answer, proposed, proposed, decided, decided),
        (asked, answer, asked, proposed, decided, proposed),
    ):
        analysis = document_of(*lines).analysis
        assert waiting_messages(analysis, messages_from(analysis, 0, "lead")).tolist() == []
    other = tool_call("read", id=asked["id"], sender="coder")
    analysis = document_of(asked, answer, other).analysis
    assert waiting_messages(analysis, messages_from(analysis, 0, "coder")).tolist() == [2], "only its id is the same"


def _said(what: str, about: list[str]) -> dict[str, Any]:
    """A message by a letter, about an earlier one."""
    if what == "q":
        return tool_call("a")
    if what == "f":
        return tool_call("b", correlation_id=about)
    if what == "p":
        return envelope("mcp/proposal", {"method": "tools/call"})
    if what == "n":
        return envelope("mcp/request", {"method": "notifications/x"}, to=["files"])
    kind, sender = {
        "r": ("mcp/response", "files"), "j": ("mcp/reject", "x"), "w": ("mcp/withdraw", "lead"),
        "e": ("system/error", "system:gateway"),
    }[what]  # fmt: skip
    return envelope(kind, {"result": {}}, sender=sender, to=["lead"], correlation_id=about)


_steps = st.lists(st.tuples(st.sampled_from("qrpfjwne"), st.integers(0, 8)), max_size=14)


@given(_steps)
def test_what_waits_is_what_is_pending_and_not_refused(steps: list[tuple[str, int]]) -> None:
    said: list[dict[str, Any]] = [tool_call("first")]
    for what, back in steps:
        said.append(_said(what, [said[-1 - back % len(said)]["id"]]))
    analysis = document_of(*said).analysis
    rows = messages_from(analysis, 0, "lead")
    wanted = [row for row in rows.tolist() if is_pending(analysis, row) and not is_refused(analysis, row)]
    assert waiting_messages(analysis, rows).tolist() == wanted
    clean_up()
