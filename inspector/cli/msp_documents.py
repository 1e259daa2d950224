"""MSP documents for commands: read, their objects found and named, what is odd said on standard error."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import typer

from inspector.cli.arguments import fail
from inspector.cli.printing import printable, visible
from inspector.msp import NotMspError, Session, SessionDocument, Subsession
from inspector.protocol.secrets.masking import mask_text
from inspector.sources.inputs import STANDARD_INPUT, STANDARD_INPUT_NAME

_MOST_PROBLEMS = 5
_MOST_NAMED = 20


def read_document(files: list[str]) -> SessionDocument:
    """The document of some files and folders; ends the command when they hold none."""
    with tempfile.TemporaryDirectory(prefix="context-inspector-") as folder:
        spool = Path(folder) / STANDARD_INPUT_NAME
        try:
            if str(STANDARD_INPUT) in files:
                spool.write_bytes(sys.stdin.buffer.read())
            document = SessionDocument.read([spool if file == str(STANDARD_INPUT) else Path(file) for file in files])
        except NotMspError as error:
            fail(visible(str(error)))
        except OSError as error:
            fail(visible(f"{error.filename or files[0]} cannot be read: {error.strerror or error}."))
    return document


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
