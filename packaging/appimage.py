"""Builds an AppImage from the folder of the program: a runtime, and behind it an image of the AppDir.

The runtime is the file `runtime-x86_64` of github.com/AppImage/type2-runtime, named by APPIMAGE_RUNTIME. mksquashfs of
squashfs-tools makes the image. `appimagetool` would do the same, and takes the runtime from the network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import bundle

RUNTIME_VARIABLE = "APPIMAGE_RUNTIME"
_MAGIC = b"AI\x02"
"""Bytes 8 to 10 of a runtime of type 2."""
_APP_RUN = """#!/bin/sh
# Starts the program of this AppImage.
exec "$(dirname "$(readlink -f "$0")")/usr/lib/@NAME@/@NAME@" "$@"
"""


class RuntimeMissingError(Exception):
    """The AppImage cannot be built here; the text is a sentence."""


def lay_out(program: Path, share: Path, folder: Path) -> None:
    """Lays out an AppDir.

    Args:
        program: folder of the program.
        share: desktop entry, icons and the like.
        folder: the AppDir; replaced.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(program, folder / "usr/lib" / bundle.NAME, symlinks=True)
    shutil.copytree(share, folder / "usr/share")
    # AppImage's tools look for the metadata below the name of the desktop entry.
    metadata = folder / "usr/share/metainfo"
    shutil.copy(metadata / f"{bundle.IDENTIFIER}.metainfo.xml", metadata / f"{bundle.NAME}.appdata.xml")
    (folder / "AppRun").write_text(_APP_RUN.replace("@NAME@", bundle.NAME), "utf-8")
    (folder / "AppRun").chmod(0o755)
    (folder / f"{bundle.NAME}.desktop").symlink_to(f"usr/share/applications/{bundle.NAME}.desktop")
    (folder / f"{bundle.NAME}.png").symlink_to(f"usr/share/icons/hicolor/256x256/apps/{bundle.NAME}.png")
    (folder / ".DirIcon").symlink_to(f"{bundle.NAME}.png")


def runtime() -> Path:
    """Returns the runtime.

    Raises:
        RuntimeMissingError: without a runtime, or without mksquashfs.
    """
    told = os.environ.get(RUNTIME_VARIABLE, "")
    if not told:
        raise RuntimeMissingError(f"No AppImage: {RUNTIME_VARIABLE} names no runtime.")
    file = Path(told)
    if not file.is_file() or file.read_bytes()[8:11] != _MAGIC:
        raise RuntimeMissingError(f"No AppImage: {told} is no runtime of type 2.")
    if shutil.which("mksquashfs") is None:
        raise RuntimeMissingError("No AppImage: mksquashfs is missing; type: apt-get install squashfs-tools")
    return file


def pack(folder: Path, made: Path, moment: int) -> Path:
    """Packs an AppDir into an AppImage. The same AppDir and time give the same file.

    Args:
        folder: the AppDir.
        made: the AppImage.
        moment: time of all files in it.

    Raises:
        RuntimeMissingError: see `runtime`.
    """
    head = runtime().read_bytes()
    image = made.with_suffix(".squashfs")
    image.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(
        ["mksquashfs", folder, image, "-comp", "zstd", "-Xcompression-level", "19", "-b", "1M", "-root-owned",
         "-all-time", str(moment), "-mkfs-time", str(moment), "-no-xattrs", "-no-progress", "-quiet"],
        check=True, env=environment,
    )  # fmt: skip
    made.write_bytes(head + image.read_bytes())
    made.chmod(0o755)
    image.unlink()
    return made
