"""What a response answers: its tool, resource, prompt or completion, and by which rule that is known.

A response names neither method nor tool from v0.2 on (docs/protocols.md 1 and 3), so that whoever reads one alone is
told where its name comes from, and told so when it came before its request or when that was never seen.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.analysis.correlation import ToolRule
from inspector.capture.hashes import NO_ROW
from inspector.present import formats
from inspector.protocol import kinds
from inspector.ui.panels.details.facts import Fact, Ink, Part, fact
from inspector.ui.panels.details.sheet import Sheet, message_part
from inspector.ui.panels.details.subject import Subject, linked

_NOUNS = {"tools/call": "Tool", "prompts/get": "Prompt", "completion/complete": "Completion"}
_LATER = "It is looked for again whenever a request comes."


def answer_section(sheet: Sheet) -> list[QWidget]:
    """The section of a response."""
    rows = answer_facts(sheet.subject)
    if not rows:
        return []
    return [sheet.section("Answers", sheet.facts(rows, name="answers", label="Answers", name_width=66))]


def answer_facts(subject: Subject) -> list[Fact]:
    """Name, value and rule of what a response answers."""
    columns = subject.analysis.correlation.columns
    rule = ToolRule(int(columns["rule"][subject.message]))
    cause = int(columns["cause"][subject.message])
    if rule is ToolRule.NONE and cause == NO_ROW:
        return []
    if rule is ToolRule.UNKNOWN or not subject.method:
        return _unknown(subject, cause)
    noun, name = "Method", subject.method
    if subject.target:
        name = subject.target
        noun = _NOUNS.get(subject.method, "Resource")
    rows = [fact(noun, name, "mono", middle=True)]
    if subject.target and noun in ("Resource", "Completion"):
        rows.append(fact("Method", subject.method, "mono"))
    rows.append(Fact("Named by", _named_by(subject, rule, cause)))
    return rows + _order(subject, cause)


def _named_by(subject: Subject, rule: ToolRule, cause: int) -> tuple[Part, ...]:
    link = (Part(", request "), message_part(cause)) if cause != NO_ROW else ()
    if rule is ToolRule.KIND:
        return (Part("its own kind"), *link)
    if rule is ToolRule.PAYLOAD:
        return (Part("its own payload"), *link)
    if rule is ToolRule.RPC_ID:
        return (Part("the JSON-RPC id it shares with "), message_part(cause))
    proposal = _naming_proposal(subject, cause)
    if proposal is not None:
        return (Part("proposal "), message_part(proposal), Part(", which request "), message_part(cause),
                Part(" fulfils"))  # fmt: skip
    return (Part("its request "), message_part(cause))


def _naming_proposal(subject: Subject, request: int) -> int | None:
    """The proposal that named the call, where the request itself does not."""
    own = subject.capture.payload(request)
    params = own.get("params")
    if request == NO_ROW or (isinstance(params, dict) and params) or not linked(subject.analysis, "target", request):
        return None
    above = int(subject.analysis.correlation.columns["cause"][request])
    is_proposal = above != NO_ROW and subject.capture.string("kind", above) == kinds.PROPOSAL
    return above if is_proposal else None


def _unknown(subject: Subject, cause: int) -> list[Fact]:
    if cause != NO_ROW:
        parts = (Part("not said, not even by its request "), message_part(cause))
        return [Fact("Method", parts), *_order(subject, cause)]
    ids = subject.capture.correlation_ids(subject.message)
    words = "unknown, its request was not seen"
    if not ids and "id" not in subject.payload:
        words = "unknown, it names no request"
    ink: Ink = "warn"
    return [fact("Tool", words, ink, lines=2), fact("", _LATER, "dim", lines=2)]


def _order(subject: Subject, cause: int) -> list[Fact]:
    """That a response was read before its request."""
    if cause == NO_ROW or cause < subject.message:
        return []
    gap = subject.delta_ns(cause)
    clock = ""
    if gap is not None and gap:
        clock = f", by the clock {formats.duration(abs(gap))} {'after' if gap < 0 else 'before'} it"
    return [fact("Order", f"it stands before its request here{clock}", "warn", lines=2)]
