"""Tests of `inspector.ui.input.preset_keys`."""

from __future__ import annotations

from inspector.settings import Preset
from inspector.ui.input.preset_keys import keys_of, normal


def presets(*keys: str | None) -> list[Preset]:
    return [Preset(name=str(number), filter="", key=key) for number, key in enumerate(keys)]


def test_the_first_nine_have_the_key_of_their_place() -> None:
    assert keys_of(presets(*[None] * 11)) == [*(f"Alt+{number}" for number in range(1, 10)), "", ""]


def test_a_key_of_its_own_goes_first_and_none_is_given_twice() -> None:
    assert keys_of(presets(None, "Alt+1", "", "ctrl+shift+f5", "Alt+1", "nonsense key")) == [
        "", "Alt+1", "", "Ctrl+Shift+F5", "", "",
    ]  # fmt: skip


def test_taken_keys_are_left_to_who_has_them() -> None:
    assert keys_of(presets(None, None, "Ctrl+F"), {"Alt+2", "Ctrl+F"}) == ["Alt+1", "", ""]


def test_normal() -> None:
    assert normal("shift+ctrl+f") == "Ctrl+Shift+F"
    assert normal("Ctrl+X, Ctrl+S") == ""
    assert normal("hello") == ""
