"""Finds plug-ins without running them: single files in the settings folder, and installed packages."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from inspector.base import paths
from inspector.base.atomic_files import read_up_to
from inspector.settings.model import SwitchedPlugin

GROUPS: Mapping[str, str] = MappingProxyType(
    {
        "context_inspector.formats": "formats",
        "context_inspector.checks": "checks",
        "context_inspector.fields": "fields",
        "context_inspector.payload_views": "payload views",
    }
)
"""Entry point groups, and their names for users."""
ATTRIBUTES: Mapping[str, str] = MappingProxyType(
    {"FORMATS": "formats", "CHECKS": "checks", "FIELDS": "fields", "PAYLOAD_VIEWS": "payload views"}
)
"""Names of lists in a single file, and their names for users."""
MAX_FILE_BYTES = 4 << 20
_FILE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,99}")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")

Origin = Literal["file", "package"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A plug-in that could be switched on.

    Attributes:
        name: of the file without its ending, or of the package.
        origin: file or package.
        version: as it declares it; "" if it does not.
        adds: sorts of declarations that it seems to have, as `formats`.
        place: the file, or the folder of the package.
        digest: SHA-256 of its code, as far as it is known without running it.
        trouble: reason why it cannot be used; "" if it can.
    """

    name: str
    origin: Origin
    version: str
    adds: tuple[str, ...]
    place: str
    digest: str
    trouble: str = ""

    @property
    def key(self) -> tuple[str, Origin]:
        return self.name, self.origin

    def switched(self) -> SwitchedPlugin:
        """Returns its entry in the settings."""
        return SwitchedPlugin(name=self.name, origin=self.origin, digest=self.digest)


def plugins_folder() -> Path:
    """Returns the folder of single files; it may not exist."""
    return paths.config_folder() / "plugins"


def candidates() -> list[Candidate]:
    """Returns all plug-ins, files first, by name."""
    files = sorted(_files(), key=lambda one: one.name.lower())
    return [*files, *sorted(_packages(), key=lambda one: one.name.lower())]


def candidate(name: str, origin: Origin) -> Candidate | None:
    """Returns one plug-in; looks only at that file or package."""
    if origin == "file":
        path = plugins_folder() / f"{name}.py"
        return _file(path) if _FILE_NAME.fullmatch(name) and path.is_file() else None
    try:
        return _package(metadata.distribution(name))
    except (metadata.PackageNotFoundError, ValueError, OSError):
        return None


def read_file(path: Path) -> tuple[bytes, str]:
    """Returns the code of a single file and its digest.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is too large.
    """
    code = read_up_to(path, MAX_FILE_BYTES + 1)
    if len(code) > MAX_FILE_BYTES:
        raise ValueError(f"it has more than {MAX_FILE_BYTES >> 20} MB")
    return code, hashlib.sha256(code).hexdigest()


def _files() -> Iterator[Candidate]:
    try:
        found = sorted(plugins_folder().glob("*.py"))
    except OSError:
        return
    for path in found:
        if path.is_file() and not path.name.startswith(("_", ".")):
            yield _file(path)


def _file(path: Path) -> Candidate:
    name, place = path.stem, str(path)
    if not _FILE_NAME.fullmatch(name):
        shown = _UNPRINTABLE.sub("?", name).encode("utf-8", "replace").decode()[:100]
        trouble = "its name has other characters than letters, digits, - and _"
        return Candidate(name=shown, origin="file", version="", adds=(), place=place, digest="", trouble=trouble)
    try:
        code, digest = read_file(path)
    except (OSError, ValueError) as error:
        trouble = getattr(error, "strerror", None) or str(error)
        return Candidate(name=name, origin="file", version="", adds=(), place=place, digest="", trouble=trouble)
    version, adds, trouble = _outline(code)
    return Candidate(
        name=name, origin="file", version=version, adds=adds, place=place, digest=digest, trouble=trouble
    )  # fmt: skip


def _outline(code: bytes) -> tuple[str, tuple[str, ...], str]:
    """Returns version, sorts of declarations and trouble of a file from its syntax tree."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return "", (), f"it is no Python: {type(error).__name__}"
    version, assigned = "", set[str]()
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        assigned |= names
        value = getattr(statement, "value", None)
        if "__version__" in names and isinstance(value, ast.Constant) and isinstance(value.value, str):
            version = _UNPRINTABLE.sub("?", value.value[:40])
    return version, tuple(words for name, words in ATTRIBUTES.items() if name in assigned), ""


def _packages() -> Iterator[Candidate]:
    seen: set[str] = set()
    for distribution in metadata.distributions():
        try:
            found = _package(distribution)
        except Exception:  # noqa: BLE001 - broken metadata of any installed package
            continue
        # The first on the path is the one that is imported.
        if found is not None and found.name not in seen:
            seen.add(found.name)
            yield found


def entry_points(distribution: metadata.Distribution) -> list[metadata.EntryPoint]:
    """Returns a package's entry points for this program."""
    return [one for one in distribution.entry_points if one.group in GROUPS]


def _package(distribution: metadata.Distribution) -> Candidate | None:
    found = entry_points(distribution)
    name = distribution.metadata["Name"] if found else None  # parsing the metadata of all packages takes long
    if not name:
        return None
    version = distribution.version or ""
    listed = distribution.read_text("RECORD") or ""
    declared = "\n".join(sorted(f"{one.group} {one.name} {one.value}" for one in found))
    digest = hashlib.sha256(f"{name}\n{version}\n{declared}\n{listed}".encode("utf-8", "replace")).hexdigest()
    groups = {one.group for one in found}
    return Candidate(
        name=_UNPRINTABLE.sub("?", name[:100]), origin="package", version=_UNPRINTABLE.sub("?", version[:40]),
        adds=tuple(words for group, words in GROUPS.items() if group in groups),
        place=str(distribution.locate_file("")), digest=digest,
    )  # fmt: skip
