"""Commands, asked in this process as somebody asks them on a command line."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from typer.testing import CliRunner, Result
from typing_extensions import override

from inspector.cli.commands import app
from inspector.document.document import CaptureDocument
from inspector.document.sources import Progress
from inspector.engine import engine


def asked(*words: str | Path | int, stdin: str | bytes | None = None) -> Result:
    """What comes of a command."""
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin)


def printed(*words: str | Path | int, codes: tuple[int, ...] = (0,)) -> str:
    """What a command prints; it ends with one of some exit codes."""
    found = asked(*words)
    assert found.exit_code in codes, found.output
    return found.stdout


class ReadOnce(CaptureDocument):
    """A log that many commands are asked about: the first one that opens it reads it, `end` closes it."""

    _path: Path | None = None

    @override
    def open_log(self, path: Path, **named: Any) -> Generator[Progress]:
        assert self._path in (None, path)
        if self._path is None:
            self._path = path
            yield from super().open_log(path, **named)

    @override
    def close(self) -> None:
        pass

    def end(self) -> None:
        """No further command will be asked about it."""
        super().close()


@contextmanager
def opening_only(document: ReadOnce) -> Generator[None]:
    """Commands within open this document, whatever else they do as alone."""
    with mock.patch.object(engine, "CaptureDocument", return_value=document):
        yield


@contextmanager
def reading_once() -> Generator[None]:
    """Commands within are all asked about one log, and it is read once."""
    document = ReadOnce()
    with opening_only(document):
        yield
    document.end()
