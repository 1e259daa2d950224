"""Text of the Message column by kind: tool names in mono, then arguments or text (docs/design.md 14).

The text itself follows docs/protocols.md 2, "text shown" (`inspector.filters.payloads.message_text`). This module adds
results of the passes and splits it into styled runs. Secrets are masked before truncation, since half a secret is not
recognized.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.analysis.passes.results.transient_results import Badge
from inspector.document.document import CaptureDocument
from inspector.filters.payloads import message_text
from inspector.filters.sentences import Sentence, arguments_words, parts_of, sentence_of
from inspector.present import formats, wire_text
from inspector.present.states import BY_USER
from inspector.protocol import kinds
from inspector.protocol.calls import unwrap_payload
from inspector.protocol.payloads.record_tables import compact_json
from inspector.protocol.secrets.masking import MASK, mask_secrets
from inspector.store.columns.flags import Flag

_FIRST_BYTES = 240
_MAX_ARGUMENTS = 12
_CUT_PREFIX = "JSON that is "


class Style(enum.Enum):
    """Style of a run."""

    TEXT = "text"
    SECONDARY = "secondary"
    TERTIARY = "tertiary"
    MONO = "mono"
    MONO_SECONDARY = "mono-secondary"
    SECRET = "secret"
    """A masked secret: dots and the sign for hidden."""
    ERROR = "error"
    """No text: the mark of a failure."""


@dataclass(slots=True)
class TextRun:
    """A run of the Message column."""

    text: str
    """One line; control characters are kept, for chips."""
    style: Style
    hidden: bool = False
    """It contains characters to show as chips."""


@dataclass(slots=True)
class Phrase:
    """Content of the Message column."""

    runs: list[TextRun] = field(default_factory=list)
    aside: str = ""
    """Text at its right end."""

    def add(self, text: str | None, style: Style = Style.TEXT) -> None:
        """Adds a run, unless empty."""
        if text:
            self.add_line(wire_text.one_line(text), style)

    def add_words(self, text: str | None) -> None:
        """Adds a text from the wire without marks of Markdown."""
        if text:
            self.add_line(wire_text.excerpt_line(text), Style.TEXT)

    def add_line(self, line: str | None, style: Style) -> None:
        """Adds a run that is already one masked line."""
        if line:
            self.runs.append(TextRun(line, style, wire_text.has_hidden(line)))


@dataclass(frozen=True, slots=True)
class _Subject:
    """A message to describe."""

    document: CaptureDocument
    message: int
    kind: str
    flags: Flag

    @property
    def payload(self) -> dict[str, Any]:
        return self.document.capture.records.payload(self.message)

    @property
    def text(self) -> str | None:
        return message_text(self.document.capture, self.message)

    def resolved_name(self, column: str) -> str | None:
        """Returns method or target as resolved by the passes."""
        correlation = self.document.analysis.correlation
        code = int(correlation.columns[column][self.message])
        return self.document.capture.strings[code] if code else None


def phrase_of(document: CaptureDocument, message: int, flags: Flag, kind: str) -> Phrase:
    """Describes a message."""
    phrase = Phrase()
    subject = _Subject(document, message, kind, flags)
    if flags & Flag.UNREADABLE:
        _describe_unreadable(subject, phrase)
    elif flags & Flag.JOIN:
        _describe_hello(subject, phrase)
    elif flags & Flag.FRAME:
        phrase.add(document.capture.string("stream", message), Style.MONO)
        phrase.add(subject.text, Style.MONO_SECONDARY)
    elif flags & Flag.LOG_ONLY:
        _describe_decision(subject, phrase)
    else:
        if flags & Flag.ERROR:
            phrase.runs.append(TextRun("", Style.ERROR))
        # Unknown kinds of a known namespace are shown like their relatives.
        describe = _BY_KIND.get(kind) or _BY_NAMESPACE.get(kind.partition("/")[0], _describe_plain)
        describe(subject, phrase)
    if document.capture.records.is_big(message) and not phrase.aside:
        phrase.aside = formats.size(int(document.capture.columns["size"][message]))
    if not any(run.text for run in phrase.runs):
        # An empty cell would look like a fault of the table.
        phrase.runs.append(TextRun("no message", Style.TERTIARY))
    return phrase


def _describe_unreadable(subject: _Subject, phrase: Phrase) -> None:
    capture = subject.document.capture
    phrase.add(
        capture.records.read_record(subject.message).raw[:_FIRST_BYTES].decode("utf-8", "replace"), Style.MONO_SECONDARY
    )
    phrase.aside = wire_text.safe_line((capture.records.reason(subject.message) or "").removeprefix(_CUT_PREFIX), 120)


def _describe_hello(subject: _Subject, phrase: Phrase) -> None:
    phrase.add(subject.text)
    token = subject.payload.get("token")
    if isinstance(token, str) and token:
        phrase.add("token", Style.TERTIARY)
        # The mask is a run of its own, so that painters give it the sign for hidden.
        phrase.runs.append(TextRun(MASK, Style.SECRET))


def _describe_decision(subject: _Subject, phrase: Phrase) -> None:
    line = subject.payload
    if subject.flags & Flag.ERROR:
        phrase.runs.append(TextRun("", Style.ERROR))
    phrase.add(subject.text)
    for key in ("participant", "envelope_id"):
        value = line.get(key)
        if isinstance(value, str):
            phrase.add(value, Style.SECONDARY if key == "participant" else Style.MONO_SECONDARY)


def _describe_plain(subject: _Subject, phrase: Phrase) -> None:
    """Shows the text, else the payload itself, so that unknown kinds are not empty."""
    text = subject.text
    if text:
        phrase.add_words(text)
    elif subject.payload and not subject.kind.startswith("reasoning/"):
        phrase.add(compact_json(mask_secrets(subject.payload)), Style.MONO_SECONDARY)


def _describe_call(subject: _Subject, phrase: Phrase) -> None:
    method, target = subject.resolved_name("method"), subject.resolved_name("target")
    params = unwrap_payload(subject.payload).get("params")
    if method == "tools/call":
        phrase.add(target or method, Style.MONO)
        arguments = params.get("arguments") if isinstance(params, Mapping) else None
        told = arguments_words(target, arguments)
        if told is not None:
            phrase.add(told, Style.MONO_SECONDARY)
        else:
            phrase.add_line(arguments_text(arguments), Style.MONO_SECONDARY)
        return
    told = sentence_of(subject.document.analysis, subject.message)
    if told is None:
        _describe_plain(subject, phrase)
        return
    phrase.add(told.about, Style.MONO)
    phrase.add(told.words, Style.MONO_SECONDARY if target else Style.SECONDARY)


def arguments_text(arguments: object) -> str | None:
    """Formats a call's arguments on one line: `path=…/src/app.py page=1`; None without arguments.

    A long path is shortened to its end, its distinctive part.
    """
    if not isinstance(arguments, Mapping):
        return None if arguments is None else compact_json(mask_secrets(arguments))
    # Limited before masking: a call may have thousands of arguments, and a row shows few.
    masked: Mapping[str, object] = mask_secrets(dict(list(arguments.items())[:_MAX_ARGUMENTS]))
    parts = (
        f"{name}={_path_end(wire_text.one_line(value)) if isinstance(value, str) else compact_json(value)}"
        for name, value in masked.items()
    )
    return "  ".join(parts)[: wire_text.MAX_LINE] or None


_LONG_PATH = 28
_PATH = re.compile(r"(?:/|~/|\.{1,2}/|[A-Za-z]:[\\/])\S*")


def _path_end(text: str) -> str:
    """Returns the last two segments of a long path; other texts unchanged."""
    if len(text) <= _LONG_PATH or not _PATH.fullmatch(text):
        return text
    # The end of a path names the file.
    names = re.split(r"[\\/]", text)
    return "…/" + "/".join(names[-2:]) if len(names) > _NAMES_KEPT else text


_NAMES_KEPT = 3


def _describe_answer(subject: _Subject, phrase: Phrase) -> None:
    """Describes a response: its call and the outcome."""
    told = sentence_of(subject.document.analysis, subject.message)
    if told is None:
        return
    badges = int(subject.document.analysis.transients.columns["badges"][subject.message])
    if badges & Badge.COLLAPSED:
        # The summary says more in one line than the JSON.
        phrase.add(told.words, Style.TERTIARY)
        return
    if subject.document.capture.flags_of(subject.message) & Flag.DECLINED:
        phrase.add(told.about, Style.MONO)
        phrase.add(BY_USER)
        return
    _add_sentence(told, phrase)


def _add_sentence(told: Sentence, phrase: Phrase) -> None:
    """Adds a sentence, with its topic in mono."""
    if told.about:
        phrase.add(told.about if told.failed or not told.words else f"{told.about}:", Style.MONO)
    phrase.add_words(f"failed: {told.words}" if told.failed and told.words else told.words)
    if told.failed and not told.words:
        phrase.add("failed")


def _describe_refusal(subject: _Subject, phrase: Phrase) -> None:
    told = sentence_of(subject.document.analysis, subject.message)
    if told is not None and told.text:
        _add_sentence(told, phrase)
    else:
        _describe_plain(subject, phrase)


def _describe_verdict(subject: _Subject, phrase: Phrase) -> None:
    told = sentence_of(subject.document.analysis, subject.message)
    if told is not None:
        phrase.add(told.about, Style.MONO)
        phrase.add(told.words, Style.SECONDARY if told.about else Style.TEXT)


def _describe_thought(subject: _Subject, phrase: Phrase) -> None:
    payload = subject.payload
    phrase.add_words(subject.text)
    step = payload.get("actionInput")
    tool = step.get("tool") if isinstance(step, Mapping) else None
    if isinstance(tool, str) and tool and payload.get("action"):
        # Released agents name the next tool with its server's path.
        phrase.add(f"→ {tool.rpartition('/')[2] or tool}", Style.TERTIARY)


_EVENTS = {"join": "joined", "leave": "left", "heartbeat": "is present"}


def _describe_presence(subject: _Subject, phrase: Phrase) -> None:
    payload = subject.payload
    participant, event = payload.get("participant"), payload.get("event")
    name = participant.get("id") if isinstance(participant, Mapping) else participant
    if isinstance(name, str) and isinstance(event, str):
        phrase.add(f"{wire_text.one_line(name, 120)} {_EVENTS.get(event, event)}")
    else:
        _describe_plain(subject, phrase)


_PART_STYLES = {
    "stream": (Style.MONO, Style.MONO_SECONDARY, Style.TERTIARY),
    "capability": (Style.TEXT, Style.MONO_SECONDARY),
    "space": (Style.TEXT, Style.MONO_SECONDARY),
}
"""Styles of parts by namespace."""


def _describe_parts(subject: _Subject, phrase: Phrase) -> None:
    """Describes a message without a text of its own, as in the field `info`."""
    parts = parts_of(subject.document.analysis, subject.message, subject.kind, subject.payload)
    for part, style in zip(parts, _PART_STYLES.get(subject.kind.partition("/")[0], (Style.TEXT,)), strict=True):
        phrase.add(part, style)
    if not phrase.runs:
        _describe_plain(subject, phrase)


_Describe = Callable[[_Subject, Phrase], None]
_BY_KIND: dict[str, _Describe] = {
    kinds.REQUEST: _describe_call,
    kinds.PROPOSAL: _describe_call,
    kinds.RESPONSE: _describe_answer,
    "system/error": _describe_refusal,
    kinds.REJECT: _describe_verdict,
    kinds.WITHDRAW: _describe_verdict,
    "reasoning/thought": _describe_thought,
    "system/join": _describe_hello,
    "system/welcome": _describe_parts,
    "system/presence": _describe_presence,
}
_BY_NAMESPACE: dict[str, _Describe] = dict.fromkeys(_PART_STYLES, _describe_parts)
