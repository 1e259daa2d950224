"""Whatever other Qt programs a shell is set up for, the window uses the binding it was made for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.real


def test_a_shell_set_up_for_another_binding_changes_nothing() -> None:
    code = "import inspector.ui.app.application, qasync; print(qasync.QtModuleName)"
    environment = {**os.environ, "QT_API": "pyqt5"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("PySide6", 0), done.stderr


def test_sources_of_modules_are_not_read_while_they_are_imported() -> None:
    code = (
        "import linecache, sys; import inspector.ui.app.application, inspector.ui.docview.panes;"
        "print(sum(name.endswith('.py') and 'inspector' in name for name in linecache.cache), len(sys.modules) > 500)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.returncode) == (["0", "True"], 0), done.stderr
