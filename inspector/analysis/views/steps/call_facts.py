"""Reads the files and the commands of tool calls, and sums them by file and by command.

Calls are counted as in `tool_calls`. Payloads of calls are read once and kept.

RULES: a failed command was fixed if the same command succeeded later. A failed edit was fixed if a later edit of the
same file succeeded. Commands are the same if they differ only in a leading "cd", in redirections to the output, or in a
final "head" or "tail". A write of the content that an earlier call wrote changes no lines, if no call between them may
have changed the file. A command also fixes one that differs only in the spelling of the interpreter, as "python3" in
place of "python"; the repair then names it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.account.tool_calls import calls_of
from inspector.analysis.views.steps.test_outputs import TestOutput, result_in
from inspector.base.slices import SlicedWork
from inspector.protocol.json_values import decode_one
from inspector.protocol.message_text import text_shown
from inspector.protocol.payloads.file_edits import PATH_ARGUMENTS, content_after, edits_of
from inspector.protocol.payloads.outline import nested_value
from inspector.protocol.payloads.reading_commands import Sort, sort_of_command
from inspector.protocol.payloads.shell_commands import command_of
from inspector.store.columns.hashes import NO_HASH, NO_ROW, hash_text
from inspector.store.messages.batch_decoding import read_in_batches
from inspector.store.messages.capture import Capture

_CALLS_PER_STEP = 64
_FACTS_PER_STEP = 4_096
NEAR_CALLS = 512
"""New calls that a first picture waits for: some 15 ms."""
_READING = re.compile(r"read|view|open|cat\b|fetch_file|get_file", re.IGNORECASE)
_TESTING = re.compile(
    r"\b(?:test|tests|pytest|unittest|jest|vitest|mocha|rspec|ctest|tox|nox|phpunit)\b", re.IGNORECASE
)
_HARMLESS = re.compile(
    r"(?:ls|cat|head|tail|wc|grep|rg|find|pwd|cd|echo|stat|diff|git (?:status|diff|log|show|branch)|pytest|"
    r"python3? -m (?:pytest|unittest)|go (?:test|vet)|cargo test|npm (?:run )?test|ctest)(?![\w.:-])"
)
_CHANGING = re.compile(
    r">(?!&|\s*/dev/null)|[`$]\(?|-exec|-ok|-delete|-fprint|-fls|<\(|--out|--pre\b|-fix\b|--write|-u\b|-update"
)
_QUIET_TOOL = re.compile(r"todo|plan|think|grep|glob|search|fetch|read|view|list|find|\Als\Z", re.IGNORECASE)
_ACTING_TOOL = re.compile(r"write|edit|replace|move|rename|delete|run|exec|update_(?!plan)", re.IGNORECASE)
_JOINTS = re.compile(r"[;|&\n]+")
_MOVING = re.compile(r"\Acd [^&;|]+&& *")
_TRIMMING = re.compile(r"(?: *2>&1| *\| *(?:head|tail)(?: +[-\w]+)*)+ *\Z")
_INTERPRETER = re.compile(r"(\A|[;&|] *)python(?:3(?:\.\d+)?)?(?= )")
_MAX_COMMAND = 4_000
"""Limit of a command in characters."""


class TouchKind(enum.Enum):
    """Kinds of access to a file."""

    EDITED = "edited"
    WRITTEN = "written"
    DELETED = "deleted"
    READ = "read"


class Outcome(enum.Enum):
    """Outcomes of a call."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"
    """A person did not allow it."""
    OPEN = "open"


class Touch(NamedTuple):
    """Access of a call to one file.

    Attributes:
        path: of the file, as written.
        kind: kind of access.
        added, removed: number of lines.
        content: hash of the whole content that the call writes; NO_HASH if it does not tell it.
    """

    path: str
    kind: TouchKind
    added: int
    removed: int
    content: int = NO_HASH


class _Contents(NamedTuple):
    """Contents of a call's arguments."""

    touches: tuple[Touch, ...]
    command: str
    sort: Sort
    is_test: bool
    is_opaque: bool


class CallFact(NamedTuple):
    """A tool call.

    Attributes:
        row: the request.
        answer: its answer; NO_ROW without one.
        outcome: its outcome.
        tool: its name; "" if it has none.
        touches: files that it reads or changes.
        command: its shell command; "" for other calls.
        sort: sort of a command that only reads or searches.
        is_test: its command runs tests, and its output is not only that there are none.
        is_opaque: its tool may change files that it does not name.
        has_failed_tests: its output states a failed test. The exit code of a pipe is that of its last program.
    """

    row: int
    answer: int
    outcome: Outcome
    tool: str
    touches: tuple[Touch, ...]
    command: str
    sort: Sort = ""
    is_test: bool = False
    is_opaque: bool = False
    has_failed_tests: bool = False

    @property
    def run_outcome(self) -> Outcome:
        """Outcome of a command: that of its tests if it runs any."""
        return Outcome.FAILED if self.has_failed_tests and self.outcome is Outcome.OK else self.outcome

    @property
    def is_change(self) -> bool:
        """True if it changes a file."""
        return bool(self.changed_paths)

    @property
    def changed_paths(self) -> set[str]:
        """Files that it changes."""
        return {touch.path for touch in self.touches if touch.kind is not TouchKind.READ}

    @property
    def may_change_files(self) -> bool:
        """True for a call that may change any file. RULE: only well-known commands that read or test do not."""
        if not self.command:
            return self.is_opaque
        command = self.command.replace("2>&1", "")
        if len(self.command) >= _MAX_COMMAND or _CHANGING.search(command):
            return True
        return any(part.strip() and _HARMLESS.match(part.strip()) is None for part in _JOINTS.split(command))

    def written(self, path: str) -> int | None:
        """Returns the hash of the content of a file after this call, NO_HASH if unknown, or None if unchanged."""
        if self.outcome is Outcome.REJECTED or (self.outcome is Outcome.FAILED and not self.command):
            return None
        if self.may_change_files:
            return NO_HASH
        changes = [touch for touch in self.touches if touch.path == path and touch.kind is not TouchKind.READ]
        if not changes:
            return None
        return changes[-1].content if len(changes) == 1 and self.outcome is Outcome.OK else NO_HASH


class WrittenContents:
    """Contents of files that calls wrote, in order of the calls."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._hashes: dict[str, int] = {}
        self._earlier: set[tuple[str, int]] = set()

    def add(self, call: CallFact) -> CallFact:
        """Adds the next call; returns it without changed lines if it writes the present content again."""
        if len(call.touches) == 1 and (touch := call.touches[0]).content != NO_HASH:
            if self._hashes.get(touch.path) == touch.content or (
                (touch.path, touch.content) in self._earlier and tells_no_change(self._capture, call.answer)
            ):
                call = call._replace(touches=(touch._replace(added=0, removed=0),))
            self._earlier.add((touch.path, touch.content))
        if self._hashes and call.may_change_files and call.outcome is not Outcome.REJECTED:
            self._hashes.clear()
        for path in call.changed_paths if call.touches else ():
            if (content := call.written(path)) is not None:
                self._hashes[path] = content
        return call


def tells_no_change(capture: Capture, answer: int) -> bool:
    """Returns True if the record of a write's answer has the same text as old and as new content."""
    line = capture.records.read_line_of(answer) if answer != NO_ROW else b""
    if b'"originalFile"' not in line:
        return False
    told = decode_one(_decode_written, line)
    return told is not None and told.tool_use_result.original_file == told.tool_use_result.content is not None


class _Told(msgspec.Struct, rename="camel"):
    content: str | None = None
    original_file: str | None = None
    structured_patch: Any = None


class _Written(msgspec.Struct, rename="camel"):
    tool_use_result: _Told


_decode_written = msgspec.json.Decoder(_Written).decode


def _lines_in_patch(capture: Capture, answer: int) -> tuple[int, int] | None:
    """Returns the added and removed lines of the patch in an answer's record; None without one."""
    line = capture.records.read_line_of(answer)
    told = decode_one(_decode_written, line) if b'"structuredPatch"' in line else None
    patch = None if told is None else told.tool_use_result.structured_patch
    hunks = [hunk.get("lines") for hunk in patch if isinstance(hunk, dict)] if isinstance(patch, list) else []
    signs = [text[:1] for lines in hunks if isinstance(lines, list) for text in lines if isinstance(text, str)]
    return (signs.count("+"), signs.count("-")) if signs else None


@dataclass(slots=True)
class FileFact:
    """Accesses to one file.

    Attributes:
        path: of the file, as written.
        edits, writes, deletes, reads: number of successful accesses.
        added, removed: lines of successful edits and writes.
        failed, rejected: changes that failed, and changes that a person did not allow.
        calls: indexes of the calls in `CallFacts.calls`, in order.
        last_change: index of the last successful change; -1 without one.
        test: index of the last run of tests after the last change; -1 without one.
    """

    path: str
    edits: int = 0
    writes: int = 0
    deletes: int = 0
    reads: int = 0
    added: int = 0
    removed: int = 0
    failed: int = 0
    rejected: int = 0
    calls: list[int] = field(default_factory=list)
    last_change: int = -1
    test: int = -1

    @property
    def is_changed(self) -> bool:
        """True if a call changed it, or tried to."""
        return bool(self.edits or self.writes or self.deletes or self.failed or self.rejected)


@dataclass(frozen=True, slots=True)
class CommandFact:
    """Runs of one command.

    Attributes:
        command: as first written, without the parts in which equal commands differ.
        calls: indexes of its runs in `CallFacts.calls`, in order.
    """

    command: str
    calls: tuple[int, ...]


class CallFacts:
    """Calls of a document with their files and commands.

    Attributes:
        calls: all tool calls in order.
    """

    def __init__(self, calls: Sequence[CallFact]) -> None:
        self.calls = calls

    def files(self) -> list[FileFact]:
        """Returns all files, changed ones first, else in order of their first access. O(calls)."""
        found: dict[str, FileFact] = {}
        tests = [
            place for place, call in enumerate(self.calls) if call.is_test and call.outcome is not Outcome.REJECTED
        ]
        for place, call in enumerate(self.calls):
            for touch in call.touches:
                _add_touch(found.setdefault(touch.path, FileFact(touch.path)), place, call, touch)
        for file in found.values():
            if tests and file.last_change >= 0 and tests[-1] > file.last_change:
                file.test = tests[-1]
        return sorted(found.values(), key=lambda file: not file.is_changed)

    def commands(self) -> list[CommandFact]:
        """Returns commands in order of their first run."""
        found: dict[str, list[int]] = {}
        for place, call in enumerate(self.calls):
            if call.command:
                found.setdefault(plain_command(call.command), []).append(place)
        return [CommandFact(command, tuple(places)) for command, places in found.items()]

    @cached_property
    def repairs(self) -> dict[int, Repair]:
        """The success that put a failed call right, by index of the failed call. O(calls)."""
        found: dict[int, Repair] = {}
        by_command, by_spelling, by_path = dict[str, int](), dict[str, int](), dict[str, int]()
        changes = 0  # successful changes from the call to the end
        changes_from: dict[int, int] = {}
        for place in range(len(self.calls) - 1, -1, -1):
            call = self.calls[place]
            if call.outcome is Outcome.FAILED:
                command = plain_command(call.command)
                later = (
                    by_command.get(command, by_spelling.get(_one_spelling(command))) if call.command
                    else min((by_path[path] for path in call.changed_paths if path in by_path), default=None)
                )  # fmt: skip
                if later is not None:
                    other = plain_command(self.calls[later].command) if call.command else ""
                    found[place] = Repair(later, changes - changes_from[later], "" if other == command else other)
            elif call.outcome is Outcome.OK:
                changes += call.is_change
                changes_from[place] = changes
                if call.command and not call.has_failed_tests:
                    command = plain_command(call.command)
                    by_command[command] = by_spelling[_one_spelling(command)] = place
                by_path.update(dict.fromkeys(call.changed_paths, place))
        return found


class Repair(NamedTuple):
    """The success after a failure.

    Attributes:
        place: index of the call.
        changes: number of calls between both that changed files.
        command: the command that succeeded, if it is spelled in another way; "".
    """

    place: int
    changes: int
    command: str = ""


def _add_touch(file: FileFact, place: int, call: CallFact, touch: Touch) -> None:
    file.calls.append(place)
    changes = touch.kind is not TouchKind.READ
    if call.outcome is Outcome.REJECTED:
        file.rejected += changes
    elif call.outcome is Outcome.FAILED:
        file.failed += changes
    elif call.outcome is Outcome.OK:
        file.added += touch.added
        file.removed += touch.removed
        file.edits += touch.kind is TouchKind.EDITED
        file.writes += touch.kind is TouchKind.WRITTEN
        file.deletes += touch.kind is TouchKind.DELETED
        file.reads += touch.kind is TouchKind.READ
        if changes:
            file.last_change = place


def plain_command(command: str) -> str:
    """Returns a command on one line, without a leading "cd", redirections of its output, and a final "head"."""
    line = " ".join(command.split())
    return _TRIMMING.sub("", _MOVING.sub("", line)) or line


def _one_spelling(command: str) -> str:
    """Returns a plain command with one name for all versions of its interpreter."""
    return _INTERPRETER.sub(r"\1python", command)


class KeptCalls:
    """The calls of a document, whose arguments are read once."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._contents: dict[int, _Contents] = {}
        self._reading: list[int] = []
        self._test_outputs: dict[int, TestOutput] = {}
        self._patches: dict[int, tuple[int, int] | None] = {}

    def note_changed(self, changed: Rows) -> None:
        """Does nothing, because arguments never change; outcomes are looked up anew."""

    def facts(self) -> SlicedWork[CallFacts]:
        """Returns the calls, in steps. O(calls), and O(bytes) of new ones."""
        calls, strings = calls_of(self._analysis), self._analysis.capture.strings
        targets = self._analysis.correlation.columns["target"][calls.rows].tolist()
        yield from self._read_new(calls.rows, targets)
        found, written = list[CallFact](), WrittenContents(self._analysis.capture)
        columns = zip(
            calls.rows.tolist(), calls.answers.tolist(), calls.failed.tolist(), calls.declined.tolist(), targets,
            strict=True,
        )  # fmt: skip
        for row, answer, failed, declined, target in columns:
            tool, contents = strings[target] if target else "", self._contents[row]
            outcome = (
                Outcome.REJECTED if declined
                else Outcome.FAILED if failed
                else Outcome.OK if answer != NO_ROW
                else Outcome.OPEN
            )  # fmt: skip
            if len(contents.touches) == 1 and outcome is Outcome.OK:
                contents = contents._replace(touches=(self._counted(contents.touches[0], answer),))
            tests = self._result_of_tests(answer) if contents.is_test and answer != NO_ROW else TestOutput.UNKNOWN
            if tests is TestOutput.NO_TESTS:
                contents = contents._replace(is_test=False)
            fact = CallFact(row, answer, outcome, tool, *contents, has_failed_tests=tests is TestOutput.FAILED)
            found.append(written.add(fact))
            if len(found) % _FACTS_PER_STEP == 0:
                yield
        return CallFacts(found)

    def _counted(self, touch: Touch, answer: int) -> Touch:
        """Returns a change with the lines of the answer's patch: a call that writes a file names only the new ones."""
        if touch.kind is TouchKind.READ:
            return touch
        if answer not in self._patches:
            self._patches[answer] = _lines_in_patch(self._analysis.capture, answer)
        lines = self._patches[answer]
        return touch if lines is None else touch._replace(added=lines[0], removed=lines[1])

    def _result_of_tests(self, answer: int) -> TestOutput:
        found = self._test_outputs.get(answer)
        if found is None:
            capture = self._analysis.capture
            text = text_shown(capture.string("kind", answer) or "", capture.records.payload(answer)) or ""
            found = self._test_outputs[answer] = result_in(text)
        return found

    def reading_rows(self, near: int | None = None) -> SlicedWork[tuple[Rows, bool]]:
        """Returns the messages of calls with commands that only read or search, in steps. O(bytes) of new calls.

        Args:
            near: a message. At most NEAR_CALLS new calls around it are read, so that a first picture need not wait.

        Returns the messages, and True if calls are left that were not read.
        """
        rows = calls_of(self._analysis).rows
        new = rows[[row not in self._contents for row in rows.tolist()]]
        is_partial = near is not None and len(new) > NEAR_CALLS
        if near is not None and is_partial:
            new = np.sort(new[np.argsort(np.abs(new - near), kind="stable")[:NEAR_CALLS]])
        yield from self._read_new(new, self._analysis.correlation.columns["target"][new].tolist())
        return np.array(self._reading, np.int64), is_partial

    def _read_new(self, rows: Rows, targets: Sequence[int]) -> SlicedWork[None]:
        """Reads the arguments of new calls, in steps. Several requests share the work."""
        capture, strings = self._analysis.capture, self._analysis.capture.strings
        called = list(zip(rows.tolist(), targets, strict=True))
        for start in range(0, len(called), _CALLS_PER_STEP):
            new = {row: code for row, code in called[start : start + _CALLS_PER_STEP] if row not in self._contents}
            payloads = read_in_batches(capture, np.array([*new], np.int64), capture.records.quick_payload)
            for (row, code), payload in zip(new.items(), payloads, strict=True):
                self._contents[row] = contents = _contents_of(strings[code] if code else "", payload)
                if contents.sort:
                    self._reading.append(row)
            if new:
                yield


def _contents_of(tool: str, payload: Mapping[str, Any]) -> _Contents:
    params = payload.get("params")
    arguments = params.get("arguments") if isinstance(params, dict) else None
    nested = nested_value(arguments)
    return _contents_in(tool, arguments if nested is None else nested)


def _contents_in(tool: str, arguments: object) -> _Contents:
    command = command_of(tool, arguments)
    touches = tuple(_touches(tool, arguments))
    line = "" if command is None or touches else command[0]
    short = line[:_MAX_COMMAND]
    is_test = bool(line) and _TESTING.search(short) is not None
    is_opaque = not touches and (_QUIET_TOOL.search(tool) is None or _ACTING_TOOL.search(tool) is not None)
    return _Contents(touches, short, sort_of_command(line) if line else "", is_test, is_opaque)


def call_fact(row: int, outcome: Outcome, tool: str, arguments: object) -> CallFact:
    """Returns the facts of a single call, whose answer is not read."""
    return CallFact(row, NO_ROW, outcome, tool, *_contents_in(tool, arguments))


def _touches(tool: str, arguments: object) -> Iterator[Touch]:
    kinds = {"changed": TouchKind.EDITED, "written": TouchKind.WRITTEN, "deleted": TouchKind.DELETED}
    edits = edits_of(tool, arguments)
    whole = content_after(tool, arguments, None) if len(edits) == 1 and edits[0].change_type == "written" else None
    content = NO_HASH if whole is None else hash_text(whole)
    for edit in edits:
        yield Touch(edit.path, kinds[edit.change_type], edit.added, edit.removed, content)
    if not edits and isinstance(arguments, dict) and _READING.search(tool):
        path = next((value for key in PATH_ARGUMENTS if isinstance(value := arguments.get(key), str) and value), None)
        if path is not None:
            yield Touch(path, TouchKind.READ, 0, 0)
