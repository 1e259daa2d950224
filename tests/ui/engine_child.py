"""An engine process for all tests, run as `python -m tests.ui.engine_child FILE`; see `engine_control.py`.

Workers of the engine import this module, so it imports little.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    from tests.ui.engine_control import serve_tests

    serve_tests(Path(sys.argv[1]))
