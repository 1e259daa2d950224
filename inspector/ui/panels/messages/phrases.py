"""What the Message column says for each kind: names of tools in mono, then arguments or text (docs/design.md 14).

The rule for the text itself is docs/protocols.md 2, "text shown" (`inspector.filters.fields.message_text`); here it is
put beside what the passes know and split into parts that are set differently. Secrets are masked before anything is
cut.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.analysis.stream_links import stream_of
from inspector.analysis.transients import Badge
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_ROW
from inspector.document.document import CaptureDocument
from inspector.filters.fields import message_text
from inspector.present import formats, wire_text
from inspector.protocol import kinds
from inspector.protocol.payloads.tables import compact
from inspector.protocol.secrets.masking import MASK, mask_secrets, mask_text

_FIRST_BYTES = 240
_MAX_ARGUMENTS = 12
_JSON_STARTS = ('{"', "{\n", "{\r\n", "[{", "[\n", "[\r\n")
_CUT = "JSON that is "


class Style(enum.Enum):
    """How a part of the text is set."""

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
class Segment:
    """A part of the Message column."""

    text: str
    """One line; control characters still in it, for chips."""
    style: Style
    hidden: bool = False
    """It holds characters to be shown as chips."""


@dataclass(slots=True)
class Phrase:
    """What the Message column says."""

    segments: list[Segment] = field(default_factory=list)
    aside: str = ""
    """At its right end."""

    def say(self, text: str | None, style: Style = Style.TEXT) -> None:
        """Add a part; nothing for no text."""
        if text:
            self.add(wire_text.one_line(text), style)

    def add(self, line: str | None, style: Style) -> None:
        """Add a part that is one masked line already."""
        if line:
            self.segments.append(Segment(line, style, wire_text.has_hidden(line)))


@dataclass(frozen=True, slots=True)
class _Case:
    """One message being put into words."""

    document: CaptureDocument
    message: int
    kind: str
    flags: Flag

    @property
    def payload(self) -> dict[str, Any]:
        return self.document.capture.payload(self.message)

    @property
    def text(self) -> str | None:
        return message_text(self.document.capture, self.message)

    def linked(self, column: str, message: int | None = None) -> str | None:
        """Method or target as the passes resolved it."""
        correlation = self.document.analysis.correlation
        code = int(correlation.columns[column][self.message if message is None else message])
        return self.document.capture.strings[code] if code else None


def phrase(document: CaptureDocument, message: int, flags: Flag, kind: str) -> Phrase:
    """Put a message into words."""
    said = Phrase()
    case = _Case(document, message, kind, flags)
    if flags & Flag.UNREADABLE:
        _unreadable(case, said)
    elif flags & Flag.JOIN:
        _hello(case, said)
    elif flags & Flag.FRAME:
        said.say(document.capture.string("stream", message), Style.MONO)
        said.say(case.text, Style.MONO_SECONDARY)
    elif flags & Flag.LOG_ONLY:
        _decision(case, said)
    else:
        if flags & Flag.ERROR:
            said.segments.append(Segment("", Style.ERROR))
        speak = _BY_KIND.get(kind) or _BY_NAMESPACE.get(kind.partition("/")[0], _plain)
        speak(case, said)
    if document.capture.is_big(message) and not said.aside:
        said.aside = formats.size(int(document.capture.columns["size"][message]))
    if not any(segment.text for segment in said.segments):
        said.segments.append(Segment("no message", Style.TERTIARY))
    return said


def _unreadable(case: _Case, said: Phrase) -> None:
    capture = case.document.capture
    said.say(capture.record(case.message).raw[:_FIRST_BYTES].decode("utf-8", "replace"), Style.MONO_SECONDARY)
    said.aside = wire_text.plain((capture.reason(case.message) or "").removeprefix(_CUT), 120)


def _hello(case: _Case, said: Phrase) -> None:
    said.say(case.text)
    token = case.payload.get("token")
    if isinstance(token, str) and token:
        said.say("token", Style.TERTIARY)
        said.segments.append(Segment(MASK, Style.SECRET))


def _decision(case: _Case, said: Phrase) -> None:
    line = case.payload
    said.say(case.text)
    for key in ("participant", "envelope_id"):
        value = line.get(key)
        if isinstance(value, str):
            said.say(value, Style.SECONDARY if key == "participant" else Style.MONO_SECONDARY)


def _plain(case: _Case, said: Phrase) -> None:
    """The text, else the payload itself, so that strangers are not mute."""
    text = case.text
    if text:
        said.say(text)
    elif case.payload and not case.kind.startswith("reasoning/"):
        said.say(compact(mask_secrets(case.payload)), Style.MONO_SECONDARY)


def _call(case: _Case, said: Phrase) -> None:
    method, target = case.linked("method"), case.linked("target")
    params = case.payload.get("params")
    if method == "tools/call":
        said.say(target or method, Style.MONO)
        arguments = params.get("arguments") if isinstance(params, Mapping) else None
        said.add(arguments_text(arguments), Style.MONO_SECONDARY)
        return
    said.say(method, Style.MONO)
    text = case.text
    if text and text != method:
        said.say(text, Style.MONO_SECONDARY if target else Style.SECONDARY)
    elif not method:
        _plain(case, said)


def arguments_text(arguments: object) -> str | None:
    """A call's arguments on one line: `path=/srv  page=1`; None when there are none."""
    if not isinstance(arguments, Mapping):
        return None if arguments is None else compact(mask_secrets(arguments))
    masked: Mapping[str, object] = mask_secrets(dict(list(arguments.items())[:_MAX_ARGUMENTS]))
    parts = (
        f"{name}={wire_text.one_line(value) if isinstance(value, str) else compact(value)}"
        for name, value in masked.items()
    )
    return "  ".join(parts)[: wire_text.MAX_LINE] or None


def _answer(case: _Case, said: Phrase) -> None:
    transients = case.document.analysis.transients
    badges = int(transients.columns["badges"][case.message])
    if badges & Badge.TRANSIENT:
        # What stands for it once it is consumed says more on one line than its JSON.
        said.say(transients.summary(case.message), Style.TERTIARY if badges & Badge.COLLAPSED else Style.TEXT)
        return
    if case.linked("method") == "initialize" and _server(case, said):
        return
    telling = bool(badges & Badge.CONSUMED) or bool(transients.hints(case.message))
    if case.flags & Flag.ERROR:  # among others that failed it is asked first which one it was
        said.say(case.linked("target") or case.linked("method"), Style.MONO)
    elif telling:
        said.say(case.linked("target"), Style.MONO)
    text = case.text or ""
    if text.startswith(_JSON_STARTS):
        said.say(text, Style.MONO_SECONDARY)
    else:
        said.say(text, Style.SECONDARY if telling and said.segments else Style.TEXT)


def _server(case: _Case, said: Phrase) -> bool:
    """What a server that answers `initialize` is; False where it names nothing."""
    result = case.payload.get("result")
    if not isinstance(result, Mapping) or not isinstance(info := result.get("serverInfo"), Mapping):
        return False
    named = [value for key in ("name", "version") if isinstance(value := info.get(key), str) and value]
    said.say(" ".join(named))
    version = result.get("protocolVersion")
    if named and isinstance(version, str):
        said.say(f"MCP {version}", Style.SECONDARY)
    return bool(named)


def _verdict(case: _Case, said: Phrase) -> None:
    """A proposal turned down or taken back: which one, and why."""
    proposal = int(case.document.analysis.correlation.columns["cause"][case.message])
    if proposal != NO_ROW:
        said.say(case.linked("target", proposal) or case.linked("method", proposal), Style.MONO)
    said.say(case.text, Style.SECONDARY if said.segments else Style.TEXT)


def _thought(case: _Case, said: Phrase) -> None:
    payload = case.payload
    said.say(case.text)
    step = payload.get("actionInput")
    tool = step.get("tool") if isinstance(step, Mapping) else None
    if isinstance(tool, str) and tool and payload.get("action"):
        said.say(f"→ {tool.rpartition('/')[2] or tool}", Style.TERTIARY)


def _welcome(case: _Case, said: Phrase) -> None:
    others = case.payload.get("participants")
    if not isinstance(others, list):
        said.say("welcome")
    else:
        said.say(f"welcome, {formats.count_of(len(others), 'other') if others else 'no others'} present")


_EVENTS = {"join": "joined", "leave": "left", "heartbeat": "is present"}


def _presence(case: _Case, said: Phrase) -> None:
    payload = case.payload
    participant, event = payload.get("participant"), payload.get("event")
    name = participant.get("id") if isinstance(participant, Mapping) else participant
    if isinstance(name, str) and isinstance(event, str):
        said.say(f"{wire_text.one_line(name, 120)} {_EVENTS.get(event, event)}")
    else:
        _plain(case, said)


def _stream(case: _Case, said: Phrase) -> None:
    payload = case.payload
    stream = stream_of(case.document.analysis, case.message) if case.kind == "stream/close" else (
        int(case.document.capture.columns["stream"][case.message])
    )  # fmt: skip
    said.say(case.document.capture.strings[stream] if stream else None, Style.MONO)
    words = [payload.get(key) for key in ("direction", "encoding", "reason", "status")]
    facts = "  ".join(wire_text.one_line(w) for w in words if isinstance(w, str))
    said.add(mask_text(facts), Style.MONO_SECONDARY if said.segments else Style.TEXT)
    description = payload.get("description")
    said.say(description if isinstance(description, str) else None, Style.TERTIARY)
    if not said.segments:
        _plain(case, said)


def _capabilities(case: _Case, said: Phrase) -> None:
    """Who gains, loses or acknowledges what."""
    payload = case.payload
    said.say(case.text)
    listed = payload.get("capabilities")
    if isinstance(listed, list):
        found = [c.get("kind") if isinstance(c, Mapping) else c for c in listed[:_MAX_ARGUMENTS]]
        said.add("  ".join(wire_text.one_line(k, 80) for k in found if isinstance(k, str)), Style.MONO_SECONDARY)
    if not said.segments:
        _plain(case, said)


_Speak = Callable[[_Case, Phrase], None]
_BY_KIND: dict[str, _Speak] = {
    kinds.REQUEST: _call,
    kinds.PROPOSAL: _call,
    kinds.RESPONSE: _answer,
    kinds.REJECT: _verdict,
    kinds.WITHDRAW: _verdict,
    "reasoning/thought": _thought,
    "system/join": _hello,
    "system/welcome": _welcome,
    "system/presence": _presence,
}
_BY_NAMESPACE: dict[str, _Speak] = {"stream": _stream, "capability": _capabilities, "space": _capabilities}
