"""Builds the overview of a document: its head, and the cards that it has facts for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from inspector.analysis.views.steps.step_columns import StepKind
from inspector.document.working_folder import working_folder_of
from inspector.formats import registry
from inspector.formats.table import TRACE_NAMES
from inspector.present import formats
from inspector.present.account_sentences import AccountLine, AccountSentences
from inspector.present.document_words import branch_words, model_words, program_words, time_words
from inspector.present.overview.cards import CONVERSATION, Card, Line, Link, Overview, Words
from inspector.present.overview.facts import OverviewFacts
from inspector.present.overview.problem_cards import problem_card
from inspector.present.overview.run_cards import runs_card
from inspector.present.overview.run_tree_card import run_tree_card
from inspector.present.overview.session_cards import changes_card, context_card, cost_card, time_card
from inspector.present.overview.traffic_cards import (
    agents_card,
    contents_card,
    contexts_card,
    definitions_card,
    people_card,
    proposals_card,
    slowest_card,
    tools_card,
    waits_card,
)
from inspector.present.session_titles import shown_session_title
from inspector.present.subject import text_of
from inspector.present.wire_text import excerpt, safe_line
from inspector.store.columns.flags import Flag

_TITLE, _PROMPT, _ANSWER, _FOLDER = 200, 100, 120, 60
_LONGEST_PATH = 1_000
_MOST_PROMPTS = 2

Build = Callable[[OverviewFacts], Card | None]
_SESSION: tuple[Build, ...] = (
    runs_card, run_tree_card, time_card, context_card, changes_card, cost_card, agents_card, contexts_card,
    problem_card,
)  # fmt: skip
_TRACE: tuple[Build, ...] = (
    runs_card, run_tree_card, time_card, slowest_card, context_card, cost_card, agents_card, tools_card, changes_card,
    problem_card,
)  # fmt: skip
_TRAFFIC: tuple[Build, ...] = (
    runs_card, run_tree_card, waits_card, people_card, tools_card, proposals_card, definitions_card, changes_card,
    time_card, context_card, cost_card, contexts_card, problem_card,
)  # fmt: skip


def overview_of(facts: OverviewFacts) -> Overview:
    """Returns the overview, as far as the facts are known."""
    kind = _builders(facts)
    cards = tuple(card for build in kind if (card := build(facts)) is not None)
    if not cards and (contents := contents_card(facts)) is not None:
        cards = (contents,)
    sentences = AccountSentences(facts.document, facts.tally)
    head = sentences.counts()
    prompts = [int(facts.steps.rows[step]) for step in facts.steps.prompts.tolist()]
    title, below = "", _below(facts, prompts)
    if prompts:
        title = excerpt(text_of(facts.document.capture, prompts[0]), _TITLE)
    elif kind is _TRAFFIC and (asked := [line for line in sentences.prompt_lines() if line.message is not None]):
        # In a space, people ask in chats.
        title, below = excerpt(asked[0].text, _TITLE), _asked_below(asked[1:])
    title = title or shown_session_title(facts.document.capture)
    name = safe_line(facts.document.name, _TITLE)
    program = " ".join(filter(None, (program_words(facts.document), name if title and kind is _TRAFFIC else "")))
    time = time_words(facts.analysis, 0 if facts.document.is_arriving else facts.span_ns)
    above = " · ".join(filter(None, (program, model_words(facts.analysis), _folder(facts), time, head)))
    return Overview(above, title or name, below, cards, facts.document.is_arriving)


def _builders(facts: OverviewFacts) -> tuple[Build, ...]:
    capture, stop = facts.document.capture, len(facts.analysis)
    if facts.document.format in TRACE_NAMES:
        return _TRACE
    labels = [code for name in registry.groups().agents if (code := capture.strings.find(name))]
    is_session = len(facts.steps.prompts) > 0 and bool(np.isin(capture.columns["protocol"][:stop], labels).any())
    derived = capture.columns["flags"][:stop] & np.uint32(Flag.DERIVED.value) != 0
    return _SESSION if is_session or (stop and derived.mean() > 0.5) else _TRAFFIC


def _folder(facts: OverviewFacts) -> str:
    """Returns the working folder and its branch, if the log has them."""
    found = working_folder_of(facts.document.capture)
    folder = safe_line(found.folder, _LONGEST_PATH)
    shown = folder if len(folder) <= _FOLDER else f"…{folder[1 - _FOLDER :]}"  # the last folders tell most
    return f"{shown}{branch_words(found.branch)}" if folder else ""


def _asked_below(lines: Sequence[AccountLine]) -> Line:
    """Returns later requests of people as links."""
    found = list[Words]()
    for place, line in enumerate(lines[:_MOST_PROMPTS]):
        found.append(Words(", then: " if place else "then: ", "quiet"))
        found.append(Words(excerpt(line.text, _PROMPT), link=Link(CONVERSATION, message=line.message)))
    return tuple(found)


def _below(facts: OverviewFacts, prompts: Sequence[int]) -> Line:
    """Returns later prompts, and the first words of the last answer."""
    capture, found = facts.document.capture, list[Words]()
    later = prompts[1:]
    for place, row in enumerate(later[:_MOST_PROMPTS]):
        found.append(Words("then: " if not place else ", then: ", "quiet"))
        text = excerpt(text_of(capture, row), _PROMPT) or formats.message_number(row)
        found.append(Words(text, link=Link(CONVERSATION, message=row)))
    if len(later) > _MOST_PROMPTS:
        found.append(Words(f" and {formats.count_of(len(later) - _MOST_PROMPTS, 'more prompt')}", "quiet"))
    steps = facts.steps
    answers = np.flatnonzero((steps.kinds == StepKind.ANSWER) & (steps.turns >= 0) & (steps.opens < 0))
    answers = answers[steps.nodes[answers] == steps.nodes[steps.prompts[-1]]] if len(prompts) else answers[:0]
    if len(answers) and steps.turns[answers[-1]] == len(prompts) - 1:
        row = int(steps.rows[answers[-1]])
        text = excerpt(text_of(capture, row), _ANSWER)
        if text:
            found.append(Words(f"{'  ' if found else ''}\N{RIGHTWARDS ARROW} “{text}” ", "plain"))
            found.append(Words("Read the answer", link=Link(CONVERSATION, message=row)))
    return tuple(found)
