"""Distributes work over processes with Dask: on this machine, or on an existing cluster.

RULE: an item that breaks a worker costs no other item. Work that was running or queued on a dead worker is repeated,
alone, up to twice, since a worker may still be stopping or starting. An item whose workers end each time is at fault.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from inspector import __version__
from inspector.base.memory_budget import available_bytes
from inspector.formats import registry
from inspector.store.files.spool import temporary_folder
from inspector.survey.run_places import reason_of

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

_SUBMITTED_PER_WORKER = 2
"""Items submitted per worker, so that an idle worker need not wait for the next."""
_SOLO_ATTEMPTS = 2
"""Number of solo attempts before an item is at fault."""
_LOST_WORDS = "it ended the process that read it, each time"
_MEMORY_SHARE = 0.8
"""Share of free memory for all workers of this machine."""
# A worker needs 120 to 190 MB of its own (docs/scale.md).
_LEAST_BYTES, _USUAL_BYTES = 512 << 20, 4 << 30
_PATIENCE_S = 10
_DASK_CONFIG = {
    "distributed.scheduler.allowed-failures": 0,  # `run_each` retries by itself and can tell the item at fault
    # Spilling and pausing would stall a worker whose memory is its document, not Dask's data.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.95,
    "distributed.scheduler.http.routes": [],  # the pages it serves would be readable for every user of the machine
    "distributed.worker.http.routes": [],
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.worker.profile.enabled": False,  # it would take 100 samples per second
    "distributed.comm.timeouts.connect": f"{_PATIENCE_S}s",
}


class EngineError(Exception):
    """No workers are available; the text is the reason and a remedy."""


class WorkerLostError(Exception):
    """An item ended its worker at each attempt."""


def workers_here(most: int | None = None) -> int:
    """Returns the number of workers for this machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, most) if most else cores)


def memory_for_each(workers: int) -> int:
    """Returns the memory limit in bytes for each of some workers on this machine."""
    # Some systems cannot tell; then a usual size is assumed.
    free = available_bytes()
    each = int((free if free is not None else workers * _USUAL_BYTES) * _MEMORY_SHARE) // workers
    return max(_LEAST_BYTES, min(each, _USUAL_BYTES))


@contextlib.contextmanager
def local_workers(count: int, memory_bytes: int) -> Generator[Any]:
    """Yields a client of worker processes on this machine; loopback only, with TLS keys that only they have.

    Raises:
        EngineError: they cannot be started.
    """
    # Optional: part of the extra `fleet`.
    from dask import config
    from distributed import Client, LocalCluster

    with (
        temporary_folder() as folder,
        config.set({**_DASK_CONFIG, "temporary-directory": str(folder)}),
        _silenced(),
    ):
        try:
            with _no_interrupt():
                cluster = LocalCluster(
                    # One thread each: analysis is Python code, and a memory limit applies to a process.
                    n_workers=count, threads_per_worker=1, processes=True, memory_limit=memory_bytes,
                    host="127.0.0.1", dashboard_address="127.0.0.1:0", security=True,
                    scheduler_kwargs={"dashboard": False}, local_directory=str(folder), silence_logs=logging.CRITICAL,
                )  # fmt: skip
        except Exception as error:  # Dask passes on any error from below
            raise EngineError(f"Worker processes cannot be started: {reason_of(error)}.") from error
        try:
            with Client(cluster) as client:
                yield client
        finally:
            with contextlib.suppress(Exception):  # errors during shutdown lose no data
                cluster.close(timeout=_PATIENCE_S)


@contextlib.contextmanager
def cluster_at(address: str) -> Generator[Any]:
    """Yields a client of an existing cluster, after a check of the program version on its workers.

    Raises:
        EngineError: it cannot be reached, has no workers, or their program is missing or has another version.
    """
    from dask import config
    from distributed import Client

    with config.set(_DASK_CONFIG), _silenced():
        try:
            # An address of a strange form raises ValueError.
            client = Client(address, timeout=_PATIENCE_S)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(f"There is no scheduler at {address}: {reason_of(error)}.") from error
        with client:
            _check_workers(client, address)
            yield client


def _check_workers(client: Any, address: str) -> None:
    found: dict[str, object] = client.run(importlib.metadata.version, "context-inspector", on_error="return")
    if not found:
        raise EngineError(f"The scheduler at {address} has no workers. Start some: dask worker {address}")
    lacking = [worker for worker, version in found.items() if not isinstance(version, str)]
    if lacking:
        raise EngineError(
            f"{len(lacking)} of {len(found)} workers of {address} lack this program, as the one at {lacking[0]}. "
            f"Install context-inspector[fleet] {__version__} there."
        )
    others = sorted({str(version) for version in found.values()} - {__version__})
    if others:
        raise EngineError(
            f"Workers of {address} have version {', '.join(others)} of this program, and this is {__version__}. "
            "Install the same everywhere, so that all runs are surveyed alike."
        )


def worker_count(client: Any) -> int:
    """Returns the client's current number of workers."""
    return len(client.scheduler_info(n_workers=-1)["workers"])


def run_each(
    client: Any, work: Callable[[Item], Outcome], items: Iterable[Item]
) -> Iterator[tuple[Item, Outcome | Exception]]:
    """Runs work for each item in parallel; yields in order of completion.

    Args:
        client: client of the workers.
        work: a module-level function, or a `partial` of one; its errors become outcomes.
        items: taken on demand.

    Yields:
        An item and its result or exception; `WorkerLostError` if it ended its worker.
    """
    from distributed import as_completed

    work = partial(_with_formats, registry.recipes(), work)
    waiting, given = iter(items), dict[Any, Item]()
    done = as_completed()

    def give(some: Iterable[Item]) -> None:
        for item in some:
            # Not pure: Dask would return the earlier result for an equal item.
            future = client.submit(work, item, pure=False, retries=0)
            given[future] = item
            done.add(future)

    lost: list[Item] = []
    give(islice(waiting, _SUBMITTED_PER_WORKER * max(1, worker_count(client))))
    for future in done:
        item = given.pop(future)
        outcome = _outcome_of(future)
        if isinstance(outcome, WorkerLostError):
            # Tried alone at the end: it may have died with another item's worker.
            lost.append(item)
        else:
            yield item, outcome
        # Dask keeps the result on its worker as long as a future refers to it.
        del future
        # One for each that is done: the queue stays short, however many items there are.
        give(islice(waiting, 1))
    for item in lost:
        tries = (_outcome_of(client.submit(work, item, pure=False, retries=0)) for _ in range(_SOLO_ATTEMPTS))
        yield item, next((one for one in tries if not isinstance(one, WorkerLostError)), WorkerLostError(_LOST_WORDS))


def _with_formats(
    recipes: Sequence[registry.Recipe], work: Callable[[Item], Outcome], item: Item
) -> Outcome:  # fmt: skip
    """Works on an item with the declared formats and plug-ins of the program."""
    registry.restore(recipes)
    return work(item)


def _outcome_of(future: Any) -> Any:
    """Returns the result or exception of a future."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        return future.result()
    except (KilledWorker, CancelledError):
        return WorkerLostError(_LOST_WORDS)
    except Exception as error:  # noqa: BLE001 - an error of the work is its outcome
        return error


def folder_of_worker() -> str | None:
    """Returns the temporary folder of the current worker; None outside of a worker."""
    distributed = sys.modules.get("distributed")  # inside a worker it is imported already; slices work without it
    try:
        return distributed.get_worker().local_directory if distributed else None
    except ValueError:
        # `get_worker` raises it outside of a worker.
        return None


@contextlib.contextmanager
def _no_interrupt() -> Generator[None]:
    """Shields processes started in the block from Ctrl+C; their parent ends them."""
    # Only the main thread may change signal handlers.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _silenced() -> Generator[None]:
    """Silences worker logs, and ignores SIGPIPE so that a lost worker does not end this process.

    Commands normally end on SIGPIPE if the reader of their output has gone. In this block it is an error of the socket.
    """
    loggers = [logging.getLogger(name) for name in ("distributed", *logging.root.manager.loggerDict)
               if name.partition(".")[0] in ("distributed", "tornado")]  # fmt: skip
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    pipe = getattr(signal, "SIGPIPE", None)
    here = pipe is not None and threading.current_thread() is threading.main_thread()
    before = signal.signal(pipe, signal.SIG_IGN) if here and pipe is not None else None
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        if here and pipe is not None:
            signal.signal(pipe, before)
