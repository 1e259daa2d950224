"""Sub-sessions of edited sessions: the list, the chat of one, token sums, and their places in the capture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps, check_row_count
from inspector.engine.requests.rows import check_messages
from inspector.engine.sessions import MessageRef as MessageRef
from inspector.engine.sessions import message_of, ref_of, sessions_of, subsession_of
from inspector.msp.capture import SessionFollowing
from inspector.msp.document import SessionDocument
from inspector.msp.listing import Order as Order
from inspector.msp.listing import listed_subsessions
from inspector.msp.objects import Message, Subsession, content_text
from inspector.present import msp_words as words
from inspector.present.wire_text import safe_line
from inspector.protocol.payloads.result_content import pretty_json
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.protocol.timestamps import NO_TIME

PARENT_MESSAGES = 20
"""Maximum of earlier parent messages above the sub-session's."""
_BEGINNING = 16_000
"""Characters of a message in a row. Masks of its shown beginning depend on no later ones."""
_WHOLE = 300_000
"""Characters of a message that is read whole."""
_ROLE_MESSAGES = 200
"""Number of last messages that contribute roles to the role menu."""
_STEP_MESSAGES = 2_000
_TIP_CHARACTERS = 600
NO_MESSAGES = words.NO_MESSAGES
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


# The chat


class ChatMessage(msgspec.Struct, frozen=True):
    """A message as a row of a chat.

    Attributes:
        ref: the message.
        role: as written.
        text: its beginning, secrets included.
        characters: length of the whole text.
        is_global: it is visible in the parent chat.
        when, below: its time, and the line below it, which also has an unusual role.
        visibility: an unusual visibility in words, else "".
    """

    ref: MessageRef
    role: str
    text: str
    characters: int
    is_global: bool
    when: str
    below: str
    visibility: str


class ShownSubsession(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-session with the surroundings of its chat.

    Attributes:
        revision, structure: of the sessions; `structure` rises with edits that do more than append, or change a
            visibility or policy.
        key, label: of the sub-session.
        parent, parent_label: key and label of its parent, or "".
        state, mark, words: open, closed or discarded; the shape of its dot; its state in words.
        summary: as written, or "".
        end: description of its end, for a closed one.
        messages: number of own messages.
        sized_from: first own message with a size below.
        characters, breaks: characters and line breaks of own messages from there on, (n,) int64.
        roles: of the last messages.
        has_parent_messages: its parent has messages to show above.
        title, around: head and messages of the parent from before it was opened; empty unless requested.
        why_not_add: reason against a new message, or "".
        is_mergeable: it can be merged to its parent.
    """

    revision: int
    structure: int
    key: str
    label: str
    parent: str
    parent_label: str
    state: str
    mark: str
    words: str
    summary: str
    end: str
    messages: int
    sized_from: int
    characters: NDArray[np.int64]
    breaks: NDArray[np.int64]
    roles: list[str]
    has_parent_messages: bool
    title: str
    around: list[ChatMessage]
    why_not_add: str
    is_mergeable: bool

    @property
    def is_open(self) -> bool:
        return self.state == "open"


class ShowSubsession(Request[ShownSubsession | None], frozen=True):
    """A sub-session; None if it does not exist any more.

    Attributes:
        key: of the sub-session.
        expanded: with messages of the parent.
        sized_from, structure: first own message whose size is unknown, in sessions of this structure. For another
            structure all sizes are returned.
    """

    is_urgent: ClassVar[bool] = True

    key: str
    expanded: bool = False
    sized_from: int = 0
    structure: int = 0


class ChatMessages(Request[list[ChatMessage]], frozen=True):
    """Own messages `start` to `stop` of a sub-session, at most 1,000."""

    is_urgent: ClassVar[bool] = True

    key: str
    start: int
    stop: int


class ReadMessage(Request[str], frozen=True):
    """The text of a message, secrets included, up to 300,000 characters."""

    message: MessageRef


class CopyMessage(Request[str], frozen=True):
    """A message for the clipboard, secrets masked: its text, or JSON."""

    message: MessageRef
    as_json: bool = False


# Places


class RowOfMessage(Request[int | None], frozen=True):
    """The message of the capture that shows a message of a chat; None if it has not been read yet."""

    message: MessageRef


class SubsessionPlace(msgspec.Struct, frozen=True):
    """Place of a message of the capture in a sub-session.

    Attributes:
        key: of the sub-session.
        message: the message; None for the start or the end of the sub-session.
    """

    key: str
    message: ChatMessage | None


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
        text = NO_MESSAGES
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


# Answers: the chat


def _show(held: OpenDocument, asked: ShowSubsession) -> Steps[ShownSubsession | None]:
    document = sessions_of(held)
    sub = document.subsession(asked.key)
    if sub is None:
        return None
    sized_from = asked.sized_from if asked.structure == document.structure else 0
    characters, breaks = yield from _sizes(sub, sized_from)
    around, earlier = _around(sub) if asked.expanded else ([], 0)
    parent = sub.parent
    return ShownSubsession(
        revision=document.revision,
        structure=document.structure,
        key=sub.key,
        label=words.label_of(sub),
        parent=parent.key if parent is not None else "",
        parent_label=words.label_of(parent) if parent is not None else "",
        state=words.state_of(sub),
        mark=words.dot_state(document, sub),
        words=words.state_words(sub, document.latest_ns),
        summary=sub.summary or "",
        end="" if sub.is_open else words.end_words(sub),
        messages=sized_from + len(characters),
        sized_from=sized_from,
        characters=characters,
        breaks=breaks,
        roles=list(dict.fromkeys(one.role for one in sub.messages[-_ROLE_MESSAGES:] if one.role)),
        has_parent_messages=parent is not None and len(parent.messages) > 0,
        title=words.title_words(sub, around, earlier) if asked.expanded else "",
        around=[_chat_message(one, earlier + place, "parent") for place, one in enumerate(around)],
        why_not_add=document.why_not_add(sub) or "",
        is_mergeable=not sub.is_open and document.why_not_merge(sub) is None,
    )


def _sizes(sub: Subsession, start: int) -> Steps[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Returns characters and line breaks of the messages from `start` on."""
    characters: list[int] = []
    breaks: list[int] = []
    while start + len(characters) < len(sub.items):
        first = start + len(characters)
        for data in sub.items[first : first + _STEP_MESSAGES]:
            text = content_text(data.get("content"))
            characters.append(len(text))
            breaks.append(text.count("\n"))
        if len(sub.items) > start + len(characters):
            yield
    return np.array(characters, np.int64), np.array(breaks, np.int64)


def _around(sub: Subsession) -> tuple[Sequence[Message], int]:
    """Returns the last parent messages before a sub-session was opened, and the number of messages before them.

    O(messages of the parent since then).
    """
    if sub.parent is None:
        return [], 0
    messages = sub.parent.messages
    end, opened = len(messages), sub.created_ns
    while opened != NO_TIME and end > 0 and messages[end - 1].time_ns > opened:
        end -= 1
    start = max(0, end - PARENT_MESSAGES)
    return messages[start:end], start


def _chat_messages(held: OpenDocument, asked: ChatMessages) -> list[ChatMessage]:
    start = max(0, asked.start)
    check_row_count(asked.stop - start)
    messages = subsession_of(held, asked.key).messages[start : max(start, asked.stop)]
    return [_chat_message(one, start + place, "own") for place, one in enumerate(messages)]


def _chat_message(message: Message, number: int, kind: str) -> ChatMessage:
    content = message.content
    return ChatMessage(
        ref_of(message, number), message.role, content[:_BEGINNING], len(content), message.visibility == "global",
        words.when_words(message.time_ns, message.owner.created_ns), words.time_words(message),
        words.visibility_words(message, kind),
    )  # fmt: skip


def _read(held: OpenDocument, asked: ReadMessage) -> str:
    return message_of(held, asked.message).content[:_WHOLE]


def _copy(held: OpenDocument, asked: CopyMessage) -> str:
    message = message_of(held, asked.message)
    return pretty_json(mask_secrets(message.data)) if asked.as_json else mask_text(message.content)


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
    message = _chat_message(sub.messages[item], item, "own") if 0 <= item < len(sub.messages) else None
    return SubsessionPlace(sub.key, message)


def _subsession_of_context(held: OpenDocument, asked: SubsessionOfContext) -> str | None:
    tree, document = held.document.analysis.contexts.tree, sessions_of(held)
    living = tree.resolve(asked.node)
    if living < 0:
        return None
    found = (document.subsession(name) for name in (tree.name[living], *tree.ids_of(living)))
    return next((sub.key for sub in found if sub is not None), None)


def _context_of_subsession(held: OpenDocument, asked: ContextOfSubsession) -> tuple[int, int] | None:
    sub, contexts = subsession_of(held, asked.key), held.document.analysis.contexts
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
    Query(ChatMessages, list[ChatMessage], _chat_messages),
    Query(ReadMessage, str, _read),
    Query(CopyMessage, str, _copy),
    Query(RowOfMessage, int | None, _row_of_message),
    Query(PlaceOfRow, SubsessionPlace | None, _place_of_row),
    Query(SubsessionOfContext, str | None, _subsession_of_context),
    Query(ContextOfSubsession, tuple[int, int] | None, _context_of_subsession),
)
