"""The list of licences that a packaged program carries: what went in, as `inspector/diagnostics/licences.py` has it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import bundle

from inspector.diagnostics.licences import Licence, distribution_licence, to_json, with_resources

_BUILDER = {
    "pyinstaller": (
        "PyInstaller bootloader and hooks",
        "GPL-2.0-or-later WITH Bootloader-exception, Apache-2.0",
    ),
    "pyinstaller-hooks-contrib": ("PyInstaller community hooks", "Apache-2.0"),
}
"""What of the builder itself goes into what it builds, and on what terms."""
_SPDX = re.compile(r"^License: *(\S.*)$", re.MULTILINE)
_LONGEST = 60


def write(analysis: Any, folder: Path) -> str:
    """Write `licences.json` for what PyInstaller found; its path."""
    tops = {name.partition(".")[0] for name, _, _ in analysis.pure}
    tops |= {re.split(r"[./\\]", name, maxsplit=1)[0] for name, _, _ in (*analysis.binaries, *analysis.datas)}
    homes = metadata.packages_distributions()
    names = sorted({home for top in tops for home in homes.get(top, [])})
    parts = [distribution_licence(metadata.distribution(name)) for name in names]
    libraries = [Path(source) for _, source, kind in analysis.binaries if kind == "BINARY"]
    file = folder / "licences.json"
    listed = with_resources([*parts, *of_builder(), *linked_into(names), *_system_libraries(libraries)])
    file.write_text(to_json(listed), "utf-8")
    return str(file)


def report(entries: Iterable[tuple[str, str, str]], file: Path) -> None:
    """Write what stayed out, with its size."""
    files = [(place, Path(source)) for place, source, kind in entries if kind != "SYMLINK"]
    sizes = sorted(((file.stat().st_size, place) for place, file in files), reverse=True)
    file.write_text("".join(f"{size:>12} {place}\n" for size, place in sizes), "utf-8")


def of_builder() -> list[Licence]:
    """The builder's program that starts ours, and what it lets run before it."""
    found: list[Licence] = []
    for distribution, (name, licence) in _BUILDER.items():
        home = metadata.distribution(distribution)
        found.append(Licence(name, home.version, licence, distribution_licence(home).text))
    return found


def linked_into(names: Iterable[str]) -> list[Licence]:
    """Returns the libraries that distributions contain without a file of their own: OpenSSL, in cryptography."""
    if "cryptography" not in names:
        return []
    from cryptography.hazmat.backends.openssl import backend

    version = backend.openssl_version_text().split()[1]
    text = (bundle.ROOT / "resources/licences/Apache-2.0.txt").read_text("utf-8")
    return [Licence("OpenSSL in cryptography", version, "Apache-2.0", text)]


def _system_libraries(files: Iterable[Path]) -> list[Licence]:
    """Of libraries taken from a Debian system, such as OpenSSL's, the packages they came in."""
    if shutil.which("dpkg-query") is None:
        return []
    found: dict[str, Licence] = {}
    for file in files:
        # A library is known by its place after links: /lib is a link to /usr/lib.
        for place in {str(file), str(file.resolve()), str(file.resolve()).removeprefix("/usr")}:
            asked = subprocess.run(["dpkg-query", "-S", place], capture_output=True, text=True, check=False)
            if asked.returncode == 0:
                package = asked.stdout.partition(":")[0]
                found[package] = found.get(package) or _package(package)
    return list(found.values())


def _package(name: str) -> Licence:
    asked = ["dpkg-query", "-W", "-f=${Version}", name]
    version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    file = Path("/usr/share/doc", name, "copyright")
    text = file.read_text("utf-8", errors="replace") if file.is_file() else ""
    licences = ", ".join(dict.fromkeys(one.strip() for one in _SPDX.findall(text)))
    return Licence(name, version, licences if 0 < len(licences) <= _LONGEST else "see text", text)
