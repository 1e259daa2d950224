"""Lifecycle: the story of a result under the transient-context protocol (protocols.md 13), step by step."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.protocol import kinds
from inspector.ui.panels.details.chain_view import Link
from inspector.ui.panels.details.facts import Fact, fact
from inspector.ui.panels.details.sheet import Sheet, words_fact
from inspector.ui.panels.details.subject import Subject, name_of
from inspector.ui.panels.details.words import delta
from inspector.ui.wire_text import plain


def sections(sheet: Sheet) -> list[QWidget]:
    """Sections of the page."""
    subject = sheet.subject
    story, hints = subject.story, subject.analysis.transients.hints(subject.message)
    made: list[QWidget] = []
    steps = _steps(subject)
    if len(steps) > 1 or story.badges:
        made.append(sheet.section("Life", sheet.rail(steps, label="Life", name="life")))
    if story.summary is not None:
        when = "What the model sees now" if story.collapsed_by is not None else "Once it is consumed, the model sees"
        card = sheet.fact_card([words_fact(plain(story.summary, 2_000))], name="summary", label=when)
        made.append(sheet.section(when, card))
    if "transient" in story.badges and story.collapsed_by is None:
        pending = fact("", "Still pending: no tool has consumed it, so the model sees all of it.", lines=3)
        made.append(sheet.section("Pending", sheet.facts([pending], name="pending", label="Pending")))
    if story.note:
        made.append(sheet.section("Note", sheet.facts([fact("", story.note, lines=3)], name="lifeNote", label="Note")))
    if hints:
        rows = [
            Fact(plain(tool, 120), fact("", f"→ {plain(consumer, 120)}", "mono").parts, mono_name=True)
            for tool, consumer in hints[:50]
        ]
        made.append(sheet.section("Pairs it registered", sheet.facts(rows, name="pairs", label="Pairs it registered")))
    if not made:
        made.append(
            sheet.section(
                "Lifecycle",
                sheet.facts([fact("", _why_none(subject), "dim", lines=3)], name="noLife", label="Lifecycle"),
            )
        )
    return made


def _steps(subject: Subject) -> list[Link]:
    """What happened to the result, in the order it happened."""
    story, message = subject.story, subject.message
    steps: list[Link] = []
    if story.hinted_by is not None:
        tooltip = f"registered that {story.tool or 'this tool'} may be collapsed"
        steps.append(_step(subject, story.hinted_by, "hinted", tooltip))
    if story.consumes is not None:
        steps.append(
            _step(subject, story.consumes, "collapsed", "was consumed by this result and is shown as its summary")
        )
    own = [word for word in story.badges if word != "collapsed"]
    if subject.analysis.transients.hints(message):
        own.append("hinted")
    steps.append(_step(subject, message, ", ".join(own)))
    if story.collapsed_by is not None:
        steps.append(_step(subject, story.collapsed_by, "consumed it", "so that only its summary is left"))
    return sorted(steps, key=lambda step: step.message)


def _step(subject: Subject, message: int, relation: str, tooltip: str = "") -> Link:
    name, mono = name_of(subject.analysis, message)
    own = message == subject.message
    when = "this" if own else delta(subject.delta_ns(message))
    kind = subject.capture.string("kind", message) or ""
    return Link(message, kind, when, plain(name, 200), mono, relation, own, tooltip=tooltip)


def _why_none(subject: Subject) -> str:
    if subject.kind != kinds.RESPONSE:
        return "Only results of tool calls have a lifecycle: they may be marked transient, consumed and collapsed."
    if subject.tool is None:
        return "This result answers no tool call, so nothing can collapse it."
    return "Its server said nothing about its lifecycle: the model keeps all of it."
