"""MSP documents for commands: read, edited and saved; their objects found and named; what is odd on standard error."""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import typer

from inspector.cli.arguments import fail
from inspector.cli.opening import PATIENCE_S, say_waiting
from inspector.cli.printing import printable, visible
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

T = TypeVar("T")

_ATTEMPTS, _PAUSE_S = 20, 0.05
_MOST_PROBLEMS = 5
_MOST_NAMED = 20


def read_document(files: list[str]) -> SessionDocument:
    """The document of some files and folders; ends the command when they hold none."""
    with tempfile.TemporaryDirectory(prefix="context-inspector-") as folder:
        spool = Path(folder) / STANDARD_INPUT_NAME
        try:
            if str(STANDARD_INPUT) in files:
                spool.write_bytes(sys.stdin.buffer.read())
            paths = [spool if file == str(STANDARD_INPUT) else Path(file) for file in files]
            for number, path in enumerate(paths):
                if path.is_fifo():
                    paths[number] = Path(folder) / f"{number} {path.name}"
                    paths[number].write_bytes(_all_of(path))
            document = SessionDocument.read(paths)
        except NotMspError as error:
            fail(visible(str(error)))
        except OSError as error:
            fail(visible(f"{error.filename or files[0]} cannot be read: {error.strerror or error}."))
    return document


def _all_of(pipe: Path) -> bytes:
    saying = threading.Timer(PATIENCE_S, say_waiting, [pipe])
    saying.daemon = True
    saying.start()
    try:
        with pipe.open("rb") as stream:  # waits for who writes to it
            saying.cancel()
            return stream.read()
    finally:
        saying.cancel()


def say_problems(document: SessionDocument) -> None:
    """Say the first few things that are odd about a document."""
    problems = document.problems
    for problem in problems[:_MOST_PROBLEMS]:
        typer.echo(visible(mask_text(problem.text)), err=True)
    if len(problems) > _MOST_PROBLEMS:
        typer.echo(f"and {len(problems) - _MOST_PROBLEMS:,} more; the command check lists all.", err=True)


def name_of(owner: Session | Subsession) -> str:
    """What finds it, and its label when that says more."""
    key, label = printable(mask_text(owner.key), 80), printable(mask_text(owner.label), 40)
    return key if label == key else f"{key} ({label})"


def known_words(known: Sequence[Session | Subsession]) -> str:
    """The sessions and sub-sessions there are, in a sentence."""
    if not known:
        return "The document has none."
    named = [name_of(one) for one in known[:_MOST_NAMED]]
    more = f" and {len(known) - _MOST_NAMED:,} more" if len(known) > _MOST_NAMED else ""
    return f"The document has: {', '.join(named)}{more}."


def edited(file: str, edit: Callable[[SessionDocument], T]) -> T:
    """Edit a document and save it; what the edit gives. Ends the command when it is refused or cannot be written.

    Where somebody else writes the file meanwhile it is read again and edited as it is then.
    """
    if file == str(STANDARD_INPUT):
        fail("Standard input cannot be edited: name the file.")
    attempts = 0
    while True:
        document = read_document([file])
        if document.read_only:
            fail(visible(f"{file} is compressed and only read: unpack it first."))
        try:
            made = edit(document)
            document.save()
        except CannotEditError as error:
            fail(visible(mask_text(str(error))))
        except ChangedOnDiskError:
            attempts += 1
            if attempts == _ATTEMPTS:
                fail(visible(f"{file} is written by others again and again: nothing was saved. Try again."))
            time.sleep(random.uniform(0, _PAUSE_S) * attempts)  # not in step with the other
        except OSError as error:
            fail(visible(f"{error.filename or file} cannot be written: {error.strerror or error}."))
        else:
            return made


def session_of(document: SessionDocument, asked: str | None) -> Session:
    """The session of an id or a label, or the only one; ends the command with those there are."""
    found = document.session(asked) if asked is not None else None
    alike = [one for one in document.sessions if one.label == asked] if found is None and asked is not None else []
    if len(alike) > 1:
        fail(f"{len(alike):,} sessions are called {visible(asked or '')}: name one by its id. {known_words(alike)}")
    found = found or next(iter(alike), None)
    if asked is None and len(document.sessions) == 1:
        found = document.sessions[0]
    if found is None:
        asks = "Say which session with --session ID." if asked is None else f"There is no session {asked}."
        fail(f"{visible(asks)} {known_words(document.sessions)}")
    return found


def subsession_of(document: SessionDocument, asked: str) -> Subsession:
    """The sub-session of an id, else the only one of a label; ends the command with those there are."""
    found = document.subsession(asked)
    alike = [sub for sub in document.subsessions if sub.label == asked] if found is None else []
    if len(alike) > 1:
        fail(f"{len(alike):,} sub-sessions are called {visible(asked)}: name one by its id. {known_words(alike)}")
    if found is None and not alike:
        fail(f"There is no sub-session {visible(asked)}. {known_words(document.subsessions)}")
    return found or alike[0]


def owner_of(document: SessionDocument, asked: str | None) -> Session | Subsession:
    """The session or sub-session of an id, else the only one of a label; without either the only session."""
    if asked is None:
        return session_of(document, None)
    found = document.session(asked) or document.subsession(asked)
    if found is not None:
        return found
    everything = [*document.sessions, *document.subsessions]
    alike = [one for one in everything if one.label == asked]
    if len(alike) > 1:
        what = "sub-sessions" if all(isinstance(one, Subsession) for one in alike) else "sessions and sub-sessions"
        fail(f"{len(alike):,} {what} are called {visible(asked)}: name one by its id. {known_words(alike)}")
    if not alike:
        fail(f"There is no session or sub-session {visible(asked)}. {known_words(everything)}")
    return alike[0]


def text_or_input(text: str) -> str:
    """A text, or what standard input holds where it is `-`; ends the command when that says nothing."""
    if text == str(STANDARD_INPUT):
        text = sys.stdin.buffer.read().decode("utf-8", "replace").rstrip("\r\n")
    if not text.strip():
        fail("There is no text.")
    return text
