"""One document: a capture, its sources, passes and what a window or the command line asks of them.

No Qt. Files and live traffic come the same way: a live source writes a capture file, and `poll` reads on in it
as `open_log` reads a log.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from inspector.analysis import Analysis, Changes
from inspector.analysis.passes.tokens.counting import Counting
from inspector.analysis.views.causes.chain import ChainStep, chain_of
from inspector.analysis.views.causes.likely_links import LikelyChain, likely_chain
from inspector.analysis.views.latency.link_delay import lag_ns
from inspector.base.gc_control import no_collection
from inspector.base.memory import MemoryBudget
from inspector.document.decision_log import DecisionLog
from inspector.document.openers import OPENERS, OpenRequest, title_of, title_of_several
from inspector.document.source_list import in_order
from inspector.document.source_set import SourceChoice
from inspector.document.sources import DocumentSources, Progress, Reader, is_tapped_now, progress_of
from inspector.document.stream_texts import StreamTexts
from inspector.msp import (
    FORMAT,
    MspCapture,
    NotMspError,
    SessionDocument,
    SessionFollowing,
    read_sessions,
)
from inspector.protocol.tool_names import ToolAliases
from inspector.reading.files.source_reader import BLOCK_BYTES, UnknownFormatError
from inspector.store.columns.block import Block
from inspector.store.files.tool_baseline import read_baseline
from inspector.store.messages.capture import Capture

_REST = 500
"""Where nothing comes, the checks are at rest so many times as long as they take to look at the clock."""
_CHECKS_S = 1.0
_CHECKS_FAILED = (
    "The checks of {} ended at No. {:,} by an error in this program, which its log file describes. "
    "Later messages were not checked by them."
)


class Observer(Protocol):
    """Told about changes on the loop's thread, after the passes have taken them in."""

    def messages_changed(self, changes: Changes) -> None:
        """New messages arrived, or earlier ones changed."""
        ...


class CaptureDocument:
    """A capture with its analysis.

    Attributes:
        name: what titles show.
        path: the file opened, or the capture file a live source writes; None before.
        capture, analysis: the messages and what is known of them.
        decisions: what the gateway decided about the messages, where that lies beside the log.
        live: traffic is still arriving.
        msp: the sessions this is a projection of, where it was opened from such a document; they are what is edited.
        sessions: lets the capture follow their edits.
        sources: what it is read from.
        memory: what reading may take; when that is used up nothing more is read until `go_on`, or `memory.extend`.
        stream_texts: what the frames of its streams say together.
        counting: counts the tokens of its messages, when somebody asks for it.
        observers: told about each change.
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
        self._held: Block | None = None  # read, and not taken in yet
        self.observers: list[Observer] = []
        self.stream_texts = StreamTexts(self.capture, self.analysis.streams)
        self.counting = Counting(self.capture, self.analysis.tokens)

    # Reading

    def open_log(
        self, path: Path, *, name: str | None = None, block_bytes: int = BLOCK_BYTES, wait: bool = True,
        follow: bool = False, together: bool = False, reading: str | None = None,
    ) -> Generator[Progress]:  # fmt: skip
        """Read a log step by step; each step is some MB and leaves a usable document.

        Args:
            path: a log, an archive of one, a pipe, or STANDARD_INPUT; these end when what fills them ends. Also a file
                or a folder of sessions with their sub-sessions (docs/protocols.md 14), told by what is in it.
            name: what titles show instead of the file's own name.
            block_bytes: read in one step.
            wait: for whoever reads for us; else a step without anything new says that it waits.
            follow: go on with `poll` when the log grows.
            together: a session of a coding agent is opened with the files of its sub-agents. A folder of such is so
                anyway.
            reading: the format to read it as, one of `formats.READINGS`; None for those that know its lines.

        Raises:
            OSError: the file cannot be read.
            UnknownFormatError: nothing in its first 1,000 lines is known.
        """
        request = OpenRequest(path, name, reading, block_bytes, wait=wait, follow=follow, together=together)
        for opener in OPENERS:
            steps = opener(self, request)
            if steps is not None:
                yield from steps
                return

    def open_together(
        self, choices: Sequence[SourceChoice], *, name: str | None = None, block_bytes: int = BLOCK_BYTES,
        wait: bool = True, follow: bool = False,
    ) -> Generator[Progress]:  # fmt: skip
        """Reads several logs as one document in the order of time, with the steps of `open_log`.

        A message found in several logs is one message. Logs without any known line are left out and named in
        `troubles`.

        Args:
            choices: files, folders and agents' sessions in any order. A single file is opened as by `open_log`.
            name, block_bytes, wait, follow: as in `open_log`.

        Raises:
            OSError: no log can be read.
            UnknownFormatError: no log has a known line.
        """
        found = in_order(choices)
        if len(found) == 1 and not found[0].parts and not found[0].is_live:
            one = found[0]
            yield from self.open_log(
                one.path, name=name, block_bytes=block_bytes, wait=wait, follow=follow, together=one.is_session,
                reading=one.reading,
            )  # fmt: skip
            return
        if len(found) > 1:
            self.capture.share_messages()
        yield from self.open_set(found, name=name, block_bytes=block_bytes, wait=wait, follow=follow)

    def open_set(
        self, choices: Sequence[SourceChoice], *, name: str | None = None, block_bytes: int = BLOCK_BYTES,
        wait: bool = True, follow: bool = False,
    ) -> Generator[Progress]:  # fmt: skip
        """Reads the files of choices that are sorted already; the arguments and errors of `open_together`."""
        chosen = self.sources.add_several(choices)
        self.set_origin((chosen.live or chosen.sources[0]).path, name or title_of_several(chosen))
        yield from self.read_sources(block_bytes, wait=wait, follow=follow)

    def set_origin(self, path: Path, name: str) -> None:
        """Sets the path and the name, unless an earlier call did: a document keeps the name it was opened by."""
        self.path, self.name = self.path or path, self.name or name

    def stop_stream(self) -> None:
        """Take in no more of standard input or a pipe; what came stays. Also from a signal handler."""
        stream = self.sources.stream
        if stream is not None and stream.feed is not None:
            stream.feed.stop()

    def open_sessions(
        self, paths: Sequence[Path], *, name: str | None = None, block_bytes: int = BLOCK_BYTES, wait: bool = True,
        sessions: SessionDocument | None = None,
    ) -> Generator[Progress]:  # fmt: skip
        """Read files and folders of sessions with their sub-sessions as one document; steps as those of `open_log`.

        Args:
            paths: files and folders.
            name: what titles show instead of the first one's own name.
            block_bytes: read in one step.
            wait: for whoever reads for us.
            sessions: what was read already.

        Raises:
            OSError: they cannot be read, or there is no room for a spool.
            UnknownFormatError: they hold no sessions.
        """
        self.path = paths[0]
        self.name = self.name or name or (paths[0].name if paths[0].is_dir() else title_of(paths[0]))
        if sessions is None:
            steps = read_sessions(paths, wait=wait)
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
            yield from self.read_sources(block_bytes, wait=wait, follow=False)
        self.sessions.report_problems()

    def take_rewritten(self, rows: Sequence[int]) -> None:
        """Let the passes take in lines that were written anew in their places."""
        if rows:
            self._tell(self.analysis.rewritten(np.array(rows, np.int64)))

    def catch_up(self) -> None:
        """Let the checks look at what they were told meanwhile."""
        self._tell(self.analysis.catch_up())

    def go_on(self, *, block_bytes: int = BLOCK_BYTES, wait: bool = True, follow: bool = False) -> Generator[Progress]:
        """Read the rest of a log whose `open_log` was closed before its end; the same steps, the same errors."""
        self.memory.extend()
        yield from self.read_sources(block_bytes, wait=wait, follow=follow)

    def read_sources(self, block_bytes: int, *, wait: bool, follow: bool) -> Generator[Progress]:
        """Reads the sources added so far to their ends, with the steps of `open_log`."""
        sources, reader = self.sources, self.sources.reader
        finished = False
        try:
            yield self._progress()
            for _ in reader.find_out(wait=wait) if not reader.source.read_to else ():
                yield self._progress()
            sources.leave_out_unknown()
            if follow:
                sources.follow()
            feed = reader.source.feed
            for block in reader.read(block_bytes, wait=wait, to_be_followed=sources.followed is not None):
                if block is not None:
                    try:
                        yield self._progress()  # reading it was long enough for one turn of a window's loop
                        yield from self._checked()
                    finally:  # also where reading ends here: the reader has gone on behind it
                        if not sources.is_closed:
                            self._take(reader, block, more=True)
                    yield from self._checked()
                elif feed is not None and sources.several is None:  # a stream, whose next block may take its time
                    self._tell(self.analysis.catch_up())
                yield self._progress()
                if self.memory.full and (feed is None or wait):
                    yield from self._caught_up()
                    return
                while self.memory.full:  # what fills a spool would be stopped with us
                    yield replace(self._progress(), waiting=True)
            for gateway in (one for one in reader.sources if one.known_format == "gateway-log"):
                for _ in self.decisions.open(gateway.path, wait=wait, follow=sources.followed is not None):
                    yield replace(self._progress(), waiting=True)
            self.analysis.findings.decisions = self.decisions.found
            yield from self._caught_up()
            finished = True
        finally:
            if not sources.is_closed and not finished:  # else the checks would find the files shut
                self._tell(self.analysis.catch_up())
            self.live = finished and sources.is_live
            sources.end_opening(finished=finished)

    def _caught_up(self) -> Generator[Progress]:
        self._tell(self.analysis.begin_catch_up())
        yield from self._checked()

    def _checked(self) -> Generator[Progress]:
        """Let the checks look at what they have begun with, a step each."""
        while self.analysis.checking:
            self._advance(0.0)
            yield self._progress()

    def _progress(self) -> Progress:
        return progress_of(self.sources.reader, len(self.capture))

    def load(
        self, path: Path, *, name: str | None = None, reading: str | None = None, together: bool = False
    ) -> None:  # fmt: skip
        """Read a log to its end. Takes and raises what `open_log` does."""
        for _ in self.open_log(path, name=name, reading=reading, together=together):
            pass

    def follow_capture(self, path: Path, *, name: str) -> None:
        """Attach the capture file a live source writes; `poll` then takes in what it gains.

        Raises:
            OSError: the file cannot be read.
        """
        self.name, self.path, self.live = name, path, True
        self.sources.add_live(path, name)

    def poll(self, *, more: bool = False, until: float = math.inf) -> bool:
        """Take in the whole lines a live capture or a followed log has gained, a block of them; whether there was work.

        Where the checks have begun to look at many messages, it is their turn first, for a step.

        Args:
            more: more is expected at once: the checks may wait until it is asked without, or nothing comes.
            until: later than that, by `time.perf_counter`, no block is begun, nor one taken in that was read meanwhile.
        """
        if self.analysis.checking:
            self._advance(0.0)
            return True
        if time.perf_counter() >= until:
            return True
        if self.sources.followed is not None and self.decisions.follow():
            self.catch_up()
        self.sources.update()
        found = self._read_grown(more=more, until=until)
        if not found and not self.sources.waiting:
            self._check_again()
        return found or self.analysis.checking

    def _read_grown(self, *, more: bool = False, at_end: bool = False, until: float = math.inf) -> bool:
        """Take in a block of what has come; whether there was any."""
        if self._held is None and not self.memory.full:
            self._held = self.sources.read_on(at_end=at_end)
            if self._held is not None and time.perf_counter() >= until:
                return True
        block, self._held = self._held, None
        if block is not None:
            self._take(self.sources.reader, block, more=more or self.sources.has_more)
        return block is not None

    def _check_again(self) -> None:
        """Nothing came: time for what the checks left for later, and for what waits too long by the clock."""
        by_clock = self.analysis.now_ns is not None and time.monotonic() >= self._checks_due
        if by_clock or self.analysis.findings.behind:
            began = time.monotonic()
            self._tell(self.analysis.begin_catch_up())
            self._checks_due = began + max(_CHECKS_S, _REST * (time.monotonic() - began))

    def look_further(self, until: float) -> bool:
        """Do some of what the checks have put off because records have to be read again for it.

        Args:
            until: when to stop, by `time.perf_counter`; something is done however late it is.

        Returns:
            Whether nothing is left to be done until more messages come.
        """
        if self.sources.is_closed:
            return True
        changes, done = self.analysis.go_on(until)
        self._tell(changes)
        return done

    def use_tool_aliases(self, aliases: ToolAliases) -> None:
        """Let tools go by other names, also in what was read: which results collapse may change."""
        self._tell(self.analysis.use_tool_aliases(aliases))

    def use_prices(self, lines: Sequence[str], dated: str) -> None:
        """Let calls of models cost what a table says (`analysis.passes.tokens.prices`), also in what was read."""
        self._tell(self.analysis.use_prices(lines, dated))

    def use_collapse_order(self, *, newest_first: bool) -> None:
        """Of several results that wait, let the most recent one or the oldest collapse, also in what was read."""
        self._tell(self.analysis.use_collapse_order(newest_first=newest_first))

    def use_idle_time(self, seconds: int) -> bool:
        """Let contexts be idle so long after their last message; whether that is another time than before."""
        contexts = self.analysis.contexts
        changed = contexts.idle_after_s != seconds
        contexts.idle_after_s = seconds
        if self.msp is not None:
            self.msp.idle_after_s = seconds
        return changed

    def count_tokens(self) -> None:
        """Count the tokens of all messages taken in, and return when that is done; see `troubles` where it failed."""
        self.counting.count_all()
        self.tell_counted()

    def tell_counted(self) -> None:
        """Tell observers which messages have been counted since the last call."""
        self._tell(self.analysis.take_counted())

    def end_live(self) -> None:
        """The source has ended: read what is left, a torn last line included."""
        self.sources.end_live()
        while self.poll() or self._read_grown(at_end=True):
            pass
        if (rest := self.sources.read_rest()) is not None:
            self._take(self.sources.reader, rest)
        self._tell(self.analysis.catch_up())
        self.live = False
        if self.sources.several is not None:
            self.sources.several.end_live()

    def _take(self, reader: Reader, block: Block, *, more: bool = False) -> None:
        """Take a block in, and let the passes and everybody else know.

        Args:
            reader: gave it, and is told how long that took.
            block: what comes next.
            more: further blocks follow at once, so that the findings may wait for them.
        """
        began, source = time.thread_time(), reader.source
        source.read_to = max(source.read_to, block.stop)
        if self.analysis.checking:  # before there is more than they began with
            self._advance(math.inf)
        with no_collection():
            appended = self.capture.append(block)
            followed = self.sources.followed is not None
            if followed and self.analysis.findings.baseline is None and is_tapped_now(source):
                self.analysis.findings.baseline = read_baseline()
            changes = self.analysis.feed(appended.touched, more=more)
        self.memory.look()
        self._tell(changes)
        reader.pace.note(len(block), time.thread_time() - began)

    def _advance(self, until: float) -> None:
        """Let the checks go on with what they have begun with."""
        with no_collection():
            changes = self.analysis.advance(until)
        self._tell(changes)

    def _tell(self, changes: Changes) -> None:
        if changes.stop > changes.start or len(changes.changed) or changes.tree_moved:
            for observer in list(self.observers):
                observer.messages_changed(changes)

    def close(self) -> None:
        """Close the files; the columns stay."""
        self.counting.close()
        if self.sessions is not None:
            self.sessions.stop()
        self.live = False
        self.sources.close()
        self.capture.close()
        self.decisions.close()

    # Asking

    @property
    def troubles(self) -> list[str]:
        """What kept sources from being read to their end, or from being followed; sentences for the user."""
        found = [*self.sources.troubles, self.counting.trouble, *self.failed_checks]
        if self.memory.full:
            found.append(self.memory.sentence)
        return [sentence for sentence in found if sentence is not None]

    @property
    def failed_checks(self) -> list[str]:
        """Of the troubles those about checks that an error in the program has ended."""
        return [_CHECKS_FAILED.format(name, row) for name, row in self.analysis.findings.failed.items()]

    @property
    def choices(self) -> list[SourceChoice]:
        """Its sources as they were chosen: what another document is opened of with one more, or one fewer."""
        return self.sources.choices(live=self.live) if self.msp is None else []

    @property
    def arriving(self) -> bool:
        """Whether messages come in by themselves now: live traffic, or a log that has grown within the last minute."""
        return self.live or self.sources.active

    @property
    def may_go_on(self) -> bool:
        """Whether messages come in, or may at any time: in the capture of a tap until its server has ended."""
        return self.arriving or self.sources.tapped

    @property
    def catching_up(self) -> bool:
        """Whether `poll` has more to do at once: what it has begun, or more to read than comes between two."""
        return self.analysis.checking or self._held is not None or self.sources.has_more

    @property
    def format(self) -> str | None:
        """The format most lines of the first source are in, or that of the document they are a projection of."""
        if self.msp is not None:
            return FORMAT
        return self.capture.sources[0].format if self.capture.sources else None

    @property
    def unreadable(self) -> int:
        """Messages nothing could be made of."""
        return self.capture.unreadable_count

    def chain(self, message: int) -> list[ChainStep]:
        """The causal chain of a message, both ways, in order of arrival, the message itself included."""
        return chain_of(self.analysis, message)

    def likely_chain(self, message: int) -> LikelyChain:
        """The same with the links that are only likely, where messages name nothing."""
        return likely_chain(self.analysis, message)

    def lag_ns(self) -> int | None:
        """How long ago what comes now was sent, where the link cannot keep up; None for a log and for no lag."""
        return lag_ns(self.analysis)

    def kind_counts(self) -> dict[str, int]:
        """Messages by canonical kind, most frequent first."""
        codes, counts = np.unique(self.capture.foreign_rpc.kind_codes(slice(None)), return_counts=True)
        pairs = sorted(zip(counts.tolist(), codes.tolist(), strict=True), key=lambda p: (-p[0], p[1]))
        return {self.capture.strings[code]: count for count, code in pairs}
