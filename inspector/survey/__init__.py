"""Surveys many runs at once and gathers their figures as Parquet; no Qt.

A run is a gateway's log with its decisions, a session with its sub-agents, or any other log (`run_places`). `one_run`
makes the rows of one run with the core that also serves a window. `dask_workers` runs it for many on Dask, here or on a
cluster. `folder` stores the tables of SURVEY_TABLES (`schema`). `expectations` are the conditions of `check`.

Dask and fsspec belong to the extra `fleet`. They are imported late, after a check by
`inspector.base.optional_dependencies`.
"""

from __future__ import annotations

from pathlib import Path


def is_survey(path: Path) -> bool:
    """Returns True if a folder contains a survey."""
    try:
        return path.is_dir() and (
            (path / "runs.parquet").is_file() or next((path / "runs").glob("**/*.parquet"), None) is not None
        )
    except OSError:
        return False
