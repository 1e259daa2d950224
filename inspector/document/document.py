"""A document: a capture with its sources and passes, opened, read on, checked and counted.

No Qt. Files and live traffic share one way: a live source writes a capture file, and `poll` continues in it as
`open_log` reads a log.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from inspector.analysis import Analysis, AnalysisChanges
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.tokens.token_counting import TokenCounting
from inspector.analysis.passes.user_marks import Note, Target
from inspector.analysis.views.causes.chain import ChainStep, chain_of
from inspector.analysis.views.causes.likely_links import LikelyChain, likely_chain
from inspector.analysis.views.latency.link_delay import link_delay_ns
from inspector.base.gc_control import no_collection
from inspector.base.memory_budget import MemoryBudget
from inspector.base.slices import SlicedWork
from inspector.document.decision_log import DecisionLog
from inspector.document.openers import OPENERS, OpenRequest, title_of, title_of_several
from inspector.document.source_list import resolve_choices
from inspector.document.source_set import SourceChoice
from inspector.document.sources import DocumentSources, Progress, Reader, is_tapped_now, progress_of
from inspector.document.stream_texts import StreamTexts
from inspector.formats import guards
from inspector.msp import (
    FORMAT,
    MspCapture,
    NotMspError,
    SessionDocument,
    SessionFollowing,
    read_sessions,
)
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.tool_aliases import ToolAliases
from inspector.reading.files.source_reader import BLOCK_BYTES, UnknownFormatError
from inspector.store.columns.block import Block
from inspector.store.files.tool_baseline import read_baseline
from inspector.store.messages.capture import Capture
from inspector.store.messages.piece_masks import PieceMasks

_REST_FACTOR = 500
"""Factor: while no messages arrive, the checks rest 500 times as long as their clock check took."""
_CHECKS_S = 1.0
_CHECKS_FAILED = (
    "The checks of {} ended at No. {:,} by an error in this program, which its log file describes. "
    "Later messages were not checked by them."
)


class Observer(Protocol):
    """Is notified of changes on the loop's thread, after the passes."""

    def messages_changed(self, changes: AnalysisChanges) -> None:
        """Handles new messages, or changes of earlier ones."""
        ...


class CaptureDocument:
    """A capture with its analysis.

    Attributes:
        name: display name for titles.
        path: the opened file, or the capture file of a live source, if any.
        capture, analysis: the messages and the passes.
        decisions: the gateway's decisions beside the log, if any.
        live: traffic is still arriving.
        msp: the session document behind this projection, if any; edits go to it.
        sessions: applies its edits to the capture.
        sources: the sources.
        memory: memory limit of reading; when it is reached, reading stops until `resume_reading` or `memory.extend`.
        stream_texts: joined texts of streams.
        counting: counts tokens on request.
        observers: notified of each change.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.path: Path | None = None
        self.capture = Capture()
        self.analysis = Analysis(self.capture)
        self.decisions = DecisionLog(self.capture)
        self.live = False
        self.memory = MemoryBudget()
        self.sources = DocumentSources(self.capture)
        self.msp: SessionDocument | None = None
        self.sessions: SessionFollowing | None = None
        self._checks_due = 0.0
        self._held: Block | None = None  # a block that was read but not appended
        self.observers: list[Observer] = []
        self.capture.records.masks = PieceMasks(self.capture)
        self.stream_texts = StreamTexts(self.capture, self.analysis.streams)
        self.counting = TokenCounting(self.capture, self.analysis.tokens)

    # Reading

    def open_log(
        self, path: Path, *, name: str | None = None, block_bytes: int = BLOCK_BYTES,
        follow: bool = False, together: bool = False, reading: str | None = None,
    ) -> Generator[Progress]:  # fmt: skip
        """Reads a log step by step; after each step of some MB the document is usable.

        Args:
            path: a log, an archive, a pipe, or STANDARD_INPUT; streams end with their writer. Also a file or folder of
                sessions (docs/protocols.md 14), detected by content.
            name: display name, if it differs from the file's name.
            block_bytes: bytes per step.
            follow: `poll` continues when the log grows.
            together: opens an agent session with the files of its sub-agents; always on for a folder.
            reading: forced format, one of `inspector.formats.registry.selectable_formats`; None for detection.

        Raises:
            OSError: the file cannot be read.
            UnknownFormatError: the first 1,000 lines have no known format.
        """
        guards.renew()  # a plug-in that failed with another log may work with this one
        request = OpenRequest(path, name, reading, block_bytes, follow=follow, together=together)
        # The first opener that knows the path reads it; the last one takes any log.
        for opener in OPENERS:
            steps = opener(self, request)
            if steps is not None:
                yield from steps
                return

    def open_together(
        self, choices: Sequence[SourceChoice], *, name: str | None = None, block_bytes: int = BLOCK_BYTES,
        follow: bool = False,
    ) -> Generator[Progress]:  # fmt: skip
        """Reads several logs as one document in the order of time, with the steps of `open_log`.

        A message found in several logs is one message. Logs without any known line are left out and named in
        `troubles`.

        Args:
            choices: files, folders and agents' sessions in any order. A single file is opened as by `open_log`.
            name, block_bytes, follow: as in `open_log`.

        Raises:
            OSError: no log can be read.
            UnknownFormatError: no log has a known line.
        """
        found = resolve_choices(choices)
        if len(found) == 1 and not found[0].parts and not found[0].is_live:
            # A single log needs neither comparison nor a merged order.
            one = found[0]
            yield from self.open_log(
                one.path, name=name, block_bytes=block_bytes, follow=follow, together=one.is_session,
                reading=one.reading,
            )  # fmt: skip
            return
        if len(found) > 1:
            self.capture.merge_across_sources()
        yield from self.open_set(found, name=name, block_bytes=block_bytes, follow=follow)

    def open_set(
        self, choices: Sequence[SourceChoice], *, name: str | None = None, block_bytes: int = BLOCK_BYTES,
        follow: bool = False,
    ) -> Generator[Progress]:  # fmt: skip
        """Reads the files of choices that are sorted already; the arguments and errors of `open_together`."""
        guards.renew()
        chosen = self.sources.add_several(choices)
        self.set_origin((chosen.live or chosen.sources[0]).path, name or title_of_several(chosen))
        yield from self.read_sources(block_bytes, follow=follow)

    def set_origin(self, path: Path, name: str) -> None:
        """Sets the path and the name, unless an earlier call did: a document keeps the name it was opened by."""
        self.path, self.name = self.path or path, self.name or name

    def stop_stream(self) -> None:
        """Ends the reading of standard input or a pipe; earlier data stays. Signal handlers may call it."""
        stream = self.sources.stream
        if stream is not None and stream.feed is not None:
            stream.feed.stop()

    def open_sessions(
        self, paths: Sequence[Path], *, name: str | None = None, block_bytes: int = BLOCK_BYTES,
        sessions: SessionDocument | None = None,
    ) -> Generator[Progress]:  # fmt: skip
        """Reads files and folders of sessions as one document; steps as for `open_log`.

        Args:
            paths: files and folders.
            name: display name, if it differs from the first file's name.
            block_bytes: bytes per step.
            sessions: sessions already read.

        Raises:
            OSError: they cannot be read, or there is no space for a spool.
            UnknownFormatError: they contain no sessions.
        """
        self.path = paths[0]
        self.name = self.name or name or (paths[0].name if paths[0].is_dir() else title_of(paths[0]))
        if sessions is None:
            steps = read_sessions(paths, wait=self.sources.waits)
            while True:
                try:
                    next(steps)
                except StopIteration as end:
                    sessions = end.value
                    break
                except NotMspError as error:
                    raise UnknownFormatError(str(error)) from None
                yield Progress(0, 1, 0, waiting=True)
        assert sessions is not None
        shown = MspCapture(sessions, self.path, self.name)
        for done, total in shown.fill():
            yield Progress(done, 2 * total, 0)
        self.msp, self.sessions = sessions, SessionFollowing(self, shown)
        if shown.source is not None:
            self.sources.add(shown.source)
            yield from self.read_sources(block_bytes, follow=False)
        self.sessions.report_problems()
        self.sessions.start()

    def take_rewritten(self, rows: Sequence[int]) -> None:
        """Passes rewritten lines to the passes."""
        if rows:
            self._notify_observers(self.analysis.rewritten(np.array(rows, np.int64)))

    def set_notes(self, notes: Iterable[tuple[Target, Note]]) -> Rows:
        """Sets marks and comments; an empty note removes both. Returns the changed messages."""
        for target, note in notes:
            self.analysis.marks.set_note(target, note)
        return self.report_notes()

    def report_notes(self) -> Rows:
        """Notifies observers of changed marks and comments. Returns the changed messages."""
        changed, count = self.analysis.marks.changed.take_rows(), len(self.analysis)
        for observer in list(self.observers):
            observer.messages_changed(AnalysisChanges(count, count, changed, tree_moved=False))
        return changed

    def catch_up(self) -> None:
        """Runs the checks on pending changes."""
        self._notify_observers(self.analysis.catch_up())

    def resume_reading(self, *, block_bytes: int = BLOCK_BYTES, follow: bool = False) -> Generator[Progress]:
        """Continues a log whose `open_log` was closed early; same steps and errors."""
        # The user chose to continue, so the limit rises by one step.
        self.memory.extend()
        yield from self.read_sources(block_bytes, follow=follow)

    def read_sources(self, block_bytes: int, *, follow: bool) -> Generator[Progress]:
        """Reads the sources added so far to their ends, with the steps of `open_log`."""
        sources, reader = self.sources, self.sources.reader
        finished, unchecked = False, False
        try:
            yield self._progress()
            for _ in reader.detect_format() if not reader.source.read_to else ():
                yield self._progress()
            sources.leave_out_unknown()
            if follow:
                sources.follow_logs()
            feed = reader.source.feed
            for block in reader.read_blocks(block_bytes, to_be_followed=sources.followed is not None):
                if block is not None:
                    try:
                        yield self._progress()  # the read took long enough for one turn of a window's loop
                        yield from self._checked()
                    finally:  # also if the generator is closed here: the reader is already past the block
                        if not sources.is_closed:
                            self._append_block(reader, block, more=True)
                            unchecked = True
                    yield from self._checked()
                elif unchecked and feed is not None and sources.several is None:
                    # The next block of a stream may take long.
                    self._notify_observers(self.analysis.catch_up())
                    unchecked = False
                yield self._progress()
                if self.memory.is_full and (feed is None or sources.waits):
                    yield from self._caught_up()
                    return
                while self.memory.is_full:  # stopping would also stop the thread that fills the spool
                    yield replace(self._progress(), waiting=True)
            for gateway in (one for one in reader.sources if one.known_format == "gateway-log"):
                for _ in self.decisions.open_beside(
                    gateway.path, waits=sources.waits, follow=sources.followed is not None
                ):
                    yield replace(self._progress(), waiting=True)
            self.analysis.findings.decisions = self.decisions.found
            yield from self._caught_up()
            finished = True
        finally:
            if not sources.is_closed and not finished:  # otherwise the checks would find closed files
                self._notify_observers(self.analysis.catch_up())
            self.live = finished and sources.is_live
            sources.end_opening(finished=finished)

    def _caught_up(self) -> Generator[Progress]:
        self._notify_observers(self.analysis.begin_all_checks())
        yield from self._checked()

    def _checked(self) -> Generator[Progress]:
        """Advances the checks, one step at a time."""
        while self.analysis.is_checking:
            self._advance_checks()
            yield self._progress()

    def _progress(self) -> Progress:
        return progress_of(self.sources.reader, len(self.capture), unopened=self.sources.is_unopened)

    def load(
        self, path: Path, *, name: str | None = None, reading: str | None = None, together: bool = False
    ) -> None:  # fmt: skip
        """Reads a log to its end. Arguments and errors as `open_log`."""
        for _ in self.open_log(path, name=name, reading=reading, together=together):
            pass

    def follow_capture(self, path: Path, *, name: str) -> None:
        """Attaches the capture file of a live source; `poll` then reads its growth.

        Raises:
            OSError: the file cannot be read.
        """
        self.name, self.path, self.live = name, path, True
        # Nothing is read here: `poll` finds the lines as they are written.
        self.sources.add_live(path, name)

    def open_live(self, path: Path, *, name: str | None, block_bytes: int) -> Generator[Progress]:
        """Reads the capture file of a live source as `open_log`; `poll` then reads its growth.

        Raises:
            OSError: the file cannot be read.
        """
        self.set_origin(path, name or title_of(path))
        self.sources.add_live(path, self.name, to_present=True)
        yield from self.read_sources(block_bytes, follow=False)

    def poll(self, *, more: bool = False, until: float = math.inf) -> bool:
        """Appends a block of new lines of a live capture or followed log; returns True if there was work.

        Pending checks of many messages take a step first.

        Args:
            more: more lines are expected, so checks may wait for a call without `more`.
            until: deadline by `time.perf_counter`; after it, no block is started, and a block already read waits.
        """
        if self.analysis.is_checking:
            self._advance_checks()
            return True
        if time.perf_counter() >= until:
            return True
        if self.sources.followed is not None and self.decisions.read_new():
            self.catch_up()
        self.sources.update()
        found = self._read_grown(more=more, until=until)
        if not found and not self.sources.is_waiting:
            self._check_again()
        return found or self.analysis.is_checking

    def _read_grown(self, *, more: bool = False, at_end: bool = False, until: float = math.inf) -> bool:
        """Appends a block of new lines; returns True if there was one."""
        if self._held is None and not self.memory.is_full:
            self._held = self.sources.read_on(at_end=at_end)
            # Appending needs a turn of its own, so the block waits for the next call.
            if self._held is not None and time.perf_counter() >= until:
                return True
        block, self._held = self._held, None
        if block is not None:
            self._append_block(self.sources.reader, block, more=more or self.sources.has_more)
        return block is not None

    def _check_again(self) -> None:
        """Runs postponed checks, and checks that depend on the clock, while no messages arrive."""
        by_clock = self.analysis.now_ns is not None and time.monotonic() >= self._checks_due
        if by_clock or self.analysis.findings.unchecked_count:
            began = time.monotonic()
            self._notify_observers(self.analysis.begin_all_checks())
            # Slow checks run rarely, so that they take at most 0.2 % of the time.
            self._checks_due = began + max(_CHECKS_S, _REST_FACTOR * (time.monotonic() - began))

    def postponed_checks(self) -> SlicedWork[None]:
        """Runs postponed checks, which read records again; closing the generator leaves the rest to another one."""
        if not self.sources.is_closed:
            for changes in self.analysis.deferred_checks():
                self._notify_observers(changes)
                yield
                if self.sources.is_closed:
                    return

    def set_tool_aliases(self, aliases: ToolAliases) -> None:
        """Sets aliases of tools, also for earlier messages; collapsed results may change."""
        self._notify_observers(self.analysis.use_tool_aliases(aliases))

    def set_prices(self, lines: Sequence[str], dated: str) -> None:
        """Sets the price table (`analysis.passes.tokens.prices`), also for earlier calls."""
        self._notify_observers(self.analysis.use_prices(lines, dated))

    def set_collapse_order(self, *, newest_first: bool) -> None:
        """Sets the order in which pending results collapse, also for earlier ones."""
        self._notify_observers(self.analysis.use_collapse_order(newest_first=newest_first))

    def set_idle_time(self, seconds: int) -> bool:
        """Sets the idle time of contexts in seconds; returns True if it changed."""
        contexts = self.analysis.contexts
        changed = contexts.idle_after_s != seconds
        contexts.idle_after_s = seconds
        if self.msp is not None:
            # The tree and the session's own rules must agree.
            self.msp.idle_after_s = seconds
        return changed

    def count_tokens(self) -> None:
        """Counts the tokens of all messages before it returns; see `troubles` for a failure."""
        self.counting.count_all()
        self.notify_counted()

    def notify_counted(self) -> None:
        """Notifies observers of newly counted messages."""
        self._notify_observers(self.analysis.take_counted())

    def end_live(self) -> None:
        """Reads the rest after the end of a live source, including an unfinished last line."""
        self.sources.end_live()
        while self.poll() or self._read_grown(at_end=True):
            pass
        # The last line may lack its line end.
        if (rest := self.sources.read_rest()) is not None:
            self._append_block(self.sources.reader, rest)
        self._notify_observers(self.analysis.catch_up())
        self.live = False
        if self.sources.several is not None:
            self.sources.several.end_live()

    def _append_block(self, reader: Reader, block: Block, *, more: bool = False) -> None:
        """Appends a block, runs the passes and notifies observers.

        Args:
            reader: source of the block; receives the duration.
            block: the next block.
            more: further blocks follow at once, so findings may wait.
        """
        began, source = time.thread_time(), reader.source
        source.read_to = max(source.read_to, block.stop)
        while self.analysis.is_checking:  # before the messages exceed the ones they started with
            self._advance_checks()
        with no_collection():
            appended = self.capture.append(block)
            followed = self.sources.followed is not None
            if followed and self.analysis.findings.baseline is None and is_tapped_now(source):
                self.analysis.findings.baseline = read_baseline()
            changes = self.analysis.feed(appended.touched, more=more)
        self.memory.update()
        self._notify_observers(changes)
        reader.pace.record_part(len(block), time.thread_time() - began)

    def _advance_checks(self) -> None:
        """Advances the started checks by one step."""
        with no_collection():
            changes = self.analysis.advance()
        self._notify_observers(changes)

    def _notify_observers(self, changes: AnalysisChanges) -> None:
        if changes.stop > changes.start or len(changes.changed) or changes.tree_moved:
            # A copy: an observer may leave while it is notified.
            for observer in list(self.observers):
                observer.messages_changed(changes)

    def close(self) -> None:
        """Closes the files; the columns stay."""
        self.counting.close()
        if self.sessions is not None:
            self.sessions.stop()
        if self.msp is not None:
            self.msp.stop_counting()
        self.live = False
        self.sources.close()
        self.capture.close()
        self.decisions.close()

    # Queries

    @property
    def read_errors(self) -> list[str]:
        """Problems with reading or following sources, as sentences for the user."""
        found = [*self.sources.troubles, self.counting.failure_message, *self.failed_checks]
        found += [mask_text(trip.sentence) for trip in guards.trips()]  # an error may quote a line
        if self.memory.is_full:
            found.append(self.memory.full_message)
        return [sentence for sentence in found if sentence is not None]

    @property
    def failed_checks(self) -> list[str]:
        """Sentences about checks that ended with a program error."""
        return [_CHECKS_FAILED.format(name, row) for name, row in self.analysis.findings.failed.items()]

    @property
    def choices(self) -> list[SourceChoice]:
        """Its sources as chosen, to open another document with more or fewer of them."""
        return self.sources.choices(live=self.live) if self.msp is None else []

    @property
    def is_arriving(self) -> bool:
        """Returns True if messages arrive on their own: live traffic, or a log that grew within the last minute."""
        return self.live or self.sources.is_active

    @property
    def may_grow(self) -> bool:
        """Returns True if messages arrive or may arrive, such as in the capture of a tap with a running server."""
        return self.is_arriving or self.sources.is_tapped

    @property
    def has_backlog(self) -> bool:
        """Returns True if `poll` has more to do at once."""
        return self.analysis.is_checking or self._held is not None or self.sources.has_more

    @property
    def format(self) -> str | None:
        """Format of most lines of the first source, or of the projected document."""
        if self.msp is not None:
            return FORMAT
        return self.capture.sources[0].main_format if self.capture.sources else None

    @property
    def unreadable(self) -> int:
        """Number of unreadable messages."""
        return self.capture.unreadable_count

    def chain(self, message: int) -> list[ChainStep]:
        """Returns the causal chain of a message in order of arrival, including itself."""
        return chain_of(self.analysis, message)

    def likely_chain(self, message: int) -> LikelyChain:
        """Returns the chain with likely links, for messages without named causes."""
        return likely_chain(self.analysis, message)

    def lag_ns(self) -> int | None:
        """Returns the delay of arriving messages on a slow link; None for a log or without delay."""
        return link_delay_ns(self.analysis)

    def kind_counts(self) -> dict[str, int]:
        """Counts messages by canonical kind, most frequent first."""
        codes, counts = np.unique(self.capture.foreign_rpc.kind_codes(slice(None)), return_counts=True)
        pairs = sorted(zip(counts.tolist(), codes.tolist(), strict=True), key=lambda p: (-p[0], p[1]))
        return {self.capture.strings[code]: count for count, code in pairs}
