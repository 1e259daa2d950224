"""Overview sections of texts: chats, reasonings, streams; and of MSP sessions and sub-sessions."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QWidget

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.streams.stream_pass import NO_RUN
from inspector.analysis.views.causes.stream_links import stream_of
from inspector.present import formats
from inspector.present.envelope_facts import visibility_facts
from inspector.present.facts import Fact, FactPart, fact, message_part, value_facts, words_fact
from inspector.present.formats import delta
from inspector.present.hex_rows import hex_rows
from inspector.present.reasoning_facts import (
    asked_facts,
    cost_facts,
    sequence_of,
    stream_link,
    stream_opener,
    thread_rows,
)
from inspector.present.stream_facts import frame_fact, is_data, stream_facts, stream_messages
from inspector.present.subject import ContextPlace, Subject, sender_of, text_of
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds, msp
from inspector.protocol.message_text import TEXT_KEYS
from inspector.protocol.payloads.content_blocks import is_markdown
from inspector.protocol.payloads.outline import nested_value, value_text
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.store.columns.flags import Flag
from inspector.ui.panels.details.content_view import MarkdownText
from inspector.ui.panels.details.page_builder import Sheet


def build_chat(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of a chat: text, further payload, conversation and acknowledgements."""
    subject = sheet.subject
    sections: list[QWidget] = [text_section(sheet, subject.text, declared=subject.payload.get("format") == "markdown")]
    seen = visibility_facts(subject)
    skip = ("text", "format", "message", "method", "params", "jsonrpc", *(("role", "visibility") if seen else ()))
    rest = [*seen, *value_facts(subject.payload, skip=skip)]
    if rest:
        sections.append(sheet.section("Also", sheet.facts(rest, name="chatMore", label="Also")))
    sections += sheet.chain_section("Conversation")
    acknowledged = _acknowledgement_facts(subject)
    if acknowledged:
        facts = sheet.facts(acknowledged, name="acknowledgements", label="Acknowledged by")
        sections.append(sheet.section("Acknowledged by", facts))
    return sections


def text_section(
    sheet: Sheet, text: str, *, declared: bool, label: str = "Text", name: str = "chatText", link: QWidget | None = None
) -> QWidget:
    """Makes the section of a text; Markdown gets a switch between Formatted and Text.

    Args:
        declared: the message declares Markdown.
        link: leads to the message of the text; in the section's head, or below a text with a switch.
    """
    if not text:
        return sheet.section(label, sheet.facts([fact("", "No text.", "dim")], name="noText", label=label))
    if not declared and not is_markdown(text):
        return sheet.section(label, sheet.text(text, name=name, label=label), action=link)
    view = MarkdownText(sheet.themes, text, sheet.links, name=name)
    body = [view] if link is None else [view, link]
    return sheet.section(label, *body, name="said", action=view.segments)


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


def build_about_chat(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of an acknowledgement or cancellation: its chat and the chain."""
    subject = sheet.subject
    rows = value_facts(subject.payload)
    about = next(iter(subject.causes), None)
    if about is not None:
        sender = sender_of(subject.capture, about)
        rows.append(Fact("Chat", (message_part(about), FactPart(f"  {sender}", "dim"))))
        rows.append(fact("", text_of(subject.capture, about), lines=6))
    else:
        rows.append(fact("Chat", "its message is not in the log", "dim"))
    label = "Acknowledged" if subject.kind == "chat/acknowledge" else "Cancelled"
    return [sheet.section(label, sheet.fact_card(rows, name="acknowledged", label=label)), *sheet.chain_section()]


def build_reasoning(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of a reasoning: task or thought, thread, stream and cost."""
    subject = sheet.subject
    sections: list[QWidget] = []
    if subject.kind == "reasoning/start":
        sections.append(sheet.section("Asked", sheet.fact_card(asked_facts(subject), name="asked", label="Asked")))
    else:
        sections += _own_text_sections(sheet)
    node = sequence_of(subject)
    if node == MAIN:
        return sections + sheet.chain_section()
    rows, hidden, outside = thread_rows(subject, node)
    body: list[QWidget] = [sheet.thread(rows, label="Thoughts and actions", name="thoughts")]
    if hidden:
        more = f"{formats.number(hidden)} more, scope to this context"
        body.append(sheet.link(more, lambda: sheet.links.scope_requested.emit(subject.message), name="moreThoughts"))
    scope = sheet.link(
        "Scope to this context", lambda: sheet.links.scope_requested.emit(subject.message), name="scopeTo"
    )
    sections.append(sheet.section("Thoughts and actions", *body, action=scope))
    stream = stream_opener(subject, subject.analysis.contexts.started_by[node])
    if stream is not None:
        sections += joined_sections(sheet, subject.analysis.streams.run_about(stream), "Concurrent streams")
    cost = cost_facts(subject, node, outside) + ([stream_link(subject, stream)] if stream is not None else [])
    sections.append(sheet.section("Cost", sheet.facts(cost, name="cost", label="Cost")))
    return sections


def _own_text_sections(sheet: Sheet) -> list[QWidget]:
    subject = sheet.subject
    last = kinds.short_kind(subject.kind)
    label = {"thought": "Thought", "conclusion": "Conclusion", "cancel": "Cancelled"}.get(last, last.capitalize())
    shown = next((k for k in TEXT_KEYS if isinstance(subject.payload.get(k), str)), None)
    sections: list[QWidget] = []
    if shown is not None:
        sections.append(text_section(sheet, subject.text, declared=False, label=label, name="thoughtText"))
    rest = value_facts(subject.payload, skip=(shown,) if shown else ())
    if rest:
        sections.append(
            sheet.section("Also" if shown else label, sheet.fact_card(rest, name="thoughtMore", label="Also"))
        )
    elif shown is None:
        sections.append(sheet.section(label, sheet.facts([fact("", "No message.", "dim")], name="noText", label=label)))
    return sections


MOST_LISTED = 100
"""Most listed frames of a stream."""
MOST_JOINED = 1_000
"""Most frames of a stream with joined data."""
_BYTES_SHOWN = 128


def build_stream(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of a stream: joined text, owner, frames, and the selected frame's data."""
    subject = sheet.subject
    stream = stream_of(subject.analysis, subject.message)
    life = stream_messages(subject, stream) if stream else []
    facts = sheet.section(
        "Stream", sheet.facts(stream_facts(subject, stream, life), name="streamFacts", label="Stream")
    )
    run = subject.analysis.streams.run_about(subject.message) or _stream_run(subject, life)
    count = int(subject.analysis.streams.runs["frames"][run])
    own = [_frame_section(sheet, alone=count == 1)] if subject.flags & Flag.FRAME else []
    if not count or (count == 1 and own):
        return [*own, facts, *sheet.chain_section()]
    return [*joined_sections(sheet, run), facts, _frames_section(sheet, run), *own, *sheet.chain_section()]


def _stream_run(subject: Subject, life: list[int]) -> int:
    """Returns the run of a stream's messages, or NO_RUN."""
    runs = map(subject.analysis.streams.run_about, life)
    return next(filter(None, runs), NO_RUN)


def _frames_section(sheet: Sheet, run: int) -> QWidget:
    """Makes the list of frames; long streams show the newest ones."""
    subject, streams = sheet.subject, sheet.subject.analysis.streams
    last = int(streams.runs["last"][run]) + 1
    frames = streams.before(last, run, MOST_LISTED).tolist()
    left_out = int(streams.runs["frames"][run]) - len(frames)
    label = f"Last {MOST_LISTED} frames" if left_out else "Frames"
    rows = [frame_fact(subject, row) for row in frames]
    return sheet.section(label, sheet.facts(rows, name="frames", label=label, name_width=64))


def joined_sections(sheet: Sheet, run: int, label: str = "Streamed text") -> list[QWidget]:
    """Returns the section of a run's joined frames, bounded; empty without data.

    Each frame is read once, however often a live stream is shown again.
    """
    text = sheet.subject.document.stream_texts.stream_text(run)
    joined = text.read(MOST_JOINED).joined
    body: list[QWidget] = []
    if joined.data:
        label = "Streamed bytes"
        rows = hex_rows(joined.data[:_BYTES_SHOWN], None)
        body.append(sheet.facts(rows, name="joinedBytes", label=label, name_width=40))
    elif joined.text:
        body.append(sheet.text(mask_text(joined.text), name="joinedText", label=label, mono=is_data(joined)))
    left_out = text.frames_left
    rows = [fact("Said", safe_line(" → ".join(joined.notes), 400), "dim", lines=2)] if joined.notes else []
    if left_out or len(joined.data) > _BYTES_SHOWN:
        words = f"{formats.count_of(left_out, 'more frame')}" if left_out else "the first bytes"
        rows.append(fact("", f"{words}, each in its own message" if left_out else "the first bytes only", "dim"))
    if rows:
        body.append(sheet.facts(rows, name="joinedMore", label=label, name_width=66))
    return [sheet.section(label, *body, name="joined")] if body else []


def _frame_section(sheet: Sheet, *, alone: bool) -> QWidget:
    """Makes the section of one frame's data.

    Args:
        sheet: of the page.
        alone: the stream has no other frame.
    """
    title = "Data" if alone else f"Data of {formats.message_number(sheet.subject.message)}"
    data = sheet.subject.capture.records.frame_data(sheet.subject.message)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        rows = hex_rows(data[:_BYTES_SHOWN], None)
        more = len(data) - _BYTES_SHOWN
        if more > 0:
            rows.append(fact("", f"{formats.size(more)} more, see Raw", "dim"))
        facts = sheet.facts(rows, name="frameData", label="Data", name_width=40)
        return sheet.section(f"{title}, no text", facts, name="data")
    label, inner = title, nested_value(text)
    if isinstance(inner, Mapping):
        facts = sheet.fact_card(value_facts(mask_secrets(inner), lines=8), name="frameData", label=label)
        return sheet.section(label, facts, name="data")
    return sheet.section(
        label, sheet.text(mask_text(text) or "empty", name="frameData", label=label, mono=True), name="data"
    )


_AGREED = (("constraints", "Constraint"), ("decisions", "Decision"), ("facts", "Fact"))
_MOST_AGREED = 50
_POLICY = (
    ("include_sub_context", "Sub-context"), ("include_snapshots", "Snapshots"),
    ("recent_parent_messages", "Recent messages"),
)  # fmt: skip


def build_session(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of a session's start: purpose and agreements."""
    payload = sheet.subject.payload
    agreed = payload.get("sub_context")
    agreed = agreed if isinstance(agreed, Mapping) else {}
    rows = [words_fact(str(agreed.get("intent") or "No intent stated."), lines=6)]
    for name, label in _AGREED:
        listed = agreed.get(name)
        values = listed[:_MOST_AGREED] if isinstance(listed, list) else []
        rows += [fact(label, value_text(value), lines=4) for value in values]
    rows += value_facts(agreed, skip=("intent", *(name for name, _ in _AGREED)))
    sections: list[QWidget] = [sheet.section("Intent", sheet.fact_card(rows, name="subContext", label="Intent"))]
    listed = payload.get("subsessions")
    about = [fact("Session", value_text(payload.get("label") or payload.get("session_id")), "strong", lines=2)]
    if isinstance(listed, list):
        names = ", ".join(safe_line(str(one), 60) for one in listed[:_MOST_AGREED] if isinstance(one, str))
        about.append(fact("Lists", names or "no sub-sessions", lines=4))
    about += value_facts(payload, skip=("sub_context", "subsessions", "label", "created_at"))
    return [*sections, sheet.section("Session", sheet.facts(about, name="session", label="Session"))]


def build_snapshot(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of a snapshot: its text and the range of messages it covers."""
    subject = sheet.subject
    sections: list[QWidget] = [text_section(sheet, subject.text, declared=True, label="Summary snapshot")]
    rows: list[Fact] = []
    covers = subject.payload.get("covers_messages")
    if isinstance(covers, list) and len(covers) == 2:
        rows.append(fact("Covers", f"messages {value_text(covers[0])} to {value_text(covers[1])}"))
        skip = ("text", "content", "covers_messages", "created_at")
    else:
        skip = ("text", "content", "created_at")
    rows += value_facts(subject.payload, skip=skip)
    return [*sections, sheet.section("Also", sheet.facts(rows, name="snapshot", label="Also"))] if rows else sections


def build_opened(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of a sub-session's start: label and context policy."""
    payload = sheet.subject.payload
    rows = [fact("Sub-session", value_text(payload.get("label") or ""), "strong", lines=3), *_subsession_fact(sheet)]
    policy = payload.get("context_policy")
    if isinstance(policy, Mapping):
        for name, label in _POLICY:
            if name in policy:
                rows.append(fact(label, _policy_words(policy[name])))
        rows += value_facts(policy, skip=tuple(name for name, _ in _POLICY))
    else:
        rows.append(fact("Includes", "no policy stated: everything, and 5 recent messages", "dim", lines=2))
    rows += value_facts(payload, skip=("label", "context_policy", "created_at", "parent_session_id"))
    card = sheet.fact_card(rows, name="subsessionOpened", label="Opened")
    return [sheet.section("Opens a sub-session", card)]


def build_closed(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of a sub-session's end: its summary."""
    payload = sheet.subject.payload
    discarded = payload.get("status") == msp.DISCARDED_STATUS
    label = "Discarded" if discarded else "Closed"
    rows = [fact("Sub-session", value_text(payload.get("label") or ""), "strong", lines=3), *_subsession_fact(sheet)]
    rows += value_facts(payload, skip=("label", "summary", "closed_at"))
    sections: list[QWidget] = [sheet.section(label, sheet.fact_card(rows, name="subsessionClosed", label=label))]
    summary = payload.get("summary")
    if isinstance(summary, str) and summary:
        sections.append(text_section(sheet, summary, declared=True, label="Summary", name="summaryText"))
    elif not discarded:
        none = sheet.facts([fact("", "No summary was written.", "dim")], name="noSummary", label="Summary")
        sections.append(sheet.section("Summary", none))
    return sections


def _policy_words(value: object) -> str:
    if isinstance(value, bool):
        return "included" if value else "left out"
    return value_text(value)


def _subsession_fact(sheet: Sheet) -> list[Fact]:
    """Returns the link to the sub-session's own page."""
    subject = sheet.subject
    name = subject.payload.get("subsession_id")
    if not isinstance(name, str):
        return []
    space = int(subject.capture.columns["space"][subject.message])
    node = subject.analysis.contexts.tree.find(space, name)
    if node == MAIN:
        return []
    path = subject.analysis.contexts.tree.path(node)
    return [Fact("Context", (FactPart(path, "link", place=ContextPlace(space, node)),), middle=True)]
