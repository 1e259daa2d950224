"""Page headers: type, name, state and key facts of a context, participant, document or message."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.log_vocabulary import kind_word
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.account import Account
from inspector.present.message_row import NO_BROADCAST
from inspector.present.places import ContextPlace, ParticipantPlace
from inspector.present.states import CONTEXT_STATES, StatePill, state_of
from inspector.present.subject import Subject, recipients
from inspector.present.wire_text import safe_line
from inspector.store.columns.flags import Flag

SEPARATOR = "  ·  "


@dataclass(frozen=True, slots=True)
class HeadWords:
    """Header of a message, a context, a participant or a whole document.

    Attributes:
        what: type: "context", "participant"; "" if the name suffices.
        glyph: icon and colour token; of a message with a kind those of `kind`.
        name: the title, not escaped.
        second_line: line below the title.
        state: its pill.
        namespace: the part of a message's kind before the name, with its slash.
        tool: tool or method of a call.
        kind: kind of a message.
    """

    what: str
    glyph: tuple[str, str]
    name: str
    second_line: str
    state: StatePill | None = None
    namespace: str = ""
    tool: str = ""
    kind: str = ""


_CONTEXT = ("expand_all", "ink.secondary")
_REASONING = ("reasoning", "family.reasoning")
_ACCOUNT = ("recording", "ink.secondary")
_PARTICIPANT = ("ri.user-line", "family.gateway")
_PRESENT_STATE = StatePill("here", "badge.consumed", "ring")
_LAST_SEEN = StatePill("last seen", "badge.collapsed", "ring")
"""Presence unknown since the live source ended."""
_LEFT_STATE = StatePill("left", "badge.collapsed", "cross")

_SINCE_WORDS = {True: "since", False: "left", None: "first seen"}


def resolve_node(analysis: Analysis, place: ContextPlace) -> int:
    """Returns the present node of a context; MAIN for a main context."""
    return MAIN if place.node == MAIN else analysis.contexts.tree.resolve(place.node)


def context_words(document: CaptureDocument, place: ContextPlace) -> HeadWords:
    """Returns the header of a context's page."""
    analysis = document.analysis
    contexts, tree = analysis.contexts, analysis.contexts.tree
    node = resolve_node(analysis, place)
    space = document.capture.strings[place.space] if len(contexts.spaces) > 1 else ""
    details = [safe_line(space, 40)] if space else []
    if node == MAIN:
        details.append(formats.count_of(contexts.main_counts.get(place.space, 0), "message"))
        return HeadWords("context", _CONTEXT, "main", SEPARATOR.join(details))
    own, total = tree.own[node], tree.subtree[node]
    kind = contexts.type(node)
    if kind:
        details.append(safe_line(kind, 40))
    details.append(
        f"{formats.count_of(own, 'message')}" + (f", {total:,} including nested contexts" if total != own else "")
    )
    state = CONTEXT_STATES.get(contexts.state(node, analysis.now_ns))
    glyph = _REASONING if kind == "reasoning" else _CONTEXT
    return HeadWords("context", glyph, contexts.label(node), SEPARATOR.join(details), state)


def participant_words(document: CaptureDocument, place: ParticipantPlace) -> HeadWords:
    """Returns the header of a participant's page."""
    analysis = document.analysis
    participant = analysis.participants.all.get((place.space, place.name))
    space = document.capture.strings[place.space] if len(analysis.contexts.spaces) > 1 else ""
    details = [safe_line(space, 40)] if space else []
    if participant is None:
        return HeadWords("participant", _PARTICIPANT, place.name, "never seen")
    if participant.is_us:
        details.append("this program")
    details.append(f"{formats.count_of(participant.messages, 'message')} sent")
    if since := formats.clock(participant.since_ns):
        details.append(f"{_SINCE_WORDS[participant.here]} {since}")
    here = _LAST_SEEN if document.sources.live_source is not None and not document.live else _PRESENT_STATE
    state = None if participant.here is None else here if participant.here else _LEFT_STATE
    return HeadWords(
        "participant", _PARTICIPANT, document.capture.shown_name(place.name), SEPARATOR.join(details), state
    )


def account_words(account: Account) -> HeadWords:
    """Returns the header of the account."""
    return HeadWords("", _ACCOUNT, "What happened", account.head)


_UNKNOWN = ("ri.question-line", "family.unknown")
_UNREADABLE = ("ri.file-damage-line", "severity.error")
_LOG_LINE = ("ri.key-2-line", "family.control")


def message_words(subject: Subject) -> HeadWords:
    """Returns the header of a message."""
    namespace, slash, name = safe_line(subject.kind, 200).partition("/")
    if not slash:
        namespace, name = "", namespace or kindless_word(subject)
    if word := kind_word(subject.capture, subject.message):
        namespace, slash, name = "", "", word
    tool = safe_line(subject.target or subject.method or "", 200) if subject.kind.startswith("mcp/") else ""
    return HeadWords(
        "", _kindless_glyph(subject), name, second_line(subject), state_of(subject), namespace + slash, tool,
        subject.kind,
    )  # fmt: skip


def _kindless_glyph(subject: Subject) -> tuple[str, str]:
    if subject.flags & Flag.UNREADABLE:
        return _UNREADABLE
    return _LOG_LINE if subject.flags & Flag.LOG_ONLY else _UNKNOWN


def kindless_word(subject: Subject) -> str:
    """Returns a word for a message without a kind."""
    if subject.flags & Flag.UNREADABLE:
        return "unreadable"
    if subject.flags & Flag.GAP:
        return "server ended" if subject.flags & Flag.ERROR else "gap"
    return "log line" if subject.flags & Flag.LOG_ONLY else "no kind"


def second_line(subject: Subject) -> str:
    """Returns number, time since the first message, route and size."""
    seconds = formats.table_time(subject.time_ns, subject.start_ns)
    route = ""
    if subject.sender or subject.to:
        sender = safe_line(subject.shown_sender, 80) if subject.sender else "somebody"
        # as in the table (`message_row`): a line that is no broadcast has no recipients
        addressed = subject.to or not subject.flags & NO_BROADCAST
        route = f"{sender} → {recipients(subject.capture, subject.to)}" if addressed else sender
    number = formats.message_number(subject.message)
    parts = [number, formats.with_unit(seconds), route, formats.size(subject.size)]
    return SEPARATOR.join(filter(None, parts))
