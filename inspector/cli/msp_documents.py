"""Reads, edits and saves MSP documents for commands, and finds their objects by id or label."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TypeVar

import typer

from inspector.cli.arguments import fail
from inspector.cli.opening import PATIENCE_S, say_waiting
from inspector.cli.printing import escape_hostile, printable
from inspector.msp import (
    CannotEditError,
    ChangedOnDiskError,
    NotMspError,
    Session,
    SessionDocument,
    Subsession,
)
from inspector.protocol.secrets.masking import mask_text
from inspector.sources.inputs import STANDARD_INPUT, STANDARD_INPUT_NAME
from inspector.store.files.spool import temporary_folder

T = TypeVar("T")

# All pauses together take about five seconds on average.
_ATTEMPTS, _PAUSE_S = 20, 0.05
_MAX_PROBLEMS = 5
_MAX_NAMES = 20


def read_document(files: list[str]) -> SessionDocument:
    """Reads files and folders as one document; exits if there is no session in them."""
    needs_copy = any(file == str(STANDARD_INPUT) or Path(file).is_fifo() for file in files)
    with temporary_folder() if needs_copy else nullcontext(Path()) as folder:
        spool = folder / STANDARD_INPUT_NAME
        try:
            # The document reads paths only, so a stream is copied to a file first.
            if str(STANDARD_INPUT) in files:
                spool.write_bytes(sys.stdin.buffer.read())
            paths = [spool if file == str(STANDARD_INPUT) else Path(file) for file in files]
            for number, path in enumerate(paths):
                if path.is_fifo():
                    paths[number] = folder / f"{number} {path.name}"
                    paths[number].write_bytes(_read_pipe(path))
            document = SessionDocument.read(paths)
        except NotMspError as error:
            fail(escape_hostile(str(error)))
        except OSError as error:
            fail(escape_hostile(f"{error.filename or files[0]} cannot be read: {error.strerror or error}."))
    return document


def _read_pipe(pipe: Path) -> bytes:
    # From another thread, since opening a pipe blocks until it has a writer.
    saying = threading.Timer(PATIENCE_S, say_waiting, [pipe])
    saying.daemon = True
    saying.start()
    try:
        with pipe.open("rb") as stream:  # blocks until a writer opens the pipe
            saying.cancel()
            return stream.read()
    finally:
        saying.cancel()


def say_problems(document: SessionDocument) -> None:
    """Prints the first problems of a document on standard error."""
    problems = document.problems
    for problem in problems[:_MAX_PROBLEMS]:
        typer.echo(escape_hostile(mask_text(problem.text)), err=True)
    if len(problems) > _MAX_PROBLEMS:
        typer.echo(f"and {len(problems) - _MAX_PROBLEMS:,} more; the command check lists all.", err=True)


def name_of(owner: Session | Subsession) -> str:
    """Returns the key of a session or sub-session, with its label if they differ."""
    key, label = printable(mask_text(owner.key), 80), printable(mask_text(owner.label), 40)
    return key if label == key else f"{key} ({label})"


def known_words(known: Sequence[Session | Subsession]) -> str:
    """Returns a sentence that lists the sessions and sub-sessions."""
    if not known:
        return "The document has none."
    named = [name_of(one) for one in known[:_MAX_NAMES]]
    more = f" and {len(known) - _MAX_NAMES:,} more" if len(known) > _MAX_NAMES else ""
    return f"The document has: {', '.join(named)}{more}."


def edited(file: str, edit: Callable[[SessionDocument], T]) -> T:
    """Edits and saves a document. Returns the result of `edit`; exits if it is refused or cannot be saved.

    If another program writes the file meanwhile, it is read and edited again, up to `_ATTEMPTS` times.
    """
    if file == str(STANDARD_INPUT):
        fail("Standard input cannot be edited: name the file.")
    attempts = 0
    while True:
        document = read_document([file])
        if document.read_only:
            fail(escape_hostile(f"{file} is compressed, so it cannot be edited: unpack it first."))
        try:
            made = edit(document)
            document.save()
        except CannotEditError as error:
            fail(escape_hostile(mask_text(str(error))))
        except ChangedOnDiskError:
            attempts += 1
            if attempts == _ATTEMPTS:
                fail(escape_hostile(f"{file} keeps changing: the edit was not saved. Try again."))
            # Longer with each attempt.
            time.sleep(random.uniform(0, _PAUSE_S) * attempts)  # random, to get out of step with the other writer
        except OSError as error:
            fail(escape_hostile(f"{error.filename or file} cannot be written: {error.strerror or error}."))
        else:
            return made


def session_of(document: SessionDocument, asked: str | None) -> Session:
    """Finds a session by id or label, or the only one; exits with the list of sessions if there is none."""
    found = document.session(asked) if asked is not None else None
    alike = [one for one in document.sessions if one.label == asked] if found is None and asked is not None else []
    if len(alike) > 1:
        fail(
            f"{len(alike):,} sessions are called {escape_hostile(asked or '')}: name one by its id. "
            f"{known_words(alike)}"
        )
    found = found or next(iter(alike), None)
    if asked is None and len(document.sessions) == 1:
        found = document.sessions[0]
    if found is None:
        asks = "Name a session with --session ID." if asked is None else f"There is no session {asked}."
        fail(f"{escape_hostile(asks)} {known_words(document.sessions)}")
    return found


def subsession_of(document: SessionDocument, asked: str) -> Subsession:
    """Finds a sub-session by id or unique label; exits with the list of sub-sessions if there is none."""
    found = document.subsession(asked)
    alike = [sub for sub in document.subsessions if sub.label == asked] if found is None else []
    if len(alike) > 1:
        fail(
            f"{len(alike):,} sub-sessions are called {escape_hostile(asked)}: name one by its id. {known_words(alike)}"
        )
    if found is None and not alike:
        fail(f"There is no sub-session {escape_hostile(asked)}. {known_words(document.subsessions)}")
    return found or alike[0]


def owner_of(document: SessionDocument, asked: str | None) -> Session | Subsession:
    """Finds a session or sub-session by id or unique label. Returns the only session if `asked` is None."""
    if asked is None:
        return session_of(document, None)
    found = document.session(asked) or document.subsession(asked)
    if found is not None:
        return found
    everything = [*document.sessions, *document.subsessions]
    alike = [one for one in everything if one.label == asked]
    if len(alike) > 1:
        what = "sub-sessions" if all(isinstance(one, Subsession) for one in alike) else "sessions and sub-sessions"
        fail(f"{len(alike):,} {what} are called {escape_hostile(asked)}: name one by its id. {known_words(alike)}")
    if not alike:
        fail(f"There is no session or sub-session {escape_hostile(asked)}. {known_words(everything)}")
    return alike[0]


def text_or_input(text: str) -> str:
    """Returns the text, or standard input for `-`; exits if it is empty."""
    if text == str(STANDARD_INPUT):
        text = sys.stdin.buffer.read().decode("utf-8", "replace").rstrip("\r\n")
    if not text.strip():
        fail("The text is empty.")
    return text
