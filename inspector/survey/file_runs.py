"""Runs that one file holds, as rows of the table of runs: as far as the file itself states facts about them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from inspector.base.workers.pool import WorkerDiedError, WorkerPool
from inspector.base.workers.serving import plain
from inspector.formats import registry
from inspector.formats.file_conversion import NotConvertedError, RunFacts
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.sources.conversion_worker import WORTHWHILE_BYTES
from inspector.sources.run_members import file_of_run as file_of_run
from inspector.sources.run_members import may_have_runs, run_facts

_LOOK_S = 0.05
"""Seconds between two looks for the end of a worker."""


def has_several_runs(path: Path) -> bool:
    """Returns True for a file with more than one run. Never raises."""
    try:
        return path.is_file() and len(rows_of_file(path)[0]) > 1
    except OSError:
        return False


def rows_of_file(path: Path) -> tuple[list[dict[str, Any]], str]:
    """Returns the rows of a file's runs, and the reason why later ones are missing; "" if none are.

    Raises:
        OSError: the file cannot be read.
    """
    facts = path.stat()
    return _read_rows(path, facts.st_size, facts.st_mtime_ns) if may_have_runs(path) else ([], "")


# The window first asks for the number of runs, then for the table: a file of 100 MB is read once for both.
@lru_cache(maxsize=1)
def _read_rows(path: Path, size: int, modified: int) -> tuple[list[dict[str, Any]], str]:
    del modified  # a changed file is read again
    if size < WORTHWHILE_BYTES:
        return _rows_in(path)
    # A thread that decodes a large document would hold up the window.
    pool = WorkerPool[None](plain, _rows_in, name="read the runs of a file", carried=registry.CARRIED)
    try:
        return next(answer for answer in pool.stream(path, _LOOK_S) if answer is not None)
    except WorkerDiedError:
        return _rows_in(path)
    finally:
        pool.end()


def _rows_in(path: Path) -> tuple[list[dict[str, Any]], str]:
    rows: list[dict[str, Any]] = []
    try:
        # Rows before an error stay in the list.
        rows.extend(row_of_run(f"{path}/{facts.name}", facts) for facts in run_facts(path))
    except NotConvertedError as error:
        return rows, f"The rest of the file is not read: {error}."
    return rows, ""


def row_of_run(path: str, facts: RunFacts) -> dict[str, Any]:
    """Returns the row of a run by the facts that its file states."""
    first = facts.began_ns if facts.began_ns != NO_TIME else None
    seconds = facts.seconds
    return {
        "run": facts.name, "path": path, "files": 1, "first": first, "duration": seconds,
        "last": first + int(seconds * 1e9) if first is not None and seconds is not None else None,
        "title": _masked(facts.title), "task": _masked(facts.task), "score": facts.score,
        "passed": facts.passed,
        "error": _masked(facts.error), "models": [mask_text(facts.model)] if facts.model else [],
        "usage_input": facts.input_tokens, "usage_output": facts.output_tokens, "stated_cost": facts.cost,
    }  # fmt: skip


def _masked(text: str | None) -> str | None:
    return mask_text(text) if text is not None else None
