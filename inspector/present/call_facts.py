"""Facts of calls: requests, proposals, recipients, answers, errors, tasks, inputs, hellos, cancellations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from inspector.analysis.passes.calls.call_rounds import RoundsOfCall
from inspector.analysis.passes.calls.correlation_names import NamedThing
from inspector.analysis.passes.calls.correlation_pass import ToolRule
from inspector.analysis.passes.calls.proposal_states import ProposalState
from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.unanswered import is_cancelled, is_refused, party_who_left, pending_age_ns
from inspector.analysis.views.causes.proposal_outcomes import has_failed
from inspector.analysis.views.latency.background_agents import answer_latency_ns
from inspector.analysis.views.model_context.origins import Change, origin_of
from inspector.analysis.views.summaries.participant_queries import answering_pattern, participants_of
from inspector.present import formats
from inspector.present.facts import Fact, FactPart, Ink, fact, message_part, value_facts, words_fact
from inspector.present.formats import delta
from inspector.present.states import ANSWER_WITHIN_NS, presence_word
from inspector.present.subject import Subject, correlation_string, recipients, sender_of, text_of
from inspector.present.wait_words import asker_name
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.calls import rpc_id
from inspector.protocol.capabilities import first_covering
from inspector.protocol.mcp_messages import INPUT_REQUIRED
from inspector.protocol.payloads.outline import value_text
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

_MOST_RECIPIENTS = 8
_MOST_ELSEWHERE = 3
_NEARBY_MESSAGES = 1_000  # messages before and after


_CHANGES = {
    Change.WHOLE: "The model received all of it.",
    Change.CUT: "The model received a part of it.",
    Change.ALTERED: "The model received other content.",
}


def origin_facts(subject: Subject) -> list[Fact]:
    """Describes the server's own answer behind a model's result, and its changes; empty if unknown."""
    found = origin_of(subject.analysis, subject.message)
    if found is None:
        return []
    who = "" if found.is_certain else "Probably "
    tone: Ink = "plain" if found.change is Change.WHOLE else "warn"
    return [Fact("", (FactPart(who), message_part(found.message), FactPart(f". {_CHANGES[found.change]}", tone)))]


def request_facts(subject: Subject) -> list[Fact]:
    """Describes the outcome of a request, or its wait: by the wall clock while live, else by the last record."""
    # A gateway's refusal is a message of its own, which names the request.
    refusal = next((m for m in subject.effects if subject.capture.string("kind", m) == "system/error"), None)
    if is_refused(subject.analysis, subject.message):
        if refusal is None and subject.flags & Flag.RPC:
            return [words_fact("Refused by the status of its HTTP exchange.")]
        if refusal is None:
            return [words_fact("Refused by the gateway, as its log says.")]
        return [Fact("", (FactPart("Refused by the gateway, "), message_part(refusal)))]
    # Tasks and requested input spread one call over several requests (MCP 2025-11-25).
    call = subject.analysis.correlation.rounds.calls.get(subject.message)
    if call is not None:
        return _rounds_facts(subject, call)
    if subject.answer is not None:
        return [_answered_fact(subject, subject.answer)]
    if is_cancelled(subject.analysis, subject.message):
        return [words_fact("Cancelled by its sender; no answer was seen.")]
    if gone := party_who_left(subject.analysis, subject.message):
        asked = recipients(subject.capture, subject.to) if subject.to else "The server"
        who = asked if gone == "asked" else asker_name(subject.analysis, subject.message)
        return [words_fact(f"{who} left or restarted before the answer.")]
    last = subject.last_ns()
    if NO_TIME in (subject.time_ns, last):
        return [words_fact("No answer was seen.")]
    waited = formats.duration(max(0, last - subject.time_ns))
    if subject.document.live:
        return [words_fact(f"No answer yet, {waited} after the request.")]
    return [words_fact(f"No answer in the {waited} until the last record.")]


def _answered_fact(subject: Subject, answer: int) -> Fact:
    """Describes the answer to a request: "Failed after 4.2 s: exit code 1, No. 13"."""
    failed = bool(subject.capture.flags_of(answer) & Flag.ERROR)
    is_named = not subject.is_derived and subject.capture.string("sender", answer) is not None
    by = f" by {sender_of(subject.capture, answer)}" if is_named else ""
    state = subject.analysis.states.state_of(subject.message)
    if state is MessageState.REJECTED:
        outcome = FactPart("Rejected by the user" if subject.is_derived else f"Rejected{by}", "warn")
    elif failed:
        outcome = FactPart(f"Failed{by}", "bad")
    else:
        outcome = FactPart("Result" if subject.is_derived else f"Answered{by}")
    latency = answer_latency_ns(subject.analysis, answer)
    after = f" after {formats.duration(latency)}" if latency is not None else ""
    code = exit_code_in(text_of(subject.capture, answer)) if failed else None
    # A rejected command never ran, so its text has no exit code.
    why = f": exit code {code}, " if code is not None and state is not MessageState.REJECTED else ": "
    return Fact("", (outcome, FactPart(f"{after}{why}"), message_part(answer)))


# Programs begin such a result with "Exit code 1", "Error: Exit code 1" or "Exit code: 1".
_EXIT_CODE = re.compile(r"\s*(?:Error: )?Exit code:? (\d{1,10})\b", re.IGNORECASE)


def exit_code_in(text: str) -> int | None:
    """Returns the exit code at the start of a command's result, if any."""
    found = _EXIT_CODE.match(text)
    return int(found[1]) if found else None


def _rounds_facts(subject: Subject, call: RoundsOfCall) -> list[Fact]:
    """Describes a call over several requests: first answer, result, and number of requests."""
    task = subject.answer is not None and bool(
        subject.capture.extracted.mcp_values("task", np.array([subject.answer]))[0]
    )
    failed = subject.answer is not None and bool(subject.capture.flags_of(subject.answer) & Flag.ERROR)
    first = "Became a task" if task else "Failed at first" if failed else "Asked for input first"
    parts = [FactPart(first)]
    if subject.answer is not None:
        parts += [FactPart(", "), message_part(subject.answer)]
    rows = [Fact("", tuple(parts))]
    if call.result == NO_ROW:
        words = "Cancelled by its sender." if is_cancelled(subject.analysis, subject.message) else "No result was seen."
        return [words_fact(words), *rows, *_asked_again(call)]
    what = "Cancelled" if call.cancelled else "Failed" if call.failed else "Answered"
    latency = answer_latency_ns(subject.analysis, call.result)
    after = f" after {formats.duration(latency)}" if latency is not None else ""
    ended = (FactPart(what, "bad" if call.failed else "plain"), FactPart(f"{after}: "), message_part(call.result))
    return [Fact("", ended), *rows, *_asked_again(call)]


def _asked_again(call: RoundsOfCall) -> list[Fact]:
    if not call.requests:
        return []
    words = f"{formats.count_of(len(call.requests), 'further request')}, the last "
    return [Fact("", (FactPart(words, "dim"), message_part(call.requests[-1])))]


def addressed_facts(subject: Subject) -> list[Fact]:
    """Lists the recipients of a request, their abilities, and answers to the same call elsewhere."""
    analysis, space = subject.analysis, int(subject.capture.columns["space"][subject.message])
    known = participants_of(analysis, space)
    telling = any(p.here is not None or p.capabilities is not None for p in known)  # MCP does not announce participants
    to = [name for name in subject.to if telling or (space, name) not in analysis.participants.all]
    rows = [_recipient_fact(subject, name, space) for name in to[:_MOST_RECIPIENTS]]
    if len(to) > _MOST_RECIPIENTS:
        rows.append(fact(" ", f"{len(to) - _MOST_RECIPIENTS} more", "dim"))
    if not subject.to:
        able = [p.name for p in known
                if p.here and answering_pattern(p, subject.method, subject.target)]  # fmt: skip
        words = f"{len(able)} here may answer" if able else "no participant is known to answer"
        rows.append(fact("everyone", words, tooltip=", ".join(able) or None))
    answerer = subject.capture.string("sender", subject.answer) if subject.answer is not None else None
    if answerer and subject.to and answerer not in subject.to:
        rows.append(fact("Elsewhere", f"answered by {safe_line(subject.capture.shown_name(answerer), 80)}"))
    elif subject.answer is None:
        rows += _elsewhere_facts(subject)
    return rows


def _elsewhere_facts(subject: Subject) -> list[Fact]:
    """Lists the first three answers to the same call that its sender made to others at that time."""
    capture, links = subject.capture, subject.analysis.correlation
    columns, own = capture.columns, subject.message
    # Only nearby messages: a search of the whole capture would delay each selection.
    low, high = max(0, own - _NEARBY_MESSAGES), own + _NEARBY_MESSAGES
    same = links.columns["answer"][low:high] != NO_ROW
    stop = low + len(same)
    for name in ("kind", "sender", "space"):
        same &= columns[name][low:stop] == columns[name][own]
    for name in ("method", "target"):
        same &= links.columns[name][low:stop] == links.columns[name][own]
    rows: list[Fact] = []
    for request in (np.flatnonzero(same) + low).tolist():
        gap = subject.delta_ns(request)
        answer = int(links.columns["answer"][request])
        if request == own or gap is None or abs(gap) > ANSWER_WITHIN_NS or capture.flags_of(answer) & Flag.ERROR:
            continue
        took = answer_latency_ns(subject.analysis, answer)
        after = f" in {formats.duration(took)}" if took is not None else ""
        words = f"answered by {sender_of(capture, answer)}{after}"
        rows.append(Fact(" " if rows else "Elsewhere", (FactPart(words, "link", answer),), lines=2))
        if len(rows) == _MOST_ELSEWHERE:
            break
    return rows


def _recipient_fact(subject: Subject, name: str, space: int) -> Fact:
    participant = subject.analysis.participants.all.get((space, name))
    words = presence_word(participant, subject.time_ns)
    if participant is not None and participant.capabilities is not None:
        pattern = answering_pattern(participant, subject.method, subject.target)
        may = "; may do anything" if pattern == "*" else f"; may use {pattern}"
        words += may if pattern else "; may not answer"
    listing = "\n".join(participant.capabilities or ()) if participant is not None else ""
    return fact(safe_line(name, 80), words, lines=2, tooltip=listing or None)


_MOST_NAMES = 6
_MOST_ACTS = 20
_ACT_WORDS = {kinds.REQUEST: "Fulfilled by", kinds.REJECT: "Rejected by", kinds.WITHDRAW: "Withdrawn by"}
_OUTCOMES = {
    ProposalState.FULFILLED: "Fulfilled; the answer has not come.",
    ProposalState.ANSWERED: "Fulfilled, and answered.",
    ProposalState.WITHDRAWN: "Withdrawn by its proposer.",
    ProposalState.REJECTED: "Rejected; others may still fulfil it.",
}


def proposal_fact(subject: Subject) -> Fact:
    """Describes the outcome of a proposal; the wait of an open one depends on the clock."""
    analysis = subject.analysis
    outcome = _OUTCOMES.get(ProposalState(int(analysis.correlation.columns["proposal_state"][subject.message])))
    if outcome is not None and has_failed(analysis, subject.message):
        return fact("", "Fulfilled, but the call failed.", "bad", lines=2)
    if outcome is not None:
        return fact("", outcome, lines=2)
    age = pending_age_ns(analysis, subject.message)
    if analysis.now_ns is not None:
        waited = f", {formats.duration(age)} after the proposal" if age is not None else ""
        return fact("", f"No decision yet{waited}.", "warn", lines=2)
    waited = f" in the {formats.duration(age)} until the last record" if age is not None else " in this capture"
    return fact("", f"No decision{waited}.", "dim", lines=2)


def acted_facts(subject: Subject) -> list[Fact]:
    """Lists fulfilments, rejections and withdrawals of a proposal with reason, time and result."""
    rows: list[Fact] = []
    for effect in subject.effects[:_MOST_ACTS]:
        kind = subject.capture.string("kind", effect) or ""
        if kind not in _ACT_WORDS:
            continue
        word = _ACT_WORDS[kind]
        sender = subject.capture.string("sender", effect)
        if kind == kinds.WITHDRAW and sender != subject.sender:
            word = "Withdrawal by"  # only the proposer may withdraw (docs/protocols.md 5)
        reason = subject.capture.records.payload(effect).get("reason") if kind != kinds.REQUEST else None
        rows.append(_act_fact(subject, word, effect, reason))
        answer = int(subject.analysis.correlation.columns["answer"][effect]) if kind == kinds.REQUEST else NO_ROW
        if answer != NO_ROW:
            failed = bool(subject.capture.flags_of(answer) & Flag.ERROR)
            rows.append(_act_fact(subject, "Failed at" if failed else "Answered by", answer, None))
    if len(subject.effects) > _MOST_ACTS:
        rows.append(fact("", f"{len(subject.effects) - _MOST_ACTS} more, see Related", "dim"))
    return rows


def _act_fact(subject: Subject, word: str, message: int, reason: object) -> Fact:
    parts = [FactPart(f"{sender_of(subject.capture, message)}, "), message_part(message)]
    if isinstance(reason, str) and reason:
        parts.append(FactPart(f"  {safe_line(mask_text(reason), 200)}", "dim"))
    return Fact(word, tuple(parts), right=delta(subject.delta_ns(message)))


def capable_facts(subject: Subject, proposal: int) -> list[Fact]:
    """Names the capability needed to fulfil a proposal, and its holders at that time, as announced by the gateway."""
    analysis, capture = subject.analysis, subject.capture
    names = [correlation_string(analysis, column, proposal) for column in ("method", "target")]
    call = ":".join([kinds.REQUEST, *filter(None, names)])
    space = int(capture.columns["space"][proposal])
    # Older dialects write method and tool into the kind, and capabilities match it as written.
    kind = call if ":" in (capture.string("kind_raw", proposal) or "") else kinds.REQUEST
    asked = analysis.capabilities.asked(proposal, kind)
    able, known = [], False
    for participant in participants_of(analysis, space):
        held = analysis.capabilities.capabilities_of(space, participant.name, proposal)
        known = known or held is not None
        if held is not None and first_covering((one.capability for one in held), asked)[0]:
            able.append(participant.name)
    if not known:
        return []
    shown = ", ".join(safe_line(name, 60) for name in able[:_MOST_NAMES]) + ("…" if len(able) > _MOST_NAMES else "")
    rows = [
        fact("Capability", call, "mono", middle=True),
        fact("Held by", shown or "no participant", tooltip="\n".join(able) or None),
    ]
    proposer = capture.string("sender", proposal) or ""
    if analysis.capabilities.capabilities_of(space, proposer, proposal) is not None:
        rows.append(fact(f"{safe_line(proposer, 40)} may", "call it directly" if proposer in able else "propose only"))
    return rows


_NOUNS = {"tools/call": "Tool", "prompts/get": "Prompt", "completion/complete": "Completion"}
_LATER_WORDS = "Each new request is checked for a match."


def answer_facts(subject: Subject) -> list[Fact]:
    """Describes the call of a response: name, value and the rule that matched it."""
    columns = subject.analysis.correlation.columns
    rule = ToolRule(int(columns["rule"][subject.message]))
    cause = int(columns["cause"][subject.message])
    if rule is ToolRule.NONE and cause == NO_ROW:
        return []
    if rule is ToolRule.UNKNOWN or not subject.method:
        return _unknown_facts(subject, cause)
    noun, name = "Method", subject.method
    if subject.target:
        name = subject.target
        noun = _NOUNS.get(subject.method, "Resource")
    rows = [fact(noun, name, "mono", middle=True)]
    if subject.target and noun in ("Resource", "Completion"):
        rows.append(fact("Method", subject.method, "mono"))
    if rule is ToolRule.CORRELATION and _naming_proposal(subject, cause) is None:
        name, asked = ("Result of", "the call ") if subject.is_derived else ("Answer to", "the request ")
        rows.append(Fact(name, (FactPart(asked), message_part(cause))))
    else:
        rows.append(Fact("Matched by", _naming_rule(subject, rule, cause)))
    return rows + _order_facts(subject, cause)


def _naming_rule(subject: Subject, rule: ToolRule, cause: int) -> tuple[FactPart, ...]:
    asked = "call" if subject.is_derived else "request"
    link = (FactPart(f", {asked} "), message_part(cause)) if cause != NO_ROW else ()
    if rule is ToolRule.KIND:
        return (FactPart("its own kind"), *link)
    if rule is ToolRule.PAYLOAD:
        return (FactPart("its own payload"), *link)
    if rule is ToolRule.RPC_ID:
        return (FactPart("JSON-RPC id with "), message_part(cause))
    proposal = _naming_proposal(subject, cause)
    if proposal is not None:
        return (FactPart("proposal "), message_part(proposal), FactPart(", which request "), message_part(cause),
                FactPart(" fulfils"))  # fmt: skip
    return link[1:]


def _naming_proposal(subject: Subject, request: int) -> int | None:
    """Returns the proposal that names the call if the request itself does not."""
    own = subject.capture.records.payload(request)
    params = own.get("params")
    if (
        request == NO_ROW
        or (isinstance(params, dict) and params)
        or not correlation_string(subject.analysis, "target", request)
    ):
        return None
    above = int(subject.analysis.correlation.columns["cause"][request])
    is_proposal = above != NO_ROW and subject.capture.string("kind", above) == kinds.PROPOSAL
    return above if is_proposal else None


def _unknown_facts(subject: Subject, cause: int) -> list[Fact]:
    if cause != NO_ROW:
        parts = (FactPart("unknown, also from its request "), message_part(cause))
        rows = [fact("Method", subject.method, "mono")] if subject.method else []
        return [*rows, Fact(_NOUNS.get(subject.method or "", "Method"), parts), *_order_facts(subject, cause)]
    ids = subject.capture.records.correlation_ids(subject.message)
    named = subject.analysis.named.named(np.array([subject.message]))
    if named[0] == NamedThing.CONTEXT:
        return [fact("Answers", f"the context {safe_line(mask_text(ids[0]), 120)}", middle=True)]
    words = "unknown, its request is not in the log"
    if not ids and "id" not in subject.payload:
        words = "unknown, it names no request"
    ink: Ink = "warn"
    return [fact("Tool", words, ink, lines=2), fact("", _LATER_WORDS, "dim", lines=2)]


def _order_facts(subject: Subject, cause: int) -> list[Fact]:
    """Reports a response that was read before its request."""
    if cause == NO_ROW or cause < subject.message:
        return []
    gap = subject.delta_ns(cause)
    clock = ""
    if gap is not None and gap:
        # The order of the file and the clocks may disagree, so both are shown.
        clock = f", by the clock {formats.duration(abs(gap))} {'after' if gap < 0 else 'before'} it"
    return [fact("Order", f"listed before its request{clock}", "warn", lines=2)]


_CODES = {
    -32700: "parse error", -32600: "invalid request", -32601: "method not found", -32602: "invalid params",
    -32603: "internal error", -32002: "resource not found",
}  # fmt: skip
"""JSON-RPC 2.0, 5.1, and MCP 2025-06-18, Resources."""


def error_facts(error: object) -> list[Fact]:
    """Describes an error: its message, and its code with the name in the specification."""
    if not isinstance(error, Mapping):
        return [fact("", value_text(error), "bad", lines=6)]
    message = error.get("message")
    rows = [fact("", message, "bad", lines=6)] if isinstance(message, str) else []
    code = error.get("code")
    if isinstance(code, int) and code in _CODES:
        rows.append(Fact("code", (FactPart(str(code), "mono"), FactPart(f"  {_CODES[code]}", "dim")), mono_name=True))
    # An unknown code is listed with the other members.
    skip = ("message", "code") if isinstance(code, int) and code in _CODES else ("message",)
    return rows + value_facts(error, skip=skip)


def task_facts(result: Mapping[str, Any]) -> list[Fact]:
    """Describes the status of a task in an answer; empty for other answers.

    Args:
        result: result of an answer; new tasks of 2025-11-25 are in its member `task`.
    """
    task = result["task"] if isinstance(result.get("task"), Mapping) else result
    if not isinstance(task.get("taskId"), str):
        return []
    rows = [fact("Task", task["taskId"], "mono", middle=True)]
    status = task.get("status")
    if isinstance(status, str):
        rows.append(fact("Status", safe_line(status, 80), "bad" if status == "failed" else "strong"))
    if isinstance(task.get("statusMessage"), str):
        rows.append(fact("", task["statusMessage"], lines=4))
    if isinstance(task.get("error"), Mapping):
        rows += error_facts(task["error"])
    skip = ("taskId", "status", "statusMessage", "error", "result", "resultType", "_meta")
    return rows + value_facts(task, skip=skip)


def input_facts(result: Mapping[str, Any]) -> list[Fact]:
    """Lists the inputs that an answer requests before it gives a result; empty for other answers."""
    if result.get("resultType") != INPUT_REQUIRED:
        return []
    asked = result.get("inputRequests")
    rows: list[Fact] = []
    for key, one in asked.items() if isinstance(asked, Mapping) else ():
        params = one.get("params") if isinstance(one, Mapping) else None
        params = params if isinstance(params, Mapping) else {}
        method = one.get("method") if isinstance(one, Mapping) else None
        rows.append(fact(safe_line(str(key), 80), safe_line(str(method or "nothing"), 80), "mono", mono_name=True))
        if isinstance(params.get("message"), str):
            rows.append(fact(" ", params["message"], lines=6))
        schema = params.get("requestedSchema")
        fields = schema.get("properties") if isinstance(schema, Mapping) else None
        if isinstance(fields, Mapping) and fields:
            rows.append(fact(" ", f"fields {safe_line(', '.join(map(str, fields)), 200)}", "dim", lines=2))
        if isinstance(params.get("url"), str):
            rows.append(fact(" ", params["url"], "mono", lines=2))
    # The state is opaque to the client, so only its length says something.
    state = result.get("requestState")
    if isinstance(state, str):
        rows.append(fact("State", f"{formats.count_of(len(state), 'character')}, sent back by the retry", "dim"))
    return rows or [fact("", "It asks for input but lists no question.", "warn")]


def hello_facts(values: Mapping[str, Any], who: str) -> list[Fact]:
    """Describes a client or server at its connection: name, version, protocol, capabilities.

    Args:
        values: parameters or result of `initialize`.
        who: `clientInfo` or `serverInfo`.
    """
    rows: list[Fact] = []
    info = values.get(who)
    if isinstance(info, Mapping):
        name = safe_line(str(info.get("title") or info.get("name") or "not named"), 200)
        rows.append(fact("Name", name, "strong"))
        if info.get("version"):
            rows.append(fact("Version", safe_line(str(info["version"]), 80), "mono"))
    if values.get("protocolVersion"):
        rows.append(fact("MCP version", safe_line(str(values["protocolVersion"]), 80), "mono"))
    can = values.get("capabilities")
    if isinstance(can, Mapping):
        words = ", ".join(_ability_words(str(key), inner) for key, inner in can.items())
        rows.append(fact("Capabilities", safe_line(words, 400) or "no optional ones", lines=3))
    skip = (who, "protocolVersion", "capabilities", "instructions", "_meta")
    return rows + value_facts(values, skip=skip)


def _ability_words(key: str, inner: object) -> str:
    more = [str(name) for name, on in inner.items() if on] if isinstance(inner, Mapping) else []
    return f"{key} ({', '.join(more)})" if more else key


_REQUESTS_BACK = 50_000  # a search of the whole capture would delay each selection
_MOST_READ = 300  # limit of earlier requests whose payload is read


def cancelled_facts(subject: Subject, values: Mapping[str, Any]) -> list[Fact]:
    """Describes the request that a cancellation ends, and the reason; `values` are its parameters."""
    wanted = values.get("requestId")
    request = _request_by_rpc_id(subject, wanted)
    reason = values.get("reason")
    rows = [fact("Reason", reason, lines=4)] if isinstance(reason, str) and reason else []
    if request is None:
        return [fact("Cancels", f"request {value_text(wanted)}, not in the log", "warn"), *rows]
    asked = FactPart(f"  asked by {sender_of(subject.capture, request)}", "dim")
    parts = (message_part(request), asked) if subject.capture.string("sender", request) else (message_part(request),)
    return [Fact("Cancels", parts), *rows]


def request_by_token(subject: Subject, token: object) -> int | None:
    """Returns the latest earlier request with this progress token."""
    if rpc_id(token) is None:
        return None
    for row in _earlier_requests(subject)[:_MOST_READ]:
        params = subject.capture.records.payload(row).get("params")
        meta = params.get("_meta") if isinstance(params, Mapping) else None
        if isinstance(meta, Mapping) and rpc_id(meta.get("progressToken")) == rpc_id(token):
            return row
    return None


def _earlier_requests(subject: Subject) -> list[int]:
    """Returns earlier requests in the same space, latest first."""
    capture = subject.capture
    low = max(0, subject.message - _REQUESTS_BACK)
    columns = capture.columns
    here = columns["kind"][low : subject.message] == (capture.strings.find("mcp/request") or -1)
    here &= columns["space"][low : subject.message] == columns["space"][subject.message]
    # Ids and tokens may be reused, so the latest request counts.
    return (np.flatnonzero(here) + low)[::-1].tolist()


def _request_by_rpc_id(subject: Subject, wanted: object) -> int | None:
    if rpc_id(wanted) is None:
        return None
    return next((r for r in _earlier_requests(subject)[:_MOST_READ] if _payload_id(subject, r) == rpc_id(wanted)), None)


def _payload_id(subject: Subject, row: int) -> str | None:
    return rpc_id(subject.capture.records.payload(row).get("id"))
