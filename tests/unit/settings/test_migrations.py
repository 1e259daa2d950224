"""Tests of `inspector.settings.migrations`."""

from __future__ import annotations

import pytest

from inspector.settings.migrations import Step, UnreadableVersionError, migrate

STEPS: dict[int, Step] = {
    1: lambda raw: {**raw, "display": {"theme": raw.pop("theme", "system")}},
    2: lambda raw: {**raw, "third": True},
}


def test_steps_are_taken_one_after_the_other() -> None:
    assert migrate({"theme": "dark"}, target=3, migrations=STEPS) == {
        "version": 3,
        "theme": "dark",
        "display": {"theme": "dark"},
        "third": True,
    }


def test_present_version_is_left_alone() -> None:
    assert migrate({"version": 1, "a": 1}) == {"version": 1, "a": 1}


def test_missing_step_is_told() -> None:
    with pytest.raises(UnreadableVersionError, match="no step from version 1 to 2"):
        migrate({"version": 1}, target=2, migrations={})
