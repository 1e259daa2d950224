"""Writes the manifests of Flatpak, Homebrew and winget for a release, from the templates in `manifests/`.

    python packaging/manifests.py https://github.com/OWNER/NAME/releases/download/v1.2.3 [FOLDER]

FOLDER has the files of the release, `dist` by default. The manifests are written to its folder `manifests`. A manifest
whose files are missing is left out, with a line that names them.
"""

from __future__ import annotations

import hashlib
import re
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import bundle

_TEMPLATES = bundle.ROOT / "packaging" / "manifests"
_WINGET = "ContextInspector.ContextInspector"
_FILES = {
    "TARBALL": "{name}-{version}-linux-x86_64.tar.gz",
    "DMG_ARM64": "{name}-{version}-macos-arm64.dmg",
    "DMG_X86_64": "{name}-{version}-macos-x86_64.dmg",
    "SETUP": "{name}-{version}-windows-x86_64-setup.exe",
}
"""Name of a file of the release by its placeholder."""
_WRITTEN = {
    "flatpak.yml": f"flatpak/{bundle.IDENTIFIER}.yml",
    "cask.rb": f"homebrew/{bundle.NAME}.rb",
    "winget.version.yaml": f"winget/{_WINGET}.yaml",
    "winget.installer.yaml": f"winget/{_WINGET}.installer.yaml",
    "winget.locale.en-US.yaml": f"winget/{_WINGET}.locale.en-US.yaml",
}
"""File of a manifest by its template."""
_PLACEHOLDER = re.compile(r"@([A-Z0-9_]+)@")
_APP_ID = re.compile(r"^AppId=\{(\{[0-9A-F-]+\})$", re.MULTILINE)


def fill(url: str, folder: Path) -> dict[str, str]:
    """Returns the placeholders with their values; those of missing files are left out.

    Args:
        url: https address of the folder from which the release is downloaded.
        folder: has the files of the release.

    Raises:
        ValueError: if the address is not https.
    """
    parts = urlsplit(url)
    if parts.scheme != "https" or not re.fullmatch(r"[A-Za-z0-9._~/:%-]+", url):
        raise ValueError(f"{url} is no https address of a release")
    script = (bundle.ROOT / "packaging/windows/context-inspector.iss").read_text("utf-8")
    app_id = _APP_ID.search(script)
    assert app_id is not None
    values = {
        "ID": bundle.IDENTIFIER, "VERSION": bundle.version(), "URL": url.rstrip("/"), "WINGET_ID": _WINGET,
        "HOMEPAGE": url.partition("/releases/")[0], "PRODUCT_CODE": f"{app_id[1]}_is1",
        # Homebrew bumps a cask by its version alone.
        "CASK_URL": url.rstrip("/").replace(bundle.version(), "#{version}"),
        "DATE": time.strftime("%Y-%m-%d", time.gmtime(bundle.moment())),
    }  # fmt: skip
    for key, pattern in _FILES.items():
        file = folder / pattern.format(name=bundle.NAME, version=bundle.version())
        if file.is_file():
            values[key] = file.name
            with file.open("rb") as data:
                values[f"{key}_SHA256"] = hashlib.file_digest(data, "sha256").hexdigest().upper()
    return values


def write(url: str, folder: Path) -> list[Path]:
    """Writes all manifests whose files exist, and names the others. Returns the written ones."""
    values = fill(url, folder)
    made: list[Path] = []
    for template, place in _WRITTEN.items():
        text = (_TEMPLATES / template).read_text("utf-8")
        missing = sorted({_file_of(name) for name in _PLACEHOLDER.findall(text)} - {"", *values})
        if missing:
            print(f"{place}: left out, the folder has no {', '.join(_FILES[one] for one in missing)}")
            continue
        file = folder / "manifests" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_filled(text, values, capitals=file.suffix == ".yaml"), "utf-8")
        made.append(file)
    return made


def _file_of(placeholder: str) -> str:
    name = placeholder.removesuffix("_SHA256")
    return name if name in _FILES else ""


def _filled(text: str, values: dict[str, str], *, capitals: bool) -> str:
    """Replaces the placeholders. winget writes checksums in capitals, the others in small letters."""
    cases = {name: value.lower() for name, value in values.items() if name.endswith("_SHA256") and not capitals}
    return _PLACEHOLDER.sub(lambda found: cases.get(found[1], values[found[1]]), text)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    for written in write(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) == 3 else bundle.ROOT / "dist"):
        print(written)
