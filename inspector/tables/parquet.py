"""Writes a table as a Parquet file: typed columns, dictionary-encoded texts, times in UTC, atomically."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from inspector.base.atomic_files import TemporaryFile
from inspector.base.file_modes import mode_for
from inspector.document.document import CaptureDocument
from inspector.tables.columns import Table
from inspector.tables.database import Database, QueryInputs


def write_parquet(document: CaptureDocument, table: Table, path: Path, names: Sequence[str] | None = None) -> None:
    """Writes a table of a document to a file, replacing it.

    Args:
        document: the document.
        table: one of TABLES.
        path: the file.
        names: its columns, in this order; None for all.

    Raises:
        OSError: if the file cannot be written.
        QueryError: if memory runs out.
    """
    chosen = tuple(column.name for column in table.columns) if names is None else tuple(names)
    with parquet_file(path) as (database, written):
        database.load(document, QueryInputs({table.name: frozenset(chosen)}, checked=False, counted=False))
        columns = ", ".join(f'"{name}"' for name in chosen)
        database.write(f"SELECT {columns} FROM {table.name}", written)


@contextlib.contextmanager
def parquet_file(target: Path, **options: Any) -> Generator[tuple[Database, str]]:
    """Yields a database that may write one temporary file, and its name; the file replaces the target at the end.

    Args:
        target: the file to replace.
        options: of `Database`.

    Raises:
        OSError: if it cannot be written; the old file is unchanged.
    """
    # A symbolic link stays a link: its target is replaced.
    target = Path(os.path.realpath(target))
    part = TemporaryFile(target)
    try:
        database = Database(target=str(part.path), **options)
        try:
            yield database, str(part.path)
        finally:
            database.close()
        # A temporary file is private; the result gets the rights of the file it replaces.
        part.path.chmod(mode_for(target))
        part.replace_target(target)
    # Also after an interrupt, so that no partial file stays.
    except BaseException:
        part.discard()
        raise
