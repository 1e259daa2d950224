"""Masks secrets in streamed texts over the joined pieces, so that the masked pieces contain no secret when joined.

Streamed answers of models carry texts and arguments in pieces of a few characters (docs/protocols.md 17). A single
piece of a secret is not recognizable.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from inspector.protocol.flattened_json import FlattenedJson
from inspector.protocol.header import NotAnObjectError, decode_json, decode_lossless
from inspector.protocol.secrets.masking import MASK, mask_text
from inspector.protocol.secrets.rule_prefilter import NO_RULES, possible_rules
from inspector.protocol.truncated_json import MAX_DEPTH

_DOT = "•"
_BLOCK_TEXTS = ("text", "partial_json", "thinking")
_DELTA_TEXTS = ("content", "reasoning_content", "reasoning", "refusal", "text")
_LEAVES = frozenset(("text", "content", "arguments", "input", "thinking", "reasoning", "message", "value", "data"))
_CHUNKS = frozenset({"token", "text", "delta", "content", "chunk"})
_CHUNK_TEXTS = ("value", "text", "delta", "content", "token")
"""Types of chunks in MEW streams that continue each other, and the members with their text."""
_ALL_ENDED = frozenset(
    ("message_stop", "response.completed", "response.failed", "response.incomplete", "response.done", "error")
)
_HOLDERS = frozenset((
    "type", "choices", "candidates", "contentBlockIndex", "params", "response", "done", "artifact", "result",
))  # fmt: skip
"""Members that tell of pieces; `pieces_of` finds none in events without them."""
_NAMES = (
    "id", "itemId", "item_id", "callId", "call_id", "messageId", "toolCallId", "turnId", "processId", "index", "type",
)  # fmt: skip
"""Members that tell the texts of one sort of event apart."""
_MOST_OBJECTS = 1 << 14
_DEEPEST = 4
_LONGEST_PATH = 64
_ENDED = ("completed", "finished", "finish", "failed", "_end", "-end")
PAUSE = object()
"""Ends all texts of a live stream: its next event may take long."""
ALL_TEXTS = object()
"""Sentinel that ends all texts of a stream."""


_CLUES = (b'elta"', b"elta\\", b"_chunk", b'"choices"', b'"candidates"', b'"artifact"', b'"progressToken"', b'"done"')
"""Substrings of events with pieces; each event has at least one. Stream frames may lack them.

`delta` ends a name or a type, so a quote or its escape follows.
"""


def may_hold_pieces(line: bytes) -> bool:
    """Returns False if a line certainly has no piece of a streamed text."""
    return any(map(line.__contains__, _CLUES))


class TextPiece(NamedTuple):
    """A part of a text in a decoded event; other events continue the text."""

    key: Hashable
    """Equal for the pieces of one text."""
    holder: dict[str, Any]
    member: str

    @property
    def text(self) -> str:
        """The piece itself."""
        return self.holder[self.member]


def is_progress(piece: TextPiece) -> bool:
    """Returns True for the message of a progress notification, often a whole text."""
    return isinstance(piece.key, tuple) and piece.key[:1] == ("progress",)


def mask_in_place(text: str) -> str:
    """Returns a text with a dot in place of each character of its secrets."""
    return text if possible_rules(text) == NO_RULES else mask_text(text, keep_length=True)


def mask_pieces(pieces: Sequence[str], mask: Callable[[str], str] = mask_in_place) -> list[str]:
    """Masks secrets in pieces of one text: MASK in the piece with a secret's beginning, no more of it in others.

    Args:
        pieces: in order.
        mask: masks a text and keeps its length.
    """
    text = "".join(pieces)
    masked = mask(text)
    if masked == text:
        return [*pieces]
    # The mask has changed the length, so positions are unknown: all is hidden.
    if len(masked) != len(text):
        masked = _DOT * len(text)
    found: list[str] = []
    start, within = 0, False
    for piece in pieces:
        shown, within = _shown(piece, masked[start : start + len(piece)], within=within)
        found.append(shown)
        start += len(piece)
    return found


def _shown(piece: str, masked: str, *, within: bool) -> tuple[str, bool]:
    """Returns a piece with MASK at a secret's beginning; and True if a secret continues after it."""
    if masked == piece:
        return piece, within and not piece
    parts: list[str] = []
    for was, now in zip(piece, masked, strict=True):
        hidden = now == _DOT and was != _DOT
        if not hidden:
            parts.append(now)
        elif not within:
            # Only the beginning of a secret shows the mask; its rest adds nothing.
            parts.append(MASK)
        within = hidden
    return "".join(parts), within


# Pieces in events of the model APIs

_MOST_DIGITS = 4_000
_decode_loosely = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else 0).decode


def decode_event(data: bytes) -> Any:
    """Decodes JSON of any depth and with integers of any length; None for other bytes.

    Values nested too deeply become null, and integers with too many digits for Python become 0. Neither has a piece.
    """
    try:
        return decode_json(data)
    except NotAnObjectError:
        pass
    # Stream events may be nested deeper than the fast decoder allows.
    try:
        return _decode_loosely(decode_lossless(FlattenedJson(data).text)[0])
    except (ValueError, RecursionError):
        return None


def events_in(data: bytes) -> list[object]:
    """Returns the decoded event and the objects in it: a log line wraps an event, and a batch has several."""
    bare = data.strip()
    value = decode_event(bare) if bare[:1] in (b"{", b"[") else None
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(one for one in inner if isinstance(one, dict))] if isinstance(value, dict | list) else []


def pieces_in(events: Sequence[object]) -> list[TextPiece]:
    """Returns the non-empty text pieces in decoded events, each once.

    Args:
        events: a result of `events_in`; the first contains the others.
    """
    found: dict[tuple[int, str], TextPiece] = {}
    told = [one for one in events if isinstance(one, dict) and not _HOLDERS.isdisjoint(one)]
    for pieces in (*map(pieces_of, told), _delta_pieces(events[0]) if events else ()):
        for piece in pieces:
            if piece.text:
                found.setdefault((id(piece.holder), piece.member), piece)
    return [*found.values()]


def _delta_pieces(event: object) -> Iterator[TextPiece]:
    """Yields the strings under names with delta: `item/agentMessage/delta`, `text-delta`, `textDelta`."""
    left: deque[tuple[object, tuple[Hashable, ...], int]] = deque([(event, (), 0)])
    for _ in range(_MOST_OBJECTS):
        if not left:
            return
        value, path, depth = left.popleft()
        if isinstance(value, list):
            left.extend((one, path, depth) for one in value[:_MOST_OBJECTS] if isinstance(one, dict))
        if not isinstance(value, dict):
            continue
        names = [value.get(name) for name in _NAMES]
        own = (*path, *[one if isinstance(one, str | int) else None for one in names])
        for name, inner in value.items():
            is_delta = name == "delta" or name.endswith(("_delta", "Delta"))
            if isinstance(inner, str):
                if is_delta:
                    yield TextPiece((*own, name), value, name)
            elif is_delta and isinstance(inner, dict):
                yield from _leaves(inner, (*own, name))
            elif isinstance(inner, dict | list) and depth < _DEEPEST:
                left.append((inner, (*own, name), depth + 1))


def _leaves(delta: dict[str, Any], path: tuple[Hashable, ...]) -> Iterator[TextPiece]:
    """Yields the texts within a delta."""
    for name, inner in delta.items():
        if isinstance(inner, dict) and len(path) < _LONGEST_PATH:
            yield from _leaves(inner, (*path, name))
        elif isinstance(inner, str) and name in _LEAVES:
            yield TextPiece((*path, name), delta, name)


def pieces_of(event: object) -> Iterator[TextPiece]:
    """Yields the text pieces in a decoded event of a streamed answer: of models, ACP, MEW."""
    if not isinstance(event, dict):
        return
    sort = event.get("type")
    if isinstance(sort, str):
        yield from _typed(event, sort)
    for number, choice in _objects(event.get("choices")):
        yield from _of_choice(choice.get("index", number), choice)
    for number, candidate in _objects(event.get("candidates")):
        yield from _of_candidate(candidate.get("index", number), candidate)
    if "contentBlockIndex" in event and isinstance(delta := event.get("delta"), dict):
        yield from _texts(("block", block := _name(event["contentBlockIndex"])), delta, ("text",))
        for name in ("toolUse", "reasoningContent"):
            yield from _texts(("block", block, name), delta.get(name), ("input", "text"))
    params = event.get("params")
    if isinstance(params, dict) and isinstance(update := params.get("update"), dict):
        sort = update.get("sessionUpdate")
        if isinstance(sort, str) and sort.endswith("_chunk"):
            yield from _texts(("acp", _name(params.get("sessionId")), sort), update.get("content"), ("text",))
    if isinstance(params, dict) and "progressToken" in params:
        yield from _texts(("progress", _name(params["progressToken"])), params, ("message",))
    if isinstance(inner := event.get("response"), dict) and "candidates" in inner:  # Code Assist
        yield from pieces_of(inner)
    if "done" in event:  # Ollama
        yield from _texts(("ollama",), event, ("response",))
        yield from _texts(("ollama", "message"), event.get("message"), ("content", "thinking"))
    yield from _of_artifact(event)
    yield from _of_artifact(event.get("result"))


def ended_texts(event: object) -> Hashable | None:
    """Returns the key prefix of the texts that an event ends: ALL, PAUSE, two key parts; None if it ends none."""
    if not isinstance(event, dict):
        return None
    sort = event.get("type")
    if not isinstance(sort, str):
        params = event.get("params")
        update = params.get("update") if isinstance(params, dict) else None
        is_other = isinstance(update, dict) and not str(update.get("sessionUpdate")).endswith("_chunk")
        method = event.get("method")
        is_other = is_other or (isinstance(method, str) and method.lower().endswith(_ENDED))
        is_answer = ("result" in event or "error" in event) and not any(_of_artifact(event.get("result")))
        return PAUSE if is_other or is_answer else None
    if sort in _ALL_ENDED:
        return ALL_TEXTS
    if sort.lower().endswith(_ENDED):
        return PAUSE
    return ("block", _name(event.get("index"))) if sort == "content_block_stop" else None


def _typed(event: dict[str, Any], sort: str) -> Iterator[TextPiece]:
    if sort in ("content_block_start", "content_block_delta"):
        inner = event.get("content_block" if sort == "content_block_start" else "delta")
        yield from _texts(("block", _name(event.get("index"))), inner, _BLOCK_TEXTS)
    elif sort.endswith(".delta") and isinstance(event.get("delta"), str):
        place = (_name(event.get(name)) for name in ("item_id", "output_index", "content_index", "summary_index"))
        yield TextPiece((sort, *place), event, "delta")
    elif sort in _CHUNKS or sort.endswith("_delta"):
        member = next((name for name in _CHUNK_TEXTS if isinstance(event.get(name), str)), None)
        if member is not None:
            yield TextPiece(("chunk", sort, _name(event.get("context"))), event, member)


def _of_choice(index: object, choice: dict[str, Any]) -> Iterator[TextPiece]:
    number = _name(index)
    yield from _texts(("choice", number), choice, ("text",))
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return
    yield from _texts(("choice", number, "delta"), delta, _DELTA_TEXTS)
    yield from _texts(("choice", number, "audio"), delta.get("audio"), ("transcript",))
    for name in ("content", "reasoning_details"):
        for place, part in _objects(delta.get(name)):
            yield from _texts(("choice", number, name, _name(part.get("index", place))), part, ("text", "summary"))
    yield from _texts(("choice", number, "function"), delta.get("function_call"), ("arguments",))
    for place, call in _objects(delta.get("tool_calls")):
        key = ("choice", number, "call", _name(call.get("index", place)))
        yield from _texts(key, call.get("function"), ("arguments",))
        yield from _texts((*key, "custom"), call.get("custom"), ("input",))


def _of_candidate(index: object, candidate: dict[str, Any]) -> Iterator[TextPiece]:
    number = _name(index)
    content = candidate.get("content")
    for _, part in _objects(content.get("parts") if isinstance(content, dict) else None):
        yield from _texts(("candidate", number, bool(part.get("thought"))), part, ("text",))
        call = part.get("functionCall")
        for _, argument in _objects(call.get("partialArgs") if isinstance(call, dict) else None):
            yield from _texts(("candidate", number, _name(argument.get("jsonPath"))), argument, ("stringValue",))


def _of_artifact(event: object) -> Iterator[TextPiece]:
    """Yields the texts of a part of an artifact of Agent2Agent."""
    artifact = event.get("artifact") if isinstance(event, dict) else None
    if isinstance(artifact, dict):
        for place, part in _objects(artifact.get("parts")):
            yield from _texts(("artifact", _name(artifact.get("artifactId")), place), part, ("text",))


def _texts(key: tuple[Hashable, ...], holder: object, members: Sequence[str]) -> Iterator[TextPiece]:
    if isinstance(holder, dict):
        for member in members:
            if isinstance(holder.get(member), str):
                yield TextPiece((*key, member), holder, member)


def _objects(value: object) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, dict):
            yield number, one


def _name(value: object) -> Hashable:
    return value if isinstance(value, str | int) else None


def drop_token_lists(value: object) -> None:
    """Empties `logprobs` in a decoded event, since they repeat a piece token by token."""
    # A list instead of recursion, since an event may be nested deeply.
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if "logprobs" in one:
                one["logprobs"] = [] if isinstance(one["logprobs"], list) else None
            left += one.values()
        elif isinstance(one, list):
            left += one


def rewrite_event(text: str, event: object, changes: Sequence[tuple[TextPiece, str]]) -> str:
    """Returns the JSON of an event with replaced pieces; if possible, the rest stays as written.

    Args:
        text: the JSON.
        event: decoded from it; changed.
        changes: its pieces with their replacements.
    """
    result: str | None = text
    for piece, new in changes:
        # The event is written anew only if a replacement in place fails.
        result = result and _replaced_once(result, piece.text, new)
        piece.holder[piece.member] = new
    if (
        result is not None
        and '"logprobs"' not in text
        and decode_event(result.encode("utf-8", "surrogatepass")) == event
    ):
        return result  # else a piece was written with escapes, and another member had its text
    # Token lists repeat the text piece by piece.
    drop_token_lists(event)
    try:
        written = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:  # the decoder goes deeper than the encoder
        _prune(event)
        written = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    try:
        written.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(event, separators=(",", ":"))
    return written


def _prune(event: object) -> None:
    """Puts null in place of values nested deeper than MAX_DEPTH."""
    level: list[Any] = [event]
    for _ in range(MAX_DEPTH):
        items = (one.values() if isinstance(one, dict) else one for one in level)
        level = [inner for some in items for inner in some if isinstance(inner, dict | list)]
    for one in level:
        for key in range(len(one)) if isinstance(one, list) else [*one]:
            one[key] = None if isinstance(one[key], dict | list) else one[key]


def _replaced_once(text: str, old: str, new: str) -> str | None:
    for ascii_only in (False, True):
        literal = json.dumps(old, ensure_ascii=ascii_only)
        if text.count(literal) == 1:
            return text.replace(literal, json.dumps(new, ensure_ascii=ascii_only))
    return None
