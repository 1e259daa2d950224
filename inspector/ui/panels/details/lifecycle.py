"""Lifecycle: the story of a result under the transient-context protocol (docs/protocols.md 13), step by step."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QWidget

from inspector.analysis.lifecycles import Attempt, Life, PairStory, alias_seen, life_of
from inspector.capture.flags import Flag
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol import kinds
from inspector.ui.panels.details.chain_view import Link
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.saving_bar import SavingBar
from inspector.ui.panels.details.sheet import Sheet, message_part, words_fact
from inspector.ui.panels.details.subject import Subject, name_of
from inspector.ui.panels.details.words import delta

_CONSUMERS_NAMED = 4


def seen_label(subject: Subject) -> str:
    """The heading of what the model sees of a result as far as the traffic goes."""
    return "What the model sees now" if subject.document.live else "What the model sees at the end of the log"


def sections(sheet: Sheet) -> list[QWidget]:
    """Sections of the page."""
    subject = sheet.subject
    story, life = subject.story, life_of(subject.analysis, subject.message)
    made: list[QWidget] = []
    steps = _steps(subject, life)
    if len(steps) > 1 or story.badges:
        made.append(sheet.section("Life", sheet.rail(steps, label="Life", name="life")))
    if "transient" in story.badges:
        label = "How it came about"
        made.append(sheet.section(label, sheet.facts(_how(subject, life), name="how", label=label)))
        made.append(_seen(sheet, life))
        if story.collapsed_by is None:
            rows = [fact("", sentence, lines=4) for sentence in _pending(subject, life)]
            made.append(sheet.section("Pending", sheet.facts(rows, name="pending", label="Pending")))
    if life.attempts:
        rows = _attempts(life)
        label = "Why these did not collapse it"
        made.append(sheet.section(label, sheet.facts(rows, name="attempts", label=label)))
    if story.consumes is not None:
        made.append(_consumed(sheet, story.consumes))
    if story.note:
        made.append(sheet.section("Note", sheet.facts([fact("", story.note, lines=3)], name="lifeNote", label="Note")))
    if life.pairs:
        rows = [row for pair in life.pairs for row in _pair(subject, pair)]
        if life.pairs_total > len(life.pairs):
            rows.append(fact("", f"{formats.number(life.pairs_total - len(life.pairs))} more pairs, see Tree", "dim"))
        label = "Pairs it registered"
        made.append(sheet.section(label, sheet.facts(rows, name="pairs", label=label)))
    if not made:
        facts = sheet.facts([fact("", _why_none(subject), "dim", lines=3)], name="noLife", label="Lifecycle")
        made.append(sheet.section("Lifecycle", facts))
    return made


def seen_now(sheet: Sheet, *, name: str, label: str, rows: Iterable[Fact], collapsed: bool) -> QWidget:
    """A card on what the model sees of a transient result, with what that saves in tokens."""
    subject = sheet.subject
    saving = life_of(subject.analysis, subject.message).saving
    facts = [*rows]
    if saving is None or saving.before is None or saving.summary is None:
        facts.append(fact("", "Its tokens are not counted yet.", "dim"))
        return sheet.fact_card(facts, name=name, label=label)
    bar = SavingBar(sheet.themes, saving, collapsed=collapsed)
    return sheet.card(sheet.facts(facts, name=name, label=label, in_card=True, name_width=66), bar, name=f"{name}Card")


# How it came about


def _how(subject: Subject, life: Life) -> list[Fact]:
    """The steps of a transient result in words."""
    story, pairing = subject.story, life.pairing
    rows: list[Fact] = []
    if pairing is None:
        rows.append(fact("Paired", "by no hint", "dim"))
    else:
        late = ", after it came" if pairing.message > subject.message else ""
        step = "" if pairing.step is None else f", step {pairing.step}"
        rows.append(Fact("Paired", (Part("by "), message_part(pairing.message), Part(f"{step}{late}", "dim"))))
        rows.append(fact("Pair", f"{plain(pairing.tool, 80)} → {plain(pairing.consumer, 80)}", "mono", lines=2))
    given = "with a summary" if life.summary_given else "without a summary; one is generated"
    rows.append(fact("Marked", f"transient by its server, {given}", lines=2))
    if story.collapsed_by is not None:
        since = subject.delta_ns(story.collapsed_by)
        after = "" if since is None else f", {formats.duration(since)} after it came"
        rows.append(Fact("Collapsed", (Part("by "), message_part(story.collapsed_by), Part(after, "dim"))))
    else:
        rows.append(fact("Collapsed", "not yet", "dim"))
    return rows


# What the model sees


def _seen(sheet: Sheet, life: Life) -> QWidget:
    story = sheet.subject.story
    collapsed = story.collapsed_by is not None
    label = seen_label(sheet.subject) if collapsed else "Once it is consumed, the model sees"
    rows = [words_fact(plain(story.summary or "", 2_000))]
    if not life.summary_given:
        rows.append(fact("", "Generated: its server gave no summary.", "dim"))
    card = seen_now(sheet, name="summary", label=label, rows=rows, collapsed=collapsed)
    return sheet.section(label, card)


def _pending(subject: Subject, life: Life) -> list[str]:
    """That it waits, and for whom."""
    said = ["Still pending: no tool has consumed it, so the model sees all of it."]
    tool = plain(subject.story.tool or "", 120)
    if not tool:
        return [*said, "Its request was never seen, so no hint can be about it."]
    if not life.consumers:
        said.append(f"No hint names {tool}, so nothing can consume it.")
        alias = alias_seen(subject.analysis, subject.message)
        return said if alias is None else [*said, f"The tool alias {plain(alias.text, 120)} would pair it (Settings)."]
    named = [plain(consumer, 80) for consumer in life.consumers[:_CONSUMERS_NAMED]]
    more = life.consumers_total - len(named)
    listed = " or ".join(named) if not more else f"{', '.join(named)} or {formats.count_of(more, 'other tool')}"
    return [*said, f"Can be consumed by {listed}."]


def _consumed(sheet: Sheet, result: int) -> QWidget:
    """What a consumer collapsed."""
    subject = sheet.subject
    name, mono = name_of(subject.analysis, result)
    parts = (message_part(result), Part("  "), Part(plain(name, 80), "mono-dim" if mono else "dim"))
    summary = plain(subject.analysis.transients.summary(result) or "", 400)
    rows = [
        Fact("", parts, right=delta(subject.delta_ns(result))),
        fact("", f"The model sees of it: {summary}", "dim", lines=4),
    ]
    saving = life_of(subject.analysis, result).saving
    if saving is not None and saving.before is not None and saving.summary is not None:
        bar = SavingBar(sheet.themes, saving, collapsed=True)
        card = sheet.card(sheet.facts(rows, name="collapsedIt", label="What it collapsed", in_card=True), bar)
        return sheet.section("What it collapsed", card)
    return sheet.section("What it collapsed", sheet.fact_card(rows, name="collapsedIt", label="What it collapsed"))


# Steps


def _steps(subject: Subject, life: Life) -> list[Link]:
    """What happened to the result, in the order it happened."""
    story, message = subject.story, subject.message
    steps: list[Link] = []
    if story.hinted_by is not None:
        tooltip = f"Registered that {story.tool or 'this tool'} may be collapsed."
        if life.pairing is not None:
            tooltip = f"Paired {life.pairing.tool} with {life.pairing.consumer}."
        steps.append(_step(subject, story.hinted_by, "hinted", tooltip))
    if story.consumes is not None:
        steps.append(
            _step(subject, story.consumes, "collapsed", "Was consumed by this result and is shown as its summary.")
        )
    own = [word for word in story.badges if word != "collapsed"]
    if subject.analysis.transients.hints(message):
        own.append("hinted")
    steps.append(_step(subject, message, ", ".join(own)))
    steps += [_attempt_step(subject, attempt) for attempt in life.attempts]
    if story.collapsed_by is not None:
        steps.append(_step(subject, story.collapsed_by, "consumed", "So that only its summary is left."))
    return sorted(steps, key=lambda step: step.message)


def _attempt_step(subject: Subject, attempt: Attempt) -> Link:
    failed = bool(subject.capture.flags(attempt.message) & Flag.ERROR)
    relation = "failed" if failed else "passed by"
    step = _step(subject, attempt.message, relation, attempt.why)
    return Link(
        step.message, step.kind, step.delta, step.name, step.mono, relation,
        token="severity.warning" if failed else "ink.tertiary", tooltip=f"{attempt.tool}: {attempt.why}",
    )  # fmt: skip


def _step(subject: Subject, message: int, relation: str, tooltip: str = "") -> Link:
    name, mono = name_of(subject.analysis, message)
    own = message == subject.message
    when = "this" if own else delta(subject.delta_ns(message))
    kind = subject.capture.string("kind", message) or ""
    return Link(message, kind, when, plain(name, 200), mono, plain(relation, 80), own, tooltip=plain(tooltip, 600))


def _attempts(life: Life) -> list[Fact]:
    rows: list[Fact] = []
    for one in life.attempts:
        rows.append(Fact("", (message_part(one.message), Part("  "), Part(plain(one.tool, 80), "mono-dim"))))
        rows.append(fact("", one.why, "dim", lines=3))
    if life.attempts_total > len(life.attempts):
        rows.append(fact("", f"{formats.number(life.attempts_total - len(life.attempts))} more", "dim"))
    return rows


def _pair(subject: Subject, pair: PairStory) -> list[Fact]:
    """A pair, and what it has done so far."""
    arrow = (Part(plain(pair.tool, 80), "mono"), Part(" → ", "dim"), Part(plain(pair.consumer, 80), "mono"))
    step = "" if pair.step is None else f"step {pair.step}"
    rows = [Fact("", arrow, right=step, copy=f"{pair.tool} {pair.consumer}")]
    if pair.first != subject.message:
        rows.append(Fact("", (Part("registered before, by ", "dim"), message_part(pair.first))))
    for result, by in pair.collapsed:
        rows.append(Fact("", (message_part(result), Part(" collapsed by ", "dim"), message_part(by))))
    if pair.total > len(pair.collapsed):
        rows.append(fact("", f"and {formats.number(pair.total - len(pair.collapsed))} more collapsed", "dim"))
    if pair.waiting:
        waiting = f"{formats.count_of(pair.waiting, 'result')} of {plain(pair.tool, 80)} waiting to be consumed"
        rows.append(fact("", waiting, "dim", lines=2))
    elif not pair.total:
        rows.append(fact("", "Has collapsed nothing so far.", "dim"))
    return rows


def _why_none(subject: Subject) -> str:
    if subject.kind != kinds.RESPONSE:
        return "Only results of tool calls have a lifecycle: they may be marked transient, consumed and collapsed."
    if subject.tool is None:
        return "This result answers no tool call, so nothing can collapse it."
    return "Its server said nothing about its lifecycle: the model keeps all of it."
