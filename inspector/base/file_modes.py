"""File mode of files that the user has named: as the user's umask allows, like other programs' files.

The program's own files (captures, settings, marks, logs) are private to the user and not handled here.
"""

from __future__ import annotations

import os
from pathlib import Path

_PRIVATE = 0o077


def mode_for(target: Path) -> int:
    """Returns the mode for a replacement of `target`: its present mode, else that of a new file."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        # reading the umask requires setting it; a private one protects other threads' files meanwhile
        umask = os.umask(_PRIVATE)
        os.umask(umask)
        return 0o666 & ~umask
