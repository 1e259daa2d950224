"""Plug-ins of a test are unloaded after it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inspector.base import guards
from inspector.plugins import loading


@pytest.fixture(autouse=True)
def no_plugins_left() -> Iterator[None]:
    yield
    loading.load(())
    guards.renew()
