"""Sub-sessions of edited sessions: the list, the state of one, token sums, and their places in the capture."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps, check_row_count
from inspector.engine.requests.rows import check_messages
from inspector.engine.sessions import MessageRef as MessageRef
from inspector.engine.sessions import message_of, ref_of, sessions_of, subsession_of
from inspector.msp.capture import SessionFollowing
from inspector.msp.document import SessionDocument
from inspector.msp.listing import Order as Order
from inspector.msp.listing import listed_subsessions
from inspector.msp.objects import Message, Subsession
from inspector.present import msp_words as words
from inspector.present.wire_text import safe_line

_ROLE_MESSAGES = 200
"""Number of last messages that contribute roles to the role menu."""
_TIP_CHARACTERS = 600
NO_SUMMARY = "No summary, messages kept for the record"


# The list


class ListedSubsessions(msgspec.Struct, frozen=True):
    """The listed sub-sessions.

    Attributes:
        keys, depths: by row.
        open, all: number of open sub-sessions and of all.
        first: the one to display first: the first open one, else the first; "" without any.
    """

    keys: list[str]
    depths: list[int]
    open: int
    all: int
    first: str


class ListSubsessions(Request[ListedSubsessions], frozen=True):
    """Keys of the sub-sessions in an order; `open_only` omits closed ones without an open descendant."""

    is_urgent: ClassVar[bool] = True

    order: Order = Order.CHAT
    open_only: bool = False


class SubsessionRow(msgspec.Struct, frozen=True):
    """A row of the list.

    Attributes:
        key: of the sub-session.
        mark: state shape: active, idle, concluded or cancelled.
        state: open, closed or discarded.
        label, about: on one line each; masked.
        beginning: of its summary or first text, as written.
        count: number of messages.
        age: how long it is open, or since when it is closed.
        tokens: of its own messages, estimate; "" if they are not counted.
    """

    key: str
    mark: str
    state: str
    label: str
    about: str
    beginning: str
    count: int
    age: str
    tokens: str


class DescribeSubsessions(Request[list[SubsessionRow]], frozen=True):
    """Rows of some sub-sessions, at most 1,000; `counted` allows incomplete token sums."""

    is_urgent: ClassVar[bool] = True

    keys: tuple[str, ...]
    counted: bool = True


class SessionCounts(msgspec.Struct, frozen=True):
    """State of the counting of tokens.

    Attributes:
        version: rises when counts arrive.
        is_counting: counts are missing.
        is_idle: no count is missing and no process runs.
        trouble: the reason why counting stopped, or "".
    """

    version: int
    is_counting: bool
    is_idle: bool
    trouble: str


class CountSessions(Request[SessionCounts], frozen=True):
    """Sums the tokens of sub-sessions.

    Attributes:
        counted: uncounted texts are queued; False ends the counting.
        polled: counts are collected from the counting process, which is started for queued texts.
        at_once: queued texts are counted in the engine's process.
    """

    counted: bool = True
    polled: bool = False
    at_once: bool = False


# One sub-session


class ShownSubsession(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-session, apart from its messages.

    Attributes:
        key, label: of the sub-session.
        parent, parent_label: key and label of its parent, or "".
        context: space and node of its context; None before the capture has it.
        state, mark, words: open, closed or discarded; the shape of its dot; its state in words.
        summary: as written, or "".
        roles: of the last messages.
        why_not_add: reason against a new message, or "".
        is_mergeable: it can be merged to its parent.
    """

    key: str
    label: str
    parent: str
    parent_label: str
    context: tuple[int, int] | None
    state: str
    mark: str
    words: str
    summary: str
    roles: list[str]
    why_not_add: str
    is_mergeable: bool

    @property
    def is_open(self) -> bool:
        return self.state == "open"


class ShowSubsession(Request[ShownSubsession | None], frozen=True):
    """A sub-session; None if it does not exist any more."""

    is_urgent: ClassVar[bool] = True

    key: str


# Places


class RowOfMessage(Request[int | None], frozen=True):
    """The message of the capture that shows a message of a chat; None if it has not been read yet."""

    message: MessageRef


class SubsessionPlace(msgspec.Struct, frozen=True):
    """Place of a message of the capture in a sub-session.

    Attributes:
        key: of the sub-session.
        message: the message; None for the start or the end of the sub-session.
        is_global: the message is visible in the parent chat.
    """

    key: str
    message: MessageRef | None
    is_global: bool = False


class PlaceOfRow(Request[SubsessionPlace | None], frozen=True):
    """Place of a message of the capture; None outside of sub-sessions."""

    row: int


class SubsessionOfContext(Request[str | None], frozen=True):
    """Key of the sub-session that a context shows, or None."""

    node: int


class ContextOfSubsession(Request[tuple[int, int] | None], frozen=True):
    """Space and node of the context that shows a sub-session, or None."""

    key: str


# Answers: the list


def _list(held: OpenDocument, asked: ListSubsessions) -> ListedSubsessions:
    document = sessions_of(held)
    subs, figures = document.subsessions, document.figures
    rows = listed_subsessions(
        subs, asked.order, open_only=asked.open_only, tokens=lambda sub: figures.sum_of(sub)[0]
    )  # fmt: skip
    opened = [sub for sub in subs if sub.is_open]
    first = (opened or subs or [None])[0]
    return ListedSubsessions(
        [sub.key for sub, _ in rows], [depth for _, depth in rows], len(opened), len(subs),
        "" if first is None else first.key,
    )  # fmt: skip


def _describe(held: OpenDocument, asked: DescribeSubsessions) -> list[SubsessionRow]:
    check_row_count(len(asked.keys))
    document = sessions_of(held)
    return [_row(document, subsession_of(held, key), counted=asked.counted) for key in asked.keys]


def _row(document: SessionDocument, sub: Subsession, *, counted: bool) -> SubsessionRow:
    tokens, complete = document.figures.sum_of(sub)
    text = NO_SUMMARY if sub.discarded and not sub.summary else words.about(sub)
    if not text and not len(sub.messages):
        text = words.NO_MESSAGES
    will_count = counted and not document.figures.counts.error
    return SubsessionRow(
        sub.key, words.dot_state(document, sub), words.state_of(sub), safe_line(sub.label, 120), safe_line(text, 200),
        words.about(sub)[:_TIP_CHARACTERS], len(sub.messages), words.age_words(sub, document.latest_ns),
        words.tokens_words(tokens, complete=complete) if complete or will_count else "",
    )  # fmt: skip


def _count(held: OpenDocument, asked: CountSessions) -> Steps[SessionCounts]:
    document = sessions_of(held)
    figures, counts = document.figures, document.figures.counts
    if not asked.counted:
        counts.forget_pending()
    if asked.at_once:
        yield from figures.sum_steps(counted=asked.counted)
        counts.count_here()
    if asked.polled:
        counts.poll()
    yield from figures.sum_steps(counted=asked.counted)
    return SessionCounts(counts.version, counts.is_counting, counts.is_idle, counts.error)


# Answers: one sub-session


def _show(held: OpenDocument, asked: ShowSubsession) -> ShownSubsession | None:
    document = sessions_of(held)
    sub = document.subsession(asked.key)
    if sub is None:
        return None
    parent = sub.parent
    return ShownSubsession(
        key=sub.key,
        label=words.label_of(sub),
        parent=parent.key if parent is not None else "",
        parent_label=words.label_of(parent) if parent is not None else "",
        context=_context_of(held, sub),
        state=words.state_of(sub),
        mark=words.dot_state(document, sub),
        words=words.state_words(sub, document.latest_ns),
        summary=sub.summary or "",
        roles=list(dict.fromkeys(one.role for one in sub.messages[-_ROLE_MESSAGES:] if one.role)),
        why_not_add=document.why_not_add(sub) or "",
        is_mergeable=not sub.is_open and document.why_not_merge(sub) is None,
    )


# Answers: places


def _following(held: OpenDocument) -> SessionFollowing:
    found = held.document.sessions
    if found is None:
        raise RequestError("The document has no sessions.")
    return found


def _row_of(held: OpenDocument, message: Message) -> int | None:
    row = _following(held).shown.projection.row_of_message(message)
    return row if row is not None and row < len(held.document.capture) else None


def _row_of_message(held: OpenDocument, asked: RowOfMessage) -> int | None:
    return _row_of(held, message_of(held, asked.message))


def _place_of_row(held: OpenDocument, asked: PlaceOfRow) -> SubsessionPlace | None:
    check_messages(held, (asked.row,))
    owner, item = _following(held).shown.projection.item_of_row(asked.row)
    sub = sessions_of(held).subsession(owner.key)
    if sub is None:
        return None
    if not 0 <= item < len(sub.messages):
        return SubsessionPlace(sub.key, None)
    message = sub.messages[item]
    return SubsessionPlace(sub.key, ref_of(message, item), message.visibility == "global")


def _subsession_of_context(held: OpenDocument, asked: SubsessionOfContext) -> str | None:
    tree, document = held.document.analysis.contexts.tree, sessions_of(held)
    living = tree.resolve(asked.node)
    if living < 0:
        return None
    found = (document.subsession(name) for name in (tree.name[living], *tree.ids_of(living)))
    return next((sub.key for sub in found if sub is not None), None)


def _context_of_subsession(held: OpenDocument, asked: ContextOfSubsession) -> tuple[int, int] | None:
    return _context_of(held, subsession_of(held, asked.key))


def _context_of(held: OpenDocument, sub: Subsession) -> tuple[int, int] | None:
    contexts = held.document.analysis.contexts
    row = _row_of(held, sub.messages[0]) if len(sub.messages) else None
    if row is not None:
        return int(held.document.capture.columns["space"][row]), contexts.node_of(row)
    tree = contexts.tree
    found = ((space, tree.find(space, sub.key)) for space in set(tree.space))
    return next(((space, tree.resolve(node)) for space, node in found if node >= 0), None)


QUERIES = (
    Query(ListSubsessions, ListedSubsessions, _list),
    Query(DescribeSubsessions, list[SubsessionRow], _describe),
    Query(CountSessions, SessionCounts, _count),
    Query(ShowSubsession, ShownSubsession | None, _show),
    Query(RowOfMessage, int | None, _row_of_message),
    Query(PlaceOfRow, SubsessionPlace | None, _place_of_row),
    Query(SubsessionOfContext, str | None, _subsession_of_context),
    Query(ContextOfSubsession, tuple[int, int] | None, _context_of_subsession),
)
