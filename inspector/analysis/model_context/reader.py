"""Whose context is asked for, and what is assumed of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.distinct import distinct
from inspector.capture.flags import Flag
from inspector.protocol import kinds
from inspector.protocol.participants import GATEWAY_IDS


@dataclass(frozen=True, slots=True)
class Reader:
    """One whose model reads.

    Attributes:
        space: string id of the space; 0 where there is none, as in MCP stdio traffic.
        name: the participant's id; None for the one client of traffic that names nobody.
    """

    space: int
    name: str | None

    @property
    def title(self) -> str:
        """As shown."""
        return "the MCP client" if self.name is None else self.name


@dataclass(frozen=True, slots=True)
class Options:
    """What is assumed of a client.

    Attributes:
        collapsing: it puts the summary in the place of a consumed result.
        own_reasoning: what it thought itself stays in its context.
        others_reasoning: reasoning of others reaches its model.
    """

    collapsing: bool = True
    own_reasoning: bool = True
    others_reasoning: bool = False


def readers(analysis: Analysis) -> list[Reader]:
    """Who may have a model: everybody who called a tool, proposed, or reasoned; else everybody who said something.

    Those with most such messages come first. O(messages), cheap.
    """
    columns, strings, stop = analysis.capture.columns, analysis.capture.strings, len(analysis)
    acts = [code for code in map(strings.find, _ACTS) if code is not None]
    kind, flags = columns["kind"][:stop], columns["flags"][:stop]
    acting = np.isin(kind, [*acts, *codes_below(analysis, "reasoning/")])
    listing = strings.find(kinds.REQUEST)
    if listing is not None:  # asking for lists is a program's doing
        called = np.isin(analysis.correlation.columns["method"][:stop], [strings.find("tools/call") or -1])
        acting &= (kind != listing) | called
    found = _by_sender(analysis, acting)
    if found:
        return found
    structure = analysis.contexts.sessions.of_structure(kind)
    spoken = (kind != 0) & (flags & _NOBODY == 0)
    return _by_sender(analysis, spoken if structure is None else spoken & ~structure)


def reader_of(analysis: Analysis, message: int) -> Reader | None:
    """Whose context a message is best looked at in: its sender's if it may have a model, else its recipient's."""
    known = readers(analysis)
    space = int(analysis.capture.columns["space"][message])
    found = named_reader(analysis, message, known)
    return found or next((one for one in known if one.space == space), known[0] if known else None)


def named_reader(analysis: Analysis, message: int, known: Sequence[Reader]) -> Reader | None:
    """Of those who may have a model, who sent a message, else to whom it is addressed; None for nobody of them."""
    capture = analysis.capture
    space = int(capture.columns["space"][message])
    named = (Reader(space, name) for name in (capture.string("sender", message), *capture.to(message)))
    return next((one for one in named if one in known), None)


_ACTS = (kinds.REQUEST, kinds.PROPOSAL)
_NOBODY = (Flag.UNREADABLE | Flag.GAP | Flag.LOG_ONLY | Flag.FRAME).value


def codes_below(analysis: Analysis, prefix: str) -> list[int]:
    """String ids of the kinds seen that begin so."""
    capture = analysis.capture
    seen = np.flatnonzero(np.bincount(capture.columns["kind"][: len(analysis)])).tolist()
    return [code for code in seen if capture.strings[code].startswith(prefix)]


def _by_sender(analysis: Analysis, rows: NDArray[np.bool_]) -> list[Reader]:
    columns, strings, stop = analysis.capture.columns, analysis.capture.strings, len(analysis)
    pairs = columns["space"][:stop].astype(np.uint64) << np.uint64(32) | columns["sender"][:stop]
    keys, first, places = distinct(pairs[rows])
    made: list[Reader] = []
    for place in np.lexsort((first, -np.bincount(places))).tolist():
        key = int(keys[place])
        name = strings[key & 0xFFFFFFFF] or None
        if name not in GATEWAY_IDS:
            made.append(Reader(key >> 32, name))
    return made
