"""Composes edits of a session: a new session, its sub-context and its snapshots.

Unchanged parts stay the same objects, so their bytes stay too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from inspector.msp.edit_composer import CannotEditError, new_id, times_near, written_time
from inspector.msp.edits import REMOVED, ComposedEdit, Edit, Insert, Remove, SetMember, Step
from inspector.msp.files import LINES_SUFFIXES, MspFile
from inspector.msp.json_patch import exactly_same
from inspector.msp.objects import Session, Snapshot, content_text, dict_of

SUB_CONTEXT_LISTS = ("constraints", "decisions", "facts")
"""Sub-context members that are lists of texts; the other member is `intent`."""
SUB_CONTEXT_MEMBERS = ("intent", *SUB_CONTEXT_LISTS)

SubContextValue = str | Sequence[str] | None
"""New value of a sub-context member; None keeps it."""

AS_WRITTEN = (-1, -1)
"""Range that keeps a snapshot's range as written."""

_SPREAD_STYLE = b"{\n  \n}\n"
"""Empty object in the layout of new files: one member per line, two spaces deep."""
_ONE_LINE = b"{}\n"


def new_file(path: Path, now_ns: int, identifier: str, label: str, agreed: Mapping[str, SubContextValue]) -> MspFile:
    """Returns a new file with one empty session."""
    session: dict[str, Any] = {"session_id": identifier or new_id("session", ())}
    if label:
        session["label"] = label
    session["created_at"] = written_time(now_ns, ())
    session["sub_context"] = {"intent": agreed.get("intent") or ""} | {
        name: _texts(agreed.get(name) or ()) for name in SUB_CONTEXT_LISTS
    }
    session |= {"summary_snapshots": [], "subsessions": [], "messages": []}
    # The style of new files is that of their `original`.
    empty = _ONE_LINE if path.suffix in LINES_SUFFIXES else _SPREAD_STYLE
    return MspFile(path, empty, {"session": session, "subsessions": []}, name=path.name)


def with_sub_context(session: Session, changes: Mapping[str, SubContextValue]) -> ComposedEdit | None:
    """Composes changes of the sub-context, if there is a difference."""
    check_sub_context_editable(session)
    before = dict_of(session.data, "sub_context")
    new = {name: _member(name, before.get(name), value) for name, value in changes.items() if value is not None}
    differing = {name: value for name, value in new.items() if _differs(before, name, value)}
    if not differing:
        return None
    steps: list[Step] = []
    if not isinstance(session.data.get("sub_context"), dict):
        steps.append(SetMember(session.data, "sub_context", before))
    # In the protocol's order, whatever the order of the changes.
    steps += [SetMember(before, name, differing[name]) for name in SUB_CONTEXT_MEMBERS if name in differing]
    return ComposedEdit(Edit(f"Change the sub-context of {session.label}", "session", session.key), steps)


def snapshot_added(session: Session, content: str, covers: tuple[int, int] | None, now_ns: int) -> ComposedEdit:
    """Composes a new snapshot at the end."""
    check_snapshots_editable(session)
    data: dict[str, Any] = {"id": new_id("snapshot", {one.id or "" for one in session.snapshots})}
    if covers is not None:
        data["covers_messages"] = _checked(covers)
    data |= {"created_at": written_time(now_ns, times_near(session)), "content": _checked_content(content)}
    listed = session.data.get("summary_snapshots")
    steps: list[Step] = []
    if listed is None:
        listed = []
        steps.append(SetMember(session.data, "summary_snapshots", listed))
    steps.append(Insert(listed, data))
    return ComposedEdit(Edit(f"Add snapshot to {session.label}", "session", session.key), steps)


def snapshot_changed(
    session: Session, snapshot: Snapshot, content: str | None, covers: tuple[int, int] | None
) -> ComposedEdit | None:
    """Composes a new text (None keeps it) or range of a snapshot, if there is a difference."""
    check_snapshots_editable(session)
    _place_of(session, snapshot)
    steps: list[Step] = []
    if content is not None and _checked_content(content) != snapshot.content:
        steps.append(SetMember(snapshot.data, "content", content))
    if covers is None and "covers_messages" in snapshot.data:
        steps.append(SetMember(snapshot.data, "covers_messages", REMOVED))
    elif covers not in (None, AS_WRITTEN, snapshot.covers):
        steps.append(SetMember(snapshot.data, "covers_messages", _checked(covers)))
    return ComposedEdit(Edit(f"Change snapshot of {session.label}", "session", session.key), steps) if steps else None


def snapshot_deleted(session: Session, snapshot: Snapshot) -> ComposedEdit:
    """Composes the deletion of a snapshot; the others keep their places."""
    check_snapshots_editable(session)
    steps = [Remove(session.data["summary_snapshots"], _place_of(session, snapshot))]
    return ComposedEdit(Edit(f"Delete snapshot of {session.label}", "session", session.key), steps)


def check_sub_context_editable(session: Session) -> None:
    """Raises CannotEditError if the sub-context cannot be edited."""
    if session.implied:
        raise CannotEditError(f"{session.label} has no object in these files.")
    if session.data.get("sub_context") is not None and not isinstance(session.data["sub_context"], dict):
        raise CannotEditError(f"The sub-context of {session.label} is not an object.")


def check_snapshots_editable(session: Session) -> None:
    """Raises CannotEditError if the snapshots cannot be edited."""
    if session.implied:
        raise CannotEditError(f"{session.label} has no object in these files.")
    listed = session.data.get("summary_snapshots")
    if listed is not None and not isinstance(listed, list):
        raise CannotEditError(f"The snapshots of {session.label} are not a list.")


def _member(name: str, before: object, value: str | Sequence[str]) -> str | list[object]:
    """Returns a member's new value; unchanged list elements stay as written."""
    if name == "intent":
        return value if isinstance(value, str) else "\n".join(value)
    if name not in SUB_CONTEXT_LISTS:
        raise CannotEditError(f"The sub-context has no {name}.")
    there: dict[str, list[object]] = {}
    for item in cast(list[object], before) if isinstance(before, list) else ():
        # Elements may be objects; equal texts keep their original form.
        there.setdefault(content_text(item), []).append(item)
    wanted = _texts([value] if isinstance(value, str) else value)
    return [there[text].pop(0) if there.get(text) else text for text in wanted]


def _differs(before: dict[str, Any], name: str, value: object) -> bool:
    if name not in before:
        return bool(value)
    if name == "intent" and not isinstance(before[name], str):  # a value that is not text counts as absent
        return bool(value)
    return not exactly_same(before[name], value)


def _texts(values: Sequence[str] | str) -> list[str]:
    listed = [values] if isinstance(values, str) else values
    return [text for text in listed if text.strip()]


def _checked(covers: tuple[int, int]) -> list[int]:
    start, stop = covers
    if start < 0 or stop < start:
        raise CannotEditError(f"The first message of a snapshot must come before the last: {start}, {stop}.")
    return [start, stop]


def _checked_content(content: str) -> str:
    if not content.strip():
        raise CannotEditError("A snapshot needs a text.")
    return content


def _place_of(session: Session, snapshot: Snapshot) -> int:
    listed = session.data.get("summary_snapshots") or []
    found = next((place for place, item in enumerate(listed) if item is snapshot.data), None)
    if found is None:
        raise CannotEditError(f"{session.label} no longer has this snapshot.")
    return found
