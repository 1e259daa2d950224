"""Runs a measurement in a fresh interpreter, bounded in time, and ends whatever it started."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class NotMeasuredError(Exception):
    """There is no figure; the text says why."""


def measure(module: str, *arguments: object, timeout_s: float) -> dict[str, Any]:
    """What `python -m tests.bench.<module>` prints.

    Its user folders are its own and are removed with all captures in them; when it takes too long, it and all it
    started are killed.

    Raises:
        NotMeasuredError: it does not exist, failed, took too long, or says itself that it cannot measure.
    """
    if find_spec(f"tests.bench.{module}") is None:
        raise NotMeasuredError(f"there is no tests/bench/{module}.py yet")
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as home:
        environment = {**os.environ, "CONTEXT_INSPECTOR_HOME": home, "QT_QPA_PLATFORM": "offscreen"}
        process = subprocess.Popen(
            [sys.executable, "-m", f"tests.bench.{module}", *map(str, arguments)],
            cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        try:
            out, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise NotMeasuredError(f"not done within {timeout_s:g} s") from error
        finally:
            _end(process)
    if process.returncode:
        last = errors.strip().splitlines()[-1:] or ["without a word"]
        raise NotMeasuredError(f"{module} ended with {process.returncode}, {last[0][:200]}")
    return _printed(out, module)


def _printed(out: str, module: str) -> dict[str, Any]:
    try:
        found = json.loads(out[max(0, out.find("{")) :])  # over several lines
    except ValueError:
        try:
            found = json.loads(out.strip().splitlines()[-1])
        except (ValueError, IndexError) as error:
            raise NotMeasuredError(f"{module} printed no figures") from error
    if not isinstance(found, dict):
        raise NotMeasuredError(f"{module} printed no figures")
    if "not_measured" in found:
        raise NotMeasuredError(str(found["not_measured"]))
    return found


def _end(process: subprocess.Popen[str]) -> None:
    """Kill what is left of the process's own session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
