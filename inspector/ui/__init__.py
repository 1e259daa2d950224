"""The window: the only package that imports Qt."""

from __future__ import annotations

import os
import sys
from types import ModuleType

import PySide6.QtCore  # noqa: F401  # pyright: ignore[reportUnusedImport]  it brings what is changed below

# Otherwise qasync takes the first binding it finds, or the one a shell names for other programs.
os.environ["QT_API"] = "pyside6"


def _chooses_no_feature(module: ModuleType) -> bool:
    return False


# With each import PySide reads, and `linecache` keeps, the source of the whole module, to see whether that might choose
# snake_case names for Qt: a third of a start's time and 20 MB. Nothing here chooses them.
if feature := sys.modules.get("shibokensupport.feature"):
    feature.__dict__["_mod_uses_pyside"] = _chooses_no_feature
