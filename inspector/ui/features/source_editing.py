"""Adds and removes sources of a document, sets clock offsets, saves source lists.

The new set of sources is read beside the shown document in time order. It replaces the document when it is complete,
and the view stays. So a removed source leaves no trace, and the order of additions does not matter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QFileDialog, QWidget

from inspector.document.document import CaptureDocument
from inspector.document.source_list import SUFFIX, own_source_list, resolve_choices, write_source_list
from inspector.document.source_set import SourceChoice
from inspector.document.sources import Progress
from inspector.present import formats
from inspector.reading.files.source_reader import LIVE_BLOCK_BYTES, UnknownFormatError
from inspector.store.messages.capture import Capture
from inspector.ui.dialogs.questions import chosen_file, open_once
from inspector.ui.docview.document_replacement import read_beside

if TYPE_CHECKING:
    from inspector.present.sources import SourceRow
    from inspector.ui.docview.document_replacement import Places
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

_MAX_OFFSET_S = 400 * 86_400.0  # 400 days
_FILE_FILTER = f"Lists of sources (*{SUFFIX})"


class SourceEditing(QObject):
    """Changes the sources of one window's document.

    Signals:
        replaced(CaptureDocument, Path): the window shows another document, saved as this list. The path is empty if a
            live session writes one of the sources.
        list_saved(Path): the list of sources was saved to this file.
    """

    replaced = Signal(object, object)
    list_saved = Signal(object)

    def __init__(
        self, parent: QWidget, shown: Shown, services: Services, *, notices: NoticeStack, status: StatusBar,
        show_instead: Callable[[CaptureDocument, Places], Panes | None], usual_folder: Callable[[], Path],
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
        self._wanted: list[SourceChoice] | None = None
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
    def choices(self) -> list[SourceChoice]:
        """The requested sources, before they are read."""
        return self._wanted if self._wanted is not None else self._shown.document.choices

    def ask_for_sources(self) -> None:
        """Asks for files to add."""
        if not self._may_change():
            return
        dialog = QFileDialog(self._parent, "Add sources", str(self._usual_folder()), "All files (*)")
        dialog.setObjectName("addSourceDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda paths: self.add([SourceChoice(Path(path)) for path in paths]))
        open_once(dialog)

    def add(self, added: Sequence[SourceChoice]) -> None:
        """Adds sources to the document."""
        if self._may_change() and added:
            known = {one.key for one in self.choices}
            new = [one for one in resolve_choices(added) if one.key not in known]
            if not new:
                self._notices.show_sentence(f"{added[0].path.name} is already a source.")
                return
            self._request_sources([*self.choices, *new])

    def show_session(self, path: Path) -> None:
        """Shows an agent's session with its sub-agents instead of its file alone."""
        if self._may_change() and self._task is None:
            self._task = self._services.spawn(self._read_session(path), f"read {path.name} with its sub-agents")

    async def _read_session(self, path: Path) -> None:
        shown, found = self._shown.document, self._new_document()
        try:
            steps = found.open_log(path, block_bytes=LIVE_BLOCK_BYTES, wait=False, follow=True, together=True)
            await read_beside(steps, self._report)
            if self._shown.document is shown and self._show_instead(found, SourcePlaces()) is not None:
                self.replaced.emit(found, path)
        except (OSError, UnknownFormatError) as error:
            reason = error.strerror or error if isinstance(error, OSError) else error
            self._notices.show_sentence(f"The session cannot be read with its sub-agents: {reason}", "severity.error")
        finally:
            self._task = None
            self._status.set_progress(None)
            if self._shown.document is not found:
                found.close()

    def _new_document(self) -> CaptureDocument:
        found = CaptureDocument()
        found.memory.limit_to(self._services.settings.memory.limit_mb)
        found.set_tool_aliases(self._services.tool_aliases)
        found.set_idle_time(self._services.settings.contexts.idle_after_s)
        return found

    def _report(self, progress: Progress) -> bool:
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
            replace(one, clock_offset_ns=offset_ns) if row.path in self._paths_of(one) else one for one in self.choices
        ])  # fmt: skip

    def _paths_of(self, choice: SourceChoice) -> set[Path]:
        """Returns the files of a choice, with the sub-agents of a session."""
        found = {choice.path, *choice.parts}
        if choice.is_session:
            others = {path for one in self.choices if one is not choice for path in (one.path, *one.parts)}
            found |= {source.path for source in self._shown.document.capture.sources} - others
        return found

    def save_list(self) -> None:
        """Asks for a name and saves the list of sources."""
        self._services.spawn(self._ask_and_save(), "save a list of sources")

    async def _ask_and_save(self) -> None:
        choices = [replace(one, is_live=False) for one in self.choices]
        if not choices:
            self._notices.show_sentence("This document has no source files to list.")
            return
        dialog = QFileDialog(self._parent, "Save list of sources", str(self._usual_folder()), _FILE_FILTER)
        dialog.setObjectName("saveSourcesDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(SUFFIX.removeprefix("."))
        dialog.selectFile(f"{choices[0].path.stem}{SUFFIX}")
        target = await chosen_file(dialog)
        if target is None:
            return
        try:
            write_source_list(target, choices)
        except OSError as error:
            self._notices.show_sentence(f"{target} could not be saved: {error.strerror or error}.", "severity.error")
            return
        self._notices.show_sentence(f"Saved the list of {formats.count_of(len(choices), 'source')} as {target}.")
        self.list_saved.emit(target)

    # Reading

    def _may_change(self) -> bool:
        """Returns True if sources can be changed now, else reports the reason."""
        document = self._shown.document
        if self._is_reading():
            self._notices.show_sentence("Wait until the document is read, or cancel reading, to change its sources.")
        elif document.msp is not None or not document.choices:
            self._notices.show_sentence("Sources can only be added to logs, captures and live sessions.")
        else:
            return True
        return False

    def _request_sources(self, choices: list[SourceChoice]) -> None:
        self._wanted = resolve_choices(choices)
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

    async def _read(self, wanted: list[SourceChoice]) -> None:
        """Reads the requested sources, and shows them unless the request has changed."""
        shown = self._shown.document
        found = self._new_document()
        is_live = any(one.is_live for one in wanted)
        try:
            path = Path() if is_live else own_source_list(wanted) if len(wanted) > 1 else wanted[0].path
            steps = found.open_together(wanted, block_bytes=LIVE_BLOCK_BYTES, wait=False, follow=True)
            complete = await read_beside(steps, lambda progress: self._is_still_requested(progress, wanted))
        except (OSError, UnknownFormatError) as error:
            found.close()
            reason = error.strerror or error if isinstance(error, OSError) else error
            self._notices.show_sentence(f"The sources cannot be read together: {reason}", "severity.error")
            return
        # A cancelled task too must close the files it opened.
        except BaseException:
            found.close()
            raise
        # a new source without readable content must not replace the document
        missing = self._missing_reason(found, wanted)
        if not complete or missing or self._shown.document is not shown:
            found.close()
            if missing:
                self._notices.show_sentence(missing, "severity.error")
            return
        if is_live or len(wanted) > 1:
            found.path = found.path if is_live else path
        if is_live:
            found.name = shown.name
        if self._show_instead(found, SourcePlaces()) is None:
            found.close()
            return
        self.replaced.emit(found, path)

    def _is_still_requested(self, progress: Progress, wanted: list[SourceChoice]) -> bool:
        return self._report(progress) and self._wanted is wanted

    def _missing_reason(self, found: CaptureDocument, wanted: list[SourceChoice]) -> str:
        """Returns the reason why a new source is missing, or ""."""
        before = {one.key for one in self._shown.document.choices}
        there = {one.key for one in found.choices}
        if all(one.key in there for one in wanted if one.key not in before):
            return ""
        return " ".join(found.sources.troubles) or "The chosen files have no readable content."


class Place(NamedTuple):
    """The records of a message: file, offset and part, one entry for each source that has a copy."""

    records: tuple[tuple[Path, int, int], ...]


class SourcePlaces:
    """Finds messages by the position of their records."""

    def place_of(self, document: CaptureDocument, message: int) -> Place:
        """Returns the records of a message, its own first."""
        capture = document.capture
        columns = capture.columns
        found = [(int(columns["source"][message]), int(columns["offset"][message]), int(columns["part"][message]))]
        found += [(one.source, one.offset, 0) for one in capture.sightings_of(message)]
        return Place(tuple((capture.sources[source].path, offset, part) for source, offset, part in found))

    def message_at(self, document: CaptureDocument, place: Place) -> int | None:
        """Returns the message with one of these records, or None. O(messages)."""
        capture = document.capture
        numbers = {source.path: number for number, source in enumerate(capture.sources)}
        for path, offset, part in place.records:
            found = _message_of(capture, numbers[path], offset, part) if path in numbers else None
            if found is not None:
                return found
        return None


def _message_of(capture: Capture, source: int, offset: int, part: int) -> int | None:
    columns, sightings = capture.columns, capture.sightings
    found = np.flatnonzero((columns["offset"] == offset) & (columns["source"] == source) & (columns["part"] == part))
    if not len(found):
        found = sightings["message"][(sightings["offset"] == offset) & (sightings["source"] == source)]
    return int(found[0]) if len(found) else None
