"""Readers of a model context: participants and sub-agents whose model is shown, and assumptions about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.unique_ints import unique_with_places
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.model_context.conversation_names import conversation_words
from inspector.formats import registry
from inspector.formats.model_vocabulary import AGENT, CLIENT, SYSTEM, USER
from inspector.formats.table import MODEL_OPERATIONS
from inspector.protocol import kinds
from inspector.protocol.participants import GATEWAY_IDS
from inspector.store.columns.flags import Flag


@dataclass(frozen=True, slots=True)
class Reader:
    """A participant with a model.

    Attributes:
        space: string id of the space; 0 without one, as in MCP stdio traffic.
        name: the participant's id; None for the single client of traffic without names.
        shown: the name to show; "" if it is the id.
    """

    space: int
    name: str | None
    conversation: str = field(default="", compare=False)
    """A few words about its conversation, to distinguish readers with equal names; "" if the name is unique."""
    shown: str = field(default="", compare=False)

    @property
    def title(self) -> str:
        """Display name."""
        title = "the MCP client" if self.name is None else self.shown or self.name
        return f"{title}, {self.conversation}" if self.conversation else title


@dataclass(frozen=True, slots=True)
class ReaderChoice:
    """Determines the displayed reader. It changes only after a choice or selection of the user.

    Attributes:
        chosen: the reader chosen by the user; None follows the selected message.
        followed: the selected message.
        shown: the reader displayed before.
        is_held: the displayed reader stays, whatever is selected.
        context: the context selected after the message, (string id of the space, node); its owner has priority.
    """

    chosen: Reader | None = None
    followed: int | None = None
    shown: Reader | None = None
    is_held: bool = False
    context: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """Assumptions about a client.

    Attributes:
        collapsing: it replaces a consumed result by its summary.
        own_reasoning: its own reasoning stays in its context.
        others_reasoning: reasoning of others reaches its model.
    """

    collapsing: bool = True
    own_reasoning: bool = True
    others_reasoning: bool = False


def readers(analysis: Analysis) -> list[Reader]:
    """Returns participants that may have a model: senders of tool calls, proposals or reasoning, else of any message.

    Sorted by the number of such messages. With a model API, each conversation has a reader. O(messages), cheap.
    """
    capture = analysis.capture
    columns, strings, stop = capture.columns, capture.strings, len(analysis)
    acts = [code for code in map(strings.find, _ACTS) if code is not None]
    kind, flags = columns["kind"][:stop], columns["flags"][:stop]
    acting = np.isin(kind, [*acts, *codes_below(analysis, "reasoning/")])
    listing = strings.find(kinds.REQUEST)
    if listing is not None:  # programs, not models, request lists
        called = np.isin(analysis.correlation.columns["method"][:stop], [strings.find("tools/call") or -1])
        acting &= (kind != listing) | called
    reports = analysis.usage.reports()  # a participant that only chats has a model if its calls are reported
    acting[reports[columns["sender"][reports] != 0]] = True
    people = [code for name in (*_PEOPLE, *registry.groups().programs) if (code := strings.find(name)) is not None]
    is_person = (flags & Flag.DERIVED.value != 0) & np.isin(columns["sender"][:stop], people)
    found = _by_sender(analysis, acting & ~is_person)
    asked = columns["space"][model_requests(analysis, np.arange(stop))]
    # A model also answers in conversations without tool calls.
    answered = (flags & Flag.DERIVED.value != 0) & (columns["sender"][:stop] == (strings.find(AGENT) or -1))
    asked = np.concatenate((asked, columns["space"][:stop][answered]))
    asked = np.setdiff1d(asked, [one.space for one in found if one.name == AGENT])
    found += [Reader(space, AGENT) for space in asked.tolist()]
    if found:
        return named(analysis, found)
    structure = analysis.contexts.sessions.are_structure(kind)
    spoken = (kind != 0) & (flags & _NOBODY == 0) & ~is_person & ~capture.foreign_rpc.are_foreign(slice(stop))
    return named(analysis, _by_sender(analysis, spoken if structure is None else spoken & ~structure))


def model_requests(analysis: Analysis, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the indexes of model requests among some messages, ascending."""
    columns, strings = analysis.capture.columns, analysis.capture.strings
    names = [code for name in MODEL_OPERATIONS if (code := strings.find(name)) is not None]
    request = strings.find(kinds.REQUEST)
    if request is None or not names:
        return np.empty(0, np.int64)
    found = (columns["kind"][rows] == request) & (columns["part"][rows] == 1)
    found &= columns["sender"][rows] == (strings.find(CLIENT) or -1)
    found &= np.isin(analysis.correlation.columns["method"][rows], names)
    return np.flatnonzero(found)


def find_reader(analysis: Analysis, name: str | None, message: int | None) -> Reader | None:
    """Returns the requested reader, or None.

    Args:
        analysis: passes of the capture.
        name: its name, title, or part of its conversation's name; None for any.
        message: prefers the reader that this message concerns; None for the end.
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
    """Returns the best reader for a message: its sender if it may have a model, else its recipient."""
    known = readers(analysis) if known is None else known
    space = int(analysis.capture.columns["space"][message])
    found = named_reader(analysis, message, known)
    return found or next((one for one in known if one.space == space), known[0] if known else None)


def named_reader(analysis: Analysis, message: int, known: Sequence[Reader]) -> Reader | None:
    """Returns the reader among `known` that sent a message, else its recipient; None if neither is."""
    capture = analysis.capture
    space = int(capture.columns["space"][message])
    by_name = {one.name: one for one in reversed(known) if one.space == space}
    if (found := _of_sub_agent(analysis, message, by_name)) is not None:
        return found
    names = (capture.string("sender", message), *capture.recipients(message))
    return next((by_name[name] for name in names if name in by_name), None)


def displayed_reader(analysis: Analysis, known: Sequence[Reader], choice: ReaderChoice) -> Reader | None:
    """Returns the reader to display among `known`, the most active first, or None."""
    # The equal one of `known` has the present name.
    found = next((one for one in known if one == choice.shown), None)
    if (chosen := next((one for one in known if one == choice.chosen), None)) is not None:
        return chosen
    if not choice.is_held and choice.context is not None:
        space, node = choice.context
        # Contexts merge.
        node = analysis.contexts.tree.resolve(node)
        owner = main_reader(known, space) if node == MAIN else reader_in(analysis, space, node)
        if owner is not None:
            return owner
    # A message may be selected before the analysis has reached it.
    if not choice.is_held and choice.followed is not None and choice.followed < len(analysis):
        found = named_reader(analysis, choice.followed, known) or found
    # An agent rather than its sub-agents, though these may have spoken more often.
    return found or main_reader(known) or (known[0] if known else None)


def main_reader(known: Sequence[Reader], space: int | None = None) -> Reader | None:
    """Returns the first reader that is an agent rather than its sub-agent, in any space or in one; None without any."""
    mains = registry.groups().main_agents
    return next((one for one in known if one.name in mains and space in (None, one.space)), None)


def _of_sub_agent(analysis: Analysis, message: int, by_name: Mapping[str | None, Reader]) -> Reader | None:
    """Returns the sub-agent in whose context a message of a transcript lies; None for others."""
    if not int(analysis.capture.columns["flags"][message]) & Flag.DERIVED.value:
        return None
    node = analysis.contexts.node_of(message)
    space = int(analysis.capture.columns["space"][message])
    return None if node == MAIN else _of_node(analysis, space, node, by_name)


def reader_in(analysis: Analysis, space: int, node: int) -> Reader | None:
    """Returns the sole owner of a transcript's context; None if shared, and for other traffic."""
    columns, stop = analysis.capture.columns, len(analysis)
    if not (columns["flags"][:stop][columns["space"][:stop] == space] & Flag.DERIVED.value).any():
        return None
    return _of_node(analysis, space, node, {one.name: one for one in reversed(readers(analysis)) if one.space == space})


def _of_node(analysis: Analysis, space: int, node: int, by_name: Mapping[str | None, Reader]) -> Reader | None:
    """Returns the speaker of a context that rarely speaks elsewhere, as it was started for this context."""
    columns, strings = analysis.capture.columns, analysis.capture.strings
    senders = columns["sender"][: len(analysis)]
    in_space = columns["space"][: len(analysis)] == space
    for code in analysis.contexts.senders_in(node):
        found = by_name.get(strings[code])
        if found is not None:
            nodes = analysis.contexts.nodes_of(np.flatnonzero(in_space & (senders == code)))
            if np.count_nonzero(nodes == node) * 2 > len(nodes):
                return found
    return None


_PEOPLE = (USER, SYSTEM, CLIENT, "tools")
"""Senders in transcripts and recordings that have no model."""
_ACTS = (kinds.REQUEST, kinds.PROPOSAL)
_NOBODY = (Flag.UNREADABLE | Flag.GAP | Flag.LOG_ONLY | Flag.FRAME).value


def codes_below(analysis: Analysis, prefix: str) -> list[int]:
    """Returns the string ids of seen kinds with a prefix."""
    capture = analysis.capture
    seen = np.flatnonzero(np.bincount(capture.columns["kind"][: len(analysis)])).tolist()
    return [code for code in seen if capture.strings[code].startswith(prefix)]


def _by_sender(analysis: Analysis, rows: NDArray[np.bool_]) -> list[Reader]:
    columns, strings, stop = analysis.capture.columns, analysis.capture.strings, len(analysis)
    pairs = columns["space"][:stop].astype(np.uint64) << np.uint64(32) | columns["sender"][:stop]
    keys, first, places = unique_with_places(pairs[rows])
    made: list[Reader] = []
    for place in np.lexsort((first, -np.bincount(places))).tolist():
        key = int(keys[place])
        name = strings[key & 0xFFFFFFFF] or None
        if name not in GATEWAY_IDS:
            made.append(Reader(key >> 32, name))
    return made


_MOST_NAMED = 200


def named(analysis: Analysis, found: Sequence[Reader]) -> list[Reader]:
    """Returns the readers, with a conversation name for those with equal names."""
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
        shown = "" if one.name is None else analysis.capture.shown_name(one.name)
        made.append(Reader(one.space, one.name, words, shown))
    return made
