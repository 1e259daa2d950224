"""An editable MSP document: its sessions and sub-sessions, undoable edits, and its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from inspector.base.idle_time import IDLE_AFTER_S
from inspector.msp import session_composing
from inspector.msp.edit_composer import CannotEditError, Composer, PolicyValue
from inspector.msp.edits import ComposedEdit, Edit, EditHistory, Insert, SessionObserver
from inspector.msp.figures import SessionFigures
from inspector.msp.files import (
    MspFile,
    NotMspError,
    folder_times,
    folders_in,
    found_files,
    is_msp,
    looks_like_msp,
    read_files,
)
from inspector.msp.links import Home, Linked, Owner, link_files
from inspector.msp.message_columns import MessageColumnCache
from inspector.msp.objects import Message, Session, Snapshot, Subsession
from inspector.msp.problems import OwnerChecks, Problem
from inspector.msp.saving import (
    ChangedOnDiskError,
    FileCopies,
    WouldReplaceError,
    changed_files,
    save_files,
    save_files_as,
)
from inspector.msp.session_composing import AS_WRITTEN, SubContextValue
from inspector.protocol.timestamps import NO_TIME, parse_text_time

_LOOKED_AT = 16
"""Number of last messages searched for one with a time."""


def _said_ns(owner: Owner) -> int:
    """Returns the time of the last message, or NO_TIME."""
    said = (parse_text_time(item.get("timestamp")) for item in reversed(owner.items[-_LOOKED_AT:]))
    return next((ns for ns in said if ns != NO_TIME), NO_TIME)


def _last_in_reach(sub: Subsession) -> int:
    """Returns the time of the last message in a sub-session or below it; the opening counts without messages."""
    left, last = [sub], NO_TIME
    while left:
        one = left.pop()
        said = _said_ns(one)
        last = max(last, said if said != NO_TIME else one.created_ns)
        # A stack instead of recursion: nesting may be deeper than Python's limit.
        left += one.children
    return last


class SessionDocument:
    """Sessions, their sub-sessions and messages, as in the files with the edits since.

    All edits go through this class, in one thread; observers are notified at once. A save takes a snapshot at its
    start, so it can be written in another thread while edits continue.

    Attributes:
        revision: rises with each edit.
        structure: rises with each edit besides added messages, visibilities and policies.
    """

    def __init__(self, paths: Sequence[Path], files: list[MspFile], *, clock: Callable[[], int] = time.time_ns) -> None:
        self._given = list(paths)
        self.files = files
        self.revision = self.structure = 0
        self.observers: list[SessionObserver] = []
        self.clock = clock
        self.idle_after_s = IDLE_AFTER_S
        """Seconds after the last message until an open sub-session is idle, by the sessions' time."""
        self._latest: tuple[int, int] | None = None
        self.known = MessageColumnCache()
        """Columns of messages; they follow edits."""
        self._history = EditHistory()
        self._set_content(files, link_files(files))

    def _set_content(self, files: list[MspFile], found: Linked) -> None:
        self.files = files
        self.sessions: list[Session] = found.sessions
        self.subsessions: list[Subsession] = found.subsessions
        self.homes: dict[str, Home] = found.homes
        self._by_key = {sub.key: sub for sub in found.subsessions}
        self._made: list[MspFile] = []
        """Files created by edits, undone or not."""
        self._folders: dict[Path, int] = {}
        self._new: list[Path] = []
        self._problems = found.problems
        self._checks: dict[str, OwnerChecks] = {}
        self._checked: dict[str, list[Problem]] = {}

    @classmethod
    def read(cls, paths: Sequence[Path]) -> SessionDocument:
        """Reads files and folders.

        Raises:
            OSError: a file cannot be read.
            NotMspError: no file contains an MSP object.
        """
        document = cls(paths, read_files(paths))
        if not any(file.holds for file in document.files):
            reason = document.problems[0].text if document.problems else "There is no file in the folder."
            raise NotMspError(reason)
        return document

    @classmethod
    def create(
        cls, path: Path, identifier: str = "", label: str = "", agreed: Mapping[str, SubContextValue] | None = None, *,
        clock: Callable[[], int] = time.time_ns,
    ) -> SessionDocument:  # fmt: skip
        """Creates a session without messages; it is on no disk before `save_as`.

        Args:
            path: its future path.
            identifier: id of the session; "" for a new one.
            label: label of the session, or "".
            agreed: `intent`, `constraints`, `decisions` and `facts` of its sub-context.
            clock: clock for its creation time.
        """
        document = cls(
            [path], [session_composing.new_file(path, clock(), identifier, label, agreed or {})], clock=clock
        )
        # It is on no disk yet, so it counts as unsaved from the start.
        document._history.forget_saved()
        return document

    # Content --------------------------------------------------------------------------------------------------------

    @property
    def paths(self) -> list[Path]:
        """Paths that contain all of it: the paths it was read from, and files created beside them."""
        # Files of undone edits stay in `_made`, since a redo needs them.
        made = [file.path for file in self._made if file in self.files]
        return [*self._given, *(path for path in made if not any(map(path.is_relative_to, self._given)))]

    @property
    def problems(self) -> list[Problem]:
        """All problems: of the files first, then object by object."""
        found = list(self._problems)
        for owner in (*self.sessions, *self.subsessions):
            known = self._checked.get(owner.key)
            if known is None:
                checks = self._checks.get(owner.key) or self._checks.setdefault(owner.key, OwnerChecks(owner))
                known = self._checked[owner.key] = checks.problems()
            found += known
        return found

    @property
    def size(self) -> int:
        """Bytes of its files on the disk."""
        return sum(file.stamp.size for file in self.files if file.holds and file.stamp is not None)

    @cached_property
    def figures(self) -> SessionFigures:
        """Token sums and merged contexts, kept between questions."""
        return SessionFigures(self)

    def stop_counting(self) -> None:
        """Ends the process that counts tokens; the next question starts another one."""
        if "figures" in self.__dict__:
            self.figures.counts.end()

    @property
    def has_several_files(self) -> bool:
        """Returns True if it has several files, so that it needs a folder."""
        return sum(file.holds for file in self.files) > 1

    @property
    def is_dirty(self) -> bool:
        """Returns True if there are unsaved edits."""
        return self._history.is_dirty

    @property
    def latest_ns(self) -> int:
        """Time of the last message anywhere, the sessions' present; NO_TIME if unknown. O(sub-sessions)."""
        # Asked once per sub-session, so it is computed once per revision.
        if self._latest is None or self._latest[0] != self.revision:
            owners = (*self.sessions, *self.subsessions)
            said = max(map(_said_ns, owners), default=NO_TIME)
            opened = (one.created_ns for one in owners)
            self._latest = self.revision, said if said != NO_TIME else max(opened, default=NO_TIME)
        return self._latest[1]

    def is_active(self, sub: Subsession) -> bool:
        """Returns True if a sub-session is not idle yet, as in the tree of contexts; True without any time."""
        last = _last_in_reach(sub)
        return last == NO_TIME or self.latest_ns - last <= self.idle_after_s * 1_000_000_000

    @property
    def read_only(self) -> bool:
        """Returns True if it can only be saved under another name, since a file is compressed."""
        return any(file.compressed for file in self.files if file.holds)

    def subsession(self, id_or_key: str) -> Subsession | None:
        """Returns the sub-session with a key, else the first with an id."""
        found = self._by_key.get(id_or_key)
        return found or next((sub for sub in self.subsessions if sub.id == id_or_key), None)

    def session(self, id_or_key: str) -> Session | None:
        """Returns the session with a key, else the first with an id."""
        found = next((session for session in self.sessions if session.key == id_or_key), None)
        return found or next((session for session in self.sessions if session.id == id_or_key), None)

    # Editing ---------------------------------------------------------------------------------------------------------

    def open_subsession(self, parent: Owner, label: str, policy: dict[str, Any] | None = None) -> Subsession:
        """Opens a sub-session. Raises CannotEditError if that is impossible."""
        composer = self._composer()
        sub, made = composer.compose_opening(parent, label, policy)
        self._apply(made)
        return sub

    def add_message(self, owner: Owner, role: str, content: str, visibility: str | None = None) -> Message:
        """Appends a message. Raises CannotEditError if the sub-session is closed, or has no object."""
        message, made = self._composer().compose_message(owner, role, content, visibility)
        self._apply(made)
        return message

    def close_subsession(self, sub: Subsession, summary: str | None, *, append_to_parent: bool) -> None:
        """Closes an open sub-session with its summary. Raises CannotEditError if it is not open."""
        self._apply(self._composer().compose_close(sub, summary, append_to_parent=append_to_parent))

    def discard_subsession(self, sub: Subsession) -> None:
        """Closes an open sub-session without summary or merge. Raises CannotEditError if it is not open."""
        self._apply(self._composer().compose_discard(sub))

    def reopen_subsession(self, sub: Subsession) -> None:
        """Reopens a closed or discarded sub-session. Raises CannotEditError if it is open or merged."""
        self._apply(self._composer().compose_reopening(sub))

    def preview_merge(self, sub: Subsession) -> list[Message]:
        """Returns the messages that a merge would write. Raises CannotEditError if it cannot be merged."""
        added = self._composer().compose_merge(sub).edit.added
        return [one for one in added if isinstance(one, Message)]

    def merge_subsession(self, sub: Subsession) -> None:
        """Writes a closed sub-session's summary and global messages to the parent, once."""
        self._apply(self._composer().compose_merge(sub))

    def why_not_merge(self, sub: Subsession) -> str | None:
        """Returns the reason against a merge as a sentence, if any."""
        return self._composer().why_not_merged(sub)

    def why_not_open(self, parent: Owner) -> str | None:
        """Returns the reason against a new sub-session as a sentence, if any."""
        return self._composer().why_not_opened(parent)

    def why_not_add(self, owner: Owner) -> str | None:
        """Returns the reason against a new message as a sentence, if any."""
        return self._composer().why_not_added(owner)

    def set_visibility(self, message: Message, visibility: str | None) -> None:
        """Sets a message's visibility; None removes it."""
        if message.data.get("visibility") != visibility:
            self._apply(self._composer().compose_visibility(message, visibility))

    def set_policy(self, sub: Subsession, **changes: PolicyValue) -> None:
        """Sets members of a sub-session's policy; None removes one."""
        if made := self._composer().compose_policy(sub, changes):
            self._apply(made)

    def refer_summary(self, sub: Subsession, other: Subsession) -> None:
        """Includes the summary of a sibling without a merge."""
        self._apply(self._composer().compose_reference(sub, other))

    def withdraw_summary(self, sub: Subsession, name: str) -> None:
        """Removes the reference to a summary.

        Args:
            sub: the sub-session.
            name: id of the sub-session it refers to, existing or not.
        """
        self._apply(self._composer().compose_withdrawal(sub, name))

    def why_not_refer(self, sub: Subsession, other: Subsession) -> str | None:
        """Returns the reason against a reference to another summary as a sentence, if any."""
        return self._composer().why_not_referred(sub, other)

    def set_sub_context(self, session: Session, **changes: SubContextValue) -> None:
        """Sets `intent`, `constraints`, `decisions` or `facts` of a session; None leaves one unchanged."""
        self._refuse_strange(session)
        if made := session_composing.with_sub_context(session, changes):
            self._apply(made)

    def add_snapshot(self, session: Session, content: str, covers: tuple[int, int] | None = None) -> Snapshot:
        """Adds a summary of messages `covers`: indices from 0, start and end."""
        self._refuse_strange(session)
        self._apply(session_composing.snapshot_added(session, content, covers, self.clock()))
        return session.snapshots[-1]

    def change_snapshot(
        self, session: Session, snapshot: Snapshot, content: str | None, covers: tuple[int, int] | None = AS_WRITTEN
    ) -> None:
        """Changes a snapshot's text (None keeps it) or its range; None removes the range."""
        self._refuse_strange(session)
        if made := session_composing.snapshot_changed(session, snapshot, content, covers):
            self._apply(made)

    def delete_snapshot(self, session: Session, snapshot: Snapshot) -> None:
        self._refuse_strange(session)
        self._apply(session_composing.snapshot_deleted(session, snapshot))

    def _refuse_strange(self, session: Session) -> None:
        self._composer().refuse_foreign_owner(session)

    def _composer(self) -> Composer:
        return Composer(self, self._by_key, self.clock())

    def _apply(self, made: ComposedEdit) -> None:
        self._history.apply_edit(made)
        inserted = (step.value for step in made.steps if isinstance(step, Insert))
        self._made += (value for value in inserted if isinstance(value, MspFile))
        self._notify(made.edit)

    def _notify(self, edit: Edit) -> None:
        self.revision += 1
        self.structure += edit.kind in ("restructure", "session")
        self.known.on_edit(edit)
        sub, checks = self._by_key.get(edit.key), self._checks.get(edit.key)
        if edit.kind == "visibility" and edit.message is not None and checks is not None:
            # Only one message changed; a full check would read all of them again.
            checks.update_visibility(edit.message.data)
        self._checked.pop(edit.key, None)
        if sub is not None and sub.parent is not None:
            # Problems of the parent can depend on its children.
            self._checked.pop(sub.parent.key, None)
        # A copy: an observer may leave while it is notified.
        for observer in tuple(self.observers):
            observer.session_edited(edit)

    @property
    def undo_words(self) -> str | None:
        """Label of the edit to undo, such as "Close units", if any."""
        return self._history.undo_words

    @property
    def redo_words(self) -> str | None:
        """Label of the edit to redo, if any."""
        return self._history.redo_words

    def undo(self) -> str | None:
        """Undoes the last edit; returns its label, if any."""
        edit = self._history.undo()
        if edit is not None:
            self._notify(edit)
        return edit.words if edit else None

    def redo(self) -> str | None:
        """Redoes the last undone edit; returns its label, if any."""
        edit = self._history.redo()
        if edit is not None:
            self._notify(edit)
        return edit.words if edit else None

    # Files -----------------------------------------------------------------------------------------------------------

    def save(self, *, force: bool = False) -> None:
        """Writes edited files atomically; unchanged parts keep their bytes. Arguments and errors as `saving`."""
        with self.saving(force=force) as write:
            write()

    @contextmanager
    def saving(self, *, force: bool = False) -> Generator[Callable[[], None]]:
        """Yields a function that saves the present state, in any thread; edits may continue meanwhile.

        Args:
            force: overwrites changes that others made on the disk.

        Raises:
            ChangedOnDiskError: a file has changed since it was read; no file was written.
            OSError: it could not be written.
        """
        snapshot, state = FileCopies(self.files, self._removed_files), self._history.state
        try:
            with self._history.mark_writing(state):
                yield partial(save_files, snapshot.files, snapshot.gone, force=force)
        except OSError:
            if snapshot.wrote_any:
                self._history.forget_saved()  # some files are written: the disk matches none of our states
            raise
        else:
            self._history.mark_saved(state)
        finally:
            snapshot.transfer_stamps()

    @property
    def _removed_files(self) -> list[MspFile]:
        """Saved files whose creation was undone."""
        return [file for file in self._made if file.stamp is not None and file not in self.files]

    def save_as(self, path: Path, *, replace: bool = False) -> None:
        """Saves under another name and continues there. Arguments and errors as `saving_as`."""
        with self.saving_as(path, replace=replace) as write:
            write()

    @contextmanager
    def saving_as(self, path: Path, *, replace: bool = False) -> Generator[Callable[[], None]]:
        """Yields a function that saves the present state under another name, as `saving`; continues there.

        Args:
            path: the file, or a folder for several files.
            replace: overwrites existing files.

        Raises:
            WouldReplaceError: the target exists; no file was written.
            OSError: it could not be written.
        """
        several, state = self.has_several_files, self._history.state
        files = [file for file in self.files if file.holds]
        snapshot = FileCopies(files)
        yield partial(save_files_as, snapshot.files, path, replace=replace)
        snapshot.transfer_stamps()
        for file in self._made:
            if file not in files:  # if it is created again, it goes there
                file.path = (path if several else path.parent) / file.path.name
                file.stamp, file.digest = None, ""
        self.files[:] = [file for file in self.files if file.holds]
        self._given = [path]
        self._folders, self._new = {}, []
        self._history.mark_saved(state)

    def leave_disk(self) -> None:
        """Marks all files as missing on the disk, before they are deleted."""
        for file in self.files:
            file.stamp, file.digest = None, ""

    def changed_on_disk(self) -> list[Path]:
        """Returns files that others wrote or deleted since they were read or saved."""
        changed = changed_files([*self.files, *self._removed_files])
        return [file.path for file in changed if file.holds or file.stamp is not None]

    def new_on_disk(self) -> list[Path]:
        """Returns session files that others added to its folders. O(folders) without new files.

        Raises:
            OSError: a folder cannot be listed.
        """
        if not self._folders or folder_times(self._folders) != self._folders:
            inside = [path for path in self._given if path.is_dir()]
            self._folders = folder_times(folder for path in inside for folder in folders_in(path))
            # Resolved, since links can name one file twice.
            known = {file.path.resolve() for file in (*self.files, *self._made)}
            found = [path for path, _, _ in found_files(inside) if path.resolve() not in known]
            self._new = [path for path in found if looks_like_msp(path)]
        return list(self._new)

    def reload(self) -> None:
        """Reads everything again; unsaved edits and the undo history are lost.

        Raises:
            OSError: a file cannot be read; the document stays unchanged.
            NotMspError: no file contains an MSP object any more; the document stays unchanged.
        """
        # Reads before any change here, so that a failure leaves the document as it was.
        self.replace_content(SessionDocument.read(self.reread_paths))

    @property
    def reread_paths(self) -> list[Path]:
        """Paths to read for the present content of the disk, with files created by edits."""
        made = [file.path for file in self._made if file.stamp is not None and file.path.exists()]
        return [*self._given, *made]

    def replace_content(self, new: SessionDocument) -> None:
        """Takes over the content of a document just read; unsaved edits and the undo history are lost."""
        self._given = new.paths
        self._history = EditHistory()
        self._set_content(new.files, Linked(new.sessions, new.subsessions, new._problems, new.homes))
        self._notify(Edit("Read again", "restructure", ""))


__all__ = [
    "AS_WRITTEN",
    "CannotEditError",
    "ChangedOnDiskError",
    "Edit",
    "NotMspError",
    "SessionDocument",
    "SessionObserver",
    "WouldReplaceError",
    "is_msp",
]
