"""Surveys one run: opens it in this process, within its memory, and returns rows of SURVEY_TABLES."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from xxhash import xxh3_128

from inspector import __version__
from inspector.engine.log import Log
from inspector.engine.opening import OpenOptions, Target
from inspector.engine.requests.log_facts import DescribeLog
from inspector.engine.requests.run_tables import Row as Row
from inspector.engine.requests.run_tables import TabulateRun
from inspector.formats import registry
from inspector.formats.refused_formats import HOW_TO_DECLARE
from inspector.protocol.secrets.masking import mask_text
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.sources.run_members import file_of_run
from inspector.sources.transcript_files import members_of
from inspector.store.files.capability_decisions import FILE_NAME
from inspector.store.files.spool import temporary_folder
from inspector.survey.run_places import RunPlace, reason_of

_CHUNK = 1 << 20
# Part of `version`, so that unchanged logs are surveyed again after such a change.
_ROWS_VERSION = 6
"""Raised with each change in the meaning of rows (`inspector.engine.requests.run_tables`)."""


@dataclass(frozen=True, slots=True)
class SurveyOptions:
    """Options for each run.

    Attributes:
        tokens: counts tokens and searches for waste.
        aliases: rules in the syntax of `--tool-alias`.
        memory_mb: memory limit of one run in MB; 0 for half of the free memory.
        prices, prices_dated: price lines of models (`analysis.passes.tokens.prices`), and their date.
        reading: forced format; None to detect it.
    """

    tokens: bool = True
    aliases: tuple[str, ...] = ()
    memory_mb: int = 0
    prices: tuple[str, ...] = ()
    prices_dated: str = ""
    reading: str | None = None

    @property
    def version(self) -> str:
        """Version of the program and of all other inputs of the rows."""
        parts = [f"{__version__}/{_ROWS_VERSION}", *sorted(self.aliases)]
        if self.prices:
            told = "\n".join(self.prices).encode()
            parts.append(f"prices-{xxh3_128(told).hexdigest()[:8]}")
        if recipes := registry.recipes():
            told = repr((recipes, self.reading)).encode()
            parts.append(f"formats-{xxh3_128(told).hexdigest()[:8]}")
        return " ".join(parts if self.tokens else [*parts, "no-tokens"])


@dataclass(slots=True)
class RunRows:
    """Result of one run.

    Attributes:
        place: place of the run.
        digest: content hash; "" if it could not be read.
        tables: rows by table; `failures` has the reasons for missing rows.
        unchanged: surveyed before with the same content; no rows.
    """

    place: RunPlace
    digest: str = ""
    tables: dict[str, list[Row]] = field(default_factory=dict)
    unchanged: bool = False

    @property
    def failed(self) -> bool:
        """Returns True if the run has only a failure."""
        return not self.unchanged and "runs" not in self.tables


class FailedError(Exception):
    """A run cannot be surveyed; the text is the reason.

    Attributes:
        kind: value of the column in `failures`.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def survey_run(place: RunPlace, options: SurveyOptions, known: str = "", folder: str | None = None) -> RunRows:
    """Surveys one run. Raises no errors; a failure becomes a row of `failures`.

    Args:
        place: place of the run.
        options: survey options.
        known: digest of the last survey, to skip a file with a new time and old content.
        folder: temporary folder for files of a store; None for the default.
    """
    found = RunRows(place)
    try:
        with local_file(place, folder) as path:
            found.digest = _digest(_files(path))
            # A copied or touched file has another time, but the same content.
            if found.digest == known:
                found.unchanged = True
                return found
            found.tables = _surveyed(place, path, found.digest, options)
    except Exception as error:  # noqa: BLE001 - a log that breaks the program costs its own rows alone
        # Without a digest, the next survey tries again.
        digest = found.digest if isinstance(error, FailedError | UnknownFormatError) else ""
        found.tables = {"failures": [failure_row(place, *failure_of(error), options, digest)]}
    return found


@contextmanager
def local_file(place: RunPlace, folder: str | None) -> Generator[Path]:
    """Yields the file of a run, downloaded from a store if need be. Raises FailedError."""
    with temporary_folder(folder) if place.is_remote else nullcontext(Path()) as here:
        path = fetched(place, here) if place.is_remote else Path(place.path)
        if path.exists() and not path.is_file():
            raise FailedError("unreadable", "It is no file.")  # reading a pipe would block
        yield path


def failure_of(error: Exception) -> tuple[str, str]:
    """Returns the kind of a failure, as the table `failures` names it, and the reason."""
    if isinstance(error, FailedError):
        return error.kind, str(error)
    if isinstance(error, UnknownFormatError):
        # The same advice would repeat in each row.
        return "unknown", str(error).removesuffix(HOW_TO_DECLARE).rstrip()
    if isinstance(error, MemoryError):
        return "memory", "It needs more memory than there is."
    if isinstance(error, OSError):
        return "unreadable", f"It cannot be read: {reason_of(error)}."
    return "worker", f"The program failed on it: {type(error).__name__}: {reason_of(error)}."


def failure_row(place: RunPlace, kind: str, text: str, options: SurveyOptions, digest: str = "") -> Row:
    """Returns a row of `failures`."""
    return {
        "run": run_name(place.path, digest, options.version), "path": place.path, "kind": kind, "text": mask_text(text),
        "size": place.size, "modified": place.modified, "digest": digest or None, "version": options.version,
        "surveyed": time.time_ns(),
    }  # fmt: skip


def run_name(path: str, digest: str, version: str) -> str:
    """Returns the id of a run in all tables."""
    return xxh3_128(f"{path}\0{digest}\0{version}".encode("utf-8", "surrogatepass")).hexdigest()


# Files


def _files(path: Path) -> list[Path]:
    """Returns all files of a run on disk, its own first."""
    path = file_of_run(path)
    members = [member.path for member in members_of(path)[0]] if path.suffix == ".jsonl" or path.is_dir() else []
    beside = [path.with_name(FILE_NAME)] if path.name.startswith("envelope-history.jsonl") else []
    return list(dict.fromkeys([path, *members, *(one for one in beside if one.is_file())]))


def _digest(files: Sequence[Path]) -> str:
    """Returns a content hash of files."""
    found = xxh3_128()
    for path in files:
        # With name and size, so that bytes moved between two files change the digest.
        found.update(f"{path.name}\0{path.stat().st_size}\0".encode("utf-8", "surrogatepass"))
        with path.open("rb") as file:
            while data := file.read(_CHUNK):
                found.update(data)
    return found.hexdigest()


def fetched(place: RunPlace, folder: Path) -> Path:
    """Downloads a run of a store into a folder; returns its own file.

    Raises:
        FailedError: it cannot be downloaded.
    """
    from fsspec.core import url_to_fs

    store, name = url_to_fs(place.path)
    above = name.rpartition("/")[0]
    own = folder / name.rpartition("/")[2]
    try:
        store.get_file(name, str(own))
        for other in place.beside:
            inner = url_to_fs(other)[1]
            # The layout of folders stays, since readers find sub-agents by it.
            target = folder / inner[len(above) :].lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            store.get_file(inner, str(target))
    except Exception as error:  # each store has its own errors
        raise FailedError("unreadable", f"It cannot be fetched: {reason_of(error)}.") from error
    return own


# Reading


def _surveyed(place: RunPlace, path: Path, digest: str, options: SurveyOptions) -> dict[str, list[Row]]:
    began = time.perf_counter()
    files = _files(path)
    with _opened(path, files, options) as log:
        name = run_name(place.path, digest, options.version)
        tables = log.answer_to(TabulateRun(place.path, tokens=options.tokens))
        tables["runs"][0] |= {
            "files": len(files), "size": place.size, "modified": place.modified,
            "digest": digest, "version": options.version, "surveyed": time.time_ns(),
            "seconds": round(time.perf_counter() - began, 6),
        }  # fmt: skip
        facts = log.answer_to(DescribeLog())
        # A failed check leaves the counts complete, so it is a failure of another kind.
        partial = [sentence for sentence in facts.read_errors if sentence not in facts.unchecked]
        tables["failures"] = [
            failure_row(place, kind, " ".join(sentences), options, digest)
            for kind, sentences in (("partial", partial), ("unchecked", facts.unchecked)) if sentences
        ]  # fmt: skip
        for rows in tables.values():
            for row in rows:
                # Every table names the run and its path, so queries need no join.
                row.update(run=name, path=place.path)
        return tables


@contextmanager
def opened_run(place: RunPlace, options: SurveyOptions, folder: str | None = None) -> Generator[Log]:
    """Opens a run or a file of runs. Raises FailedError, OSError or UnknownFormatError."""
    with local_file(place, folder) as path, _opened(path, _files(path), options) as log:
        yield log


@contextmanager
def _opened(path: Path, files: Sequence[Path], options: SurveyOptions) -> Generator[Log]:
    if not any(one.stat().st_size for one in files):
        raise FailedError("empty", "It is empty.")
    opened = OpenOptions(
        # Several workers share the machine, so each has its own limit.
        memory_mb=options.memory_mb, aliases=options.aliases, prices=options.prices, prices_dated=options.prices_dated,
    )  # fmt: skip
    is_session = path.suffix == ".jsonl" and path.exists() and len(members_of(path)[0]) > 1
    log = Log.read([Target(path, is_session=is_session, reading=options.reading)], opened)
    try:
        facts = log.answer_to(DescribeLog())
        if facts.memory_full is not None:
            raise FailedError("memory", facts.memory_full)
        if not facts.messages:
            raise FailedError("empty", "There are no messages in it.")
        yield log
    finally:
        log.close()
