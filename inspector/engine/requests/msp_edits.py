"""Edits of sessions: each is undone by the last step of their history. Also the choices that dialogs offer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import msgspec

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError
from inspector.engine.sessions import MessageRef as MessageRef
from inspector.engine.sessions import message_of, owner_of, session_of, sessions_of, subsession_of
from inspector.msp.document import AS_WRITTEN as AS_WRITTEN
from inspector.msp.document import CannotEditError, SessionDocument
from inspector.msp.objects import Session, Snapshot, Subsession, usual_visibility
from inspector.msp.references import references_of
from inspector.present.msp_words import label_of
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text

_INDENT = "    "
_MAX_PARENTS = 1_000
_MAX_INDENT = 20
_MAX_OFFERED = 60
_MAX_PREVIEWED = 100
_MAX_SNAPSHOTS = 1_000


class SessionsState(msgspec.Struct, frozen=True):
    """State of the sessions of a document, besides their content.

    Attributes:
        revision: rises with each edit.
        is_dirty: there are unsaved edits.
        is_read_only: they can only be saved under another name, since a file is compressed.
        has_several_files: they need a folder.
        has_lines: a file has one object a line.
        is_behind: the capture cannot show the last edit; the sessions must be projected anew.
        subsessions: number of sub-sessions.
        is_empty: there are neither sub-sessions nor messages.
        first_file: path of the first file or folder.
        size_bytes: of the files on the disk.
    """

    revision: int
    is_dirty: bool
    is_read_only: bool
    has_several_files: bool
    has_lines: bool
    is_behind: bool
    subsessions: int
    is_empty: bool
    first_file: Path | None
    size_bytes: int


class ReadSessionsState(Request[SessionsState | None], frozen=True):
    """The state of the sessions; None for a document without sessions."""


class EditOutcome(msgspec.Struct, frozen=True):
    """Outcome of an edit.

    Attributes:
        state: after the edit.
        words: label of the edit, such as "Close units"; "" if nothing was changed.
        refusal: the reason against it, or "".
        opened: key of the sub-session that was opened, or "".
    """

    state: SessionsState
    words: str = ""
    refusal: str = ""
    opened: str = ""


class OpenSubsession(Request[EditOutcome], frozen=True):
    """Opens a sub-session below a session or sub-session."""

    parent: str
    label: str


class AddMessage(Request[EditOutcome], frozen=True):
    """Appends a message to a sub-session, with the usual visibility."""

    key: str
    role: str
    content: str


class SwitchGlobal(Request[EditOutcome], frozen=True):
    """Makes a message of a sub-session global, or limits it to the sub-session again."""

    message: MessageRef


class CloseSubsession(Request[EditOutcome], frozen=True):
    """Closes a sub-session with its summary, if any; optionally appends that to the parent."""

    key: str
    summary: str = ""
    append_to_parent: bool = False


class DiscardSubsession(Request[EditOutcome], frozen=True):
    """Closes a sub-session without summary or merge."""

    key: str


class MergeSubsession(Request[EditOutcome], frozen=True):
    """Writes the summary and the global messages of a closed sub-session to its parent."""

    key: str


class SetPolicy(Request[EditOutcome], frozen=True):
    """Sets members of a context policy; None removes one."""

    key: str
    changes: dict[str, bool | int | None]


class ReferSummary(Request[EditOutcome], frozen=True):
    """Includes the summary of a sibling, named by its id, or withdraws the reference."""

    key: str
    name: str
    included: bool


class SetSubContext(Request[EditOutcome], frozen=True):
    """Sets parts of the sub-context of a session; None leaves one unchanged."""

    session: str
    intent: str | None = None
    constraints: list[str] | None = None
    decisions: list[str] | None = None
    facts: list[str] | None = None


class WriteSnapshot(Request[EditOutcome], frozen=True):
    """Adds or changes a snapshot of a session.

    Attributes:
        number: of the snapshot; -1 for a new one.
        content: its text; None leaves it unchanged.
        covers: indices of the first message and of the end; None for no range, AS_WRITTEN leaves it unchanged.
    """

    session: str
    number: int
    content: str | None
    covers: tuple[int, int] | None = None


class DeleteSnapshot(Request[EditOutcome], frozen=True):
    """Deletes a snapshot of a session."""

    session: str
    number: int


class UndoEdit(Request[EditOutcome], frozen=True):
    """Undoes the last edit, if any."""


class RedoEdit(Request[EditOutcome], frozen=True):
    """Redoes the last undone edit, if any."""


# Choices of dialogs


class ListParents(Request[list[tuple[str, str]]], frozen=True):
    """Keys and labels of possible parents, sessions and open sub-sessions, in tree order; at most 1,000."""


class MergePreview(msgspec.Struct, frozen=True):
    """Messages that a merge would write.

    Attributes:
        count: number of messages.
        lines: role and text of the first ones, on one line each; masked.
        refusal: the reason against a merge, or "".
    """

    count: int
    lines: list[str]
    refusal: str = ""


class PreviewMerge(Request[MergePreview], frozen=True):
    """Messages that a merge would write, at most 100."""

    key: str


class OfferedSummary(msgspec.Struct, frozen=True):
    """A summary that a sub-session refers to, or can refer to.

    Attributes:
        name: id of the sub-session.
        label: its label; safe to show.
        included: the policy names it.
    """

    name: str
    label: str
    included: bool


class OfferSummaries(Request[list[OfferedSummary]], frozen=True):
    """Referenced summaries, and summaries of siblings to refer to; empty for a closed sub-session."""

    key: str


class SnapshotText(msgspec.Struct, frozen=True):
    """A snapshot: text, and range of messages as written, if any."""

    content: str
    covers: tuple[int, int] | None


class SessionAgreements(msgspec.Struct, frozen=True):
    """Sub-context and snapshots of a session.

    Attributes:
        key, label: of the session.
        messages: number of its messages.
        snapshots: the first 1,000.
    """

    key: str
    label: str
    messages: int
    intent: str
    constraints: list[str]
    decisions: list[str]
    facts: list[str]
    snapshots: list[SnapshotText]


class ReadAgreements(Request[SessionAgreements | None], frozen=True):
    """Agreements of the session of a sub-session, else of the first session; None without any session."""

    key: str = ""


# Answers


def state_of_sessions(held: OpenDocument) -> SessionsState:
    """Returns the state of the sessions. Raises RequestError for other documents."""
    document, following = sessions_of(held), held.document.sessions
    paths = document.paths
    return SessionsState(
        document.revision, document.is_dirty, document.read_only, document.has_several_files,
        any(file.lines for file in document.files if file.holds), following is not None and following.missed_any,
        len(document.subsessions), not document.subsessions and not any(one.items for one in document.sessions),
        paths[0] if paths else None, document.size,
    )  # fmt: skip


def _state(held: OpenDocument, _asked: ReadSessionsState) -> SessionsState | None:
    return None if held.document.msp is None else state_of_sessions(held)


def _edit(held: OpenDocument, edit: Callable[[SessionDocument], Subsession | object]) -> EditOutcome:
    """Applies an edit, and returns its outcome."""
    document = sessions_of(held)
    if document.read_only:
        return EditOutcome(state_of_sessions(held), refusal="The sessions are read-only.")
    before = document.revision
    try:
        made = edit(document)
    except CannotEditError as error:
        return EditOutcome(state_of_sessions(held), refusal=safe_line(str(error)))
    if document.revision == before:
        return EditOutcome(state_of_sessions(held))
    state = state_of_sessions(held)
    if state.is_behind:
        held.note_edited()
    words = safe_line(document.undo_words or "edit", 60)
    return EditOutcome(state, words, opened=made.key if isinstance(made, Subsession) else "")


def _open(held: OpenDocument, asked: OpenSubsession) -> EditOutcome:
    parent = owner_of(held, asked.parent)
    return _edit(held, lambda document: document.open_subsession(parent, asked.label))


def _add(held: OpenDocument, asked: AddMessage) -> EditOutcome:
    sub = subsession_of(held, asked.key)
    return _edit(held, lambda document: document.add_message(sub, asked.role, asked.content, usual_visibility(sub)))


def _switch_global(held: OpenDocument, asked: SwitchGlobal) -> EditOutcome:
    message = message_of(held, asked.message)
    visibility = "subsession_only" if message.visibility == "global" else "global"
    return _edit(held, lambda document: document.set_visibility(message, visibility))


def _close(held: OpenDocument, asked: CloseSubsession) -> EditOutcome:
    sub = subsession_of(held, asked.key)
    return _edit(
        held,
        lambda document: document.close_subsession(
            sub, asked.summary or None, append_to_parent=asked.append_to_parent
        ),
    )  # fmt: skip


def _discard(held: OpenDocument, asked: DiscardSubsession) -> EditOutcome:
    sub = subsession_of(held, asked.key)
    return _edit(held, lambda document: document.discard_subsession(sub))


def _merge(held: OpenDocument, asked: MergeSubsession) -> EditOutcome:
    sub = subsession_of(held, asked.key)
    return _edit(held, lambda document: document.merge_subsession(sub))


def _set_policy(held: OpenDocument, asked: SetPolicy) -> EditOutcome:
    sub = subsession_of(held, asked.key)
    return _edit(held, lambda document: document.set_policy(sub, **asked.changes))


def _refer(held: OpenDocument, asked: ReferSummary) -> EditOutcome:
    sub = subsession_of(held, asked.key)
    if not asked.included:
        return _edit(held, lambda document: document.withdraw_summary(sub, asked.name))
    siblings = sub.parent.children if sub.parent is not None else []
    other = next((one for one in siblings if one.id == asked.name), None)
    if other is None:
        raise RequestError("The sub-session does not exist any more.")
    return _edit(held, lambda document: document.refer_summary(sub, other))


def _set_sub_context(held: OpenDocument, asked: SetSubContext) -> EditOutcome:
    session = session_of(held, asked.session)
    return _edit(
        held,
        lambda document: document.set_sub_context(
            session, intent=asked.intent, constraints=asked.constraints, decisions=asked.decisions, facts=asked.facts
        ),
    )


def _write_snapshot(held: OpenDocument, asked: WriteSnapshot) -> EditOutcome:
    session = session_of(held, asked.session)
    if asked.number < 0:
        return _edit(held, lambda document: document.add_snapshot(session, asked.content or "", asked.covers))
    snapshot = _snapshot(session, asked.number)
    return _edit(held, lambda document: document.change_snapshot(session, snapshot, asked.content, asked.covers))


def _delete_snapshot(held: OpenDocument, asked: DeleteSnapshot) -> EditOutcome:
    session = session_of(held, asked.session)
    snapshot = _snapshot(session, asked.number)
    return _edit(held, lambda document: document.delete_snapshot(session, snapshot))


def _snapshot(session: Session, number: int) -> Snapshot:
    snapshots = session.snapshots
    if not 0 <= number < len(snapshots):
        raise RequestError("The snapshot does not exist any more.")
    return snapshots[number]


def _undo(held: OpenDocument, _asked: UndoEdit) -> EditOutcome:
    return _edit(held, lambda document: document.undo())


def _redo(held: OpenDocument, _asked: RedoEdit) -> EditOutcome:
    return _edit(held, lambda document: document.redo())


def _parents(held: OpenDocument, _asked: ListParents) -> list[tuple[str, str]]:
    document, found = sessions_of(held), list[tuple[str, str]]()
    # A stack instead of recursion, because files may nest deeply.
    waiting: list[tuple[Session | Subsession, int]] = [(session, 0) for session in reversed(document.sessions)]
    while waiting and len(found) < _MAX_PARENTS:
        owner, depth = waiting.pop()
        if document.why_not_open(owner) is None:
            found.append((owner.key, f"{_INDENT * min(depth, _MAX_INDENT)}{label_of(owner)}"))
        waiting += ((child, depth + 1) for child in reversed(owner.children) if child.is_open)
    return found


def _preview(held: OpenDocument, asked: PreviewMerge) -> MergePreview:
    try:
        messages = sessions_of(held).preview_merge(subsession_of(held, asked.key))
    except CannotEditError as error:
        return MergePreview(0, [], safe_line(str(error)))
    shown = messages[:_MAX_PREVIEWED]
    lines = [f"{safe_line(one.role, 40)}: {safe_line(mask_text(one.content), 2_000)}" for one in shown]
    return MergePreview(len(messages), lines)


def _offer(held: OpenDocument, asked: OfferSummaries) -> list[OfferedSummary]:
    document, sub = sessions_of(held), subsession_of(held, asked.key)
    if not sub.is_open:
        return []
    references = references_of(sub)
    named = {one.name for one in references}
    found: list[OfferedSummary] = []
    for one in references[:_MAX_OFFERED]:  # references can be withdrawn even if their sub-session is missing
        label = safe_line(one.label, 60) if one.other is not None else f"{safe_line(one.name, 60)} (not a sibling)"
        found.append(OfferedSummary(one.name, label, included=True))
    siblings = sub.parent.children if sub.parent is not None else []
    closed = (one for one in siblings if one.summary and not one.is_open and one.id not in named)
    offered = (other for other in islice(closed, _MAX_OFFERED) if document.why_not_refer(sub, other) is None)
    return [*found, *(OfferedSummary(other.id, label_of(other), included=False) for other in offered)]


def _agreements(held: OpenDocument, asked: ReadAgreements) -> SessionAgreements | None:
    document = sessions_of(held)
    sub = document.subsession(asked.key) if asked.key else None
    session = sub.session if sub is not None else None
    if session is None:
        session = document.sessions[0] if document.sessions else None
    if session is None:
        return None
    return SessionAgreements(
        session.key, label_of(session), len(session.messages), session.intent, session.constraints, session.decisions,
        session.facts, [SnapshotText(one.content, one.covers) for one in session.snapshots[:_MAX_SNAPSHOTS]],
    )  # fmt: skip


QUERIES = (
    Query(ReadSessionsState, SessionsState | None, _state),
    Query(OpenSubsession, EditOutcome, _open),
    Query(AddMessage, EditOutcome, _add),
    Query(SwitchGlobal, EditOutcome, _switch_global),
    Query(CloseSubsession, EditOutcome, _close),
    Query(DiscardSubsession, EditOutcome, _discard),
    Query(MergeSubsession, EditOutcome, _merge),
    Query(SetPolicy, EditOutcome, _set_policy),
    Query(ReferSummary, EditOutcome, _refer),
    Query(SetSubContext, EditOutcome, _set_sub_context),
    Query(WriteSnapshot, EditOutcome, _write_snapshot),
    Query(DeleteSnapshot, EditOutcome, _delete_snapshot),
    Query(UndoEdit, EditOutcome, _undo),
    Query(RedoEdit, EditOutcome, _redo),
    Query(ListParents, list[tuple[str, str]], _parents),
    Query(PreviewMerge, MergePreview, _preview),
    Query(OfferSummaries, list[OfferedSummary], _offer),
    Query(ReadAgreements, SessionAgreements | None, _agreements),
)
