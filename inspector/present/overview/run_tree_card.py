"""Card of the tree of an evaluation's runs: the steps that they did, and the number of runs that went each way."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.present import formats
from inspector.present.many_runs import Branch
from inspector.present.overview.cards import MESSAGES, Card, Link, Row, Section, Tone, Words
from inspector.present.overview.facts import OverviewFacts, TaskTree
from inspector.present.run_chains import FAILED, PASSED
from inspector.present.wire_text import safe_line

_MOST_ROWS = 8
_STEP, _TASK = 70, 60
_INDENT = "\N{EM SPACE}"
_OUTCOMES: dict[str, tuple[str, Tone]] = {PASSED: ("solved", "good"), FAILED: ("not solved", "warn")}


def run_tree_card(facts: OverviewFacts) -> Card | None:
    """Returns the card, if runs of at least one task are compared."""
    if facts.trees is None or not facts.trees.trees:
        return None
    sections = [_section(place, tree) for place, tree in enumerate(facts.trees.trees)]
    if facts.trees.more:
        more = formats.count_of(facts.trees.more, "more task")
        words = Words(f"{more}; context-inspector diff --many compares them", "quiet")
        sections.append(Section("", (Row("more tasks", words=(words,)),)))
    return Card("run_tree", "What did the runs do?", tuple(sections), wide=True)


def _section(place: int, tree: TaskTree) -> Section:
    task = safe_line(tree.task, _TASK)
    total = f"{formats.count_of(sum(tree.groups.values()), 'run')}, {formats.count_of(tree.ways, 'way')}"
    rows = [row for row in tree.rows if row.count]
    shown = [_row(place, number, row, tree) for number, row in enumerate(rows[:_MOST_ROWS])]
    if len(rows) > _MOST_ROWS:
        more = formats.count_of(len(rows) - _MOST_ROWS, "more row")
        shown.append(Row(f"more {place}", words=(Words(more, "quiet"),)))
    start = tree.rows[0]
    if not start.count and start.ended:
        words = f"{formats.count_of(start.ended, 'run')} without a step"
        shown.append(Row(f"idle {place}", words=(Words(words, "quiet"),)))
    return Section(f"Task {task}: {total}" if task else total, tuple(shown))


def _row(place: int, number: int, row: Branch, tree: TaskTree) -> Row:
    shift = 0 if tree.rows[0].count else 1  # without first steps in common, the row of all runs is left out
    link = Link(MESSAGES, message=row.representative.row)
    words = [Words(_INDENT * (row.depth - shift) + safe_line(row.steps[0], _STEP), link=link)]
    words += [Words(f"  and {formats.count_of(row.count - 1, 'more step')}", "quiet")] if row.count > 1 else []
    return Row(f"step {place} {number}", words=tuple(words), end=tuple(_counts(row)))


def _counts(row: Branch) -> Iterator[Words]:
    yield Words(formats.count_of(row.runs, "run"))
    for name, count in row.groups.items():
        word, tone = _OUTCOMES.get(name, (name, "quiet"))
        yield Words(f"  {count:,} {word}", tone)
