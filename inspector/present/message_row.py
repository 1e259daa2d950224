"""Content of one row in a list of messages: plain data for models and painters.

Only this module decodes payloads for rows, so rows outside the view cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from inspector.analysis.findings import Severity
from inspector.analysis.passes.calls.open_waits import are_waiting
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.log_vocabulary import kind_word
from inspector.analysis.passes.user_marks import EMPTY_NOTE, Note
from inspector.analysis.states.state_pass import STATE_NAMES, MessageState
from inspector.analysis.views.latency.background_agents import answer_latency_ns
from inspector.document.document import CaptureDocument
from inspector.present import formats, wire_text
from inspector.present.badges import badge_words
from inspector.present.folded_stream import FoldedStream, folded_stream
from inspector.present.message_phrase import Style, TextRun, phrase_of
from inspector.present.row_state import RowState, row_state, took_ns
from inspector.protocol import kinds
from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.batch_decoding import read_in_batches

MAX_NAME = 120
"""Limit of a participant, a kind or a context label, in characters."""
_UNREADABLE, _LOG_ONLY, _ERROR, _SENT_FLAG, _GAP = (
    flag.value for flag in (Flag.UNREADABLE, Flag.LOG_ONLY, Flag.ERROR, Flag.SENT, Flag.GAP)
)
_NOT_ADDRESSED = (Flag.UNREADABLE | Flag.LOG_ONLY).value
_FRAME = Flag.FRAME.value
NO_BROADCAST = (Flag.RPC | Flag.JOIN | Flag.DERIVED).value
"""Flags of messages that go to nobody rather than to everyone if they have no recipients."""
_NOTICES = "notifications/"
_TASK, _TASK_TAG = re.compile(r"task ([0-9A-Za-z]{6,64})\b"), "task-notification"
APPEARS = "appears "
"""Beginning of the remark on a row that copies of its message fold into."""
_QUIET_NAMESPACES = ("mcp/", "reasoning/", "chat/")


@dataclass(slots=True)
class RowContent:
    """Content of one row.

    Attributes:
        message: its index.
        time_ns: its time, or `NO_TIME`.
        number, latency, size: texts of the narrow columns; "" if empty.
        sender: "" if unknown.
        receivers: at most two names, with "+3" for the rest; "everyone" without recipients; "" without an envelope.
        everyone: it has no recipients.
        kind: canonical kind, "" if unreadable.
        namespace, word: the kind as shown: "stream/" and "open"; namespace is "" for common ones.
        ancestors, leaf: the context as shown; both "" in main.
        path: the context's full path, "" in main.
        runs: the Message column.
        aside: words at its right end: a reason or a size.
        gap: sentence of a gap row.
        stream: content of a folded stream, if any.
        badges: badge words, in the order of a result's life.
        sources: numbers of its sources if the document has several; first the one it is read from.
        severity: severity of its worst finding.
        note: the user's mark and comment.
        state: its state, if any.
        took_ns: latency of a request's answer, if any.
        awaits_since: time of a live unanswered request or open proposal, else None.
        fields: texts of field columns by name, as far as requested.
    """

    message: int
    number: str
    time_ns: int = NO_TIME
    sender: str = ""
    receivers: str = ""
    everyone: bool = False
    kind: str = ""
    namespace: str = ""
    word: str = ""
    ancestors: str = ""
    leaf: str = ""
    path: str = ""
    runs: list[TextRun] = field(default_factory=list)
    aside: str = ""
    gap: str | None = None
    badges: tuple[str, ...] = ()
    collapsed: bool = False
    stream: FoldedStream | None = None
    error: bool = False
    sent: bool = False
    unreadable: bool = False
    log_only: bool = False
    state: RowState | None = None
    took_ns: int | None = None
    awaits_since: int | None = None
    latency: str = ""
    size: str = ""
    sources: tuple[int, ...] = ()
    severity: Severity | None = None
    note: Note = EMPTY_NOTE
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def may_be_failed(self) -> bool:
        """Returns True for a failed call, and for the answer of one."""
        return self.error or (self.state is not None and self.state.short == STATE_NAMES[MessageState.FAILED])

    @property
    def expandable(self) -> bool:
        """Returns True for a collapsed result or a stream, which have lines to expand."""
        return self.collapsed or self.stream is not None

    @property
    def gutter_words(self) -> list[str]:
        severity = self.severity.word if self.severity is not None else ""
        sent = "sent" if self.sent and not severity else ""
        return [word for word in (severity, *self.note.words, sent) if word]

    @property
    def from_to(self) -> str:
        """Sender and receivers as one text."""
        return f"{self.sender} → {self.receivers}" if self.receivers else self.sender

    @property
    def context(self) -> str:
        """The context as one text."""
        return f"{self.ancestors} / {self.leaf}" if self.ancestors else self.leaf

    @property
    def kind_text(self) -> str:
        """The kind as shown with enough space."""
        return self.namespace + self.word

    @property
    def text(self) -> str:
        """The Message column as one text."""
        if self.gap is not None:
            return self.gap
        return "  ".join(wire_text.visible_controls(run.text) for run in self.runs if run.text)


def row_content(document: CaptureDocument, message: int, *, folded: bool = False) -> RowContent:
    """Returns one row; arguments as for `row_contents`."""
    return row_contents(document, [message], folded=folded)[0]


def row_contents(
    document: CaptureDocument, messages: Sequence[int], *, folded: bool = False, has_text: bool = True
) -> list[RowContent]:  # fmt: skip
    """Returns several rows, with states queried together. Never raises for odd traffic.

    Args:
        document: the document.
        messages: messages of the rows.
        folded: a frame's row stands for its stream.
        has_text: fills the Message column, the most expensive part; streams always have theirs.
    """
    analysis, rows = document.analysis, np.array(messages, np.int64)
    states = map(MessageState, analysis.states.states_at(rows).tolist())
    # In a log, time does not pass, so no row counts up.
    waits = [False] * len(rows)
    if analysis.now_ns is not None:
        waits = are_waiting(document.capture, analysis.correlation.columns, rows).tolist()
    facts = {message: (state, wait) for message, state, wait in zip(messages, states, waits, strict=True)}

    def build(message: int) -> RowContent:
        return _build_row(document, message, *facts[message], folded=folded, has_text=has_text)

    # Texts are in payloads, which cost half as much when they are decoded together.
    return [*read_in_batches(document.capture, rows, build)] if has_text else [*map(build, messages)]


def _build_row(
    document: CaptureDocument, message: int, state: MessageState, waits: bool, *, folded: bool, has_text: bool
) -> RowContent:
    capture, analysis = document.capture, document.analysis
    flags = int(capture.columns["flags"][message])  # testing bits of an enum costs ten times as much
    content = RowContent(
        message,
        str(message + 1),
        int(capture.columns["time_ns"][message]),
        unreadable=bool(flags & _UNREADABLE),
        log_only=bool(flags & _LOG_ONLY) and not int(capture.columns["kind"][message]),
        error=bool(flags & _ERROR),
        sent=bool(flags & _SENT_FLAG),
        sources=tuple(capture.sources_of(message)) if len(capture.sources) > 1 else (),
        severity=_worst_severity(document, message),
        note=analysis.marks.note(message),
        size=formats.size(int(capture.columns["size"][message])),
    )
    if flags & _GAP:
        content.gap = wire_text.safe_line(capture.records.reason(message) or "messages may be missing here")
        content.word, content.size = "server ended" if content.error else "gap", ""
        return content
    _fill_ends(content, document, flags)
    _fill_kind(content, document)
    _fill_context(content, document)
    content.badges = badge_words(analysis.transients, message)
    content.collapsed = "collapsed" in content.badges
    stream = folded_stream(document, message) if folded and flags & _FRAME else None
    if stream is not None:
        _fill_stream(content, stream)
    else:
        if has_text:
            phrase = phrase_of(document, message, Flag(flags), content.kind)
            content.runs, content.aside = phrase.runs, phrase.aside
            if capture.transcripts.agents:
                _name_task(document, content)
        if not content.aside and capture.has_copies:
            content.aside = _repeat_words(document, message, folded=folded)
    # Last, since it outweighs every other remark.
    if message in analysis.trust.forged:
        content.aside = "forged"
    content.state = row_state(document, message, state)
    content.took_ns = took_ns(document, message)
    if content.kind == kinds.RESPONSE:
        content.latency = formats.latency(answer_latency_ns(analysis, message))
    elif waits:
        content.awaits_since = content.time_ns if content.time_ns != NO_TIME else None
    return content


def _name_task(document: CaptureDocument, content: RowContent) -> None:
    """Shows the description of a sub-agent's task in place of its id, in a notification about the task."""
    for place, run in enumerate(content.runs):
        found = _TASK.match(run.text)
        agent = document.capture.transcripts.agents.get(found[1]) if found is not None else None
        if found is None or agent is None or not agent.label:
            continue
        if document.capture.records.payload(content.message).get("tag") == _TASK_TAG:
            name = wire_text.safe_line(agent.label, MAX_NAME)
            content.runs[place] = replace(run, text=f"task “{name}”{run.text[found.end() :]}")
        return


def _repeat_words(document: CaptureDocument, message: int, *, folded: bool) -> str:
    """Marks a copy or repeat; on the row that copies fold into, counts them."""
    capture = document.capture
    of, copy = (int(found[0]) for found in capture.repeated_messages(np.array([message])))
    if of != NO_ROW:
        return f"{'copy of' if copy else 'repeats'} No. {of + 1}"
    copies = len(capture.copies_of(message)) if folded else 0
    return f"{APPEARS}{'twice' if copies == 1 else f'{copies + 1:,} times'}" if copies else ""


def _fill_stream(content: RowContent, stream: FoldedStream) -> None:
    """Fills in the joined content of a stream."""
    content.stream, content.aside = stream, stream.aside
    content.word = "frames" if stream.count > 1 else content.word
    content.size = formats.size(stream.size)
    line = wire_text.excerpt_line(stream.text) or "no message"
    style = Style.TEXT if stream.is_speech else Style.TERTIARY
    content.runs = [TextRun(line, style, wire_text.has_hidden(line))]
    # The row represents all frames, so the worst finding of any of them counts.
    worst = max(stream.severity, content.severity.value if content.severity is not None else 0)
    content.severity = Severity(worst) if worst else None


def _worst_severity(document: CaptureDocument, message: int) -> Severity | None:
    found = document.analysis.findings.found
    worst = int(found.severities[found.columns["set"][message]])
    return Severity(worst) if worst else None


def _short_text(name: str) -> str:
    """Shortens a participant, kind or segment; the same few occur again and again."""
    # Long names bypass the cache, so that it stays small.
    return _short_name(name) if len(name) <= MAX_NAME else wire_text.safe_line(name, MAX_NAME)


# Masking a name takes 4 µs without the cache and 0.07 µs with it.
@lru_cache(maxsize=4096)
def _short_name(name: str) -> str:
    return wire_text.safe_line(name, MAX_NAME)


def _fill_ends(content: RowContent, document: CaptureDocument, flags: int) -> None:
    capture, message = document.capture, content.message
    sender = capture.string("sender", message) or ""
    is_forged = message in document.analysis.trust.forged
    # A forged message must not look like one of the gateway.
    content.sender = "gateway" if sender in GATEWAY_IDS and not is_forged else _short_text(capture.shown_name(sender))
    if flags & _NOT_ADDRESSED or (flags & _FRAME and not sender):
        return
    receivers = [_short_text(capture.shown_name(name)) for name in capture.recipients(message)]
    if not receivers:
        # JSON-RPC lines and hellos are no broadcasts: without recipients, none are shown.
        content.everyone = bool(content.sender) and not flags & NO_BROADCAST
        content.receivers = "everyone" if content.everyone else ""
    else:
        more = f" +{len(receivers) - 2}" if len(receivers) > 2 else ""
        content.receivers = ", ".join(receivers[:2]) + more


def _fill_kind(content: RowContent, document: CaptureDocument) -> None:
    kind = content.kind = document.capture.string("kind", content.message) or ""
    if content.unreadable:
        content.word = "unreadable"
        return
    if content.log_only:
        content.word = "decision"
        return
    content.word = kind_word(document.capture, content.message)
    if content.word:
        return
    if kind == kinds.REQUEST and (document.capture.string("method", content.message) or "").startswith(_NOTICES):
        content.word = "notification"  # expects no answer
        return
    shown = _short_text(kind) or "no kind"
    namespace, slash, word = shown.rpartition("/")
    content.word = word or shown
    content.namespace = "" if f"{namespace}/" in _QUIET_NAMESPACES else f"{namespace}{slash}"


def _fill_context(content: RowContent, document: CaptureDocument) -> None:
    contexts = document.analysis.contexts
    node = contexts.node_of(content.message)
    if node == MAIN:
        return
    tree = contexts.tree
    content.path = wire_text.visible_controls(tree.path(node))
    content.leaf = _short_text(contexts.label(node))
    above: list[str] = []
    parent = tree.parent[node]
    # Deep nesting would make each repaint slow, and no row shows that many.
    while parent != MAIN and len(above) < 64:
        above.append(_short_text(contexts.label(parent)))
        parent = tree.parent[parent]
    content.ancestors = " / ".join(reversed(above))
