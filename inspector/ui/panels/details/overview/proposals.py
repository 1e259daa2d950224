"""Proposals and what is said about them: the proposed call, what became of it, who acted, who could have."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.protocol import kinds
from inspector.protocol.secrets import mask_secrets
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.overview.requests import call_section
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts
from inspector.ui.panels.details.subject import Subject, linked
from inspector.ui.panels.details.words import delta, matching, participants_of, sender_of
from inspector.ui.wire_text import plain

_MOST_NAMES = 6


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a proposal."""
    subject = sheet.subject
    sections = call_section(sheet, subject.payload, "Proposed call")
    became = sheet.chain(label="What became of it")
    acted = _acted(subject)
    body: list[QWidget] = [became] if len(subject.chain) > 1 else []
    if not acted:
        words = "Nobody has acted on it yet." if subject.document.live else "Nobody acted on it in this capture."
        acted = [fact("", words, "dim")]
        body.append(sheet.facts(acted, name="whoActed", label="Who acted"))
        acted = []
    sections.append(sheet.section("What became of it", *body))
    if acted:
        sections.append(sheet.section("Who acted", sheet.facts(acted, name="whoActed", label="Who acted")))
    could = _could(subject, subject.message)
    if could:
        sections.append(sheet.section("Who could have", sheet.facts(could, name="whoCould", label="Who could have")))
    return sections


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


def _acted(subject: Subject) -> list[Fact]:
    """Who fulfilled, rejected or withdrew a proposal, each with its reason and time."""
    rows: list[Fact] = []
    for effect in subject.effects[:20]:
        kind = subject.capture.string("kind", effect) or ""
        if kind not in _WORDS:
            continue
        word = _WORDS[kind]
        sender = subject.capture.string("sender", effect)
        if kind == kinds.WITHDRAW and sender != subject.sender:
            word = "Withdrawal by"  # only its proposer may (protocols.md 5)
        reason = subject.capture.payload(effect).get("reason") if kind != kinds.REQUEST else None
        parts = [Part(f"{sender_of(subject.capture, effect)}, "), message_part(effect)]
        if isinstance(reason, str) and reason:
            parts.append(Part(f"  {plain(reason, 200)}", "dim"))
        rows.append(Fact(word, tuple(parts), right=delta(subject.delta_ns(effect))))
    return rows


def _could(subject: Subject, proposal: int) -> list[Fact]:
    """Which capability fulfilling needs and who holds it, by what the gateway announced."""
    names = [linked(subject.analysis, column, proposal) for column in ("method", "target")]
    call = ":".join([kinds.REQUEST, *filter(None, names)])
    space = int(subject.capture.columns["space"][proposal])
    everybody = [p for p in participants_of(subject.analysis, space) if p.capabilities is not None]
    if not everybody:
        return []
    able = [p.name for p in everybody if matching(p, call)]
    shown = ", ".join(plain(name, 60) for name in able[:_MOST_NAMES]) + ("…" if len(able) > _MOST_NAMES else "")
    rows = [
        fact("Capability", call, "mono", middle=True),
        fact("Held by", shown or "nobody", tooltip="\n".join(able) or None),
    ]
    proposer = subject.analysis.participants.all.get((space, subject.capture.string("sender", proposal) or ""))
    if proposer is not None and proposer.capabilities is not None:
        words = "run it itself" if proposer.name in able else "propose only"
        rows.append(fact(f"{plain(proposer.name, 40)} may", words))
    return rows
