"""Facts about the machine and this process: memory, processor time, load."""

from __future__ import annotations

import os
import platform
import resource
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

from inspector.base.workers.child_process import END_THREAD_NAME


def private_dirty_mb(*, children: bool = True) -> float:
    """Private dirty memory of this process in MB, worker processes included; 0 where the system does not tell."""
    total = _dirty_mb("self")
    if children:
        total += sum(_dirty_mb(pid) for pid in _descendants(os.getpid()))
    return total


def _dirty_mb(pid: int | str) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty")) / 1000


def _descendants(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        found = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return found + [below for child in found for below in _descendants(child)]


def start_workers_as_the_program() -> None:
    """Let processes that read start as they do from the program: a measurement's own imports would slow each down.

    A process that is spawned imports the main module again, by the name in its spec.
    """
    sys.modules["__main__"].__spec__ = find_spec("inspector.__main__")


def cpu_s() -> float:
    """Processor seconds of this process and of the worker processes that have ended, or were told to."""
    for thread in threading.enumerate():
        if thread.name == END_THREAD_NAME:
            thread.join()
    return sum(
        used.ru_utime + used.ru_stime
        for used in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def peak_mb() -> float:
    """The most memory this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def facts() -> str:
    """One line about the machine, for the head of a table."""
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    python = f"{platform.python_implementation()} {platform.python_version()}"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{os.cpu_count()} cores, {memory:.0f} GB, {platform.system()} {platform.machine()}, {python}, load {load}"
