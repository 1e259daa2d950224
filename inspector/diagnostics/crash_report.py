"""What a report about an error in the program itself says, and what it leaves out.

A report is text the user reads, and may copy or save; nothing is ever sent. It holds no payloads, names of
participants, tokens, addresses or filters. Three things are in it only when the user asks for them: names of files,
the errors' own words (Python quotes in them what it stumbled over), and the last lines of the program's log.
Secrets are masked in what is left, all the same.

Counts failures for as long as the program runs; who shows them is no business of this module (`ui/app/failures.py`).
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

_KINDS = 20
"""Failures told apart; of any more only the number is known."""
_LONGEST_WORDS = 400
_LONGEST_TRACE = 8_000
_PLACES = re.compile(r'File "([^"\n]{1,4096})"')
# Whole paths only: those of the program's own files are shortened by then. Names may hold blanks, so that what follows
# a path goes with it: rather a word too few than a name too many.
_QUOTED_PATHS = re.compile(r"""(['"])(?:~[/\\]|/|[A-Za-z]:[/\\]|\\\\)(?:(?!\1)[^\n]){1,4096}\1""")
_PART = r"[/\\]+[^/\\\s:'\"<>|][^/\\\n:'\"<>|]{0,254}"
_PATHS = re.compile(rf"(?<![\w/.\\])(?:(?:~|[A-Za-z]:)(?:{_PART}){{1,64}}|(?:{_PART}){{2,64}})")
_A_FILE = "(a file)"
_MESSAGE_MARK = "! "
"""Before lines of a dump that an error, or Qt, says of itself: they may quote anything."""
_STRUCTURE = re.compile(
    r'  File "|    |  \.\.\.|  <|  Garbage-collecting|Fatal Python error:|Python runtime state:|Current thread |'
    r"Thread 0x|Extension modules:|Windows fatal|\w+$|$"
)
"""How other lines of a dump begin: calls, lines of source, types of errors."""

Mask = Callable[[str], str]
"""Text with its secrets replaced."""


@dataclass
class Failure:
    """Failures that are alike: of one type, at one place of the program.

    Attributes:
        origin: where it surfaced: "task", "thread", "event", "clean-up" or "Qt".
        title: the type of the error; what Qt calls its severity.
        words: what the error says of itself; may quote anything.
        trace: the calls that led there, paths shortened, without the error's words.
        count: how often it came.
        first, last: when, seconds since the Unix epoch.
    """

    origin: str
    title: str
    words: str
    trace: str
    count: int = 0
    first: float = field(default_factory=time.time)
    last: float = 0.0


class Failures:
    """Failures of this run, alike ones counted together. Any thread may tell of one."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Failure] = {}
        # Whatever is made while it is held may be the collector's turn, and what is cleaned up then may fail, too.
        self._lock = threading.RLock()
        self._total = 0

    @property
    def total(self) -> int:
        """Failures of all kinds, those that were not told apart too."""
        return self._total

    @property
    def kinds(self) -> list[Failure]:
        """Those that are told apart, in the order they came."""
        with self._lock:
            return list(self._known.values())

    def take(self, origin: str, error: BaseException | None, words: str = "") -> Failure | None:
        """Count a failure.

        Args:
            origin: where it surfaced.
            error: what was raised, if anything was; not kept, as its frames hold whatever they were about.
            words: what is known besides, or instead.

        Returns:
            The failures it was counted with; None when there are too many kinds to tell it apart.
        """
        kind = (origin, type(error), _place_of(error)) if error is not None else (origin, words[:200])
        with self._lock:
            self._total += 1
            known = self._known.get(kind)
            if known is None and len(self._known) >= _KINDS:
                return None
        if known is None:  # not while others wait: sources are read for it, and the error is asked for its words
            known = _described(origin, error, words)
        with self._lock:
            known = self._known.setdefault(kind, known)
            known.count += 1
            known.last = time.time()
            return known


def _place_of(error: BaseException) -> tuple[str, int]:
    """Where it was raised: a walk along the traceback, without reading any source."""
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
    except Exception:  # noqa: BLE001  it is shown all the same
        return ""


def _trace_of(error: BaseException) -> str:
    try:
        return traceback_words(error)
    except Exception as problem:  # noqa: BLE001  a report is made of whatever failed
        return f"The calls that led there cannot be told: {type(problem).__name__}"


def traceback_words(error: BaseException, *, words: Mask | None = None) -> str:
    """The calls that led to an error, and those before it that caused it; paths shortened.

    Args:
        error: what was raised.
        words: replaces secrets in what the errors say of themselves, which is marked (`said`); None to leave that out.
    """
    parts: list[str] = []
    _add_trace(traceback.TracebackException.from_exception(error), parts, words, depth=0)
    return shortened("\n".join(parts))


def marked_message(text: str) -> str:
    """What an error, or Qt, says of itself, as a dump holds it: marked, so that a report can leave it out."""
    return "\n".join(f"{_MESSAGE_MARK}{line}" for line in text.splitlines())


_CAUSED = "which caused:"
_MEANWHILE = "and while that was being handled:"
_ONE_OF = "one of several errors:"
_DEEPEST = 8


def _add_trace(found: traceback.TracebackException, parts: list[str], words: Mask | None, depth: int) -> None:
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


def shortened(text: str) -> str:
    """Text in which paths of source files begin where they tell something, and none names the user."""
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
class Opened:
    """What a window showed: numbers, and a name that is told only when asked for."""

    name: str
    format: str
    """Such as "gateway-log"; of a live source, what it is."""
    messages: int
    shown: int
    size_bytes: int
    participants: int = 0
    contexts: int = 0


@dataclass(frozen=True)
class Choices:
    """What the user wants in the report besides."""

    file_names: bool = False
    error_words: bool = False
    log_lines: bool = False


@dataclass(frozen=True)
class Surroundings:
    """Where it happened.

    Attributes:
        facts: (name, value): versions, platform, screens.
        settings: as stored; of them only switches and numbers are told, and how long lists are.
        opened: what the windows show.
        log_lines: the last lines of the program's log, oldest first.
    """

    facts: Sequence[tuple[str, str]]
    settings: Mapping[str, object] = field(default_factory=dict)
    opened: Sequence[Opened] = ()
    log_lines: Sequence[str] = ()


def system_facts(program_version: str) -> list[tuple[str, str]]:
    """The program, Python and the system; no name of the machine or of the user."""
    packaged = ", packaged" if getattr(sys, "frozen", False) else ""
    return [
        ("Program", f"Context Inspector {program_version}{packaged}"),
        ("Python", platform.python_version()),
        ("System", f"{platform.system()} {platform.release()} {platform.machine()}"),
    ]


def compose(title: str, traces: Iterable[str], where: Surroundings, choices: Choices, mask: Mask) -> str:
    """A report as text.

    Args:
        title: what happened.
        traces: of each failure (`failure_words`), or a dump (`dump_words`).
        where: the surroundings.
        choices: what is in it besides.
        mask: replaces secrets.
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
    text = shortened("\n".join(parts))
    if not choices.file_names:
        text = _without_paths(_without_names(text, [one.name for one in where.opened]))
    return mask(text) + "\n"


def failure_words(failures: Failures, choices: Choices) -> list[str]:
    """Each kind of failure with its count."""
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


def dump_words(dump: str, choices: Choices) -> str:
    """What a run left that ended hard; what an error or Qt said of itself only when asked for."""
    if choices.error_words:
        lines = [line.removeprefix(_MESSAGE_MARK) for line in dump.splitlines()]
    else:
        lines = [words for line in dump.splitlines() if (words := _structure(line)) is not None]
    return shortened("\n".join(lines))


def _structure(line: str) -> str | None:
    """A line of a dump as far as it quotes nothing; None where nothing is left."""
    if line in (_CAUSED, _MEANWHILE, _ONE_OF) or _STRUCTURE.match(line):
        return line
    head, colon, _ = line.partition(": ")
    return f"{head}:" if colon and head.isidentifier() else None


def _settings_lines(settings: Mapping[str, object], depth: int = 0) -> list[str]:
    """Switches, numbers and choices; of lists and of free text only how much there is."""
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
"""Parts of the settings in which every text is one of a few that the program knows."""
_CHOSEN = ("findings_by", "axis_by")


def _opened_words(one: Opened, choices: Choices) -> str:
    name = f"{one.name}: " if choices.file_names else ""
    return (
        f"{name}{one.format or 'nothing'}, {one.messages:,} messages ({one.shown:,} shown), {one.size_bytes:,} bytes, "
        f"{one.participants:,} participants, {one.contexts:,} contexts"
    )


def _without_names(text: str, names: Iterable[str]) -> str:
    """Text in which no file that is open is named."""
    for place, name in enumerate(sorted(set(names), key=len, reverse=True), 1):
        short = Path(name).name
        for one in sorted({name, short}, key=len, reverse=True):
            if len(one) > 2:
                text = text.replace(one, f"log {place}")
    return text


def _without_paths(text: str) -> str:
    return _PATHS.sub(_A_FILE, _QUOTED_PATHS.sub(lambda found: f"{found[1]}{_A_FILE}{found[1]}", text))
