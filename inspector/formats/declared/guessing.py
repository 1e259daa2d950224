"""Guesses a first declaration from a sample of a log, with a comment about each guess."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from inspector.formats.declared.declaration import EventKind, TimeUnit
from inspector.formats.declared.events import time_of
from inspector.formats.declared.line_pattern import LinePattern
from inspector.formats.declared.record_paths import InnerRecord, RecordPath, path_text, value_at
from inspector.formats.entry_builders import decoded_object
from inspector.formats.table import FORMAT_TITLES
from inspector.protocol.header import NotAnObjectError, decode_json, json_or_none
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import DATED_FROM_NS, NO_TIME, parse_time
from inspector.protocol.truncated_json import complete_json

SAMPLE_BYTES = 1 << 20
"""Bytes of a log that suffice for a guess."""

_MAX_RECORDS, _MAX_DEPTH, _MAX_PATHS, _MAX_KINDS = 300, 3, 400, 40
_MAX_SHOWN = 40
_JSON_SHARE = 0.5
"""Share of lines that are JSON objects in a log of JSON lines."""
_UNITS = ((1e11, TimeUnit.SECONDS), (1e14, TimeUnit.MILLISECONDS), (1e17, TimeUnit.MICROSECONDS))
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")

_NAMES: dict[str, tuple[str, ...]] = {
    "fields.time": (
        "timestamp",
        "time",
        "ts",
        "created at",
        "created",
        "date",
        "datetime",
        "at",
        "start time",
        "t",
        "ms",
        "epoch",
    ),
    "kind.path": ("type", "kind", "event", "event type", "ev", "action type", "role", "op"),
    "fields.sender": ("sender", "from", "role", "author", "actor", "speaker", "who", "source", "agent name"),
    "fields.receiver": ("receiver", "recipient", "to", "target", "recipients"),
    "fields.session": ("session id", "session", "run id", "conversation id", "thread id", "trace id", "run"),
    "fields.agent": ("sub agent id", "agent id", "subagent"),
    "fields.parent": ("parent id", "parent uuid", "parent", "in reply to", "reply to"),
    "call.id": ("tool call id", "call id", "tool use id", "invocation id", "cid"),
    "call.tool": ("tool name", "tool", "function name", "function", "action", "command", "name"),
    "call.arguments": ("arguments", "args", "tool input", "input", "parameters", "params", "action input"),
    "result.content": ("result", "tool output", "output", "observation", "response", "out"),
    "result.error": ("error", "is error", "exception", "err", "failed"),
    "fields.text": ("text", "content", "message", "msg", "body", "thought", "prompt", "answer", "summary"),
    "fields.id": ("id", "uuid", "message id", "event id", "msg id", "record id", "seq", "n", "index"),
    "usage.model": ("model", "model name", "model id"),
    "usage.input": ("input tokens", "prompt tokens", "tokens in", "in tokens", "input token count"),
    "usage.output": ("output tokens", "completion tokens", "tokens out", "out tokens", "output token count"),
    "usage.cache_read": ("cache read tokens", "cached tokens", "cache read input tokens", "cached input tokens"),
    "usage.cache_write": ("cache write tokens", "cache creation input tokens"),
    "usage.cost": ("cost", "cost usd", "total cost", "price", "usd"),
}
"""Words of the last keys of a path, by key of a declaration; the first that occurs is guessed."""

_KINDS: tuple[tuple[EventKind, str], ...] = (
    (EventKind.AGENT_STARTED, r"spawn|delegate|sub_?agent_?start|agent_?start|handoff"),
    (EventKind.AGENT_ENDED, r"sub_?agent_?(?:end|stop|done)|agent_?(?:end|stop|done|finish)"),
    (EventKind.RESULT, r"result|observation|tool_?(?:output|response|end)|^tool$|^function$|output|back|return"),
    (EventKind.CALL, r"call|tool_?use|tool_?start|action|^act$|invoke|execute|^tool_|command"),
    (EventKind.THOUGHT, r"think|thought|reason|^plan|reflect"),
    (EventKind.COMPACTION, r"compact|summar|condens"),
    (EventKind.ERROR, r"error|exception|fail|crash"),
    (EventKind.PROMPT, r"user|human|prompt|^ask|question|request|instruct"),
    (EventKind.INSTRUCTIONS, r"system|developer"),
    (EventKind.ANSWER, r"assistant|answer|^say|reply|response|final|^ai$|model|agent|bot|llm"),
    (EventKind.MESSAGE, r"message|chat|text|^post"),
)
"""Events by words in a kind, the most specific first."""

_PIECES: tuple[tuple[str, str], ...] = (
    ("time", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d{10,19}(?:\.\d+)?"),
    ("level", r"TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL"),
    ("sender", r"[A-Za-z][\w.-]*"),
)
"""Named pieces at the beginning of a line of text, with their expressions, in the usual order."""


@dataclass
class _PathFacts:
    """Values at one path of the sampled records."""

    count: int = 0
    values: list[Any] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [value for value in self.values if isinstance(value, str)]


@dataclass(frozen=True)
class _Sample:
    """Records of a sample and the lines that tell them apart."""

    form: str
    """Lines of the table `[lines]`."""
    records: list[Mapping[str, Any]]
    lines: Sequence[Mapping[str, Any]] = ()
    """The lines, if records lie in an array of each line."""


@dataclass
class _Guess:
    """Chosen paths by key of a declaration, and comments."""

    sample: _Sample
    paths: dict[RecordPath, _PathFacts]
    chosen: dict[str, RecordPath] = field(default_factory=dict)

    def comment(self, path: RecordPath) -> str:
        facts, total = self.paths[path], len(self.sample.records)
        share = "all" if facts.count == total else f"{facts.count} of"
        shown = next((value for value in facts.values if isinstance(value, str | int | float)), None)
        example = f", such as {_shown(shown)}" if shown is not None else ""
        return f"in {share} {total:,} sampled records{example}"


def guess_declaration(data: bytes, file_name: str, *, is_whole: bool) -> str:
    """Returns the text of a first declaration.

    Args:
        data: the first bytes of a log, at most SAMPLE_BYTES.
        file_name: of the log; its first part becomes the name.
        is_whole: the log has no more bytes.
    """
    sample = _sample_of(data.removeprefix(b"\xef\xbb\xbf"), is_whole=is_whole)
    guess = _Guess(sample, _path_facts(sample.records))
    taken: set[RecordPath] = set()
    for key, names in _NAMES.items():
        found = _find_path(guess, key, names, taken)
        if found is not None:
            guess.chosen[key] = found
            # A role is the kind and the sender.
            if key not in ("kind.path", "fields.session", "fields.agent"):
                taken.add(found)
    if "fields.text" not in guess.chosen and (longest := _longest_text(guess, taken)) is not None:
        guess.chosen["fields.text"] = longest
    return "\n".join(_written(guess, file_name)) + "\n"


def _sample_of(data: bytes, *, is_whole: bool) -> _Sample:
    lines = data.split(b"\n")
    if not is_whole and len(lines) > 1:
        lines.pop()  # cut
    filled = [bare for line in lines if (bare := line.strip())][:_MAX_RECORDS]
    objects = [one for line in filled if line.startswith(b"{") and (one := decoded_object(line)) is not None]
    if objects and len(objects) >= _JSON_SHARE * len(filled):
        inner = _inner_arrays(objects)
        if inner is not None:
            return inner
        return _Sample('form = "json-lines"  # each line is a JSON object', list(objects))
    document = _document(data)
    if isinstance(document, list):
        records = [one for one in document if isinstance(one, Mapping)]
        if records:
            return _Sample('form = "json-array"  # the document is a JSON array', records[:_MAX_RECORDS])
    found = max(_arrays(document, ()), key=lambda one: len(one[1]), default=None)
    if found is not None:
        path = _quoted(path_text(found[0]))
        return _Sample(
            f'form = "json-array"\npath = {path}  # the longest array of objects in the document',
            found[1][:_MAX_RECORDS],
        )
    if isinstance(document, Mapping):
        return _Sample('form = "json-lines"  # one JSON object', [document])
    return _text_sample(filled)


def _inner_arrays(objects: Sequence[Mapping[str, Any]]) -> _Sample | None:
    """Returns the sample of lines that each hold an array of records, as a conversation; None for other lines."""
    found: Counter[RecordPath] = Counter()
    lines: Counter[RecordPath] = Counter()
    for value in objects:
        for path, records in _arrays(value, ()):
            found[path] += len(records)
            lines[path] += 1
    path = next((path for path, count in found.most_common(1) if count >= _MANY_INNER * len(objects)), None)
    if path is None or lines[path] < _MOST_LINES * len(objects):
        return None
    inner = [
        InnerRecord(one, value)
        for value in objects
        for at, records in _arrays(value, ())
        if at == path
        for one in records
    ]
    note = "each line is a JSON object with an array of records"
    return _Sample(
        f'form = "json-lines"\npath = {_quoted(path_text(path))}  # {note}', list(inner[:_MAX_RECORDS]), objects
    )


_MANY_INNER = 1.5
"""Elements of an array in each line, on average, that make it an array of records."""
_MOST_LINES = 0.6
"""Share of lines that have such an array with elements."""


def _document(data: bytes) -> Any:
    bare = data.strip()
    if bare[:1] not in (b"{", b"["):
        return None
    try:
        return decode_json(bare)
    except NotAnObjectError:
        pass
    # The sample may end within the document.
    is_array = bare.startswith(b"[")
    completed = complete_json(b'{"a":' + bare if is_array else bare)
    found = json_or_none(completed) if completed else None
    return found.get("a") if is_array and isinstance(found, Mapping) else found


def _arrays(value: Any, path: RecordPath) -> Iterator[tuple[RecordPath, list[Mapping[str, Any]]]]:
    """Yields arrays of objects below a value, and their paths."""
    if not isinstance(value, Mapping) or len(path) > _MAX_DEPTH:
        return
    for key, inner in value.items():
        if not key or len(key) > _MAX_SHOWN:
            continue
        if isinstance(inner, list):
            records = [one for one in inner if isinstance(one, Mapping)]
            if records:
                yield (*path, key), records
        else:
            yield from _arrays(inner, (*path, key))


def _text_sample(lines: Sequence[bytes]) -> _Sample:
    """Returns the sample of lines of text: pieces are added to the expression while most lines have them."""
    expression, named = "^", []
    for name, piece in _PIECES:
        for before, after in ((r"\[", r"\]"), (r"\(", r"\)"), ("", ":"), ("", "")):
            if name == "sender" and not before and not after:
                continue  # any word would be a sender
            longer = f"{expression}{before}(?P<{name}>{piece}){after}\\s+"
            if _share(longer, lines) >= _TEXT_SHARE:
                expression, named = longer, [*named, name]
                break
    expression += "(?P<text>.*)$"
    pattern = LinePattern(expression)
    records = [groups for line in lines if (groups := pattern.groups_of(line)) is not None]
    note = f"groups: {', '.join((*named, 'text'))}; {len(records)} of {len(lines)} sampled lines match"
    return _Sample(f'form = "regex"\n# {note}\nregex = {_literal(expression)}', list(records))


_TEXT_SHARE = 0.6
"""Share of lines that have a piece."""


def _share(expression: str, lines: Sequence[bytes]) -> float:
    pattern = LinePattern(expression)
    return sum(pattern.groups_of(line) is not None for line in lines) / max(1, len(lines))


def _path_facts(records: Iterable[Mapping[str, Any]]) -> dict[RecordPath, _PathFacts]:
    """Returns the facts about each path that leads to a value."""
    found: dict[RecordPath, _PathFacts] = {}
    for record in records:
        for path, value in _values_in(record, ()):
            if path in found or len(found) < _MAX_PATHS:
                facts = found.setdefault(path, _PathFacts())
                facts.count += 1
                facts.values.append(value)
    return found


def _values_in(value: Mapping[str, Any], path: RecordPath) -> Iterator[tuple[RecordPath, Any]]:
    for key, inner in value.items():
        if inner is None or not key or len(key) > _MAX_SHOWN or _is_secret_key(key):
            continue
        yield (*path, key), inner
        if isinstance(inner, Mapping) and len(path) < _MAX_DEPTH:
            yield from _values_in(inner, (*path, key))


@lru_cache(maxsize=_MAX_PATHS)  # the records of a log have the same few keys
def _is_secret_key(key: str) -> bool:
    """Returns True for a key with a secret in it, as in an object of tokens."""
    return mask_text(key) != key


def _find_path(guess: _Guess, key: str, names: Sequence[str], taken: set[RecordPath]) -> RecordPath | None:
    """Returns the best path for a key of the declaration: a good name, near the top, in many records."""
    best: tuple[tuple[int, int, int], RecordPath] | None = None
    for path, facts in guess.paths.items():
        words = [word.lower() for word in _WORDS.findall(path[-1])]
        inner = [word.lower() for step in path[-2:] for word in _WORDS.findall(step)]
        rank = next((n for n, name in enumerate(names) if name.split() in (words, inner)), None)
        if rank is None or path in taken or not _suits(key, facts, len(guess.sample.records)):
            continue
        score = rank, len(path), -facts.count
        if best is None or score < best[0]:
            best = score, path
    return best[1] if best is not None else None


def _longest_text(guess: _Guess, taken: set[RecordPath]) -> RecordPath | None:
    """Returns the path with the most text, for logs that name it in other words."""
    free = [
        (sum(map(len, facts.texts)), path) for path, facts in guess.paths.items()
        if path not in taken and path not in guess.chosen.values() and any(" " in text.strip() for text in facts.texts)
    ]  # fmt: skip
    return max(free)[1] if free else None


def _suits(key: str, facts: _PathFacts, total: int) -> bool:
    """Returns True if the values can be those of a key of the declaration."""
    values, texts = facts.values, facts.texts
    if key == "fields.time":
        return all(_unit_of(value) is not None for value in values[:_MAX_SHOWN])
    if key == "kind.path":
        return len(texts) == len(values) and facts.count > total // 2 and len(set(texts)) <= _MAX_KINDS
    if key.startswith("usage.") and key != "usage.model":
        return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if key == "fields.id":
        plain = [value for value in values if isinstance(value, str | int)]
        return len(plain) == len(values) and len(set(plain)) == len(plain)
    if key == "call.tool":
        return len(texts) == len(values)
    if key in ("call.arguments", "result.content", "result.error", "fields.text", "fields.receiver"):
        return key not in ("fields.text",) or bool(texts) or any(isinstance(value, list | Mapping) for value in values)
    return all(isinstance(value, str | int) for value in values)


def _unit_of(value: object) -> TimeUnit | None:
    """Returns the unit of a time; None for a value that is no time of this century."""
    if isinstance(value, str) and parse_time(value) >= DATED_FROM_NS:
        is_number = value.replace(".", "", 1).isdecimal()
        return _unit_of(float(value)) if is_number else TimeUnit.ISO
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    unit = next((one for limit, one in _UNITS if abs(value) < limit), TimeUnit.NANOSECONDS)
    return unit if time_of(value, unit) >= DATED_FROM_NS and time_of(value, unit) != NO_TIME else None


def _written(guess: _Guess, file_name: str) -> Iterator[str]:
    """Yields the lines of the declaration."""
    name = _name_of(file_name)
    yield "# A declared format: Context Inspector reads logs like this by the paths below (docs/declared-formats.md)."
    yield "# Each value is a guess from a sample. Check them: context-inspector formats try LOG --format-file THIS-FILE"
    yield f"name = {_quoted(name)}"
    yield f"title = {_quoted(name.replace('-', ' ').capitalize())}"
    yield 'traffic = "transcript"  # transcript, trace, evaluation, wire or log'
    yield ""
    yield "[lines]"
    yield from guess.sample.form.split("\n")
    total = len(guess.sample.records)
    keys = [path for path, facts in guess.paths.items() if facts.count == total and len(path) == 1]
    if (lines := guess.sample.lines) != ():
        common = (key for key in lines[0] if key and len(key) <= _MAX_SHOWN and all(key in line for line in lines))
        keys = [(key,) for key in common]
    if "regex" not in guess.sample.form and keys:
        wanted = [path for path in guess.chosen.values() if path in keys] or keys
        yield ""
        yield "# A record belongs to this format if it has these keys. Without [match], choose the format by hand."
        yield "[match]"
        yield f"keys = [{', '.join(_quoted(path_text(path)) for path in dict.fromkeys(wanted[:4]))}]"
    for table in ("fields", "call", "result", "usage"):
        yield from _table(guess, table)
    yield from _kind_table(guess)
    agent = _agent_of(guess)
    if agent is not None:
        yield ""
        yield "# Names for records that state no sender or no receiver."
        yield "[participants]"
        yield f"agent = {_quoted(agent)}  # the usual sender of answers and calls"


def _agent_of(guess: _Guess) -> str | None:
    """Returns the usual sender of the model's messages, if they state it."""
    sender, kind = guess.chosen.get("fields.sender"), guess.chosen.get("kind.path")
    if sender is None or kind is None:
        return None
    named = Counter(
        name
        for record in guess.sample.records
        if isinstance(written := value_at(record, kind), str)
        and isinstance(name := value_at(record, sender), str)
        and _event_named(written) in (EventKind.ANSWER, EventKind.THOUGHT, EventKind.CALL)
    )
    found = named.most_common(1)
    return found[0][0] if found and len(found[0][0]) <= _MAX_SHOWN else None


def _event_named(kind: str) -> EventKind | None:
    """Returns the event whose words occur in a kind."""
    return next((event for event, words in _KINDS if re.search(words, kind.lower().replace("-", "_"))), None)


def _table(guess: _Guess, table: str) -> Iterator[str]:
    chosen = {key: path for key, path in guess.chosen.items() if key.startswith(f"{table}.")}
    if not chosen:
        return
    yield ""
    yield f"[{table}]"
    for key, path in chosen.items():
        paths = _text_paths(guess, path) if key == "fields.text" else [path]
        written = [_quoted(path_text(one)) for one in paths]
        value = written[0] if len(written) == 1 else f"[{', '.join(written)}]"
        note = f"the first with a value; {written[paths.index(path)]} is " if len(paths) > 1 else ""
        yield f"{key.partition('.')[2]} = {value}  # {note}{guess.comment(path)}"
        if key == "fields.time":
            unit = _unit_of(guess.paths[path].values[0]) or TimeUnit.ISO
            yield f'time_unit = "{unit}"  # iso, s, ms, us or ns'
    if table == "result" and (call := guess.chosen.get("call.id")) is not None:
        yield f"call = {_quoted(path_text(call))}  # the id of the call, as above"


def _text_paths(guess: _Guess, best: RecordPath) -> list[RecordPath]:
    """Returns the path to the text, and others for records that lack it; inner paths come first."""
    names = {tuple(name.split()) for name in _NAMES["fields.text"]}
    used = set(guess.chosen.values())
    found = [
        path
        for path, facts in guess.paths.items()
        if path not in used and facts.texts and tuple(map(str.lower, _WORDS.findall(path[-1]))) in names
    ]
    return sorted((best, *found[:_MAX_OTHER_TEXTS]), key=len, reverse=True)


_MAX_OTHER_TEXTS = 3


def _kind_table(guess: _Guess) -> Iterator[str]:
    path = guess.chosen.get("kind.path")
    if path is None:
        yield ""
        yield "# No member tells the kinds of records apart, so the facts of each record decide."
        return
    yield ""
    yield f"# Events: {', '.join(EventKind)}; several as an array."
    yield "[kind]"
    yield f"path = {_quoted(path_text(path))}  # {guess.comment(path)}"
    yield ""
    yield "[kind.values]"
    counts = Counter(guess.paths[path].texts)
    is_role = path[-1].lower() == "role"
    total = len(guess.sample.records)
    # A kind with a secret in it is left out: a masked one would match no record.
    for kind, count in counts.most_common(_MAX_KINDS):
        if mask_text(kind) == kind:
            yield f"{_quoted(kind)} = {_event_of(kind, guess, is_role=is_role)}  # {count} of {total}"


def _event_of(kind: str, guess: _Guess, *, is_role: bool) -> str:
    found = _event_named(kind) or (EventKind.MESSAGE if is_role else EventKind.BOOKKEEPING)
    if is_role and found is EventKind.ANSWER and "call.tool" in guess.chosen:
        return '["answer", "call"]'
    return f'"{found}"'


def _name_of(file_name: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", file_name.partition(".")[0].lower()).strip("-")
    name = re.sub(r"^[^a-z]+", "", words)[:30].strip("-") or "my-log"
    return f"{name}-log" if name in FORMAT_TITLES else name


def _quoted(text: str) -> str:
    """Returns a text as a TOML string."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def _literal(text: str) -> str:
    return f"'{text}'" if "'" not in text else _quoted(text)


def _shown(value: object) -> str:
    """Returns a value for a comment: short, on one line, without secrets."""
    text = mask_text(value) if isinstance(value, str) else str(value)
    line = " ".join(text.split())
    return _quoted(line if len(line) <= _MAX_SHOWN else line[: _MAX_SHOWN - 1] + "…")
