"""Formats findings: fills the checks' templates, and writes the advice on unanswered requests.

Placeholders:
    who, to: the sender; the recipients.
    kind, call: the kind; method and tool.
    context: path of the context.
    other: "No. 5", the other message.
    subject: the message in the vocabulary of its log.
    place: position in the message of the value whose path the finding keeps.
    reason: the reason for which a line cannot be read.
    detail: the finding's own text.
    limit: the check's threshold.
    advice: advice on an unanswered request, by the state of its recipients.

These read the record again when the finding is shown:
    named, answered: the first id that the message names; the same after a comma.
    in_payload: the call that a response's payload names.
    arguments: the arguments in which a request differs from its proposal.
    ended: the end of a server.
    stopped: the context that another message cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from inspector.analysis.findings.batch import Passes
from inspector.analysis.findings.check import Check, Severity
from inspector.analysis.findings.proposals import OTHER_ARGUMENTS
from inspector.analysis.findings.store import StoredFinding
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.log_vocabulary import kind_word
from inspector.protocol import calls, kinds
from inspector.protocol.secrets.masking import masked_value_text

_MAX_CHARS, _MAX_ID_CHARS, _MAX_NAME_CHARS = 120, 80, 24
_MAX_ARGUMENTS = 4
_MISSING = object()
_HUMAN_NAMES = frozenset({"human", "user"})
"""Names of human participants."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One formatted finding.

    Attributes:
        row: message number, from 0.
        other: number of a related message, or None.
        context: path of the message's context; None in the main context.
        text: the sentence. Quoted traffic is unchanged, except that secrets are masked.
    """

    check: Check
    row: int
    other: int | None
    context: str | None
    text: str

    @property
    def code(self) -> str:
        return self.check.code

    @property
    def severity(self) -> Severity:
        return self.check.severity


def format_finding(passes: Passes, found: StoredFinding) -> Finding:
    node = passes.contexts.node_of(found.row)
    path = passes.contexts.tree.path(node) if node != MAIN else None
    text = found.check.sentence.format_map(_PlaceholderValues(passes, found))
    return Finding(found.check, found.row, found.other if found.other >= 0 else None, path, text)


def format_hint(passes: Passes, found: StoredFinding) -> str:
    """Returns the remedy of a finding, formatted."""
    return found.check.fix.format_map(_PlaceholderValues(passes, found))


class _PlaceholderValues(Mapping[str, Any]):
    """Lazy mapping of placeholders to the words of one finding."""

    def __init__(self, passes: Passes, found: StoredFinding) -> None:
        self._passes = passes
        self._found = found

    def __getitem__(self, word: str) -> Any:
        return _PLACEHOLDERS[word](self._passes, self._found)

    def __iter__(self) -> Any:
        return iter(_PLACEHOLDERS)

    def __len__(self) -> int:
        return len(_PLACEHOLDERS)


def _who(passes: Passes, found: StoredFinding) -> str:
    return _short(passes.capture.shown_name(passes.capture.string("sender", found.row) or "Somebody"))


def _to(passes: Passes, found: StoredFinding) -> str:
    return _short(", ".join(map(passes.capture.shown_name, passes.capture.recipients(found.row)))) or "somebody"


def _kind(passes: Passes, found: StoredFinding) -> str:
    return _short(passes.capture.string("kind", found.row) or "a message")


def _subject(passes: Passes, found: StoredFinding) -> str:
    """Names the message in the vocabulary of its log: "The call of Write", or kind and sender."""
    word = kind_word(passes.capture, found.row)
    who = _who(passes, found)
    if word in ("call", "result"):
        return f"The {word} of {_call_name(passes, found)}"
    if word in ("request", "response", "notification"):
        return f"The {word} {_call_name(passes, found)} from {who}"
    if word:
        return f"{_SUBJECT_PHRASES.get(word, f'The {word}')} of {who}"
    return f"{_kind(passes, found)} from {who}"


_SUBJECT_PHRASES = {"prompt": "A prompt", "answer": "An answer", "thought": "A thought", "added": "Added text"}


def _call_name(passes: Passes, found: StoredFinding) -> str:
    """Returns the tool, or the method if there is no tool."""
    columns, strings = passes.correlation.columns, passes.capture.strings
    code = int(columns["target"][found.row]) or int(columns["method"][found.row])
    return _short(strings[code]) if code else "a tool"


_PLACE_PHRASES = (
    ("payload.params.arguments.", "in its argument `{}`"), ("params.arguments.", "in its argument `{}`"),
    ("payload.params.", "in its parameter `{}`"), ("params.", "in its parameter `{}`"),
    ("payload.result", "in its content"), ("result", "in its content"), ("payload.text", "in its text"),
)  # fmt: skip


def _place(passes: Passes, found: StoredFinding) -> str:
    """Describes the position of a value; gives the path if the log uses kinds of the protocol."""
    if kind_word(passes.capture, found.row):
        for start, words in _PLACE_PHRASES:
            if found.detail.startswith(start):
                return words.format(found.detail.removeprefix(start))
    return f"in `{found.detail}`"


def _call(passes: Passes, found: StoredFinding) -> str:
    columns, strings = passes.correlation.columns, passes.capture.strings
    names = (int(columns[name][found.row]) for name in ("method", "target"))
    return _short(" ".join(strings[name] for name in names if name)) or "a call"


def _context(passes: Passes, found: StoredFinding) -> str:
    node = passes.contexts.node_of(found.row)
    return _short(passes.contexts.tree.path(node)) if node != MAIN else "the main context"


def _detail(_: Passes, found: StoredFinding) -> str:
    """Returns the finding's own text, without a final full stop if the template adds one."""
    ends = "{detail}." in found.check.sentence
    return found.detail.rstrip(".") if ends else found.detail


def _advice(passes: Passes, found: StoredFinding) -> str:
    """Returns advice on an unanswered request."""
    capture, columns = passes.capture, passes.correlation.columns
    space, to = int(capture.columns["space"][found.row]), capture.recipients(found.row)
    known = [passes.participants.all.get((space, name)) for name in to]
    if capture.columns["part"][found.row]:
        return "The log has no result: check the effects of the tool so far"
    listing = capture.strings[int(columns["method"][found.row])] == "tools/list"
    if listing and to and {name.lower() for name in to} <= _HUMAN_NAMES:
        who = _to(passes, found)
        return (
            f"{who} is a person without tools: do not send it tools/list, or let its client answer with an empty list"
        )
    if not to:
        return "Address the request to the participant that should answer it"
    if all(one is None for one in known):
        return f"{_to(passes, found)} never appears in the log: check its name, and start it if it is not running"
    if all(one is None or one.here is False for one in known):
        return f"{_to(passes, found)} has left: start it again and repeat the request"
    may = f"Check how {_to(passes, found)} handles the request, and that it may send mcp/response"
    return f"{may}; an observer should answer tools/list with an empty list" if listing else may


def _named(passes: Passes, found: StoredFinding) -> str:
    """Returns the first id that a message names, quoted."""
    named = passes.capture.records.correlation_ids(found.row)
    return f"“{masked_value_text(named[0], _MAX_ID_CHARS)}”" if named else ""


def _answered(passes: Passes, found: StoredFinding) -> str:
    named = _named(passes, found)
    return f", {named}" if named else ""


def _in_payload(passes: Passes, found: StoredFinding) -> str:
    """Returns the call that a response's payload names, if it differs from the kind."""
    if found.other >= 0:  # the finding has the request, with another call
        return ""
    header = passes.capture.records.read_record(found.row).header
    payload = calls.read_payload(header.payload) if header is not None else None
    call = calls.read_call(kinds.RESPONSE, payload) if payload is not None else calls.Call("")
    return f" and {_short(' '.join(filter(None, (call.method, call.target))) or 'another')} by its payload"


def _arguments(passes: Passes, found: StoredFinding) -> str:
    """Lists the arguments in which a request differs from the proposal it fulfils."""
    if not found.detail.endswith(OTHER_ARGUMENTS):
        return ""
    asked, proposed = (
        calls.arguments_of(passes.capture.records.payload(row)) or {} for row in (found.row, found.other)
    )
    names = [key for key in {**proposed, **asked} if proposed.get(key, _MISSING) != asked.get(key, _MISSING)]
    listed = masked_value_text(", ".join(key[:_MAX_NAME_CHARS] for key in names[:_MAX_ARGUMENTS]), _MAX_CHARS)
    return f" ({listed})" if listed else ""


def _ended(passes: Passes, found: StoredFinding) -> str:
    """Returns the end of a server as its tap recorded it."""
    words = masked_value_text((passes.capture.records.reason(found.row) or "it ended").rstrip("."), _MAX_CHARS)
    return f"{words[:1].upper()}{words[1:]}"


def _stopped(passes: Passes, found: StoredFinding) -> str:
    """Names the context that the other message cancelled: the message's own, or an ancestor."""
    contexts = passes.contexts
    node = contexts.tree.resolve(contexts.ending.get(found.other, contexts.node_of(found.other)))
    return "it" if node in (contexts.node_of(found.row), MAIN) else f"{_short(contexts.tree.path(node))} above it"


def _short(text: str) -> str:
    return masked_value_text(text, _MAX_CHARS)


_PLACEHOLDERS: dict[str, Callable[[Passes, StoredFinding], Any]] = {
    "who": _who,
    "to": _to,
    "kind": _kind,
    "subject": _subject,
    "place": _place,
    "call": _call,
    "context": _context,
    "other": lambda _, found: f"No. {found.other + 1}",
    "reason": lambda passes, found: _short(
        (passes.capture.records.reason(found.row) or "for no known reason").rstrip(".")
    ),
    "detail": _detail,
    "named": _named,
    "answered": _answered,
    "in_payload": _in_payload,
    "arguments": _arguments,
    "ended": _ended,
    "stopped": _stopped,
    "advice": _advice,
    "limit": lambda _, found: f"{found.check.limit:,}",
}
