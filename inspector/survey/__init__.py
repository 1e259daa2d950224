"""Many runs at once: each surveyed by the core that opens it in a window, what they say gathered as Parquet; no Qt.

A run is a gateway's log with its decisions, a session with its sub-agents, or any other log (`places`). `one_run` makes
the rows of one; `engine` lets Dask do so for many, here or on a cluster; `folder` holds the tables of SURVEY_TABLES
(`schema`). `expectations` are what `check` holds a log or a survey to.

Dask and fsspec are the extra `fleet`: they are imported where they are needed, after `inspector.base.extras` was asked.
"""

from __future__ import annotations

from pathlib import Path


def is_survey(path: Path) -> bool:
    """Whether a folder holds a survey."""
    try:
        return path.is_dir() and (
            (path / "runs.parquet").is_file() or next((path / "runs").glob("**/*.parquet"), None) is not None
        )
    except OSError:
        return False
