"""Optional dependencies of the program: `[project.optional-dependencies]` of pyproject.toml.

Their modules are imported on use; before that, `Extra.missing` explains how to install them.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple


class Extra(NamedTuple):
    """One optional dependency group.

    Attributes:
        name: as pip takes it, in brackets.
        purpose: the missing feature, as part of a sentence.
        modules: full names of the imported modules of its distributions.
    """

    name: str
    purpose: str
    modules: tuple[str, ...]

    def missing_modules(self) -> list[str]:
        """Returns its modules that are not installed."""
        return [name for name in self.modules if not _is_installed(name)]

    def missing_message(self, what: str = "This") -> str:
        """Returns sentences that ask for its installation, or "" if it is installed."""
        lacking = self.missing_modules()
        return (
            f"{what} needs the extra {self.name} ({', '.join(lacking)}). {_install_hint(self.name)}" if lacking else ""
        )


OTEL = Extra("otel", "OTLP as protobuf", ("opentelemetry.proto", "google.protobuf"))
FLEET = Extra("fleet", "surveys, slices of large logs, object stores", ("distributed", "fsspec", "cryptography"))
YAML = Extra("yaml", "cassettes of VCR in YAML", ("yaml",))
STATS = Extra("stats", "tests of facts that part passed from failed runs", ("scipy",))
EXTRAS = (OTEL, FLEET, YAML, STATS)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of its parent package
        return False


def _install_hint(name: str) -> str:
    if getattr(sys, "frozen", False):
        return "This package does not hold it: install the program with pipx or pip, as the guide's page Install says."
    pip = "pipx runpip context-inspector" if (Path(sys.prefix) / "pipx_metadata.json").is_file() else "pip"
    return f"To install it: {pip} install 'context-inspector[{name}]'."
