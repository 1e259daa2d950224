"""Sentences of rows: field `info`, and the Message column's words for calls, outcomes, arguments, errors.

`text` is the message's own text (docs/protocols.md 2). A sentence adds facts from other messages: the call of a result,
the sender of a refused request. JSON results are described by their shape. Secrets are masked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.analysis import Analysis
from inspector.analysis.passes.results.transient_results import Badge
from inspector.analysis.views.causes.stream_links import stream_of
from inspector.protocol import kinds
from inspector.protocol.calls import unwrap_payload
from inspector.protocol.message_text import EMPTY_RESULT, compact_json, content_text, text_shown
from inspector.protocol.payloads.content_blocks import size_in_words
from inspector.protocol.payloads.file_edits import edits_of
from inspector.protocol.payloads.plans import plan_of
from inspector.protocol.payloads.shell_commands import command_of
from inspector.protocol.payloads.stream_chunks import frame_text
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

_MAX_SENTENCE = 500  # characters
_MOST_JSON = 1 << 16  # characters of a text that is decoded for its shape
_MOST_PARTS = 4
_MOST_CAPABILITIES = 12
_LONGEST_VALUE = 40
_MAX_DEPTH = 3
_JSON_STARTS = ("{", "[")
_NO_SENTENCE_FLAGS = (Flag.UNREADABLE | Flag.FRAME | Flag.GAP | Flag.JOIN).value
_NO_TEXT_FLAGS = _NO_SENTENCE_FLAGS | Flag.LOG_ONLY.value


@dataclass(frozen=True, slots=True)
class Sentence:
    """Sentence of a row.

    Attributes:
        about: the tool or method; "".
        words: the outcome or purpose, with its line breaks.
        failed: the call failed.
        colon: a colon stands between the two, as before an outcome.
    """

    about: str
    words: str
    failed: bool = False
    colon: bool = True

    @property
    def text(self) -> str:
        """The sentence on one line."""
        if not self.about:
            return self.words
        if not self.words:
            return f"{self.about} failed" if self.failed else self.about
        between = " failed: " if self.failed else ": " if self.colon else " "
        return f"{self.about}{between}{self.words}"


def info(analysis: Analysis, message: int) -> str | None:
    """Returns the masked sentence of any message on one line; its own text if there is no more to add."""
    sentence = sentence_of(analysis, message)
    capture = analysis.capture
    if sentence is None:
        flags = int(capture.columns["flags"][message])
        if flags & Flag.GAP.value:
            return capture.records.reason(message)
        if flags & Flag.FRAME.value:
            words = frame_text(capture.records.frame_data(message))
            return _one_line(f"{capture.string('stream', message) or ''} {words}")
        if flags & _NO_SENTENCE_FLAGS:
            return None
        kind, payload = capture.string("kind", message) or "", capture.records.payload(message)
        text = " ".join(filter(None, parts_of(analysis, message, kind, payload))) or text_shown(kind, payload)
        if not text and payload and not kind.startswith("reasoning/"):
            text = compact_json(mask_secrets(payload))
        sentence = Sentence("", text or "")
    return _one_line(sentence.text)


def _one_line(text: str) -> str | None:
    # Cut before the search for secrets; more than is shown, as runs of blanks shrink.
    line = " ".join(mask_text(text[: 8 * _MAX_SENTENCE]).split())
    return (line if len(line) <= _MAX_SENTENCE else line[: _MAX_SENTENCE - 1] + "…") or None


# Rows about streams, arrivals and capabilities consist of parts, which a table sets in different styles.


def parts_of(analysis: Analysis, message: int, kind: str, payload: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns parts for a message without a text of its own; "" for an absent part, () for other kinds."""
    namespace = kind.partition("/")[0]
    if namespace == "stream":
        return _stream_parts(analysis, message, payload)
    if kind == "system/welcome":
        others = payload.get("participants")
        if not isinstance(others, list):
            return ("welcome",)
        return (f"welcome, {_count(len(others), 'others')} present" if others else "welcome, no others present",)
    return _capability_parts(kind, payload) if namespace in ("capability", "space") else ()


def _stream_parts(analysis: Analysis, message: int, payload: Mapping[str, Any]) -> tuple[str, str, str]:
    """Returns the stream's id, its direction or end reason, and its description."""
    capture = analysis.capture
    stream = int(capture.columns["stream"][message])
    if not stream and capture.string("kind", message) == "stream/close":
        stream = stream_of(analysis, message)
    facts = (payload.get(key) for key in ("direction", "encoding", "reason", "status"))
    about = payload.get("description")
    words = "  ".join(" ".join(fact.split()) for fact in facts if isinstance(fact, str))
    return capture.strings[stream] if stream else "", words, about if isinstance(about, str) else ""


def _capability_parts(kind: str, payload: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the participant, and the granted or revoked capabilities."""
    listed = payload.get("capabilities")
    listed = listed[:_MOST_CAPABILITIES] if isinstance(listed, list) else []
    names = (item.get("kind") if isinstance(item, dict) else item for item in listed)
    words = "  ".join(" ".join(name.split())[:80] for name in names if isinstance(name, str))
    return text_shown(kind, payload) or "", words


def sentence_of(analysis: Analysis, message: int) -> Sentence | None:
    """Returns the sentence of a request, proposal, outcome or error."""
    capture = analysis.capture
    if int(capture.columns["flags"][message]) & _NO_TEXT_FLAGS:
        return None
    kind = capture.string("kind", message) or ""
    if kind in (kinds.REJECT, kinds.WITHDRAW):
        return _verdict_sentence(analysis, message, kind)
    if kind == kinds.RESPONSE:
        return _result_sentence(analysis, message)
    if kind == "system/error":
        return _error_sentence(analysis, message)
    return _call_sentence(analysis, message) if kind in (kinds.REQUEST, kinds.PROPOSAL) else None


def _resolved_name(analysis: Analysis, column: str, message: int) -> str:
    """Returns method or target as the passes resolved it, or ""."""
    code = int(analysis.correlation.columns[column][message])
    return analysis.capture.strings[code] if code else ""


# Calls

_PURPOSES = {
    "initialize": "opens the session",
    "ping": "asks for a sign of life",
    "tools/list": "asks for the tools",
    "resources/list": "asks for the resources",
    "resources/templates/list": "asks for the templates of resources",
    "prompts/list": "asks for the prompts",
    "roots/list": "asks for the roots",
    "server/discover": "asks for the server's identity and capabilities",
    "subscriptions/listen": "listens for changes",
    "tasks/list": "asks for the tasks",
    "notifications/initialized": "is ready",
    "notifications/cancelled": "takes a request back",
    "notifications/tools/list_changed": "its tools have changed",
    "notifications/resources/list_changed": "its resources have changed",
    "notifications/prompts/list_changed": "its prompts have changed",
    "notifications/roots/list_changed": "its roots have changed",
}
"""Purpose of calls without a text of their own, by method."""
_ASKED_OF = frozenset(("tools/list", "resources/list", "resources/templates/list", "prompts/list", "roots/list"))
_MOST_NAMED = 2


def _call_sentence(analysis: Analysis, message: int) -> Sentence | None:
    method, target = (_resolved_name(analysis, column, message) for column in ("method", "target"))
    if not method:
        return None
    payload = unwrap_payload(analysis.capture.records.payload(message))
    params = payload.get("params")
    if analysis.capture.foreign_rpc.is_foreign(message):
        return Sentence(method, compact_json(mask_secrets(params)) if params else "", colon=False)
    if method == "tools/call":
        told = arguments_words(target, params.get("arguments") if isinstance(params, dict) else None)
        return Sentence(target or method, told or text_shown(kinds.REQUEST, payload) or "", colon=False)
    told = _notification_words(method, params)
    if told:
        return Sentence(method, told, colon=False)
    text = text_shown(kinds.REQUEST, payload)
    purpose = _PURPOSES.get(method, "")
    if method in _ASKED_OF and (to := analysis.capture.recipients(message)):
        more = f" and {len(to) - _MOST_NAMED} more" if len(to) > _MOST_NAMED else ""
        purpose += f" of {', '.join(to[:_MOST_NAMED])}{more}"
    return Sentence(method, (text if text and text != method else "") or purpose or target, colon=False)


def _notification_words(method: str, params: object) -> str:
    """Describes a notification of progress or of a log line; "" for others."""
    if not isinstance(params, dict):
        return ""
    if method == "notifications/progress":
        done, total, words = (params.get(name) for name in ("progress", "total", "message"))
        far = [
            f"{value:g}" for value in (done, total) if isinstance(value, int | float) and abs(value) < _MOST_PROGRESS
        ]
        return ": ".join(filter(None, (" of ".join(far), words if isinstance(words, str) else "")))
    if method == "notifications/message":
        data = params.get("data")
        words = data if isinstance(data, str) else compact_json(mask_secrets(data)) if data is not None else ""
        return ": ".join(
            name for name in (params.get("level"), params.get("logger"), words) if isinstance(name, str) and name
        )
    return ""


# Formatting an integer beyond the range of floats would fail, and JSON has integers of any length.
_MOST_PROGRESS = 1e15
_SHORT_PATH = 3  # path segments shown
_FILES = ("file_path", "notebook_path", "absolute_path")
_PURPOSE = "__tool_use_purpose"
"""Argument with the model's reason for a call, beside those of the tool."""


def arguments_words(tool: str | None, arguments: object) -> str | None:
    """Describes a call of an agent's built-in tool: edit, plan, command or file."""
    plan = plan_of(arguments)
    if plan is not None:
        return plan.summary
    if edits := edits_of(tool, arguments):
        added, removed = (sum(getattr(edit, name) for edit in edits) for name in ("added", "removed"))
        counted = " ".join(
            [f"+{added:,}"] * bool(added or not removed) + [f"\N{MINUS SIGN}{removed:,}"] * bool(removed)
        )
        what = "deletes" if edits[0].change_type == "deleted" and not added and not removed else counted
        more = f" and {_count(len(edits) - 1, 'other files')}" if len(edits) > 1 else ""
        return f"{what} {_short_path(edits[0].path)}{more}"
    if command := command_of(tool, arguments):
        return command[0]
    if not isinstance(arguments, dict):
        return None
    if isinstance(purpose := arguments.get(_PURPOSE), str):
        others = {key: value for key, value in arguments.items() if key != _PURPOSE}
        told = arguments_words(tool, others) or "  ".join(f"{key}={_shorten(value)}" for key, value in others.items())
        return "  ".join(filter(None, (told, purpose)))
    if len(arguments) == 1 and (paths := _paths_in(arguments.get("operations"))):
        return ", ".join(map(_short_path, paths))
    # The arguments of a call that starts a sub-agent, in two forms.
    if isinstance(arguments.get("prompt"), str) and isinstance(about := arguments.get("description"), str):
        sort = arguments.get("subagent_type")
        return f"{sort}: {about}" if isinstance(sort, str) and sort else about
    if isinstance(role := arguments.get("agent_type"), str) and isinstance(told := arguments.get("message"), str):
        return f"{role}: {told}"
    if asked := _questions(arguments):
        return asked
    file = next((value for key in _FILES if isinstance(value := arguments.get(key), str)), None)
    if file is None:
        return None
    rest = (f"{key}={_shorten(value)}" for key, value in arguments.items() if key not in _FILES)
    return "  ".join((_short_path(file), *rest))


def _paths_in(operations: object) -> list[str]:
    """Returns the paths of a list of operations on files; none if one has no path."""
    if not isinstance(operations, list):
        return []
    paths = [one.get("path") if isinstance(one, dict) else None for one in operations]
    return [path for path in paths if isinstance(path, str)] if all(isinstance(path, str) for path in paths) else []


def _questions(arguments: dict[str, Any]) -> str:
    """Returns the questions of AskUserQuestion; "" for other calls."""
    listed = arguments.get("questions")
    asked = [one.get("question") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return " ".join(question for question in asked if isinstance(question, str))


def _short_path(path: str) -> str:
    # Masked before it is cut: the end of an address no longer shows that a part is a password.
    path = mask_text(path)
    names = path[-_MAX_SENTENCE:].replace("\\", "/").split("/")
    return path if len(names) <= _SHORT_PATH + 1 else "/".join(("…", *names[-_SHORT_PATH:]))


def _verdict_sentence(analysis: Analysis, message: int, kind: str) -> Sentence:
    """Describes a rejected or withdrawn proposal, with the reason."""
    proposal = int(analysis.correlation.columns["cause"][message])
    about = ""
    if proposal != NO_ROW:
        about = _resolved_name(analysis, "target", proposal) or _resolved_name(analysis, "method", proposal)
    return Sentence(about, text_shown(kind, analysis.capture.records.payload(message)) or "", colon=False)


# Outcomes


def _result_sentence(analysis: Analysis, message: int) -> Sentence:
    capture = analysis.capture
    # the message that ends a call belongs to the call, whoever sends it
    called = analysis.correlation.rounds.begun.get(message, message)
    about = _resolved_name(analysis, "target", called) or _resolved_name(analysis, "method", called)
    payload = capture.records.payload(message)
    if int(capture.columns["flags"][message]) & Flag.ERROR.value:
        return Sentence(about, text_shown(kinds.RESPONSE, payload) or "", failed=True)
    if int(analysis.transients.columns["badges"][message]) & Badge.TRANSIENT:
        return Sentence(about, analysis.transients.summary(message) or "")
    result = payload.get("result")
    if _resolved_name(analysis, "method", message) in _INTRODUCED_BY and (server := _server(result)):
        return Sentence(about, server)
    text = text_shown(kinds.RESPONSE, payload) or ""
    # Older servers do not know this method, and clients go on with `initialize`.
    if result is None and about == "server/discover" and payload.get("error"):
        return Sentence(about, f"not supported, initialize follows ({text})" if text else "not supported")
    shape = None
    if isinstance(result, dict) and _holds_no_text(result):
        shape = content_text(result) or shape_of(result.get("structuredContent", result))
    elif text.lstrip()[:1] in _JSON_STARTS:
        shape = _shape_of_text(text)
    if shape:
        return Sentence(about, f"{shape}, {size_in_words(int(capture.columns['size'][message]))}")
    return Sentence(about, text or EMPTY_RESULT)


def _holds_no_text(result: Mapping[str, Any]) -> bool:
    """Returns True if a result has content, but no text in it."""
    blocks = content if isinstance(content := result.get("content"), list) else []
    if not blocks and not result.get("structuredContent"):
        return False
    return not any(isinstance(block, dict) and isinstance(block.get("text"), str) for block in blocks)


_INTRODUCED_BY = frozenset(("initialize", "server/discover"))


def _server(result: object) -> str:
    """Returns name and version of a server from `initialize` or `server/discover`; "" without a name."""
    if not isinstance(result, dict):
        return ""
    meta, info = result.get("_meta"), result.get("serverInfo")
    if isinstance(meta, dict) and not isinstance(info, dict):
        info = meta.get("io.modelcontextprotocol/serverInfo")
    if not isinstance(info, dict):
        return ""
    named = " ".join(value for key in ("name", "version") if isinstance(value := info.get(key), str) and value)
    supported = result.get("supportedVersions")
    versions = [result.get("protocolVersion"), *(supported if isinstance(supported, list) else ())]
    told = ", ".join(version for version in versions[:_MOST_NAMED] if isinstance(version, str))
    return f"{named}, MCP {told}" if named and told else named


_VIOLATION = "capability_violation"


def _error_sentence(analysis: Analysis, message: int) -> Sentence:
    capture, payload = analysis.capture, analysis.capture.records.payload(message)
    cause = int(analysis.correlation.columns["cause"][message])
    kind = capture.string("kind", cause) or "" if cause != NO_ROW else ""
    call = [_resolved_name(analysis, column, cause) for column in ("method", "target")] if cause != NO_ROW else ["", ""]
    if payload.get("error") == _VIOLATION:
        attempted = payload.get("attempted_kind")
        named = kinds.split_kind(attempted) if isinstance(attempted, str) else kinds.Kind(kind, None, None)
        words = [named.name, named.method or call[0], named.target or call[1]]
        to = capture.recipients(message)
        who = (capture.string("sender", cause) if cause != NO_ROW else "") or (to[0] if len(to) == 1 else "")
        what = " ".join(filter(None, words)) or "this"
        return Sentence("", f"{who} may not send {what}" if who else f"not allowed: {what}")
    if int(capture.columns["part"][message]):  # in a transcript, the cause is only the previous message
        return Sentence("", text_shown("system/error", payload) or "")
    about = " ".join(filter(None, call)) or kind
    return Sentence(about, text_shown("system/error", payload) or "", failed=bool(about))


# Shapes of JSON


def _shape_of_text(text: str) -> str:
    """Describes a JSON text; "JSON" for a long one, "" for other text."""
    if len(text) > _MOST_JSON:
        return "JSON"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return shape_of(value)


def shape_of(value: Any, depth: int = 0) -> str:
    """Describes a JSON value in a few words, such as "4 records, page=1", or by its key names."""
    if isinstance(value, list):
        every = all(isinstance(item, dict) for item in value)
        return _count(len(value), "records" if every else "items") if value else "empty list"
    if not isinstance(value, dict):
        return _shorten(value)
    if not value:
        return "empty object"
    lists = [_count(len(item), _noun(name)) for name, item in value.items() if isinstance(item, list)]
    shown = mask_secrets({name: item for name, item in value.items() if isinstance(item, str | int | float)})
    scalars = [f"{_noun(name)}={_shorten(item)}" for name, item in shown.items()]
    objects = {name: item for name, item in value.items() if isinstance(item, dict)}
    if not lists and not scalars and len(objects) == 1 and depth < _MAX_DEPTH:
        return shape_of(next(iter(objects.values())), depth + 1)
    parts = [*lists, *scalars, *map(_noun, objects)]
    more = len(parts) - _MOST_PARTS
    return ", ".join(parts[:_MOST_PARTS]) + (f", {more} more" if more > 0 else "")


def _noun(name: str) -> str:
    return " ".join(name[:_LONGEST_VALUE].split()) or "items"


def _count(count: int, noun: str) -> str:
    """Formats a count with its noun, as in "4 records" and "1 record"."""
    return f"{count:,} {noun[:-1] if count == 1 and noun.endswith('s') else noun}"


def _shorten(value: object) -> str:
    text = " ".join(value[: 4 * _LONGEST_VALUE].split()) if isinstance(value, str) else compact_json(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
