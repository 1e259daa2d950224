"""Saving the sessions of a window: in place or elsewhere, never over what somebody else has written meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from inspector.msp.document import Edit, SessionDocument
from inspector.msp.saving import ChangedOnDiskError
from inspector.ui.dialogs.message import CANCEL, MessageDialog
from inspector.ui.widgets.notice import Link
from inspector.ui.wire_text import plain

if TYPE_CHECKING:
    from inspector.ui.main_window import MainWindow
    from inspector.ui.msp_editing import MspEditing

LOOK_MS = 2_000
"""So often it is looked whether the files are still what was read."""
READ_ONLY = "A compressed file is only read. Save it under another name to work on its sub-sessions."
_SAVE, _DISCARD, _RELOAD, _OVERWRITE = "save", "discard", "reload", "overwrite"
_CHANGED = "session-changed"
_FAILED = "session-not-saved"


class MspKeeping(QObject):
    """Saves the sessions of one window, and notices when the files become others."""

    def __init__(self, window: MainWindow, editing: MspEditing) -> None:
        super().__init__(editing)
        self._window = window
        self._editing = editing
        self._document: SessionDocument | None = None
        self._asking: MessageDialog | None = None
        self._looking = QTimer(self)
        self._looking.setInterval(LOOK_MS)
        self._looking.timeout.connect(self.look)

    def attach(self, document: SessionDocument) -> None:
        """These are the sessions."""
        self._document = document
        if self not in document.observers:
            document.observers.append(self)
        self._looking.start()

    def stop(self) -> None:
        """The window closes."""
        self._looking.stop()
        if self._document is not None and self in self._document.observers:
            self._document.observers.remove(self)

    def session_edited(self, edit: Edit) -> None:
        """Something was edited, undone or done again: the window says whether it is saved."""
        self._editing.changed()

    @property
    def dirty(self) -> bool:
        """Whether there are edits that are not saved."""
        return self._document is not None and self._document.dirty

    @property
    def read_only(self) -> str:
        """Why nothing can be edited; "" where it can."""
        document = self._document or self._window.document.msp
        return READ_ONLY if document is not None and document.read_only else ""

    # Saving

    def save(self) -> bool:
        """Write the edits into the files; whether that was done. What went wrong is said."""
        return self._write(force=False)

    def _write(self, *, force: bool) -> bool:
        document = self._document
        if document is None:
            return False
        try:
            document.save(force=force)
        except ChangedOnDiskError:
            self._say_changed(document.changed_on_disk())
            return False
        except (OSError, ValueError) as error:
            self._say_failed(error)
            return False
        self._saved("Saved")
        return True

    def save_as(self) -> None:
        """Ask for a name and save there."""
        if self._document is not None:
            self._window.application.spawn(self._ask_and_save(), "save the sessions")

    async def _ask_and_save(self) -> bool:
        document = self._document
        target = await self._chosen_file()
        if document is None or target is None:
            return False
        try:
            document.save_as(target)  # the file dialog has asked whether it may be replaced
        except (OSError, ValueError) as error:
            self._say_failed(error)
            return False
        window = self._window
        window.document.name = target.name
        window.opening.remember(target)
        window.show_title()
        self._saved(f"Saved as {plain(target.name, 60)}")
        return True

    def _saved(self, words: str) -> None:
        self._window.notices.dismiss(_FAILED)
        self._window.notices.dismiss(_CHANGED)
        self._window.status.tell(words)
        self._editing.set_read_only(self.read_only)
        self._editing.changed()

    def _say_failed(self, error: OSError | ValueError) -> None:
        reason = str((error.strerror if isinstance(error, OSError) else None) or error).rstrip(".")
        sentence = f"The sessions could not be saved: {reason}."
        self._window.notices.show_notice(
            _FAILED, "error", plain(sentence), [("Save as...", self.save_as)], token="severity.error", closable=True
        )

    async def _chosen_file(self) -> Path | None:
        paths = self._document.paths if self._document is not None else []
        first = paths[0] if paths else Path("session.json")
        several = self._document is not None and sum(file.holds for file in self._document.files) > 1
        kind = "Folders" if several else "Sessions (*.json *.jsonl);;All files (*)"
        dialog = QFileDialog(self._window, "Save sessions as", "", kind)
        dialog.setObjectName("saveDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        name = first.name.removesuffix(".gz").removesuffix(".zst")
        if several:  # as many files as it has now
            dialog.setFileMode(QFileDialog.FileMode.Directory)
        else:
            dialog.setDefaultSuffix(Path(name).suffix.removeprefix(".") or "json")
        dialog.setDirectory(str(first.parent))
        if not several:
            dialog.selectFile(name)
        answer: asyncio.Future[Path | None] = asyncio.get_running_loop().create_future()
        dialog.fileSelected.connect(lambda path: answer.done() or answer.set_result(Path(path)))
        dialog.rejected.connect(lambda: answer.done() or answer.set_result(None))
        dialog.open()
        try:
            return await answer
        finally:
            dialog.deleteLater()

    # Changed on disk

    def look(self) -> None:
        """Look whether the files are still what was read, and say so if not."""
        document = self._document
        if document is None:
            return
        changed = document.changed_on_disk()
        if changed:
            self._say_changed(changed)
        else:
            self._window.notices.dismiss(_CHANGED)

    def _say_changed(self, changed: list[Path]) -> None:
        name = plain(changed[0].name, 60) if changed else "The file"
        more = f" and {len(changed) - 1:,} more" if len(changed) > 1 else ""
        kept = " Your edits are kept, but not saved." if self.dirty else ""
        links: list[Link] = [("Reload", self.reload)]
        if self.dirty:
            links.append(("Overwrite...", self.overwrite))
        links.append(("Save as...", self.save_as))
        self._window.notices.show_notice(
            _CHANGED, "warning", f"{name}{more} {'were' if more else 'was'} changed on disk by somebody else.{kept}",
            links, token="severity.warning",
        )  # fmt: skip

    def reload(self) -> None:
        """Read the files again; asks before edits are thrown away."""
        self._window.application.spawn(self._reload(), "reload the sessions")

    async def _reload(self) -> None:
        document = self._document
        if document is None:
            return
        if self.dirty:
            answer = await self._ask(
                "Reload and lose the edits?",
                "The edits made here since it was saved last are gone for good then, and cannot be undone.",
                ((_RELOAD, "Reload"), (CANCEL, "Cancel")),
            )
            if answer != _RELOAD:
                return
        try:
            document.reload()
        except (OSError, ValueError) as error:
            reason = str((error.strerror if isinstance(error, OSError) else None) or error).rstrip(".")
            self._window.say(plain(f"The file cannot be read again: {reason}."), "severity.error")
            return
        self._window.history.stack.clear()  # its steps are about what is not there any more
        self._window.notices.dismiss(_CHANGED)
        self._editing.changed()

    def overwrite(self) -> None:
        """Write over what somebody else has written, after a question."""
        self._window.application.spawn(self._overwrite(), "overwrite the sessions")

    async def _overwrite(self) -> None:
        answer = await self._ask(
            "Overwrite what was changed on disk?",
            "What somebody else has written since is gone for good then.",
            ((_OVERWRITE, "Overwrite"), (CANCEL, "Cancel")),
        )
        if answer == _OVERWRITE:
            self._write(force=True)

    # Closing

    async def may_close(self) -> bool:
        """Ask what shall become of edits that are not saved; False when the window shall stay."""
        if not self.dirty:
            return True
        if self._asking is not None:
            self._asking.raise_()
            return False
        answer = await self._ask(
            f"Save the changes to {plain(self._window.document.name, 60)}?",
            "What was edited since it was saved last is gone for good when it is discarded.",
            ((_DISCARD, "Discard"), (CANCEL, "Cancel"), (_SAVE, "Save")),
        )
        return self.save() if answer == _SAVE else answer == _DISCARD

    async def _ask(self, title: str, text: str, answers: tuple[tuple[str, str], ...]) -> str:
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._window.activateWindow()
        self._asking = MessageDialog.ask(self._window, self._window.theme, title, text, answers)

        def answered(said: str) -> None:
            self._asking = None  # it deletes itself
            if not answer.done():
                answer.set_result(said)

        self._asking.answered.connect(answered)
        return await answer
