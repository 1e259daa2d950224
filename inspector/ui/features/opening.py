"""Opens documents in a window: logs, folders, archives, pipes, pasted text; follows growing logs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QWidget

from inspector.base.targets import SOURCES_SUFFIX, FolderView, folder_view, is_session, target_path
from inspector.engine import wire
from inspector.engine.client import EngineDiedError, OpenFailedError
from inspector.engine.document_state import DocumentState
from inspector.engine.log_files import (
    TemporaryFolder,
    adopt_spool,
    is_session_document,
    is_stream,
    resolve_targets,
    wait_until_readable,
    waiting_words,
    write_own_list,
)
from inspector.engine.targets import OpenOptions, Target
from inspector.formats import registry
from inspector.formats.declared.folder import register_folder
from inspector.formats.refused_formats import HOW_TO_DECLARE
from inspector.formats.table import FILE_SUFFIXES
from inspector.present import formats
from inspector.survey import is_survey
from inspector.survey.file_runs import has_several_runs
from inspector.ui import intervals
from inspector.ui.dialogs.message_dialog import CANCEL
from inspector.ui.dialogs.questions import Asking, open_once
from inspector.ui.features.folder_question import view_of_folder
from inspector.ui.features.log_following import LogFollowing
from inspector.ui.features.recent_facts import save_recent_facts
from inspector.ui.features.sub_agent_offer import offer_sub_agents
from inspector.ui.services import SettingsOwner, usual_folder
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.notice import MESSAGE

if TYPE_CHECKING:
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.docview.window_content import Shown, ShowsDocuments
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

_log = logging.getLogger(__name__)
_ENDINGS = " *".join((".jsonl", ".log", ".json", *FILE_SUFFIXES, SOURCES_SUFFIX, ".txt", ".gz", ".zst"))
_FILE_FILTER = f"Logs and captures (*{_ENDINGS});;All files (*)"
READ_ONCE = "A stream can be read only once, so it cannot be opened again."
_OPEN_TOGETHER, _OPEN_SEPARATELY = "together", "apart"


class Opening(QObject):
    """Gives one window its document: a log, a stream, pasted text or sessions.

    Signals:
        failed(): reading failed.
        ended(): reading has ended with any result.
        survey_found(Path): show runs: of a survey, of a file with several, or of a folder.
        read_through(): reading is complete or cancelled.
        session_wanted(Path): show the session in this file with its sub-agents instead of the file alone.
        declaration_wanted(Path | None, str | None): declare a format for a log, or for one that the user names; its
            format, if known.
    """

    failed = Signal()
    ended = Signal()
    survey_found = Signal(object)
    read_through = Signal()
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
        self._following = LogFollowing(status, notices, self)
        self._client: DocumentClient | None = None
        self._may_read = self._is_finite = False
        self._location = shown.location
        self._refused: Path | None = None
        self._stopped_share: float | None = None
        self._asking = Asking(parent, services.theme)
        status.cancel_clicked.connect(self.cancel_reading)
        status.go_on_clicked.connect(self.go_on_reading)

    def moved_to(self, path: Path) -> None:
        """Moves the document to a saved file. The temporary capture is not needed any more."""
        self._location.move(path)
        self.remember(path)

    def adopt(self, path: Path) -> None:
        """Registers a replaced document with other sources, and follows it.

        Args:
            path: the path that opens the same again; empty for the capture of a live session.
        """
        self._location.open(path, None, follows=True, is_streamed=False)
        self._stopped_share = None
        self._location.is_session = self._shown.state.is_one_session
        if path != Path():
            self.remember(path)
        self._show_status()
        self._follow()
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
        logs = resolve_targets(Target(path) for path in found if not path.is_dir())
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
            named = write_own_list([Target(path) for path in paths])
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
        formats_offered.addItems(["Detected for each line", *registry.selectable_formats().values()])
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
        if shown and (path == Path() or self._location.is_streamed or self._shown.state.read_sources != 1):
            path = None
        self.declaration_wanted.emit(path, self._shown.state.format if shown else None)

    def open_target(self, target: str) -> None:
        """Opens a file or folder by its path, or an agent's session with its sub-agents (`base.targets`)."""
        self.open_path(target_path(target), together=is_session(target), view=folder_view(target))

    def open_path(
        self, path: Path, *, name: str | None = None, beside: Sequence[Path] = (), reading: str | None = None,
        together: bool = False, at: int | None = None, recovers: bool = False, view: FolderView | None = None,
    ) -> None:  # fmt: skip
        """Opens a log or a survey, here or in a new window.

        Args:
            path: the log.
            name: title to show instead of the file name.
            beside: further files of the same sessions.
            reading: the format to use; None to detect it.
            together: True for an agent's session with its sub-agents.
            at: number of the message to select after reading.
            recovers: True for an unsaved capture of an earlier run, which stays unsaved.
            view: form of a folder with many logs; None for the one in the settings.
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
        opening = free._open(path, name, beside, reading, together=together, at=at, recovers=recovers, view=view)
        free._reading_task = self._services.spawn(opening, f"open {path.name}")

    async def _open(
        self, path: Path, name: str | None, beside: Sequence[Path], reading: str | None, *, together: bool,
        at: int | None = None, recovers: bool = False, view: FolderView | None = None,
    ) -> None:  # fmt: skip
        is_folder = await asyncio.to_thread(path.is_dir)
        # The next start shows a folder in the same form, whatever the settings then say.
        self._location.is_session, self._location.view = together, view if is_folder else None
        # A file with several runs is shown as a table of them.
        apart = not (beside or together) and reading is None
        if apart and await asyncio.to_thread(has_several_runs, path):
            view = "runs"
        elif view is None and not (beside or reading or name or together):
            view = await view_of_folder(path, self._services, self._asking)
            if view is None:
                self._reading_task = None
                self._status.set_progress(None)
                self.failed.emit()
                self._requests.start_requested.emit()
                return
        if view == "runs":
            self._location.view = view if is_folder else None
            self._reading_task = None
            self.survey_found.emit(path)
            return
        loading = self.load(
            path, name=name, follow=name is None, beside=beside, reading=reading, recovers=recovers
        )  # fmt: skip
        again = lambda: self.open_path(  # noqa: E731 - shorter than a function
            path, name=name, beside=beside, reading=reading, together=together, at=at, recovers=recovers, view=view
        )
        if await self._read_or_report(path, loading, again) and not (name or self._location.is_streamed):
            self.remember(path)
        panes = self._shown.panes
        if at is not None and panes is not None and 0 < at <= panes.client.state.messages:
            panes.go_to(at - 1)
        self.ended.emit()

    async def _read_or_report(
        self, path: Path, reading: Coroutine[Any, Any, None], again: Callable[[], object]
    ) -> bool:  # fmt: skip
        """Reads and reports a failure. Returns True on success.

        Args:
            path: the log.
            reading: reads it.
            again: opens it again after the end of the engine.
        """
        try:
            await reading
        except (OSError, OpenFailedError, EngineDiedError) as error:
            self.failed.emit()
            if self._shown.panes is None:
                self._requests.start_requested.emit()
            else:
                self._status.set_progress(None)
            if isinstance(error, EngineDiedError):
                # `EngineWatch` reports the engine of a shown document.
                if self._shown.panes is None and self._location.is_streamed:
                    self._notices.show_sentence(f"{error} {READ_ONCE}", "severity.error")
                elif self._shown.panes is None:
                    self._notices.show_sentence(str(error), "severity.error", ("Reopen", again))
                return False
            words = _failure_words(path, error)
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

    def open_unsaved(self, path: Path, name: str) -> None:
        """Opens an unsaved capture of an earlier run, here or in a new window. It stays unsaved."""
        self._free("").open_path(path, name=name, recovers=True)

    def keep_stream(self, state: DocumentState) -> bool:
        """Takes over the copy of a stream from an ended engine. Returns False if there is none.

        Args:
            state: the last state of the document.
        """
        spool = state.spool if self._location.is_streamed else None
        adopted = None if spool is None else adopt_spool(spool)
        if spool is None or adopted is None:
            return False
        self._location.keep_spooled(adopted)
        self._location.open(spool, state.name, follows=False, is_streamed=False)
        return True

    def can_reopen(self, unsaved: Path | None) -> bool:
        """Returns True if the shown document can be opened again, or its unsaved capture."""
        location = self._location
        return unsaved is not None or (location.opened != Path() and not location.is_streamed)

    def reopen(self, unsaved: Path | None = None, free: Opening | None = None) -> None:
        """Opens the shown document again, or its unsaved capture, in a new window that replaces this one.

        Args:
            unsaved: the unsaved capture.
            free: this object of the new window, if there is one.
        """
        location, choices, files = self._location, self._shown.state.choices, self._shown.state.session_files
        free = free or self._free("")
        free._location.take_spooled(location)
        if unsaved is not None:
            free.open_path(unsaved, name=self._shown.state.name, recovers=True)
        else:
            one = choices[0] if len(choices) == 1 else Target(location.opened)
            free.open_path(
                location.opened, name=location.name, together=location.is_session, reading=one.reading,
                beside=one.parts or [file for file in files if file != location.opened and file.exists()],
            )  # fmt: skip
        self._requests.replaced.emit()

    def cancel_reading(self) -> bool:
        """Cancels reading. Returns False if no finite source is being read. Messages read so far stay."""
        if not (self._may_read and self._is_finite):
            return False
        self._may_read = False
        if self._client is not None:
            self._client.stop_reading()
        return True

    def go_on_reading(self) -> None:
        """Continues a cancelled reading, or replaces this window if the source must be read from the start."""
        if self._stopped_share is None or self._reading_task is not None:
            return
        state, path, name = self._shown.state, self._location.opened, self._location.name
        if state.can_continue:
            self._status.set_progress(self._stopped_share, state.messages)
            self._reading_task = self._services.spawn(
                self._read_or_report(path, self._continue_reading(), self.reopen), f"go on with {path.name}"
            )
            return
        self.open_path(path, name=name, together=self._location.is_session)
        self._requests.replaced.emit()

    def go_on_with_more_memory(self) -> None:
        """Continues reading with a higher memory limit. Live and followed sources continue by themselves."""
        client, state = self._shown.client, self._shown.state
        if client is None:
            return
        if self._reading_task is None and not state.is_live and state.followed is None and state.unread_bytes:
            self._stopped_share = self._stopped_share or 0.0
            if self._location.opened == Path() and state.path is not None:  # it was live and never opened as a file
                self._location.open(state.path, state.name, follows=False, is_streamed=False)
            self.go_on_reading()
        else:
            client.continue_reading()

    @property
    def reading(self) -> bool:
        """True while a log is read."""
        return self._reading_task is not None or self._may_read

    def stop_reading(self) -> None:
        """Stops reading because the window closes."""
        if self._reading_task is not None:
            self._reading_task.cancel()
        save_recent_facts(self._shown, self._services)
        self._following.stop()
        # Before the window deletes it.
        if self._client is not None and self._client is not self._shown.client:
            self._client.close()

    def remember(self, path: Path) -> None:
        """Puts a file or session on top of the recent ones."""
        self._services.settings.remember_file(self._location.target(path.resolve()))
        self._services.save_settings()

    async def load(
        self, path: Path, *, name: str | None = None, follow: bool = False, beside: Sequence[Path] = (),
        reading: str | None = None, recovers: bool = False,
    ) -> None:  # fmt: skip
        """Reads a log into this window. Rows appear while it is read, and later as it grows.

        Args:
            path: a log, an archive, a pipe or standard input.
            name: title to show instead of the file name.
            follow: continue when the log grows, until the window closes.
            beside: further files of the same sessions.
            reading: the format to use; None to detect it.
            recovers: the log is an unsaved capture of an earlier run.

        Raises:
            OSError: the file cannot be read.
            OpenFailedError: the file cannot be read, or no format matches.
            EngineDiedError: the engine has ended.
        """
        streamed = is_stream(path)  # checked once: a pipe may be gone after it is read
        if not streamed:
            await wait_until_readable(path)
        await self._stage.prepare()  # before the time limit of reading starts
        for file in await asyncio.to_thread(register_folder):  # declarations may have been added since the last log
            if file.problem:
                self._notices.show_sentence(file.problem, "severity.warning")
        self._location.open(path, name, follows=follow, is_streamed=streamed)
        client = self._services.new_client(self._parent, path if streamed else None)
        target = Target(path, self._location.is_session, reading, tuple(beside), name=name)
        options = open_options(self._services, follow=follow)
        try:
            await self._read(client, lambda: client.open([target], options, recovers=recovers))
        except BaseException:
            if self._shown.client is not client:  # else the window closes it
                client.close()
            raise
        self._finish_reading()
        state = client.state
        is_alone = state.read_sources == 1 and not (name or self._location.is_streamed)
        if is_alone and state.format in registry.groups().transcripts:
            offer = offer_sub_agents(self._shown, client, path, self._notices, self.session_wanted.emit)
            self._services.spawn(offer, f"look for sub-agents of {path.name}")

    async def _continue_reading(self) -> None:
        client = self._shown.client
        if client is not None:
            await self._read(client, client.continue_reading)
            self._finish_reading()

    def _finish_reading(self) -> None:
        """Reports the result of a complete or cancelled reading, and starts following."""
        state = self._shown.state
        save_recent_facts(self._shown, self._services)
        _log.debug("Read %s: %d messages, %d bytes", state.format or "no format", state.messages, state.size_bytes)
        if self._shown.panes is not None:
            self._shown.panes.bridge.flush()
        self._show_status()
        self.read_through.emit()
        self._requests.counts_changed.emit()
        self._requests.actions_changed.emit()
        self._follow()
        for sentence in state.troubles:  # features of other kinds of documents report their own
            self._notices.show_sentence(sentence, "severity.warning")
        if self._stopped_share is not None:
            self._status.set_stopped(self._stopped_share, again=not state.can_continue)

    def _follow(self) -> None:
        if self._shown.client is not None:
            self._following.start(self._shown.client)

    def _show_status(self) -> None:
        """Shows the document in the status bar. A live session shows itself."""
        state = self._shown.state
        if state.is_live:
            return
        # Editable sessions without a file have no size.
        size = state.size_bytes or None if state.is_sessions else state.size_bytes
        self._status.show_log(
            state.name, _format_words(state), state.has_decisions, size_bytes=size, path=str(self._location.opened)
        )  # fmt: skip

    async def _read(self, client: DocumentClient, begin: Callable[[], object]) -> None:
        """Begins to read a document and shows its progress until it has ended. Rows appear after the first message.

        Raises:
            OpenFailedError: it cannot be read, or reading was cancelled before the first message.
            EngineDiedError: the engine has ended.
        """
        self._client, self._stopped_share, self._may_read = client, None, True
        reports = intervals.Reports()
        self._following.stop()
        try:
            async with contextlib.aclosing(client.reading(begin)) as steps:
                async for progress in steps:
                    await self._show_progress(client, progress, reports)
        finally:
            self._client, self._may_read = None, False

    async def _show_progress(self, client: DocumentClient, progress: wire.Reading, reports: intervals.Reports) -> None:
        share = progress.done / max(1, progress.total)
        self._is_finite = progress.total > 0
        if self._shown.client is not client and (progress.messages or progress.ended):
            await self._show(client, is_reading=not progress.ended)
        if progress.ended:
            self._stopped_share = share if progress.stopped else None
            return
        if self._shown.panes is not None:
            self._shown.panes.messages.expect(share if progress.total and share else 1.0)
        if progress.total and reports.due():  # a stream has no known length
            self._status.set_progress(share, progress.messages)

    async def _show(self, client: DocumentClient, *, is_reading: bool) -> None:
        """Shows a document, one step each iteration of the event loop, so that input events are handled."""
        await asyncio.sleep(0)  # reading the first rows used up this iteration of the event loop
        state = client.state
        if is_reading:
            self._status.show_log(state.name, registry.format_titles().get(state.format or "", ""))
            if state.is_live:
                self._status.set_input_open(True)
        if self._location.is_streamed:  # the stream has sent data
            self._notices.dismiss(MESSAGE)
        for _ in self._stage.showing(client):
            await asyncio.sleep(0)

    def paste_text(self) -> None:
        """Opens the text in the clipboard as a log."""
        text = QGuiApplication.clipboard().text()
        if not text.strip():
            sentence = "The clipboard has no text. Copy lines of a log first, one JSON object per line."
            self._notices.show_sentence(sentence)
            return
        self.open_text(text.encode("utf-8", "surrogatepass"), "pasted text")

    def open_text(self, data: bytes, name: str) -> None:
        """Opens bytes from outside a file; they are spooled to a temporary file."""
        try:
            folder = TemporaryFolder()
            path = folder.path / name  # the file name in sentences
            path.write_bytes(data)
        except OSError as error:
            self._notices.show_sentence(f"The text cannot be opened: {error.strerror or error}.")
            return
        free = self._free("")
        free._location.keep_spooled(folder)
        free.open_path(path, name=name)

    def clear_away(self) -> None:
        """Removes temporary files after the window has closed them."""
        self._location.remove_spooled()


def open_options(services: SettingsOwner, *, follow: bool = False) -> OpenOptions:
    """Returns the options of a new document by the settings. The window applies the others to the shown one."""
    return OpenOptions(memory_mb=services.settings.memory.limit_mb, follow=follow)


def _failure_words(path: Path, error: OSError | OpenFailedError) -> str:
    if isinstance(error, OpenFailedError) and error.kind != "unreadable":
        return str(error)
    return f"{path} cannot be read: {error.strerror or error if isinstance(error, OSError) else error}."


def _format_words(state: DocumentState) -> str:
    """Returns the format, or the number of sources."""
    if state.read_sources > 1:
        return formats.count_of(state.read_sources, "source")
    return registry.format_titles().get(state.format or "", "mostly unreadable" if state.messages else "empty log")
