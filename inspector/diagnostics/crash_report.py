"""Composes reports about internal errors and crashes: traces, settings, system; without private data.

A report is text the user reads, and may copy or save; it is never sent. It contains no payloads, names of participants,
tokens, addresses or filters. Three things are included only on request: file names, error messages (Python quotes data
in them), and the last lines of the program's log. Secrets are masked in all of it.

Failures are counted for the life of the program; `ui/app/failures.py` shows them.
"""

from __future__ import annotations

import platform
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_MAX_KINDS = 20
"""Limit of distinct failures; further ones are only counted."""
_LONGEST_WORDS = 400
# A recursion error has a thousand calls; the last ones tell its place.
_LONGEST_TRACE = 8_000
_PLACES = re.compile(r'File "([^"\n]{1,4096})"')
# Whole paths only, since the program's own are shortened before. Names may contain blanks, so text after a path is
# removed with it: a missing word is better than a leaked name.
_QUOTED_PATHS = re.compile(r"""(['"])(?:~[/\\]|/|[A-Za-z]:[/\\]|\\\\)(?:(?!\1)[^\n]){1,4096}\1""")
_PART = r"[/\\]+[^/\\\s:'\"<>|][^/\\\n:'\"<>|]{0,254}"
_PATHS = re.compile(rf"(?<![\w/.\\])(?:(?:~|[A-Za-z]:)(?:{_PART}){{1,64}}|(?:{_PART}){{2,64}})")
_A_FILE = "(a file)"
_MESSAGE_MARK = "! "
"""Prefix of dump lines with an error's or Qt's own message, which may quote anything."""
_STRUCTURE = re.compile(
    r'  File "|    |  \.\.\.|  <|  Garbage-collecting|Fatal Python error:|Python runtime state:|Current thread |'
    r"Thread 0x|Extension modules:|Windows fatal|\w+$|$"
)
"""Beginnings of other dump lines: calls, source lines, error types."""

Mask = Callable[[str], str]
"""Returns text with its secrets masked."""


@dataclass
class Failure:
    """Equal failures: of one type, at one place of the program.

    Attributes:
        origin: place of detection: "task", "thread", "event", "clean-up" or "Qt".
        title: the error type, or Qt's severity.
        words: the error's message; may quote anything.
        trace: the call stack, paths shortened, without the message.
        count: number of occurrences.
        first, last: times, seconds since the Unix epoch.
    """

    origin: str
    title: str
    words: str
    trace: str
    count: int = 0
    first: float = field(default_factory=time.time)
    last: float = 0.0


class Failures:
    """Failures of this run, equal ones counted together. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Failure] = {}
        # Reentrant: an allocation under the lock may start the collector, and finalizers may fail too.
        self._lock = threading.RLock()
        self._total = 0

    @property
    def total(self) -> int:
        """Number of all failures, including uncategorized ones."""
        return self._total

    @property
    def kinds(self) -> list[Failure]:
        """Distinct failures, in order of appearance."""
        with self._lock:
            return list(self._known.values())

    def count_failure(self, origin: str, error: BaseException | None, words: str = "") -> Failure | None:
        """Counts a failure.

        Args:
            origin: place of detection.
            error: the exception, if any; not kept, since its frames hold data.
            words: additional or only information.

        Returns:
            The failures it was counted with; None above the limit of distinct ones.
        """
        # Errors of one type at one place count as one kind, however their texts differ.
        kind = (origin, type(error), _raise_place(error)) if error is not None else (origin, words[:200])
        with self._lock:
            self._total += 1
            known = self._known.get(kind)
            if known is None and len(self._known) >= _MAX_KINDS:
                return None
        if known is None:  # outside the lock: it reads sources and calls the error's __str__
            known = _described(origin, error, words)
        with self._lock:
            # Another thread may have described the same kind meanwhile.
            known = self._known.setdefault(kind, known)
            known.count += 1
            known.last = time.time()
            return known


def _raise_place(error: BaseException) -> tuple[str, int]:
    """Returns the place of the raise; walks the traceback without reading sources."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return (last.tb_frame.f_code.co_filename, last.tb_lineno) if last is not None else ("", 0)


def _described(origin: str, error: BaseException | None, words: str) -> Failure:
    if error is None:
        return Failure(origin, origin, words[:_LONGEST_WORDS], "")
    return Failure(origin, type(error).__name__, _words_of(error)[:_LONGEST_WORDS], _trace_of(error)[-_LONGEST_TRACE:])


def _words_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an error of any type may fail to word itself
        return ""


def _trace_of(error: BaseException) -> str:
    try:
        return traceback_words(error)
    except Exception as problem:  # noqa: BLE001 - an unreadable stack is reported as text
        return f"The call stack is not available: {type(problem).__name__}"


def traceback_words(error: BaseException, *, words: Mask | None = None) -> str:
    """Returns the call stacks of an error and its causes; paths shortened.

    Args:
        words: masks secrets in the errors' messages, which are marked (`marked_message`); None to omit the messages.
        error: the exception.
    """
    parts: list[str] = []
    _add_trace(traceback.TracebackException.from_exception(error), parts, words, depth=0)
    return shorten_paths("\n".join(parts))


def marked_message(text: str) -> str:
    """Returns an error's or Qt's message with marks, so that a report can omit it."""
    return "\n".join(f"{_MESSAGE_MARK}{line}" for line in text.splitlines())


_CAUSED = "which caused:"
_MEANWHILE = "and while that was being handled:"
_ONE_OF = "one of several errors:"
_DEEPEST = 8


def _add_trace(found: traceback.TracebackException, parts: list[str], words: Mask | None, depth: int) -> None:
    # Causes may form a cycle, or a chain too long to show.
    if depth > _DEEPEST:
        return
    before = found.__cause__ or (None if found.__suppress_context__ else found.__context__)
    if before is not None:
        _add_trace(before, parts, words, depth + 1)
        parts.append(_CAUSED if found.__cause__ is not None else _MEANWHILE)
    parts.extend(line.rstrip("\n") for line in found.stack.format())
    name = found.exc_type.__name__
    parts.append(name)
    if words is not None:
        parts.append(marked_message(words("".join(found.format_exception_only()).strip())))
    for one in found.exceptions or ():
        parts.append(_ONE_OF)
        _add_trace(one, parts, words, depth + 1)


def shorten_paths(text: str) -> str:
    """Returns text with short source paths and without the user's name."""
    text = _PLACES.sub(lambda found: f'File "{_short_path(found[1])}"', text)
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text


def _short_path(path: str) -> str:
    parts = Path(path).parts
    for mark in ("site-packages", "inspector"):
        if mark in parts:
            place = len(parts) - 1 - parts[::-1].index(mark)
            return "/".join(parts[place + 1 if mark == "site-packages" else place :])
    return "/".join(parts[-2:]) if Path(path).is_absolute() else path


@dataclass(frozen=True)
class OpenedWindow:
    """Facts about an open window: numbers, and a name that is included only on request."""

    name: str
    format: str
    """Such as "gateway-log"; for a live source, its type."""
    messages: int
    shown: int
    size_bytes: int
    participants: int = 0
    contexts: int = 0


@dataclass(frozen=True)
class ReportChoices:
    """Optional parts of a report."""

    file_names: bool = False
    error_words: bool = False
    log_lines: bool = False


@dataclass(frozen=True)
class Environment:
    """Environment of a failure.

    Attributes:
        facts: (name, value): versions, platform, screens.
        settings: as stored; reports include only switches, numbers, and lengths of lists.
        opened: contents of the windows.
        log_lines: the last lines of the program's log, oldest first.
    """

    facts: Sequence[tuple[str, str]]
    settings: Mapping[str, object] = field(default_factory=dict)
    opened: Sequence[OpenedWindow] = ()
    log_lines: Sequence[str] = ()


def system_facts(program_version: str) -> list[tuple[str, str]]:
    """Returns versions of the program, Python and the system, without names of the machine or user."""
    packaged = ", packaged" if getattr(sys, "frozen", False) else ""
    return [
        ("Program", f"Context Inspector {program_version}{packaged}"),
        ("Python", platform.python_version()),
        ("System", f"{platform.system()} {platform.release()} {platform.machine()}"),
    ]


def compose_report(title: str, traces: Iterable[str], where: Environment, choices: ReportChoices, mask: Mask) -> str:
    """Returns a report as text.

    Args:
        title: the event.
        traces: of each failure (`describe_failures`), or a dump (`describe_dump`).
        where: the environment.
        choices: the optional parts.
        mask: masks secrets.
    """
    parts = [title]
    for trace in traces:
        parts += ["", trace]
    parts += ["", *(f"{name}: {value}" for name, value in where.facts)]
    if where.settings:
        parts += ["", "Settings", *_settings_lines(where.settings)]
    if where.opened:
        parts += ["", "Open", *(_opened_words(one, choices) for one in where.opened)]
    if choices.log_lines and where.log_lines:
        parts += ["", "Log", *where.log_lines]
    text = shorten_paths("\n".join(parts))
    if not choices.file_names:
        # Names first, as a path contains them.
        text = _without_paths(_without_names(text, [one.name for one in where.opened]))
    return mask(text) + "\n"


def describe_failures(failures: Failures, choices: ReportChoices) -> list[str]:
    """Returns each distinct failure with its count."""
    found: list[str] = []
    listed = 0
    for one in failures.kinds:
        listed += one.count
        often = f"{one.count:,} times, " if one.count > 1 else ""
        head = f"{one.title} ({one.origin}), {often}last at {time.strftime('%H:%M:%S', time.localtime(one.last))}"
        words = f"\n{one.words}" if choices.error_words and one.words else ""
        found.append(f"{head}{words}\n{one.trace}".rstrip())
    if failures.total > listed:
        found.append(f"{failures.total - listed:,} more errors of other kinds")
    return found


def describe_dump(dump: str, choices: ReportChoices) -> str:
    """Returns the dump of a crashed run; messages of errors and Qt only on request."""
    if choices.error_words:
        lines = [line.removeprefix(_MESSAGE_MARK) for line in dump.splitlines()]
    else:
        lines = [words for line in dump.splitlines() if (words := _structure(line)) is not None]
    return shorten_paths("\n".join(lines))


def _structure(line: str) -> str | None:
    """Returns the part of a dump line that quotes no data."""
    if line in (_CAUSED, _MEANWHILE, _ONE_OF) or _STRUCTURE.match(line):
        return line
    head, colon, _ = line.partition(": ")
    return f"{head}:" if colon and head.isidentifier() else None


def _settings_lines(settings: Mapping[str, object], depth: int = 0) -> list[str]:
    """Returns switches, numbers and choices; of lists only the length."""
    lines: list[str] = []
    for name, value in settings.items():
        if isinstance(value, Mapping) and depth == 0 and name in _GROUPS:
            lines += [f"{name}.{line}" for line in _settings_lines(value, 1)]
        elif isinstance(value, bool | int | float) or (isinstance(value, str) and (name in _CHOSEN or depth == 1)):
            lines.append(f"{name}: {value}")
        elif isinstance(value, Sequence | Mapping) and not isinstance(value, str):
            lines.append(f"{name}: {len(value)}")
    return lines


_GROUPS = ("display", "start", "table")
"""Groups of the settings with enumerated texts only."""
_CHOSEN = ("findings_by", "axis_by")


def _opened_words(one: OpenedWindow, choices: ReportChoices) -> str:
    name = f"{one.name}: " if choices.file_names else ""
    return (
        f"{name}{one.format or 'nothing'}, {one.messages:,} messages ({one.shown:,} shown), {one.size_bytes:,} bytes, "
        f"{one.participants:,} participants, {one.contexts:,} contexts"
    )


def _without_names(text: str, names: Iterable[str]) -> str:
    """Returns text with the names of open files replaced."""
    for place, name in enumerate(sorted(set(names), key=len, reverse=True), 1):
        short = Path(name).name
        # Longest first: a short name may be part of a longer one.
        for one in sorted({name, short}, key=len, reverse=True):
            # A name of one or two letters would be replaced within ordinary words.
            if len(one) > 2:
                text = text.replace(one, f"log {place}")
    return text


def _without_paths(text: str) -> str:
    return _PATHS.sub(_A_FILE, _QUOTED_PATHS.sub(lambda found: f"{found[1]}{_A_FILE}{found[1]}", text))
