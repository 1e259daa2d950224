"""Lists naming problems of a context, each once, for the tree and the context's page."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inspector.analysis.findings import contexts as paths
from inspector.analysis.findings import object_contexts
from inspector.analysis.findings.check import Check
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.naming_notes import NamingOddity
from inspector.analysis.passes.contexts.node_ancestry import living_nodes


class NamingProblem(NamedTuple):
    """One naming problem."""

    check: Check
    """The check that reports it; its title describes it."""
    row: int
    """First message that shows it."""
    times: int
    """Number of occurrences."""


CHECK_BY_ODDITY: dict[NamingOddity, Check] = {**paths.CHECK_BY_ODDITY, **object_contexts.CHECK_BY_ODDITY}
"""The check that reports each oddity."""


def naming_problems(contexts: ContextPass, node: int) -> list[NamingProblem]:
    """Returns the naming problems of a living context, most severe first. O(notes and contexts), in numpy.

    The main context has none, as it belongs to every space.
    """
    notes = contexts.notes
    if not len(notes) or node == MAIN:
        return []
    nodes, rows, what = notes.arrays()
    here = np.flatnonzero(np.append(living_nodes(contexts.tree), MAIN)[nodes] == node)
    found: dict[int, NamingProblem] = {}
    for place in here[np.argsort(rows[here], kind="stable")].tolist():
        number = int(what[place])
        before = found.get(number)
        row, times = (before.row, before.times + 1) if before else (int(rows[place]), 1)
        found[number] = NamingProblem(CHECK_BY_ODDITY[NamingOddity(number)], row, times)
    return sorted(found.values(), key=lambda odd: (-odd.check.severity, odd.row))
