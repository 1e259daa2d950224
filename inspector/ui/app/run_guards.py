"""What stands around a run of the window: its log, the error hooks, and what earlier runs left."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector.diagnostics import program_log
from inspector.protocol.secrets.masking import mask_text

if TYPE_CHECKING:
    from inspector.ui.app.application import Application

DEVELOPER_VARIABLE = "CONTEXT_INSPECTOR_DEVELOPER"
"""Environment variable that shows the Developer menu, and has the log say more."""


def developer_asked() -> bool:
    """Whether whoever started the program asked for the Developer menu."""
    return os.environ.get(DEVELOPER_VARIABLE, "") not in ("", "0")


@contextmanager
def kept_safe(application: Application) -> Generator[None]:
    """Log, hear of errors nobody caught, and offer what was left, for as long as a window runs."""
    application.log = program_log.start(mask_text, detailed=application.developer)
    application.failures.install()
    application.last_time.look_soon()
    try:
        yield
    finally:
        application.last_time.close()
        application.failures.uninstall()
        program_log.stop(application.log)
