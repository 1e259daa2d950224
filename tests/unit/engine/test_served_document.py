"""A document behind the pipe: what it tells its window, and that it tells nothing after its end."""

from __future__ import annotations

import asyncio

from inspector.engine import wire
from inspector.engine.engine import Engine
from inspector.engine.served_document import ServedDocument
from tests.builders import GrowingLog, envelope


async def test_a_change_just_before_the_end_is_not_told() -> None:
    log, told, failures = GrowingLog(), list[wire.ToWindow](), list[object]()
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: failures.append(context))
    served = ServedDocument(
        Engine(), 1, told.append, answers_first=lambda: asyncio.sleep(0), has_answers=lambda: False,
        failed=failures.append,
    )  # fmt: skip
    served.adopt(log.document)
    log.write(envelope())
    while log.document.poll():
        pass
    await served.close()
    before = len(told)
    await asyncio.sleep(0.1)  # longer than changes are collected
    served.report_state()
    assert len(told) == before
    assert failures == []
