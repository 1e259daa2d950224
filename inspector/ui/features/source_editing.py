"""Adds and removes sources of a document, sets clock offsets, saves source lists.

The new set of sources is read beside the shown document in time order. It replaces the document when it is complete,
and the view stays. So a removed source leaves no trace, and the order of additions does not matter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QFileDialog, QWidget

from inspector.base.targets import SOURCES_SUFFIX
from inspector.engine import wire
from inspector.engine.client import EngineDiedError, OpenFailedError
from inspector.engine.log_files import resolve_targets, write_list, write_own_list
from inspector.engine.targets import OpenOptions, Target
from inspector.present import formats
from inspector.ui.dialogs.questions import chosen_file, open_once
from inspector.ui.docview.document_replacement import read_beside

if TYPE_CHECKING:
    from inspector.engine.document_state import DocumentState
    from inspector.present.sources import SourceRow
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

_MAX_OFFSET_S = 400 * 86_400.0  # 400 days
_FILE_FILTER = f"Lists of sources (*{SOURCES_SUFFIX})"


class SourceEditing(QObject):
    """Changes the sources of one window's document.

    Signals:
        replaced(Path): the window shows another document, saved as this list. The path is empty if a live session
            writes one of the sources.
        list_saved(Path): the list of sources was saved to this file.
    """

    replaced = Signal(object)
    list_saved = Signal(object)

    def __init__(
        self, parent: QWidget, shown: Shown, services: Services, *, notices: NoticeStack, status: StatusBar,
        show_instead: Callable[[DocumentClient], Panes | None], usual_folder: Callable[[], Path],
        is_reading: Callable[[], bool],
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            parent: the window, parent of dialogs.
            shown: the document and its panes.
            services: background tasks and settings.
            notices: shows unreadable sources.
            status: shows progress.
            show_instead: replaces the shown document and keeps the view.
            usual_folder: returns the start folder of dialogs.
            is_reading: returns True while the shown document is read.
        """
        super().__init__(parent)
        self._parent, self._shown, self._services = parent, shown, services
        self._notices, self._status = notices, status
        self._show_instead, self._usual_folder, self._is_reading = show_instead, usual_folder, is_reading
        self._wanted: list[Target] | None = None
        self._task: asyncio.Task[None] | None = None

    def attach(self, panes: Panes) -> None:
        """Connects the list of sources when it is created."""
        panes.when_made("sources", self._connect_panel)

    def _connect_panel(self, panel: object) -> None:
        from inspector.ui.panels.sources.panel import SourcesPanel

        assert isinstance(panel, SourcesPanel)
        panel.add_requested.connect(self.ask_for_sources)
        panel.save_requested.connect(self.save_list)
        panel.view.offset_requested.connect(self.ask_for_offset)
        panel.view.estimate_requested.connect(lambda row: self._set_offset(row, None))
        panel.view.remove_requested.connect(self.remove)

    def stop(self) -> None:
        """Cancels reading because the window closes."""
        if self._task is not None:
            self._task.cancel()

    # Requests

    @property
    def choices(self) -> list[Target]:
        """The requested sources, before they are read."""
        return self._wanted if self._wanted is not None else self._shown.state.choices

    def ask_for_sources(self) -> None:
        """Asks for files to add."""
        if not self._may_change():
            return
        dialog = QFileDialog(self._parent, "Add sources", str(self._usual_folder()), "All files (*)")
        dialog.setObjectName("addSourceDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda paths: self.add([Target(Path(path)) for path in paths]))
        open_once(dialog)

    def add(self, added: Sequence[Target]) -> None:
        """Adds sources to the document."""
        if self._may_change() and added:
            known = {one.key for one in self.choices}
            new = [one for one in resolve_targets(added) if one.key not in known]
            if not new:
                self._notices.show_sentence(f"{added[0].path.name} is already a source.")
                return
            self._request_sources([*self.choices, *new])

    def show_session(self, path: Path) -> None:
        """Shows an agent's session with its sub-agents instead of its file alone."""
        if self._may_change() and self._task is None:
            self._task = self._services.spawn(self._read_session(path), f"read {path.name} with its sub-agents")

    async def _read_session(self, path: Path) -> None:
        shown = self._shown.client
        if shown is None:
            return
        found = shown.beside()
        try:
            await read_beside(found, lambda: found.open([Target(path, is_session=True)], self._options), self._report)
            if self._shown.client is shown and self._show_instead(found) is not None:
                self.replaced.emit(path)
        except (OpenFailedError, EngineDiedError) as error:
            self._notices.show_sentence(f"The session cannot be read with its sub-agents: {error}", "severity.error")
        finally:
            self._task = None
            self._status.set_progress(None)
            if self._shown.client is not found:
                found.close()

    @property
    def _options(self) -> OpenOptions:
        settings, aliases = self._services.settings, self._services.tool_aliases
        return OpenOptions(
            memory_mb=settings.memory.limit_mb, aliases=tuple(rule.text for rule in aliases.rules), follow=True,
            idle_after_s=settings.contexts.idle_after_s,
        )  # fmt: skip

    def _report(self, progress: wire.Reading) -> bool:
        if progress.total:
            self._status.set_progress(progress.done / progress.total, progress.messages)
        return True

    def remove(self, row: SourceRow) -> None:
        if self._may_change():
            left = [one for one in self.choices if row.path not in self._paths_of(one)]
            if left:
                self._request_sources(left)

    def ask_for_offset(self, row: SourceRow) -> None:
        """Asks for the clock offset of a source."""
        if not self._may_change():
            return
        from inspector.ui.dialogs.form_dialog import ValueDialog

        seconds = QDoubleSpinBox()
        seconds.setDecimals(3)
        seconds.setRange(-_MAX_OFFSET_S, _MAX_OFFSET_S)
        seconds.setSuffix(" s")
        seconds.setValue(row.offset_ns / 1e9)
        seconds.selectAll()
        dialog = ValueDialog(
            self._services.theme, seconds, "Offset", f"Added to the times of {row.name}.",
            name="clockOffsetDialog", title="Clock offset", done="Set", parent=self._parent,
        )  # fmt: skip
        dialog.chosen.connect(lambda seconds: self._set_offset(row, round(seconds * 1e9)))
        dialog.open()

    def _set_offset(self, row: SourceRow, offset_ns: int | None) -> None:
        self._request_sources([
            msgspec.structs.replace(one, clock_offset_ns=offset_ns) if row.path in self._paths_of(one) else one
            for one in self.choices
        ])  # fmt: skip

    def _paths_of(self, choice: Target) -> set[Path]:
        """Returns the files of a choice, with the sub-agents of a session."""
        found = {choice.path, *choice.parts}
        if choice.is_session:
            others = {path for one in self.choices if one is not choice for path in (one.path, *one.parts)}
            found |= {source.path for source in self._shown.state.sources} - others
        return found

    def save_list(self) -> None:
        """Asks for a name and saves the list of sources."""
        self._services.spawn(self._ask_and_save(), "save a list of sources")

    async def _ask_and_save(self) -> None:
        choices = [msgspec.structs.replace(one, is_live=False) for one in self.choices]
        if not choices:
            self._notices.show_sentence("This document has no source files to list.")
            return
        dialog = QFileDialog(self._parent, "Save list of sources", str(self._usual_folder()), _FILE_FILTER)
        dialog.setObjectName("saveSourcesDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(SOURCES_SUFFIX.removeprefix("."))
        dialog.selectFile(f"{choices[0].path.stem}{SOURCES_SUFFIX}")
        target = await chosen_file(dialog)
        if target is None:
            return
        try:
            write_list(target, choices)
        except OSError as error:
            self._notices.show_sentence(f"{target} could not be saved: {error.strerror or error}.", "severity.error")
            return
        self._notices.show_sentence(f"Saved the list of {formats.count_of(len(choices), 'source')} as {target}.")
        self.list_saved.emit(target)

    # Reading

    def _may_change(self) -> bool:
        """Returns True if sources can be changed now, else reports the reason."""
        state = self._shown.state
        if self._is_reading():
            self._notices.show_sentence("Wait until the document is read, or cancel reading, to change its sources.")
        elif state.is_sessions or not state.choices:
            self._notices.show_sentence("Sources can only be added to logs, captures and live sessions.")
        else:
            return True
        return False

    def _request_sources(self, choices: list[Target]) -> None:
        self._wanted = resolve_targets(choices)
        if self._task is None:
            self._task = self._services.spawn(self._read_requested(), "read sources together")

    async def _read_requested(self) -> None:
        try:
            while self._wanted is not None:
                wanted = self._wanted
                await self._read(wanted)
                if self._wanted is wanted:
                    self._wanted = None
        finally:
            self._wanted = self._task = None
            self._status.set_progress(None)

    async def _read(self, wanted: list[Target]) -> None:
        """Reads the requested sources, and shows them unless the request has changed."""
        shown = self._shown.client
        if shown is None:
            return
        found = shown.beside()
        try:
            if (path := await self._read_into(found, wanted)) is None or self._shown.client is not shown:
                return
            if self._show_instead(found) is not None:
                self.replaced.emit(path)
        except (OSError, OpenFailedError, EngineDiedError) as error:
            reason = error.strerror or error if isinstance(error, OSError) else error
            self._notices.show_sentence(f"The sources cannot be read together: {reason}", "severity.error")
        finally:
            # A cancelled task too must close the files it opened.
            if self._shown.client is not found:
                found.close()

    async def _read_into(self, found: DocumentClient, wanted: list[Target]) -> Path | None:
        """Reads sources. Returns the path that opens them again, or None if they must not be shown."""
        is_live = any(one.is_live for one in wanted)
        path = Path() if is_live else write_own_list(wanted) if len(wanted) > 1 else wanted[0].path
        title = self._shown.state.name if is_live else ""
        origin = None if is_live or len(wanted) == 1 else path
        options = msgspec.structs.replace(self._options, name=title, path=origin)
        complete = await read_beside(
            found, lambda: found.open(wanted, options), lambda progress: self._is_still_requested(progress, wanted)
        )  # fmt: skip
        # A new source without readable content must not replace the document.
        missing = self._missing_reason(found.state, wanted)
        if missing:
            self._notices.show_sentence(missing, "severity.error")
        return path if complete and not missing else None

    def _is_still_requested(self, progress: wire.Reading, wanted: list[Target]) -> bool:
        return self._report(progress) and self._wanted is wanted

    def _missing_reason(self, found: DocumentState, wanted: list[Target]) -> str:
        """Returns the reason why a new source is missing, or ""."""
        before = {one.key for one in self._shown.state.choices}
        there = {one.key for one in found.choices}
        if all(one.key in there for one in wanted if one.key not in before):
            return ""
        return " ".join(found.troubles) or "The chosen files have no readable content."
