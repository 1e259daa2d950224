"""Files of sessions: saving, reloading, and changes of others on the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import ClassVar, TypeVar

import msgspec

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import PAUSE, Query, Request, Steps
from inspector.engine.requests.msp_edits import SessionsState, state_of_sessions
from inspector.engine.sessions import sessions_of
from inspector.msp.document import ChangedOnDiskError, SessionDocument, WouldReplaceError

WorkT = TypeVar("WorkT")

_STEP_S = 0.005
"""Seconds of waiting for a thread between two yields."""


class SavedSessions(msgspec.Struct, frozen=True):
    """Outcome of saving or reloading.

    Attributes:
        state: of the sessions afterwards.
        changed: files that others have changed; no file was written.
        are_kept: all of these still exist.
        existing: files that would be replaced; no file was written.
        failure: the reason for a failure, or "".
    """

    state: SessionsState
    changed: list[Path] = []
    are_kept: bool = True
    existing: list[Path] = []
    failure: str = ""

    @property
    def is_done(self) -> bool:
        return not (self.changed or self.existing or self.failure)


class SaveSessions(Request[SavedSessions], frozen=True):
    """Writes edited files; later edits stay unsaved. `force` overwrites changes of others."""

    force: bool = False


class SaveSessionsAs(Request[SavedSessions], frozen=True):
    """Writes all files under another name, a folder for several, and continues there."""

    target: Path
    replace: bool = False


class ReloadSessions(Request[SavedSessions], frozen=True):
    """Reads all files again; unsaved edits and the undo history are lost."""


class FilesOnDisk(msgspec.Struct, frozen=True):
    """Changes of others on the disk.

    Attributes:
        changed: files that differ from the version read.
        are_kept: all of these still exist.
        new: session files that others added to the folders.
    """

    changed: list[Path] = []
    are_kept: bool = True
    new: list[Path] = []


class CheckSessionFiles(Request[FilesOnDisk], frozen=True):
    """Looks for changes of others on the disk."""

    is_urgent: ClassVar[bool] = True


def create_sessions(path: Path, label: str, intent: str) -> None:
    """Writes a file with a new session. Raises OSError if it cannot be written."""
    SessionDocument.create(path, label=label, agreed={"intent": intent}).save_as(path, replace=True)


def _in_thread(work: Callable[[], WorkT]) -> Steps[WorkT]:
    """Runs work in a thread; yields while it runs. Raises its exception."""
    results: list[WorkT] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again by the caller
            errors.append(error)

    # No daemon: the program ends after a write.
    thread = Thread(target=run, name="files of sessions")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_STEP_S)
            yield PAUSE
    finally:
        thread.join()  # a cancelled write is completed, so that its outcome is known
    for error in errors:
        raise error
    return results[0]


def _outcome(held: OpenDocument, work: Steps[None]) -> Steps[SavedSessions]:
    try:
        yield from work
    except ChangedOnDiskError as error:
        return SavedSessions(state_of_sessions(held), error.paths, all(path.exists() for path in error.paths))
    except WouldReplaceError as error:
        return SavedSessions(state_of_sessions(held), existing=error.paths)
    except (OSError, ValueError) as error:
        words = str((error.strerror if isinstance(error, OSError) else None) or error).rstrip(".")
        return SavedSessions(state_of_sessions(held), failure=words or type(error).__name__)
    return SavedSessions(state_of_sessions(held))


def _save(held: OpenDocument, asked: SaveSessions) -> Steps[SavedSessions]:
    def steps() -> Steps[None]:
        with sessions_of(held).saving(force=asked.force) as write:
            yield from _in_thread(write)

    return _outcome(held, steps())


def _save_as(held: OpenDocument, asked: SaveSessionsAs) -> Steps[SavedSessions]:
    def steps() -> Steps[None]:
        with sessions_of(held).saving_as(asked.target, replace=asked.replace) as write:
            yield from _in_thread(write)
        held.document.name, held.document.path = asked.target.name, asked.target
        held.note_edited()

    return _outcome(held, steps())


def _reload(held: OpenDocument, _asked: ReloadSessions) -> Steps[SavedSessions]:
    document = sessions_of(held)

    def steps() -> Steps[None]:
        paths = document.reread_paths
        document.replace_content((yield from _in_thread(lambda: SessionDocument.read(paths))))
        held.note_edited()

    return _outcome(held, steps())


def _check(held: OpenDocument, _asked: CheckSessionFiles) -> FilesOnDisk:
    document = sessions_of(held)
    changed = document.changed_on_disk()
    if changed:
        return FilesOnDisk(changed, all(path.exists() for path in changed))
    try:
        return FilesOnDisk(new=document.new_on_disk())
    except OSError:
        return FilesOnDisk()  # the folder is gone; the notice for its files says so


QUERIES = (
    Query(SaveSessions, SavedSessions, _save),
    Query(SaveSessionsAs, SavedSessions, _save_as),
    Query(ReloadSessions, SavedSessions, _reload),
    Query(CheckSessionFiles, FilesOnDisk, _check),
)
