"""Whose context is asked for, and what is assumed of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.unique_ints import distinct
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.model_context.conversation_names import conversation_words
from inspector.protocol import kinds
from inspector.protocol.formats import CODING_AGENTS
from inspector.protocol.formats.api_messages import AGENT, SYSTEM, USER
from inspector.protocol.formats.model_calls import CLIENT
from inspector.protocol.model_api.operations import OPERATION_NAMES
from inspector.protocol.participants import GATEWAY_IDS
from inspector.store.columns.flags import Flag


@dataclass(frozen=True, slots=True)
class Reader:
    """One whose model reads.

    Attributes:
        space: string id of the space; 0 where there is none, as in MCP stdio traffic.
        name: the participant's id; None for the one client of traffic that names nobody.
    """

    space: int
    name: str | None
    conversation: str = field(default="", compare=False)
    """Tells it from others of its name: a few words about its conversation; empty where nobody else is called so."""

    @property
    def title(self) -> str:
        """As shown."""
        title = "the MCP client" if self.name is None else self.name
        return f"{title}, {self.conversation}" if self.conversation else title


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

    Those with most such messages come first. Of a model's own API each conversation has a reader. O(messages), cheap.
    """
    capture = analysis.capture
    columns, strings, stop = capture.columns, capture.strings, len(analysis)
    acts = [code for code in map(strings.find, _ACTS) if code is not None]
    kind, flags = columns["kind"][:stop], columns["flags"][:stop]
    acting = np.isin(kind, [*acts, *codes_below(analysis, "reasoning/")])
    listing = strings.find(kinds.REQUEST)
    if listing is not None:  # asking for lists is a program's doing
        called = np.isin(analysis.correlation.columns["method"][:stop], [strings.find("tools/call") or -1])
        acting &= (kind != listing) | called
    reports = analysis.usage.reports()  # who only speaks has a model as well, where its calls are reported
    acting[reports[columns["sender"][reports] != 0]] = True
    people = [code for name in _PEOPLE if (code := strings.find(name)) is not None]
    is_person = (flags & Flag.DERIVED.value != 0) & np.isin(columns["sender"][:stop], people)
    found = _by_sender(analysis, acting & ~is_person)
    asked = columns["space"][model_requests(analysis, np.arange(stop))]
    asked = np.setdiff1d(asked, [one.space for one in found if one.name == AGENT])
    found += [Reader(space, AGENT) for space in asked.tolist()]
    if found:
        return named(analysis, found)
    structure = analysis.contexts.sessions.of_structure(kind)
    spoken = (kind != 0) & (flags & _NOBODY == 0) & ~is_person & ~capture.foreign_rpc.are_foreign(slice(stop))
    return named(analysis, _by_sender(analysis, spoken if structure is None else spoken & ~structure))


def model_requests(analysis: Analysis, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of requests to a model among some messages, ascending."""
    columns, strings = analysis.capture.columns, analysis.capture.strings
    names = [code for name in OPERATION_NAMES if (code := strings.find(name)) is not None]
    request = strings.find(kinds.REQUEST)
    if request is None or not names:
        return np.empty(0, np.int64)
    found = (columns["kind"][rows] == request) & (columns["part"][rows] == 1)
    found &= columns["sender"][rows] == (strings.find(CLIENT) or -1)
    found &= np.isin(analysis.correlation.columns["method"][rows], names)
    return np.flatnonzero(found)


def find_reader(analysis: Analysis, name: str | None, message: int | None) -> Reader | None:
    """The reader that is asked for; None where there is none.

    Args:
        analysis: of the capture.
        name: its name, title, or a part of what its conversation is called; None for any.
        message: at which it is asked for: of several the one that the message concerns; None for the end.
    """
    known = readers(analysis)
    if name is None:
        return reader_of(analysis, message, known) if message is not None else next(iter(known), None)
    wanted = name.casefold()
    space = int(analysis.capture.columns["space"][message]) if message is not None else None
    for matches in (
        lambda one: one.name == name,
        lambda one: wanted in (one.title.casefold(), one.conversation.casefold()),
        lambda one: analysis.capture.strings[one.space] == name,
        lambda one: wanted in one.conversation.casefold(),
    ):  # fmt: skip
        found = [one for one in known if matches(one)]
        if found:
            return next((one for one in found if one.space == space), found[0])
    return None


def reader_of(analysis: Analysis, message: int, known: Sequence[Reader] | None = None) -> Reader | None:
    """Whose context a message is best looked at in: its sender's if it may have a model, else its recipient's."""
    known = readers(analysis) if known is None else known
    space = int(analysis.capture.columns["space"][message])
    found = named_reader(analysis, message, known)
    return found or next((one for one in known if one.space == space), known[0] if known else None)


def named_reader(analysis: Analysis, message: int, known: Sequence[Reader]) -> Reader | None:
    """Of those who may have a model, who sent a message, else to whom it is addressed; None for nobody of them."""
    capture = analysis.capture
    space = int(capture.columns["space"][message])
    by_name = {one.name: one for one in reversed(known) if one.space == space}
    if (found := _of_sub_agent(analysis, message, by_name)) is not None:
        return found
    names = (capture.string("sender", message), *capture.to(message))
    return next((by_name[name] for name in names if name in by_name), None)


def _of_sub_agent(analysis: Analysis, message: int, by_name: Mapping[str | None, Reader]) -> Reader | None:
    """Whose context a message of a transcript stands in, where that is a sub-agent's; None for any other."""
    if not int(analysis.capture.columns["flags"][message]) & Flag.DERIVED.value:
        return None
    node = analysis.contexts.node_of(message)
    space = int(analysis.capture.columns["space"][message])
    return None if node == MAIN else _of_node(analysis, space, node, by_name)


def reader_in(analysis: Analysis, space: int, node: int) -> Reader | None:
    """Whose context a node of a transcript is; None where it is nobody's alone, and of other traffic."""
    columns, stop = analysis.capture.columns, len(analysis)
    if not (columns["flags"][:stop][columns["space"][:stop] == space] & Flag.DERIVED.value).any():
        return None
    return _of_node(analysis, space, node, {one.name: one for one in reversed(readers(analysis)) if one.space == space})


def _of_node(analysis: Analysis, space: int, node: int, by_name: Mapping[str | None, Reader]) -> Reader | None:
    """Of those who speak in a context the one who speaks nearly nowhere else: it was started for this."""
    columns, strings = analysis.capture.columns, analysis.capture.strings
    senders = columns["sender"][: len(analysis)]
    in_space = columns["space"][: len(analysis)] == space
    for code in analysis.contexts.speakers_of(node):
        found = by_name.get(strings[code])
        if found is not None:
            nodes = analysis.contexts.nodes_of(np.flatnonzero(in_space & (senders == code)))
            if np.count_nonzero(nodes == node) * 2 > len(nodes):
                return found
    return None


_PEOPLE = (USER, SYSTEM, CLIENT, "tools", *(one.PROGRAM for one in CODING_AGENTS))
"""Who speaks to a model in transcripts and recordings, and is none."""
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


_MOST_NAMED = 200


def named(analysis: Analysis, found: Sequence[Reader]) -> list[Reader]:
    """The same readers; those who share a name say which conversation is theirs."""
    counts = Counter(one.name for one in found)
    used: Counter[str] = Counter()
    made: list[Reader] = []
    for one in found:
        words = ""
        if counts[one.name] > 1:
            words = conversation_words(analysis, one.space) if len(made) < _MOST_NAMED else ""
            words = words or analysis.capture.strings[one.space]
            used[words] += 1
            words += f" ({used[words]})" if used[words] > 1 else ""
        made.append(Reader(one.space, one.name, words))
    return made
