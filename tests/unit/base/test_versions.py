"""Tests of `inspector.base.versions`."""

from __future__ import annotations

import pytest

from inspector.base.versions import is_newer, release_number


@pytest.mark.parametrize(
    ("tag", "number"),
    [
        ("v0.4.0", "0.4.0"), ("1", "1"), ("2.10.3.1", "2.10.3.1"), ("v1.0rc1", ""), ("V1.0", ""), ("", ""),
        ("1.0\n", ""), ("1.0\x1b[31m", ""), ("1.\u0660", ""), ("1" * 7, ""), ("1.2.3.4.5", ""), ("v1.0 <b>", ""),
        ("latest", ""),
    ],
)  # fmt: skip
def test_number_of_a_tag(tag: str, number: str) -> None:
    assert release_number(tag) == number


@pytest.mark.parametrize(
    ("release", "own", "newer"),
    [
        ("0.10.0", "0.9.9", True), ("1.0", "1.0.0", False), ("1.0.0", "1.0.0rc1", True), ("1.0.0", "1.0.0.dev3", True),
        ("0.9", "1.0", False), ("v1.0.1", "1.0+local", True), ("1.0", "unknown", False), ("", "1.0", False),
    ],
)  # fmt: skip
def test_newer(release: str, own: str, newer: bool) -> None:
    assert is_newer(release, own) is newer
