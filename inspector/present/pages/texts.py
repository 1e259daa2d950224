"""Overview sections of texts: chats, reasonings, streams; and of MSP sessions and sub-sessions."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.streams.stream_pass import NO_RUN
from inspector.analysis.views.causes.stream_links import stream_of
from inspector.present import formats
from inspector.present.envelope_facts import visibility_facts
from inspector.present.facts import Fact, FactPart, fact, message_part, value_facts, words_fact
from inspector.present.formats import delta
from inspector.present.hex_rows import hex_rows
from inspector.present.pages.factories import (
    bounded_text,
    chain_section,
    fact_card,
    facts_part,
    link_part,
    section_part,
    text_part,
)
from inspector.present.pages.parts import LinkPart, MarkdownPart, Part, ThreadPart
from inspector.present.places import ContextPlace
from inspector.present.reasoning_facts import (
    asked_facts,
    cost_facts,
    sequence_of,
    stream_link,
    stream_opener,
    thread_rows,
)
from inspector.present.stream_facts import frame_fact, is_data, stream_facts, stream_messages
from inspector.present.subject import Subject, sender_of, text_of
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds, msp
from inspector.protocol.message_text import TEXT_KEYS
from inspector.protocol.payloads.content_blocks import is_markdown
from inspector.protocol.payloads.outline import nested_value, value_text
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.store.columns.flags import Flag


def build_chat(subject: Subject) -> list[Part]:
    """Returns the sections of a chat: text, further payload, conversation and acknowledgements."""
    sections: list[Part] = [text_section(subject.text, declared=subject.payload.get("format") == "markdown")]
    seen = visibility_facts(subject)
    skip = ("text", "format", "message", "method", "params", "jsonrpc", *(("role", "visibility") if seen else ()))
    rest = [*seen, *value_facts(subject.payload, skip=skip)]
    if rest:
        sections.append(section_part("Also", facts_part(rest, name="chatMore", label="Also")))
    sections += chain_section(subject, "Conversation")
    acknowledged = _acknowledgement_facts(subject)
    if acknowledged:
        facts = facts_part(acknowledged, name="acknowledgements", label="Acknowledged by")
        sections.append(section_part("Acknowledged by", facts))
    return sections


def text_section(
    text: str, *, declared: bool, label: str = "Text", name: str = "chatText",
    link: LinkPart | None = None,
) -> Part:  # fmt: skip
    """Makes the section of a text; Markdown gets a switch between Formatted and Text.

    Args:
        declared: the message declares Markdown.
        link: leads to the message of the text; in the section's head, or below a text with a switch.
    """
    if not text:
        return section_part(label, facts_part([fact("", "No text.", "dim")], name="noText", label=label))
    if not declared and not is_markdown(text):
        return section_part(label, text_part(text, name=name, label=label), action=link)
    view = MarkdownPart(text=bounded_text(text), name=name)
    body = [view] if link is None else [view, link]
    return section_part(label, *body, name="said")


def _acknowledgement_facts(subject: Subject) -> list[Fact]:
    rows: list[Fact] = []
    # Limited, since a broadcast may have thousands of acknowledgements.
    for effect in subject.effects[:50]:
        if subject.capture.string("kind", effect) not in ("chat/acknowledge", "chat/cancel"):
            continue
        status = subject.capture.records.payload(effect)
        word = status.get("status") or status.get("reason") or ""
        parts = (FactPart(f"{safe_line(str(word), 80)}, " if word else ""), message_part(effect))
        rows.append(Fact(sender_of(subject.capture, effect), parts, right=delta(subject.delta_ns(effect))))
    return rows


def build_about_chat(subject: Subject) -> list[Part]:
    """Returns the sections of an acknowledgement or cancellation: its chat and the chain."""
    rows = value_facts(subject.payload)
    about = next(iter(subject.causes), None)
    if about is not None:
        sender = sender_of(subject.capture, about)
        rows.append(Fact("Chat", (message_part(about), FactPart(f"  {sender}", "dim"))))
        rows.append(fact("", text_of(subject.capture, about), lines=6))
    else:
        rows.append(fact("Chat", "its message is not in the log", "dim"))
    label = "Acknowledged" if subject.kind == "chat/acknowledge" else "Cancelled"
    return [section_part(label, fact_card(rows, name="acknowledged", label=label)), *chain_section(subject)]


def build_reasoning(subject: Subject) -> list[Part]:
    """Returns the sections of a reasoning: task or thought, thread, stream and cost."""
    sections: list[Part] = []
    if subject.kind == "reasoning/start":
        sections.append(section_part("Asked", fact_card(asked_facts(subject), name="asked", label="Asked")))
    else:
        sections += _own_text_sections(subject)
    node = sequence_of(subject)
    if node == MAIN:
        return sections + chain_section(subject)
    rows, hidden, outside = thread_rows(subject, node)
    body: list[Part] = [ThreadPart(rows=rows, label="Thoughts and actions", name="thoughts")]
    if hidden:
        more = f"{formats.number(hidden)} more, scope to this context"
        body.append(link_part(more, "scope", subject.message, name="moreThoughts"))
    scope = link_part("Scope to this context", "scope", subject.message, name="scopeTo")
    sections.append(section_part("Thoughts and actions", *body, action=scope))
    stream = stream_opener(subject, subject.analysis.contexts.started_by[node])
    if stream is not None:
        sections += joined_sections(subject, subject.analysis.streams.run_about(stream), "Concurrent streams")
    cost = cost_facts(subject, node, outside) + ([stream_link(subject, stream)] if stream is not None else [])
    sections.append(section_part("Cost", facts_part(cost, name="cost", label="Cost")))
    return sections


def _own_text_sections(subject: Subject) -> list[Part]:
    last = kinds.short_kind(subject.kind)
    label = {"thought": "Thought", "conclusion": "Conclusion", "cancel": "Cancelled"}.get(last, last.capitalize())
    shown = next((k for k in TEXT_KEYS if isinstance(subject.payload.get(k), str)), None)
    sections: list[Part] = []
    if shown is not None:
        sections.append(text_section(subject.text, declared=False, label=label, name="thoughtText"))
    rest = value_facts(subject.payload, skip=(shown,) if shown else ())
    if rest:
        sections.append(section_part("Also" if shown else label, fact_card(rest, name="thoughtMore", label="Also")))
    elif shown is None:
        sections.append(section_part(label, facts_part([fact("", "No message.", "dim")], name="noText", label=label)))
    return sections


MOST_LISTED = 100
"""Most listed frames of a stream."""
MOST_JOINED = 1_000
"""Most frames of a stream with joined data."""
_BYTES_SHOWN = 128


def build_stream(subject: Subject) -> list[Part]:
    """Returns the sections of a stream: joined text, owner, frames, and the selected frame's data."""
    stream = stream_of(subject.analysis, subject.message)
    life = stream_messages(subject, stream) if stream else []
    facts = section_part("Stream", facts_part(stream_facts(subject, stream, life), name="streamFacts", label="Stream"))
    run = subject.analysis.streams.run_about(subject.message) or _stream_run(subject, life)
    count = int(subject.analysis.streams.runs["frames"][run])
    own = [_frame_section(subject, alone=count == 1)] if subject.flags & Flag.FRAME else []
    if not count or (count == 1 and own):
        return [*own, facts, *chain_section(subject)]
    return [*joined_sections(subject, run), facts, _frames_section(subject, run), *own, *chain_section(subject)]


def _stream_run(subject: Subject, life: list[int]) -> int:
    """Returns the run of a stream's messages, or NO_RUN."""
    runs = map(subject.analysis.streams.run_about, life)
    return next(filter(None, runs), NO_RUN)


def _frames_section(subject: Subject, run: int) -> Part:
    """Makes the list of frames; long streams show the newest ones."""
    subject, streams = subject, subject.analysis.streams
    last = int(streams.runs["last"][run]) + 1
    frames = streams.before(last, run, MOST_LISTED).tolist()
    left_out = int(streams.runs["frames"][run]) - len(frames)
    label = f"Last {MOST_LISTED} frames" if left_out else "Frames"
    rows = [frame_fact(subject, row) for row in frames]
    return section_part(label, facts_part(rows, name="frames", label=label, name_width=64))


def joined_sections(subject: Subject, run: int, label: str = "Streamed text") -> list[Part]:
    """Returns the section of a run's joined frames, bounded; empty without data.

    Each frame is read once, however often a live stream is shown again.
    """
    text = subject.document.stream_texts.stream_text(run)
    joined = text.read(MOST_JOINED).joined
    body: list[Part] = []
    if joined.data:
        label = "Streamed bytes"
        rows = hex_rows(joined.data[:_BYTES_SHOWN], None)
        body.append(facts_part(rows, name="joinedBytes", label=label, name_width=40))
    elif joined.text:
        body.append(text_part(mask_text(joined.text), name="joinedText", label=label, mono=is_data(joined)))
    left_out = text.frames_left
    rows = [fact("Said", safe_line(" → ".join(joined.notes), 400), "dim", lines=2)] if joined.notes else []
    if left_out or len(joined.data) > _BYTES_SHOWN:
        words = f"{formats.count_of(left_out, 'more frame')}" if left_out else "the first bytes"
        rows.append(fact("", f"{words}, each in its own message" if left_out else "the first bytes only", "dim"))
    if rows:
        body.append(facts_part(rows, name="joinedMore", label=label, name_width=66))
    return [section_part(label, *body, name="joined")] if body else []


def _frame_section(subject: Subject, *, alone: bool) -> Part:
    """Makes the section of one frame's data.

    Args:
        subject: the frame.
        alone: the stream has no other frame.
    """
    title = "Data" if alone else f"Data of {formats.message_number(subject.message)}"
    data = subject.capture.records.frame_data(subject.message)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        rows = hex_rows(data[:_BYTES_SHOWN], None)
        more = len(data) - _BYTES_SHOWN
        if more > 0:
            rows.append(fact("", f"{formats.size(more)} more, see Raw", "dim"))
        facts = facts_part(rows, name="frameData", label="Data", name_width=40)
        return section_part(f"{title}, no text", facts, name="data")
    label, inner = title, nested_value(text)
    if isinstance(inner, Mapping):
        facts = fact_card(value_facts(mask_secrets(inner), lines=8), name="frameData", label=label)
        return section_part(label, facts, name="data")
    return section_part(
        label, text_part(mask_text(text) or "empty", name="frameData", label=label, mono=True), name="data"
    )


_AGREED = (("constraints", "Constraint"), ("decisions", "Decision"), ("facts", "Fact"))
_MOST_AGREED = 50
_POLICY = (
    ("include_sub_context", "Sub-context"), ("include_snapshots", "Snapshots"),
    ("recent_parent_messages", "Recent messages"),
)  # fmt: skip


def build_session(subject: Subject) -> list[Part]:
    """Returns the sections of a session's start: purpose and agreements."""
    payload = subject.payload
    agreed = payload.get("sub_context")
    agreed = agreed if isinstance(agreed, Mapping) else {}
    rows = [words_fact(str(agreed.get("intent") or "No intent stated."), lines=6)]
    for name, label in _AGREED:
        listed = agreed.get(name)
        values = listed[:_MOST_AGREED] if isinstance(listed, list) else []
        rows += [fact(label, value_text(value), lines=4) for value in values]
    rows += value_facts(agreed, skip=("intent", *(name for name, _ in _AGREED)))
    sections: list[Part] = [section_part("Intent", fact_card(rows, name="subContext", label="Intent"))]
    listed = payload.get("subsessions")
    about = [fact("Session", value_text(payload.get("label") or payload.get("session_id")), "strong", lines=2)]
    if isinstance(listed, list):
        names = ", ".join(safe_line(str(one), 60) for one in listed[:_MOST_AGREED] if isinstance(one, str))
        about.append(fact("Lists", names or "no sub-sessions", lines=4))
    about += value_facts(payload, skip=("sub_context", "subsessions", "label", "created_at"))
    return [*sections, section_part("Session", facts_part(about, name="session", label="Session"))]


def build_snapshot(subject: Subject) -> list[Part]:
    """Returns the sections of a snapshot: its text and the range of messages it covers."""
    sections: list[Part] = [text_section(subject.text, declared=True, label="Summary snapshot")]
    rows: list[Fact] = []
    covers = subject.payload.get("covers_messages")
    if isinstance(covers, list) and len(covers) == 2:
        rows.append(fact("Covers", f"messages {value_text(covers[0])} to {value_text(covers[1])}"))
        skip = ("text", "content", "covers_messages", "created_at")
    else:
        skip = ("text", "content", "created_at")
    rows += value_facts(subject.payload, skip=skip)
    return [*sections, section_part("Also", facts_part(rows, name="snapshot", label="Also"))] if rows else sections


def build_opened(subject: Subject) -> list[Part]:
    """Returns the sections of a sub-session's start: label and context policy."""
    payload = subject.payload
    rows = [fact("Sub-session", value_text(payload.get("label") or ""), "strong", lines=3), *_subsession_fact(subject)]
    policy = payload.get("context_policy")
    if isinstance(policy, Mapping):
        for name, label in _POLICY:
            if name in policy:
                rows.append(fact(label, _policy_words(policy[name])))
        rows += value_facts(policy, skip=tuple(name for name, _ in _POLICY))
    else:
        rows.append(fact("Includes", "no policy stated: everything, and 5 recent messages", "dim", lines=2))
    rows += value_facts(payload, skip=("label", "context_policy", "created_at", "parent_session_id"))
    card = fact_card(rows, name="subsessionOpened", label="Opened")
    return [section_part("Opens a sub-session", card)]


def build_closed(subject: Subject) -> list[Part]:
    """Returns the sections of a sub-session's end: its summary."""
    payload = subject.payload
    discarded = payload.get("status") == msp.DISCARDED_STATUS
    label = "Discarded" if discarded else "Closed"
    rows = [fact("Sub-session", value_text(payload.get("label") or ""), "strong", lines=3), *_subsession_fact(subject)]
    rows += value_facts(payload, skip=("label", "summary", "closed_at"))
    sections: list[Part] = [section_part(label, fact_card(rows, name="subsessionClosed", label=label))]
    summary = payload.get("summary")
    if isinstance(summary, str) and summary:
        sections.append(text_section(summary, declared=True, label="Summary", name="summaryText"))
    elif not discarded:
        none = facts_part([fact("", "No summary was written.", "dim")], name="noSummary", label="Summary")
        sections.append(section_part("Summary", none))
    return sections


def _policy_words(value: object) -> str:
    if isinstance(value, bool):
        return "included" if value else "left out"
    return value_text(value)


def _subsession_fact(subject: Subject) -> list[Fact]:
    """Returns the link to the sub-session's own page."""
    name = subject.payload.get("subsession_id")
    if not isinstance(name, str):
        return []
    space = int(subject.capture.columns["space"][subject.message])
    node = subject.analysis.contexts.tree.find(space, name)
    if node == MAIN:
        return []
    path = subject.analysis.contexts.tree.path(node)
    return [Fact("Context", (FactPart(path, "link", place=ContextPlace(space, node)),), middle=True)]
