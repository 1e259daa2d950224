"""Tests of the version in `inspector/__init__.py`."""

from __future__ import annotations

import re

import pytest

import inspector


def test_version_is_a_release_or_says_checkout() -> None:
    assert re.match(r"\d+\.\d+\.\d+", inspector.version())
    assert inspector.__version__ == inspector.version()


def test_other_names_are_unknown() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = inspector.nothing  # pyright: ignore[reportAttributeAccessIssue]
