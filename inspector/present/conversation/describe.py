"""Describes cards: decodes the messages of the cards in sight, and no others. Never raises for odd traffic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.streams.stream_pass import NO_RUN
from inspector.analysis.passes.tokens.reported_usage import USAGE_KINDS
from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind, StepTable
from inspector.document.document import CaptureDocument
from inspector.present import formats, msp_words, wire_text
from inspector.present.conversation.call_cards import agent_card, sort_of_call, step_card, step_time
from inspector.present.conversation.cards import (
    Card,
    CardKind,
    CardRef,
    CompactionCard,
    EndCard,
    FoldCard,
    GroupCard,
    OtherCard,
    Pill,
    TextCard,
    ThoughtCard,
    Tone,
)
from inspector.present.conversation.outline import PRESENCE_KINDS, inherited_steps
from inspector.present.conversation.texts import is_picture, pictures_of, raw_text, text_blocks
from inspector.present.folded_stream import is_open
from inspector.present.message_phrase import Style
from inspector.present.message_row import APPEARS, RowContent, row_contents
from inspector.protocol import msp
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag

Rows = Any
COMPACT = "participant/compact"
"""Kind of a record that announces a compaction; the next one is its end."""
_STREAM_FRAMES = 4_000
"""Frames joined for the card of a stream."""
_MONO = frozenset((Style.MONO, Style.MONO_SECONDARY))
_TONES: dict[str, Tone] = {
    "severity.error": "bad", "badge.transient": "warn", "badge.consumed": "good", "badge.collapsed": "quiet",
}  # fmt: skip
_NOUNS = {
    StepKind.PROMPT: "prompt", StepKind.ANSWER: "text", StepKind.THOUGHT: "thought", StepKind.CALL: "call",
    StepKind.RECORD: "record",
}  # fmt: skip
_MOST_READ = 300
"""Commands of a fold that are read, to count them as reads or searches."""


def describe_cards(
    document: CaptureDocument, table: StepTable, refs: Sequence[CardRef], *, whole: bool = False
) -> list[Card]:  # fmt: skip
    """Returns cards in the order of their references; `whole` shows all of their text, up to a limit."""
    # States of many rows cost little more than the state of one. Cards with their own text need no words of a row.
    contents: dict[int, RowContent] = {}
    for has_text in (False, True):
        rows = sorted({ref.message for ref in refs if ref.kind not in _FOLDS and (ref.kind not in _TEXTS) == has_text})
        built = row_contents(document, rows, folded=True, has_text=has_text)
        contents |= {content.message: content for content in built}
    return [
        _fold_card(document, table, ref) if ref.kind in _FOLDS
        else _message_card(document, table, ref, contents[ref.message], whole=whole)
        for ref in refs
    ]  # fmt: skip


_FOLDS = (CardKind.FOLD, CardKind.RECORDS, CardKind.INHERITED)
_TEXTS = (CardKind.PROMPT, CardKind.ANSWER, CardKind.THOUGHT, CardKind.CALL, CardKind.AGENT)


def describe_card(document: CaptureDocument, table: StepTable, ref: CardRef, *, whole: bool = False) -> Card:
    """Returns one card, as `describe_cards`."""
    return describe_cards(document, table, [ref], whole=whole)[0]


def _message_card(
    document: CaptureDocument, table: StepTable, ref: CardRef, content: RowContent, *, whole: bool
) -> Card:  # fmt: skip
    kind = CardKind(ref.kind)
    if not content.runs and kind in (CardKind.AGENT, CardKind.CALL) and not _is_call(table, ref):
        content = row_contents(document, [ref.message], folded=True)[0]
    base = _base(content, ref)
    step = int(table.step_of[ref.message]) if ref.message < len(table.step_of) else -1
    if _run_of(document, ref.message) != NO_RUN:
        return _stream_card(document, content, base, whole=whole)
    is_call = _is_call(table, ref)
    if kind is CardKind.AGENT and is_call and table.opens[step] != NO_NODE:
        return agent_card(document, table, step, base, whole=whole)
    if kind in (CardKind.AGENT, CardKind.CALL) and is_call:
        return step_card(document, table, step, base, _state_pill(content), whole=whole)
    if kind in (CardKind.PROMPT, CardKind.ANSWER):
        return _text_card(document, ref, base, whole=whole)
    if kind is CardKind.THOUGHT:
        return _thought_card(document, table, step, base, whole=whole)
    if kind is CardKind.COMPACTION:
        return _compaction_card(document, table, step, content, base, whole=whole)
    if kind is CardKind.END:
        return _end_card(document, content, base, whole=whole)
    if kind is CardKind.GROUP:
        return _group_card(document, table, step, content, base)
    return _other_card(document, content, base)


def _is_call(table: StepTable, ref: CardRef) -> bool:
    step = int(table.step_of[ref.message]) if ref.message < len(table.step_of) else -1
    return step >= 0 and table.kinds[step] == StepKind.CALL and int(table.rows[step]) == ref.message


def _base(content: RowContent, ref: CardRef) -> dict[str, Any]:
    return {
        "ref": ref, "time_ns": content.time_ns, "sender": content.sender,
        "receivers": "" if content.everyone else content.receivers, "badges": content.badges,
        "severity": content.severity.word if content.severity is not None else "",
        "marked": content.note.marked,
        "aside": "" if content.stream is not None or content.aside.startswith(APPEARS) else content.aside,
    }  # fmt: skip


def _run_of(document: CaptureDocument, message: int) -> int:
    if not int(document.capture.columns["flags"][message]) & Flag.FRAME.value:
        return NO_RUN
    return document.analysis.streams.run_of(message)


# Texts


def _text_card(document: CaptureDocument, ref: CardRef, base: dict[str, Any], *, whole: bool) -> TextCard:
    text = raw_text(document.capture, ref.message)
    payload = document.capture.records.payload(ref.message)
    pictures = pictures_of(ref.message, payload)
    if is_picture(payload):
        text = ""
    blocks, more = text_blocks(text, whole=whole, keeps_lines=ref.kind == CardKind.PROMPT)
    if not base["aside"] and document.capture.string("protocol", ref.message) == msp.PROTOCOL:
        role = "" if base["sender"] in ("user", "assistant") else base["sender"] or "no role"
        base = base | {"aside": " · ".join(filter(None, (_visibility(document, ref.message, payload), role)))}
    return TextCard(**base, blocks=blocks, more=more, pictures=pictures)


def _visibility(document: CaptureDocument, message: int, payload: Rows) -> str:
    """Describes an unusual visibility of a message of a session; "" for others."""
    inside = int(document.analysis.contexts.nodes_of(np.array([message]))[0]) != MAIN
    match payload.get("visibility"):
        case msp.GLOBAL:
            return msp_words.GLOBAL if inside else "global: in all sub-sessions"
        case msp.MAIN_ONLY:
            return msp_words.MAIN_ONLY_INSIDE if inside else "main_only: in no sub-session"
        case _:
            return ""


def _thought_card(
    document: CaptureDocument, table: StepTable, step: int, base: dict[str, Any], *, whole: bool
) -> ThoughtCard:  # fmt: skip
    text = raw_text(document.capture, base["ref"].message)
    blocks, more = text_blocks(text, whole=whole)
    line, _, rest = text.strip().partition("\n")
    shown = wire_text.excerpt(line, 300)
    if shown and rest.strip() and not shown.endswith("…"):
        shown += " …"
    took = _thought_time(table, step)
    return ThoughtCard(**base, line=shown, blocks=blocks, more=more, took_ns=took)


def _thought_time(table: StepTable, step: int) -> int:
    """Returns the duration of a thought that begins an output of a model; -1 for others."""
    if step <= 0 or table.kinds[step - 1] != StepKind.MODEL or table.rows[step - 1] != table.rows[step]:
        return -1
    begun, ended = int(table.starts_ns[step - 1]), int(table.starts_ns[step])
    return ended - begun if NO_TIME not in (begun, ended) and ended > begun else -1


def _stream_card(
    document: CaptureDocument, content: RowContent, base: dict[str, Any], *, whole: bool
) -> TextCard | OtherCard:  # fmt: skip
    """Returns the card of a stream with the text of its frames so far."""
    run = _run_of(document, content.message)
    text = document.stream_texts.stream_text(run)
    joiner = text.read(_STREAM_FRAMES)
    stream = content.stream
    words = stream.aside if stream is not None else ""
    if stream is None or not joiner.text or joiner.is_binary:
        return _other_card(document, content, base | {"aside": words})
    blocks, more = text_blocks(joiner.text, whole=whole, keeps_lines=True)
    shared = {name: value for name, value in base.items() if name != "aside"}
    return TextCard(**shared, aside=words, blocks=blocks, more=more, is_open=is_open(document, run))


# Others


def _state_pill(content: RowContent) -> Pill | None:
    state = content.state
    if state is not None:
        return Pill(state.word, _TONES.get(state.token, "quiet"))
    if content.unreadable:
        return Pill("unreadable", "bad")
    return Pill("error", "bad") if content.error else None


def _other_card(document: CaptureDocument, content: RowContent, base: dict[str, Any]) -> OtherCard:
    mono = any(run.style in _MONO for run in content.runs) and not any(run.style is Style.TEXT for run in content.runs)
    label = wire_text.safe_line(content.kind_text, 80)
    return OtherCard(**base, label=label, words=content.text, mono=mono, pill=_state_pill(content))


def _compaction_card(
    document: CaptureDocument, table: StepTable, step: int, content: RowContent, base: dict[str, Any], *, whole: bool
) -> CompactionCard:  # fmt: skip
    before, after = _compaction_tokens(document, content.message)
    announced = content.message - 1
    if announced >= 0 and document.capture.string("kind", announced) == COMPACT:
        told = _compaction_tokens(document, announced)
        before, after = max(before, told[0]), max(after, told[1])
    if step >= 0:
        reported = _reported_around(table, step)
        before, after = (known if known >= 0 else told for known, told in zip((before, after), reported, strict=True))
    text = raw_text(document.capture, content.message)
    blocks, more = text_blocks(text, whole=whole)
    return CompactionCard(**base, words=content.text, before=before, after=after, blocks=blocks, more=more)


def _reported_around(table: StepTable, step: int) -> tuple[int, int]:
    """Returns the reported context of the last output before a step, and of the first one after it; -1 if unknown."""
    same = (table.kinds == StepKind.MODEL) & (table.nodes == table.nodes[step]) & (table.spaces == table.spaces[step])
    outputs = np.flatnonzero(same & (table.tokens[:, 0] >= 0))
    place = int(np.searchsorted(outputs, step))
    before = after = -1
    if place:
        before = int(table.tokens[outputs[place - 1]].sum())
    if place < len(outputs):
        tokens = table.tokens[outputs[place]]
        after = int(tokens.sum() - tokens[USAGE_KINDS.index("output")])
    return before, after


def _end_card(document: CaptureDocument, content: RowContent, base: dict[str, Any], *, whole: bool) -> EndCard:
    payload = document.capture.records.payload(content.message)
    label, status, summary = (payload.get(name) for name in ("label", "status", "summary"))
    name = wire_text.safe_line(label, 60) if isinstance(label, str) else ""
    discarded = status == msp.DISCARDED_STATUS
    state = "discarded" if discarded else "closed"
    at = formats.clock(content.time_ns)
    words = " ".join(filter(None, (name or "Sub-session", state, f"at {at}" if at else "")))
    text = summary if isinstance(summary, str) else ""
    if not text.strip():
        return EndCard(**base, words=f"{words}, without a summary", is_discarded=discarded)
    blocks, more = text_blocks(text, whole=whole)
    return EndCard(**base, words=words, is_discarded=discarded, blocks=blocks, more=more)


_BEFORE = ("preTokens", "tokens_before", "tokensBefore", "original_token_count", "originalTokenCount", "before")
_AFTER = ("postTokens", "tokens_after", "tokensAfter", "new_token_count", "newTokenCount", "after")


def _compaction_tokens(document: CaptureDocument, message: int) -> tuple[int, int]:
    """Returns the tokens before and after a compaction, as its record tells them; -1 if unknown."""
    payload = document.capture.records.payload(message)
    places = [payload, *(value for value in payload.values() if isinstance(value, dict))]

    def told(names: Sequence[str]) -> int:
        values = (place.get(name) for place in places for name in names)
        found = (int(value) for value in values if isinstance(value, int | float) and 0 < value < 1e12)
        return next(found, -1)

    return told(_BEFORE), told(_AFTER)


def _group_card(
    document: CaptureDocument, table: StepTable, step: int, content: RowContent, base: dict[str, Any]
) -> GroupCard:  # fmt: skip
    node = int(table.opens[step]) if step >= 0 else -1
    below = table.nodes == node if node >= 0 else np.zeros(0, np.bool_)
    label = document.analysis.contexts.label(node) if node >= 0 else content.kind_text
    return GroupCard(
        **base, label=wire_text.safe_line(label, 200), words=content.text,
        steps=int(np.count_nonzero(below & (table.kinds != StepKind.MODEL))) if node >= 0 else 0,
        pill=_state_pill(content), took_ns=step_time(table, step) if step >= 0 else -1, node=node,
    )  # fmt: skip


# Folds


def _fold_card(document: CaptureDocument, table: StepTable, ref: CardRef) -> FoldCard:
    is_inherited = ref.kind == CardKind.INHERITED
    members = inherited_steps(table, int(table.step_of[ref.message])) if is_inherited else fold_members(table, ref)
    time_ns = int(document.capture.columns["time_ns"][ref.message])
    sender = _shown_sender(document, ref.message)
    if is_inherited:
        before = ", from before this sub-session" if time_ns != NO_TIME else ""
        words = f"{formats.count_of(len(members), 'message')} of the parent chat{before}"
    elif ref.kind == CardKind.RECORDS:
        senders = [_shown_sender(document, int(row))
                   for row in table.rows[members[:50]]]  # fmt: skip
        names = [name for name, _ in Counter(filter(None, senders)).most_common(2)]
        of = f" of {' and '.join(names)}" if names else ""
        words = f"{formats.count_of(len(members), 'record')}{of}"
    elif document.capture.string("kind", ref.message) in PRESENCE_KINDS:
        words = _presence_words(document, table, members)
    else:
        words = _steps_words(document, table, members)
    return FoldCard(
        ref=ref, time_ns=time_ns, sender=sender, words=words, count=len(members), took_ns=_span_ns(table, members)
    )


def _shown_sender(document: CaptureDocument, row: int) -> str:
    return wire_text.safe_line(document.capture.shown_name(document.capture.string("sender", row) or ""), 120)


def _presence_words(document: CaptureDocument, table: StepTable, members: Rows) -> str:
    """Describes messages about presence: "6 messages about presence: human, observer"."""
    names = dict[str, None]()
    for row in table.rows[members[:50]].tolist():
        if document.capture.string("kind", row) == PRESENCE_KINDS[0]:
            names[_shown_sender(document, row)] = None
    told = ", ".join(filter(None, names))
    return f"{formats.count_of(len(members), 'message')} about presence" + (f": {told}" if told else "")


def fold_members(table: StepTable, ref: CardRef) -> Rows:
    """Returns the steps that a fold contains: of its context, from its first message to its last."""
    first = int(table.step_of[ref.message]) if ref.message < len(table.step_of) else -1
    last = int(table.step_of[ref.last]) if 0 <= ref.last < len(table.step_of) else first
    if first < 0:
        return np.zeros(0, np.int64)
    steps = np.arange(first, max(first, last) + 1)
    kinds, nodes = table.kinds[steps], table.nodes[steps]
    same = (nodes == table.nodes[first]) & (kinds != StepKind.MODEL)
    if ref.kind == CardKind.RECORDS:
        same &= kinds == StepKind.RECORD
    return steps[same]


def _steps_words(document: CaptureDocument, table: StepTable, members: Rows) -> str:
    """Describes folded steps: "4 more steps: 3 reads, 1 search"."""
    counts: Counter[str] = Counter()
    for place, step in enumerate(members.tolist()):
        kind = StepKind(int(table.kinds[step]))
        noun = _NOUNS.get(kind, "step")
        if kind is StepKind.CALL:
            sort = sort_of_call(document, int(table.rows[step]), reads=place < _MOST_READ)
            noun = sort or "call"
        counts[noun] += 1
    plurals = {"search": "searches"}
    told = [formats.count_of(count, noun, plurals.get(noun)) for noun, count in counts.most_common() if count]
    return f"{formats.count_of(len(members), 'more step', 'more steps')}: {', '.join(told)}"


def _span_ns(table: StepTable, members: Rows) -> int:
    starts, stops = table.starts_ns[members], table.stops_ns[members]
    known = starts[starts != NO_TIME]
    ended = stops[stops != NO_TIME]
    if not len(known):
        return -1
    end = max(int(known.max()), int(ended.max()) if len(ended) else int(known.max()))
    return max(0, end - int(known.min()))
