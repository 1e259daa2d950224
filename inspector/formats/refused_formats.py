"""Words for files that are not read: the name of a known kind, else keys or shape of the first record.

A known kind is refused before its lines are tried, so that none is mistaken for a format with a common key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from inspector.formats.databases import MAGIC
from inspector.formats.entry_builders import decoded_object
from inspector.formats.signatures import Signature
from inspector.formats.table import FORMATS
from inspector.protocol.header import CUT, NotAnObjectError, cut_words, decode_json
from inspector.protocol.json_size import is_too_large
from inspector.protocol.truncated_json import complete_json

HOW_TO_DECLARE = (
    "Declare its format to read it: `context-inspector formats new FILE`, or File > Declare a format... in the window."
)
"""Sentence about the next step for a file that is not read."""
_NOT_YET = "It is not read yet."


class Refusal(NamedTuple):
    """Reason for refusing a file, and a remedy.

    Attributes:
        facts: predicate about the file, as "looks like a run of tau-bench (keys `traj`)", without a period.
        remedy: sentences about the next step.
    """

    facts: str
    remedy: str

    def sentences(self, name: str) -> str:
        """Returns at most three sentences about the file `name`."""
        return f"{name} {self.facts}. {self.remedy}"


# Known kinds


_SIGNATURES: tuple[Signature, ...] = (
    # Sessions of coding agents. Each is recognized by several members, since single ones are common.
    Signature("messages of LangChain", ("type", "data"),
              lambda value: value["type"] in ("human", "ai", "system", "tool") and isinstance(value["data"], Mapping)),
    Signature("events of agtrace", ("stream_id", "session_id", "parent_id", "type"),
              lambda value: isinstance(value["stream_id"], Mapping) and "stream_type" in value["stream_id"],
              "They are a copy of an agent's session in another form. Open the session itself."),
    # Documents without messages
    Signature("a configuration of MCP servers", ("mcpServers",), lambda value: isinstance(value["mcpServers"], Mapping),
              "It has no messages. A tap records those of its servers: context-inspector tap install."),
    *(signature for one in FORMATS for signature in one.signatures),
)  # fmt: skip


_MARKS = tuple((tuple(f'"{key}"'.encode() for key in one.keys), one) for one in _SIGNATURES)
_PROGRAMS = sorted(
    {one.title.removesuffix(" session").removesuffix(" chat") for one in FORMATS if one.store}, key=str.lower
)
_STORES = f"{', '.join(_PROGRAMS[:-1])} or {_PROGRAMS[-1]}"
"""Programs whose databases are read, in words."""
_FRAMED = b"content-length:"
_SERVER_LOGS = (
    (
        re.compile(
            rb"(?:\(\w+(?: \w+)? pid=\d+\) )?(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d "
            rb"(?:\[[\w/]+\.py:\d+\]|\w+\.py:\d+\])"
        ),
        "a log of a vLLM server", "It has statistics, and no answers; prompts only as one text, if at all.",
    ),
    (
        re.compile(
            rb"time=\S+ level=[A-Z]+ source=(?:app|download|ggml|gpu|images|lifecycle|logging|memory|routes|runner"
            rb"|sched|server|types|upload)\.go:\d+ msg="
            rb"|\d{4}/\d\d/\d\d \d\d:\d\d:\d\d routes\.go:\d+: INFO server config"
            rb"|\[GIN(?:-debug)?\][^\n]{1,100}/api/(?:chat|generate|tags|show|ps|pull|push|create|embed|version)\b"
        ),
        "a log of an Ollama server", "It has times and sizes of requests, and no messages.",
    ),
)  # fmt: skip
"""Beginnings of servers' logs without messages."""
_RECORD_IT = "A tap records them: context-inspector tap --model."
_EVENT = b"data:"


def known_refusal(line: bytes) -> Refusal | None:
    """Returns the refusal of a known kind by a file's first line or record; None for others. Never raises."""
    if line[: len(_FRAMED)].lower() == _FRAMED:
        return _named("messages framed by Content-Length, as language servers speak", (), "")
    if line.startswith(MAGIC):
        return Refusal(
            f"is a SQLite database without readable sessions of {_STORES}", "Open a database of one of these."
        )
    for begin, words, content in _SERVER_LOGS:
        if begin.match(line) is not None:
            return _named(words, (), f"{content} {_RECORD_IT}")
    possible = [one for marks, one in _MARKS if all(mark in line for mark in marks)]
    value = decoded_object(line.removeprefix(_EVENT).strip()) if possible else None
    if value is None:
        return None
    found = (one for one in possible if all(key in value for key in one.keys) and one.fits(value))
    return next((_named(one.words, one.keys, one.remedy) for one in found), None)


def _named(words: str, keys: tuple[str, ...], remedy: str) -> Refusal:
    seen = f" ({'keys' if len(keys) > 1 else 'key'} {_quoted(keys)})" if keys else ""
    return Refusal(f"looks like {words}{seen}", remedy or f"{_NOT_YET} {HOW_TO_DECLARE}")


def _quoted(keys: Any) -> str:
    return ", ".join(f"`{key}`" for key in keys)


# Other records


_KEYS_SHOWN = 5
_KEY_LENGTH = 40
_HEAD_BYTES = 1 << 14
_TIME = re.compile(
    rb"\[?(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d?[-/.]\d\d?[-/.]\d{2,4}|\d\d:\d\d:\d\d|1\d{9}\b"
    rb"|\d\d:\d\d\]|\s*\d+(?:\.\d+)? ?m?s\]|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [A-Z][a-z]{2} +\d"
    rb"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*,? +\d)"
)
_TEXT_SHAPES: tuple[tuple[re.Pattern[bytes], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), words)
    for pattern, words in (
        (rb"#!", "the beginning of a script"),
        (rb"#{1,6}(?:\s|$)", "a comment, or a heading of Markdown"),
        (rb"//|/\*|--\s|;", "a comment"),
        (rb"---+\s*$|\+\+\++\s*$", "the beginning of a document in YAML, TOML or Markdown"),
        (rb"-----BEGIN ", "the beginning of a key or certificate in PEM"),
        (rb"```|~~~", "the beginning of a code block in Markdown"),
        (rb"<", "a tag of HTML or XML"),
        (rb'"""|\'\'\'', "the beginning of a text in triple quotes"),
        (rb"\[\[?[A-Za-z_][\w.\" -]*\]\]?\s*$", "a section in brackets, as in TOML"),
        (rb"(?:import|from|def|class|package|use|const|function|using)\s", "a line of a program"),
        (_TIME.pattern, "text that begins with a time"),
        (rb"\[[A-Za-z_][\w.-]*\]\s", "text that begins with a name in brackets"),
        (rb"[\w.-]+\s*=", "a name and a value, as in settings"),
        (rb"(?:event|data|retry):", "a line of an event stream"),
        (rb"[\w.-]+:(?:\s|$)", "a name and a value, as in YAML"),
        (rb"(?=[^\t]*\t[^\t]*\t)", "values separated by tabs"),
        (rb"(?:[^,\s]+,){2,}[^,\s]*$", "values separated by commas"),
    )
)
BINARY = "binary data"
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_OTHER_VALUES = {list: "an array", str: "a text in quotes", int: "a number", float: "a number", bool: "true or false"}
_NO_TEXT = "Open a log as text, or packed as .gz or .zst."
_NO_END = "Open a complete copy of it."


def record_words(record: bytes) -> str:
    """Returns a description of a record that no format knows, as "an object with the keys `a`, `b`". Never raises."""
    event = record.removeprefix(_EVENT).strip()
    if event != record and event[:1] == b"{":
        return f"an event with {record_words(event)}"
    begin = record[:1]
    if begin not in (b"{", b"["):
        return _scalar_words(record) or text_words(record)
    try:
        value = None if is_too_large(record) else decode_json(record)
    except NotAnObjectError as error:
        return _damaged_words(record, str(error))
    if value is None:
        return _head_words(record)
    return keys_words(value) if isinstance(value, Mapping) else "an array, where an object was expected"


def keys_words(value: Mapping[str, Any]) -> str:
    """Returns the number and the first keys of an object in words."""
    keys = [_shortened(str(key)) for key in value]
    if not keys:
        return "an object without keys"
    more = len(keys) - _KEYS_SHOWN
    rest = f" and {more:,} more" if more > 0 else ""
    return f"an object with the {'keys' if len(keys) > 1 else 'key'} {_quoted(keys[:_KEYS_SHOWN])}{rest}"


def text_words(line: bytes) -> str:
    """Returns the shape of a line of text, in words without its content."""
    head = line[:_HEAD_BYTES].strip()
    if is_binary(head):
        return BINARY
    return next((words for shape, words in _TEXT_SHAPES if shape.match(head)), "plain text")


def is_binary(head: bytes) -> bool:
    """Returns True for bytes with control characters that no text has."""
    return _CONTROLS.search(head) is not None


def unknown_refusal(words: str) -> Refusal:
    """Returns the refusal of a file of no known kind, by a clause about its content."""
    is_cut = words.startswith(f"It is {CUT}")
    remedy = _NO_TEXT if words.endswith(BINARY) else _NO_END if is_cut else HOW_TO_DECLARE
    return Refusal(f"is no log that can be read. {words}", remedy)


def _scalar_words(record: bytes) -> str | None:
    try:
        value = decode_json(record[:_HEAD_BYTES])
    except NotAnObjectError:
        return None
    return f"{_OTHER_VALUES.get(type(value), 'null')}, where an object was expected"


def _damaged_words(record: bytes, reason: str) -> str:
    if "Unterminated string" in reason:
        return cut_words(record)
    # A bracket may begin a section, a time or a name.
    if record[:1] == b"[" and (words := text_words(record)) != "plain text":
        return words
    shape = "an object" if record[:1] == b"{" else "an array"
    return f"text that begins as {shape} of JSON: {reason}" if reason.startswith("no JSON") else reason


def _head_words(record: bytes) -> str:
    head = complete_json(record[:_HEAD_BYTES])
    value = decoded_object(head) if head is not None else None
    return f"a long object that begins with the keys {_quoted(map(_shortened, list(value)[:_KEYS_SHOWN]))}" if (
        value
    ) else "a long JSON value"  # fmt: skip


def _shortened(key: str) -> str:
    return key if len(key) <= _KEY_LENGTH else f"{key[:_KEY_LENGTH]}…"
