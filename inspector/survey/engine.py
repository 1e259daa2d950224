"""Work for many processes, by Dask: of this machine, or of a cluster that is there.

RULE: what breaks a worker costs nobody else anything. Work that was being done, or was about to be, by a worker that
ended is done again, alone, twice if need be, as a worker may still be on its way out or in; what ends each is to blame.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import logging
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from inspector import __version__
from inspector.base.memory import free_bytes
from inspector.survey.places import reason_of

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

_AHEAD = 2
"""So much work for each worker is given out at once: one that has done with it need not wait for more."""
_ALONE = 2
"""So often it is done alone before it is to blame for the end of its worker."""
_LOST = "it ended the process that read it, each time"
_SHARE = 0.8
"""Of the memory that is free, for all workers of this machine."""
_LEAST_BYTES, _USUAL_BYTES = 512 << 20, 4 << 30
_PATIENCE_S = 10
_QUIET = {
    "distributed.scheduler.allowed-failures": 0,  # `each_of` tries again, where it can tell who is to blame
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.95,
    "distributed.scheduler.http.routes": [],  # what it serves there, everybody on the machine could read
    "distributed.worker.http.routes": [],
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.worker.profile.enabled": False,  # it takes samples a hundred times a second
    "distributed.comm.timeouts.connect": f"{_PATIENCE_S}s",
}


class EngineError(Exception):
    """There are no workers; the text says why and what to do."""


class WorkerLostError(Exception):
    """The worker that did it ended, each time."""


def workers_here(most: int | None = None) -> int:
    """How many workers this machine is good for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, most) if most else cores)


def memory_for_each(workers: int) -> int:
    """Bytes each of some workers of this machine may take."""
    free = free_bytes()
    each = int((free if free is not None else workers * _USUAL_BYTES) * _SHARE) // workers
    return max(_LEAST_BYTES, min(each, _USUAL_BYTES))


@contextlib.contextmanager
def local_workers(count: int, memory_bytes: int) -> Generator[Any]:
    """A client of so many worker processes of this machine, reached over loopback by who holds their key alone.

    Raises:
        EngineError: they cannot be started.
    """
    from dask import config
    from distributed import Client, LocalCluster

    with (
        tempfile.TemporaryDirectory(prefix="context-inspector-", ignore_cleanup_errors=True) as folder,
        config.set({**_QUIET, "temporary-directory": folder}),
        _undisturbed(),
    ):
        try:
            with _no_interrupt():
                cluster = LocalCluster(
                    n_workers=count, threads_per_worker=1, processes=True, memory_limit=memory_bytes,
                    host="127.0.0.1", dashboard_address="127.0.0.1:0", security=True,
                    scheduler_kwargs={"dashboard": False}, local_directory=folder, silence_logs=logging.CRITICAL,
                )  # fmt: skip
        except Exception as error:  # Dask raises whatever went wrong below it
            raise EngineError(f"Worker processes cannot be started: {reason_of(error)}.") from error
        try:
            with Client(cluster) as client:
                yield client
        finally:
            with contextlib.suppress(Exception):  # nothing is lost by what goes wrong at the end
                cluster.close(timeout=_PATIENCE_S)


@contextlib.contextmanager
def cluster_at(address: str) -> Generator[Any]:
    """A client of a cluster that is there, whose workers have been found to have this program.

    Raises:
        EngineError: it cannot be reached, has no workers, or these lack the program or have another version of it.
    """
    from dask import config
    from distributed import Client

    with config.set(_QUIET), _undisturbed():
        try:
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
    """How many workers a client has now."""
    return len(client.scheduler_info(n_workers=-1)["workers"])


def each_of(
    client: Any, work: Callable[[Item], Outcome], items: Iterable[Item]
) -> Iterator[tuple[Item, Outcome | Exception]]:
    """Do some work for each of some items, as many at once as there are workers; in the order it is done.

    Args:
        client: of the workers.
        work: a function of a module, or a `partial` of one, which raises nothing that matters.
        items: taken as they are needed.

    Yields:
        An item, and what came of it; `WorkerLostError` where that ended its worker, else what it raised.
    """
    from distributed import as_completed

    waiting, given = iter(items), dict[Any, Item]()
    done = as_completed()

    def give(some: Iterable[Item]) -> None:
        for item in some:
            future = client.submit(work, item, pure=False, retries=0)
            given[future] = item
            done.add(future)

    lost: list[Item] = []
    give(islice(waiting, _AHEAD * max(1, worker_count(client))))
    for future in done:
        item = given.pop(future)
        outcome = _outcome(future)
        if isinstance(outcome, WorkerLostError):
            lost.append(item)
        else:
            yield item, outcome
        del future
        give(islice(waiting, 1))
    for item in lost:
        tries = (_outcome(client.submit(work, item, pure=False, retries=0)) for _ in range(_ALONE))
        yield item, next((one for one in tries if not isinstance(one, WorkerLostError)), WorkerLostError(_LOST))


def _outcome(future: Any) -> Any:
    """What came of a future, or the error."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        return future.result()
    except (KilledWorker, CancelledError):
        return WorkerLostError(_LOST)
    except Exception as error:  # noqa: BLE001  whatever work raises is its outcome
        return error


def folder_of_worker() -> str | None:
    """Where the worker this is may put files; None outside of one."""
    distributed = sys.modules.get("distributed")  # a worker has imported it, and a slice may do without
    try:
        return distributed.get_worker().local_directory if distributed else None
    except ValueError:
        return None


@contextlib.contextmanager
def _no_interrupt() -> Generator[None]:
    """Processes that are started meanwhile do not hear Ctrl+C: who started them ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _undisturbed() -> Generator[None]:
    """What workers say of themselves is not what the user asked for; nor is a worker that hangs up the end of this.

    A command ends when nobody reads what it prints (SIGPIPE); meanwhile that is an error of the socket it is about.
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
