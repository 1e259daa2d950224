"""Saves, discards and recovers captures: asks before closing, lists those of crashed runs.

A live capture is written to the program's data folder from its first frame on. Saving therefore only gives it a name
and a place. A demo's capture is deleted with its window without a question.
"""

from __future__ import annotations

import contextlib
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.document.saving import save_capture, save_copy, why_not_saved
from inspector.present import formats
from inspector.present.unsaved_captures import unsaved_words
from inspector.store.columns.flags import Flag
from inspector.store.files.capture_folder import OwnCapture, UnsavedCapture, lock_capture
from inspector.ui.dialogs.message_dialog import CANCEL
from inspector.ui.dialogs.questions import Asking, chosen_file
from inspector.ui.services import usual_folder

if TYPE_CHECKING:
    from inspector.document.live import LiveSession
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.features.gateway_window import GatewayWatch
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack

_SAVE, _DISCARD = "save", "discard"
_COMPRESSED_SUFFIXES = (".gz", ".zst")


class CaptureSaving(QObject):
    """Saves, keeps or discards the capture of one window.

    Attributes:
        own: the unsaved capture in the program's data folder; None for a log or a saved capture.

    Signals:
        copied(Path): a copy was written. The window keeps showing the original.
        moved(Path): the window now shows the saved file.
        saved(Path): saving is complete, also of a copy.
        recovered(OwnCapture, str): open this unsaved capture under this name.
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
        self._location = shown.location
        self._demo = False
        self._received = False
        self._discarded = False
        self._asking = Asking(parent, services.theme)
        self._saving = False

    def hold(self, own: OwnCapture, *, demo: bool = False) -> None:
        """Registers the unsaved capture that the window shows."""
        self._location.unsaved, self._demo, self._received = own, demo, False

    def let_go(self) -> None:
        """Releases a capture that failed to open. It stays unsaved."""
        if self._location.unsaved is not None and self._shown.panes is None:
            self._location.unsaved.release()
            self._location.unsaved = None

    @property
    def unsaved(self) -> bool:
        """True if the capture has received data and is neither saved nor discarded."""
        return self._location.unsaved is not None and not self._demo and not self._discarded and self.received

    @property
    def received(self) -> bool:
        """True if any message besides the greeting came from the gateway. Cached once it is true."""
        if not self._received:
            document = self._shown.document
            flags = np.asarray(document.capture.columns["flags"])
            came = int(np.count_nonzero((flags & int(Flag.SENT)) == 0))
            self._received = came > document.kind_counts().get("system/welcome", 0)
        return self._received

    # Saving

    def save(self) -> None:
        """Saves a capture that has no name yet."""
        if self._location.unsaved is not None:
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
        document, session = self._shown.document, self._gateway.session
        try:
            if self._location.unsaved is None and session is None:
                await save_copy(document, target)
                self.copied.emit(target)
                self._notices.show_sentence(f"Saved a copy as {target}.")
            else:
                writer = session.writer if session is not None and not session.writer.closed else None
                await save_capture(document, target, own=self._location.unsaved, writer=writer)
                self._location.unsaved = None
                self.moved.emit(target)
                await self._show_saved(session)
                self._notices.show_sentence(f"Saved as {target}.")
        except OSError as error:
            self._notices.show_sentence(why_not_saved(error, target), "severity.error", ("Save as...", self.save_as))
            return False
        self.saved.emit(target)
        return True

    async def _show_saved(self, session: LiveSession | None) -> None:
        """Refreshes the window after a save, and reads frames that could not be written before."""
        if session is not None and not self._shown.document.live:
            session.close_writer()
            await session.take_in_all()
        self._requests.counts_changed.emit()
        self._requests.title_changed.emit()
        self._requests.actions_changed.emit()

    async def _chosen_file(self) -> Path | None:
        document = self._shown.document
        source = document.capture.sources[0].path
        name = source.name
        while Path(name).suffix in _COMPRESSED_SUFFIXES:  # the saved file is uncompressed
            name = Path(name).stem
        if (
            document.msp is not None or len(document.sources.files) > 1
        ):  # saving writes a capture regardless of the source format
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
        document = self._shown.document
        name = document.name
        others = [other for other in self._services.documents() if other is not document]
        place = self._gateway_address() if any(other.name == name for other in others) else ""
        return f"{name} at {place}" if place else name

    def _gateway_address(self) -> str:
        """Returns host and port of the recorded gateway, or ""."""
        session, sources = self._gateway.session, self._shown.document.capture.sources
        header = sources[0].origin if sources else {}
        origin = header.get("origin")
        url = session.connection.shown_url if session else origin.get("url") if isinstance(origin, dict) else None
        with contextlib.suppress(ValueError):  # the address in a capture may be invalid
            return urlsplit(url).netloc.rpartition("@")[2] if isinstance(url, str) else ""
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
        return self._discarded

    def stay_after_all(self) -> None:
        """Resets the answer because another window was kept open."""
        self._discarded = False

    def _unsaved_words(self) -> str:
        panes = self._shown.panes
        count = len(self._shown.document.capture) if panes is None else panes.counts()[1]
        much = formats.count_of(count, "message")
        if self._shown.document.live:
            return f"{much}, and all that follow, are"
        return f"{much} {'is' if count == 1 else 'are'}"

    def clear_away(self) -> None:
        """Deletes a discarded or empty capture after its files are closed, and releases others for the next start."""
        session = self._gateway.session
        if session is not None:
            session.close_writer()
        if self._location.unsaved is None:
            return
        # an empty capture is not worth a question at the next start
        if self._demo or self._discarded or self._is_surely_empty(session):
            with contextlib.suppress(OSError):  # the next start offers it again
                self._location.unsaved.discard()
        else:
            self._location.unsaved.release()
        self._location.unsaved = None

    def _is_surely_empty(self, session: LiveSession | None) -> bool:
        """Returns True if this run wrote the capture, read all of it and found no message."""
        return session is not None and session.own is self._location.unsaved and session.complete and not self.received

    # Recovering

    def recover(self, unsaved: UnsavedCapture) -> None:
        """Opens the capture of a crashed process as unsaved."""
        own = lock_capture(unsaved.path)
        if own is None:
            self._report_missing(unsaved)
        else:
            self.recovered.emit(own, unsaved.space or unsaved.path.stem)
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
