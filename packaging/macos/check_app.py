"""Looks whether an .app is laid out as macOS and its signatures want it, before anything is signed.

    python packaging/macos/check_app.py "build/package/dist/Context Inspector.app"

Rules: Apple's "Placing content in a bundle" and technical note TN2206. An app that breaks one of them starts where it
was built, and fails where it is signed, notarised or opened by somebody else. Runs anywhere.
"""

from __future__ import annotations

import plistlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bundle

_MACH_O = frozenset(
    bytes.fromhex(magic) for magic in ("cffaedfe", "cefaedfe", "feedfacf", "feedface", "cafebabe", "cafebabf")
)
"""How programs and libraries of macOS begin: of one processor in either order of bytes, or of several."""
_READ = ("fonts/Inter-Regular.ttf", "fonts/RemixIcon.json", "icons/context-inspector.svg", "licences.json")
"""Of the program's own resources, some that it does not start without."""


def faults(app: Path) -> list[str]:
    """What is not as it has to be, in sentences."""
    contents = app / "Contents"
    missing = [name for name in ("Info.plist", "MacOS", "Frameworks", "Resources") if not (contents / name).exists()]
    if missing:
        return [f"{app.name} has no Contents/{name}." for name in missing]
    info = plistlib.loads((contents / "Info.plist").read_bytes())
    return [*_of_info(contents, info), *_of_links(app), *_of_places(contents, info), *_of_resources(contents)]


def _of_info(contents: Path, info: dict[str, Any]) -> Iterator[str]:
    wanted = {
        **bundle.info_plist(), "CFBundleIdentifier": bundle.IDENTIFIER, "CFBundleExecutable": bundle.NAME,
        "CFBundlePackageType": "APPL",
    }  # fmt: skip
    for key, value in wanted.items():
        if info.get(key) != value:
            yield f"Info.plist has {key} {info.get(key)!r}, not {value!r}."
    if info.get("LSBackgroundOnly") or info.get("LSUIElement"):
        yield "Info.plist makes it a program of the background: it would have no place in the Dock."
    program = contents / "MacOS" / bundle.NAME
    if not _is_code(program) or not program.stat().st_mode & 0o100:
        yield f"MacOS/{bundle.NAME} is no program."
    icon = contents / "Resources" / str(info.get("CFBundleIconFile", ""))
    if not icon.is_file() or icon.read_bytes()[:4] != b"icns":
        yield f"Resources has no icon {info.get('CFBundleIconFile')!r}."


def _of_links(app: Path) -> Iterator[str]:
    """Links hold wherever the app is moved."""
    for one in app.rglob("*"):
        if one.is_symlink():
            target = one.readlink()
            if target.is_absolute() or not (one.parent / target).resolve().is_relative_to(app.resolve()):
                yield f"{one.relative_to(app)} leads out of the app, to {target}."
            elif not one.exists():
                yield f"{one.relative_to(app)} leads to {target}, which is not there."


def _of_places(contents: Path, info: dict[str, Any]) -> Iterator[str]:
    """Code is signed where it lies, data is sealed as resources, and a folder with a dot is taken for a bundle."""
    beside = {one.name for one in contents.iterdir()} - {
        "Info.plist", "MacOS", "Frameworks", "Resources", "_CodeSignature", "PkgInfo",
    }  # fmt: skip
    yield from (f"{name} lies in Contents, where it has no place." for name in sorted(beside))
    for name in ("MacOS", "Frameworks", "Resources"):
        for one in _own(contents / name):
            place = one.relative_to(contents)
            if name == "Resources" and _is_code(one):
                yield f"{place} is code among resources: it would not be signed."
            elif name != "Resources" and one.is_dir() and "." in one.name:
                yield f"{place} is a folder with a dot: it would be taken for a bundle."
            elif name != "Resources" and one.is_file() and not _is_code(one):
                yield f"{place} is data among code: its signature would be an attribute that is lost on the way."
    programs = {one.name for one in (contents / "MacOS").iterdir()}
    if programs != {info.get("CFBundleExecutable")}:
        yield f"MacOS holds {', '.join(sorted(programs))}."


def _of_resources(contents: Path) -> Iterator[str]:
    """What the program reads lies where it looks, which is below Frameworks."""
    for name in _READ:
        if not (contents / "Frameworks/inspector/_resources" / name).is_file():
            yield f"Frameworks/inspector/_resources/{name} is not there."


def _own(folder: Path) -> Iterator[Path]:
    """What lies in it and below, but for links and what is in frameworks, which are bundles of their own."""
    for one in sorted(folder.iterdir()):
        if one.is_symlink() or one.suffix == ".framework":
            continue
        yield one
        if one.is_dir():
            yield from _own(one)


def _is_code(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(4) in _MACH_O


def main() -> None:
    """Say what is wrong, and end with 1 when something is."""
    app = Path(sys.argv[1])
    found = faults(app)
    print("\n".join(found) or f"{app.name} is laid out as it has to be.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
