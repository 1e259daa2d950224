"""What the head of the details says of a context or a participant."""

from __future__ import annotations

from inspector.analysis import Analysis
from inspector.analysis.context_tree import MAIN
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.ui.panels.details.head import SEPARATOR, HeadWords
from inspector.ui.panels.details.places import ContextPlace, ParticipantPlace
from inspector.ui.panels.details.state import CONTEXT_STATES, State

_CONTEXT = ("expand_all", "ink.secondary")
_REASONING = ("reasoning", "family.reasoning")
_PARTICIPANT = ("ri.user-line", "family.gateway")
_HERE = State("here", "badge.consumed", "ring")
_LEFT = State("left", "badge.collapsed", "cross")

_SINCE = {True: "since", False: "left", None: "first seen"}


def living(analysis: Analysis, place: ContextPlace) -> int:
    """The node a context is now; MAIN for a main context."""
    return MAIN if place.node == MAIN else analysis.contexts.tree.resolve(place.node)


def context_words(document: CaptureDocument, place: ContextPlace) -> HeadWords:
    """The head of a context's page."""
    analysis = document.analysis
    contexts, tree = analysis.contexts, analysis.contexts.tree
    node = living(analysis, place)
    space = document.capture.strings[place.space] if len(contexts.spaces) > 1 else ""
    told = [plain(space, 40)] if space else []
    if node == MAIN:
        told.append(formats.count_of(contexts.main_counts.get(place.space, 0), "message"))
        return HeadWords("context", _CONTEXT, "main", SEPARATOR.join(told))
    own, total = tree.own[node], tree.subtree[node]
    kind = contexts.type(node)
    if kind:
        told.append(plain(kind, 40))
    told.append(f"{formats.count_of(own, 'message')}" + (f", {total:,} with those below" if total != own else ""))
    state = CONTEXT_STATES.get(contexts.state(node, analysis.now_ns))
    glyph = _REASONING if kind == "reasoning" else _CONTEXT
    return HeadWords("context", glyph, contexts.label(node), SEPARATOR.join(told), state)


def participant_words(document: CaptureDocument, place: ParticipantPlace) -> HeadWords:
    """The head of a participant's page."""
    analysis = document.analysis
    participant = analysis.participants.all.get((place.space, place.name))
    space = document.capture.strings[place.space] if len(analysis.contexts.spaces) > 1 else ""
    told = [plain(space, 40)] if space else []
    if participant is None:
        return HeadWords("participant", _PARTICIPANT, place.name, "never seen")
    if participant.is_us:
        told.append("this program")
    told.append(f"{formats.count_of(participant.messages, 'message')} sent")
    if since := formats.clock(participant.since_ns):
        told.append(f"{_SINCE[participant.here]} {since}")
    state = None if participant.here is None else _HERE if participant.here else _LEFT
    return HeadWords("participant", _PARTICIPANT, place.name, SEPARATOR.join(told), state)
