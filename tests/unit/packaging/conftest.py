"""The build's own modules lie beside its scripts, in `packaging/`, and are no part of the program."""

from __future__ import annotations

import sys
from pathlib import Path

PACKAGING = Path(__file__).resolve().parents[3] / "packaging"
if str(PACKAGING) not in sys.path:
    sys.path.append(str(PACKAGING))
