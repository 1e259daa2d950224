"""What answers what, which tool was called, what became of proposals (docs/protocols.md 3, 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.second_reader.messages import Message, canonical

NEEDS_TARGET = ("tools/call", "prompts/get", "resources/read", "completion/complete")
"""Methods that are about something with a name."""
_ASKING = ("mcp/request", "mcp/proposal")
_NOTHING = object()


@dataclass
class Calls:
    """What was found about each message, by its number."""

    method: dict[int, str | None] = field(default_factory=dict)
    target: dict[int, str | None] = field(default_factory=dict)
    """Of tools/call the tool."""
    rule: dict[int, str | None] = field(default_factory=dict)
    answers: dict[int, int] = field(default_factory=dict)
    """Response to request."""
    answered: dict[int, int] = field(default_factory=dict)
    """Request to its first response."""
    state: dict[int, str] = field(default_factory=dict)
    """Proposal to what became of it."""

    def tool(self, number: int) -> str | None:
        """The tool of a message, where it is about one."""
        return self.target.get(number) if self.method.get(number) == "tools/call" else None


def calls(messages: list[Message]) -> Calls:
    """All of it, message by message."""
    found = Calls()
    for message in messages:
        if message.kind in _ASKING:
            found.method[message.no], found.target[message.no] = _asks(message)
    for message in messages:
        if message.kind == "mcp/response":
            _resolve(message, messages, found)
    for message in messages:
        if message.kind == "mcp/proposal":
            found.state[message.no] = _became(message, messages, found)
    return found


def _asks(message: Message) -> tuple[str | None, str | None]:
    """Method and target of a request or proposal: the payload first, else the kind."""
    (_, kind_method, kind_target), payload = message.said, message.payload
    proposal = payload.get("proposal")
    wrapped = proposal.get("envelope") if isinstance(proposal, dict) else payload.get("envelope")
    if isinstance(wrapped, dict):  # MEUP: what it is about is an envelope of its own
        inner = wrapped.get("payload")
        payload = inner if isinstance(inner, dict) else {}
        _, kind_method, kind_target = canonical(wrapped.get("kind"), payload)
    method = payload.get("method")
    method = method if isinstance(method, str) else kind_method
    return method, _named_target(method, payload) or (kind_target if kind_method == method else None)


def _named_target(method: str | None, payload: dict[str, Any]) -> str | None:
    params = payload.get("params")
    by = "uri" if (method or "").startswith("resources/") else "name"
    about = method in ("tools/call", "prompts/get") or by == "uri"
    named = params.get(by) if about and isinstance(params, dict) else None
    return named if isinstance(named, str) and named else None


def _resolve(message: Message, messages: list[Message], found: Calls) -> None:
    """The first rule that gives a method gives it; a target it lacks is that of the next rule with the same method."""
    asked, how = _asked(message, messages, found)
    if asked is not None and asked.kind == "mcp/request":
        found.answers[message.no] = asked.no
        if not message.refused:
            found.answered.setdefault(asked.no, message.no)
    method: str | None = None
    target: str | None = None
    rule = "unknown"
    theirs = _of_request(asked, messages, found) if asked is not None else (None, None)
    for name, (given, about) in zip(("kind", "payload", how), (*_own_words(message), theirs), strict=True):
        if given is not None and (method is None or (given == method and target is None and about is not None)):
            method, target, rule = given, about, str(name)
    if method in NEEDS_TARGET and target is None:
        rule = "unknown"
    found.method[message.no], found.target[message.no], found.rule[message.no] = method, target, rule


def _own_words(message: Message) -> list[tuple[str | None, str | None]]:
    """What a response says itself: rules 1 and 2."""
    _, kind_method, kind_target = message.said
    method = message.payload.get("method")
    method = method if isinstance(method, str) else None
    return [(kind_method, kind_target), (method, _named_target(method, message.payload))]


def _of_request(asked: Message, messages: list[Message], found: Calls) -> tuple[str | None, str | None]:
    """What the request is about, or the proposal it fulfilled."""
    method, target = found.method.get(asked.no), found.target.get(asked.no)
    if asked.kind == "mcp/request" and (method is None or (method in NEEDS_TARGET and target is None)):
        for named in asked.correlation:
            proposed = _meant(messages, asked, named, "mcp/proposal")
            if proposed is not None and found.method[proposed.no] == (method or found.method[proposed.no]):
                return found.method[proposed.no], found.target[proposed.no]
    return method, target


def _asked(message: Message, messages: list[Message], found: Calls) -> tuple[Message | None, str | None]:
    """The request, or proposal, that a response is about, and the rule."""
    for named in message.correlation:
        asked = _latest(messages, message, named, "mcp/request") or _latest(messages, message, named, "mcp/proposal")
        if asked is not None:
            return asked, "correlation"
    if message.correlation:
        later = [
            one for one in messages[message.no :]
            if one.space == message.space and one.id in message.correlation and one.kind in _ASKING
        ]  # fmt: skip
        return (later[0], "correlation") if later else (None, None)
    number = message.payload.get("id", _NOTHING)
    for one in reversed(messages[: message.no - 1]):
        is_open = one.kind == "mcp/request" and one.space == message.space and one.no not in found.answered
        if is_open and _same(one.payload.get("id"), number) and _between(one, message):
            return one, "rpc id"
    return None, None


def _between(request: Message, response: Message) -> bool:
    """Whether a request passed between the two that a response is passed between, the other way."""
    if request.rpc and response.rpc and not request.to and not response.to:
        return request.dir is None or request.dir != response.dir
    return response.sender in request.to and request.sender in response.to


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other and one is not None


def _latest(messages: list[Message], before: Message, named: str, kind: str) -> Message | None:
    earlier = (one for one in reversed(messages[: before.no - 1]) if one.space == before.space)
    return next((one for one in earlier if one.id == named and one.kind == kind), None)


def _meant(messages: list[Message], by: Message, named: str, kind: str) -> Message | None:
    """The message an id means: the latest earlier one of that kind, else the first later one."""
    later = (one for one in messages[by.no :] if one.space == by.space and one.id == named and one.kind == kind)
    return _latest(messages, by, named, kind) or next(later, None)


def _became(proposal: Message, messages: list[Message], found: Calls) -> str:
    """The furthest it got."""
    state, fulfilled = "open", False
    for one in messages:
        if one.refused or not _about(one, proposal, messages):
            continue
        if one.kind == "mcp/reject" and state == "open":
            state = "rejected"
        elif one.kind == "mcp/withdraw" and one.sender == proposal.sender and not one.in_anothers_name:
            state = "withdrawn"
        elif one.kind == "mcp/request":
            fulfilled = True
            if one.no in found.answered:
                return "answered"
    return "fulfilled" if fulfilled else state


def _about(message: Message, proposal: Message, messages: list[Message]) -> bool:
    """Whether a message names this proposal."""
    return (
        message.space == proposal.space
        and proposal.id in message.correlation
        and _meant(messages, message, proposal.id or "", "mcp/proposal") is proposal
    )
