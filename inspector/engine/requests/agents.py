"""Agents of a document: the main ones and their sub-agents, each with its reported context, calls and cost."""

from __future__ import annotations

import msgspec
import numpy as np

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.model_context import Reader, readers
from inspector.analysis.views.model_context.context_owners import main_reader
from inspector.analysis.views.model_context.reported import GIVEN, Reports, reports_of
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.engine.requests.steps import statuses_read
from inspector.engine.requests.turns import steps_of
from inspector.formats import registry
from inspector.present.wire_text import safe_line

MOST_AGENTS = 200
"""Limit of the listed agents; the sums of each cost a pass over all calls of models."""
_MAX_NAME, _MAX_TASK = 80, 200


class Agent(msgspec.Struct, frozen=True):
    """An agent that reports its model calls or the size of its context.

    Attributes:
        name: participant.
        task: title of a sub-agent's context; "".
        message: the call that started it; its first report if there is no such call.
        node: its context; -1 for the main one.
        model: model of its last call; "" if unknown.
        calls: calls of models.
        tokens: last reported context; -1 if unknown.
        limit: reported limit of the context; None if unknown.
        dollars: reported or priced cost of its own calls; None if unknown.
    """

    name: str
    task: str
    message: int
    node: int
    model: str
    calls: int
    tokens: int
    limit: int | None
    dollars: float | None


class AgentList(msgspec.Struct, frozen=True):
    """The first agents, main ones before sub-agents, each in order of the first report; and the number of all."""

    agents: list[Agent]
    count: int


class ListAgents(Request[AgentList], frozen=True):
    """All agents of a document, at most MOST_AGENTS."""


def _agents(held: OpenDocument, asked: ListAgents) -> Steps[AgentList]:
    del asked
    analysis, table = held.document.analysis, steps_of(held)
    rows = analysis.usage.reports()
    rows = rows[rows < len(table.step_of)]
    if not len(rows):
        return (yield from _reporting(held))
    spaces = analysis.capture.columns["space"][rows].astype(np.int64)
    nodes = np.asarray(analysis.contexts.nodes_of(rows)).astype(np.int64)
    _, firsts, groups = np.unique(np.stack((spaces, nodes)), axis=1, return_index=True, return_inverse=True)
    order = np.lexsort((firsts, nodes[firsts] != MAIN))
    openers = dict(zip(table.opens.tolist(), table.rows.tolist(), strict=True))
    found = list[Agent]()
    for group in order[:MOST_AGENTS].tolist():
        own = rows[groups.reshape(-1) == group]
        found.append(_agent(held, own, int(spaces[firsts[group]]), int(nodes[firsts[group]]), openers))
        yield
    return AgentList(found, len(order))


def _agent(held: OpenDocument, own: Rows, space: int, node: int, openers: dict[int, int]) -> Agent:
    analysis, capture = held.document.analysis, held.document.capture
    last = own[-1:]
    sender = capture.string("sender", int(last[0])) or ""
    if node == MAIN and sender in registry.groups().programs:
        # The program reports the calls of its agent.
        agent = main_reader(readers(analysis), space)
        sender = agent.name or sender if agent is not None else sender
    reports = reports_of(analysis, Reader(space, sender), statuses_read(held)) if node == MAIN else None
    has_limit = reports is not None and reports.limit is not None and len(reports.tokens) > 0
    tokens = reports.tokens[-1] if reports is not None and has_limit else sum(
        int(analysis.usage.numbers_at(name, last)[0]) for name in GIVEN
    )  # fmt: skip
    costs = analysis.costs.costs_of(own)
    name, task = sender, ""
    if (shown := capture.shown_name(sender)) != sender:
        name, _, task = shown.partition(": ")
    task = "" if node == MAIN else task or analysis.contexts.label(node)
    return Agent(
        safe_line(name, _MAX_NAME), safe_line(task, _MAX_TASK) if task != name else "",
        openers.get(node, int(own[0])) if node != MAIN else int(own[0]), node,
        safe_line(capture.strings[int(analysis.usage.words("model", last)[0])] or "", _MAX_NAME), len(own), int(tokens),
        reports.limit if reports is not None and has_limit else None,
        costs.total if costs is not None and costs.calls else None,
    )  # fmt: skip


def _reporting(held: OpenDocument) -> Steps[AgentList]:
    """Returns participants that report the size of their context, without reported calls."""
    analysis, found = held.document.analysis, list[tuple[Reader, Reports]]()
    for reader in readers(analysis):
        reports = reports_of(analysis, reader, statuses_read(held))
        if len(reports.tokens):
            found.append((reader, reports))
        yield
    return AgentList(
        [
            Agent(safe_line(reader.title, _MAX_NAME), "", int(reports.messages[0]), MAIN, "", 0,
                  int(reports.tokens[-1]), reports.limit, None)
            for reader, reports in found[:MOST_AGENTS]
        ],
        len(found),
    )  # fmt: skip


QUERIES = (Query(ListAgents, AgentList, _agents),)
