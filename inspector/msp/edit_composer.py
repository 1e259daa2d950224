"""Composes edits of sub-sessions (open, close, merge, policy, ...), or gives reasons against them.

New objects get a time in the file's format and a unique id.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Protocol, cast

from inspector.msp.edits import REMOVED, ComposedEdit, Edit, Insert, SetAttribute, SetMember, Step
from inspector.msp.files import MspFile
from inspector.msp.json_patch import exactly_same
from inspector.msp.links import Home, Owner
from inspector.msp.message_columns import MessageColumnCache
from inspector.msp.objects import (
    CLOSED,
    DISCARDED,
    MERGED_FROM,
    SUMMARIES,
    SUMMARY_OF,
    Message,
    Session,
    Subsession,
    content_text,
    dict_of,
    summary_entry,
    text_of,
    usual_visibility,
)
from inspector.msp.rules import Rules
from inspector.protocol.timestamps import format_time

PolicyValue = bool | int | list[str] | None
"""New value of a policy member; None removes it."""


class CannotEditError(ValueError):
    """The edit is impossible; the text is the reason, as a sentence."""


_POLICY = {"include_sub_context": True, "include_snapshots": True, "recent_parent_messages": Rules().missing_recent}
"""Policy of a new sub-session, with the protocol's defaults."""


class _Objects(Protocol):
    """The parts of a document that edits need."""

    files: list[MspFile]
    sessions: list[Session]
    subsessions: list[Subsession]
    homes: dict[str, Home]
    known: MessageColumnCache


class Composer:
    """Composes edits of a document's present state; changes no object itself."""

    def __init__(self, objects: _Objects, by_key: dict[str, Subsession], now_ns: int) -> None:
        self._objects = objects
        self._by_key = by_key
        self._now_ns = now_ns

    def compose_opening(
        self, parent: Owner, label: str, policy: dict[str, Any] | None
    ) -> tuple[Subsession, ComposedEdit]:
        """Composes a new sub-session beside its siblings."""
        self.refuse_foreign_owner(parent)
        # Also ids of sessions: a parent id may name either.
        taken = {*self._by_key, *(session.key for session in self._objects.sessions)}
        key = new_id("sub", taken)
        data: dict[str, Any] = {"subsession_id": key}
        if parent.id:
            data["parent_session_id"] = parent.id
        data |= {"label": label, "status": "open", "created_at": self._written_now(parent), "closed_at": None}
        data["context_policy"] = {**_POLICY, **(policy or {})}
        data["messages"] = []
        home, steps = self._choose_place(parent, data)
        place = f"{home.file.name} (new)"
        sub = Subsession(data, key, data["messages"], parent=parent, place=place)
        steps += [
            Insert(parent.children, sub),
            Insert(self._objects.subsessions, sub),
            SetMember(self._by_key, key, sub),
            SetMember(self._objects.homes, key, home),
        ]
        return sub, ComposedEdit(Edit(f"Open {label}", "append", key, None, (sub,)), steps)

    def compose_message(
        self, owner: Owner, role: str, content: str, visibility: str | None
    ) -> tuple[Message, ComposedEdit]:
        """Composes a new message at the end."""
        self.refuse_foreign_owner(owner)
        _raise_if(self.why_not_added(owner))
        data: dict[str, Any] = {"id": new_id("m", ()), "role": role, "content": content}
        if visibility is not None:
            data["visibility"] = visibility
        data["timestamp"] = self._written_now(owner)
        message, steps = self._append_steps(owner, data)
        return message, ComposedEdit(
            Edit(f"Add message to {owner.label}", "append", owner.key, message, (message,)), steps
        )

    def compose_close(self, sub: Subsession, summary: str | None, *, append_to_parent: bool) -> ComposedEdit:
        """Composes a close: status, time, summary, and optionally a message in the parent."""
        steps = self._end_steps(sub, CLOSED)
        added: list[Message | Subsession] = [sub]
        if summary:
            steps.append(SetMember(sub.data, "summary", summary))
            if append_to_parent and not sub.summarized:
                message, more = self._summary_entry(sub, summary, merged=False)
                added.append(message)
                steps += more
        return ComposedEdit(Edit(f"Close {sub.label}", "append", sub.key, None, tuple(added)), steps)

    def compose_discard(self, sub: Subsession) -> ComposedEdit:
        """Composes a discard: status and time; the messages are kept."""
        return ComposedEdit(
            Edit(f"Discard {sub.label}", "append", sub.key, None, (sub,)), self._end_steps(sub, DISCARDED)
        )

    def compose_reopening(self, sub: Subsession) -> ComposedEdit:
        """Composes a reopening; the summary stays until the next close."""
        self.refuse_foreign_owner(sub)
        _raise_if(self.why_not_reopened(sub))
        steps = [SetMember(sub.data, "status", "open"), SetMember(sub.data, "closed_at", None)]
        return ComposedEdit(Edit(f"Reopen {sub.label}", "restructure", sub.key), steps)

    def compose_merge(self, sub: Subsession) -> ComposedEdit:
        """Composes a merge: one labelled message with the summary, and copies of the global messages."""
        self.refuse_foreign_owner(sub)
        _raise_if(self.why_not_merged(sub))
        parent = cast(Owner, sub.parent)
        steps: list[Step] = [SetAttribute(sub, "merged", True)]
        added: list[Message] = []
        if sub.summary and not sub.summarized:
            message, more = self._summary_entry(sub, sub.summary, merged=True)
            added.append(message)
            steps += more
        # Copies, so that later edits on one side do not change the other.
        for item in self._crossing_messages(sub, parent):
            message, more = self._append_steps(parent, item)
            added.append(message)
            steps += more
        return ComposedEdit(Edit(f"Merge {sub.label}", "append", sub.key, None, tuple(added)), steps)

    def compose_visibility(self, message: Message, visibility: str | None) -> ComposedEdit:
        """Composes another visibility for a message; None removes it."""
        self.refuse_foreign_owner(message.owner)
        steps = [SetMember(message.data, "visibility", REMOVED if visibility is None else visibility)]
        words = "Make message global" if visibility == "global" else "Change visibility"
        return ComposedEdit(Edit(words, "visibility", message.owner.key, message), steps)

    def compose_policy(self, sub: Subsession, changes: dict[str, PolicyValue]) -> ComposedEdit | None:
        """Composes a policy change, if there is a difference."""
        self.refuse_foreign_owner(sub)
        before = dict_of(sub.data, "context_policy")
        steps: list[Step] = []
        policy = before
        if not isinstance(sub.data.get("context_policy"), dict):
            steps.append(SetMember(sub.data, "context_policy", policy))
        for name, value in changes.items():
            if value is None and name in before:
                steps.append(SetMember(policy, name, REMOVED))
            elif value is not None and not exactly_same(before.get(name), value):
                steps.append(SetMember(policy, name, value))
        if not any(isinstance(step, SetMember) and step.data is policy for step in steps):
            return None
        return ComposedEdit(Edit(f"Change the policy of {sub.label}", "policy", sub.key), steps)

    def compose_reference(self, sub: Subsession, other: Subsession) -> ComposedEdit:
        """Composes a policy that includes another sub-session's summary."""
        self.refuse_foreign_owner(sub)
        self.refuse_foreign_owner(other)
        _raise_if(self.why_not_referred(sub, other))
        made = self.compose_policy(sub, {SUMMARIES: [*sub.policy.include_summaries, other.id]})
        return cast(ComposedEdit, made)._replace(
            edit=Edit(f"Refer from {sub.label} to the summary of {other.label}", "policy", sub.key)
        )

    def compose_withdrawal(self, sub: Subsession, name: str) -> ComposedEdit:
        """Composes a policy without another sub-session's summary."""
        self.refuse_foreign_owner(sub)
        if name not in sub.policy.include_summaries:
            raise CannotEditError(f"{sub.label} does not refer to {name}.")
        left = [one for one in sub.policy.include_summaries if one != name]
        made = self.compose_policy(sub, {SUMMARIES: left or None})
        words = f"Remove the reference from {sub.label} to the summary of {name}"
        return cast(ComposedEdit, made)._replace(edit=Edit(words, "policy", sub.key))

    # Why not ---------------------------------------------------------------------------------------------------------

    def why_not_added(self, owner: Owner) -> str | None:
        """Returns the reason against a new message, if any."""
        if isinstance(owner, Subsession) and not owner.is_open:
            return f"{owner.label} is closed."
        return _why_no_messages(owner)

    def why_not_opened(self, parent: Owner) -> str | None:
        """Returns the reason against a new sub-session below, if any."""
        if isinstance(parent, Subsession) and not parent.is_open:
            return f"{parent.label} is closed."
        return None

    def why_not_reopened(self, sub: Subsession) -> str | None:
        """Returns the reason against a reopening, if any."""
        if sub.is_open:
            return f"{sub.label} is open."
        if sub.merged:
            return f"{sub.label} was merged: new messages could not be merged again."
        if isinstance(sub.parent, Subsession) and not sub.parent.is_open:
            return f"Its parent {sub.parent.label} is closed."
        return None

    def why_not_merged(self, sub: Subsession) -> str | None:
        """Returns the reason against a merge, if any."""
        if sub.merged:
            return f"{sub.label} is already merged."
        if sub.is_open:
            return f"{sub.label} is still open: close it first."
        if sub.discarded:
            return f"{sub.label} was discarded."
        if sub.parent is None:
            return f"{sub.label} has no parent."
        if why := _why_no_messages(sub.parent):
            return why
        if not _is_marked(sub):
            return f"{sub.label} has no id, so a merge could not be recorded."
        if (not sub.summary or sub.summarized) and not any(map(_is_global, sub.items)):
            return f"{sub.label} has nothing to merge: no summary of its own and no global message."
        return None

    def why_not_referred(self, sub: Subsession, other: Subsession) -> str | None:
        """Returns the reason against a reference to another sub-session's summary, if any."""
        if not sub.is_open:
            return f"{sub.label} is closed."
        if other is sub:
            return f"{sub.label} cannot refer to itself."
        if other.parent is not sub.parent:
            return f"{sub.label} cannot refer to {other.label}: they have different parents."
        if other.discarded:
            return f"{other.label} was discarded."
        if not other.summary:
            return f"{other.label} has no summary yet: close it with one first."
        if not _is_marked(other):
            return f"{other.label} has no id to refer to."
        if other.id in sub.policy.include_summaries:
            return f"{sub.label} refers to {other.label} already."
        return None

    # Parts of edits --------------------------------------------------------------------------------------------------

    def refuse_foreign_owner(self, owner: Owner) -> None:
        """Refuses an object from before a reload: the edit would have no effect."""
        known = self._by_key.get(owner.key)
        if owner is not known and not any(owner is session for session in self._objects.sessions):
            raise CannotEditError(f"{owner.label} was reloaded from its file meanwhile.")

    def _end_steps(self, sub: Subsession, status: str) -> list[Step]:
        self.refuse_foreign_owner(sub)
        if not sub.is_open:
            raise CannotEditError(f"{sub.label} is closed.")
        return [SetMember(sub.data, "status", status), SetMember(sub.data, "closed_at", self._written_now(sub))]

    def _summary_entry(self, sub: Subsession, summary: str, *, merged: bool) -> tuple[Message, list[Step]]:
        parent = sub.parent
        if parent is None:
            raise CannotEditError(f"{sub.label} has no parent.")
        _raise_if(_why_no_messages(parent))
        data: dict[str, Any] = {
            "id": new_id("m", ()),
            "role": "assistant",
            "content": summary_entry(sub, summary),
            "timestamp": self._written_now(parent),
        }
        # a chat sends the summary with its recent messages, and `main_only` would prevent that
        if isinstance(parent, Subsession):
            data["visibility"] = usual_visibility(parent)
        if _is_marked(sub):
            data[SUMMARY_OF] = sub.id
        if merged:
            data[MERGED_FROM] = sub.id
        message, steps = self._append_steps(parent, data)
        return message, [*steps, SetAttribute(sub, "summarized", True)]

    def _crossing_messages(self, sub: Subsession, parent: Owner) -> list[dict[str, Any]]:
        """Returns copies of the global messages that the parent lacks.

        A copy keeps its id, so that it counts once. If the parent uses that id for another message, since ids belong to
        one conversation, the copy gets a new one.
        """
        items = [item for item in sub.items if _is_global(item)]
        known = (
            self._objects.known.existing_ids(parent, {text_of(item, "id") for item in items}) if items else set[str]()
        )
        known.discard("")
        present = {_id_and_content(item) for item in parent.items if text_of(item, "id") in known} if known else set()
        found: list[dict[str, Any]] = []
        for item in items:
            copy = {**item, MERGED_FROM: sub.id}
            if (name := text_of(item, "id")) in known:
                if _id_and_content(item) in present:
                    continue
                copy["id"] = new_id(name, known)
            found.append(copy)
        return found

    def _append_steps(self, owner: Owner, data: dict[str, Any]) -> tuple[Message, list[Step]]:
        _raise_if(_why_no_messages(owner))
        steps: list[Step] = []
        if owner.data.get("messages") is None:
            steps.append(SetMember(owner.data, "messages", owner.items))
        elif owner.items is not owner.data["messages"]:  # the list contains elements that are not messages
            steps.append(Insert(owner.data["messages"], data))
        steps.append(Insert(owner.items, data))
        return Message(data, owner), steps

    def _choose_place(self, parent: Owner, data: dict[str, Any]) -> tuple[Home, list[Step]]:
        """Chooses the place of a new sub-session: beside its siblings, in the file's list, or in its parent."""
        _raise_if(self.why_not_opened(parent))
        objects = self._objects
        home = objects.homes.get(parent.key)
        if home is not None and not self._is_found(parent):
            return self._place_inside(parent, home, data)  # the parent's id alone would be ambiguous
        for sub in reversed(parent.children):
            beside = objects.homes[sub.key]
            if beside.siblings is not None:
                listed = beside.siblings is not parent.data.get("subsessions")
                return beside, [Insert(beside.siblings, data), *(_list_steps(parent, data) if listed else ())]
        if home is not None and home.box is not None and isinstance(home.box.get("subsessions", []), list):
            box = home.box
            siblings = cast(list[Any], box.get("subsessions", []))
            steps: list[Step] = [] if "subsessions" in box else [SetMember(box, "subsessions", siblings)]
            return Home(home.file, siblings, box), [*steps, Insert(siblings, data), *_list_steps(parent, data)]
        if home is not None and home.siblings is not None and home.siblings is home.file.value:
            return home, [Insert(home.siblings, data), *_list_steps(parent, data)]
        alone = next(
            (h for h in map(objects.homes.get, self._neighbour_keys(parent)) if h is not None and h.siblings is None),
            None,
        )
        if alone is not None:
            return self._place_beside(alone, parent, data)
        if home is None:
            raise CannotEditError(f"{parent.label} has no object in these files.")
        return self._place_inside(parent, home, data)

    def _is_found(self, parent: Owner) -> bool:
        """Returns True if a sub-session that names this parent's id is linked to it on the next read."""
        sessions = self._objects.sessions
        if not parent.id:
            return isinstance(parent, Session) and len(sessions) == 1
        same = (owner for owner in (*sessions, *self._objects.subsessions) if owner.id == parent.id)
        return next(same, None) is parent

    def _neighbour_keys(self, parent: Owner) -> list[str]:
        """Returns keys of sub-sessions whose files suggest a place, the parent's own first."""
        near = [sub.key for sub in parent.children]
        if len(self._objects.files) > 1:
            near += [sub.key for sub in self._objects.subsessions]
        return near

    def _place_beside(self, alone: Home, parent: Owner, data: dict[str, Any]) -> tuple[Home, list[Step]]:
        """Places it in a file of its own beside a sibling's; in the same file if there is only one."""
        file = alone.file
        if len(self._objects.files) == 1:
            values = [file.value]
            return Home(file, values, None), [SetAttribute(file, "value", values), Insert(values, data)]
        # Ids are unique, so no other file has this name.
        name = f"{data['subsession_id']}.json"
        beside = MspFile(file.path.with_name(name), _style_of(file), data, like=file, holds=True)
        beside.name = (Path(file.name).parent / name).as_posix()
        return Home(beside, None, None), [Insert(self._objects.files, beside), *_list_steps(parent, data)]

    def _place_inside(self, parent: Owner, home: Home, data: dict[str, Any]) -> tuple[Home, list[Step]]:
        inside = parent.data.get("subsessions")
        if inside is not None and not isinstance(inside, list):
            raise CannotEditError(f"The sub-sessions of {parent.label} are not a list.")
        siblings = cast(list[Any], inside) if inside is not None else []
        steps: list[Step] = [] if inside is not None else [SetMember(parent.data, "subsessions", siblings)]
        return Home(home.file, siblings, None), [*steps, Insert(siblings, data)]

    def _written_now(self, owner: Owner) -> str:
        return written_time(self._now_ns, times_near(owner))


def _style_of(file: MspFile) -> bytes:
    """Returns an empty object in the style of a file."""
    return file.original if isinstance(file.value, dict) and file.original.lstrip()[:1] == b"{" else b"{}\n"


def _list_steps(parent: Owner, data: dict[str, Any]) -> list[Step]:
    """Adds the new id to the session's list, if it has one."""
    listed = parent.data.get("subsessions")
    if isinstance(parent, Session) and isinstance(listed, list):
        return [Insert(cast(list[Any], listed), data["subsession_id"])]
    return []


def _why_no_messages(owner: Owner) -> str | None:
    if isinstance(owner, Session) and owner.implied:
        return f"{owner.label} has no object in these files."
    if owner.data.get("messages") is not None and not isinstance(owner.data["messages"], list):
        return f"The messages of {owner.label} are not a list."
    return None


def _is_marked(sub: Subsession) -> bool:
    """Returns True if a mark with its id in the parent's messages is unambiguous."""
    beside = sub.parent.children if sub.parent is not None else []
    return bool(sub.id) and not any(other is not sub and other.id == sub.id for other in beside)


def _id_and_content(item: dict[str, Any]) -> tuple[str, str]:
    return text_of(item, "id"), content_text(item.get("content"))


def _is_global(item: dict[str, Any]) -> bool:
    return item.get("visibility") == "global"


def _raise_if(why: str | None) -> None:
    if why is not None:
        raise CannotEditError(why)


_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


def written_time(now_ns: int, examples: Iterable[object]) -> str:
    """Formats RFC 3339 in UTC, with the precision of the first valid example; else milliseconds and Z."""
    written = format_time(now_ns) or ""
    for example in examples:
        if isinstance(example, str) and (found := _RFC_3339.fullmatch(example)):
            head = written[:19]
            digits = f"{now_ns % 1_000_000_000:09d}"[: len(found[1] or "")]
            zone = "+00:00" if found[2] == "+00:00" else "Z"
            return f"{head}.{digits}{zone}" if digits else head + zone
    return f"{written[:23]}Z"


def times_near(owner: Session | Subsession) -> Iterable[object]:
    """Yields times as written, nearest first: of the last message, of the owner, of its parents."""
    above: Session | Subsession | None = owner
    while above is not None:
        if above.items:
            # The last message shows best how times are written now.
            yield above.items[-1].get("timestamp")
        yield above.data.get("created_at")
        for child in above.children[-1:]:
            yield child.data.get("created_at")
        above = above.parent if isinstance(above, Subsession) else None


def new_id(kind: str, taken: Collection[str]) -> str:
    """Returns a random unused id, so that two people with copies do not choose the same one."""
    while (name := f"{kind}-{secrets.token_hex(6)}") in taken:
        pass
    return name
