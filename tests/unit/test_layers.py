"""The core runs without Qt: every module outside `inspector.ui` imports where PySide6 does not exist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import inspector

BANNED = ("PySide6", "shiboken6", "qasync", "pytestqt")

PROBE = """
import importlib, sys
for name in {banned!r}:
    sys.modules[name] = None
for name in {modules!r}:
    importlib.import_module(name)
print(len({modules!r}))
"""


def core_modules() -> list[str]:
    """Dotted names of every module outside `inspector.ui`."""
    package = Path(inspector.__file__).parent
    names: list[str] = []
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        if parts[:2] == ("inspector", "ui"):
            continue
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


@pytest.mark.real
def test_core_imports_without_qt() -> None:
    modules = core_modules()
    assert "inspector.settings" in modules
    probe = PROBE.format(banned=BANNED, modules=modules)
    done = subprocess.run(
        [sys.executable, "-c", probe],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=Path(inspector.__file__).parent.parent,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(len(modules))]
