"""Saves, discards and recovers captures: asks before closing, lists captures of crashed runs.

A live capture is written to the program's data folder from its first frame on. Saving therefore only gives it a name
and a place. A demo's capture is deleted with its window without a question.
"""

from __future__ import annotations

import contextlib
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.engine.request import RequestError
from inspector.engine.start_files import UnsavedCapture, lock_capture
from inspector.present import formats
from inspector.present.unsaved_captures import unsaved_words
from inspector.ui.dialogs.message_dialog import CANCEL
from inspector.ui.dialogs.questions import Asking, chosen_file
from inspector.ui.services import usual_folder

if TYPE_CHECKING:
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.features.gateway_window import GatewayWatch
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack

_SAVE, _DISCARD = "save", "discard"
_COMPRESSED_SUFFIXES = (".gz", ".zst")


class CaptureSaving(QObject):
    """Saves, keeps or discards the capture of one window.

    Signals:
        copied(Path): a copy was written. The window keeps showing the original.
        moved(Path): the window now shows the saved file.
        saved(Path): saving is complete, also of a copy.
        recovered(Path, str): open this unsaved capture under this name.
    """

    copied = Signal(object)
    moved = Signal(object)
    saved = Signal(object)
    recovered = Signal(object, str)

    def __init__(
        self, parent: QWidget, shown: Shown, services: Services, *, requests: WindowRequests, notices: NoticeStack,
        gateway: GatewayWatch,
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            parent: the window, parent of dialogs.
            shown: the document and its panes.
            services: recent files, background tasks and the documents of other windows.
            requests: requests to the window.
            notices: shows results.
            gateway: has the live session, if any.
        """
        super().__init__(parent)
        self._parent, self._shown, self._services = parent, shown, services
        self._requests, self._notices, self._gateway = requests, notices, gateway
        self._discarded = False
        self._discarded_file: Path | None = None
        self._asking = Asking(parent, services.theme)
        self._saving = False

    @property
    def unsaved(self) -> bool:
        """True if the capture has received data and is neither saved nor discarded."""
        state = self._shown.state
        return state.unsaved is not None and not self._gateway.is_demo and not self._discarded and state.received_any

    # Saving

    def save(self) -> None:
        """Saves a capture that has no name yet."""
        if self._shown.state.unsaved is not None:
            self.save_as()

    def save_as(self) -> None:
        """Asks for a name and saves."""
        if self._shown.panes is not None:
            self._services.spawn(self._ask_and_save(), "save the capture")

    async def _ask_and_save(self) -> bool:
        """Asks for a file and saves. Returns True if the capture was saved, and shows errors in the window."""
        target = await self._chosen_file()
        if target is None or self._saving:
            return False
        self._saving = True
        try:
            return await self._save(target)
        finally:
            self._saving = False

    async def _save(self, target: Path) -> bool:
        client = self._shown.client
        if client is None:
            return False
        try:
            saved = await client.save(target)
        except RequestError as error:
            self._notices.show_sentence(str(error), "severity.error", ("Save as...", self.save_as))
            return False
        if saved.is_moved:
            self.moved.emit(target)
            self._requests.counts_changed.emit()
            self._requests.title_changed.emit()
            self._requests.actions_changed.emit()
        else:
            self.copied.emit(target)
        self._notices.show_sentence(f"{'Saved' if saved.is_moved else 'Saved a copy'} as {target}.")
        self.saved.emit(target)
        return True

    async def _chosen_file(self) -> Path | None:
        state = self._shown.state
        name = state.sources[0].path.name
        while Path(name).suffix in _COMPRESSED_SUFFIXES:  # the saved file is uncompressed
            name = Path(name).stem
        if state.is_sessions or state.read_sources > 1:  # saving writes a capture regardless of the source format
            name = f"{Path(name).stem}.ctxcap"
        kind = Path(name).suffix or ".jsonl"
        dialog = QFileDialog(self._parent, "Save capture as", "", f"Captures and logs (*{kind});;All files (*)")
        dialog.setObjectName("saveDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(kind.removeprefix("."))
        dialog.setDirectory(str(usual_folder(self._services)))
        dialog.selectFile(name)
        return await chosen_file(dialog)

    @property
    def name(self) -> str:
        """The document's name, with its gateway if another window has a document of the same name."""
        name = self._shown.state.name
        place = self._gateway_address() if name in self._services.document_names(self._shown.client) else ""
        return f"{name} at {place}" if place else name

    def _gateway_address(self) -> str:
        """Returns host and port of the recorded gateway, or ""."""
        joined = self._gateway.connection
        url = joined.shown_url if joined is not None else self._shown.state.origin_url
        with contextlib.suppress(ValueError):  # the address in a capture may be invalid
            return urlsplit(url).netloc.rpartition("@")[2]
        return ""

    # Closing

    async def may_close(self) -> bool:
        """Asks about an unsaved capture. Returns False if the window must stay open."""
        if not self.unsaved:
            return True
        # a second close request must not stack a second question
        if self._asking.raise_unanswered():
            return False
        answer = await self._asking.ask_question(
            f"Save the capture of {self.name}?",
            f"{self._unsaved_words()} not saved yet. A discarded capture cannot be restored.",
            ((_DISCARD, "Discard"), (CANCEL, "Cancel"), (_SAVE, "Save...")),
        )
        if answer == _SAVE:
            return await self._ask_and_save()
        self._discarded = answer == _DISCARD
        self._discarded_file = self._shown.state.unsaved
        return self._discarded

    def stay_after_all(self) -> None:
        """Resets the answer because another window was kept open."""
        self._discarded = False

    def delete_discarded(self) -> None:
        """Deletes a discarded capture whose engine has ended. An engine that is running deletes it itself."""
        own = lock_capture(self._discarded_file) if self._discarded and self._discarded_file is not None else None
        if own is not None:
            with contextlib.suppress(OSError):  # the next start offers it again
                own.discard()

    def _unsaved_words(self) -> str:
        panes = self._shown.panes
        count = self._shown.state.messages if panes is None else panes.counts()[1]
        much = formats.count_of(count, "message")
        if self._shown.state.is_live:
            return f"{much}, and all that follow, are"
        return f"{much} {'is' if count == 1 else 'are'}"

    @property
    def discards(self) -> bool:
        """True if the capture is deleted when the window closes: discarded, of a demo, or empty."""
        state = self._shown.state
        # An empty capture is not worth a question at the next start.
        is_empty = state.connection is not None and state.connection.complete and not state.received_any
        return self._gateway.is_demo or self._discarded or is_empty

    # Recovering

    def recover(self, unsaved: UnsavedCapture) -> None:
        """Opens the capture of a crashed process as unsaved."""
        own = lock_capture(unsaved.path)
        if own is None:
            self._report_missing(unsaved)
        else:
            own.release()
            self.recovered.emit(unsaved.path, unsaved.space or unsaved.path.stem)
        self._services.look_for_unsaved()

    def discard_unsaved(self, unsaved: UnsavedCapture) -> None:
        """Deletes the capture of a crashed process after a question."""
        self._services.spawn(self._discard(unsaved), "discard a capture")

    async def _discard(self, unsaved: UnsavedCapture) -> None:
        answer = await self._asking.ask_question(
            "Discard the capture?",
            f"{unsaved_words(unsaved, datetime.now().astimezone())}. This cannot be undone.",
            ((_DISCARD, "Discard"), (CANCEL, "Cancel")),
        )
        if answer == _DISCARD:
            self._delete(unsaved)
            self._services.look_for_unsaved()

    def _delete(self, unsaved: UnsavedCapture) -> None:
        own = lock_capture(unsaved.path)
        if own is None:
            self._report_missing(unsaved)
            return
        try:
            own.discard()
        except OSError as error:
            self._notices.show_sentence(
                f"{unsaved.path} cannot be deleted: {error.strerror or error}.", "severity.error"
            )

    def _report_missing(self, unsaved: UnsavedCapture) -> None:
        there = unsaved.path.exists()
        what = "is open in another window" if there else "no longer exists"
        self._notices.show_sentence(f"The capture {unsaved.path.name} {what}.", "severity.warning")
