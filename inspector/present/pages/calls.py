"""Overview sections of calls: requests, results, proposals, verdicts, notifications, sampling, prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.analysis.states.state_pass import MessageState
from inspector.present import formats
from inspector.present.call_facts import (
    acted_facts,
    addressed_facts,
    answer_facts,
    cancelled_facts,
    capable_facts,
    error_facts,
    exit_code_in,
    hello_facts,
    input_facts,
    origin_facts,
    proposal_fact,
    request_by_token,
    request_facts,
    task_facts,
)
from inspector.present.facts import Fact, FactPart, Ink, fact, message_part, value_facts, words_fact
from inspector.present.lifecycle_facts import seen_label, seen_now_facts, signal_facts
from inspector.present.moved_result import MOST_SHOWN, moved_result_of
from inspector.present.pages.content import blocks_part, content_part
from inspector.present.pages.factories import (
    alone_link,
    chain_part,
    chain_section,
    fact_card,
    facts_part,
    link_part,
    section_part,
    text_part,
)
from inspector.present.pages.parts import Part
from inspector.present.pages.related import seen_now
from inspector.present.pages.texts import text_section
from inspector.present.pages.tools import code_section, spawn_sections, tool_sections
from inspector.present.reasoning_facts import thought_facts
from inspector.present.sub_agent_facts import sub_agent_of
from inspector.present.subject import Subject, sender_of, text_of
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.calls import unwrap_payload
from inspector.protocol.payloads.content_blocks import block_of
from inspector.protocol.payloads.outline import nested_value, value_text
from inspector.protocol.payloads.result_content import content_of
from inspector.protocol.payloads.server_listings import listing_in
from inspector.protocol.secrets.masking import mask_secrets
from inspector.store.columns.flags import Flag


def build_request(subject: Subject) -> list[Part]:
    """Returns the sections of a request: outcome, arguments, result, preceding thought, chain and addressees."""
    sections: list[Part] = []
    if (subject.method or "").startswith("notifications/"):
        sections += notification_sections(subject)
    else:
        silent = (
            subject.analysis.states.state_of(subject.message) is MessageState.NONE
        )  # a notification in all but its method's name
        # the finding right above states it
        if not silent and (subject.document.live or not subject.has_finding(*_WAITING_FINDINGS)):
            card = fact_card(request_facts(subject), name="requestState", label="State")
            sections.append(section_part("State", card))
        agent = sub_agent_of(subject)
        if agent is not None:
            sections += spawn_sections(subject, agent)
        else:
            result = result_section(subject)
            failed = subject.answer is not None and bool(subject.capture.flags_of(subject.answer) & Flag.ERROR)
            sections += result if failed else []
            sections += call_section(subject, subject.payload, "Arguments")
            sections += [] if failed else result
    sections += thought_sections(subject)
    sections += chain_section(subject)
    if subject.to or subject.capture.string("space", subject.message):
        rows = addressed_facts(subject)
        if rows:
            sections.append(section_part("Addressed to", facts_part(rows, name="addressedTo", label="Addressed to")))
    return sections


# Characters; less for a failure, because the arguments follow.
_MAX_RESULT_LENGTH, _MAX_ERROR_LENGTH = 1_500, 600


def result_section(subject: Subject) -> list[Part]:
    """Returns a section with the head of a call's result or error; empty without text."""
    if subject.answer is None:
        return []
    failed = bool(subject.capture.flags_of(subject.answer) & Flag.ERROR)
    text = text_of(subject.capture, subject.answer).rstrip().lstrip("\r\n")  # the indent of the first line stays
    if not text:
        return []
    answer = subject.answer
    label = "Failure" if failed else "Result"
    link = link_part(f"No. {answer + 1}", "message", answer, name="resultLink")
    shown = formats.truncate(text, _MAX_ERROR_LENGTH if failed else _MAX_RESULT_LENGTH)
    mono = not failed or exit_code_in(text) is not None
    return [section_part(label, text_part(shown, name="resultText", label=label, mono=mono), action=link)]


def asked_section(subject: Subject) -> list[Part]:
    """Returns the section of a result's call with its arguments; empty for unseen calls and for other methods."""
    request = next((m for m in subject.causes if subject.capture.string("kind", m) == kinds.REQUEST), None)
    if request is None or subject.tool is None:
        return []
    asked = Subject(subject.document, request)
    return call_section(asked, asked.payload, "Call")


def call_section(subject: Subject, payload: Mapping[str, Any], label: str) -> list[Part]:
    """Returns the sections of a proposed or requested call: its arguments, else its parameters.

    Proposals of the MEUP draft are unwrapped first.
    """
    payload = unwrap_payload(payload)
    params = payload.get("params")
    method = payload.get("method")
    if params is None:
        # A bare method is complete, and without a method there is no call to describe.
        return []
    if not isinstance(params, Mapping):
        card = fact_card([fact("params", value_text(params), "mono", lines=8)], name="arguments", label=label)
        return [section_part(label, card)]
    if method == "initialize" and not subject.capture.foreign_rpc.is_foreign(subject.message):
        rows = hello_facts(params, "clientInfo")
        return [section_part("Client", fact_card(rows, name="arguments", label="Client", name_width=80))]
    if method == "sampling/createMessage":
        return _sampling_sections(params)
    arguments = nested_value(params.get("arguments"))
    if isinstance(arguments, Mapping) and method == "tools/call":
        name = params.get("name")
        if made := tool_sections(name if isinstance(name, str) else None, arguments):
            return made
    if isinstance(arguments, Mapping):
        values, about = arguments, {k: v for k, v in params.items() if k not in ("arguments", "name", "_meta")}
    elif method == "tools/call":
        values, about = {}, {k: v for k, v in params.items() if k not in ("name", "_meta")}
    else:
        values, about = {k: v for k, v in params.items() if k != "_meta"}, {}
        label = label if label != "Arguments" else "Parameters"
    rows = value_facts(values, lines=6)
    if not rows and not about and method not in (None, "tools/call"):
        return []
    if not rows and not about:
        rows = [fact("", "no arguments", "dim")]
    return [section_part(label, fact_card(rows + value_facts(about), name="arguments", label=label))]


def _sampling_sections(params: Mapping[str, Any]) -> list[Part]:
    """Returns the sections of a sampling request to the client's model: the messages, then the parameters."""
    sections = talk_sections(params.get("messages"))
    system = params.get("systemPrompt")
    if isinstance(system, str):
        sections.insert(0, section_part("System prompt", text_part(system, name="systemPrompt", label="System")))
    rows = value_facts(params, skip=("messages", "systemPrompt", "_meta"))
    if rows:
        sections.append(section_part("Sampling", fact_card(rows, name="arguments", label="Sampling")))
    return sections


def thought_sections(subject: Subject) -> list[Part]:
    """Returns the section of the sender's last thought before a tool call or proposal; empty without one."""
    rows = thought_facts(subject)
    if not rows:
        return []
    return [section_part("Preceding thought", facts_part(rows, name="thoughtBefore", label="Preceding thought"))]


_MOST_VALUES = 50
_WAITING_FINDINGS = ("request-unanswered", "mcp-unanswered")
_LISTED = {"tools": "tool", "prompts": "prompt", "resources": "resource", "resourceTemplates": "resource template"}


def build_result(subject: Subject) -> list[Part]:
    """Returns the sections of a result: the model's view, its call, chain and content; errors come first."""
    sections: list[Part] = []
    if "transient" in subject.lifecycle.badges:
        label, collapsed = seen_label(subject), subject.lifecycle.collapsed_by is not None
        card = seen_now(subject, name="seenNow", label=label, rows=seen_now_facts(subject), collapsed=collapsed)
        sections.append(section_part(label, card))
    elif subject.lifecycle.consumes is not None or subject.lifecycle.note:
        card = fact_card(signal_facts(subject), name="signal", label="Context signal")
        sections.append(section_part("Context signal", card))
    error = subject.payload.get("error")
    if error is not None:
        sections.append(section_part("Error", fact_card(error_facts(error), name="error", label="Error")))
    content = _content_sections(subject) if "result" in subject.payload else []
    if origin := origin_facts(subject):
        card = facts_part(origin, name="origin", label="Answer of the server")
        content.append(section_part("Answer of the server", card))
    content += _moved_sections(subject)
    asked = asked_section(subject)
    # In a transcript, the chain is the whole conversation so far.
    if subject.flags & (Flag.ERROR | Flag.DERIVED):
        return [*sections, *content, *asked, *answer_section(subject), *chain_section(subject)]
    return [*sections, *answer_section(subject), *asked, *chain_section(subject), *content]


def _moved_sections(subject: Subject) -> list[Part]:
    """Returns the section of a result that its program moved to a file."""
    moved = moved_result_of(subject.capture, subject.message)
    if moved is None:
        return []
    name = f"{moved.path.parent.name}/{safe_line(moved.path.name)}"
    if moved.size is None:
        told = [fact("", f"{name} is not in the session's folder.", "dim")]
        return [section_part("Full result", facts_part(told, name="movedResult", label="Full result"))]
    size = formats.size(moved.size)
    label = f"Full result, {size}" if moved.is_whole else f"Full result, the first {formats.size(MOST_SHOWN)} of {size}"
    return [section_part(f"{label}: {name}", text_part(moved.text, name="movedResult", label="Full result"))]


def _content_sections(subject: Subject) -> list[Part]:
    result = subject.payload["result"]
    if isinstance(result, Mapping) and (task := task_facts(result)):
        card = fact_card(task, name="task", label="Task", name_width=80)
        inner = result.get("result")
        return [section_part("Task", card), *([content_section(subject, inner)] if isinstance(inner, Mapping) else [])]
    if isinstance(result, Mapping) and (asked := input_facts(result)):
        return [section_part("Asks for input", fact_card(asked, name="asksInput", label="Asks for input"))]
    is_foreign = subject.capture.foreign_rpc.is_foreign(subject.message)
    make = None if is_foreign else _BY_METHOD.get(subject.method or "")
    if make is not None and isinstance(result, Mapping) and (made := make(subject, result)):
        return made
    return [content_section(subject, result)]


def content_section(subject: Subject, result: object) -> Part:
    """Makes the section of a result's content, with its available views."""
    content = content_of(result)
    if content.text and not content.failed and not content.others and content.value is None:
        code = code_section(subject, content.text)
        if code is not None:
            return code
    listing = listing_in(result)
    label = "The tool failed" if content.failed else "Content"
    if listing is not None:
        noun = _LISTED[listing[0]]
        label += f", {formats.count_of(listing[1].total, noun)}"
        return section_part(label, content_part(content, listing[1]), name="content")
    if content.table is not None:
        label += f", {formats.count_of(content.table.total, 'record')}"
    elif content.others or len(content.blocks) > 1:
        label += f", {formats.count_of(len(content.blocks) or len(content.others), 'block')}"
    view = content_part(content, is_output=subject.method == "tools/call" and not _answers_agent(subject))
    if content.structured is None or content.table is not None:
        return section_part(label, view, name="content")
    rows = value_facts(content.structured) if isinstance(content.structured, Mapping) else [
        fact("", value_text(content.structured), "mono", lines=8)
    ]  # fmt: skip
    other = fact_card(rows, name="structured", label="Structured content")
    body = section_part("Structured content", other, name="structuredContent")
    return section_part(label, view, body, name="content")


def _answers_agent(subject: Subject) -> bool:
    """Returns True for the answer of a sub-agent: the text of a model."""
    records, transcripts = subject.capture.records, subject.capture.transcripts
    calls = (records.envelope_id(cause) for cause in subject.causes[:1]) if subject.is_derived else ()
    return any(call is not None and transcripts.started_by(call) is not None for call in calls)


def _initialize_sections(_subject: Subject, result: Mapping[str, Any]) -> list[Part]:
    rows = hello_facts(result, "serverInfo")
    sections: list[Part] = [section_part("Server", fact_card(rows, name="server", label="Server", name_width=80))]
    if isinstance(result.get("instructions"), str):
        text = result["instructions"]
        sections.append(text_section(text, declared=False, label="Instructions", name="instructions"))
    return sections


def _completion_sections(_subject: Subject, result: Mapping[str, Any]) -> list[Part]:
    completion = result.get("completion")
    if not isinstance(completion, Mapping) or not isinstance(completion.get("values"), list):
        return []
    values = completion["values"]
    rows = [fact("", value_text(value), "mono") for value in values[:_MOST_VALUES]] or [fact("", "none", "dim")]
    total = completion.get("total")
    more = total - len(values) if isinstance(total, int) and total > len(values) else 0
    if more or completion.get("hasMore") is True or len(values) > _MOST_VALUES:
        known = more + max(0, len(values) - _MOST_VALUES)
        rows.append(fact("", f"{formats.number(known)} more" if known else "and more", "dim"))
    facts = facts_part(rows, name="completions", label="Completions")
    return [section_part(f"Completions, {len(values)}", facts, name="content")]


def _prompt_sections(_subject: Subject, result: Mapping[str, Any]) -> list[Part]:
    sections = talk_sections(result.get("messages"))
    if sections and isinstance(result.get("description"), str):
        about = facts_part([fact("", result["description"], lines=4)], name="promptAbout", label="About")
        sections.insert(0, section_part("Prompt", about))
    return sections


def _sampled_sections(_subject: Subject, result: Mapping[str, Any]) -> list[Part]:
    rows = value_facts(result, skip=("content", "role", "_meta"))
    sections = talk_sections([result])
    if rows and sections:
        sections.append(section_part("Model", fact_card(rows, name="sampled", label="Model")))
    return sections


_BY_METHOD = {
    "initialize": _initialize_sections,
    "completion/complete": _completion_sections,
    "prompts/get": _prompt_sections,
    "sampling/createMessage": _sampled_sections,
}


def answer_section(subject: Subject) -> list[Part]:
    """Returns the section that names the call of a response and the evidence; empty if the call is unknown."""
    rows = answer_facts(subject)
    if not rows:
        return []
    return [section_part("Answers", facts_part(rows, name="answers", label="Answers", name_width=66))]


def build_proposal(subject: Subject) -> list[Part]:
    """Returns the sections of a proposal: the call, its outcome, its actor and other candidates."""
    sections = call_section(subject, subject.payload, "Proposed call") or [_call_without_arguments(subject)]
    sections += thought_sections(subject)
    made = [proposal_fact(subject)]
    state = facts_part(made, name="proposalState", label="State")
    alone = len(subject.chain) < 2
    body = [state] if alone else [state, chain_part(subject, label="Outcome")]
    link = None if alone else alone_link(subject)
    sections.append(section_part("Outcome", *body, action=link))
    acted = acted_facts(subject)
    if acted:
        sections.append(section_part("Decisions", facts_part(acted, name="whoActed", label="Decisions")))
    could = capable_facts(subject, subject.message)
    if could:
        sections.append(
            section_part("Required capability", facts_part(could, name="whoCould", label="Required capability"))
        )
    return sections


def _call_without_arguments(subject: Subject) -> Part:
    """Makes the section of a call without arguments."""
    method, target = subject.method, subject.target
    rows = [words_fact("The proposal names no call.")]
    if method or target:
        rows = [
            Fact("", (FactPart(f"{safe_line(target or method or '', 120)}  ", "mono"), FactPart("no arguments", "dim")))
        ]
    return section_part("Proposed call", fact_card(rows, name="arguments", label="Proposed call"))


def build_verdict(subject: Subject) -> list[Part]:
    """Returns the sections of a reject or withdraw: reason, proposal, and other verdicts on it."""
    proposal = next((m for m in subject.causes if subject.capture.string("kind", m) == kinds.PROPOSAL), None)
    sections: list[Part] = []
    rows = value_facts(subject.payload)
    if rows:
        label = "Rejected" if subject.kind == kinds.REJECT else "Withdrawn"
        sections.append(section_part(label, fact_card(rows, name="verdict", label=label)))
    if proposal is not None:
        payload = mask_secrets(subject.capture.records.payload(proposal))
        sections += call_section(subject, payload, "Proposed call")
        by = Fact("Proposed by", (FactPart(sender_of(subject.capture, proposal) + ", "), message_part(proposal)))
        acted = [by, *acted_facts(Subject(subject.document, proposal))]
        sections.append(section_part("Decisions", facts_part(acted, name="whoActed", label="Decisions")))
    sections += chain_section(subject, "Outcome")
    return sections


_BAD_LEVELS = frozenset({"error", "critical", "alert", "emergency"})
_LISTS = {
    "notifications/tools/list_changed": "The tools of {} changed.",
    "notifications/prompts/list_changed": "The prompts of {} changed.",
    "notifications/resources/list_changed": "The resources of {} changed.",
    "notifications/roots/list_changed": "The roots of {} changed.",
    "notifications/initialized": "{} is ready; the handshake is complete.",
}


def notification_sections(subject: Subject) -> list[Part]:
    """Returns the sections of a notification, without chain and envelope."""
    params = subject.payload.get("params")
    values: Mapping[str, Any] = params if isinstance(params, Mapping) else {}
    method = subject.method or ""
    if method == "notifications/progress":
        return _progress_sections(subject, values)
    if method == "notifications/cancelled":
        rows, skip = cancelled_facts(subject, values), ("requestId", "reason")
    elif method == "notifications/message":
        return _logged_sections(values)
    elif method == "notifications/resources/updated":
        rows, skip = [words_fact("This resource changed."), fact("Resource", str(values.get("uri")), "mono")], ("uri",)
    elif method in _LISTS:
        rows, skip = [words_fact(_LISTS[method].format(_speaker(subject, method)))], ()
    else:
        rows, skip = [words_fact("A notification; it has no answer.")], ()
    rows += value_facts(values, skip=(*skip, "_meta"))
    return [section_part("Notification", fact_card(rows, name="notification", label="Notification"))]


def _speaker(subject: Subject, method: str) -> str:
    """Returns the sender; in plain MCP traffic the side that may send the method."""
    if subject.sender:
        return safe_line(subject.shown_sender, 80)
    if method == "notifications/initialized":
        return "The client"
    return "the client" if method == "notifications/roots/list_changed" else "the server"


def _progress_sections(subject: Subject, values: Mapping[str, Any]) -> list[Part]:
    done, total = values.get("progress"), values.get("total")
    rows: list[Fact] = []
    if isinstance(values.get("message"), str):
        rows.append(words_fact(values["message"]))
    if isinstance(done, int | float) and isinstance(total, int | float) and total > 0:
        rows.append(fact("Done", f"{value_text(done)} of {value_text(total)}, {done / total:.0%}".replace("%", " %")))
    elif done is not None:
        rows.append(fact("Done", value_text(done)))
    request = request_by_token(subject, values.get("progressToken"))
    token = value_text(values.get("progressToken"))
    if request is not None:
        rows.append(Fact("Of", (message_part(request), FactPart(f"  token {token}", "dim"))))
    else:
        rows.append(fact("Token", token, "mono"))
    rows += value_facts(values, skip=("progress", "total", "message", "progressToken", "_meta"))
    return [section_part("Progress", fact_card(rows, name="progress", label="Progress"))]


def _logged_sections(values: Mapping[str, Any]) -> list[Part]:
    level = str(values.get("level") or "log")
    ink: Ink = "bad" if level in _BAD_LEVELS else "warn" if level == "warning" else "plain"
    rows = [fact("Level", safe_line(level, 40), ink)]
    if isinstance(values.get("logger"), str):
        rows.append(fact("Logger", safe_line(values["logger"], 200), "mono"))
    data = values.get("data")
    inner = nested_value(data)
    sections: list[Part] = []
    if isinstance(inner, Mapping):
        rows += value_facts(inner)
    elif data is not None:
        text = text_part(value_text(data), name="logText", label="Logged", mono=not isinstance(data, str))
        sections.append(section_part("Text", text))
    rows += value_facts(values, skip=("level", "logger", "data", "_meta"))
    return [section_part("Logged", fact_card(rows, name="logged", label="Logged")), *sections]


_MOST_MESSAGES = 20


def talk_sections(messages: object) -> list[Part]:
    """Returns a section for each message, labelled by role; at most twenty, empty for other values."""
    if not isinstance(messages, list):
        return []
    sections: list[Part] = []
    for message in messages[:_MOST_MESSAGES]:
        if not isinstance(message, Mapping):
            continue
        role = safe_line(str(message.get("role") or "message"), 40)
        content = message.get("content", message)
        blocks = [block_of(block) for block in (content if isinstance(content, list) else [content])]
        part = blocks_part(blocks, markdown=False)
        sections.append(section_part(role.capitalize(), part, name=f"said{len(sections)}"))
    if len(messages) > _MOST_MESSAGES:
        rows = [fact("", f"{len(messages) - _MOST_MESSAGES} more, see Tree", "dim")]
        sections.append(section_part("More", facts_part(rows, name="moreSaid", label="More")))
    return sections
