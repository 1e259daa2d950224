"""`inspector.base.display_check`: a display that is named may be gone; Qt would end the program."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from inspector.base.display_check import has_display, is_display_reachable

NAMES = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
posix_only = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="displays are named on other Unixes")


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@posix_only
def test_no_display_is_named() -> None:
    assert not has_display()


@posix_only
@pytest.mark.parametrize("name", [":4987", ":4987.0", "unix:4987", "127.0.0.1:4987"])
def test_a_display_that_is_gone_is_not_within_reach(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("DISPLAY", name.removeprefix("unix"))
    assert has_display()
    assert not is_display_reachable()


@pytest.mark.parametrize("name", ["weird", "/private/tmp/launchd/org.xquartz:0", "::1"])
def test_a_name_of_another_form_is_for_qt_to_judge(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("DISPLAY", name)
    assert is_display_reachable()


@pytest.mark.parametrize(("name", "value"), [("WAYLAND_DISPLAY", "wayland-0"), ("QT_QPA_PLATFORM", "offscreen")])
def test_other_platforms_are_for_qt_to_judge(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv("DISPLAY", ":4987")
    monkeypatch.setenv(name, value)
    assert is_display_reachable()


@posix_only
@pytest.mark.real
def test_the_window_says_so_in_a_sentence() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in NAMES} | {"DISPLAY": ":4987"}
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "--standalone"], env=environment, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.strip()) == (
        2, "The display :4987 does not answer. Is it gone, or is DISPLAY another session's?",
    )  # fmt: skip
