"""The window: the only package that imports Qt."""

from __future__ import annotations

import os

# Otherwise qasync and pyqtgraph take the first binding they find, or the one a shell names for other programs.
os.environ["QT_API"] = "pyside6"
os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"
