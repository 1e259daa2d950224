"""Tests of `inspector.base.async_tasks`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from inspector.base import async_tasks


async def test_spawn_names_the_task_and_keeps_it_until_it_ends() -> None:
    owner: set[asyncio.Task[Any]] = set()
    gate = asyncio.Event()
    task = async_tasks.start_task(gate.wait(), name="wait at the gate", owner=owner)
    assert (task.get_name(), owner) == ("wait at the gate", {task})
    gate.set()
    assert await task is True
    assert owner == set()


async def test_failure_reaches_the_loops_exception_handler() -> None:
    reports: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, report: reports.append(report))

    async def fail() -> None:
        raise ValueError("no such space")

    task = async_tasks.start_task(fail(), name="join")
    await asyncio.wait({task})
    await asyncio.sleep(0)
    assert [(report["message"], str(report["exception"])) for report in reports] == [
        ("Task 'join' failed", "no such space")
    ]


async def test_cancelling_is_no_failure() -> None:
    reports: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, report: reports.append(report))
    owner: set[asyncio.Task[Any]] = set()
    task = async_tasks.start_task(asyncio.sleep(3600), name="sleep", owner=owner)
    await async_tasks.cancel_and_wait(owner)
    assert task.cancelled()
    assert (owner, reports) == (set(), [])


def test_spawn_without_a_loop_says_so_and_closes_the_coroutine() -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        async_tasks.start_task(asyncio.sleep(0), name="nowhere")
