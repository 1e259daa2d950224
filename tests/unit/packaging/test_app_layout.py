"""`packaging/macos/check_app.py`, on apps as PyInstaller lays them out and on such as it once did."""

from __future__ import annotations

import plistlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import bundle  # pyright: ignore[reportMissingImports]
import pytest

from tests.pages import script

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="an app has links")

_LIBRARY = bytes.fromhex("cffaedfe") + bytes(28)


@pytest.fixture
def check() -> ModuleType:
    return script("packaging/macos/check_app.py")


@pytest.fixture
def contents(tmp_path: Path) -> Path:
    """The folder Contents of a small app that is as it has to be."""
    contents = tmp_path / "Context Inspector.app/Contents"
    files = {
        f"MacOS/{bundle.NAME}": _LIBRARY,
        "Frameworks/Python.framework/Versions/3.11/Python": _LIBRARY,
        "Frameworks/numpy__dot__libs/libopenblas.dylib": _LIBRARY,
        "Resources/icon.icns": b"icns" + bytes(4),
        **{f"Resources/inspector/_resources/{name}": b"{}" for name in (
            "fonts/Inter-Regular.ttf", "fonts/RemixIcon.json", "icons/context-inspector.svg", "licences.json",
        )},
    }  # fmt: skip
    for name, data in files.items():
        (contents / name).parent.mkdir(parents=True, exist_ok=True)
        (contents / name).write_bytes(data)
    (contents / "MacOS" / bundle.NAME).chmod(0o755)
    for link, target in (("inspector", "../Resources/inspector"), ("numpy.libs", "numpy__dot__libs")):
        (contents / "Frameworks" / link).symlink_to(target)
    info = {
        **bundle.info_plist(), "CFBundleIdentifier": bundle.IDENTIFIER, "CFBundleExecutable": bundle.NAME,
        "CFBundleIconFile": "icon.icns", "CFBundlePackageType": "APPL",
    }  # fmt: skip
    (contents / "Info.plist").write_bytes(plistlib.dumps(info))
    return contents


def _in_the_background(contents: Path) -> None:
    info = plistlib.loads((contents / "Info.plist").read_bytes())
    (contents / "Info.plist").write_bytes(plistlib.dumps({**info, "LSBackgroundOnly": True, "CFBundleVersion": "0"}))


def _written(name: str, data: bytes = b"data") -> Callable[[Path], object]:
    def write(contents: Path) -> None:
        (contents / name).parent.mkdir(parents=True, exist_ok=True)
        (contents / name).write_bytes(data)

    return write


def _linked(name: str, target: str) -> Callable[[Path], object]:
    return lambda contents: (contents / name).symlink_to(target)


def test_an_app_that_is_laid_out_well_has_no_faults(check: ModuleType, contents: Path) -> None:
    assert check.faults(contents.parent) == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_in_the_background, ["Info.plist has CFBundleVersion '0'", "no place in the Dock"]),
        (lambda contents: (contents / "MacOS" / bundle.NAME).chmod(0o644), ["is no program"]),
        (lambda contents: (contents / "Resources/icon.icns").unlink(), ["no icon 'icon.icns'"]),
        (lambda contents: (contents / "Frameworks/inspector").unlink(), ["is not there"] * 4),
        (lambda contents: (contents / "Info.plist").unlink(), ["has no Contents/Info.plist"]),
        (_written("Frameworks/duckdb-2.0.1.dist-info/METADATA"), ["a folder with a dot", "data among code"]),
        (_written("MacOS/base_library.zip"), ["data among code", "MacOS holds base_library.zip"]),
        (_written("Resources/duckdb.so", _LIBRARY), ["code among resources"]),
        (_written("README.md"), ["README.md lies in Contents"]),
        (_linked("Resources/lib", "/usr/local/lib"), ["leads out of the app"]),
        (_linked("Resources/lib", "../../../lib"), ["leads out of the app"]),
        (_linked("Resources/lib", "gone"), ["which is not there"]),
    ],
)
def test_each_fault_is_said(
    check: ModuleType, contents: Path, spoil: Callable[[Path], object], said: list[str]
) -> None:
    spoil(contents)
    found = check.faults(contents.parent)
    assert len(found) == len(said)
    assert all(part in one for part, one in zip(said, found, strict=True))
