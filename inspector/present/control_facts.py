"""Sentences for control messages to a participant (pause, compact, restart, ...), and its status report.

Source: docs/protocols.md 4 (participant kinds of MEW v0.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from inspector.present import formats
from inspector.present.facts import Fact, fact
from inspector.present.subject import Subject, recipients
from inspector.present.wire_text import safe_line
from inspector.protocol.payloads.outline import value_text

_SENTENCE_KEYS = frozenset(
    ("reason", "timeout_seconds", "direction", "entries", "target_tokens", "fields", "freed_tokens", "freed_messages",
     "status", "skipped")
)  # fmt: skip
"""Payload keys covered by the sentence if their values are valid."""


def control_sentence(subject: Subject) -> str:
    """Returns the sentence for a control message."""
    who = safe_line(subject.shown_sender, 80) if subject.sender else "Somebody"
    whom = recipients(subject.capture, subject.to)
    made = _SENTENCES.get(subject.kind.partition("/")[2])
    if made is None:
        return f"{who} asks something of {whom}."
    words = made(subject.payload)
    if subject.kind == "participant/compact-done":
        return f"{who} {words}."
    return f"{who} asks {whom} to {words}."


def _pause_words(payload: Mapping[str, Any]) -> str:
    seconds = payload.get("timeout_seconds")
    if _is_number(seconds):
        return f"pause for {formats.duration(int(seconds * 1_000_000_000))}"
    return "pause until resumed"


def _forget_words(payload: Mapping[str, Any]) -> str:
    entries, direction = payload.get("entries"), payload.get("direction")
    # Other values are shown as they are, below the sentence.
    which = direction if direction in ("oldest", "newest") else ""
    if _is_number(entries):
        return " ".join(filter(None, ("forget its", which, formats.count_of(int(entries), "entry", "entries"))))
    return " ".join(filter(None, ("forget its", which, "entries")))


def _compact_words(payload: Mapping[str, Any]) -> str:
    target = payload.get("target_tokens")
    return f"compact its context to {formats.number(int(target))} tokens" if _is_number(target) else (
        "compact its context"
    )  # fmt: skip


def _compact_done(payload: Mapping[str, Any]) -> str:
    if payload.get("skipped") is True or payload.get("status") == "skipped":
        return "skipped compacting its context"
    tokens, messages = payload.get("freed_tokens"), payload.get("freed_messages")
    freed = [
        formats.count_of(int(value), noun)
        for value, noun in ((tokens, "token"), (messages, "message"))
        if _is_number(value)
    ]
    words = f"compacted its context and freed {' in '.join(freed)}" if freed else "compacted its context"
    status = payload.get("status")
    return f"{words}, status {safe_line(status, 80)}" if isinstance(status, str) and status != "compacted" else words


def _request_status(payload: Mapping[str, Any]) -> str:
    fields = payload.get("fields")
    named = [safe_line(f, 60) for f in fields if isinstance(f, str)] if isinstance(fields, list) else []
    return f"report its {', '.join(named)}" if named else "report its status"


_SENTENCES = {
    "pause": _pause_words,
    "resume": lambda _: "resume",
    "request-status": _request_status,
    "forget": _forget_words,
    "compact": _compact_words,
    "compact-done": _compact_done,
    "clear": lambda _: "forget its whole context",
    "restart": lambda _: "start again",
    "shutdown": lambda _: "shut down",
}


def _is_number(value: object) -> TypeGuard[int | float]:
    # Beyond 2**53 JSON numbers are not exact, and a huge one would fill a sentence with digits.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1 << 53


def is_in_sentence(key: str, value: object) -> bool:
    """Returns True if the sentence covers this value; values of unexpected types are shown separately."""
    if key not in _SENTENCE_KEYS:
        return False
    if key in ("reason", "status", "direction"):
        return isinstance(value, str) and (key != "direction" or value in ("oldest", "newest"))
    if key == "fields":
        return isinstance(value, list) and all(isinstance(f, str) for f in value)
    return isinstance(value, bool) if key == "skipped" else _is_number(value)


def status_facts(subject: Subject) -> list[Fact]:
    """Shows the status report that answers it, so that its effect is visible."""
    # Limited, since a broadcast can have thousands of answers.
    answers = [m for m in subject.effects[:20] if subject.capture.string("kind", m) == "participant/status"]
    if not answers:
        return []
    payload = subject.capture.records.payload(answers[-1])
    shown = {k: payload[k] for k in ("status", "messages_in_context", "tokens", "max_tokens") if k in payload}
    names = {"messages_in_context": "In context", "max_tokens": "Limit"}
    rows: list[Fact] = []
    for key, value in shown.items():
        text = formats.number(int(value)) if _is_number(value) else value_text(value)
        unit = " messages" if key == "messages_in_context" else " tokens" if key.endswith("tokens") else ""
        rows.append(
            fact(names.get(key, key.capitalize()), f"{safe_line(text, 200)}{unit if _is_number(value) else ''}")
        )
    return rows
