"""Proposals and what is said about them: the proposed call, what became of it, who acted, who could have."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.analysis.fulfilments import has_failed
from inspector.analysis.pending import pending_age_ns
from inspector.analysis.proposals import ProposalState
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_ROW
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol import kinds
from inspector.protocol.capabilities import Asked, first_covering
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.overview.behind import thought_sections
from inspector.ui.panels.details.overview.requests import call_section
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts, words_fact
from inspector.ui.panels.details.subject import Subject, linked
from inspector.ui.panels.details.words import delta, participants_of, sender_of

_MOST_NAMES = 6
_MOST_ACTS = 20


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a proposal."""
    subject = sheet.subject
    sections = call_section(sheet, subject.payload, "Proposed call") or [_bare_call(sheet)]
    sections += thought_sections(sheet)
    state = sheet.facts([_state(subject)], name="proposalState", label="State", live=lambda: [_state(subject)])
    alone = len(subject.chain) < 2
    body: list[QWidget] = [state] if alone else [state, sheet.chain(label="What became of it")]
    link = None if alone else sheet.alone_link()
    sections.append(sheet.section("What became of it", *body, action=link))
    acted = _acted(subject)
    if acted:
        sections.append(sheet.section("Who acted", sheet.facts(acted, name="whoActed", label="Who acted")))
    could = _could(subject, subject.message)
    if could:
        sections.append(sheet.section("Who could have", sheet.facts(could, name="whoCould", label="Who could have")))
    return sections


def _bare_call(sheet: Sheet) -> QWidget:
    """A call that names no arguments."""
    method, target = sheet.subject.method, sheet.subject.target
    rows = [words_fact("It does not say what is to be called.")]
    if method or target:
        rows = [Fact("", (Part(f"{plain(target or method or '', 120)}  ", "mono"), Part("no arguments", "dim")))]
    return sheet.section("Proposed call", sheet.fact_card(rows, name="arguments", label="Proposed call"))


def build_verdict(sheet: Sheet) -> list[QWidget]:
    """Sections of a reject or withdraw."""
    subject = sheet.subject
    proposal = next((m for m in subject.causes if subject.capture.string("kind", m) == kinds.PROPOSAL), None)
    sections: list[QWidget] = []
    rows = value_facts(subject.payload)
    if rows:
        label = "Rejected" if subject.kind == kinds.REJECT else "Withdrawn"
        sections.append(sheet.section(label, sheet.fact_card(rows, name="verdict", label=label)))
    if proposal is not None:
        payload = mask_secrets(subject.capture.payload(proposal))
        sections += call_section(sheet, payload, "Proposed call")
        by = Fact("Proposed by", (Part(sender_of(subject.capture, proposal) + ", "), message_part(proposal)))
        sections.append(
            sheet.section(
                "Who acted",
                sheet.facts([by, *_acted(Subject(subject.document, proposal))], name="whoActed", label="Who acted"),
            )
        )
    sections += sheet.chain_section("What became of it")
    return sections


_WORDS = {kinds.REQUEST: "Fulfilled by", kinds.REJECT: "Rejected by", kinds.WITHDRAW: "Withdrawn by"}
_SAID = {
    ProposalState.FULFILLED: "Fulfilled; the answer has not come.",
    ProposalState.ANSWERED: "Fulfilled, and answered.",
    ProposalState.WITHDRAWN: "Withdrawn by its proposer.",
    ProposalState.REJECTED: "Rejected; others may still fulfil it.",
}


def _state(subject: Subject) -> Fact:
    """What became of a proposal, as a sentence; how long an open one waits goes by the clock."""
    analysis = subject.analysis
    said = _SAID.get(ProposalState(int(analysis.correlation.columns["proposal_state"][subject.message])))
    if said is not None and has_failed(analysis, subject.message):
        return fact("", "Fulfilled, but the call failed.", "bad", lines=2)
    if said is not None:
        return fact("", said, lines=2)
    age = pending_age_ns(analysis, subject.message)
    if analysis.now_ns is not None:
        waited = f", {formats.duration(age)} after it was made" if age is not None else ""
        return fact("", f"Nobody has acted on it yet{waited}.", "warn", lines=2)
    waited = f" in the {formats.duration(age)} until the last record" if age is not None else " in this capture"
    return fact("", f"Nobody acted on it{waited}.", "dim", lines=2)


def _acted(subject: Subject) -> list[Fact]:
    """Who fulfilled, rejected or withdrew a proposal, each with its reason and time, and what came of fulfilling it."""
    rows: list[Fact] = []
    for effect in subject.effects[:_MOST_ACTS]:
        kind = subject.capture.string("kind", effect) or ""
        if kind not in _WORDS:
            continue
        word = _WORDS[kind]
        sender = subject.capture.string("sender", effect)
        if kind == kinds.WITHDRAW and sender != subject.sender:
            word = "Withdrawal by"  # only its proposer may (docs/protocols.md 5)
        reason = subject.capture.payload(effect).get("reason") if kind != kinds.REQUEST else None
        rows.append(_act(subject, word, effect, reason))
        answer = int(subject.analysis.correlation.columns["answer"][effect]) if kind == kinds.REQUEST else NO_ROW
        if answer != NO_ROW:
            failed = bool(subject.capture.flags(answer) & Flag.ERROR)
            rows.append(_act(subject, "Failed at" if failed else "Answered by", answer, None))
    if len(subject.effects) > _MOST_ACTS:
        rows.append(fact("", f"{len(subject.effects) - _MOST_ACTS} more, see Related", "dim"))
    return rows


def _act(subject: Subject, word: str, message: int, reason: object) -> Fact:
    parts = [Part(f"{sender_of(subject.capture, message)}, "), message_part(message)]
    if isinstance(reason, str) and reason:
        parts.append(Part(f"  {plain(mask_text(reason), 200)}", "dim"))
    return Fact(word, tuple(parts), right=delta(subject.delta_ns(message)))


def _could(subject: Subject, proposal: int) -> list[Fact]:
    """Which capability fulfilling needs and who held it when it was proposed, by what the gateway announced."""
    analysis, capture = subject.analysis, subject.capture
    names = [linked(analysis, column, proposal) for column in ("method", "target")]
    call = ":".join([kinds.REQUEST, *filter(None, names)])
    space = int(capture.columns["space"][proposal])
    asked = Asked(call if ":" in (capture.string("kind_raw", proposal) or "") else kinds.REQUEST,
                  capture.payload(proposal), capture.to(proposal))  # fmt: skip
    able, known = [], False
    for participant in participants_of(analysis, space):
        held = analysis.capabilities.held(space, participant.name, proposal)
        known = known or held is not None
        if held is not None and first_covering((one.capability for one in held), asked)[0]:
            able.append(participant.name)
    if not known:
        return []
    shown = ", ".join(plain(name, 60) for name in able[:_MOST_NAMES]) + ("…" if len(able) > _MOST_NAMES else "")
    rows = [
        fact("Capability", call, "mono", middle=True),
        fact("Held by", shown or "nobody", tooltip="\n".join(able) or None),
    ]
    proposer = capture.string("sender", proposal) or ""
    if analysis.capabilities.held(space, proposer, proposal) is not None:
        rows.append(fact(f"{plain(proposer, 40)} may", "run it itself" if proposer in able else "propose only"))
    return rows
