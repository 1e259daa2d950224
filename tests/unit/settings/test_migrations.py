"""Tests of `inspector.settings.migrations`."""

from __future__ import annotations

from typing import cast

import pytest

from inspector.settings.migrations import Step, UnreadableVersionError, migrate
from inspector.settings.model import DEFAULT_PRESETS, SETTINGS_VERSION, Settings

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
    assert migrate({"version": SETTINGS_VERSION, "a": 1}) == {"version": SETTINGS_VERSION, "a": 1}


def test_missing_step_is_told() -> None:
    with pytest.raises(UnreadableVersionError, match="no step from version 1 to 2"):
        migrate({"version": 1}, target=2, migrations={})


def test_version_2_renames_presets_and_adds_those_for_other_logs_once() -> None:
    old = [
        {"name": "Everything", "filter": "", "key": "Alt+0"},
        {"name": "Reasoning only", "filter": 'context.type == "reasoning"'},
        {"name": "Transient results", "filter": "error"},
        {"name": "Talk", "filter": 'kind == "chat"'},
        7,
    ]
    raw = migrate({"version": 1, "presets": old})
    presets = raw["presets"]
    assert isinstance(presets, list)
    assert presets[:5] == [old[0], {**cast("dict[str, object]", old[1]), "name": "Inside reasoning"}, *old[2:]]
    added = [preset["name"] for preset in presets[5:]]
    assert added == ["Prompts", "Edits", "Commands", "Model calls", "Tool calls", "Sub-agents", "Notifications"]
    assert {"name": "Edits", "filter": next(p.filter for p in DEFAULT_PRESETS if p.name == "Edits")} in presets
    assert migrate(dict(raw)) == raw


def test_a_file_of_version_1_opens_with_all_default_presets() -> None:
    kept = [{"name": p.name, "filter": p.filter} for p in DEFAULT_PRESETS if p.topics in ((), ("mew",))]
    settings = Settings.model_validate(migrate({"version": 1, "presets": kept}))
    assert {preset.name for preset in settings.presets} >= {"Edits", "Failed", "Notifications", "Problems"}
