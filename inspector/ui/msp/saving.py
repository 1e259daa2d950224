"""Saves sessions of a window, reloads changed files, and asks before overwriting or closing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.engine.requests.msp_edits import ReadSessionsState, SessionsState
from inspector.engine.requests.msp_files import (
    CheckSessionFiles,
    FilesOnDisk,
    ReloadSessions,
    SavedSessions,
    SaveSessions,
    SaveSessionsAs,
)
from inspector.present.wire_text import safe_line
from inspector.ui import intervals
from inspector.ui.dialogs.message_dialog import CANCEL
from inspector.ui.dialogs.questions import Asking, chosen_file
from inspector.ui.widgets.notice import Link, NoticeStack

if TYPE_CHECKING:
    from inspector.engine.request import Request
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.services import TaskOwner
    from inspector.ui.widgets.latest_answer import Client
    from inspector.ui.widgets.status_bar import StatusBar

LOOK_MS = 2_000
"""Interval of checks for files changed on disk, milliseconds."""
READ_ONLY = "A compressed file is read-only. Save it under another name to edit its sub-sessions."
_SAVE, _DISCARD, _RELOAD, _OVERWRITE = "save", "discard", "reload", "overwrite"
_MAX_NAMED = 5
_WRITE_S = 30.0
"""Seconds for files to be written or read. A hung engine would hold up the end of the program for ever."""
_CHANGED = "session-changed"
_FAILED = "session-not-saved"
_NEW = "session-new-file"


class MspSaving(QObject):
    """Saves the sessions of one window, and detects files changed on disk.

    Signals:
        changed(): something was edited, undone, saved or read again.
        moved(Path): the sessions were saved under another name.
        reread(): the files were read again, so the undo history is invalid.
        read_only_changed(str): reason for read-only sessions, or "".

    Attributes:
        drafts: returns messages typed but not added.
        state: of the sessions; None for other documents.
    """

    changed = Signal()
    moved = Signal(object)
    reread = Signal()
    read_only_changed = Signal(str)

    def __init__(
        self, window: QWidget, shown: Shown, tasks: TaskOwner, requests: WindowRequests, notices: NoticeStack,
        status: StatusBar, asking: Asking, *,
        usual_folder: Callable[[], Path],
    ) -> None:  # fmt: skip
        """Creates the feature.

        Args:
            window: parent of modal dialogs.
            shown: the displayed document.
            tasks: runs long operations.
            requests: requests to the window.
            notices: shows errors.
            status: shows results.
            asking: asks before data is lost.
            usual_folder: initial folder of the file dialog for a document without a file.
        """
        super().__init__(window)
        self._window = window
        self._shown = shown
        self._tasks = tasks
        self._requests = requests
        self._notices = notices
        self._status = status
        self._usual_folder = usual_folder
        self.drafts: Callable[[], list[str]] = list
        self.state: SessionsState | None = None
        self._asking = asking
        self._refused = False
        self._given_up: tuple[object, ...] | None = None
        self._checking = QTimer(self)
        self._checking.setInterval(LOOK_MS)
        self._checking.timeout.connect(self.check_files)
        # Writes and reloads never overlap.
        self._at_files = asyncio.Lock()
        self._saying = QTimer(self)
        self._saying.setInterval(round(1000 * intervals.QUIET_S))
        self._saying.timeout.connect(self._say_saving)

    def attach(self, client: Client) -> None:
        """Attaches to a document, which may have no sessions."""
        self.state = client.answer_now(ReadSessionsState()) if client.state.is_sessions else None
        if self.state is not None:
            self._checking.start()

    def stop(self) -> None:
        """Detaches before the window closes."""
        self._checking.stop()
        self._saying.stop()

    def note_state(self, state: SessionsState | None) -> None:
        """Takes over the state after an edit, because the window's title shows unsaved changes."""
        self.state = state
        self.changed.emit()

    @property
    def dirty(self) -> bool:
        """True if there are unsaved edits."""
        return self.state is not None and self.state.is_dirty

    def lose_edits(self) -> bool:
        """Forgets unsaved edits, which have ended with their engine. Returns True if there were any."""
        lost = self.dirty
        self._checking.stop()
        if self.state is not None:
            self.note_state(msgspec.structs.replace(self.state, is_dirty=False))
        return lost

    @property
    def read_only(self) -> str:
        """The reason for read-only sessions, or ""."""
        return READ_ONLY if self.state is not None and self.state.is_read_only else ""

    # Saving

    @property
    def busy(self) -> bool:
        """True while files are being written or read."""
        return self._at_files.locked()

    async def wait_for_write(self) -> None:
        """Waits for a running write."""
        async with self._at_files:
            pass

    def save(self) -> None:
        """Writes the edits into the files. Edits made meanwhile stay unsaved."""
        self._tasks.spawn(self._save(), "save the sessions")

    async def _save(self) -> bool:
        """Saves, asking for a name if there is no file. Returns False if it was not saved."""
        return await (self._ask_and_save() if self._is_nowhere else self._write())

    @property
    def _is_nowhere(self) -> bool:
        """True without a file, or with a temporary file of this window."""
        return self._shown.location.kept_file(self._shown.state) is None

    async def _write(self, *, force: bool = False) -> bool:
        """Writes the edits. Shows errors and returns False."""
        outcome = await self._at_disk(SaveSessions(force))
        if outcome is None or not self._is_done(outcome):
            return False
        self._saved("Saved")
        return True

    async def _at_disk(self, request: Request[SavedSessions]) -> SavedSessions | None:
        """Has files written or read, one request at a time, with a status message if writing takes long."""
        async with self._at_files:
            panes = self._shown.panes
            if self.state is None or panes is None:
                return None
            answer = asyncio.get_running_loop().create_future()
            if not isinstance(request, ReloadSessions):
                self._saying.start()
            pending = panes.client.send_request(
                request, answer.set_result, lambda sentence: answer.set_exception(OSError(sentence))
            )
            try:
                async with asyncio.timeout(_WRITE_S):
                    outcome: SavedSessions = await answer
            except TimeoutError:
                pending.cancel()
                self._say_failed("the engine does not answer")
                return None
            except OSError as error:
                self._say_failed(str(error))
                return None
            finally:
                self._saying.stop()
            self.state = outcome.state
            return outcome

    def _is_done(self, outcome: SavedSessions) -> bool:
        """Returns True if files were saved; shows the reason otherwise."""
        if outcome.changed:
            self._refused = True  # the notice may be visible already; its text changes now
            self._say_changed(outcome.changed, are_kept=outcome.are_kept)
            self._status.show_message("Not saved")
        elif outcome.failure:
            self._say_failed(outcome.failure)
        return outcome.is_done

    def _say_saving(self) -> None:
        self._status.show_message("Saving")

    def save_as(self) -> None:
        """Asks for a name and saves there."""
        if self.state is not None:
            self._tasks.spawn(self._ask_and_save(), "save the sessions")

    async def _ask_and_save(self) -> bool:
        target = await self._chosen_file()
        outcome = await self._save_at(target) if target is not None else None
        if target is None or outcome is None or not self._is_done(outcome):
            return False
        self.moved.emit(target)
        self._requests.title_changed.emit()
        self._status.show_log(target.name, "MSP sessions", size_bytes=outcome.state.size_bytes, path=str(target))
        self._requests.counts_changed.emit()
        self._saved(f"Saved as {safe_line(target.name, 60)}")
        return True

    async def _save_at(self, target: Path) -> SavedSessions | None:
        """Saves there. Returns None if the user keeps the existing files."""
        # The file dialog confirms the replacement of one file, but not of files in a folder.
        several = self.state is not None and self.state.has_several_files
        outcome = await self._at_disk(SaveSessionsAs(target, replace=not several))
        if outcome is None or not outcome.existing:
            return outcome
        paths = outcome.existing
        names = ", ".join(safe_line(path.name, 60) for path in paths[:_MAX_NAMED])
        more = f" and {len(paths) - _MAX_NAMED:,} more" if len(paths) > _MAX_NAMED else ""
        answer = await self._asking.ask_question(
            f"Replace files in {safe_line(target.name, 60)}?",
            f"The folder already has {names}{more}. Replaced files cannot be restored.",
            ((_OVERWRITE, "Replace"), (CANCEL, "Cancel")),
        )
        return await self._at_disk(SaveSessionsAs(target, replace=True)) if answer == _OVERWRITE else None

    def _saved(self, words: str) -> None:
        if self.state is not None:
            self._status.set_log_size(self.state.size_bytes)
        self._notices.dismiss(_FAILED)
        self._clear_change_notice()
        self._status.show_message(words)
        self.read_only_changed.emit(self.read_only)
        self.changed.emit()

    def _say_failed(self, reason: str) -> None:
        self._status.show_message("Not saved")  # replaces the status "Saving"
        sentence = f"The sessions could not be saved: {reason}."
        self._notices.show_notice(
            _FAILED, "error", safe_line(sentence), [("Save as...", self.save_as)], token="severity.error", closable=True
        )

    async def _chosen_file(self) -> Path | None:
        state = self.state
        first = state.first_file if state is not None and state.first_file is not None else Path("session.json")
        several, in_lines = state is not None and state.has_several_files, state is not None and state.has_lines
        suffix = "jsonl" if in_lines else "json"  # the format it is written in
        kind = "Folders" if several else f"Sessions (*.{suffix});;All files (*)"
        dialog = QFileDialog(self._window, "Save sessions as", "", kind)
        dialog.setObjectName("saveDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        name = first.name.removesuffix(".gz").removesuffix(".zst")
        if several:  # several files go into a folder
            dialog.setFileMode(QFileDialog.FileMode.Directory)
        else:
            dialog.setDefaultSuffix(Path(name).suffix.removeprefix(".") or suffix)
        dialog.setDirectory(str(self._usual_folder() if self._is_nowhere else first.parent))
        if not several:
            dialog.selectFile(name)
        return await chosen_file(dialog)

    # Changed on disk

    def check_files(self) -> None:
        """Checks for files changed on disk, and shows or hides the notice."""
        panes = self._shown.panes
        if self.state is not None and panes is not None and not self.busy:
            panes.client.send_request(CheckSessionFiles(), self._show_files)

    def _show_files(self, found: FilesOnDisk) -> None:
        if self.busy:
            return
        if found.changed:
            self._say_changed(found.changed, are_kept=found.are_kept)
            return
        self._clear_change_notice()
        # New session files in the folder do not prevent saving.
        new = found.new
        if not new:
            self._notices.dismiss(_NEW)
            return
        more = f" and {len(new) - 1:,} more are" if len(new) > 1 else " is"
        self._notices.show_notice(
            _NEW, "note", f"{safe_line(new[0].name, 60)}{more} new in the folder.", [("Reload", self.reload)],
            token="severity.note",
        )  # fmt: skip

    def _clear_change_notice(self) -> None:
        """Clears the state of a change on disk."""
        self._refused = False
        self._notices.dismiss(_CHANGED)

    def _say_changed(self, changed: list[Path], *, are_kept: bool) -> None:
        name = safe_line(changed[0].name, 60) if changed else "The file"
        more = f" and {len(changed) - 1:,} more" if len(changed) > 1 else ""
        advice = " Your edits are not saved yet." if self.dirty else ""
        if self.dirty and self._refused:
            advice = " Your edits are not saved. Overwrite it, or save them under another name."
        links: list[Link] = [("Reload", self.reload)]
        # for deleted files the only copy is in this window
        if self.dirty or not are_kept:
            links.append(("Overwrite...", self.overwrite))
        links.append(("Save as...", self.save_as))
        self._notices.show_notice(
            _CHANGED, "warning", f"{name}{more} {'were' if more else 'was'} changed by another program.{advice}",
            links, token="severity.warning",
        )  # fmt: skip

    def reload(self) -> None:
        """Reads the files again. Asks before edits are lost."""
        self._tasks.spawn(self._reload(), "reload the sessions")

    async def _reload(self) -> None:
        await self.wait_for_write()
        if self.dirty:
            answer = await self._asking.ask_question(
                "Reload and lose your edits?",
                "Edits since the last save will be lost and cannot be undone.",
                ((_RELOAD, "Reload"), (CANCEL, "Cancel")),
            )
            if answer != _RELOAD:
                return
        outcome = await self._at_disk(ReloadSessions())
        if outcome is None:
            return
        if outcome.failure:
            sentence = safe_line(f"The file could not be reloaded: {outcome.failure}.")
            self._notices.show_notice(
                _FAILED, "error", sentence, [("Save as...", self.save_as)], token="severity.error", closable=True
            )
            return
        self.reread.emit()
        for notice in (_FAILED, _NEW):
            self._notices.dismiss(notice)
        self._clear_change_notice()
        self._status.set_log_size(outcome.state.size_bytes)
        self.changed.emit()

    def overwrite(self) -> None:
        """Overwrites changes by other programs after a question."""
        self._tasks.spawn(self._overwrite(), "overwrite the sessions")

    async def _overwrite(self) -> None:
        answer = await self._asking.ask_question(
            "Overwrite the changes on disk?",
            "Changes by other programs will be lost.",
            ((_OVERWRITE, "Overwrite"), (CANCEL, "Cancel")),
        )
        if answer == _OVERWRITE:
            await self._write(force=True)

    # Closing

    @property
    def unsaved(self) -> bool:
        """True if closing would lose changes the user has not agreed to lose."""
        return (self.dirty or bool(self.drafts())) and self._given_up != self._state()

    def _state(self) -> tuple[object, ...]:
        """Identifies the present unsaved changes."""
        # Compared after a question: new edits make the answer invalid.
        return (self.state.revision if self.state is not None else 0, self.dirty, *self.drafts())

    async def may_close(self) -> bool:
        """Asks about unsaved edits. Returns False if the window must stay open."""
        may = await self._ask_about_unsaved()
        self._given_up = self._state() if may else None
        return may

    def stay_after_all(self) -> None:
        """Forgets the answer after another window cancelled the quit."""
        self._given_up = None

    async def _ask_about_unsaved(self) -> bool:
        await self.wait_for_write()
        drafts = bool(self.drafts())
        if not self.unsaved:
            return True
        if self._asking.raise_unanswered():
            return False
        if not self.dirty:
            answer = await self._asking.ask_question(
                "Discard the message you were writing?",
                "It has not been added to its sub-session and will be lost.",
                ((_DISCARD, "Discard"), (CANCEL, "Cancel")),
            )
            return answer == _DISCARD
        unsaid = " A message you have not added will be lost in any case." if drafts else ""
        answer = await self._asking.ask_question(
            f"Save the changes to {safe_line(self._shown.state.name, 60)}?",
            f"Edits since the last save will be lost if you discard them.{unsaid}",
            ((_DISCARD, "Discard"), (CANCEL, "Cancel"), (_SAVE, "Save")),
        )
        if answer == _SAVE:
            # Asks again about edits made during the write.
            return await self._save() and (not self.dirty or await self._ask_about_unsaved())
        return answer == _DISCARD
