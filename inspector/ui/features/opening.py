"""Opens documents in a window: logs, folders, archives, pipes, pasted text; follows growing logs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import Callable, Coroutine, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QWidget

from inspector.base import gc_control
from inspector.base.targets import is_session, target_path
from inspector.document.document import CaptureDocument
from inspector.document.source_list import SUFFIX, own_source_list, resolve_choices
from inspector.document.source_set import SourceChoice
from inspector.document.sources import Progress
from inspector.formats import registry
from inspector.formats.declared.folder import register_folder
from inspector.formats.refused_formats import HOW_TO_DECLARE
from inspector.msp import is_session_document
from inspector.present import formats
from inspector.protocol.timestamps import NO_TIME
from inspector.reading.files.source_reader import LIVE_BLOCK_BYTES, POLL_S, UnknownFormatError
from inspector.settings import RecentFacts
from inspector.sources.blocking_files import wait_until_readable
from inspector.sources.inputs import is_stream, waiting_words
from inspector.sources.transcript_files import members_of
from inspector.store.files.capture_folder import OwnCapture
from inspector.survey import is_survey
from inspector.ui import budgets
from inspector.ui.dialogs.message_dialog import CANCEL
from inspector.ui.dialogs.questions import Asking, open_once
from inspector.ui.features.log_following import LogFollowing
from inspector.ui.loop_budget import others_first
from inspector.ui.services import usual_folder
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.notice import MESSAGE

if TYPE_CHECKING:
    from inspector.ui.docview.window_content import Shown, ShowsDocuments
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

_log = logging.getLogger(__name__)
_SUB_AGENTS_NOTICE = "subAgentsNotOpened"
_DETECTED_FORMAT = "Detected for each line"
_FILE_FILTER = f"Logs and captures (*.jsonl *.log *.json *.ctxcap *{SUFFIX} *.txt *.gz *.zst);;All files (*)"
_OPEN_TOGETHER, _OPEN_SEPARATELY = "together", "apart"


class Opening(QObject):
    """Gives one window its document: a log, a stream, pasted text or sessions.

    Signals:
        unsaved_begun(OwnCapture): an unsaved capture is about to be read.
        failed(): reading failed.
        ended(): reading has ended with any result.
        survey_found(Path): the folder to open contains a survey.
        read_through(CaptureDocument): reading is complete or cancelled.
        session_wanted(Path): show the session in this file with its sub-agents instead of the file alone.
        declaration_wanted(Path | None, str | None): declare a format for a log, or for one that the user names; its
            format, if known.
    """

    unsaved_begun = Signal(object)
    failed = Signal()
    ended = Signal()
    survey_found = Signal(object)
    read_through = Signal(object)
    session_wanted = Signal(object)
    declaration_wanted = Signal(object, object)

    def __init__(
        self, parent: QWidget, shown: Shown, stage: ShowsDocuments, services: Services, *, requests: WindowRequests,
        notices: NoticeStack, status: StatusBar, free: Callable[[str], Opening],
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            parent: the window, parent of dialogs.
            shown: the document and its panes.
            stage: brings a document into the window.
            services: recent files and background tasks.
            requests: requests to the window.
            notices: shows failures.
            status: shows progress.
            free: returns this object of a window without a document, maybe of this one. Its argument is the name of the
                document to open, or "".
        """
        super().__init__(parent)
        self._parent, self._shown, self._stage, self._services = parent, shown, stage, services
        self._requests, self._notices, self._status, self._free = requests, notices, status, free
        self._reading_task: asyncio.Task[None] | None = None
        self._following = LogFollowing(status, notices)
        self._may_read = self._is_finite = False
        self._location = shown.location
        self._refused: Path | None = None
        self._stopped_share: float | None = None
        self._asking = Asking(parent, services.theme)
        status.cancel_clicked.connect(self.cancel_reading)
        status.go_on_clicked.connect(self.go_on_reading)

    def moved_to(self, path: Path) -> None:
        """Moves the document to a saved file. The temporary capture is not needed any more."""
        document = self._shown.document
        document.name, document.path = path.name, path
        self._location.move(path)
        self.remember(path)

    def adopt(self, document: CaptureDocument, path: Path) -> None:
        """Registers a replaced document with other sources, and follows it.

        Args:
            document: the shown document.
            path: the path that opens the same again; empty for the capture of a live session.
        """
        self._location.open(path, None, follows=True, is_streamed=False)
        self._stopped_share = None
        self._location.is_session = document.sources.several is not None and document.sources.several.is_one_session
        if path != Path():
            self.remember(path)
        self._following.stop()
        self._show_status(document)
        self._following.start(document)
        self._requests.title_changed.emit()

    # Logs

    def ask_for_files(self) -> None:
        """Asks for logs and opens each in a window."""
        dialog = QFileDialog(self._parent, "Open a log", str(usual_folder(self._services)), _FILE_FILTER)
        dialog.setObjectName("openDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self.open_paths)
        open_once(dialog)

    def ask_for_folder(self) -> None:
        """Asks for a folder of sessions and opens it as one document."""
        dialog = QFileDialog(self._parent, "Open a folder of sessions", str(usual_folder(self._services)))
        dialog.setObjectName("openFolderDialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.filesSelected.connect(self.open_paths)
        open_once(dialog)

    def open_paths(self, paths: list[str]) -> None:
        """Opens files together or each in its own window, as the user chooses.

        Files of MSP sessions that name each other are one document, like the parts of a rotated log.
        """
        found = [Path(path) for path in paths]
        sessions = [path for path in found if is_session_document(path)] if len(found) > 1 else []
        if len(sessions) > 1:
            self.open_path(sessions[0], beside=sessions[1:])
            found = [path for path in found if path not in sessions]
        logs = resolve_choices(SourceChoice(path) for path in found if not path.is_dir())
        if len(logs) == 1 and logs[0].parts:
            self.open_together(found)
        elif len(found) > 1:
            self._services.spawn(self._ask_how_to_open(found), "ask how to open files")
        else:
            self._open_separately(found)

    async def _ask_how_to_open(self, paths: Sequence[Path]) -> None:
        answer = await self._asking.ask_question(
            f"Open {len(paths)} files together?",
            "Together they form one document in time order. Copies of a message are shown once with their sources, and "
            "calls of an agent are linked to the messages of its servers.",
            ((_OPEN_SEPARATELY, "Open separately"), (CANCEL, "Cancel"), (_OPEN_TOGETHER, "Open together")),
        )
        if answer == _OPEN_TOGETHER:
            self.open_together(paths)
        elif answer == _OPEN_SEPARATELY:
            self._open_separately(paths)

    def _open_separately(self, paths: Sequence[Path]) -> None:
        for path in paths:
            self.open_path(path)

    def open_together(self, paths: Sequence[Path]) -> None:
        """Opens files and folders as one document, here or in a new window."""
        try:
            named = own_source_list([SourceChoice(path) for path in paths])
        except OSError as error:
            self._notices.show_sentence(
                f"The files cannot be opened together: {error.strerror or error}.", "severity.error"
            )
            return
        self.open_path(named)

    def ask_for_reading(self) -> None:
        """Asks for a format and opens the shown log again."""
        path = self._location.opened
        if path == Path():
            return
        from inspector.ui.dialogs.form_dialog import ValueDialog

        formats_offered = QComboBox()
        formats_offered.addItems([_DETECTED_FORMAT, *registry.selectable_formats().values()])
        dialog = ValueDialog(
            self._services.theme, formats_offered, "Format", "The log is opened again in a new window.",
            name="readAsDialog", title="Log format", done="Open", parent=self._parent,
        )  # fmt: skip
        declare = WordButton("&Declare a format...", name="readAsDeclare", parent=dialog)
        declare.clicked.connect(dialog.reject)
        declare.clicked.connect(self.declare_format)
        dialog.buttons.insertWidget(0, declare)
        labels = {words: label for label, words in registry.selectable_formats().items()}
        dialog.chosen.connect(lambda words: self.open_path(path, reading=labels.get(words)))
        dialog.open()

    def declare_format(self) -> None:
        """Declares a format for the shown log, or for the one that was refused last; else asks for a log."""
        shown = self._shown.panes is not None
        path = self._location.opened if shown else self._refused
        if shown and (path == Path() or self._location.is_streamed or len(self._shown.document.sources.files) != 1):
            path = None
        self.declaration_wanted.emit(path, self._shown.document.format if shown else None)

    def open_target(self, target: str) -> None:
        """Opens a file by its path, or an agent's session with its sub-agents (`base.targets`)."""
        self.open_path(target_path(target), together=is_session(target))

    def open_path(
        self, path: Path, *, name: str | None = None, beside: Sequence[Path] = (), reading: str | None = None,
        together: bool = False, at: int | None = None,
    ) -> None:  # fmt: skip
        """Opens a log or a survey, here or in a new window.

        Args:
            path: the log.
            name: title to show instead of the file name.
            beside: further files of the same sessions.
            reading: the format to use; None to detect it.
            together: True for an agent's session with its sub-agents.
            at: number of the message to select after reading.
        """
        shown = "" if is_stream(path) else name or path.name
        # a window shows one document for life, so a used window opens another one
        free = self._free(shown)
        if shown:
            free._status.show_opening(shown)
        else:
            free._notices.show_sentence(waiting_words(path), lasting=True)
        if is_survey(path):
            free.survey_found.emit(path)
            return
        opening = free._open(path, name, beside, reading, together=together, at=at)
        free._reading_task = self._services.spawn(opening, f"open {path.name}")

    async def _open(
        self, path: Path, name: str | None, beside: Sequence[Path], reading: str | None, *, together: bool,
        at: int | None = None,
    ) -> None:  # fmt: skip
        self._location.is_session = together
        loading = self.load(path, name=name, follow=name is None, beside=beside, reading=reading)
        if await self._read_or_report(path, loading) and not (name or self._location.is_streamed):
            self.remember(path)
        panes = self._shown.panes
        if at is not None and panes is not None and 0 < at <= len(panes.document.capture):
            panes.go_to(at - 1)
        self.ended.emit()

    async def _read_or_report(self, path: Path, reading: Coroutine[Any, Any, None]) -> bool:
        """Reads and reports a failure. Returns True on success."""
        try:
            await reading
        except (OSError, UnknownFormatError) as error:
            self.failed.emit()
            if self._shown.panes is None:
                self._requests.start_requested.emit()
            else:
                self._status.set_progress(None)
            reason = error.strerror or error if isinstance(error, OSError) else ""
            words = f"{path} cannot be read: {reason}." if reason else str(error)
            can_declare = words.endswith(HOW_TO_DECLARE) and not self._location.is_streamed
            self._refused = path if can_declare else None
            link = ("Declare a format...", self.declare_format) if can_declare else None
            # The link replaces the sentence about the command and the menu.
            sentence = words.removesuffix(HOW_TO_DECLARE).rstrip() if can_declare else words
            self._notices.show_sentence(sentence, "severity.error", link)
            return False
        finally:
            self._may_read = False
            self._reading_task = None
        return True

    def open_unsaved(self, own: OwnCapture, name: str) -> None:
        """Opens an unsaved capture of an earlier run, here or in a new window. It stays unsaved."""
        free = self._free("")
        free.unsaved_begun.emit(own)
        free.open_path(own.path, name=name)

    def cancel_reading(self) -> bool:
        """Cancels reading. Returns False if no finite source is being read. Messages read so far stay."""
        if not (self._may_read and self._is_finite):
            return False
        self._may_read = False
        return True

    def go_on_reading(self) -> None:
        """Continues a cancelled reading, or replaces this window if the source must be read from the start."""
        if self._stopped_share is None or self._reading_task is not None:
            return
        document, path, name = self._shown.document, self._location.opened, self._location.name
        if document.sources.can_go_on:
            self._status.set_progress(self._stopped_share, len(document.capture))
            self._reading_task = self._services.spawn(
                self._read_or_report(path, self._continue_reading()), f"go on with {path.name}"
            )
            return
        self.open_path(path, name=name, together=self._location.is_session)
        self._requests.replaced.emit()

    def go_on_with_more_memory(self) -> None:
        """Continues reading with a higher memory limit. Live and followed sources continue by themselves."""
        document, sources = self._shown.document, self._shown.document.sources
        document.memory.extend()
        if self._reading_task is None and not document.live and sources.followed is None and sources.unread_bytes:
            self._stopped_share = self._stopped_share or 0.0
            if self._location.opened == Path() and document.path is not None:  # it was live and never opened as a file
                self._location.open(document.path, document.name, follows=False, is_streamed=False)
            self.go_on_reading()

    @property
    def reading(self) -> bool:
        """True while a log is read."""
        return self._reading_task is not None or self._may_read

    def stop_reading(self) -> None:
        """Stops reading because the window closes."""
        if self._reading_task is not None:
            self._reading_task.cancel()
        self._save_facts(self._shown.document)
        self._following.stop()

    def remember(self, path: Path) -> None:
        """Puts a file or session on top of the recent ones."""
        self._services.settings.remember_file(self._location.target(path.resolve()))
        self._services.save_settings()

    def _save_facts(self, document: CaptureDocument) -> None:
        """Stores facts about the log for the recent entries, which do not read the file."""
        path = self._location.kept_file(document)
        if path is None or not len(document.capture):
            return
        from inspector.present.session_titles import shown_session_title  # not needed before a log is open

        settings, key = self._services.settings, self._location.target(path.resolve())
        times = document.capture.columns["time_ns"]
        known = times[times != NO_TIME]
        first = int(known.min()) if len(known) and formats.is_dated(int(known.min())) else None
        facts = RecentFacts(messages=len(document.capture), first_ns=first, title=shown_session_title(document.capture))
        if key in settings.recent_files and settings.recent_facts.get(key) != facts:
            settings.remember_facts(key, facts)
            self._services.save_settings()

    async def load(
        self, path: Path, *, name: str | None = None, follow: bool = False, beside: Sequence[Path] = (),
        reading: str | None = None,
    ) -> None:  # fmt: skip
        """Reads a log into this window. Rows appear while it is read, and later as it grows.

        Args:
            path: a log, an archive, a pipe or STANDARD_INPUT.
            name: title to show instead of the file name.
            follow: continue when the log grows, until the window closes.
            beside: further files of the same sessions.
            reading: the format to use; None to detect it.

        Raises:
            OSError: the file cannot be read.
            UnknownFormatError: no format matches.
        """
        streamed = is_stream(path)  # checked once: a pipe may be gone after it is read
        if not streamed:
            await wait_until_readable(path)
        await self._stage.prepare()  # before the time limit of reading starts
        for file in await asyncio.to_thread(register_folder):  # declarations may have been added since the last log
            if file.problem:
                self._notices.show_sentence(file.problem, "severity.warning")
        document = CaptureDocument()
        document.memory.limit_to(self._services.settings.memory.limit_mb)
        self._location.open(path, name, follows=follow, is_streamed=streamed)
        try:
            if beside:
                steps = document.open_sessions([path, *beside], name=name, block_bytes=LIVE_BLOCK_BYTES, wait=False)
            else:
                steps = document.open_log(
                    path, name=name, block_bytes=LIVE_BLOCK_BYTES, wait=False, follow=follow, reading=reading,
                    together=self._location.is_session,
                )  # fmt: skip
            await self._read(document, steps)
        except BaseException:
            if self._shown.document is not document:  # else the window closes it
                document.close()
            raise
        self._finish_reading(document)
        if (
            document.format in registry.groups().transcripts
            and len(document.sources.files) == 1
            and not (name or self._location.is_streamed)
        ):
            self._services.spawn(self._offer_sub_agents(document, path), f"look for sub-agents of {path.name}")

    async def _offer_sub_agents(self, document: CaptureDocument, path: Path) -> None:
        """Offers the files of sub-agents if a session was opened by its file alone."""
        members, _ = await asyncio.to_thread(members_of, path)
        opened = {path, *(source.path for source in document.capture.sources)}  # a sub-agent's file may name itself
        others = {member.path for member in members} - opened
        if not others or self._shown.document is not document:
            return
        words = f"This session has sub-agents in {formats.count_of(len(others), 'file')} that are not open."

        def open_all() -> None:
            self._notices.dismiss(_SUB_AGENTS_NOTICE)
            self.session_wanted.emit(path)

        self._notices.show_notice(_SUB_AGENTS_NOTICE, "note", words, [("Open all", open_all)], closable=True)

    async def _continue_reading(self) -> None:
        document, follow = self._shown.document, self._location.follows
        await self._read(document, document.resume_reading(block_bytes=LIVE_BLOCK_BYTES, wait=False, follow=follow))
        self._finish_reading(document)

    def _finish_reading(self, document: CaptureDocument) -> None:
        """Reports the result of a complete or cancelled reading, and starts following."""
        read = sum(source.size for source in document.capture.sources)
        self._save_facts(document)
        _log.debug("Read %s: %d messages, %d bytes", document.format or "no format", len(document.capture), read)
        if self._shown.panes is not None:
            self._shown.panes.bridge.flush()
        gc_control.freeze_and_trim()
        self._show_status(document)
        self.read_through.emit(document)
        self._requests.counts_changed.emit()
        self._requests.actions_changed.emit()
        self._following.start(document)
        for sentence in document.sources.troubles:  # features of other kinds of documents report their own
            self._notices.show_sentence(sentence, "severity.warning")
        if self._stopped_share is not None:
            self._status.set_stopped(self._stopped_share, again=not document.sources.can_go_on)

    def _show_status(self, document: CaptureDocument) -> None:
        """Shows the document in the status bar. A live session shows itself."""
        if document.live:
            return
        self._status.show_log(
            document.name,
            _format_words(document),
            document.decisions.found is not None,
            size_bytes=_size_of(document),
            path=str(self._location.opened),
        )

    async def _read(self, document: CaptureDocument, steps: Generator[Progress]) -> None:
        """Runs the steps of opening in slices that keep the window responsive. Rows appear after the first.

        Ends early after `cancel_reading`; messages read so far stay.

        Raises:
            OSError: the source cannot be read.
            UnknownFormatError: no format matches, or reading was cancelled before the first message.
        """
        loop = asyncio.get_running_loop()
        shown = self._shown.document is document
        until = loop.time() + budgets.current.slice_s
        self._stopped_share, self._may_read = None, True
        share, reports = 0.0, budgets.Reports()
        with contextlib.closing(steps):
            for progress in steps:
                share = progress.done / max(1, progress.total)
                self._is_finite = progress.total > 0
                if not shown and progress.messages:
                    await asyncio.sleep(0)  # reading the first rows used up this iteration of the event loop
                    self._status.show_log(document.name, registry.format_titles().get(document.format or "", ""))
                    if document.live:
                        self._status.set_input_open(True)
                    await self._show(document)
                    shown = True
                    until = loop.time() + budgets.current.slice_s
                if self._shown.panes is not None:
                    self._shown.panes.messages.expect(share if progress.total and share else 1.0)
                if progress.total and reports.due():  # a stream has no known length
                    self._status.set_progress(share, progress.messages)
                if progress.waiting or loop.time() > until:
                    # A decoder process answers soon; the writer of a pipe may be silent for hours.
                    wait_s = budgets.current.input_s if progress.total else POLL_S
                    await asyncio.sleep(wait_s if progress.waiting else 0)
                    await others_first()
                    until = loop.time() + budgets.current.slice_s
                if not self._may_read:
                    self._stopped_share = share
                    break
            if document.memory.is_full:
                self._stopped_share = share
        self._may_read = False
        if not document.capture.sources:
            raise UnknownFormatError(f"Opening {document.name} was cancelled.")
        # A log without messages is shown too.
        if not shown:
            await self._show(document)

    async def _show(self, document: CaptureDocument) -> None:
        """Shows a document, one step each iteration of the event loop, so that input events are handled."""
        if self._location.is_streamed:  # the stream has sent data
            self._notices.dismiss(MESSAGE)
        for _ in self._stage.showing(document):
            await asyncio.sleep(0)

    def paste_text(self) -> None:
        """Opens the text in the clipboard as a log."""
        text = QGuiApplication.clipboard().text()
        if not text.strip():
            self._notices.show_sentence(
                "The clipboard has no text. Copy lines of a log first, one JSON object per line."
            )
            return
        self.open_text(text.encode("utf-8", "surrogatepass"), "pasted text")

    def open_text(self, data: bytes, name: str) -> None:
        """Opens bytes from outside a file; they are spooled to a temporary file."""
        folder = tempfile.TemporaryDirectory(prefix="context-inspector-")
        path = Path(folder.name) / name  # the file name in sentences
        path.write_bytes(data)
        free = self._free("")
        free._location.keep_spooled(folder)
        free.open_path(path, name=name)

    def clear_away(self) -> None:
        """Removes temporary files after the window has closed them."""
        self._location.remove_spooled()


def _format_words(document: CaptureDocument) -> str:
    """Returns the format, or the number of sources."""
    if len(document.sources.files) > 1:
        return formats.count_of(len(document.sources.files), "source")
    return registry.format_titles().get(
        document.format or "", "mostly unreadable" if len(document.capture) else "empty log"
    )


def _size_of(document: CaptureDocument) -> int | None:
    """Returns the size of the document's files in bytes; None if unknown."""
    if document.msp is not None:
        return document.msp.size or None
    return sum(source.size for source in document.sources.files)
