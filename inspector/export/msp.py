"""Exports a context as a sub-session in a session file that opens again (docs/protocols.md 14).

The session is the space with its main chat. The context is a sub-session of it; contexts below are nested sub-sessions.

RULE for roles: a role from a session document stays. In other traffic, participants who reason or propose in the space
are assistants; without any, the callers of tools. All others are users. In a space without any of these, the first
writer is the user. The answer of a tool counts as the assistant's.

Reasoning and calls become readable text. Visibility is not invented: only messages that had one get one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.base.atomic_files import open_replacement
from inspector.document.document import CaptureDocument
from inspector.export.compression import compressing
from inspector.export.files import refuse_source_files
from inspector.export.options import Exported, Steps
from inspector.export.redaction import Redaction
from inspector.protocol import kinds, msp
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.message_text import compact_json, text_shown
from inspector.protocol.timestamps import NO_TIME, format_time
from inspector.store.columns.flags import Flag

POLICY = {"include_sub_context": True, "include_snapshots": True, "recent_parent_messages": 5}
"""Default context policy of a sub-session."""

USER, ASSISTANT = "user", "assistant"
_TEMPLATES = {
    "reasoning/start": "Reasoning begins: {}",
    "reasoning/thought": "Thought: {}",
    "reasoning/conclusion": "Conclusion: {}",
    "reasoning/cancel": "Reasoning cancelled: {}",
    kinds.RESPONSE: "Answer: {}",
    kinds.REJECT: "Rejected: {}",
    kinds.WITHDRAW: "Withdrawn: {}",
}
_CALL_WORDS = {kinds.REQUEST: ("Calls the tool", "Asks for"), kinds.PROPOSAL: ("Proposes to call the tool", "Proposes")}
"""Openings for requests and proposals: of a tool, and of anything else."""
_CALL_COLUMNS = ("method", "target")
_STEP_MESSAGES = 256
_OWN_FIELDS = frozenset({"text", "format", "role", "visibility", "content", "fields"})

Rows = NDArray[np.int64]


def node_at(document: CaptureDocument, path: str) -> tuple[int, int] | None:
    """Returns space (string id) and node of a context by path or id; None if there is no such context."""
    contexts = document.analysis.contexts
    for find in (contexts.tree.find_displayed, contexts.tree.find):
        for space in contexts.spaces:
            if (node := find(space, path)) != MAIN:
                return space, node
    return None


def export_subsession(document: CaptureDocument, space: int, node: int, target: Path, *, masked: bool = True) -> Steps:
    """Writes a context and its descendants as sub-sessions of their session, atomically.

    Args:
        document: the document with the messages.
        space, node: the context.
        target: the file; .gz or .zst is compressed.
        masked: replaces secrets by dots.

    Raises:
        OSError: the file cannot be written, or the log cannot be read.
    """
    target = Path(os.path.realpath(target))
    refuse_source_files(document, target)
    redaction = Redaction(masked=masked)
    writing = SubsessionExport(document, space, node, redaction)
    for count in writing.steps():
        yield Exported(count, 0, redaction.tally)
    with open_replacement(target) as file, compressing(file, target.name) as stream:
        # In pieces: the whole text of a long session would double the memory.
        for text in json.JSONEncoder(indent=1, ensure_ascii=False).iterencode(writing.whole):
            stream.write(text.encode("utf-8", "backslashreplace"))
    yield Exported(writing.count, target.stat().st_size, redaction.tally)


@dataclass(slots=True)
class _Part:
    """The main chat, or one sub-session."""

    node: int
    rows: Rows
    data: dict[str, Any]


class SubsessionExport:
    """Builds the objects of a session and its exported sub-sessions.

    Attributes:
        whole: the JSON content, complete after `steps`.
        count: number of messages in it.
    """

    def __init__(self, document: CaptureDocument, space: int, node: int, redaction: Redaction) -> None:
        self._document = document
        self._capture, self._contexts = document.capture, document.analysis.contexts
        self._redaction = redaction
        self._space = space
        self._ids: set[str] = set()
        self.count = 0
        self._parts = self._collect_parts(node)
        self._working, self._first = self._workers()
        session, *subs = (part.data for part in self._parts)
        self.whole: dict[str, Any] = {"session": session, "subsessions": subs}

    # Structure

    def _collect_parts(self, node: int) -> list[_Part]:
        nodes = self._nodes_below(node)
        here = np.flatnonzero(self._capture.columns["space"][: len(self._document.analysis)] == self._space)
        of = self._contexts.nodes_of(here)
        session = _Part(MAIN, here[of == MAIN], self._session())
        named: dict[int, str] = {MAIN: session.data["session_id"]}
        parts = [session]
        # One sort for all contexts, rather than a search of all messages for each.
        order = np.argsort(of, kind="stable")
        ordered = of[order]
        for one in nodes:
            named[one] = self._free_id(self._contexts.tree.name[one])
            low, high = np.searchsorted(ordered, [one, one + 1])
            rows = np.sort(here[order[low:high]])
            above = named[self._contexts.tree.parent[one]] if one != node else named[MAIN]
            parts.append(_Part(one, rows, self._subsession(one, named[one], above, rows)))
        session.data["subsessions"] = [named[node]]
        return parts

    def _nodes_below(self, node: int) -> list[int]:
        found, stack = list[int](), [node]
        while stack:
            one = stack.pop()
            found.append(one)
            # Reversed, as the stack returns the last one first.
            stack += self._contexts.tree.children[one][::-1]
        return found

    def _free_id(self, wanted: str) -> str:
        wanted = self._redaction.mask_text(wanted) or "sub-session"
        name, number = wanted, 2
        # Ids must be unique in the file, and masking can make two of them equal.
        while name in self._ids:
            name, number = f"{wanted}-{number}", number + 1
        self._ids.add(name)
        return name

    def _session(self) -> dict[str, Any]:
        name = self._capture.strings[self._space] or Path(self._document.name).name.partition(".")[0]
        data: dict[str, Any] = {"session_id": self._free_id(name or "session")}
        label = self._contexts.sessions.labels.get(self._space)
        if label and label != name:
            data["label"] = self._redaction.mask_text(label)
        created = self._time_of(self._first_row_of_space())
        if created is not None:
            data["created_at"] = created
        data["sub_context"] = {"intent": "", "constraints": [], "decisions": [], "facts": []}
        data["summary_snapshots"] = []
        return data | {"subsessions": [], "messages": []}

    def _first_row_of_space(self) -> int:
        columns = self._capture.columns
        here = np.flatnonzero((columns["space"] == self._space) & (columns["time_ns"] != NO_TIME))
        return int(here[0]) if len(here) else -1

    def _subsession(self, node: int, name: str, above: str, rows: Rows) -> dict[str, Any]:
        facts = self._contexts.facts
        began, ended = facts.started_by[node], facts.concluded_by[node]
        state = self._contexts.state(node)
        status = {"concluded": "closed", "cancelled": msp.DISCARDED_STATUS}.get(state, "open")
        created = self._time_of(began if began >= 0 else int(rows[0]) if len(rows) else -1)
        data: dict[str, Any] = {
            "subsession_id": name, "parent_session_id": above,
            "label": self._redaction.mask_text(self._contexts.label(node)), "status": status,
        }  # fmt: skip
        if created is not None:
            data["created_at"] = created
        data["closed_at"] = None
        if status != "open":
            # Without an end message, the last message of the context gives the time.
            times = [time for row in (ended, *rows[-1:].tolist()) if (time := self._time_of(row)) is not None]
            data["closed_at"] = times[0] if times else created
        data["context_policy"] = self._policy(began)
        if status == "closed" and ended >= 0:
            payload = self._payload(ended)
            kind = self._capture.string("kind", ended) or ""
            summary = payload.get("summary") if kind == msp.SUBSESSION_CLOSED else text_shown(kind, payload)
            if isinstance(summary, str) and summary:
                data["summary"] = self._redaction.mask_text(summary)
        return data | {"messages": []}

    def _policy(self, began: int) -> Any:
        written = self._payload(began).get("context_policy") if began >= 0 else None
        return self._redaction.mask_value(written) if isinstance(written, dict) else dict(POLICY)

    def _time_of(self, row: int) -> str | None:
        return format_time(int(self._capture.columns["time_ns"][row])) if row >= 0 else None

    # Roles

    def _workers(self) -> tuple[set[int], int]:
        """Returns string ids of the assistants, and of the first chat writer."""
        strings, columns = self._capture.strings, self._capture.columns
        rows = np.flatnonzero(columns["space"][: len(self._document.analysis)] == self._space)
        codes, senders = columns["kind"][rows], columns["sender"][rows]
        seen = np.unique(codes).tolist()
        chats = senders[codes == (strings.find("chat") or 0)]
        first = int(chats[0]) if len(chats) else 0
        for working in (("reasoning/", kinds.PROPOSAL), (kinds.REQUEST,)):
            wanted = [code for code in seen if strings[code].startswith(working)]
            found = np.unique(senders[np.isin(codes, wanted)]).tolist()
            if found:
                return set(found), first
        return set(), first

    def _role_of(self, kind: str, sender: int, payload: Mapping[str, Any]) -> str:
        role = payload.get("role")
        if isinstance(role, str) and role:
            return self._redaction.mask_text(role)
        if kind == kinds.RESPONSE or kind.startswith("reasoning/"):
            return ASSISTANT
        if self._working:
            return ASSISTANT if sender in self._working else USER
        return USER if sender == self._first else ASSISTANT

    # Messages

    def steps(self) -> Iterator[int]:
        """Builds the messages in steps; yields their number so far."""
        identifiers: set[str] = set()
        for part in self._parts:
            messages = part.data["messages"]
            for row in part.rows.tolist():
                if part.node == MAIN and self._is_structure(part.data, row):
                    continue
                message = self._message(row, identifiers)
                if message is not None:
                    messages.append(message)
                    self.count += 1
                    if not self.count % _STEP_MESSAGES:
                        yield self.count
        yield self.count

    def _is_structure(self, session: dict[str, Any], row: int) -> bool:
        """Copies session facts from a session document; returns True if the message was such a fact."""
        kind = self._capture.string("kind", row)
        if kind == msp.SESSION:
            written = self._payload(row).get("sub_context")
            if isinstance(written, dict):
                session["sub_context"] = self._redaction.mask_value(written)
        elif kind == msp.SNAPSHOT:
            summary = {key: value for key, value in self._payload(row).items() if key != "text"}
            session["summary_snapshots"].append(self._redaction.mask_value(summary))
        return kind in (msp.SESSION, msp.SNAPSHOT)

    def _message(self, row: int, identifiers: set[str]) -> dict[str, Any] | None:
        capture = self._capture
        kind = capture.string("kind", row) or ""
        if int(capture.columns["flags"][row]) & (Flag.UNREADABLE | Flag.GAP | Flag.FRAME).value:
            return None
        payload = self._payload(row)
        content = self._content(kind, payload, row)
        if content is None:
            return None
        sender = int(capture.columns["sender"][row])
        wanted = self._redaction.mask_text(capture.records.envelope_id(row) or f"local-{row + 1}")
        name, number = wanted, 2
        # MSP wants each id once, but a log may repeat them.
        while name in identifiers:
            name, number = f"{wanted}-{number}", number + 1
        identifiers.add(name)
        message: dict[str, Any] = {"id": name, "role": self._role_of(kind, sender, payload), "content": content}
        is_msp = capture.string("protocol", row) == msp.PROTOCOL
        visibility = payload.get("visibility") if is_msp else None
        if isinstance(visibility, str) and visibility:
            message["visibility"] = visibility
        time = self._time_of(row)
        if time is not None:
            message["timestamp"] = time
        if is_msp:
            more = {key: value for key, value in payload.items() if key not in _OWN_FIELDS}
            message |= {key: value for key, value in self._redaction.mask_value(more).items() if key not in message}
        elif sender:
            message["participant"] = self._redaction.mask_text(capture.strings[sender])
        return message

    def _content(self, kind: str, payload: Mapping[str, Any], row: int) -> Any:
        """Returns the content of a message as text; None for presence, streams and controls."""
        if kind == "chat":
            written = payload.get("content") if self._capture.string("protocol", row) == msp.PROTOCOL else None
            if isinstance(written, list | dict):
                return self._redaction.mask_value(written)
            return self._redaction.mask_text(text_shown(kind, payload) or "")
        if kind in _CALL_WORDS:
            columns, strings = self._document.analysis.correlation.columns, self._capture.strings
            method, target = (
                strings[int(columns[name][row])] if int(columns[name][row]) else "" for name in _CALL_COLUMNS
            )
            params = payload.get("params")
            arguments = params.get("arguments", params) if isinstance(params, Mapping) else None
            of_tool, of_other = _CALL_WORDS[kind]
            is_tool = method == "tools/call" and target
            head = f"{of_tool} {target}" if is_tool else f"{of_other} {f'{method} {target}'.strip() or 'something'}"
            asked = f"\n\n```json\n{compact_json(self._redaction.mask_value(arguments))}\n```" if arguments else ""
            return self._redaction.mask_text(head) + asked
        template = _TEMPLATES.get(kind)
        if template is None:
            return None
        text = text_shown(kind, self._redaction.mask_value(dict(payload))) or ""
        return template.format(self._redaction.mask_text(text)) if text else template.partition(":")[0] + "."

    def _payload(self, row: int) -> dict[str, Any]:
        if not self._capture.records.is_big(row):
            return self._capture.records.payload(row)
        try:
            envelope = decode_json(self._capture.records.envelope_bytes(row))
        except NotAnObjectError:
            return {}
        payload = envelope.get("payload", envelope) if isinstance(envelope, dict) else {}
        return payload if isinstance(payload, dict) else {}
