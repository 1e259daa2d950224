"""An MSP document in work: its sessions and sub-sessions, edits that can be undone, and the files it lies in."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from inspector.msp import session_composing
from inspector.msp.composing import CannotEditError, Composer, PolicyValue
from inspector.msp.edits import Edit, EditHistory, Insert, Made, SessionObserver
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
from inspector.msp.links import Home, Linked, Owner, linked
from inspector.msp.message_columns import KnownMessages
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
from inspector.msp.session_composing import AS_WRITTEN, Agreed
from inspector.protocol.times import NO_TIME, written_time

IDLE_AFTER_S = 30
_LOOKED_AT = 16
"""Last messages among which one with a time is looked for."""


def _said_ns(owner: Owner) -> int:
    """When the last message was said; NO_TIME."""
    said = (written_time(item.get("timestamp")) for item in reversed(owner.items[-_LOOKED_AT:]))
    return next((ns for ns in said if ns != NO_TIME), NO_TIME)


def _last_in_reach(sub: Subsession) -> int:
    """Returns when something was last said in a sub-session or below it; an opening counts where nothing was said."""
    left, last = [sub], NO_TIME
    while left:
        one = left.pop()
        said = _said_ns(one)
        last = max(last, said if said != NO_TIME else one.created_ns)
        left += one.children
    return last


class SessionDocument:
    """Sessions, their sub-sessions and messages, as in the files and with what was edited since.

    All editing goes through here, in one thread. Observers are told at once. What is saved is what there is when saving
    begins: it can be written in another thread while edits go on.
    """

    def __init__(self, paths: Sequence[Path], files: list[MspFile], *, clock: Callable[[], int] = time.time_ns) -> None:
        self._given = list(paths)
        self.files = files
        self.revision = 0
        self.observers: list[SessionObserver] = []
        self.clock = clock
        self.idle_after_s = IDLE_AFTER_S
        """An open sub-session is quiet so long after the last that was said in it, by the time of the sessions."""
        self._latest: tuple[int, int] | None = None
        self.known = KnownMessages()
        """Columns of messages, which go after the edits."""
        self._history = EditHistory()
        self._take(files, linked(files))

    def _take(self, files: list[MspFile], found: Linked) -> None:
        self.files = files
        self.sessions: list[Session] = found.sessions
        self.subsessions: list[Subsession] = found.subsessions
        self.homes: dict[str, Home] = found.homes
        self._by_key = {sub.key: sub for sub in found.subsessions}
        self._made: list[MspFile] = []
        """Files that edits made, whether these are taken back or not."""
        self._folders: dict[Path, int] = {}
        self._new: list[Path] = []
        self._problems = found.problems
        self._checks: dict[str, OwnerChecks] = {}
        self._checked: dict[str, list[Problem]] = {}

    @classmethod
    def read(cls, paths: Sequence[Path]) -> SessionDocument:
        """Read files and folders.

        Raises:
            OSError: a file cannot be read.
            NotMspError: none of them holds an MSP object.
        """
        document = cls(paths, read_files(paths))
        if not any(file.holds for file in document.files):
            reason = document.problems[0].text if document.problems else "There is no file in the folder."
            raise NotMspError(reason)
        return document

    @classmethod
    def new(
        cls, path: Path, identifier: str = "", label: str = "", agreed: Mapping[str, Agreed] | None = None, *,
        clock: Callable[[], int] = time.time_ns,
    ) -> SessionDocument:  # fmt: skip
        """A session in which nothing was said; it is nowhere until `save_as` has written it.

        Args:
            path: where it is to lie.
            identifier: of the session; a new one when empty.
            label: what the session is called, if anything.
            agreed: `intent`, `constraints`, `decisions` and `facts` of its sub-context.
            clock: says when it began.
        """
        document = cls(
            [path], [session_composing.new_file(path, clock(), identifier, label, agreed or {})], clock=clock
        )
        document._history.forget_saved()
        return document

    # What there is ---------------------------------------------------------------------------------------------------

    @property
    def paths(self) -> list[Path]:
        """What holds all of it: the files and folders it was read from, and files beside them that edits made."""
        made = [file.path for file in self._made if file in self.files]
        return [*self._given, *(path for path in made if not any(map(path.is_relative_to, self._given)))]

    @property
    def problems(self) -> list[Problem]:
        """Everything odd about it: about the files first, then object by object."""
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

    @property
    def several(self) -> bool:
        """Whether it lies in several files, so that only a folder can hold it."""
        return sum(file.holds for file in self.files) > 1

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return self._history.dirty

    @property
    def latest_ns(self) -> int:
        """When something was said last anywhere, which is the present of the sessions; NO_TIME. O(sub-sessions)."""
        if self._latest is None or self._latest[0] != self.revision:
            owners = (*self.sessions, *self.subsessions)
            said = max(map(_said_ns, owners), default=NO_TIME)
            opened = (one.created_ns for one in owners)
            self._latest = self.revision, said if said != NO_TIME else max(opened, default=NO_TIME)
        return self._latest[1]

    def is_active(self, sub: Subsession) -> bool:
        """Returns whether an open sub-session is within its idle time, as the tree of contexts has it.

        Without any time it cannot have timed out.
        """
        last = _last_in_reach(sub)
        return last == NO_TIME or self.latest_ns - last <= self.idle_after_s * 1_000_000_000

    @property
    def read_only(self) -> bool:
        """Whether it can only be saved under another name: a file of it is compressed."""
        return any(file.compressed for file in self.files if file.holds)

    def subsession(self, id_or_key: str) -> Subsession | None:
        """The sub-session of a key, else the first of an id."""
        found = self._by_key.get(id_or_key)
        return found or next((sub for sub in self.subsessions if sub.id == id_or_key), None)

    def session(self, id_or_key: str) -> Session | None:
        """The session of a key, else the first of an id."""
        found = next((session for session in self.sessions if session.key == id_or_key), None)
        return found or next((session for session in self.sessions if session.id == id_or_key), None)

    # Editing ---------------------------------------------------------------------------------------------------------

    def open_subsession(self, parent: Owner, label: str, policy: dict[str, Any] | None = None) -> Subsession:
        """Open a sub-session below a session or another sub-session; CannotEditError when that cannot be."""
        composer = self._composer()
        sub, made = composer.opened(parent, label, policy)
        self._make(made)
        return sub

    def add_message(self, owner: Owner, role: str, content: str, visibility: str | None = None) -> Message:
        """Add a message at the end; CannotEditError when the sub-session is closed, or has no object."""
        message, made = self._composer().added(owner, role, content, visibility)
        self._make(made)
        return message

    def close(self, sub: Subsession, summary: str | None, *, append_to_parent: bool) -> None:
        """Close an open sub-session, with what came of it; CannotEditError when it is not open."""
        self._make(self._composer().closed(sub, summary, append_to_parent=append_to_parent))

    def discard(self, sub: Subsession) -> None:
        """Close an open sub-session to forget it: no summary, no merge; CannotEditError when it is not open."""
        self._make(self._composer().discarded(sub))

    def reopen(self, sub: Subsession) -> None:
        """Open a closed or discarded sub-session once more; CannotEditError when it is open or was merged."""
        self._make(self._composer().reopened(sub))

    def preview_merge(self, sub: Subsession) -> list[Message]:
        """The messages that a merge would write into the parent; CannotEditError when it cannot be merged."""
        added = self._composer().merged(sub).edit.added
        return [one for one in added if isinstance(one, Message)]

    def merge(self, sub: Subsession) -> None:
        """Write a closed sub-session's summary and its global messages into the parent, once."""
        self._make(self._composer().merged(sub))

    def why_not_merge(self, sub: Subsession) -> str | None:
        """Why a sub-session cannot be merged, in a sentence; None when it can."""
        return self._composer().why_not_merged(sub)

    def why_not_open(self, parent: Owner) -> str | None:
        """Why no sub-session can be opened below it, in a sentence; None when one can."""
        return self._composer().why_not_opened(parent)

    def why_not_add(self, owner: Owner) -> str | None:
        """Why no message can be added to it, in a sentence; None when one can."""
        return self._composer().why_not_added(owner)

    def set_visibility(self, message: Message, visibility: str | None) -> None:
        """Say who is shown a message; None takes away what is said."""
        if message.data.get("visibility") != visibility:
            self._make(self._composer().shown(message, visibility))

    def set_policy(self, sub: Subsession, **changes: PolicyValue) -> None:
        """Say what of the parent a sub-session takes along; None takes away what is said."""
        if made := self._composer().with_policy(sub, changes):
            self._make(made)

    def refer(self, sub: Subsession, other: Subsession) -> None:
        """Have a sub-session take along the summary of one beside it, without a merge."""
        self._make(self._composer().referred(sub, other))

    def withdraw(self, sub: Subsession, name: str) -> None:
        """Have a sub-session take a summary along no longer.

        Args:
            sub: the sub-session.
            name: id of the one it refers to, of which there may be no object any more.
        """
        self._make(self._composer().withdrawn(sub, name))

    def why_not_refer(self, sub: Subsession, other: Subsession) -> str | None:
        """Why a sub-session cannot take the summary of another one along, in a sentence; None when it can."""
        return self._composer().why_not_referred(sub, other)

    def set_sub_context(self, session: Session, **changes: Agreed) -> None:
        """Say what was agreed in a session: `intent`, `constraints`, `decisions`, `facts`; None leaves one as it is."""
        self._refuse_strange(session)
        if made := session_composing.with_sub_context(session, changes):
            self._make(made)

    def add_snapshot(self, session: Session, content: str, covers: tuple[int, int] | None = None) -> Snapshot:
        """Add a summary of a stretch of a session's messages, given by indices from 0: from, and up to."""
        self._refuse_strange(session)
        self._make(session_composing.snapshot_added(session, content, covers, self.clock()))
        return session.snapshots[-1]

    def change_snapshot(
        self, session: Session, snapshot: Snapshot, content: str | None, covers: tuple[int, int] | None = AS_WRITTEN
    ) -> None:
        """Give a snapshot another text (None: the one it has) or another stretch; None as a stretch: none is named."""
        self._refuse_strange(session)
        if made := session_composing.snapshot_changed(session, snapshot, content, covers):
            self._make(made)

    def delete_snapshot(self, session: Session, snapshot: Snapshot) -> None:
        """Take a snapshot away."""
        self._refuse_strange(session)
        self._make(session_composing.snapshot_deleted(session, snapshot))

    def _refuse_strange(self, session: Session) -> None:
        self._composer().refuse_strange(session)

    def _composer(self) -> Composer:
        return Composer(self, self._by_key, self.clock())

    def _make(self, made: Made) -> None:
        self._history.make(made)
        inserted = (step.value for step in made.steps if isinstance(step, Insert))
        self._made += (value for value in inserted if isinstance(value, MspFile))
        self._notify(made.edit)

    def _notify(self, edit: Edit) -> None:
        self.revision += 1
        self.known.follow(edit)
        sub, checks = self._by_key.get(edit.key), self._checks.get(edit.key)
        if edit.kind == "visibility" and edit.message is not None and checks is not None:
            checks.reread(edit.message.data)
        self._checked.pop(edit.key, None)
        if sub is not None and sub.parent is not None:
            self._checked.pop(sub.parent.key, None)
        for observer in tuple(self.observers):
            observer.session_edited(edit)

    @property
    def undo_words(self) -> str | None:
        """What would be taken back, as "Close units"; None when there is nothing."""
        return self._history.undo_words

    @property
    def redo_words(self) -> str | None:
        """What would be made again; None when there is nothing."""
        return self._history.redo_words

    def undo(self) -> str | None:
        """Take the last edit back; what it was, None when there was none."""
        edit = self._history.undo()
        if edit is not None:
            self._notify(edit)
        return edit.words if edit else None

    def redo(self) -> str | None:
        """Make the edit again that was taken back last; what it was, None when there was none."""
        edit = self._history.redo()
        if edit is not None:
            self._notify(edit)
        return edit.words if edit else None

    # Files -----------------------------------------------------------------------------------------------------------

    def save(self, *, force: bool = False) -> None:
        """Write what was edited, atomically; everything else keeps its bytes. Arguments and errors as of `saving`."""
        with self.saving(force=force) as write:
            write()

    @contextmanager
    def saving(self, *, force: bool = False) -> Generator[Callable[[], None]]:
        """Save what there is on entry by calling what this gives, in any thread; it may be edited meanwhile.

        Args:
            force: also over what somebody else wrote meanwhile.

        Raises:
            ChangedOnDiskError: a file is not what was read; nothing was written.
            OSError: it could not be written.
        """
        snapshot, state = FileCopies(self.files, self._gone), self._history.state
        try:
            with self._history.writing(state):
                yield partial(save_files, snapshot.files, snapshot.gone, force=force)
        except OSError:
            if snapshot.wrote_any:
                self._history.forget_saved()  # some of it: the disk has what no state of ours is
            raise
        else:
            self._history.saved(state)
        finally:
            snapshot.settle()

    @property
    def _gone(self) -> list[MspFile]:
        """Files on the disk of which an edit was taken back that made them."""
        return [file for file in self._made if file.stamp is not None and file not in self.files]

    def save_as(self, path: Path, *, replace: bool = False) -> None:
        """Write it under another name and go on there. Arguments and errors as of `saving_as`."""
        with self.saving_as(path, replace=replace) as write:
            write()

    @contextmanager
    def saving_as(self, path: Path, *, replace: bool = False) -> Generator[Callable[[], None]]:
        """Save what there is on entry under another name, as `saving` does, and go on there.

        Args:
            path: the file, or a folder when it lies in several.
            replace: also over what is there.

        Raises:
            WouldReplaceError: there is something, and nothing was written.
            OSError: it could not be written.
        """
        several, state = self.several, self._history.state
        files = [file for file in self.files if file.holds]
        snapshot = FileCopies(files)
        yield partial(save_files_as, snapshot.files, path, replace=replace)
        snapshot.settle()
        for file in self._made:
            if file not in files:  # when it is made again, or was made meanwhile, it goes there
                file.path = (path if several else path.parent) / file.path.name
                file.stamp, file.digest = None, ""
        self.files[:] = [file for file in self.files if file.holds]
        self._given = [path]
        self._folders, self._new = {}, []
        self._history.saved(state)

    def leave_disk(self) -> None:
        """Its files are about to go: it is nowhere else until it is saved under a name."""
        for file in self.files:
            file.stamp, file.digest = None, ""

    def changed_on_disk(self) -> list[Path]:
        """Files that somebody else wrote or deleted since they were read or saved."""
        changed = changed_files([*self.files, *self._gone])
        return [file.path for file in changed if file.holds or file.stamp is not None]

    def new_on_disk(self) -> list[Path]:
        """Files of sessions that somebody put into its folders since they were read. O(folders) while there are none.

        Raises:
            OSError: a folder cannot be looked into.
        """
        if not self._folders or folder_times(self._folders) != self._folders:
            inside = [path for path in self._given if path.is_dir()]
            self._folders = folder_times(folder for path in inside for folder in folders_in(path))
            known = {file.path.resolve() for file in (*self.files, *self._made)}
            found = [path for path, _, _ in found_files(inside) if path.resolve() not in known]
            self._new = [path for path in found if looks_like_msp(path)]
        return list(self._new)

    def reload(self) -> None:
        """Read everything again; what was edited and not saved is lost, and nothing can be undone.

        Raises:
            OSError: a file cannot be read; the document stays as it is.
            NotMspError: none of them holds an MSP object any more; the document stays as it is.
        """
        made = [file.path for file in self._made if file.stamp is not None and file.path.exists()]
        new = SessionDocument.read([*self._given, *made])
        self._given = new.paths
        self._history = EditHistory()
        self._take(new.files, Linked(new.sessions, new.subsessions, new._problems, new.homes))
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
