"""Cards about the work of agents: time, context, changed files, commands and cost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inspector.analysis.passes.tokens.reported_usage import USAGE_KINDS, Usage
from inspector.analysis.views.steps.call_facts import CommandFact, FileFact, Outcome
from inspector.analysis.views.steps.expired_caches import expired_caches
from inspector.analysis.views.steps.step_columns import StepKind
from inspector.analysis.views.steps.time_split import TimeSplit, have_own_times, split_time
from inspector.analysis.views.summaries.unlogged_agents import unlogged_agents
from inspector.present import formats
from inspector.present.cache_words import expiry_sentence
from inspector.present.overview.cards import (
    CONVERSATION,
    FILES,
    MESSAGES,
    MODEL_SEES,
    STEPS,
    Card,
    Curve,
    Line,
    Link,
    Part,
    Row,
    Section,
    Sort,
    Tone,
    Words,
)
from inspector.present.overview.facts import ContextSize, OverviewFacts, file_names, joined
from inspector.present.states import BY_USER
from inspector.present.step_texts import tools_word
from inspector.present.token_facts import unlogged_words
from inspector.present.usage_sentences import UsageSentences
from inspector.present.wire_text import safe_line

_MOST_FILES, _MOST_COMMANDS, _MOST_RUNS, _MOST_TURNS = 6, 6, 10, 5
_COMMAND = 48
_LEAST_NS = 1_000_000
_TIME_WORDS: tuple[tuple[Sort, str], ...] = (
    ("model", "model"), ("tools", "tools"), ("allowed", "tools and your permission"), ("person", "decisions"),
    ("between", "between steps"),
)  # fmt: skip
_TEST_WORDS: dict[Outcome, tuple[str, Tone]] = {
    Outcome.OK: ("tests passed after", "good"), Outcome.FAILED: ("tests failed after", "bad"),
}  # fmt: skip
_KIND_WORDS = {"cache_read": "cache reads", "cache_write": "cache writes", "output": "output", "input": "input"}


def time_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of the time, if steps have times."""
    steps, span = facts.steps, facts.sessions_ns
    split = split_time(steps, np.arange(len(steps)))
    if not span or not split.total:
        return None
    turns = formats.count_of(len(steps.prompts), "turn") if len(steps.prompts) else ""
    calls = formats.count_of(facts.totals.tools, "call") if facts.totals.tools else ""
    unit = ", ".join(filter(None, (turns, calls)))
    values = {**split._asdict(), "between": max(0, span - split.total)}
    words: dict[Sort, str] = {**dict(_TIME_WORDS), "tools": tools_word(of_requests=not steps.calls_tools)}
    parts = tuple(Part(sort, values[sort] / 1e9) for sort, _ in _TIME_WORDS if values[sort] >= _LEAST_NS)
    row = Row("longest", words=_longest(facts, split))
    return Card(
        "time", "Where did the time go?", (Section("", (row,)),) if row.words else (), formats.rounded_duration(span),
        (Words(unit, "quiet", link=Link(STEPS)),) if unit else (), parts, _time_words(values, words),
        corner=Words("Steps", link=Link(STEPS)),
    )  # fmt: skip


def _time_words(values: dict[str, int], words: dict[Sort, str]) -> Line:
    longest = max(values.values())
    shown = [(word, values[sort]) for sort, word in words.items() if values[sort] >= _LEAST_NS]
    return joined([
        [Words(f"{word} {formats.rounded_duration(ns)}", "plain" if ns == longest else "quiet", ns == longest)]
        for word, ns in shown
    ])  # fmt: skip


def _longest(facts: OverviewFacts, split: TimeSplit) -> Line:
    """Names the longest wait for a person, the slowest tool and the longest output of a model.

    Without a tool, it names the slowest request.
    """
    steps, parts = facts.steps, list[list[Words]]()
    took = steps.took_ns
    is_call = steps.kinds == StepKind.CALL
    calls = is_call & (steps.opens < 0)
    tools, own = (
        is_call & (~steps.is_request | (not steps.calls_tools)) & ~steps.of_person & ~steps.allowed,
        have_own_times(facts.document.capture, steps),
    )
    known = took[tools & own].max(initial=_LEAST_NS)
    slowest = "slowest tool with a time of its own" if (took[tools & ~own] > known).any() else "slowest tool"
    slowest = slowest if steps.calls_tools else "slowest request"
    classes = (
        ("longest decision", calls & steps.of_person, split.person),
        ("longest with your permission", calls & steps.allowed, split.allowed),
        (slowest, tools & own, split.tools),
        ("longest model output", steps.kinds == StepKind.MODEL, split.model),
        ("longest compaction", steps.kinds == StepKind.COMPACTION, split.model),
    )
    for word, of_class, total in classes:
        found = np.flatnonzero(of_class & (took >= _LEAST_NS))
        if not total or not len(found):
            continue
        step = int(found[np.argmax(took[found])])
        row, lead = int(steps.rows[step]), word if parts else word.capitalize()
        place = facts.place_of.get(row)
        link = Link(CONVERSATION, message=row)
        name = (
            facts.call_name(facts.calls.calls[place])
            if place is not None and steps.kinds[step] not in (StepKind.MODEL, StepKind.COMPACTION)
            else Words(facts.method_name(row), mono=True, link=link)
            if steps.is_request[step]
            else Words(formats.message_number(row), link=link)
        )
        parts.append([Words(f"{lead} "), name, Words(f" {formats.duration(int(took[step]))}", strong=not parts)])
    return joined(parts)


def context_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of the main model's context, if it is reported."""
    size: ContextSize | None = facts.context
    if size is None or not size.tokens:
        return None
    last = size.tokens[-1]
    # In a session, the reader is the program of the title.
    by = "" if len(facts.steps.prompts) else f" by {size.reader}"
    of = f"of {formats.short_count(size.limit)}, reported{by}" if size.limit else f"tokens, reported{by}"
    rows: list[Row] = []
    peak = max(size.tokens)
    if peak != last:
        message = size.messages[size.tokens.index(peak)]
        words = Words("Largest ", "quiet"), Words(f"{peak:,}", link=Link(CONVERSATION, message=message))
        rows.append(Row("peak", words=words))
    rows += [Row("outside", words=(_outside_words(size),)), Row("largest", words=_largest(facts, size), lines=2)]
    return Card(
        "context", "Where did the context go?", (Section("", tuple(rows)),),
        formats.short_count(last), (Words(of, "quiet", link=Link(CONVERSATION, message=size.messages[-1])),),
        curve=_curve(facts, size), corner=Words("Model sees", link=Link(MODEL_SEES, message=size.messages[-1])),
    )  # fmt: skip


def _outside_words(size: ContextSize) -> Words:
    last = size.tokens[-1]
    if size.outside:
        words = f"{size.outside:,} of the {last:,} are not in the log, such as system prompt and tools"
        return Words(words, "quiet", link=Link(MODEL_SEES, message=size.messages[-1]))
    if not size.is_counted:
        return Words("The tokens of the log are not counted so far.", "quiet")
    return Words(
        "All of it is in the log." if size.outside == 0 else "How much of it is in the log is unknown.", "quiet"
    )


def _largest(facts: OverviewFacts, size: ContextSize) -> Line:
    """Names the largest results in the context. Their row keeps its height while their tokens are counted."""
    if not size.largest:
        return (Words("No results of tools are in it." if size.is_counted else "", "quiet"),)
    parts = [
        [facts.message_name(message), Words(f" {formats.short_count(tokens)}")] for message, tokens in size.largest
    ]
    return Words("Largest results in it: "), *joined(parts)


def _curve(facts: OverviewFacts, size: ContextSize) -> Curve | None:
    if len(size.tokens) < 2:
        return None
    # By order: pauses would squeeze all calls into a few pixels.
    places = tuple(place / (len(size.tokens) - 1) for place in range(len(size.tokens)))
    return Curve(places, size.tokens)


def changes_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of changed files and commands, if there are any."""
    files = [file for file in facts.calls.files() if file.is_changed]
    commands = facts.calls.commands()
    sections: list[Section] = []
    if files:
        rows = [_file_row(facts, file, name) for file, name in zip(files, file_names(files), strict=True)]
        sections.append(Section("", (*rows[:_MOST_FILES], *_more(len(rows) - _MOST_FILES, "file", Link(FILES)))))
    if commands:
        # Tests and failures tell most; a stable sort keeps the order of the first runs.
        telling = sorted(commands, key=lambda one: not _is_telling(facts, one))[:_MOST_COMMANDS]
        rows = [_command_row(facts, one) for one in commands if one in telling]
        more = _more(len(commands) - len(telling), "command", Link(STEPS))
        sections.append(Section("What did it run?" if files else "", (*rows, *more)))
    if (tests := _tests_row(facts)) is not None:
        sections.append(Section("Did the tests pass?", (tests,)))
    if not sections:
        return None
    title = "What did it change?" if files else "What did it run?"
    corner = Words("Files", link=Link(FILES)) if files else None
    return Card("changes", title, tuple(sections), corner=corner)


def _more(count: int, noun: str, link: Link) -> Iterator[Row]:
    if count > 0:
        yield Row("more", words=(Words(formats.count_of(count, f"more {noun}"), link=link),))


def _file_row(facts: OverviewFacts, file: FileFact, name: str) -> Row:
    calls = facts.calls.calls
    changes = [place for place in file.calls if file.path in calls[place].changed_paths]
    shown = file.last_change if file.last_change >= 0 else changes[-1]
    label = (Words(name, mono=True, link=Link(CONVERSATION, message=calls[shown].row)),)
    words: list[Words] = []
    if file.edits or file.writes or file.deletes:
        words.append(Words(f"+{file.added:,}", "good"))
        words += [Words(f" \N{MINUS SIGN}{file.removed:,}", "bad")] if file.removed else []
        words.append(Words("  "))
    acts = [
        formats.count_of(file.writes, "write") if file.writes > 1 else "written" if file.writes else "",
        formats.count_of(file.edits, "edit") if file.edits else "",
        "deleted" if file.deletes else "",
        f"{file.failed:,} failed" if file.failed else "",
        f"{file.rejected:,} {BY_USER}" if file.rejected else "",
    ]
    words.append(Words(", ".join(filter(None, acts)), "quiet"))
    end: Line = ()
    if file.test >= 0:
        test = calls[file.test]
        told, tone = _TEST_WORDS.get(test.run_outcome, ("tests ran after", "quiet"))
        end = (Words(told, tone, link=Link(CONVERSATION, message=test.row)),)
    return Row(f"file {file.path}", label, tuple(words), end=end)


def _is_telling(facts: OverviewFacts, command: CommandFact) -> bool:
    calls = [facts.calls.calls[place] for place in command.calls]
    return len(calls) > 1 or any(call.is_test or call.run_outcome is not Outcome.OK for call in calls)


def _command_row(facts: OverviewFacts, command: CommandFact) -> Row:
    calls = [facts.calls.calls[place] for place in command.calls]
    label = (Words(safe_line(command.command, _COMMAND), mono=True, link=Link(CONVERSATION, message=calls[0].row)),)
    words = [_run_mark(call.run_outcome, call.row) for call in calls[-_MOST_RUNS:]]
    if len(calls) > _MOST_RUNS:
        words.insert(0, Words(f"{len(calls) - _MOST_RUNS:,} earlier ", "quiet"))
    if told := _ran_words(facts, command):
        words.append(Words(f" {told}", "quiet"))
    return Row(f"command {command.command}", label, tuple(words))


def _run_mark(outcome: Outcome, row: int) -> Words:
    link = Link(CONVERSATION, message=row)
    if outcome is Outcome.REJECTED:
        return Words(BY_USER, "warn", pill=True, link=link)
    if outcome is Outcome.OPEN:
        return Words("no result", "quiet", link=link)
    passed = outcome is Outcome.OK
    return Words(
        "passed" if passed else "failed", "good" if passed else "bad", icon="check" if passed else "clear", link=link
    )


def _tests_row(facts: OverviewFacts) -> Row | None:
    """Returns the last runs of tests in order, with the changes between them; None for less than two runs."""
    words, runs, changes = list[Words](), 0, 0
    for call in facts.calls.calls:
        if call.is_test and call.outcome is not Outcome.REJECTED:
            if changes and runs:
                words.append(Words(f" {formats.count_of(changes, 'change')} ", "quiet"))
            words.append(_run_mark(call.run_outcome, call.row))
            runs, changes = runs + 1, 0
        elif call.outcome is Outcome.OK:
            changes += call.is_change
    if runs < 2:
        return None
    marks = [place for place, one in enumerate(words) if one.link is not None][-_MOST_RUNS:]
    earlier = [Words(f"{runs - _MOST_RUNS:,} earlier ", "quiet")] if runs > _MOST_RUNS else []
    after = Words(f" then {formats.count_of(changes, 'change')}, not tested", "warn") if changes else Words("")
    return Row("tests", words=(*earlier, *words[marks[0] :], after))


def _ran_words(facts: OverviewFacts, command: CommandFact) -> str:
    """Returns the course of a command that failed: "passes after 2 min 38 s", "still fails"."""
    calls = [facts.calls.calls[place] for place in command.calls]
    outcomes = [call.run_outcome for call in calls]
    if Outcome.FAILED not in outcomes:
        return ""
    first = outcomes.index(Outcome.FAILED)
    if outcomes[-1] is not Outcome.OK:
        repair = facts.calls.repairs.get(command.calls[-1])
        if repair is not None:
            return f"succeeds as {safe_line(repair.command, _COMMAND)}"
        return "still fails" if outcomes[-1] is Outcome.FAILED and len(calls) > 1 else ""
    passed = max(place for place, one in enumerate(outcomes) if one is Outcome.FAILED) + 1
    columns = facts.document.capture.columns
    ns = int(columns["time_ns"][calls[passed].row]) - int(columns["time_ns"][calls[first].row])
    return f"passes after {formats.rounded_duration(ns)}" if 0 < ns < 1 << 55 else "passes in the end"


def cost_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of tokens and cost, if they are reported or stated."""
    usage, costs = facts.analysis.usage.total(), facts.analysis.costs
    lines = UsageSentences(facts.document, None, None).cost_lines()
    if usage is None and not lines:
        return None
    found, stated = costs.total(), costs.stated_total()
    figure, unit, corner = "", list[Words](), None
    if stated is not None and (found is None or not found.calls):
        figure, unit = (
            formats.dollars(stated),
            [Words("as the session states", "quiet", link=Link(MESSAGES, filter="cost.stated"))],
        )
    elif found is not None and found.calls:
        calls = f"{formats.count_of(found.calls, 'call')} of models"
        figure, unit = (
            formats.dollars(found.total),
            [Words(calls, "quiet", link=Link(MESSAGES, filter="cost", columns=("cost",)))],
        )
        dated = f"list prices of {safe_line(costs.dated, 40)}" if costs.dated else "prices"
        corner = Words(f"{dated}, change", link=Link(panel="settings:prices"))
    else:
        corner = Words("set prices", link=Link(panel="settings:prices"))
    if found is not None and found.calls and (without := unlogged_words(unlogged_agents(facts.analysis))):
        unit.append(Words(without, "quiet"))
    priced = found.parts if found is not None and found.calls else None
    rows = list(_usage_rows(usage, priced)) if usage is not None else []
    notes = _cost_notes(facts, lines[0].text if lines and (not figure or (found and found.unpriced)) else "")
    sections = [Section("", tuple(rows))] if rows else []
    if notes:
        sections.append(Section("", notes))
    return Card("cost", "What did it cost?", tuple(sections), figure, tuple(unit), corner=corner)


def _usage_rows(usage: Usage, priced: tuple[float, ...] | None) -> Iterator[Row]:
    values: dict[str, int] = dict(zip(USAGE_KINDS, (getattr(usage, kind) for kind in USAGE_KINDS), strict=True))
    weights: dict[str, float] = {**values}
    if priced is not None:
        weights = {**dict(zip(USAGE_KINDS, priced, strict=True))}
    most = max(weights.values()) or 1
    amounts = dict(zip(weights, formats.dollars_alike([*weights.values()]), strict=True))
    for kind, word in _KIND_WORDS.items():
        if not values[kind]:
            continue
        cost = f" · {amounts[kind]}" if priced is not None else ""
        columns = (f"usage.{kind}", "cost") if priced is not None else (f"usage.{kind}",)
        link = Link(MESSAGES, filter=f"usage.{kind} > 0", columns=columns)
        end = Words(f"{values[kind]:,}", link=link), Words(cost)
        yield Row(kind, (Words(word),), share=weights[kind] / most, end=end)


def _cost_notes(facts: OverviewFacts, sentence: str) -> tuple[Row, ...]:
    rows = [Row("cost", words=(Words(sentence, "quiet"),))] if sentence else []
    if incomplete := facts.analysis.usage.incomplete_count:
        words = f"Output tokens incomplete: {formats.count_of(incomplete, 'call')}"
        rows.append(Row("incomplete", words=(Words(words, "warn"),)))
    steps, costs = facts.steps, facts.analysis.costs.total()
    if expired := expired_caches(facts.analysis, steps):
        most = max(expired, key=lambda one: one.written)
        link = Link(STEPS, message=most.message)
        rows.append(Row("expired", words=(Words(expiry_sentence(expired), "warn", link=link),)))
    if costs is None or not costs.calls or len(steps.prompts) < 2:
        return tuple(rows)
    known = np.isfinite(steps.dollars) & (steps.turns >= 0)
    sums = np.bincount(steps.turns[known], weights=steps.dollars[known], minlength=len(steps.prompts))
    if abs(float(sums.sum()) - costs.total) > 0.005 * costs.total:
        return tuple(rows)  # some calls belong to no turn
    order = sorted(np.argsort(-sums, kind="stable")[:_MOST_TURNS].tolist())
    parts: list[list[Words]] = []
    for turn, amount in zip(order, formats.dollars_alike(sums[order].tolist()), strict=True):
        row = int(steps.rows[steps.prompts[turn]])
        lead = "Turn " if not parts else "turn "
        parts.append(
            [
                Words(f"{lead}{turn + 1}", link=Link(CONVERSATION, message=row)),
                Words(f" {amount}"),
            ]
        )
    more = len(sums) - len(order)
    parts += [[Words(formats.count_of(more, "other turn"), "quiet")]] if more > 0 else []
    rows.append(Row("turns", words=joined(parts, ", ")))
    return tuple(rows)
