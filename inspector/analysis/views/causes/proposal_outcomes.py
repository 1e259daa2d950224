"""Finds the outcome of a fulfilled proposal: answers to its requests."""

from __future__ import annotations

from inspector.analysis import Analysis
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW


def has_failed(analysis: Analysis, proposal: int) -> bool:
    """Returns True if every answer to a proposal's requests is an error; False without answers."""
    capture, links = analysis.capture, analysis.correlation
    fulfilled = (m for m in links.effects(proposal) if capture.string("kind", m) == kinds.REQUEST)
    answers = [answer for m in fulfilled if (answer := int(links.columns["answer"][m])) != NO_ROW]
    return bool(answers) and all(capture.flags_of(answer) & Flag.ERROR for answer in answers)
