"""For each check a tiny capture that triggers it once, and one that nearly does."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from inspector.store.files.tool_baseline import ServerTools
from tests import mcp_findings as mcp
from tests import msp_samples as msp
from tests.builders import delivered, envelope, received, tool_call, tool_result
from tests.transcribed import ClaudeSession

Lines = list[dict[str, Any] | str | bytes]


@dataclass(frozen=True)
class Case:
    """Two captures for a check."""

    wrong: Lines
    right: Lines
    mended: Lines = field(default_factory=list)
    """What, coming after `wrong`, makes the finding go away; empty where nothing does."""
    baseline: dict[str, ServerTools] | None = None
    """What servers listed when they were tapped last."""


def at(seconds: float) -> str:
    """A time so many seconds after the beginning."""
    return f"2026-01-05T{9 + int(seconds) // 3600:02d}:{int(seconds) // 60 % 60:02d}:{seconds % 60:06.3f}Z"


def later(seconds: float) -> dict[str, Any]:
    """A message so many seconds after the beginning, that is about nothing."""
    return envelope("chat", ts=at(seconds))


def ask(**fields: Any) -> dict[str, Any]:
    call = {"method": "tools/call", "params": {"name": "grep"}}
    kind, payload = fields.pop("kind", "mcp/request"), fields.pop("payload", call)
    return envelope(kind, payload, **{"id": "q1", "ts": at(0), "to": ["files"], **fields})


def answer(**fields: Any) -> dict[str, Any]:
    return envelope(
        fields.pop("kind", "mcp/response"), fields.pop("payload", {"result": {}}),
        **{"id": "a1", "sender": "files", "to": ["lead"], "correlation_id": ["q1"], "ts": at(1), **fields},
    )  # fmt: skip


def propose(**fields: Any) -> dict[str, Any]:
    payload = {"method": "tools/call", "params": {"name": "write_file"}}
    return envelope("mcp/proposal", payload, **{"id": "p1", "sender": "coder", "ts": at(0), **fields})


def fulfil(tool: str = "write_file", **fields: Any) -> dict[str, Any]:
    named: dict[str, Any] = {"id": "f1", "sender": "human", "correlation_id": ["p1"], "ts": at(2), **fields}
    return tool_call(tool, **named)


def withdraw(**fields: Any) -> dict[str, Any]:
    return envelope(
        "mcp/withdraw", {"reason": "timeout"},
        **{"id": "w1", "sender": "coder", "correlation_id": ["p1"], "ts": at(1), **fields},
    )  # fmt: skip


def reason(kind: str, context: Any = None, **fields: Any) -> dict[str, Any]:
    return envelope(f"reasoning/{kind}", {"message": "why"}, context=context, **fields)


def many_contexts(count: int, apart_s: float) -> Lines:
    return [envelope(context=f"job-{n:06d}-x", ts=at(n * apart_s)) for n in range(count)]


def gateway(kind: str, payload: Any, **fields: Any) -> dict[str, Any]:
    return envelope(kind, payload, **{"sender": "system:gateway", **fields})


def decision(result: str, *held: Any, **fields: Any) -> dict[str, Any]:
    return {
        "timestamp": at(0), "event": "capability_check", "envelope_id": "m1", "participant": "coder",
        "space_id": "demo", "result": result, "required_capability": "mcp/request", "granted_capabilities": list(held),
        **fields,
    }  # fmt: skip


def welcome(*present: str) -> dict[str, Any]:
    participants = [{"id": name, "capabilities": []} for name in present]
    return gateway("system/welcome", {"you": {"id": "me"}, "participants": participants}, to=["me"], ts=at(0))


def captured(direction: str, frame: dict[str, Any], second: int = 0) -> dict[str, Any]:
    """A line of a capture of ours."""
    return {"t": 1_767_600_000_000_000_000 + second * 1_000_000_000, "dir": direction, "src": 0, "frame": frame}


def live(*lines: dict[str, Any]) -> Lines:
    """A capture of ours that began with these; frames and envelopes come when they say they were sent."""
    return [{"ctxcap": 1}, *map(_as_captured, lines)]


def _as_captured(line: dict[str, Any]) -> dict[str, Any]:
    when = datetime.fromisoformat(line.get("ts") or line.get("timestamp") or at(0))
    told = {"text": line["message"]} if "message" in line else {"frame": line}
    return {"t": int(when.timestamp() * 1_000) * 1_000_000, "dir": "in", "src": 0, **told}


JOIN = {"kind": "system/join", "id": "j", "payload": {"participantId": "me", "space": "demo"}}
HELLO: Lines = [{"ctxcap": 1}, captured("out", JOIN)]


def late(messages: int, **fields: Any) -> Lines:
    """What came over a link that cannot keep up: each message later than the one before, the first at once."""
    return [received(envelope(ts=at(n), **fields), timestamp=at(8 * n)) for n in range(messages + 1)]


def talk(
    chats: int, apart_s: float = 1, room: str = "loop", names: tuple[str, ...] = ("coder", "lead")
) -> list[dict[str, Any]]:
    """Chats of two in turns, each an answer to the one before."""
    return [
        received(
            envelope(
                "chat", {"text": "Received: ..."}, id=f"{room}-{n}", sender=names[n % 2],
                correlation_id=[f"{room}-{n - 1}"] if n else None,
            ),
            timestamp=at(n * apart_s),
        )
        for n in range(chats)
    ]  # fmt: skip


def ended(code: int) -> dict[str, Any]:
    reason = f"the server ended with exit code {code}"
    return {"t": 1_767_600_001_000_000_000, "src": 0, "mark": "closed", "reason": reason, "exit": code}


def told_of(name: str, *capabilities: Any) -> dict[str, Any]:
    """Somebody's coming, and what it may send."""
    about = {"id": name, "capabilities": list(capabilities)}
    return gateway("system/presence", {"event": "join", "participant": about}, ts=at(0))


def here(name: str, event: str = "join") -> dict[str, Any]:
    return captured("in", gateway("system/presence", {"event": event, "participant": {"id": name}}))


def meta(tool: str, value: Any, number: int = 1, **fields: Any) -> Lines:
    """A call and its result with `_meta`."""
    asked = tool_call(tool, id=f"{tool}-{number}", ts=at(number))
    return [asked, tool_result(asked, meta=value, ts=at(number), **fields)]


HINTS = {"contextHints": [{"tool": "search_records", "lifecycle": "transient", "consumedBy": "analysis_store"}]}
TRANSIENT = {"context": {"lifecycle": "transient", "summary": "12 visits"}}
CONSUMED = {"context": {"consumed": True}}
WORKFLOW = [*meta("get_workflow_step", HINTS), *meta("search_records", TRANSIENT, 2)]


def tools(*names: str) -> Lines:
    asked = envelope("mcp/request", {"method": "tools/list"}, to=["files"], id="tl", ts=at(0))
    return [asked, tool_result(asked, result={"tools": [{"name": name} for name in names]}, id="tr", ts=at(0))]


def records(count: int, value: Any = None) -> Lines:
    return meta("search_records", value, result={"structuredContent": {"records": [{}] * count}})


def broadcast(number: int, *recipients: str) -> Lines:
    said = envelope(id=f"b{number}", ts=at(number))
    return [received(said), *(delivered(said, name) for name in recipients)]


def copied(**changed: Any) -> Lines:
    said = envelope(id="c1", context="why-a", correlation_id=None, ts=at(0))
    return [received(said), delivered({**said, **changed}, "files")]


def stream(kind: str, stream_id: str | None = "stream-1", **fields: Any) -> dict[str, Any]:
    return envelope(f"stream/{kind}", {"stream_id": stream_id} if stream_id else {"reason": "complete"}, **fields)


def frame(second: float = 0) -> dict[str, Any]:
    return {"timestamp": at(second), "message": "#stream-1#data", "direction": "in"}


def opened(*messages: dict[str, Any], parent: str = "m1", **more: Any) -> dict[str, Any]:
    return msp.subsession("s1", parent, *messages, **more)


def main(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return msp.session("m1", *messages, **{"lists": ("s1",), **more})


def covering(*spans: tuple[int, int]) -> dict[str, Any]:
    snapshots = [
        {"id": f"n{n}", "covers_messages": [*span], "created_at": msp.at(n), "content": "so far"}
        for n, span in enumerate(spans)
    ]
    return msp.session("m1", summary_snapshots=snapshots)


def worked(*steps: tuple[str, dict[str, Any], str, bool]) -> Lines:
    """What a coding agent did: tool, arguments, result, and whether that is a failure."""
    session = ClaudeSession()
    session.prompt("Fix it.")
    for tool, arguments, result, failed in steps:
        session.result(session.call(tool, arguments), result, failed=failed)
    return [*session.records]


def compacted(trigger: str) -> Lines:
    session = ClaudeSession()
    session.prompt("Fix it.")
    session.system("compact_boundary", compactMetadata={"trigger": trigger, "preTokens": 167_210})
    session.prompt("Before: nothing.", isCompactSummary=True)
    return [*session.records]


def retried(*spoken: str) -> Lines:
    """Errors of an API, and in their midst what was said before they came again."""
    session = ClaudeSession()
    session.prompt("Fix it.")
    error = {"error": {"status": 529, "message": "Overloaded"}, "retryInMs": 500, "maxRetries": 10}
    for attempt in (1, 2, 3):
        session.system("api_error", retryAttempt=attempt, **error)
        for words in spoken:
            session.text(words)
    return [*session.records]


def asked_a_model(times: int) -> Lines:
    """A conversation with a model, of which each call sends all that was said before."""
    lines: Lines = []
    said: list[dict[str, str]] = []
    for number in range(times):
        said = [*said, {"role": "user", "content": f"question {number}"}]
        answered = {"role": "assistant", "content": f"answer {number}"}
        asks = {"dir": "client->server", "kind": "http-request", "method": "POST", "path": "/v1/chat/completions"}
        tells = {"dir": "server->client", "kind": "http-response", "status": 200}
        choices = [{"message": answered, "finish_reason": "stop"}]
        lines += [
            {"t": number, "x": number, **asks, "message": {"model": "m", "messages": said}},
            {"t": number + 0.5, "x": number, **tells, "message": {"object": "chat.completion", "choices": choices}},
        ]
        said = [*said, answered]
    return lines


_FAILED = ("Bash", {"command": "make"}, "no rule", True)
_SAME = ("Grep", {"pattern": "total"}, "3 files", False)


def _span(number: int) -> str:
    """A line of a span; `number` others of its trace have its id."""
    span = {"traceId": "ab" * 16, "spanId": "cd" * 8, "name": "work"}
    return json.dumps({"resolved": {"number": number}, "resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


CASES: dict[str, Case] = {
    "span-id-again": Case([_span(0), _span(1)], [_span(0)]),
    "model-call-failed": Case(retried(), compacted("manual")),
    "tool-fails-again": Case(
        worked(*[_FAILED] * 6), worked(*[_FAILED] * 4, ("Bash", {"command": "ls"}, "a", False), *[_FAILED] * 4)
    ),
    "agent-in-circles": Case(
        worked(*[_SAME] * 5),
        [*worked(*[_SAME] * 3, ("Grep", {"pattern": "sum"}, "3 files", False), _SAME), *asked_a_model(6)],
    ),
    "context-full": Case(compacted("auto"), compacted("manual")),
    "msp-unreadable": Case([main(), opened(), "{torn"], [main(), opened()]),
    "msp-skipped": Case([main(lists=("s1", 5)), opened()], [main(), opened()]),
    "msp-invalid": Case([main(), opened(msp.said("q1", role=7))], [main(), opened(msp.said("q1"))]),
    "msp-status": Case([main(), opened(status="paused")], [main(), opened(status="active")]),
    "msp-times": Case(
        [main(), opened(second=9, status="closed", closed_at=msp.at(3))],
        [main(), opened(second=3, status="closed", closed_at=msp.at(9))],
    ),
    "msp-duplicate-id": Case(
        [main(), opened(msp.said("q1"), msp.said("q1", "other"))], [main(), opened(msp.said("q1"), msp.said("q2"))]
    ),
    "msp-unlisted": Case([main(lists=("s2",)), opened(), msp.subsession("s2", "m1")], [main(), opened()]),
    "msp-missing": Case([main(lists=("s1", "s9")), opened()], [main(), opened()]),
    "msp-parent": Case([main(lists=()), opened(parent="m9")], [main(), opened()]),
    "msp-cycle": Case(
        [main(lists=()), opened(parent="s2"), msp.subsession("s2", "s1")],
        [main(), opened(), msp.subsession("s2", "s1")],
    ),
    "msp-main-only-inside": Case(
        [main(), opened(msp.said("q1", visibility="main_only"))],
        [main(msp.said("q1", visibility="main_only")), opened(msp.said("q2", visibility="subsession_only"))],
    ),
    "msp-subsession-only-in-main": Case(
        [main(msp.said("q1", visibility="subsession_only")), opened()],
        [main(msp.said("q1", visibility="main_only")), opened(msp.said("q2", visibility="subsession_only"))],
    ),
    "msp-visibility": Case(
        [main(), opened(msp.said("q1", visibility="private"))], [main(), opened(msp.said("q1", visibility="global"))]
    ),
    "msp-covers-overlap": Case([covering((0, 20), (10, 30))], [covering((0, 20), (20, 30))]),
    "response-without-request": Case([answer()], [ask(), answer()], [ask()]),
    "response-to-proposal": Case([propose(id="q1"), answer()], [ask(), answer()]),
    "response-names-other-call": Case(
        [ask(), answer(kind="mcp/response:completion/complete")],
        [ask(), answer(kind="mcp/response:tools/call:grep"), ask(id="q2"),
         answer(id="a2", kind="mcp/response:tools/call", correlation_id=["q2"])],
    ),
    "request-unanswered": Case([ask(), later(16)], [ask(), answer(), later(16)], [answer(ts=at(17))]),
    "response-slow": Case([ask(), answer(ts=at(16))], [ask(), answer(ts=at(15))]),
    "request-answered-again": Case(
        [ask(), answer(), answer(id="a2")], [ask(to=["files", "coder"]), answer(), answer(id="a2", sender="coder")]
    ),
    "response-from-other": Case([ask(), answer(sender="coder")], [ask(to=[]), answer(sender="coder")]),
    "jsonrpc-id-differs": Case(
        [ask(payload={"id": 7, "method": "tools/list"}), answer(payload={"id": "7", "result": {}})],
        [ask(payload={"id": 7, "method": "tools/list"}), answer()],
    ),
    "proposal-fulfilled-after-withdrawal": Case(
        [propose(), withdraw(), fulfil()], [propose(), fulfil(), withdraw(ts=at(3))]
    ),
    "withdrawn-by-other": Case([propose(), withdraw(sender="lead")], [propose(), withdraw()]),
    "proposal-fulfilled-again": Case(
        [propose(), fulfil(), fulfil(id="f2", sender="lead")], [propose(), fulfil(), tool_call("write_file")]
    ),
    "fulfilment-differs": Case([propose(), fulfil("rm")], [propose(), fulfil()]),
    "proposal-undecided": Case([propose(), later(61)], [propose(), later(60)], [fulfil(ts=at(62))]),
    "decision-without-proposal": Case([withdraw()], [propose(), withdraw()], [propose()]),
    "correlation-dangling": Case(
        [envelope(correlation_id=["x1"])],
        [envelope(context="x1"), envelope(correlation_id=["x1"]),
         gateway("stream/write-granted", {"stream_id": "stream-1"}, sender="gateway", correlation_id=["w1"])],
        [envelope(id="x1")],
    ),
    "context-malformed": Case([envelope(context="why//fs/")], [envelope(context="why/fs")]),
    "context-wrong-type": Case([envelope(context=7)], [envelope(context=None)]),
    "context-characters": Case([envelope(context="why fs")], [envelope(context="why_fs-1a2b")]),
    "context-too-deep": Case([envelope(context="a/b/c/d/e/f")], [envelope(context="a/b/c/d/e")]),
    "context-too-long": Case([envelope(context="x" * 256)], [envelope(context="x" * 255)]),
    "context-guessable": Case(
        [envelope(context="ctx-1"), envelope(context="ctx-2")], [envelope(context="reason-1795293582711-oa9xyr")]
    ),
    "context-secret": Case([envelope(context="ask-jo@example.org")], [envelope(context="ask-jo-at-example-org")]),
    "context-flood": Case(many_contexts(500, 1.1), many_contexts(499, 1.1)),
    "context-growing": Case(
        [envelope(context="job-1a2b", ts=at(n / 9)) for n in range(5_000)],
        [envelope(context=f"job-{n % 2}x-1a2b", ts=at(n / 9)) for n in range(5_100)],
    ),
    "context-rate": Case(many_contexts(20, 0.05), many_contexts(20, 0.1)),
    "context-cycle": Case(
        [envelope(context={"id": "a-x", "parent": "b-x"}), envelope(context={"id": "b-x", "parent": "a-x"})],
        [envelope(context={"id": "a-x", "parent": "b-x"}), envelope(context={"id": "b-x"})],
    ),
    "context-parent-conflict": Case(
        [envelope(context={"id": "a-x", "parent": "b-x"}), envelope(context={"id": "a-x", "parent": "c-x"})],
        [envelope(context={"id": "a-x", "parent": "b-x"}), envelope(context={"id": "a-x"})],
    ),
    "context-type-conflict": Case(
        [envelope(context={"id": "a-x", "type": "review"}), envelope(context={"id": "a-x", "type": "plan"})],
        [envelope(context={"id": "a-x", "type": "review"}), envelope(context={"id": "a-x", "type": "review"})],
    ),
    "context-without-id": Case([envelope(context={"type": "review"})], [envelope(context={"id": "a-x"})]),
    "context-metadata-secret": Case(
        [envelope(context={"id": "a-x", "metadata": {"api_key": "k-1234"}})],
        [envelope(context={"id": "a-x", "metadata": {"confidence": 0.4}})],
    ),
    "context-object": Case(
        [envelope(context={"id": "a-x"}), envelope(context={"id": "b-x"})], [envelope(context="a-x")]
    ),
    "message-after-conclusion": Case(
        [reason("start", id="r-abcd"), reason("conclusion", "r-abcd"), reason("thought", "r-abcd")],
        [reason("start", id="r-abcd"), reason("thought", "r-abcd"), reason("conclusion", "r-abcd"), answer()],
    ),
    "message-after-cancel": Case(
        [reason("start", id="r-abcd"), reason("cancel", "r-abcd"), reason("thought", "r-abcd")],
        [reason("start", id="r-abcd"), reason("cancel", "r-abcd"), reason("conclusion", "r-abcd")],
    ),
    "concluded-again": Case(
        [reason("start", id="r-abcd"), reason("conclusion", "r-abcd"), reason("conclusion", "r-abcd")],
        [reason("start", id="r-abcd"), reason("cancel", "r-abcd"), *[reason("conclusion", "r-abcd") for _ in "12"]],
    ),
    "conclusion-without-start": Case(
        [reason("thought", "r-abcd"), reason("conclusion", "r-abcd")],
        [reason("start", id="r-abcd"), reason("conclusion", "r-abcd")],
        [reason("start", id="r-abcd")],
    ),
    "reasoning-without-context": Case([reason("thought")], [reason("start"), envelope("reflection")]),
    "began-before-capture": Case(
        live(welcome("files"), answer()), live(welcome(), answer(), welcome("files"), answer(id="a9")), live(ask())[1:]
    ),
    "unreadable": Case([envelope(), "{torn"], [envelope(), envelope()]),
    "server-ended": Case([*HELLO, ended(1)], [*HELLO, ended(0)]),
    "capture-gap": Case([*HELLO, {"t": 1_767_600_001_000_000_000, "src": 0, "mark": "gap"}], HELLO),
    "kind-missing": Case([envelope(["chat"])], [envelope("chat")]),
    "kind-unknown": Case([envelope("shop/order"), envelope("shop/order")], [envelope("chat/acknowledge")]),
    "kind-payload-disagree": Case(
        [ask(kind="mcp/request:tools/call:rm")], [ask(kind="mcp/request:tools/call:grep"), answer()]
    ),
    "context-kind": Case([envelope("subcontext/start"), envelope("subcontext/start")], [envelope("reasoning/start")]),
    "system-from-participant": Case(
        [envelope("system/presence", {"event": "join"})], [gateway("system/presence", {"event": "join"}),
                                                           envelope("system/heartbeat")]
    ),
    "sender-differs": Case(
        [received(envelope(), "coder")], [received(envelope(), "lead"), delivered(envelope(), "coder")]
    ),
    "id-reused": Case([envelope(id="x1", ts=at(0)), envelope(id="x1", ts=at(1))], [envelope(id="x1")] * 2),
    "id-missing": Case([envelope(id=None), envelope(id=None)], [envelope(), gateway("system/error", {}, id=None)]),
    "clock-skew": Case(
        [received(envelope(ts=at(0)), timestamp=at(9)), received(envelope(ts=at(1)), timestamp=at(9))],
        [received(envelope(ts=at(0)), timestamp=at(5)), *late(5, sender="coder"),
         received(envelope(sender="files", ts=12345), timestamp=at(9)),
         *[{"t": 3.7, "data": envelope(sender="intern", ts=at(0))}] * 2],
    ),
    "chat-loop": Case(
        [*talk(31)], [*talk(30), *talk(60, apart_s=700, room="slow"), *talk(60, room="one", names=("lead", "lead"))]
    ),
    "messages-late": Case(late(5), late(4)),
    "time-malformed": Case(
        [envelope(ts=12345), envelope(ts=12346)],
        [envelope(ts=1_767_600_000), envelope(ts=at(1)), envelope(ts="2026-01-05T09:00:00+02:00", kind="chat/done")],
    ),
    "joined-twice": Case([*HELLO, here("me")], [*HELLO, here("coder"), here("me", "leave")]),
    "context-window-full": Case(
        [envelope("participant/status", {"tokens": tokens, "max_tokens": 100}) for tokens in (90, 95)],
        [envelope("participant/status", {"tokens": 89, "max_tokens": 100})],
    ),
    "secret-in-clear": Case(
        [gateway("space/invite-ack", {"status": "created", "token": "t-9f8e7d"})],
        [gateway("space/invite-ack", {"status": "created", "token": "REDACTED"})],
    ),
    "correlation-wrong-type": Case(
        [envelope(id="x1"), *[envelope(correlation_id="x1") for _ in "12"]],
        [envelope(id="x1"), envelope(correlation_id=["x1"]),
         envelope(id="x2", protocol="mcpx/v0.1", correlation_id="x1", sender="coder")],
    ),
    "context-elsewhere": Case(
        [envelope(thread_id="t1"), envelope(thread_id="t2")], [envelope(payload={"text": "x", "context": "in my room"})]
    ),
    "context-altered": Case(copied(context="why-b"), copied(correlation_id=["x"])),
    "copies-differ": Case(copied(payload={"text": "other"}), copied(context="why-b")),
    "broadcast-not-delivered": Case(
        [*broadcast(1, "lead", "coder"), *broadcast(2, "lead"), *broadcast(3, "lead", "coder")],
        [*broadcast(1, "lead", "coder"), *broadcast(2, "lead"), *broadcast(3, "lead")],
        [delivered(envelope(id="b2", ts=at(2)), "coder")],
    ),
    "capability-denied": Case(
        [gateway("system/error", {"error": "capability_violation", "attempted_kind": "mcp/request"})],
        [gateway("system/error", {"error": "validation_error"})],
    ),
    "allowed-without-capability": Case(
        [decision("allowed", {"kind": "chat"})],
        [decision("allowed", held) for held in ({"kind": "mcp/*"}, {"kind": "mcp/request", "payload": {}})],
    ),
    "beyond-capabilities": Case(
        [told_of("lead", {"kind": "chat"}), ask()],
        [told_of("lead", {"kind": "mcp/request", "payload": {"method": "tools/*", "params": {"name": "gr*"}}}), ask(),
         told_of("lead"), ask(id="q2"), told_of("coder", {"kind": "chat"}),
         gateway("system/welcome", {"you": {"id": "coder", "capabilities": [{"kind": "chat"}]}}, to=["coder"]),
         envelope("capability/grant", {"recipient": "coder", "capabilities": [{"kind": "mcp/*"}]}),
         ask(id="q3", sender="coder"), told_of("old", "mcp/*", "reasoning/*"), ask(kind="mcp", id="q4", sender="old"),
         envelope("reasoning.thought", {"text": "so"}, sender="old")],
    ),
    "denied-despite-capability": Case(
        [decision("denied", {"kind": "chat"}, "mcp/*")],
        [decision("denied", {"kind": "chat"}), decision("denied", {"kind": "mcp/request", "payload": {"method": "x"}})],
    ),
    "system-error": Case(
        [gateway("system/error", {"error": "validation_error", "message": "no kind"})],
        [gateway("system/error", {"error": "capability_violation"})],
    ),
    "stream-frame-unknown": Case([frame(), frame()], [stream("open"), frame()], [stream("open")]),
    "stream-frame-after-close": Case(
        [stream("open", ts=at(0)), stream("close", ts=at(1)), frame(2.5), frame(3)],
        [stream("open", ts=at(0)), stream("close", ts=at(1)), frame(1.5), stream("open", ts=at(2)), frame(5)],
    ),
    "stream-close-without-id": Case([stream("close", None)], [stream("close")]),
    "stream-not-opened": Case(
        [stream("request", None, id="s1", ts=at(0)), later(11)],
        [stream("open", correlation_id=["s1"]), stream("request", None, id="s1", ts=at(0)), later(11)],
        [stream("open", correlation_id=["s1"], ts=at(12))],
    ),
    "hint-unknown-tool": Case(
        [*tools("search_records"), *meta("get_workflow_step", HINTS)],
        [*tools("search_records", "analysis_store"), *meta("get_workflow_step", HINTS)],
        tools("analysis_store"),
    ),
    "hint-misspelled": Case(
        meta("get_workflow_step", {"contextHint": HINTS["contextHints"]}), meta("get_workflow_step", HINTS)
    ),
    "signal-malformed": Case(
        meta("get_workflow_step", {"contextHints": HINTS["contextHints"][0]}),
        [*meta("store", {"context": {}}), *meta("get_workflow_step", HINTS, 2)],
    ),
    "consumed-nothing": Case(meta("analysis_store", CONSUMED), [*WORKFLOW, *meta("analysis_store", CONSUMED, 3)]),
    "consumed-failed": Case(
        [*WORKFLOW, *meta("analysis_store", CONSUMED, 3, result={"isError": True})],
        [*WORKFLOW, *meta("analysis_store", CONSUMED, 3)],
    ),
    "transient-not-consumed": Case(
        [*WORKFLOW, later(303)], [*WORKFLOW, *meta("analysis_store", CONSUMED, 3), later(303)],
        meta("analysis_store", CONSUMED, 304),
    ),
    "transient-no-summary": Case(meta("search", {"context": {"lifecycle": "transient"}}), meta("search", TRANSIENT)),
    "records-not-transient": Case(records(5), [*records(4), *records(5, TRANSIENT)]),
    **{
        code: Case(lines, mcp.RIGHT[code], mcp.MENDED.get(code, []), mcp.BASELINES.get(code))
        for code, lines in mcp.WRONG.items()
    },
}  # fmt: skip
