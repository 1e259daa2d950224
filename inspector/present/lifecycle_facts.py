"""Describes the life of a transient result: steps, consumers, attempts, pairs, saved tokens."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.analysis import Analysis
from inspector.analysis.views.summaries.lifecycles import Attempt, Lifecycle, PairStory, consumers_of, matching_alias
from inspector.present import formats
from inspector.present.badges import badge_words
from inspector.present.chain_rows import ChainRow
from inspector.present.facts import Fact, FactPart, fact, message_part, words_fact
from inspector.present.formats import delta
from inspector.present.subject import Subject, name_of
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag

_CONSUMERS_NAMED = 4


def seen_label(subject: Subject) -> str:
    """Returns the heading for a result's present content in the model's context."""
    return "Seen by the model now" if subject.document.live else "Seen by the model at the end of the log"


# Origin


def origin_facts(subject: Subject, life: Lifecycle) -> list[Fact]:
    """Describes the steps of a transient result."""
    story, pairing = subject.lifecycle, life.pairing
    rows: list[Fact] = []
    if pairing is None:
        rows.append(fact("Paired", "no", "dim"))
    else:
        # Hints may arrive after the results they are about.
        late = ", after its arrival" if pairing.message > subject.message else ""
        step = "" if pairing.step is None else f", step {pairing.step}"
        rows.append(Fact("Paired", (FactPart("by "), message_part(pairing.message), FactPart(f"{step}{late}", "dim"))))
        rows.append(fact("Pair", f"{safe_line(pairing.tool, 80)} → {safe_line(pairing.consumer, 80)}", "mono", lines=2))
    given = "with a summary" if life.summary_given else "without a summary; one is generated"
    rows.append(fact("Marked", f"transient by its server, {given}", lines=2))
    if story.collapsed_by is not None:
        since = subject.delta_ns(story.collapsed_by)
        after = "" if since is None else f", {formats.duration(since)} after its arrival"
        rows.append(Fact("Collapsed", (FactPart("by "), message_part(story.collapsed_by), FactPart(after, "dim"))))
    else:
        rows.append(fact("Collapsed", "not yet", "dim"))
    return [*rows, order_fact(subject)]


def order_fact(subject: Subject) -> Fact:
    """Describes the order in which several pending results collapse; the protocol leaves it open."""
    which = "the most recent" if subject.analysis.transients.newest_first else "the oldest"
    return fact(
        "Rule", f"of several pending results, {which} collapses first", "dim", lines=2,
        tooltip="Settings > Contexts: the protocol leaves it open.",
    )  # fmt: skip


def pending_sentences(subject: Subject, life: Lifecycle) -> list[str]:
    """States that a result is pending, and its possible consumers."""
    sentences = [
        "Still pending: no tool has consumed it, so the model sees all of it.",
        consumers_sentence(subject.analysis, subject.message),
    ]
    # A hint may use another name for the tool; then an alias in the settings helps.
    alias = matching_alias(subject.analysis, subject.message) if not life.consumers else None
    return (
        [*sentences, f"The tool alias {safe_line(alias.text, 120)} would pair it (Settings)."] if alias else sentences
    )


def consumers_sentence(analysis: Analysis, message: int) -> str:
    """Names the tools that can consume a pending result, or the reason why none can."""
    consumers = consumers_of(analysis, message)
    if consumers:
        return f"Can be consumed by {listed_consumers(consumers)}."
    tool = safe_line(analysis.transients.tool_name(message) or "", 120)
    if not tool:
        return "Its request is not in the log, so no hint can name its tool."
    return f"No hint names {tool}, so no tool can consume it."


def listed_consumers(consumers: Sequence[str]) -> str:
    """Lists the first consumer tools by name."""
    named = [safe_line(consumer, 80) for consumer in consumers[:_CONSUMERS_NAMED]]
    more = len(consumers) - len(named)
    return " or ".join(named) if not more else f"{', '.join(named)} or {formats.count_of(more, 'other tool')}"


def consumed_facts(subject: Subject, result: int) -> list[Fact]:
    """Shows the result that a consumer collapsed, and its summary."""
    name, mono = name_of(subject.analysis, result)
    parts = (message_part(result), FactPart("  "), FactPart(safe_line(name, 80), "mono-dim" if mono else "dim"))
    summary = safe_line(subject.analysis.transients.summary(result) or "", 400)
    return [
        Fact("", parts, right=delta(subject.delta_ns(result))),
        fact("", f"The model sees: {summary}", "dim", lines=4),
        order_fact(subject),
    ]


def seen_now_facts(subject: Subject) -> list[Fact]:
    """Shows the present content of a transient result for the model: its summary, or all of it for now."""
    story, analysis = subject.lifecycle, subject.analysis
    rows = [words_fact(safe_line(story.summary or "", 2_000), lines=4)]
    if story.collapsed_by is not None:
        name, mono = name_of(analysis, story.collapsed_by)
        parts = (
            FactPart("Collapsed by "),
            message_part(story.collapsed_by),
            FactPart("  "),
            FactPart(safe_line(name, 80), "mono-dim" if mono else "dim"),
        )
        return [*rows, Fact("", parts, right=delta(subject.delta_ns(story.collapsed_by)))]
    sentence = consumers_sentence(analysis, subject.message)
    if not consumers_of(analysis, subject.message):
        return [words_fact("All of it: no tool can consume it."), fact("", sentence, "dim", lines=3)]
    rows[0] = words_fact("All of it: no tool has consumed it yet.")
    return [
        *rows,
        fact("", sentence, lines=3),
        fact("", f"Then only: {safe_line(story.summary or '', 2_000)}", "dim", lines=4),
    ]


def signal_facts(subject: Subject) -> list[Fact]:
    """Shows the earlier result that this one consumed, or the server's note."""
    story = subject.lifecycle
    if story.consumes is None:
        return [words_fact(story.note or "")]
    name, mono = name_of(subject.analysis, story.consumes)
    parts = (
        FactPart("Consumed "),
        message_part(story.consumes),
        FactPart("  "),
        FactPart(safe_line(name, 80), "mono-dim" if mono else "dim"),
    )
    return [Fact("", parts, right=delta(subject.delta_ns(story.consumes)))]


# Steps


def lifecycle_rows(subject: Subject, life: Lifecycle) -> list[ChainRow]:
    """Returns the events of the result in order."""
    story, message = subject.lifecycle, subject.message
    steps: list[ChainRow] = []
    if story.hinted_by is not None:
        tooltip = f"Registered that {story.tool or 'this tool'} may be collapsed."
        if life.pairing is not None:
            tooltip = f"Paired {life.pairing.tool} with {life.pairing.consumer}."
        steps.append(_step(subject, story.hinted_by, "hinted", tooltip))
    if story.consumes is not None:
        steps.append(
            _step(subject, story.consumes, "collapsed", "Was consumed by this result and is shown as its summary.")
        )
    own = [word for word in badge_words(subject.analysis.transients, message) if word != "collapsed"]
    if subject.analysis.transients.hints(message):
        own.append("hinted")
    steps.append(_step(subject, message, ", ".join(own)))
    steps += [_attempt_step(subject, attempt) for attempt in life.attempts]
    if story.collapsed_by is not None:
        steps.append(_step(subject, story.collapsed_by, "consumed", "Only its summary remains."))
    # In order of arrival, whatever the order of the life's stages.
    return sorted(steps, key=lambda step: step.message)


def _attempt_step(subject: Subject, attempt: Attempt) -> ChainRow:
    failed = bool(subject.capture.flags_of(attempt.message) & Flag.ERROR)
    relation = "failed" if failed else "passed by"
    step = _step(subject, attempt.message, relation, attempt.why)
    return ChainRow(
        step.message, step.kind, step.delta, step.name, step.mono, relation,
        token="severity.warning" if failed else "ink.tertiary", tooltip=f"{attempt.tool}: {attempt.why}",
    )  # fmt: skip


def _step(subject: Subject, message: int, relation: str, tooltip: str = "") -> ChainRow:
    name, mono = name_of(subject.analysis, message)
    own = message == subject.message
    when = "this" if own else delta(subject.delta_ns(message))
    kind = subject.capture.string("kind", message) or ""
    return ChainRow(
        message, kind, when, safe_line(name, 200), mono, safe_line(relation, 80), own, tooltip=safe_line(tooltip, 600)
    )


def attempt_facts(life: Lifecycle) -> list[Fact]:
    """Lists consumers that did not collapse the result, with reasons."""
    rows: list[Fact] = []
    for one in life.attempts:
        rows.append(
            Fact("", (message_part(one.message), FactPart("  "), FactPart(safe_line(one.tool, 80), "mono-dim")))
        )
        rows.append(fact("", one.why, "dim", lines=3))
    if life.attempts_total > len(life.attempts):
        rows.append(fact("", f"{formats.number(life.attempts_total - len(life.attempts))} more", "dim"))
    return rows


def pair_facts(subject: Subject, pair: PairStory) -> list[Fact]:
    """Shows a pair of tools and its effects so far."""
    arrow = (
        FactPart(safe_line(pair.tool, 80), "mono"),
        FactPart(" → ", "dim"),
        FactPart(safe_line(pair.consumer, 80), "mono"),
    )
    step = "" if pair.step is None else f"step {pair.step}"
    rows = [Fact("", arrow, right=step, copy=f"{pair.tool} {pair.consumer}")]
    if pair.first != subject.message:
        rows.append(Fact("", (FactPart("registered before, by ", "dim"), message_part(pair.first))))
    for result, by in pair.collapsed:
        rows.append(Fact("", (message_part(result), FactPart(" collapsed by ", "dim"), message_part(by))))
    if pair.total > len(pair.collapsed):
        rows.append(fact("", f"and {formats.number(pair.total - len(pair.collapsed))} more collapsed", "dim"))
    if pair.waiting:
        waiting = f"{formats.count_of(pair.waiting, 'result')} of {safe_line(pair.tool, 80)} waiting to be consumed"
        rows.append(fact("", waiting, "dim", lines=2))
    elif not pair.total:
        rows.append(fact("", "No result collapsed so far.", "dim"))
    return rows


def why_no_lifecycle(subject: Subject) -> str:
    """Returns the reason why a message has no lifecycle."""
    if subject.kind != kinds.RESPONSE:
        return "Only results of tool calls have a lifecycle: they may be marked transient, consumed and collapsed."
    if subject.tool is None:
        return "This result answers no tool call, so it cannot be collapsed."
    return "Its server declared no lifecycle; the model keeps all of it."
