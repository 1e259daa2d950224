"""Closes the captures of tests of sub-sessions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ui.msp.sessions import close_captures


@pytest.fixture(autouse=True)
def closed_captures() -> Iterator[None]:
    """Closes captures that `client_of` opened."""
    yield
    close_captures()
