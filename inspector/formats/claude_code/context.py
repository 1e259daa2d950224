"""Context of the model in sessions of Claude Code: what a compaction keeps, and requests kept in the session.

With its requests the context is exact without an API recording.

Since 2.1.332 a session has system prompt and tools (`api-request-shape`), messages found nowhere else
(`api-request-blob`), and the order of all messages by hash (`api-request`). RULE: a hash is the SHA-256 of a message as
JSON with sorted keys. A message without a blob is one of the session: model output, or later input of the user and
tools. It is matched by its hash, else by its turn if there are as many turns as hashes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.views.model_context.admission import SortedIn
from inspector.analysis.views.model_context.context_owners import Reader
from inspector.analysis.views.model_context.context_rules import ContextRules, KeptRange
from inspector.analysis.views.model_context.reasons import Role, Why
from inspector.analysis.views.model_context.recorded_requests import CACHED_WITH, Request, Rows, Sent
from inspector.analysis.views.model_context.removals import Left
from inspector.base.slices import SlicedWork
from inspector.formats.claude_code.derivation import NAMESPACE
from inspector.formats.claude_code.payloads import REQUEST
from inspector.formats.entry_builders import decoded_object
from inspector.formats.model_vocabulary import cache_mark
from inspector.protocol.derived_messages import MODEL_CALL_KEY
from inspector.store.columns.hashes import NO_ROW
from inspector.tokens.counted_text import counted_text

_KINDS = tuple(NAMESPACE + name for name in ("api-request", "api-request-shape", "api-request-blob"))
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}


@dataclass(slots=True)
class _Turn:
    """An API message that the session holds in one or more records."""

    identifier: str | None
    places: list[int]
    content: list[Any]
    role: str

    def is_told_by(self, digest: str) -> bool:
        message = {"role": self.role, "content": self.content}
        written = json.dumps(message, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest() == digest


@dataclass(frozen=True, slots=True)
class _Found:
    """A request, before it is applied to the context."""

    place: int
    stands: list[int]
    shape: int
    marks: dict[int, str]
    params: Mapping[str, Any]


class ClaudeCodeContext(ContextRules):
    """Rules of this program."""

    def kept_by_compaction(self, payload: Mapping[str, Any]) -> Sequence[str] | KeptRange | None:
        """Returns the ids of kept records that `compactMetadata` names, or the first and the last."""
        about = payload.get("compactMetadata")
        about = about if isinstance(about, Mapping) else {}
        messages, segment = about.get("preservedMessages"), about.get("preservedSegment")
        for key in ("allUuids", "uuids"):
            listed = messages.get(key) if isinstance(messages, Mapping) else None
            if isinstance(listed, list) and listed:
                return [one for one in listed if isinstance(one, str)]
        if isinstance(segment, Mapping):
            head, tail = segment.get("headUuid"), segment.get("tailUuid")
            if isinstance(head, str) and isinstance(tail, str):
                return KeptRange(head, tail)
        return None

    def follow_requests(
        self, analysis: Analysis, reader: Reader, sorted_in: SortedIn, left: Left, sent: Sent
    ) -> SlicedWork[None]:  # fmt: skip
        """Sets a context to the content of the session's requests; an incomplete request changes nothing."""
        strings, columns = analysis.capture.strings, analysis.capture.columns
        codes = [strings.find(kind) for kind in _KINDS]
        kinds = columns["kind"][sorted_in.rows]
        if sent.is_known or None in codes or not (kinds == codes[0]).any():
            return
        nodes = analysis.contexts.nodes_of(sorted_in.rows)
        own = nodes[columns["sender"][sorted_in.rows] == (strings.find(reader.name or "") or -1)]
        if not len(own):
            return
        found, counts = np.unique(own, return_counts=True)
        following = _Following(analysis, sorted_in, np.flatnonzero(nodes == found[np.argmax(counts)]))
        yield
        for place in following.places.tolist():
            code = int(kinds[place])
            # Half of a request would show a wrong context as exact.
            if not following.take_message(place, codes.index(code) if code in codes else None):
                return
            yield
        following.apply(left, sent)


RULES = ClaudeCodeContext()


class _Following:
    """Processes the records of one agent in order."""

    def __init__(self, analysis: Analysis, sorted_in: SortedIn, places: Rows) -> None:
        self._analysis, self._records = analysis, analysis.capture.records
        self._sorted = sorted_in
        self.places = places
        self._turns: list[_Turn] = []  # turns that no request has sent yet
        self._blobs: dict[str, tuple[list[int], str]] = {}  # by hash: indexes and role
        self._known: dict[str, list[int]] = {}  # by hash: indexes of its entries
        self._shapes: dict[str, tuple[int, list[int]]] = {}
        self._tools: dict[int, list[Any]] = {}
        self._histories: dict[str, list[str]] = {}
        self._roles: dict[int, Role] = {}
        self._texts: dict[int, str] = {}
        self._found: list[_Found] = []
        self._end = -1

    def take_message(self, place: int, kind: int | None) -> bool:
        """Takes in a message. Returns False if a request sends something missing here."""
        if place <= self._end:  # part of a record already taken in
            return True
        row = int(self._sorted.rows[place])
        if kind is None:
            self._take_turn(place, row)
            return True
        told = self._records.payload(row).get(MODEL_CALL_KEY)
        told = told.get(REQUEST) if isinstance(told, dict) else None
        told = told if isinstance(told, dict) else {}
        blocks = self._blocks(place)
        self._end = place + len(blocks)
        if kind == 0:
            return self._take_request(place, told)
        if kind == 1:
            self._shapes[str(told.get("shapeHash"))] = place, blocks
            tools = told.get("tools")
            self._tools[place] = tools if isinstance(tools, list) else []
        else:
            self._blobs[str(told.get("hash"))] = blocks, str(told.get("role"))
        return True

    def _blocks(self, place: int) -> list[int]:
        """Returns the indexes of a record's blocks."""
        columns, rows = self._analysis.capture.columns, self._sorted.rows
        row, stop = int(rows[place]), place + 1
        own = columns["source"][row], columns["offset"][row]
        while stop < len(rows) and (columns["source"][rows[stop]], columns["offset"][rows[stop]]) == own:
            stop += 1
        return list(range(place + 1, stop))

    def _take_turn(self, place: int, row: int) -> None:
        places = [place, *self._blocks(place)]
        self._end = places[-1]
        if not any(self._sorted.roles[one] for one in places):
            return
        record = decoded_object(self._records.read_line_of(row)) or {}
        message = record.get("message")
        if record.get("type") not in ("user", "assistant") or not isinstance(message, dict):
            return
        content, role = message.get("content"), str(record["type"])
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        identifier = message.get("id") if role == "assistant" else None
        last = self._turns[-1] if self._turns else None
        if last is not None and last.role == role and last.identifier == identifier:
            last.places += places
            last.content += blocks
        else:
            self._turns.append(_Turn(identifier, places, list(blocks), role))

    def _take_request(self, place: int, told: Mapping[str, Any]) -> bool:
        base, keep, tail = (told.get(key) for key in ("base", "keep", "tail"))
        keep = keep if isinstance(keep, int) and keep > 0 else 0
        before = self._histories.get(base, []) if isinstance(base, str) else []
        shape = self._shapes.get(str(told.get("shapeHash")))
        if not isinstance(tail, list) or len(before) < keep or shape is None:
            return False
        new = [one for one in map(str, tail) if one not in self._known]
        loose = [one for one in new if one not in self._blobs]
        for digest in new:
            known = self._of_blob(digest) if digest in self._blobs else self._of_turn(digest, loose)
            if known is None:
                return False
            self._known[digest] = known
        history = [*before[:keep], *map(str, tail)]
        self._histories[str(told.get("id"))] = history
        messages = [self._known[digest] for digest in history if digest in self._known]
        if len(messages) < len(history):
            return False
        params = told.get("params")
        stands = list(dict.fromkeys([*shape[1], *(one for places in messages for one in places)]))
        for one in shape[1]:
            self._stand(one, Role.SYSTEM)
        marks = _marks(told.get("cacheControl"), shape[1], messages)
        params = params if isinstance(params, dict) else {}
        self._found.append(_Found(place, stands, shape[0], marks, params))
        return True

    def _of_blob(self, digest: str) -> list[int]:
        """Returns the entries of a message with a blob; text that the session also has uses the session's entry."""
        blocks, role = self._blobs[digest]
        known: list[int] = []
        for place in blocks:
            text = self._text(place)
            told = next((one for turn in self._turns if turn.role == role for one in turn.places
                         if one not in known and self._text(one) == text), None)  # fmt: skip
            if told is None:
                self._stand(place, _ROLES.get(role, Role.USER))
            known.append(place if told is None else told)
        told = [turn for turn in self._turns if not set(turn.places).isdisjoint(known)]
        # Text changed by the program still represents the first turn.
        told = told or [turn for turn in self._turns[:1] if turn.role == role]
        self._turns = [turn for turn in self._turns if turn not in told]
        return known

    def _of_turn(self, digest: str, loose: Sequence[str]) -> list[int] | None:
        """Returns the entries of a message of the session; None if uncertain."""
        turn = next((one for one in self._turns if one.is_told_by(digest)), None)
        if turn is None:
            left = loose[loose.index(digest) :]
            if len(self._turns) != len(left):
                return None
            turn = self._turns[0]
        self._turns = self._turns[self._turns.index(turn) + 1 :]
        return [one for one in turn.places if self._sorted.roles[one]]

    def _text(self, place: int) -> str:
        row = int(self._sorted.rows[place])
        payload = {key: value for key, value in self._records.payload(row).items() if key != MODEL_CALL_KEY}
        kind = self._analysis.capture.string("kind", row) or ""
        return str(payload["text"]) if isinstance(payload.get("text"), str) else counted_text(kind, payload)

    def _stand(self, place: int, role: Role) -> None:
        if place not in self._roles:
            self._roles[place] = role
            self._texts[place] = self._text(place)

    def apply(self, left: Left, sent: Sent) -> None:
        """Applies the requests to the context."""
        if not self._found:
            return
        rows, roles, whys = self._sorted.rows, self._sorted.roles, self._sorted.whys
        for place, role in self._roles.items():
            roles[place] = role
        last = self._found[-1].place
        ever = {one for found in self._found for one in found.stands}
        for place in self.places.tolist():
            if place < last and place not in ever and roles[place] and not self._is_pending(place):
                roles[place], whys[place] = Role.NONE, Why.PROGRAM
        inside: set[int] = set()
        for found in self._found:
            stands, row = {*found.stands, found.shape}, int(rows[found.place])
            for place in inside - stands:
                left.by[place], left.whys[place] = row, Why.NOT_SENT
            for place in stands - inside:
                left.by[place], whys[place] = NO_ROW, Why.SENT
            roles[found.shape], sent.tools[found.shape] = Role.TOOLS, self._tools[found.shape]
            inside = stands
            settings = {key: found.params[key] for key in CACHED_WITH if key in found.params}
            sent.requests.append(Request(
                row, row, np.array(found.stands, np.int64), found.marks, self._tools[found.shape], settings,
            ))  # fmt: skip
        sent.texts.update(self._texts)

    def _is_pending(self, place: int) -> bool:
        return any(place in turn.places for turn in self._turns)


def _marks(given: object, system: Sequence[int], messages: Sequence[Sequence[int]]) -> dict[int, str]:
    """Returns the requested cache lifetimes, by index."""
    found: dict[int, str] = {}
    for one in given if isinstance(given, list) else ():
        path = one.get("path") if isinstance(one, Mapping) else None
        mark = cache_mark({"cache_control": one.get("value")}) if isinstance(path, list) else None
        if mark is None or not isinstance(path, list) or len(path) < 2 or not isinstance(path[1], int):
            continue
        holders = system if path[0] == "system" else messages[path[1]] if 0 <= path[1] < len(messages) else ()
        number = path[1] if path[0] == "system" else path[-1]
        if isinstance(number, int) and 0 <= number < len(holders):
            found[holders[number]] = mark
    return found
