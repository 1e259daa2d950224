"""The window: the only package that imports Qt."""

from __future__ import annotations

import os
import sys
from types import ModuleType

import PySide6.QtCore  # noqa: F401  # pyright: ignore[reportUnusedImport] - its import loads the module changed below

# Otherwise qasync takes the first binding it finds, or one set in the shell for other programs.
os.environ["QT_API"] = "pyside6"


def _chooses_no_feature(module: ModuleType) -> bool:
    return False


# At each import PySide reads the module's source, kept by `linecache`, to look for snake_case names of Qt: a third of
# the start time and 20 MB. This program does not use them.
if feature := sys.modules.get("shibokensupport.feature"):
    feature.__dict__["_mod_uses_pyside"] = _chooses_no_feature
