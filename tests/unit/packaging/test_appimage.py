"""The AppDir of the AppImage, and the AppImage itself where mksquashfs is installed."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
from pathlib import Path

import appimage  # pyright: ignore[reportMissingImports]
import bundle  # pyright: ignore[reportMissingImports]
import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def app_dir(tmp_path: Path) -> Path:
    """An AppDir of a program that prints its arguments."""
    program, share = tmp_path / "program", tmp_path / "share"
    program.mkdir()
    (program / bundle.NAME).write_text('#!/bin/sh\necho "$# $*"\n', "utf-8")
    (program / bundle.NAME).chmod(0o755)
    for place in ("applications", "metainfo", "icons/hicolor/256x256/apps"):
        (share / place).mkdir(parents=True)
    shutil.copy(ROOT / "resources/linux/context-inspector.desktop", share / "applications")
    (share / f"metainfo/{bundle.IDENTIFIER}.metainfo.xml").write_text("<component/>", "utf-8")
    (share / f"icons/hicolor/256x256/apps/{bundle.NAME}.png").write_bytes(b"\x89PNG")
    appimage.lay_out(program, share, tmp_path / "AppDir")
    return tmp_path / "AppDir"


def test_desktop_entry_and_icon_are_at_its_root(app_dir: Path) -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(app_dir / "context-inspector.desktop", "utf-8")
    assert (app_dir / f"{entry['Desktop Entry']['Icon']}.png").read_bytes() == b"\x89PNG"
    assert (app_dir / ".DirIcon").resolve() == (app_dir / "context-inspector.png").resolve()
    assert not [one for one in app_dir.rglob("*") if one.is_symlink() and one.readlink().is_absolute()]


def test_it_passes_arguments_on_from_any_folder(app_dir: Path, tmp_path: Path) -> None:
    link = tmp_path / "a link"
    link.symlink_to(app_dir / "AppRun")
    ran = subprocess.run([link, "a b", "c"], capture_output=True, text=True, check=True, cwd="/")
    assert ran.stdout == "2 a b c\n"


@pytest.mark.parametrize("content", [None, b"", b"\x7fELF" + b"\0" * 20])
def test_without_a_runtime_it_says_so(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.delenv(appimage.RUNTIME_VARIABLE, raising=False)
    if content is not None:
        (tmp_path / "runtime").write_bytes(content)
        monkeypatch.setenv(appimage.RUNTIME_VARIABLE, str(tmp_path / "runtime"))
    with pytest.raises(appimage.RuntimeMissingError, match=r"^No AppImage: .*no runtime"):
        appimage.runtime()


@pytest.mark.skipif(shutil.which("mksquashfs") is None, reason="mksquashfs is not installed")
def test_an_image_made_again_is_the_same(app_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = b"\x7fELF\2\1\1\0AI\2".ljust(4096, b"\0")
    (tmp_path / "runtime").write_bytes(head)
    monkeypatch.setenv(appimage.RUNTIME_VARIABLE, str(tmp_path / "runtime"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")  # mksquashfs refuses it beside its own options
    one = appimage.pack(app_dir, tmp_path / "one.AppImage", 1_700_000_000).read_bytes()
    for file in app_dir.rglob("*"):
        os.utime(file, (1, 1), follow_symlinks=False)
    two = appimage.pack(app_dir, tmp_path / "two.AppImage", 1_700_000_000).read_bytes()
    assert one == two
    assert one.startswith(head)
    assert one[len(head) : len(head) + 4] == b"hsqs"
    assert (tmp_path / "one.AppImage").stat().st_mode & 0o111
